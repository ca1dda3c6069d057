//! Model-based causal Bayesian optimisation: Algorithms 1 and 2 of the paper.

use rand::{Rng, RngExt};

use crate::acquisition::OptimisticReward;
use crate::network::{Choice, ModelSettings, Network, Plan};
use crate::optimism::Optimism;
use crate::quasi::normal_quantile;
use crate::search::{Found, SearchSettings, SearchTask, Stage, maximize};
use crate::{Data, Intervention, Problem};

use super::{Context, Criterion, Memory, Random, Strategy, SuggestError, Suggestion, Warning};

/// The width of the confidence band in standard deviations, `β_t`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Beta {
    /// The same in every round, as in the paper's experiments.
    Fixed(f64),
    /// Drawn anew in every round: `scale · |N(0, 1)|`. Most rounds exploit, some explore.
    HalfNormal(f64),
}

impl Beta {
    fn draw(self, rng: &mut dyn Rng) -> f64 {
        match self {
            Beta::Fixed(beta) => beta,
            Beta::HalfNormal(scale) => {
                let u: f64 = rng.random();
                scale * normal_quantile(0.5 + 0.5 * u.clamp(1e-12, 1.0 - 1e-12))
            }
        }
    }
}

/// Model-based causal Bayesian optimisation.
///
/// Fits a process to every node, then proposes the intervention whose reward is highest in the most
/// optimistic model that is still plausible.
#[derive(Debug, Clone, PartialEq)]
pub struct Mcbo {
    /// The model of the nodes.
    pub model: ModelSettings,
    /// Width of the confidence band.
    pub beta: Beta,
    /// The family of `η`.
    pub optimism: Optimism,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Mcbo {
    fn default() -> Self {
        Self {
            model: ModelSettings::default(),
            beta: Beta::Fixed(0.5),
            optimism: Optimism::Constant,
            search: SearchSettings::default(),
        }
    }
}

impl Mcbo {
    /// The settings of the paper's experiments: the authors' priors, MAP, a constant `β` of 0.5.
    pub fn paper() -> Self {
        Self { model: ModelSettings::paper(), beta: Beta::Fixed(0.5), ..Self::default() }
    }

    /// The same with a constant `β`.
    pub fn with_beta(self, beta: f64) -> Self {
        Self { beta: Beta::Fixed(beta), ..self }
    }

    /// Fits the network to the data, pending trials imagined.
    ///
    /// # Errors
    /// If a node's covariance cannot be factorised at all.
    pub fn fit(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<(Network, Memory), SuggestError> {
        let mut network =
            Network::fit(context.problem, context.data, &context.memory.model, &self.model, rng)?;
        let memory = Memory { model: network.memory(), ..context.memory.clone() };
        for intervention in context.pending {
            network.imagine(context.problem, intervention);
        }
        Ok((network, memory))
    }

    /// Maximises the optimistic reward of a fitted network.
    pub fn search(
        &self,
        context: &Context<'_>,
        network: &Network,
        beta: f64,
        seed: u64,
        on_stage: &(dyn Fn(Stage) + Sync),
    ) -> Vec<Found> {
        let problem = context.problem;
        let mut warm: Vec<Intervention> = best_observed(problem, context.data, 2);
        warm.extend(context.memory.last.clone());
        let factory = |choice: &Choice, samples: usize, seed: u64| {
            Box::new(OptimisticReward::new(problem, network, choice, self.optimism, beta, samples, seed))
                as Box<_>
        };
        maximize(&SearchTask { problem, factory: &factory, warm: &warm, seed, on_stage }, &self.search)
    }
}

/// The interventions with the best measured rewards, best first.
pub(super) fn best_observed(problem: &Problem, data: &Data, count: usize) -> Vec<Intervention> {
    let mut rewards: Vec<(usize, f64)> = data.rewards(problem).collect();
    rewards.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut best: Vec<Intervention> = Vec::new();
    for (trial, _) in rewards {
        let intervention = &data.observations()[trial].intervention;
        if best.len() == count {
            break;
        }
        if !best.iter().any(|other| super::same(problem, other, intervention)) {
            best.push(intervention.clone());
        }
    }
    best
}

impl Strategy for Mcbo {
    fn name(&self) -> &str {
        "mcbo"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Suggestion, SuggestError> {
        let problem = context.problem;
        let beta = self.beta.draw(rng);
        let (network, mut memory) = self.fit(context, rng)?;
        let seed: u64 = rng.random();
        let found = self.search(context, &network, beta, seed, &|_| {});
        let mut warnings: Vec<Warning> = network.warnings().iter().cloned().map(Warning::Model).collect();
        let Some(chosen) = found.iter().find(|found| !context.is_taken(&found.intervention)) else {
            // Every place the search found is taken: explore instead of repeating.
            let mut suggestion = Random.suggest(context, rng)?;
            suggestion.strategy = self.name().into();
            suggestion.predicted = network.forecast(problem, &suggestion.intervention, seed);
            suggestion.memory = memory;
            warnings.append(&mut suggestion.warnings);
            return Ok(Suggestion { warnings, ..suggestion });
        };
        memory.last = Some(chosen.intervention.clone());
        let predicted = network.forecast(problem, &chosen.intervention, seed);
        warnings.extend(network.undefined(problem, &chosen.intervention, &predicted).map(Warning::Model));
        let plan = Plan::new(problem, &network, &chosen.choice, self.optimism);
        Ok(Suggestion {
            intervention: chosen.intervention.clone(),
            strategy: self.name().into(),
            acquisition: Some(chosen.value).filter(|value| value.is_finite()),
            beta: Some(beta),
            predicted,
            optimistic: network.optimistic_values(problem, &plan, &chosen.point, beta, seed),
            warnings,
            memory,
        })
    }

    /// See [`Mcbo::recommend`].
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        Ok(self.recommend(context, Criterion::default(), rng)?.intervention)
    }
}
