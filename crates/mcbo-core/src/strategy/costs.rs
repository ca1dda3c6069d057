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
        true => Box::new(PerCost { inner: gain, costs: ChoiceCost::new(problem, choice) }),
        false => gain,
    }
}

/// Where the rewards of all trials count, puts what is believed best before what promises most for its cost, unless that gains more in
/// the trials to come, as many as there have been, than it loses in this one.
pub(super) fn earning(
    context: &Context<'_>,
    network: &Network,
    best: f64,
    believed: Vec<Candidate>,
    found: &mut Vec<Candidate>,
    seed: u64,
) {
    let Some(first) = found.iter().find(|found| !context.is_taken(&found.intervention)) else { return };
    let rewards = network.reward_draws(context.problem, &first.intervention, seed);
    let count = rewards.len() as f64;
    let loss = best - rewards.iter().sum::<f64>() / count;
    let gain = rewards.iter().map(|reward| (reward - best).max(0.0)).sum::<f64>() / count;
    if context.data.len() as f64 * gain < loss {
        found.splice(0..0, believed);
    }
}
