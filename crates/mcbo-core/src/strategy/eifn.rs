//! Expected improvement over the network of processes (Astudillo & Frazier 2021).

use rand::{Rng, RngExt};

use crate::acquisition::{Acquisition, NetworkImprovement};
use crate::network::{Counting, Draws, ModelSettings};
use crate::optimism::Optimism;
use crate::search::{Ascent, AscentBudget, SearchSettings, SearchTask, maximize};
use crate::{Choice, Intervention};

use super::costs::per_cost;
use super::limits::{self, about, within};
use super::recommend::recommend;
use super::{
    Context, Criterion, Proposal, Strategy, SuggestError, Warning, first_free, first_of_each_choice,
    warm_starts,
};

/// Expected improvement for function networks.
///
/// Every node's posterior is sampled on the way through the graph, and the improvement over the best measured reward is
/// averaged. The network is taken to be deterministic: in a noisy problem too only the mechanisms are drawn, not the
/// noise. The samples are fixed quasi-random normal numbers per node and component: finalists are ranked on 128 of them,
/// climb on the first 64 and are screened on the first 16.
#[derive(Debug, Clone, PartialEq)]
pub struct Eifn {
    /// The model of the nodes.
    pub model: ModelSettings,
    /// Budget of the search; its samples are those of the posterior.
    pub search: SearchSettings,
}

impl Default for Eifn {
    fn default() -> Self {
        Self { model: ModelSettings::default(), search: Self::search() }
    }
}

impl Eifn {
    /// The model of the paper's experiments: the authors' priors, MAP.
    pub fn paper() -> Self {
        Self { model: ModelSettings::paper(), search: Self::search() }
    }

    fn search() -> SearchSettings {
        let ascent = Ascent::QuasiNewton(AscentBudget { first: 12, finalists: 3, second: 30 });
        let usual = SearchSettings::default();
        SearchSettings { ascent, screening_samples: 16, samples: 64, ranking_samples: 128, ..usual }
    }
}

impl Strategy for Eifn {
    fn name(&self) -> &str {
        "eifn"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let problem = context.problem;
        let (network, memory) = context.fit(&self.model, rng)?;
        let seed: u64 = rng.random();
        // Without a reward yet, the mean that the processes have before data.
        let rewards = context.data.rewards(problem).filter(|(trial, _)| context.in_ranges(*trial));
        let rewards = rewards.filter(|(trial, _)| context.data.observations()[*trial].keeps_limits(problem));
        let best = rewards.map(|(_, reward)| reward).reduce(f64::max).unwrap_or(0.0);
        let mut warm = warm_starts(context);
        // One more start per choice: where the means of the mechanisms give the highest reward.
        let of_means = |choice: &Choice, _: usize, _: u64| {
            Box::new(NetworkImprovement { draws: Draws::mean(problem, &network, choice), best: best.into() })
                as Box<_>
        };
        let task = SearchTask { problem, factory: &of_means, warm: &warm, seed, on_phase: &|_| {} };
        let means = maximize(&task, &self.search);
        warm.extend(first_of_each_choice(&means));
        let found = within(context, &network, Counting::Plausible, seed, |guard, near| {
            let of_draws = |choice: &Choice, samples: usize, _: u64| {
                let draws = Draws::noiseless(problem, &network, choice, samples, seed);
                let gain: Box<dyn Acquisition> = Box::new(NetworkImprovement { draws, best: best.into() });
                guard.over(choice, samples, per_cost(problem, choice, gain))
            };
            let warm: Vec<Intervention> = warm.iter().chain(near).cloned().collect();
            let task = SearchTask { problem, factory: &of_draws, warm: &warm, seed, on_phase: &|_| {} };
            maximize(&task, &about(&self.search, near))
        });
        let warnings = network.warnings().iter().cloned().map(Warning::Model).collect();
        let forecast = |at: &Intervention| network.forecast(problem, at, seed);
        let mut proposal = first_free(context, &found, rng).propose(self, memory, warnings, forecast);
        let suggestion = &mut proposal.suggestion;
        suggestion.limits = network.keeping(problem, &suggestion.intervention);
        suggestion.warnings.extend(limits::warning(&suggestion.limits, Counting::Plausible));
        Ok(proposal)
    }

    /// The highest posterior mean of the network; see [`Mcbo::recommend`](super::Mcbo::recommend).
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        let (optimism, search) = (Optimism::default(), SearchSettings::default());
        let advice = recommend(context, &self.model, optimism, &search, Criterion::default(), rng)?;
        Ok(advice.intervention)
    }
}
