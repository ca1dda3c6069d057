//! Searches that keep the limits of outcomes.

use rayon::prelude::*;

use crate::acquisition::{Acquisition, Limited, Price};
use crate::network::{Keeping, Network};
use crate::search::Candidate;
use crate::{Choice, Data, Intervention, Problem};

use super::{Context, Warning};

/// What missing log-odds of keeping a limit cost, in standard deviations of the rewards, and the log-odds that are asked for beyond what
/// is wanted; then more of both, if nothing that keeps it is found.
pub(super) const FIRST: (f64, f64) = (3.0, 0.1);
const PRICES: [(f64, f64); 3] = [FIRST, (30.0, 0.4), (300.0, 1.5)];
/// Places of a search that are looked at exactly.
const LOOKED_AT: usize = 16;

/// What a search is to keep.
#[derive(Clone, Copy)]
pub(super) struct Guard<'a> {
    problem: &'a Problem,
    network: &'a Network,
    /// What counts, if there are limits.
    price: Option<Price>,
    seed: u64,
}

impl<'a> Guard<'a> {
    /// A guard that asks a price for missing log-odds, with a margin; of what is plausible, or of what is probable.
    pub fn new(
        context: &Context<'a>,
        network: &'a Network,
        plausible: bool,
        (price, margin): (f64, f64),
        seed: u64,
    ) -> Self {
        let problem = context.problem;
        let weight = || price * spread(problem, context.data);
        let price = problem.has_limits().then(|| Price { weight: weight(), margin, plausible });
        Self { problem, network, price, seed }
    }

    /// An acquisition of a choice that keeps the limits; the same where there are none.
    pub fn over<'b>(&self, choice: &Choice, inner: Box<dyn Acquisition + 'b>) -> Box<dyn Acquisition + 'b>
    where
        'a: 'b,
    {
        match self.price {
            Some(price) => {
                Box::new(Limited::new(inner, self.problem, self.network, choice, price, self.seed))
            }
            None => inner,
        }
    }
}

/// The standard deviation of the measured rewards.
fn spread(problem: &Problem, data: &Data) -> f64 {
    let rewards: Vec<f64> = data.rewards(problem).map(|(_, reward)| reward).collect();
    let count = rewards.len() as f64;
    let mean = rewards.iter().sum::<f64>() / count;
    let spread = (rewards.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / count).sqrt();
    if spread > 0.0 && spread.is_finite() { spread } else { 1.0 }
}

/// How much is missing for the limits to be kept: the largest difference between a probability that is wanted and what it is.
pub(super) fn shortfall(keeping: &[Keeping], plausible: bool) -> f64 {
    keeping.iter().map(|k| k.wanted - k.chance(plausible)).fold(0.0, f64::max)
}

/// Searches until something keeps the limits, at a higher price each time; what keeps them comes first, best first, then the rest,
/// nearest first. Where there are no limits it is one search.
pub(super) fn within<'a>(
    context: &Context<'a>,
    network: &'a Network,
    plausible: bool,
    seed: u64,
    search: impl Fn(Guard<'a>) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let mut all: Vec<(f64, Candidate)> = Vec::new();
    for price in PRICES {
        let found = search(Guard::new(context, network, plausible, price, seed));
        if !context.problem.has_limits() {
            return found;
        }
        let found: Vec<Candidate> = found.into_iter().take(LOOKED_AT).collect();
        let missing: Vec<f64> = found
            .par_iter()
            .map(|found| shortfall(&network.keeping(context.problem, &found.intervention), plausible))
            .collect();
        all.extend(missing.into_iter().zip(found));
        if all.iter().any(|(missing, _)| *missing == 0.0) {
            break;
        }
    }
    // The sort is stable: of those that keep the limits the best stays first.
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Of interventions, those that keep the limits; all of them if none does.
pub(super) fn keeping_ones(
    problem: &Problem,
    network: &Network,
    plausible: bool,
    interventions: Vec<Intervention>,
) -> Vec<Intervention> {
    if !problem.has_limits() {
        return interventions;
    }
    let keeps = |at: &&Intervention| shortfall(&network.keeping(problem, at), plausible) == 0.0;
    let kept: Vec<Intervention> = interventions.iter().filter(keeps).cloned().collect();
    if kept.is_empty() { interventions } else { kept }
}

/// What to say of an intervention that does not keep the limits.
pub(super) fn warning(keeping: &[Keeping], plausible: bool) -> Option<Warning> {
    let missing = keeping.iter().filter(|keeping| keeping.chance(plausible) < keeping.wanted);
    let missing: Vec<(String, f64, f64)> =
        missing.map(|k| (k.name.clone(), k.chance(plausible), k.wanted)).collect();
    (!missing.is_empty()).then_some(Warning::LimitsUnlikely { missing })
}
