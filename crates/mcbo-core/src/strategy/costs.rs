//! What is gained against what it costs.

use crate::acquisition::{Acquisition, ChoiceCost, PerCost};
use crate::network::Network;
use crate::search::Candidate;
use crate::{Choice, Problem};

use super::Context;

/// A gain for what it costs; the gain itself where nothing costs anything.
pub(super) fn per_cost<'a>(
    problem: &Problem,
    choice: &Choice,
    gain: Box<dyn Acquisition + 'a>,
) -> Box<dyn Acquisition + 'a> {
    match problem.has_costs() {
        true => {
            Box::new(PerCost { inner: gain, costs: ChoiceCost::new(problem, choice), logarithmic: false })
        }
        false => gain,
    }
}

/// The same of a gain that is given by its logarithm.
pub(super) fn log_per_cost<'a>(
    problem: &Problem,
    choice: &Choice,
    gain: Box<dyn Acquisition + 'a>,
) -> Box<dyn Acquisition + 'a> {
    match problem.has_costs() {
        true => Box::new(PerCost { inner: gain, costs: ChoiceCost::new(problem, choice), logarithmic: true }),
        false => gain,
    }
}

/// The share of the largest gain that is enough for a gain to be worth its cost.
const ENOUGH: f64 = 0.5;
/// Candidates of each search whose gains are compared.
const COMPARED: usize = 12;

/// Of what promises most, and of what promises most for its cost: first the best for its cost of those that promise at least half as much as
/// any. Gains for their cost alone are had in small and cheap steps, of which many cost more than one large one.
pub(super) fn enough_for_cost(
    context: &Context<'_>,
    network: &Network,
    best: f64,
    most: Vec<Candidate>,
    for_cost: Vec<Candidate>,
    seed: u64,
) -> Vec<Candidate> {
    let problem = context.problem;
    // Where there are limits, those behind the first may break them.
    let compared = if problem.has_limits() { 1 } else { COMPARED };
    let gain = |candidate: &Candidate| {
        let rewards = network.reward_draws(problem, &candidate.intervention, seed);
        rewards.iter().map(|reward| (reward - best).max(0.0)).sum::<f64>() / rewards.len() as f64
    };
    let all = most.into_iter().take(compared).chain(for_cost.iter().take(compared).cloned());
    let all: Vec<(f64, Candidate)> = all.map(|candidate| (gain(&candidate), candidate)).collect();
    let largest = all.iter().map(|(gain, _)| *gain).filter(|gain| gain.is_finite()).fold(0.0, f64::max);
    let mut enough: Vec<(f64, Candidate)> = all
        .into_iter()
        .filter(|(gain, _)| *gain > 0.0 && *gain >= ENOUGH * largest)
        .map(|(gain, candidate)| {
            let costs = ChoiceCost::new(problem, &candidate.choice);
            (gain / costs.at(&candidate.point, 0.0, &mut []), candidate)
        })
        .collect();
    // The sort is stable: of equals the first found stays first.
    enough.sort_by(|a, b| b.0.total_cmp(&a.0));
    enough.into_iter().map(|(_, candidate)| candidate).chain(for_cost).collect()
}

/// Where the rewards of all trials count, whether what promises most gains more in the trials to come, as many as there have been, than
/// it loses in this one.
pub(super) fn is_worth_it(
    context: &Context<'_>,
    network: &Network,
    best: f64,
    found: &[Candidate],
    seed: u64,
) -> bool {
    let Some(first) = found.iter().find(|found| !context.is_taken(&found.intervention)) else { return true };
    let rewards = network.reward_draws(context.problem, &first.intervention, seed);
    let count = rewards.len() as f64;
    let loss = best - rewards.iter().sum::<f64>() / count;
    let gain = rewards.iter().map(|reward| (reward - best).max(0.0)).sum::<f64>() / count;
    context.data.len() as f64 * gain >= loss
}
