//! Who decides: the strategies behind one trait.

mod black_box;
mod catalogue;
mod cbo;
mod certificate;
mod costs;
mod eifn;
mod excursion;
mod known;
mod limits;
mod mcbo;
mod observe;
mod random;
mod recommend;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::data::check_intervention;
use crate::network::{FitError, Forecast, Keeping, ModelMemory, ModelSettings, ModelWarning, Network};
use crate::search::Candidate;
use crate::{Data, Fixed, Given, Intervention, Observation, Problem};

pub use black_box::{ExpectedImprovement, Ucb};
pub use catalogue::{OptionsError, Preset, Rule, StrategyName, StrategyOptions, StrategySettings};
pub use cbo::Cbo;
pub use certificate::Certificate;
pub use eifn::Eifn;
pub use excursion::Excursions;
pub use mcbo::{Exploration, Luck, Mcbo};
pub use observe::Observe;
pub use random::{Random, design_point};
pub(crate) use recommend::expects;
pub use recommend::{Criterion, Recommendation};

/// What a strategy remembers from one round to the next. It is part of the study, so that a resumed study goes on
/// exactly as an uninterrupted one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Memory {
    /// Hyper-parameters of the last fit.
    pub model: ModelMemory,
    /// The last suggestion.
    pub last: Option<Intervention>,
    /// Trials that were made for what they teach.
    #[serde(default, skip_serializing_if = "Excursions::is_none")]
    pub excursions: Excursions,
}

impl Memory {
    /// What is new in it since `before`: what a log writes down beside each suggestion. [`Self::completed`] puts the rest back.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self { model: self.model.since(&before.model), ..self.clone() }
    }

    /// The whole of what [`Self::since`] left the new of.
    #[must_use]
    pub fn completed(self, before: &Self) -> Self {
        Self { model: self.model.completed(&before.model), ..self }
    }
}

/// Everything a strategy may look at.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Context<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Trials that were measured.
    pub data: &'a Data,
    /// Trials that are under way, with what of them was measured already: they must not be proposed again, and what is missing
    /// is taken to come out as predicted.
    pub pending: &'a [Observation],
    /// Trials that could not be run: they must not be proposed again.
    pub failed: &'a [Intervention],
    /// What the strategy remembered in the last round.
    pub memory: &'a Memory,
    /// What is known of the contexts in the trial to choose.
    pub given: &'a Given,
    /// What an earlier search of the same round found: where others begin, beside the usual places.
    pub(crate) near: &'a [Intervention],
}

impl<'a> Context<'a> {
    /// What was measured and what is remembered; nothing is under way, nothing has failed and no context is known.
    pub fn new(problem: &'a Problem, data: &'a Data, memory: &'a Memory) -> Self {
        Self { problem, data, pending: &[], failed: &[], memory, given: Given::NONE, near: &[] }
    }

    /// The same with this known of the contexts.
    #[must_use]
    pub fn with_given(self, given: &'a Given) -> Self {
        Self { given, ..self }
    }

    /// The same with these trials under way.
    #[must_use]
    pub fn with_pending(self, pending: &'a [Observation]) -> Self {
        Self { pending, ..self }
    }
}

impl Context<'_> {
    /// Fits the network to the data, conditioned on trials that are under way; with what to remember of the fit.
    ///
    /// # Errors
    /// If a node's covariance cannot be factorised at all.
    pub fn fit(&self, model: &ModelSettings, rng: &mut dyn Rng) -> Result<(Network, Memory), SuggestError> {
        let mut network = Network::fit(self.problem, self.data, &self.memory.model, model, rng)?;
        let memory = Memory { model: network.memory(), ..self.memory.clone() };
        for pending in self.pending {
            network.condition_on_pending(self.problem, pending)?;
        }
        network.given(self.given);
        Ok((network, memory))
    }

    /// The last suggestion, if it could be one again: what is fixed now may be something else.
    fn last(&self) -> Option<&Intervention> {
        self.memory.last.as_ref().filter(|last| check_intervention(self.problem, last).is_ok())
    }

    /// Whether an intervention is the same, to a thousandth of every range, as one that is pending, in the same contexts, or has
    /// failed.
    pub fn is_taken(&self, candidate: &Intervention) -> bool {
        let here = |pending: &&Observation| self.given.agrees(self.problem, &pending.values);
        let pending = self.pending.iter().filter(here).map(|pending| &pending.intervention);
        pending.chain(self.failed).any(|other| candidate.is_close(self.problem, other))
    }
}

impl Context<'_> {
    /// Refuses what strategies without a model of every node cannot take into account.
    fn only_rewards(&self, name: &str) -> Result<(), SuggestError> {
        let cannot = |what, hint| SuggestError::Cannot { name: name.to_owned(), what, hint };
        if !self.given.is_empty() {
            let hint = "`mcbo` and `eifn` can; without what is given it takes contexts for noise";
            return Err(cannot("use what is known of contexts", hint));
        }
        keeps_no_limits(self.problem, name)
    }

    /// What to say of what the problem has and a strategy does not look at: costs, and limits if it does not know of them either.
    fn ignoring(&self, name: &str, limits: bool) -> Option<Warning> {
        let limits = limits && self.problem.has_limits();
        let what = match (limits, self.problem.has_costs()) {
            (true, true) => "limits and costs",
            (true, false) => "limits",
            (false, true) => "costs",
            (false, false) => return None,
        };
        Some(Warning::Ignored { strategy: name.to_owned(), what: what.to_owned() })
    }

    /// Whether a trial did what could be proposed today.
    fn in_ranges(&self, trial: usize) -> bool {
        crate::data::outside(self.problem, &self.data.observations()[trial].intervention).next().is_none()
    }
}

/// Refuses limits for a strategy that knows rewards alone.
fn keeps_no_limits(problem: &Problem, name: &str) -> Result<(), SuggestError> {
    let (what, hint) = ("keep limits", "`mcbo` and `eifn` can");
    match problem.has_limits() {
        true => Err(SuggestError::Cannot { name: name.to_owned(), what, hint }),
        false => Ok(()),
    }
}

/// Where every search begins beside its own places: the best that was measured, the last suggestion, and what is near.
fn warm_starts(context: &Context<'_>) -> Vec<Intervention> {
    let mut warm = best_observed(context.problem, context.data, 2);
    warm.extend(context.last().cloned());
    warm.extend_from_slice(context.near);
    warm
}

/// The interventions with the best measured rewards, best first. Past trials may have done what is not allowed any more: those are
/// left out.
fn best_observed(problem: &Problem, data: &Data, count: usize) -> Vec<Intervention> {
    let mut rewards: Vec<(usize, f64)> = data.rewards(problem).collect();
    rewards.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut best: Vec<Intervention> = Vec::new();
    for (trial, _) in rewards {
        let intervention = &data.observations()[trial].intervention;
        if best.len() == count {
            break;
        }
        let known = best.iter().any(|other| other.is_close(problem, intervention));
        if !known && check_intervention(problem, intervention).is_ok() {
            best.push(intervention.clone());
        }
    }
    best
}

/// The best place of every choice.
fn first_of_each_choice(found: &[Candidate]) -> Vec<Intervention> {
    let is_first = |(index, place): &(usize, &Candidate)| {
        !found[..*index].iter().any(|other| other.choice == place.choice)
    };
    found.iter().enumerate().filter(is_first).map(|(_, place)| place.intervention.clone()).collect()
}

/// Something the user should know about a suggestion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// About the fit.
    #[error(transparent)]
    Model(#[from] ModelWarning),
    /// Every other intervention is pending or has failed.
    #[error(
        "this intervention is under way or has failed already, and the problem allows no other; hint: wait for the pending trials"
    )]
    NothingElse,
    /// Nothing that was found keeps the limits.
    #[error(
        "nothing is likely to keep the limits: this comes nearest, with a probability of {}; hint: if more trials do not help, ask for less or allow more",
        too_rarely(missing)
    )]
    LimitsUnlikely {
        /// The limited nodes, with the probability and the one that is wanted.
        missing: Vec<(String, f64, f64)>,
    },
    /// What was found keeps the limits by what is probable, but not in every plausible system.
    #[error(
        "nothing is sure to keep the limits: this is the best of what comes nearest; one in forty systems that agree with the data keeps them with a probability of {} at the most; hint: trials near it tell",
        too_rarely(missing)
    )]
    LimitsUnsure {
        /// The limited nodes, with the probability and the one that is wanted.
        missing: Vec<(String, f64, f64)>,
    },
    /// The problem has something that the strategy does not look at.
    #[error("strategy {strategy:?} does not look at {what}; hint: `mcbo` and `eifn` do")]
    Ignored {
        /// The strategy's name.
        strategy: String,
        /// What it does not look at.
        what: String,
    },
    /// What is asked about breaks what is required, or lies outside of what may be chosen.
    #[error("this would not be proposed: {fault}")]
    NotProposed {
        /// Why not.
        fault: String,
    },
    /// Contexts are not known.
    #[error(
        "{} not given: what counts is the average over the values seen so far; hint: give what is known, as in `--given {}=...`",
        match contexts.as_slice() { [one] => format!("{one} is"), all => format!("{} are", all.join(", ")) },
        contexts.first().map_or("", String::as_str)
    )]
    NotGiven {
        /// The contexts.
        contexts: Vec<String>,
    },
    /// A context has a name that it never had before.
    #[error(
        "{context} = {name} was never seen: what is expected there is what the other names let expect; hint: look for a slip of the pen"
    )]
    GivenNeverSeen {
        /// The context.
        context: String,
        /// What is given.
        name: String,
    },
    /// A context is far from all that was seen of it.
    #[error(
        "{context} = {given} is far from what was seen of it ({low} to {high}): what is expected there is guessed; hint: look for a slip of the pen or another unit"
    )]
    GivenFarOff {
        /// The context, or its component.
        context: String,
        /// What is given.
        given: f64,
        /// The least that was seen.
        low: f64,
        /// The most that was seen.
        high: f64,
    },
}

/// Measurements of a context that its range is known by, at the least.
const SEEN: usize = 5;

/// What to say of contexts that are not known, and of values that lie farther from what was seen than that is wide.
pub(crate) fn about_contexts(problem: &Problem, data: &Data, given: &Given) -> Vec<Warning> {
    let contexts = given.missing(problem);
    let mut warnings = Vec::new();
    if !contexts.is_empty() {
        warnings.push(Warning::NotGiven { contexts });
    }
    for (node, values) in given.iter() {
        if let [value] = values
            && let Some(name) = problem.nodes()[node].choice(*value)
        {
            let slot = problem.slot(node).start;
            let mut seen = data.observations().iter().filter_map(|row| row.values[slot]).peekable();
            if seen.peek().is_some() && seen.all(|there| there != *value) {
                let context = problem.nodes()[node].name.clone();
                warnings.push(Warning::GivenNeverSeen { context, name: name.to_owned() });
            }
            continue;
        }
        for (component, (slot, &given)) in problem.slot(node).zip(values).enumerate() {
            let seen = || data.observations().iter().filter_map(|row| row.values[slot]);
            let (low, high) = seen().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
            let width = high - low;
            // Of a context that never moved it is not known what is far.
            if seen().count() >= SEEN && width > 0.0 && (given < low - width || given > high + width) {
                let context = crate::slot_name(problem, node, component);
                warnings.push(Warning::GivenFarOff { context, given, low, high });
            }
        }
    }
    warnings
}

/// Probabilities that are too small beside those that are wanted, cut to two decimals: none is said to be what is wanted.
fn too_rarely(missing: &[(String, f64, f64)]) -> String {
    let said = missing.iter().map(|(name, chance, wanted)| {
        format!("{:.2} instead of {wanted} for {name}", (100.0 * chance).floor() / 100.0)
    });
    said.collect::<Vec<_>>().join(", ")
}

/// What to do next, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Suggestion {
    /// What to do, in the user's units.
    pub intervention: Intervention,
    /// The name of the strategy; `design` for the initial design.
    pub strategy: String,
    /// The acquisition's value: for MCBO the reward that the optimistic model expects, in the direction of improvement.
    pub acquisition: Option<f64>,
    /// The width of the confidence band, in standard deviations.
    pub beta: Option<f64>,
    /// What the model expects of every node, with bounds.
    pub predicted: Vec<Forecast>,
    /// What the optimistic model expects of every node.
    pub optimistic: Vec<(String, f64)>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// Whether it is made for what it teaches, at the price of some reward; the acquisition is then what it may gain over what was
    /// tried, on average.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excursion: bool,
    /// What was known of the contexts.
    #[serde(default, skip_serializing_if = "Given::is_empty")]
    pub given: Given,
    /// What the user had decided of it.
    #[serde(default, skip_serializing_if = "Fixed::is_empty")]
    pub fixed: Fixed,
    /// How probable it is that each limit is kept, where there is a model to say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Keeping>,
}

impl Suggestion {
    /// An intervention of which nothing else is known.
    pub fn new(strategy: impl Into<String>, intervention: Intervention) -> Self {
        Self {
            intervention,
            strategy: strategy.into(),
            acquisition: None,
            beta: None,
            predicted: Vec::new(),
            optimistic: Vec::new(),
            warnings: Vec::new(),
            excursion: false,
            given: Given::default(),
            fixed: Fixed::default(),
            limits: Vec::new(),
        }
    }
}

/// What a strategy answers: what to do next, and what to remember for the round after. It is written as one object, the
/// suggestion's fields and `memory` beside them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// What to do next.
    #[serde(flatten)]
    pub suggestion: Suggestion,
    /// What to remember.
    pub memory: Memory,
}

/// Why there is no suggestion.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuggestError {
    /// A model could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A strategy cannot do what the problem or the caller asks for.
    #[error("strategy {name:?} cannot {what}; hint: {hint}")]
    Cannot {
        /// The strategy's name.
        name: String,
        /// What it cannot.
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A strategy of one's own gave up.
    #[error("strategy {name:?}: {reason}")]
    Own {
        /// The strategy's name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl SuggestError {
    /// The same without the strategy's name.
    pub fn reason(&self) -> String {
        match self {
            Self::Fit(error) => error.to_string(),
            Self::Cannot { what, hint, .. } => format!("it cannot {what}; hint: {hint}"),
            Self::Own { reason, .. } => reason.clone(),
        }
    }
}

/// A way to choose the next intervention. The same context and generator give the same suggestion, to the bit.
pub trait Strategy: Send + Sync {
    /// A short name.
    fn name(&self) -> &str;

    /// Whether it can propose anything for a problem, whatever will be measured: asked before the first trial is made.
    ///
    /// # Errors
    /// What it cannot take into account.
    fn check(&self, problem: &Problem) -> Result<(), SuggestError> {
        let _ = problem;
        Ok(())
    }

    /// The next intervention, and what to remember.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError>;

    /// The same where others may put trials under way while it is computed: `put` takes what was found, and gives back everything that was put
    /// under way since, if anything was. Then it is found again beside that, from the same data, until `put` gives back nothing. Where most
    /// of the work is done, and what was found is not yet looked at, it may be asked with nothing. What is found depends on the context and
    /// on what it is found beside, not on how often that was.
    ///
    /// # Errors
    /// As [`Self::suggest`].
    fn suggest_beside(
        &self,
        context: &Context<'_>,
        rng: &mut dyn Rng,
        put: &mut Put<'_>,
    ) -> Result<(), SuggestError> {
        let proposal = self.suggest(context, rng)?;
        let seed = rng.random();
        let mut others = put(Some(proposal));
        while let Some(beside) = others {
            let pending = [context.pending, &beside].concat();
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            others = put(Some(self.suggest(&context.with_pending(&pending), rng)?));
        }
        Ok(())
    }

    /// The intervention to settle for if there were no more rounds: the one of the best measured reward, unless the
    /// strategy knows better.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        let _ = rng;
        let best = best_observed(context.problem, context.data, 1).pop();
        Ok(best.unwrap_or_else(|| context.problem.neutral_intervention()))
    }
}

/// Takes a proposal, if it is ready, and gives back all trials that were put under way since it was begun, if there are any.
pub type Put<'a> = dyn FnMut(Option<Proposal>) -> Option<Vec<Observation>> + 'a;

/// The intervention that is proposed: the best candidate that is free, or a random one.
struct Pick<'a> {
    intervention: Intervention,
    /// The candidate it is, if it is one.
    candidate: Option<&'a Candidate>,
    /// What to say about it.
    warning: Option<Warning>,
}

/// Takes the best candidate that is neither under way nor has failed; a random intervention where there is none, to explore
/// instead of repeating.
fn first_free<'a>(context: &Context<'_>, candidates: &'a [Candidate], rng: &mut dyn Rng) -> Pick<'a> {
    match candidates.iter().find(|candidate| !context.is_taken(&candidate.intervention)) {
        Some(candidate) => {
            let intervention = candidate.intervention.clone();
            Pick { intervention, candidate: Some(candidate), warning: None }
        }
        None => {
            let (intervention, warning) = random::draw(context, rng);
            Pick { intervention, candidate: None, warning }
        }
    }
}

impl Pick<'_> {
    /// The proposal of a strategy that has a forecast and says no more.
    fn propose(
        self,
        strategy: &dyn Strategy,
        mut memory: Memory,
        mut warnings: Vec<Warning>,
        forecast: impl FnOnce(&Intervention) -> Vec<Forecast>,
    ) -> Proposal {
        if self.candidate.is_some() {
            memory.last = Some(self.intervention.clone());
        }
        warnings.extend(self.warning);
        let suggestion = Suggestion {
            acquisition: self.candidate.map(|candidate| candidate.value),
            predicted: forecast(&self.intervention),
            warnings,
            ..Suggestion::new(strategy.name(), self.intervention)
        };
        Proposal { suggestion, memory }
    }
}

/// The forecast of the reward alone, from mean and deviation in the direction of improvement.
fn reward_forecast(problem: &Problem, (mean, deviation): (f64, f64)) -> Forecast {
    /// The 95 % quantile of the normal distribution.
    const QUANTILE: f64 = 1.644_853_626_951_472_2;
    let (mean, reach) = (problem.sign() * mean, QUANTILE * deviation);
    let node = problem.reward();
    let name = problem.nodes()[node].name.clone();
    Forecast { node, component: 0, name, mean, lower: mean - reach, upper: mean + reach }
}
