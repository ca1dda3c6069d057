//! Searches that keep the limits of outcomes.

use crate::acquisition::{Acquisition, Limited, Price, Toll};
use crate::network::{Counting, Keeping, Network, Workspace};
use crate::search::{Candidate, SearchSettings};
use crate::{Choice, Data, Intervention, Problem};

use super::{Context, Warning};

/// What missing log-odds of keeping a limit cost, in standard deviations of the rewards, and the log-odds that are asked for beyond what
/// is wanted; then more of both, if nothing that keeps it is found.
pub(super) const PRICES: [(f64, f64); 3] = [(3.0, 0.1), (30.0, 0.4), (300.0, 1.5)];
/// Places of a search that are looked at exactly, and the nearest of them that the next one begins from.
const LOOKED_AT: usize = 8;
const NEAREST: usize = 4;

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
    /// A guard that asks a price for missing log-odds, with a margin; of what is plausible, or of what can be relied on.
    pub fn new(
        context: &Context<'a>,
        network: &'a Network,
        counting: Counting,
        (price, margin): (f64, f64),
        seed: u64,
    ) -> Self {
        let problem = context.problem;
        let weight = || price * spread(problem, context.data);
        let price = problem.has_limits().then(|| Price { weight: weight(), margin, counting });
        Self { problem, network, price, seed }
    }

    /// A guard that lets everything pass.
    pub fn none(problem: &'a Problem, network: &'a Network) -> Self {
        Self { problem, network, price: None, seed: 0 }
    }

    /// What it knows of outcomes.
    pub fn network(&self) -> &'a Network {
        self.network
    }

    /// An acquisition of a choice, which looks at so many samples, that keeps the limits; the same where there are none.
    pub fn over<'b>(
        &self,
        choice: &Choice,
        samples: usize,
        inner: Box<dyn Acquisition + 'b>,
    ) -> Box<dyn Acquisition + 'b>
    where
        'a: 'b,
    {
        match self.price {
            Some(price) => {
                let toll = Toll::new(self.problem, self.network, choice, price, samples, self.seed);
                Box::new(Limited::new(inner, toll))
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

/// A smaller probability says nothing any more of how near something is to a limit.
const HOPELESS: f64 = 1e-6;

/// How much is missing for an intervention to keep the limits, 0 if nothing: the largest difference between a probability that is wanted
/// and what it is, and how far outcomes are beyond where there is no chance.
pub(super) fn shortfall(
    problem: &Problem,
    network: &Network,
    intervention: &Intervention,
    counting: Counting,
) -> f64 {
    let keeping = network.keeping(problem, intervention);
    let missing = keeping.iter().map(|k| k.wanted - k.chance(counting)).fold(0.0, f64::max);
    let far = || network.beyond_limits(problem, intervention);
    missing + if keeping.iter().any(|k| k.chance(counting) < HOPELESS) { far() } else { 0.0 }
}

/// Of decisions of one choice, whether each plausibly keeps the limits, by a few draws: all that is dear to count exactly is not worth it
/// where many have no chance.
pub(super) fn may_keep(
    problem: &Problem,
    network: &Network,
    choice: &Choice,
    points: &[Vec<f64>],
    seed: u64,
) -> Vec<bool> {
    if !problem.has_limits() || points.is_empty() {
        return vec![true; points.len()];
    }
    let price = Price { weight: 1.0, margin: 0.0, counting: Counting::Plausible };
    let toll = Toll::new(problem, network, choice, price, 1, seed);
    let mut prices = vec![0.0; points.len()];
    toll.charge(&points.concat(), &mut Workspace::default(), &mut prices, &mut []);
    prices.into_iter().map(|price| price == 0.0).collect()
}

/// Searches until something keeps the limits, at a higher price each time; what keeps them comes first, best first, then the rest,
/// nearest first. Where there are no limits it is one search.
///
/// The first search looks all over; `search` is then told what came nearest, and need only look about there. Counting is dear: places
/// are looked at from the best on, until one keeps the limits that is free to be proposed. Those behind it come last, as they
/// were found.
pub(super) fn within<'a>(
    context: &Context<'a>,
    network: &'a Network,
    counting: Counting,
    seed: u64,
    search: impl Fn(Guard<'a>, &[Intervention]) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let mut looked_at: Vec<(f64, Candidate)> = Vec::new();
    for price in PRICES {
        let near = looked_at.iter().take(NEAREST).map(|(_, near)| near.intervention.clone());
        let near: Vec<Intervention> = near.collect();
        let found = search(Guard::new(context, network, counting, price, seed), &near);
        if !context.problem.has_limits() {
            return found;
        }
        let mut found = found.into_iter();
        let mut enough = false;
        for candidate in found.by_ref().take(LOOKED_AT) {
            let missing = shortfall(context.problem, network, &candidate.intervention, counting);
            enough = missing == 0.0 && !context.is_taken(&candidate.intervention);
            looked_at.push((missing, candidate));
            if enough {
                break;
            }
        }
        // The sort is stable: of those that keep the limits the best stays first.
        looked_at.sort_by(|a, b| a.0.total_cmp(&b.0));
        if enough {
            looked_at.extend(found.map(|candidate| (f64::INFINITY, candidate)));
            break;
        }
    }
    looked_at.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The settings of a search that begins from places that are nearly good enough: little is looked at elsewhere.
pub(super) fn about(settings: &SearchSettings, near: &[Intervention]) -> SearchSettings {
    match near.is_empty() {
        true => *settings,
        false => SearchSettings {
            screened: (settings.screened / 8).max(1),
            starts: (settings.starts / 3).max(1),
            ..*settings
        },
    }
}

/// Of interventions, those that keep the limits; all of them if none does.
pub(super) fn keeping_ones(
    problem: &Problem,
    network: &Network,
    counting: Counting,
    interventions: Vec<Intervention>,
) -> Vec<Intervention> {
    if !problem.has_limits() {
        return interventions;
    }
    let keeps = |at: &&Intervention| shortfall(problem, network, at, counting) == 0.0;
    let kept: Vec<Intervention> = interventions.iter().filter(keeps).cloned().collect();
    if kept.is_empty() { interventions } else { kept }
}

/// What to say of an intervention that does not keep the limits, or not for sure.
pub(super) fn warning(keeping: &[Keeping], counting: Counting) -> Option<Warning> {
    let missing = |chance: &dyn Fn(&Keeping) -> f64| -> Vec<(String, f64, f64)> {
        let missing = keeping.iter().filter(|k| chance(k) < k.wanted);
        missing.map(|k| (k.name.clone(), chance(k), k.wanted)).collect()
    };
    let (unlikely, unsure) = match counting {
        Counting::Plausible => (missing(&|k| k.plausible), Vec::new()),
        Counting::Cautious => (missing(&|k| k.probability), missing(&|k| k.cautious)),
    };
    if !unlikely.is_empty() {
        return Some(Warning::LimitsUnlikely { missing: unlikely });
    }
    (!unsure.is_empty()).then_some(Warning::LimitsUnsure { missing: unsure })
}
