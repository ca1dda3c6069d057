//! Limits and costs of random models: drawn by what happens in a model, so that they matter and can be kept.

use mcbo_core::{Context, Cost, Data, Intervention, Limit, Memory, Problem, Random, Strategy};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::More;
use crate::task::Task;

/// Random interventions that limits are judged by, and experiments with each.
const TRIED: usize = 200;
const SAMPLES: usize = 64;
/// The best of them, of which most must break a limit: one that the best keeps anyway limits nothing.
const BEST: usize = 10;
/// Interventions that must keep all limits.
const LEAST_KEEPING: usize = 10;
/// The share of random outcomes that keep one limit.
const KEEPING: [f64; 2] = [0.4, 0.8];
/// The probabilities that may be wanted.
const WANTED: [f64; 3] = [0.8, 0.9, 0.95];

/// What is added to a model.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Limits of nodes.
    pub(super) limits: Vec<(usize, Limit)>,
    /// Costs of all actions, or none.
    pub(super) costs: Vec<Cost>,
}

impl Marks {
    /// Random marks, or none where limits would not matter or could hardly be kept.
    pub(super) fn random(problem: &Problem, more: More, rng: &mut ChaCha8Rng) -> Option<Self> {
        match more {
            More::Limits => Some(Self {
                limits: limits(problem, rng).filter(|limits| !limits.is_empty())?,
                ..Self::default()
            }),
            _ => {
                Some(Self { costs: problem.actions().iter().map(|_| cost(rng)).collect(), ..Self::default() })
            }
        }
    }
}

/// Every second action is cheap, the others cost ten times as much, half of it for being used at all.
fn cost(rng: &mut ChaCha8Rng) -> Cost {
    let scale = if rng.random_bool(0.5) { 0.1 } else { 1.0 };
    Cost { fixed: scale * rng.random_range(0.5..1.5), per_unit: scale * rng.random_range(0.5..1.5) }
}

/// Limits on one or two nodes before the reward.
fn limits(problem: &Problem, rng: &mut ChaCha8Rng) -> Option<Vec<(usize, Limit)>> {
    let (data, memory) = (Data::new(), Memory::default());
    let context = Context::new(problem, &data, &memory);
    let tried: Vec<Intervention> = (0..TRIED)
        .filter_map(|_| Random.suggest(&context, rng).ok())
        .map(|proposal| proposal.suggestion.intervention)
        .collect();
    let world = Task::own("drawn", problem.clone()).ok()?;
    let mut outcomes_of = |intervention| (0..SAMPLES).map(|_| world.sample(intervention, rng)).collect();
    let outcomes: Vec<Vec<Vec<f64>>> = tried.iter().map(&mut outcomes_of).collect();
    let mut limits: Vec<(usize, Limit)> = Vec::new();
    for _ in 0..rng.random_range(1..=2) {
        let node = rng.random_range(0..problem.nodes().len() - 1);
        let at = problem.slot(node).start;
        let mut values: Vec<f64> = outcomes.iter().flatten().map(|values| values[at]).collect();
        values.sort_by(f64::total_cmp);
        let [least, most] = KEEPING;
        let share = rng.random_range(least..most);
        let probability = WANTED[rng.random_range(0..WANTED.len())];
        let level = |share: f64| round(values[(share * values.len() as f64) as usize]);
        let limit = match rng.random_bool(0.5) {
            true => Limit::below(level(share), probability),
            false => Limit::above(level(1.0 - share), probability),
        };
        if !limits.iter().any(|(limited, _)| *limited == node) {
            limits.push((node, limit));
        }
    }
    let keeps = |outcomes: &Vec<Vec<f64>>| {
        limits.iter().all(|(node, limit)| {
            let at = problem.slot(*node).start;
            let kept = outcomes.iter().filter(|values| limit.is_kept(values[at])).count();
            kept as f64 >= limit.probability * outcomes.len() as f64
        })
    };
    let reward = problem.slot(problem.reward()).start;
    let mut judged: Vec<(f64, bool)> = outcomes
        .iter()
        .map(|all| (all.iter().map(|values| values[reward]).sum::<f64>() / all.len() as f64, keeps(all)))
        .collect();
    judged.sort_by(|a, b| b.0.total_cmp(&a.0));
    let breaking = judged.iter().take(BEST).filter(|(_, keeps)| !keeps).count();
    let keeping = judged.iter().filter(|(_, keeps)| *keeps).count();
    (2 * breaking > BEST && keeping >= LEAST_KEEPING).then_some(limits)
}

/// Three decimals, as the noise has them.
fn round(level: f64) -> f64 {
    (1e3 * level).round() / 1e3
}
