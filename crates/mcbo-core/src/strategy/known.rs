//! What is known for sure, where nothing is noisy.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::network::{ModelSettings, Network};
use crate::{Data, Given, Intervention, Noise, Problem};

use super::{Context, Criterion, SuggestError, best_observed};

/// Trials that are the same to this share of every range crowd on one another.
const CROWDED: f64 = 0.02;
/// More trials than this are not compared with one another.
const MOST: usize = 2_000;

/// The best measured trial, if nothing on the way to its reward is noisy: what it gave once it gives again.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub intervention: Intervention,
    pub reward: f64,
    /// A second model, where most trials crowd.
    apart: Option<Network>,
}

impl Known {
    /// The best measured trial, if there is one that is known for sure.
    ///
    /// # Errors
    /// If the second model cannot be fitted.
    pub fn of(context: &Context<'_>, model: &ModelSettings, seed: u64) -> Result<Option<Self>, SuggestError> {
        let (problem, data) = (context.problem, context.data);
        let (reward, ancestors) = (problem.reward(), problem.graph().ancestors(problem.reward()));
        let mut nodes = problem.nodes().iter().enumerate();
        if nodes.any(|(node, declared)| (ancestors[node] || node == reward) && declared.noise != Noise::None)
        {
            return Ok(None);
        }
        let Some(best) = best_observed(problem, data, 1).pop() else { return Ok(None) };
        let of_best = |(trial, _): &(usize, f64)| data.observations()[*trial].intervention == best;
        let Some((place, reward)) =
            data.rewards(problem).filter(of_best).reduce(|a, b| if b.1 > a.1 { b } else { a })
        else {
            return Ok(None);
        };
        let apart = match trials_apart(problem, data, place) {
            Some(data) => {
                let context = Context { data: &data, ..*context };
                Some(context.fit(model, &mut ChaCha8Rng::seed_from_u64(seed))?.0)
            }
            None => None,
        };
        Ok(Some(Self { intervention: best, reward, apart }))
    }

    /// The same where this is known of the trial.
    pub fn given(mut self, given: &Given) -> Self {
        if let Some(network) = &mut self.apart {
            network.given(given);
        }
        self
    }

    /// Whether something that was never tried is surely better, by the draws of its reward.
    ///
    /// It has to be better by its lower bound: of many places that a model thinks better, the one it thinks best is the one it flatters
    /// most. And where most trials crowd, by that of a model of trials that are apart as well. Of two causes that are at their best where the
    /// crowd is, either may make the peak. A model of all rows goes by how well each explanation follows the last digits of the crowd,
    /// and is sure of one; without the crowd it knows that it does not know.
    pub fn is_surpassed(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        draws: &[f64],
        seed: u64,
    ) -> bool {
        let surely = |draws: Vec<f64>| Criterion::Lower.worth(draws) > self.reward;
        let apart = |network: &Network| surely(network.reward_draws(problem, intervention, seed));
        surely(draws.to_vec()) && self.apart.as_ref().is_none_or(apart)
    }
}

/// The trials without those that crowd on one another: `best`, then from the first on whatever is apart from all before. None unless most
/// crowd: a few that are close together are what a model learns details from.
fn trials_apart(problem: &Problem, data: &Data, best: usize) -> Option<Data> {
    let trials = data.observations();
    if trials.len() > MOST {
        return None;
    }
    let mut apart = vec![best];
    for (place, trial) in trials.iter().enumerate() {
        let crowds = |&other: &usize| {
            other == place || trials[other].intervention.is_within(problem, &trial.intervention, CROWDED)
        };
        if !apart.iter().any(crowds) {
            apart.push(place);
        }
    }
    apart.sort_unstable();
    (2 * apart.len() < trials.len()).then(|| data.select(&apart))
}
