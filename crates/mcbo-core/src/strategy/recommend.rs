//! What to settle for: the intervention the model believes in most.

use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::acquisition::CredibleReward;
use crate::network::{Forecast, Keeping, LOWER_QUANTILE, ModelSettings, Network, expected_reward, quantile};
use crate::optimism::Optimism;
use crate::search::{Scored, SearchSettings, Stages, climb};
use crate::{Choice, Data, Given, Intervention, Noise, Problem};

use super::limits::{self, Guard, shortfall};
use super::{Context, Luck, Mcbo, Memory, SuggestError, Warning, best_observed, not_given};

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
    /// What was known of the contexts.
    pub given: Given,
    /// How probable it is that each limit is kept.
    pub limits: Vec<Keeping>,
    /// The fitted model, of trials in which that is known.
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

impl Mcbo {
    /// What to do in each of many contexts: the recommendations of [`Self::recommend`] where this is given, to the bit, with a model
    /// that is fitted once.
    ///
    /// # Errors
    /// If a model cannot be fitted.
    pub fn policy(
        &self,
        context: &Context<'_>,
        criterion: Criterion,
        contexts: &[Given],
        rng: &mut dyn Rng,
    ) -> Result<Vec<Recommendation>, SuggestError> {
        let memory = Memory::default();
        let context = &Context { pending: &[], failed: &[], memory: &memory, ..*context };
        let (network, _) = context.fit(&self.model, rng)?;
        let seed: u64 = rng.random();
        let advise = |given: &Given| {
            let mut network = network.clone();
            network.given(given);
            let context = Context { given, ..*context };
            advise(&context, network, self.optimism, &self.search, criterion, seed)
        };
        Ok(contexts.iter().map(advise).collect())
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
    let memory = Memory::default();
    let context = &Context { pending: &[], failed: &[], memory: &memory, ..*context };
    let (network, _) = context.fit(model, rng)?;
    let seed: u64 = rng.random();
    Ok(advise(context, network, optimism, search, criterion, seed))
}

/// What a fitted model recommends.
fn advise(
    context: &Context<'_>,
    network: Network,
    optimism: Optimism,
    search: &SearchSettings,
    criterion: Criterion,
    seed: u64,
) -> Recommendation {
    let problem = context.problem;
    // The search looks at the mechanisms' means; what counts is the mean, or the bound, over what they may be.
    let found = super::mcbo::search(context, &network, optimism, Luck::Each(0.0), search, seed, &|_| {});
    let found = found.into_iter().map(|found| (found.choice, found.intervention)).take(CANDIDATES);
    let observed = best_observed(problem, context.data, CANDIDATES).into_iter();
    let observed = observed.map(|intervention| (Choice::of(problem, &intervention), intervention));
    let worth = |intervention: &Intervention| Worth {
        missing: shortfall(&network.keeping(problem, intervention), false),
        reward: criterion.worth(network.reward_draws(problem, intervention, seed)),
    };
    let candidates: Vec<(Choice, Intervention)> = found.chain(observed).collect();
    let values: Vec<Worth> = candidates.par_iter().map(|(_, intervention)| worth(intervention)).collect();
    let mut candidates: Vec<(Worth, (Choice, Intervention))> = values.into_iter().zip(candidates).collect();
    // The sort is stable: of equals the first found stays first.
    candidates.sort_by(|a, b| a.0.compare(&b.0));
    let better: Vec<(Worth, Intervention)> = candidates
        .par_iter()
        .take(REFINED)
        .map(|(_, (choice, start))| {
            let guard = Guard::new(context, &network, false, limits::FIRST, seed);
            let intervention = refined(problem, &network, guard, criterion, choice, start, seed);
            (worth(&intervention), intervention)
        })
        .collect();
    let all = candidates.into_iter().map(|(value, (_, intervention))| (value, intervention)).chain(better);
    let best = all.reduce(|best, next| if next.0.compare(&best.0).is_lt() { next } else { best });
    let mut intervention =
        best.map_or_else(|| problem.neutral_intervention(), |(_, intervention)| intervention);
    if let Some((reward, known)) = known_for_sure(problem, context.data) {
        let missing = |intervention: &Intervention| worth(intervention).missing;
        let sure = quantile(&mut network.reward_draws(problem, &intervention, seed), LOWER_QUANTILE);
        // Of many places that a model thinks better, the one it thinks best is the one it flatters most.
        if sure.is_nan() || (sure <= reward && missing(&known) <= missing(&intervention)) {
            intervention = known;
        }
    }
    let predicted = network.forecast(problem, &intervention, DRAWS);
    let undefined = network.undefined(problem, &intervention, &predicted);
    let limits = network.keeping(problem, &intervention);
    let unlikely = limits::warning(&limits, false);
    let warnings = network.warnings().iter().cloned().chain(undefined).map(Warning::Model);
    Recommendation {
        warnings: warnings.chain(unlikely).chain(not_given(problem, context.given)).collect(),
        predicted,
        criterion,
        intervention,
        given: context.given.clone(),
        limits,
        network,
    }
}

/// The best measured trial, if nothing on the way to the reward is noisy: what it gave once it gives again.
///
/// What was never tried has to be better than that by its lower bound.
fn known_for_sure(problem: &Problem, data: &Data) -> Option<(f64, Intervention)> {
    let (reward, ancestors) = (problem.reward(), problem.graph().ancestors(problem.reward()));
    let mut nodes = problem.nodes().iter().enumerate();
    if nodes.any(|(node, declared)| (ancestors[node] || node == reward) && declared.noise != Noise::None) {
        return None;
    }
    let best = best_observed(problem, data, 1).pop()?;
    let of_best = |(trial, _): &(usize, f64)| data.observations()[*trial].intervention == best;
    let measured = data.rewards(problem).filter(of_best).map(|(_, reward)| reward).reduce(f64::max)?;
    Some((measured, best))
}

/// What an intervention is worth: first that it keeps the limits, or how near it comes, then its reward.
struct Worth {
    missing: f64,
    reward: f64,
}

impl Worth {
    /// The better one is less.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.missing.total_cmp(&other.missing).then(other.reward.total_cmp(&self.reward))
    }
}

/// A better place near a candidate, by draws of the mechanisms.
fn refined(
    problem: &Problem,
    network: &Network,
    guard: Guard<'_>,
    criterion: Criterion,
    choice: &Choice,
    start: &Intervention,
    seed: u64,
) -> Intervention {
    let reward = |samples: usize| {
        let reward = CredibleReward::new(problem, network, choice, criterion.caution(), samples, seed);
        guard.over(choice, Box::new(reward))
    };
    let (coarse, fine) = (reward(2), reward(4));
    let start = Scored { point: coarse.space().point(start), value: 0.0 };
    let noisy = coarse.is_noisy().then_some(fine.as_ref());
    let reached = climb(coarse.as_ref(), noisy, vec![start], Stages { first: 10, finalists: 1, second: 16 });
    // One start went in, so one place comes out.
    reached.first().map_or_else(
        || problem.neutral_intervention(),
        |best| coarse.space().intervention(problem, &best.point),
    )
}
