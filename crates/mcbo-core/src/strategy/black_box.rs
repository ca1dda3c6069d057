//! Bayesian optimisation that does not look into the system: one process from what is decided to the reward.

use rand::{Rng, RngExt};

use crate::acquisition::{Acquisition, BlackBoxReward, Score};
use crate::network::{ModelSettings, RewardModel};
use crate::search::{Candidate, SearchSettings, SearchTask, maximize};
use crate::{Choice, Intervention, Problem};

use super::costs::log_per_cost;
use super::{
    Context, Memory, Proposal, Strategy, SuggestError, Suggestion, Warning, first_free, reward_forecast,
    warm_starts,
};

/// Upper confidence bound: the intervention of the highest `μ + βσ` (Srinivas et al. 2010).
///
/// One process per target set goes from the set's values and the actions to the reward. `β` multiplies the deviation, as
/// everywhere here.
#[derive(Debug, Clone, PartialEq)]
pub struct Ucb {
    /// The model of the reward.
    pub model: ModelSettings,
    /// Width of the confidence band in standard deviations.
    pub beta: f64,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Ucb {
    fn default() -> Self {
        Self { model: ModelSettings::default(), beta: 0.5, search: SearchSettings::default() }
    }
}

/// Expected improvement, maximised as its logarithm (Ament et al. 2023).
///
/// The processes are those of [`Ucb`]. The incumbent is the highest posterior mean among the interventions that were
/// tried; without noise that is the best measured reward.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExpectedImprovement {
    /// The model of the reward.
    pub model: ModelSettings,
    /// Budget of the search.
    pub search: SearchSettings,
}

/// Fits the processes, conditioned on pending trials.
fn fit(
    settings: &ModelSettings,
    context: &Context<'_>,
    rng: &mut dyn Rng,
) -> Result<(RewardModel, Memory), SuggestError> {
    let mut model = RewardModel::fit(context.problem, context.data, &context.memory.model, settings, rng)?;
    let memory = Memory { model: model.memory(context.problem), ..context.memory.clone() };
    for pending in context.pending {
        model.condition_on_pending(context.problem, &pending.intervention)?;
    }
    Ok((model, memory))
}

fn search(
    context: &Context<'_>,
    model: &RewardModel,
    score: Score,
    settings: &SearchSettings,
    seed: u64,
) -> Vec<Candidate> {
    let problem = context.problem;
    let warm = warm_starts(context);
    let factory = |choice: &Choice, _: usize, _: u64| {
        let reward: Box<dyn Acquisition> = Box::new(BlackBoxReward::new(problem, model, choice, score));
        match score {
            Score::Improvement { .. } => log_per_cost(problem, choice, reward),
            Score::Bound(_) => reward,
        }
    };
    maximize(&SearchTask { problem, factory: &factory, warm: &warm, seed, on_phase: &|_| {} }, settings)
}

/// The intervention of the highest posterior mean.
fn highest_mean(
    model: &ModelSettings,
    settings: &SearchSettings,
    context: &Context<'_>,
    rng: &mut dyn Rng,
) -> Result<Intervention, SuggestError> {
    let (model, _) = fit(model, &Context { pending: &[], ..*context }, rng)?;
    let found = search(context, &model, Score::Bound(0.0), settings, rng.random()).into_iter().next();
    Ok(found.map_or_else(|| context.problem.neutral_intervention(), |found| found.intervention))
}

fn warnings(model: &RewardModel) -> Vec<Warning> {
    model.warnings().cloned().map(Warning::Model).collect()
}

impl Strategy for Ucb {
    fn name(&self) -> &str {
        "ucb"
    }

    fn check(&self, problem: &Problem) -> Result<(), SuggestError> {
        super::keeps_no_limits(problem, self.name())
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        context.only_rewards(self.name())?;
        let (model, memory) = fit(&self.model, context, rng)?;
        let found = search(context, &model, Score::Bound(self.beta), &self.search, rng.random());
        let forecast =
            |at: &Intervention| vec![reward_forecast(context.problem, model.predict(context.problem, at))];
        let pick = first_free(context, &found, rng);
        let warnings = warnings(&model).into_iter().chain(context.ignoring(self.name(), false)).collect();
        let Proposal { suggestion, memory } = pick.propose(self, memory, warnings, forecast);
        Ok(Proposal { suggestion: Suggestion { beta: Some(self.beta), ..suggestion }, memory })
    }

    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        highest_mean(&self.model, &self.search, context, rng)
    }
}

impl Strategy for ExpectedImprovement {
    fn name(&self) -> &str {
        "ei"
    }

    fn check(&self, problem: &Problem) -> Result<(), SuggestError> {
        super::keeps_no_limits(problem, self.name())
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        context.only_rewards(self.name())?;
        let problem = context.problem;
        let (model, memory) = fit(&self.model, context, rng)?;
        let tried = context
            .data
            .rewards(problem)
            .filter(|(trial, _)| context.in_ranges(*trial))
            .map(|(trial, _)| model.predict(problem, &context.data.observations()[trial].intervention).0);
        let best = tried.reduce(f64::max).unwrap_or(model.prior(problem).0);
        let found = search(context, &model, Score::Improvement { best }, &self.search, rng.random());
        let forecast = |at: &Intervention| vec![reward_forecast(problem, model.predict(problem, at))];
        Ok(first_free(context, &found, rng).propose(self, memory, warnings(&model), forecast))
    }

    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        highest_mean(&self.model, &self.search, context, rng)
    }
}
