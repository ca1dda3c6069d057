//! Choices that are too many to list: sets that grow.

use rayon::prelude::*;

use crate::problem::{Part, compose, parts};
use crate::quasi::sobol;
use crate::{Choice, DecisionSpace};

use super::climb::{AscentBudget, Scored, by_value, score};
use super::{Ascent, SCREEN_SEED, SearchSettings, SearchTask, climb_all, screen};

/// Values of what is new in a set that are looked at, the rest as it was.
const PROBED: u32 = 8;
/// Sets of those that look best that are climbed.
const CLIMBED: usize = 2;
/// Sets that are searched in the end.
const KEPT: usize = 3;

/// A set with the best place that was seen in it.
#[derive(Debug, Clone)]
struct Grown {
    parts: Vec<Part>,
    choice: Choice,
    /// Its point may lack auxiliary variables.
    best: Scored,
}

/// Finds promising choices without enumerating them: from nothing by the part that helps most, or by several that help at once; then one
/// part less, or another in its place, while that helps. Returns the last that were best, for the full search.
///
/// A step looks at every part a few times and climbs from the few best sets, so that the whole costs the square of the parts at the most.
pub(super) fn grow(task: &SearchTask<'_>, settings: &SearchSettings) -> Vec<Choice> {
    let problem = task.problem;
    let all = parts(problem);
    let beginnings: Vec<Vec<Part>> = match problem.sets() {
        Some(sets) => sets.iter().map(|set| set.iter().map(|&node| Part::Target(node)).collect()).collect(),
        None => vec![Vec::new()],
    };
    let beginnings = beginnings.into_iter().filter_map(|parts| unseen(task, parts)).collect();
    let thorough = SearchSettings {
        screened: 24,
        starts: 2,
        ascent: Ascent::QuasiNewton(AscentBudget { first: 10, finalists: 1, second: 20 }),
        ..*settings
    };
    let from_there = SearchSettings {
        screened: 0,
        starts: 0,
        ascent: Ascent::QuasiNewton(AscentBudget { first: 10, finalists: 1, second: 40 }),
        ..*settings
    };
    let Some(mut best) = highest(task, beginnings, &thorough) else { return vec![Choice::default()] };
    let mut kept = vec![best.choice.clone()];
    // The bound only guards against endless exchange on noise.
    for _ in 0..4 * all.len().max(1) {
        let absent: Vec<Part> = all.iter().copied().filter(|part| !best.parts.contains(part)).collect();
        let more = || absent.iter().map(|&part| [&best.parts[..], &[part]].concat());
        let fewer = || (0..best.parts.len()).map(|out| [&best.parts[..out], &best.parts[out + 1..]].concat());
        let exchanged =
            || fewer().flat_map(|left| absent.iter().map(move |&part| [&left[..], &[part]].concat()));
        let larger = probe(task, settings, &best, more().collect());
        let is_full = larger.is_empty();
        let mut candidates: Vec<Grown> = larger.iter().take(CLIMBED).cloned().collect();
        candidates.extend(together(task, settings, &best, &larger));
        let mut next = higher(task, &best, candidates, &from_there);
        if next.is_none() {
            let others = if is_full { fewer().chain(exchanged()).collect() } else { fewer().collect() };
            let others = probe(task, settings, &best, others);
            next = higher(task, &best, others.into_iter().take(CLIMBED).collect(), &from_there);
        }
        let Some(next) = next else { break };
        kept.push(next.choice.clone());
        best = next;
    }
    kept.reverse();
    kept.truncate(KEPT);
    kept
}

/// A set with no place in it yet, if it is allowed.
fn unseen(task: &SearchTask<'_>, parts: Vec<Part>) -> Option<Grown> {
    let choice = compose(task.problem, &parts)?;
    Some(Grown { parts, choice, best: Scored { point: Vec::new(), value: f64::NEG_INFINITY } })
}

/// Of these sets those that are allowed, each with the best place that is that of another one but for what is new in it; best first.
fn probe(task: &SearchTask<'_>, settings: &SearchSettings, from: &Grown, sets: Vec<Vec<Part>>) -> Vec<Grown> {
    let known = DecisionSpace::new(task.problem, &from.choice);
    let look = |parts: Vec<Part>| {
        let set = unseen(task, parts)?;
        let coarse = (task.factory)(&set.choice, settings.screening_samples, task.seed);
        let space = coarse.space();
        let carried = space.carry_over(task.problem, &known, &from.best.point);
        let is_new = |k: &usize| known.position(space.variables()[*k].place).is_none();
        let new: Vec<usize> = (0..carried.len()).filter(is_new).collect();
        let at = |i: u32| {
            let mut point = carried.clone();
            new.iter().for_each(|&k| point[k] = sobol(i, k as u32, task.seed ^ SCREEN_SEED));
            point
        };
        let others = (0..if new.is_empty() { 0 } else { PROBED }).map(at);
        let mut points: Vec<Vec<f64>> = [carried.clone()].into_iter().chain(others).collect();
        points.retain_mut(|point| space.is_box() || space.allow(point));
        points.iter_mut().for_each(|point| point.resize(coarse.bounds().0.len(), 0.0));
        let seen = score(coarse.as_ref(), points).into_iter();
        let mut best = seen.reduce(|best, next| if next.value > best.value { next } else { best })?;
        best.point.truncate(carried.len());
        Some(Grown { best, ..set })
    };
    let mut probed: Vec<Grown> = sets.into_par_iter().filter_map(look).collect();
    // The sort is stable: of equals the first stays first.
    probed.sort_by(|a, b| by_value(&a.best, &b.best));
    probed
}

/// Sets with several of the parts that help one by one: the best two, four, eight and so on, each with the values it looked best with.
fn together(task: &SearchTask<'_>, settings: &SearchSettings, from: &Grown, larger: &[Grown]) -> Vec<Grown> {
    let now = probe(task, settings, from, vec![from.parts.clone()]);
    let now = now.first().map_or(f64::NEG_INFINITY, |now| now.best.value);
    let helping: Vec<&Grown> = larger.iter().take_while(|one| one.best.value > now).collect();
    let known = DecisionSpace::new(task.problem, &from.choice);
    let of_first = |count: usize| {
        let new = helping[..count].iter().filter_map(|one| one.parts.last().copied());
        let mut set = unseen(task, from.parts.iter().copied().chain(new).collect())?;
        let space = DecisionSpace::new(task.problem, &set.choice);
        set.best.point = space.carry_over(task.problem, &known, &from.best.point);
        for one in &helping[..count] {
            let own = DecisionSpace::new(task.problem, &one.choice);
            for (k, variable) in own.variables().iter().enumerate() {
                if let (None, Some(place)) = (known.position(variable.place), space.position(variable.place))
                {
                    set.best.point[place] = one.best.point[k];
                }
            }
        }
        (space.is_box() || space.allow(&mut set.best.point)).then_some(set)
    };
    (1..).map(|power| 1 << power).take_while(|&count| count <= helping.len()).filter_map(of_first).collect()
}

/// The best of these sets after a climb, if it is better than another one.
fn higher(task: &SearchTask<'_>, than: &Grown, sets: Vec<Grown>, settings: &SearchSettings) -> Option<Grown> {
    let value = than.best.value;
    highest(task, sets, settings).filter(|next| next.best.value > value + 1e-9 * value.abs())
}

/// The best of these sets after a climb.
fn highest(task: &SearchTask<'_>, sets: Vec<Grown>, settings: &SearchSettings) -> Option<Grown> {
    let climbed = |set: Grown| {
        let from: &[Vec<f64>] =
            if set.best.point.is_empty() { &[] } else { std::slice::from_ref(&set.best.point) };
        let best = climb_all(task, screen(task, &set.choice, settings, from), settings).into_iter().next()?;
        Some(Grown { best, ..set })
    };
    let mut climbed: Vec<Grown> = sets.into_par_iter().filter_map(climbed).collect();
    climbed.sort_by(|a, b| by_value(&a.best, &b.best));
    climbed.into_iter().next()
}
