//! What to settle for: the intervention the model believes in most.

use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::acquisition::{Acquisition, CredibleReward};
use crate::network::{Forecast, LOWER_QUANTILE, ModelSettings, Network, expected_reward, quantile};
use crate::optimism::Optimism;
use crate::search::{Scored, SearchSettings, Stages, climb};
use crate::{Choice, Intervention, Problem};

use super::{Context, Luck, Mcbo, Memory, SuggestError, Warning, best_observed};

/// What a recommendation goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Criterion {
    /// The highest expected reward.
    #[default]
    Mean,
    /// The highest lower bound of the expected reward, the one that [`Forecast::lower`] is: what the model is sure of.
    Lower,
}

impl Criterion {
    /// Standard deviations that are taken off the mean while searching: the 5 % quantile of a normal distribution.
    fn caution(self) -> f64 {
        match self {
            Criterion::Mean => 0.0,
            Criterion::Lower => 1.644_853_626_951_472_2,
        }
    }

    /// The worth of draws of the expected reward; none where a formula has no value.
    fn worth(self, mut draws: Vec<f64>) -> f64 {
        let worth = match self {
            Criterion::Mean => draws.iter().sum::<f64>() / draws.len() as f64,
            Criterion::Lower => quantile(&mut draws, LOWER_QUANTILE),
        };
        if worth.is_nan() { f64::NEG_INFINITY } else { worth }
    }
}

/// The draws of the mechanisms behind every expectation and every bound that goes with a recommendation: always the same, so
/// that interventions are compared under the same luck, and others than those it was chosen by, which were kind to it.
const DRAWS: u64 = 0;

/// The intervention the model believes in most.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recommendation {
    /// What to do, in the user's units.
    pub intervention: Intervention,
    /// What it went by.
    pub criterion: Criterion,
    /// What the model expects of every node, the reward last, with bounds: what [`Self::expects`] says of the intervention.
    pub predicted: Vec<Forecast>,
    /// What to know about the fit.
    pub warnings: Vec<Warning>,
    /// The fitted model.
    pub network: Network,
}

impl Recommendation {
    /// What the model behind it expects of any intervention, with bounds that can be compared with its own.
    pub fn expects(&self, problem: &Problem, intervention: &Intervention) -> Vec<Forecast> {
        if *intervention == self.intervention {
            return self.predicted.clone();
        }
        self.network.forecast(problem, intervention, DRAWS)
    }

    /// The expected reward with its bounds, in the direction of improvement: mean, lower and upper end.
    pub fn reward(&self, problem: &Problem) -> Option<[f64; 3]> {
        expected_reward(problem, &self.predicted)
    }
}

/// Places that the mean of the mechanisms finds best, and that were measured best, from which a recommendation starts.
const CANDIDATES: usize = 8;
/// The best of them, which are climbed from.
const REFINED: usize = 3;

impl Mcbo {
    /// The intervention of the highest expected reward, or of the highest lower bound of it, with what the model expects.
    ///
    /// It depends on the problem, the data and the generator alone: the model is fitted anew, whatever the strategy remembers,
    /// so that the same trials give the same recommendation however they came together.
    ///
    /// # Errors
    /// If a model cannot be fitted.
    pub fn recommend(
        &self,
        context: &Context<'_>,
        criterion: Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Recommendation, SuggestError> {
        recommend(context, &self.model, self.optimism, &self.search, criterion, rng)
    }
}

/// See [`Mcbo::recommend`].
pub(super) fn recommend(
    context: &Context<'_>,
    model: &ModelSettings,
    optimism: Optimism,
    search: &SearchSettings,
    criterion: Criterion,
    rng: &mut dyn Rng,
) -> Result<Recommendation, SuggestError> {
    let (problem, memory) = (context.problem, Memory::default());
    let context = &Context { pending: &[], failed: &[], memory: &memory, ..*context };
    let (network, _) = context.fit(model, rng)?;
    let seed: u64 = rng.random();
    // The search looks at the mechanisms' means; what counts is the mean, or the bound, over what they may be.
    let found = super::mcbo::search(context, &network, optimism, Luck::Each(0.0), search, seed, &|_| {});
    let found = found.into_iter().map(|found| (found.choice, found.intervention)).take(CANDIDATES);
    let observed = best_observed(problem, context.data, CANDIDATES).into_iter();
    let observed = observed.map(|intervention| (Choice::of(problem, &intervention), intervention));
    let worth =
        |intervention: &Intervention| criterion.worth(network.reward_draws(problem, intervention, seed));
    let candidates: Vec<(Choice, Intervention)> = found.chain(observed).collect();
    let values: Vec<f64> = candidates.par_iter().map(|(_, intervention)| worth(intervention)).collect();
    let mut candidates: Vec<(f64, (Choice, Intervention))> = values.into_iter().zip(candidates).collect();
    // The sort is stable: of equals the first found stays first.
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let better: Vec<(f64, Intervention)> = candidates
        .par_iter()
        .take(REFINED)
        .map(|(_, (choice, start))| {
            let intervention = refined(problem, &network, criterion, choice, start, seed);
            (worth(&intervention), intervention)
        })
        .collect();
    let all = candidates.into_iter().map(|(value, (_, intervention))| (value, intervention)).chain(better);
    let best = all.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let intervention = best.map_or_else(|| problem.neutral_intervention(), |(_, intervention)| intervention);
    let predicted = network.forecast(problem, &intervention, DRAWS);
    let undefined = network.undefined(problem, &intervention, &predicted);
    Ok(Recommendation {
        warnings: network.warnings().iter().cloned().chain(undefined).map(Warning::Model).collect(),
        predicted,
        criterion,
        intervention,
        network,
    })
}

/// A better place near a candidate, by draws of the mechanisms.
fn refined(
    problem: &Problem,
    network: &Network,
    criterion: Criterion,
    choice: &Choice,
    start: &Intervention,
    seed: u64,
) -> Intervention {
    let reward =
        |samples: usize| CredibleReward::new(problem, network, choice, criterion.caution(), samples, seed);
    let (coarse, fine) = (reward(2), reward(4));
    let start = Scored { point: coarse.space().point(start), value: 0.0 };
    let noisy = coarse.is_noisy().then_some(&fine as &dyn Acquisition);
    let reached = climb(&coarse, noisy, vec![start], Stages { first: 10, finalists: 1, second: 16 });
    // One start went in, so one place comes out.
    reached.first().map_or_else(
        || problem.neutral_intervention(),
        |best| coarse.space().intervention(problem, &best.point),
    )
}
