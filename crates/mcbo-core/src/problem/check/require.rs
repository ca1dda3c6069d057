//! Checks of what the values of actions must keep to.

use super::Checker;
use super::condition::{compared, is_about_names, split};
use super::formulas::span_within;
use crate::expr::{Expr, ExprErrorKind};
use crate::problem::diagnostics::{ProblemError, RequirementFault};
use crate::problem::draft::{At, DraftAction, Field};
use crate::problem::require::{HalfSpace, Requirement, project};
use crate::problem::{Action, Scale};

/// Where a sum is compared with the straight one that its derivatives make of it.
const PROBES: usize = 12;

impl Checker<'_> {
    /// The requirements, if all actions are all right. What is wrong with their texts is said in any case.
    ///
    /// Neutral values that nobody wrote down are moved to where shares add up: a mixture has no zero.
    pub(super) fn requirements(&mut self, actions: &mut [Option<Action>]) -> Option<Vec<Requirement>> {
        let draft = self.draft;
        if draft.require.is_empty() {
            return Some(Vec::new());
        }
        let whole = actions.iter().all(Option::is_some) && !draft.actions_broken;
        let stand_in = |action: &DraftAction| Action {
            name: action.name.value.clone(),
            range: [0.0, 1.0],
            neutral: 0.0,
            grid: None,
            choices: if action.choices == Field::Missing { Vec::new() } else { vec![String::new()] },
            unit: None,
            cost: None,
            scale: Scale::Linear,
        };
        let all: Vec<Action> = actions
            .iter()
            .zip(&draft.actions)
            .map(|(action, written)| action.clone().unwrap_or_else(|| stand_in(written)))
            .collect();
        let declared = actions;
        let actions: Vec<&Action> = all.iter().collect();
        let read: Vec<Option<Requirement>> =
            draft.require.iter().map(|text| self.requirement(text, &actions, whole)).collect();
        let read: Vec<Requirement> = read.into_iter().collect::<Option<_>>().filter(|_| whole)?;
        let mut neutral: Vec<f64> = actions.iter().map(|action| action.neutral).collect();
        let unwritten = |k: usize| draft.actions[k].neutral == Field::Missing && all[k].grid.is_none();
        if let Some(kept) = keeping(&read, &all, &neutral, unwritten) {
            for (action, value) in declared.iter_mut().zip(&kept) {
                action.iter_mut().for_each(|action| action.neutral = *value);
            }
            neutral = kept;
        }
        let broken = read.iter().zip(&draft.require).find(|(one, _)| one.excess(&neutral) > 0.0);
        if let Some((one, at)) = broken {
            // With two that cannot be kept together it would be no use to change what is neutral.
            let fault = match together(&read, &actions) {
                true if one.is_exclusion() => RequirementFault::NeutralExcluded,
                true => RequirementFault::NeutralBreaks { excess: one.excess(&neutral) },
                false => RequirementFault::NothingKeeps,
            };
            self.error(ProblemError::Requirement { text: one.text().to_owned(), fault }, &at.span);
        }
        Some(read)
    }

    /// What a text requires. Only where all actions are `whole` their ranges tell whether it can be kept.
    fn requirement(&mut self, at: &At<String>, actions: &[&Action], whole: bool) -> Option<Requirement> {
        let whole_text = at.value.as_str();
        let (text, condition) = split(whole_text);
        let (nodes, known) = (self.nodes.clone(), self.actions.clone());
        let mut fail = |fault: RequirementFault, words: std::ops::Range<usize>| {
            let error = ProblemError::Requirement { text: whole_text.to_owned(), fault };
            self.error(error, &span_within(at, &words));
            None
        };
        let when = match condition.map(|from| compared(whole_text, from..whole_text.len(), actions, whole)) {
            Some(Ok(when)) => when,
            Some(Err(mistake)) => return fail(mistake.fault, mistake.words),
            None => Vec::new(),
        };
        if is_about_names(text, actions) {
            return match compared(whole_text, 0..text.len(), actions, whole) {
                // What must not be is forbidden, what must be forbids all others.
                Ok(mut ends) if ends.len() == 1 => {
                    let (action, names) = ends.remove(0);
                    let all = (0..actions[action].choices.len()).map(|place| place as f64);
                    let others = all.filter(|place| !names.contains(place)).collect();
                    let when = when.into_iter().chain([(action, others)]).collect();
                    Some(Requirement::excluding(whole_text.to_owned(), when))
                }
                Ok(_) => fail(RequirementFault::SeveralNames, 0..text.len()),
                Err(mistake) => fail(mistake.fault, mistake.words),
            };
        }
        let Some(Comparison { relation, place, width }) = comparison(text) else {
            return fail(RequirementFault::NoComparison, 0..text.len());
        };
        if let Some(second) = text[place + width..].find(COMPARING) {
            let second = place + width + second;
            return fail(RequirementFault::TwoComparisons, second..second + 1);
        }
        let sign = if relation == Relation::AtLeast { -1.0 } else { 1.0 };
        let numbers: Vec<(&str, usize)> =
            actions.iter().filter(|action| !action.is_choice()).map(|a| (a.name.as_str(), 1)).collect();
        let ratios = |place: usize| actions[place].scale == Scale::Log;
        let mut sides = Vec::new();
        for (from, side) in [(0, &text[..place]), (place + width, &text[place + width..])] {
            match Expr::parse(side, &numbers, false) {
                Ok(expr) => sides.push(expr),
                Err(error) => {
                    let words = from + error.span.start..from + error.span.end;
                    let fault = match &error.kind {
                        ExprErrorKind::UnknownName { name, .. } if nodes.contains(&name.as_str()) => {
                            RequirementFault::NotANumber { name: name.clone(), what: "a node" }
                        }
                        ExprErrorKind::UnknownName { name, .. } if known.contains(&name.as_str()) => {
                            RequirementFault::NotANumber { name: name.clone(), what: "a choice" }
                        }
                        _ => RequirementFault::Formula(error),
                    };
                    return fail(fault, words);
                }
            }
        }
        let places: Vec<usize> = (0..actions.len()).filter(|&action| !actions[action].is_choice()).collect();
        let Some((weights, rest)) = straight(&sides[0], &sides[1], actions, &places) else {
            return fail(RequirementFault::NotLinear, 0..text.len());
        };
        let terms: Vec<(usize, f64)> =
            places.iter().zip(&weights).filter(|(_, c)| **c != 0.0).map(|(&k, c)| (k, sign * c)).collect();
        if terms.is_empty() {
            return fail(RequirementFault::NoAction, 0..text.len());
        }
        let on_log = terms.iter().find(|(place, _)| ratios(*place)).copied();
        if let Some((place, _)) = on_log.filter(|_| terms.len() > 1) {
            return fail(RequirementFault::OnLog { name: actions[place].name.clone() }, 0..text.len());
        }
        let sizes: Vec<f64> =
            actions.iter().map(|action| action.range[0].abs().max(action.range[1].abs())).collect();
        let equality = relation == Relation::Equal;
        let requirement = Requirement::new(whole_text.to_owned(), terms, -sign * rest, equality, &sizes);
        let requirement = if on_log.is_some() { requirement.of_ratios() } else { requirement };
        let (lower, upper) = reach(actions);
        let side = |sign: f64| {
            let terms = requirement.terms().iter().map(|&(k, c)| (k, sign * c)).collect();
            let (most, border, when) = (sign * requirement.most(), false, Vec::new());
            HalfSpace { terms, most, border, when }.least(&lower, &upper)
        };
        let least = if equality { side(1.0).max(side(-1.0)) } else { side(1.0) };
        if whole && least > 1e-9 * (1.0 + requirement.most().abs()) {
            return fail(RequirementFault::NeverKept { by: least }, 0..text.len());
        }
        Some(requirement.when(when))
    }
}

/// What the left side of a requirement is to the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Equal,
}

struct Comparison {
    relation: Relation,
    place: usize,
    width: usize,
}

const COMPARING: [char; 5] = ['<', '>', '=', '≤', '≥'];

/// The first comparison of a text.
fn comparison(text: &str) -> Option<Comparison> {
    let place = text.find(COMPARING)?;
    let rest = &text[place..];
    let first = rest.chars().next()?;
    let relation = match first {
        '<' | '≤' => Relation::AtMost,
        '>' | '≥' => Relation::AtLeast,
        _ => Relation::Equal,
    };
    let width = first.len_utf8() + usize::from(rest[first.len_utf8()..].starts_with('='));
    Some(Comparison { relation, place, width })
}

/// A requirement that leaves out its border, as `a < 3`, with it: `a <= 3`.
pub(super) fn with_border(text: &str) -> Option<String> {
    let Comparison { place, width, .. } = comparison(text)?;
    let (before, rest) = text.split_at(place);
    let (sign, after) = rest.split_at(width);
    matches!(sign, "<" | ">").then(|| format!("{before}{sign}={after}"))
}

/// The weights and the rest of `left - right` if it is a weighted sum of the actions at `places`.
fn straight(left: &Expr, right: &Expr, actions: &[&Action], places: &[usize]) -> Option<(Vec<f64>, f64)> {
    let probe = |i: usize| -> Vec<f64> {
        // From one range below to one above, so that kinks and corners show.
        let share = |k: usize| 3.0 * (((i + 1) * (2 * k + 3)) as f64 * 0.618_033_988_749_895).fract() - 1.0;
        let at = |(k, &place): (usize, &usize)| {
            let [low, high] = actions[place].range;
            low + share(k) * (high - low)
        };
        places.iter().enumerate().map(at).collect()
    };
    let value = |x: &[f64]| left.eval(x) - right.eval(x);
    let slopes = |x: &[f64]| -> Vec<f64> {
        let (mut plus, mut minus) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        left.eval_with_gradient(x, &mut plus);
        right.eval_with_gradient(x, &mut minus);
        plus.iter().zip(&minus).map(|(p, m)| p - m).collect()
    };
    let along = |weights: &[f64], x: &[f64]| weights.iter().zip(x).map(|(c, x)| c * x).sum::<f64>();
    let first = probe(0);
    let weights = slopes(&first);
    let rest = value(&vec![0.0; places.len()]);
    let agrees = (0..PROBES).map(probe).all(|x| {
        let size = weights.iter().zip(&x).map(|(c, x)| (c * x).abs()).sum::<f64>() + rest.abs();
        let same = slopes(&x).iter().zip(&weights).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs().max(1e-12));
        same && (value(&x) - rest - along(&weights, &x)).abs() <= 1e-9 * size.max(1e-12)
    });
    (agrees && rest.is_finite() && weights.iter().all(|c| c.is_finite())).then_some((weights, rest))
}

/// The least and the largest value of every action, its neutral one among them.
fn reach(actions: &[&Action]) -> (Vec<f64>, Vec<f64>) {
    let ends = |action: &&Action| (action.range[0].min(action.neutral), action.range[1].max(action.neutral));
    actions.iter().map(ends).unzip()
}

/// The nearest values of all actions that keep to all requirements, only some of them moved; `None` where they do already or cannot.
fn keeping(
    requirements: &[Requirement],
    actions: &[Action],
    neutral: &[f64],
    moves: impl Fn(usize) -> bool,
) -> Option<Vec<f64>> {
    if !requirements.iter().any(|one| one.is_equality() && one.excess(neutral) > 0.0) {
        return None;
    }
    let free: Vec<usize> = (0..actions.len()).filter(|&k| moves(k)).collect();
    let place = |action: usize| {
        let place = free.iter().position(|&k| k == action)?;
        Some((place, actions[action].range, actions[action].curve()))
    };
    let spaces: Option<Vec<Vec<HalfSpace>>> =
        requirements.iter().map(|one| one.scaled(neutral, place)).collect();
    let mut point: Vec<f64> = free.iter().map(|&k| actions[k].share(neutral[k]).clamp(0.0, 1.0)).collect();
    project(&spaces?.concat(), &vec![0.0; free.len()], &vec![1.0; free.len()], &mut point)?;
    // Few digits, of which the last number of every sum takes what the others leave; all of them where that breaks something.
    [3, 6, 9].into_iter().find_map(|digits| {
        let mut kept = neutral.to_vec();
        for (&k, share) in free.iter().zip(&point) {
            let value = actions[k].at_share(*share);
            // What did not move stays as it was.
            if !actions[k].is_near(value, neutral[k], 1e-9) {
                kept[k] = rounded(value, actions[k].range, digits);
            }
        }
        for sum in requirements.iter().filter(|one| one.is_equality() && one.applies(neutral)) {
            let last = sum.terms().iter().rev().find(|(k, _)| free.contains(k) && kept[*k] != neutral[*k]);
            if let Some(&(last, weight)) = last {
                let others = sum.terms().iter().filter(|(k, _)| *k != last).map(|&(k, c)| c * kept[k]);
                kept[last] = rounded((sum.most() - others.sum::<f64>()) / weight, actions[last].range, 12);
            }
        }
        let inside = |&k: &usize| {
            kept[k] == neutral[k] || (actions[k].range[0]..=actions[k].range[1]).contains(&kept[k])
        };
        let keeps = |one: &Requirement| one.excess(&kept) == 0.0;
        (free.iter().all(inside) && requirements.iter().all(keeps)).then_some(kept)
    })
}

/// A value with so many digits of the width of its range.
fn rounded(value: f64, [low, high]: [f64; 2], digits: i32) -> f64 {
    let decimals = (digits - (high - low).log10().ceil() as i32 + 1).clamp(0, 15) as usize;
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

/// Whether anything keeps to all requirements.
fn together(requirements: &[Requirement], actions: &[&Action]) -> bool {
    let (lower, upper) = reach(actions);
    let given = vec![0.0; actions.len()];
    let always = requirements.iter().filter(|one| one.conditions().is_empty());
    let place = |k: usize| Some((k, [lower[k], upper[k]], actions[k].curve()));
    let spaces: Vec<HalfSpace> = always.filter_map(|one| one.scaled(&given, place)).flatten().collect();
    let mut middle = vec![0.5; actions.len()];
    project(&spaces, &vec![0.0; actions.len()], &vec![1.0; actions.len()], &mut middle).is_some()
}
