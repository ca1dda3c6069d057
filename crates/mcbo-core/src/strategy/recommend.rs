//! What to settle for: the intervention the model believes in most.

use mcbo_gp::Inference;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::acquisition::CredibleReward;
use crate::network::{
    Counting, Forecast, Keeping, LOWER_QUANTILE, ModelSettings, Network, expected_reward, quantile,
};
use crate::optimism::Optimism;
use crate::search::{AscentBudget, Scored, SearchSettings, climb};
use crate::{Choice, DecisionSpace, Given, Intervention, Problem};

use super::known::Known;
use super::limits::{self, Guard, shortfall};
use super::{Context, Luck, Mcbo, Memory, SuggestError, Warning, about_contexts, best_observed};

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
    pub(super) fn worth(self, mut draws: Vec<f64>) -> f64 {
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

/// What the model behind a recommendation expects of an intervention.
pub(crate) fn expects(problem: &Problem, network: &Network, intervention: &Intervention) -> Vec<Forecast> {
    network.forecast(problem, intervention, DRAWS)
}

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
        expects(problem, &self.network, intervention)
    }

    /// The expected reward with its bounds, in the direction of improvement: mean, lower and upper end.
    pub fn reward(&self, problem: &Problem) -> Option<[f64; 3]> {
        expected_reward(problem, &self.predicted)
    }
}

/// Places that the mean of the mechanisms finds best, and that were measured best, from which a recommendation starts.
const CANDIDATES: usize = 8;
/// How closely limits are looked at while climbing.
const LIMIT_SAMPLES: usize = 16;
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
        let model = under_limits(context.problem, &self.model);
        let (network, _) = context.fit(&model, rng)?;
        let seed: u64 = rng.random();
        let known = Known::of(context, &model, seed)?;
        let advise = |given: &Given| {
            let mut network = network.clone();
            network.given(given);
            let known = known.clone().map(|known| known.given(given));
            let context = Context { given, ..*context };
            advise(&context, network, known, self.optimism, &self.search, criterion, seed)
        };
        Ok(contexts.iter().map(advise).collect())
    }
}

impl Mcbo {
    /// The model behind [`Self::recommend`].
    pub(crate) fn advising(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Network, SuggestError> {
        let memory = Memory::default();
        let context = &Context { pending: &[], failed: &[], memory: &memory, ..*context };
        Ok(context.fit(&under_limits(context.problem, &self.model), rng)?.0)
    }
}

/// Samples of hyper-parameters behind a recommendation that must keep limits in nearly all plausible systems: four do not have that
/// tail.
const SAMPLES_UNDER_LIMITS: usize = 16;

/// The settings of the model behind a recommendation.
fn under_limits(problem: &Problem, model: &ModelSettings) -> ModelSettings {
    let mut model = model.clone();
    if let (true, Inference::Samples(sampling)) = (problem.has_limits(), &mut model.inference) {
        sampling.count = sampling.count.max(SAMPLES_UNDER_LIMITS);
    }
    model
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
    let model = under_limits(context.problem, model);
    let (network, _) = context.fit(&model, rng)?;
    let seed: u64 = rng.random();
    let known = Known::of(context, &model, seed)?;
    Ok(advise(context, network, known, optimism, search, criterion, seed))
}

/// What a fitted model recommends.
fn advise(
    context: &Context<'_>,
    network: Network,
    known: Option<Known>,
    optimism: Optimism,
    search: &SearchSettings,
    criterion: Criterion,
    seed: u64,
) -> Recommendation {
    let (problem, quick) = (context.problem, &*network.for_searching());
    // The search looks at the mechanisms' means; what counts is the mean, or the bound, over what they may be.
    let found = super::mcbo::search(context, quick, optimism, Luck::Each(0.0), search, seed, &|_| {});
    let found = found.into_iter().map(|found| (found.choice, found.intervention)).take(CANDIDATES);
    let observed = best_observed(problem, context.data, CANDIDATES).into_iter();
    let observed = observed.map(|intervention| (Choice::of(problem, &intervention), intervention));
    let worth = |intervention: &Intervention| {
        let missing = shortfall(problem, quick, intervention, Counting::Cautious);
        match &known {
            Some(known) if known.intervention == *intervention => {
                Worth { missing, sure: true, reward: known.reward }
            }
            _ => {
                let draws = quick.reward_draws(problem, intervention, seed);
                let sure = known
                    .as_ref()
                    .is_none_or(|known| known.is_surpassed(problem, intervention, &draws, seed));
                Worth { missing, sure, reward: criterion.worth(draws) }
            }
        }
    };
    let candidates: Vec<(Choice, Intervention)> = found.chain(observed).collect();
    let values: Vec<Worth> = candidates.par_iter().map(|(_, intervention)| worth(intervention)).collect();
    let mut candidates: Vec<(Worth, (Choice, Intervention))> = values.into_iter().zip(candidates).collect();
    // The sort is stable: of equals the first found stays first.
    candidates.sort_by(|a, b| a.0.compare(&b.0));
    // Where something is known for sure, what is surer of being better is looked for too.
    let also = known.as_ref().map(|_| Criterion::Lower).filter(|lower| *lower != criterion);
    let best = candidates.first().map(|(best, _)| best);
    let starts = promising(&candidates).into_iter().flat_map(|start| {
        [Some(criterion), also].into_iter().flatten().map(move |criterion| (criterion, start))
    });
    let starts: Vec<(Criterion, &(Choice, Intervention))> = starts.collect();
    let better: Vec<(Worth, Intervention)> = starts
        .par_iter()
        .map(|(criterion, (choice, start))| {
            let refined = |start: &Intervention, price: (f64, f64)| {
                let guard = Guard::new(context, quick, Counting::Cautious, price, seed);
                let intervention = refined(problem, quick, guard, *criterion, choice, start, seed);
                (worth(&intervention), intervention)
            };
            let [first, dearer @ ..] = limits::PRICES;
            // What would be the best and does not keep the limits is sought at a higher price, and anything that keeps them if nothing does.
            let none_keeps = best.is_none_or(|best| best.missing > 0.0);
            let is_wanted = |found: &Worth| found.missing > 0.0 && (none_keeps || found.is_worth_more(best));
            dearer.iter().fold(refined(start, first), |found, &price| match is_wanted(&found.0) {
                true => refined(&found.1, price),
                false => found,
            })
        })
        .collect();
    let all = candidates.into_iter().map(|(value, (_, intervention))| (value, intervention)).chain(better);
    let mut all: Vec<(Worth, Intervention)> = all.collect();
    // The sort is stable: of equals the first found stays first.
    all.sort_by(|a, b| a.0.compare(&b.0));
    // Where nothing is sure to keep the limits, what probably does and is nearly as sure as the surest counts as much: a few hundredths are no
    // reason to give up the reward.
    let nearest = all.first().map_or(0.0, |(nearest, _)| nearest.missing);
    let forgiven = |mut worth: Worth, at: &Intervention| {
        let nearly = nearest > 0.0 && worth.missing > 0.0 && worth.missing <= nearest + NEARLY;
        if nearly && quick.keeping(problem, at).iter().all(Keeping::is_probable) {
            worth.missing = 0.0;
        }
        worth
    };
    let mut all: Vec<(Worth, Intervention)> =
        all.into_iter().map(|(worth, at)| (forgiven(worth, &at), at)).collect();
    all.sort_by(|a, b| a.0.compare(&b.0));
    let worth = |at: &Intervention| forgiven(worth(at), at);
    let edge = at_the_edge(problem, &all, worth);
    let all = all.into_iter().chain(edge);
    let best = all.reduce(|best, next| if next.0.compare(&best.0).is_lt() { next } else { best });
    let intervention = best.map_or_else(|| problem.neutral_intervention(), |(_, intervention)| intervention);
    let predicted = expects(problem, &network, &intervention);
    let undefined = network.undefined(problem, &intervention, &predicted);
    let limits = network.keeping(problem, &intervention);
    let unlikely = limits::warning(&limits, Counting::Cautious);
    let warnings = network.warnings().iter().cloned().chain(undefined).map(Warning::Model);
    Recommendation {
        warnings: warnings
            .chain(unlikely)
            .chain(about_contexts(problem, context.data, context.given))
            .collect(),
        predicted,
        criterion,
        intervention,
        given: context.given.clone(),
        limits,
        network,
    }
}

/// The candidates that are climbed from, of some in order: the best, then those that would be worth more if they came to keep the limits, which
/// may take little, then the others.
fn promising(candidates: &[(Worth, (Choice, Intervention))]) -> Vec<&(Choice, Intervention)> {
    let Some(((best, start), rest)) = candidates.split_first() else { return Vec::new() };
    let (more, less): (Vec<_>, Vec<_>) =
        rest.iter().partition(|(other, _)| other.missing > best.missing && other.is_worth_more(Some(best)));
    let rest = more.into_iter().chain(less).map(|(_, start)| start);
    [start].into_iter().chain(rest).take(REFINED).collect()
}

/// By how much the probability that can be relied on may fall short of the surest, where nothing is sure to keep the limits.
const NEARLY: f64 = 0.05;

/// Interventions that would be worth more and do not keep the limits, for which the edge is looked for.
const BEYOND: usize = 3;
/// Halvings on the way to the edge.
const HALVINGS: usize = 6;

/// The last interventions that keep the limits on the way from the best that does to better ones that do not. Climbing goes by few draws
/// and ends beside the edge, on either side.
fn at_the_edge(
    problem: &Problem,
    all: &[(Worth, Intervention)],
    worth: impl Fn(&Intervention) -> Worth + Sync,
) -> Vec<(Worth, Intervention)> {
    let Some((inside, from)) = all.first().filter(|(first, _)| problem.has_limits() && first.missing == 0.0)
    else {
        return Vec::new();
    };
    let space = DecisionSpace::new(problem, &Choice::of(problem, from));
    let beyond = all.iter().filter(|(other, at)| {
        other.missing > 0.0 && other.reward > inside.reward && Choice::of(problem, at) == *space.choice()
    });
    let beyond: Vec<&Intervention> = beyond.take(BEYOND).map(|(_, at)| at).collect();
    let between = |&to: &&Intervention| {
        let (mut start, end) = (space.point(from), space.point(to));
        // Between names and steps there is no way: it leads from where only the other numbers differ.
        for (k, _) in space.grids() {
            start[k] = end[k];
        }
        let (mut kept, mut lost, mut found) = (0.0, 1.0, None);
        for _ in 0..HALVINGS {
            let share = 0.5 * (kept + lost);
            let mut point: Vec<f64> = start.iter().zip(&end).map(|(a, b)| a + share * (b - a)).collect();
            if !space.allow(&mut point) {
                break;
            }
            let at = space.intervention(problem, &point);
            let here = worth(&at);
            if here.missing == 0.0 {
                (kept, found) = (share, Some((here, at)));
            } else {
                lost = share;
            }
        }
        found
    };
    beyond.par_iter().filter_map(between).collect()
}

/// What an intervention is worth: first that it keeps the limits, or how near it comes, then whether it is surely no worse than what
/// is known, then its reward.
struct Worth {
    missing: f64,
    sure: bool,
    reward: f64,
}

impl Worth {
    /// Whether the reward is higher than that of another, if there is one.
    fn is_worth_more(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| self.reward > other.reward)
    }

    /// The better one is less.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let missing = self.missing.total_cmp(&other.missing);
        missing.then(other.sure.cmp(&self.sure)).then(other.reward.total_cmp(&self.reward))
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
    let reward = |samples: usize, of_limits: usize| {
        let reward = CredibleReward::new(problem, network, choice, criterion.caution(), samples, seed);
        guard.over(choice, of_limits, Box::new(reward))
    };
    // Values are exchanged by the first, many times: where there are any to exchange, limits are looked at closely in the end only.
    let few = match DecisionSpace::new(problem, choice).is_box() {
        true => LIMIT_SAMPLES,
        false => LIMIT_SAMPLES / 2,
    };
    let (coarse, fine) = (reward(2, few), reward(4, LIMIT_SAMPLES));
    let start = Scored { point: coarse.space().point(start), value: 0.0 };
    let noisy = coarse.is_noisy().then_some(fine.as_ref());
    let reached =
        climb(coarse.as_ref(), noisy, vec![start], AscentBudget { first: 10, finalists: 1, second: 16 });
    // One start went in, so one place comes out.
    reached.first().map_or_else(
        || problem.neutral_intervention(),
        |best| coarse.space().intervention(problem, &best.point),
    )
}
