//! The optimum of a task that nobody worked out: random search, then local refinement on more and more samples.

use mcbo_core::{Context, Data, Given, Intervention, Memory, Problem, Random, Strategy};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::design::{allowed, along_scale};
use crate::knowing::Offer;
use crate::protocol::name_hash;
use crate::task::{Span, Task};

/// Random interventions that are tried first, and the noise samples for each.
const CANDIDATES: (usize, usize) = (10_000, 32);
/// How many of them, in the order they were drawn, the mean is over, and the noise samples for each.
const MEAN: (usize, usize) = (1000, 256);
/// The best of them that are refined, the steps for each, and the noise samples of a step.
const STAGES: [(usize, usize, usize); 3] = [(60, 250, 64), (12, 150, 256), (4, 100, 1024)];

/// Contexts behind what a task offers on average.
const CONTEXTS: usize = 64;

/// What a task offers: the mean of random interventions and the best found, with contexts the mean of both over them; attempts are
/// independent of each other.
pub(crate) fn span(task: &Task, attempt: u64) -> Span {
    if task.problem().contexts().next().is_none() {
        return search(task, attempt);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(name_hash(task.name()));
    rng.set_stream(u64::MAX - attempt);
    let contexts: Vec<Given> = (0..CONTEXTS).map(|_| task.contexts(&mut rng)).collect();
    let offers: Vec<Offer> = contexts.par_iter().map(|given| task.offer(given)).collect();
    let mean = |of: fn(&Offer) -> f64| offers.iter().map(of).sum::<f64>() / CONTEXTS as f64;
    Span { random: mean(|offer| offer.random), optimum: mean(|offer| offer.best) }
}

/// The mean of random interventions and the best intervention found that keeps the limits.
fn search(task: &Task, attempt: u64) -> Span {
    let problem = task.problem();
    let mut rng = ChaCha8Rng::seed_from_u64(name_hash(task.name()));
    rng.set_stream(u64::MAX - attempt);
    let (data, memory) = (Data::new(), Memory::default());
    let context = Context::new(problem, &data, &memory);
    let mut found: Vec<(f64, Intervention)> = Vec::new();
    for _ in 0..CANDIDATES.0 {
        // Random strategies never fail.
        if let Ok(proposal) = Random.suggest(&context, &mut rng) {
            let intervention = proposal.suggestion.intervention;
            found.push((worth(task, &intervention, CANDIDATES.1), intervention));
        }
    }
    let first = &found[..MEAN.0.min(found.len())];
    let mean = first.iter().map(|(_, intervention)| task.sampled_reward(intervention, MEAN.1)).sum::<f64>();
    let random = mean / first.len() as f64;
    for (kept, steps, samples) in STAGES {
        found = best_apart(task.problem(), found, kept);
        for (reward, intervention) in &mut found {
            *reward = climb(task, intervention, steps, samples, &mut rng);
        }
    }
    let kept = found.iter().filter(|(worth, _)| *worth > BROKEN);
    let best = kept.map(|(_, intervention)| task.expected_reward(intervention));
    Span { random, optimum: best.fold(f64::NEG_INFINITY, f64::max) }
}

/// What an intervention is worth at most that does not keep the limits.
pub(crate) const BROKEN: f64 = -1e30;

/// The reward of what keeps the limits; of others how near they come, far below all rewards.
pub(crate) fn unless_broken(shortfall: f64, reward: impl FnOnce() -> f64) -> f64 {
    if shortfall > 0.0 { BROKEN * (1.0 + shortfall) } else { reward() }
}

fn worth(task: &Task, intervention: &Intervention, samples: usize) -> f64 {
    let shortfall = task.shortfall(intervention, samples);
    unless_broken(shortfall, || task.sampled_reward(intervention, samples))
}

/// The best few, none of them near a better one, so that several hills are climbed.
fn best_apart(
    problem: &Problem,
    mut found: Vec<(f64, Intervention)>,
    kept: usize,
) -> Vec<(f64, Intervention)> {
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut best: Vec<(f64, Intervention)> = Vec::with_capacity(kept);
    for candidate in found {
        if best.len() == kept {
            break;
        }
        if !best.iter().any(|(_, other)| near(problem, other, &candidate.1)) {
            best.push(candidate);
        }
    }
    best
}

/// Whether two interventions set the same nodes and differ nowhere by more than a tenth of a range.
fn near(problem: &Problem, a: &Intervention, b: &Intervention) -> bool {
    let close = |x: f64, y: f64, width: f64| (x - y).abs() < 0.1 * width;
    let mut actions = problem.actions().iter().zip(a.actions.iter().zip(&b.actions));
    a.targets.len() == b.targets.len()
        && actions.all(|(action, (x, y))| close(action.share(*x), action.share(*y), 1.0))
        && a.targets.iter().zip(&b.targets).all(|((node, xs), (other, ys))| {
            let ranges = problem.nodes()[*node].hard.iter().flatten();
            node == other
                && xs.iter().zip(ys).zip(ranges).all(|((x, y), [low, high])| close(*x, *y, high - low))
        })
}

/// Improves an intervention by random steps that grow when they succeed and shrink when they fail.
fn climb(
    task: &Task,
    intervention: &mut Intervention,
    steps: usize,
    samples: usize,
    rng: &mut dyn Rng,
) -> f64 {
    let mut best = worth(task, intervention, samples);
    let mut step = 0.1;
    for _ in 0..steps {
        let next = moved(task.problem(), intervention, step, rng);
        let reward = worth(task, &next, samples);
        if reward > best {
            (best, *intervention) = (reward, next);
            step = f64::min(1.6 * step, 0.3);
        } else {
            step = f64::max(0.88 * step, 1e-4);
        }
    }
    best
}

/// Normal steps of every value, or of one of them, relative to its range; neutral actions that do nothing move too.
fn moved(problem: &Problem, intervention: &Intervention, step: f64, rng: &mut dyn Rng) -> Intervention {
    let mut next = intervention.clone();
    let count = next.actions.len() + next.targets.iter().map(|(_, values)| values.len()).sum::<usize>();
    let only = if rng.random_bool(0.5) { Some(rng.random_range(0..count.max(1))) } else { None };
    let mut place = 0;
    let mut shift = |value: f64, [low, high]: [f64; 2]| {
        let z: f64 = StandardNormal.sample(&mut *rng);
        place += 1;
        match only.is_none_or(|only| only + 1 == place) {
            true => (value + step * (high - low) * z).clamp(low, high),
            false => value,
        }
    };
    for (value, action) in next.actions.iter_mut().zip(problem.actions()) {
        *value = along_scale(action, *value, &mut shift);
    }
    for (node, values) in &mut next.targets {
        for (value, range) in values.iter_mut().zip(problem.nodes()[*node].hard.iter().flatten()) {
            *value = shift(*value, *range);
        }
    }
    // A step that is smaller than the way to the next value leads there now and then.
    for (value, action) in next.actions.iter_mut().zip(problem.actions()) {
        if let Some(grid) = action.grid.as_ref().filter(|_| rng.random_bool(0.2)) {
            *value = match grid.step().filter(|_| !action.is_choice()) {
                None => grid.value(rng.random_range(0..grid.count())),
                Some(step) => *value + if rng.random_bool(0.5) { step } else { -step },
            }
            .clamp(action.range[0], action.range[1]);
        }
    }
    allowed(problem, next)
}
