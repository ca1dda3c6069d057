//! Model-based causal Bayesian optimisation: Algorithms 1 and 2 of the paper.

use rand::{Rng, RngExt};

use crate::acquisition::{Acquisition, OptimisticReward, SharedOptimism};
use crate::network::{ModelSettings, Network, NoiseSamples, Plan};
use crate::optimism::Optimism;
use crate::search::{Found, SearchSettings, SearchTask, Stage, maximize};
use crate::{Aim, Choice, Data, Intervention, Problem};

use super::eifn::{Draws, NetworkImprovement, first_of_each_choice};
use super::{Context, Criterion, Memory, Random, Strategy, SuggestError, Suggestion, Warning};

/// How far a suggestion may trust its luck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exploration {
    /// By what the experiments are for, with no number to choose: the given aim, or the problem's.
    Aim(Option<Aim>),
    /// A width `β` of the confidence band in standard deviations, the same in every round, as in the paper's experiments.
    Width(f64),
    /// The width of the paper's theorem, from the information gain of the data so far; see [`Network::theoretical_width`].
    Theory,
}

/// The width of the expected reward that is trusted to luck when rewards are earned.
const EARNING_WIDTH: f64 = 0.35;

/// Model-based causal Bayesian optimisation.
///
/// Fits a process to every node, then proposes the intervention whose reward is highest in the most
/// optimistic model that is still plausible.
#[derive(Debug, Clone, PartialEq)]
pub struct Mcbo {
    /// The model of the nodes.
    pub model: ModelSettings,
    /// How suggestions explore.
    pub exploration: Exploration,
    /// The family of `η`.
    pub optimism: Optimism,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Mcbo {
    fn default() -> Self {
        Self {
            model: ModelSettings::default(),
            exploration: Exploration::Aim(None),
            optimism: Optimism::Constant,
            search: SearchSettings::default(),
        }
    }
}

impl Mcbo {
    /// The settings of the paper's experiments: the authors' priors, MAP, a constant `β` of 0.5.
    pub fn paper() -> Self {
        Self { model: ModelSettings::paper(), exploration: Exploration::Width(0.5), ..Self::default() }
    }

    /// The same with a constant `β`.
    #[must_use]
    pub fn with_beta(self, beta: f64) -> Self {
        Self { exploration: Exploration::Width(beta), ..self }
    }

    /// The same with an aim of its own, whatever the problem says.
    #[must_use]
    pub fn with_aim(self, aim: Aim) -> Self {
        Self { exploration: Exploration::Aim(Some(aim)), ..self }
    }

    /// Fits the network to the data, conditioned on pending trials.
    ///
    /// # Errors
    /// If a node's covariance cannot be factorised at all.
    pub fn fit(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<(Network, Memory), SuggestError> {
        let mut network =
            Network::fit(context.problem, context.data, &context.memory.model, &self.model, rng)?;
        let memory = Memory { model: network.memory(), ..context.memory.clone() };
        for pending in context.pending {
            network.condition_on_pending(context.problem, pending);
        }
        Ok((network, memory))
    }

    /// Maximises the optimistic reward of a fitted network, every node as lucky as the band allows
    /// (Eq. reparam_acquisition).
    pub fn search(
        &self,
        context: &Context<'_>,
        network: &Network,
        beta: f64,
        seed: u64,
        on_stage: &(dyn Fn(Stage) + Sync),
    ) -> Vec<Found> {
        let problem = context.problem;
        let factory = |choice: &Choice, samples: usize, seed: u64| {
            Box::new(OptimisticReward::new(problem, network, choice, self.optimism, beta, samples, seed))
                as Box<_>
        };
        let warm = warm_starts(context);
        maximize(&SearchTask { problem, factory: &factory, warm: &warm, seed, on_stage }, &self.search)
    }

    /// Maximises the optimistic reward of a fitted network with one budget of luck for all nodes together.
    pub fn search_shared(
        &self,
        context: &Context<'_>,
        network: &Network,
        beta: f64,
        seed: u64,
        on_stage: &(dyn Fn(Stage) + Sync),
    ) -> Vec<Found> {
        let problem = context.problem;
        let factory = |choice: &Choice, samples: usize, seed: u64| {
            Box::new(SharedOptimism::new(problem, network, choice, beta, samples, seed)) as Box<_>
        };
        let warm = warm_starts(context);
        maximize(&SearchTask { problem, factory: &factory, warm: &warm, seed, on_stage }, &self.search)
    }

    /// The places that promise most by the rule of exploration, best first, with the width it used.
    fn explore(&self, context: &Context<'_>, network: &Network, seed: u64) -> (Vec<Found>, Option<f64>) {
        let nothing = &|_: Stage| {};
        match self.exploration {
            Exploration::Width(beta) => (self.search(context, network, beta, seed, nothing), Some(beta)),
            Exploration::Theory => {
                let beta = network.theoretical_width();
                (self.search(context, network, beta, seed, nothing), Some(beta))
            }
            Exploration::Aim(aim) => match aim.unwrap_or(context.problem.aim()) {
                Aim::Earn => {
                    let found = self.search_shared(context, network, EARNING_WIDTH, seed, nothing);
                    (found, Some(EARNING_WIDTH))
                }
                Aim::Find => (self.improve(context, network, seed), None),
            },
        }
    }

    /// Maximises the expected improvement of the expected reward over what the model believes to be the best so far.
    ///
    /// Mechanisms are drawn, noise is averaged out, and the best so far is what would be recommended now, not the luckiest
    /// measurement: what counts in the end is the recommendation.
    fn improve(&self, context: &Context<'_>, network: &Network, seed: u64) -> Vec<Found> {
        let problem = context.problem;
        let means = self.search(context, network, 0.0, seed, &|_| {});
        let mut warm = warm_starts(context);
        warm.extend(first_of_each_choice(&means));
        let worth = |intervention: &Intervention| {
            let draws = network.reward_draws(problem, intervention, seed);
            draws.iter().sum::<f64>() / draws.len() as f64
        };
        let believed = means.first().map(|found| found.intervention.clone());
        let candidates = believed.into_iter().chain(best_observed(problem, context.data, 4));
        let worths = candidates.map(|intervention| worth(&intervention));
        let best = worths.filter(|worth| worth.is_finite()).reduce(f64::max).unwrap_or(0.0);
        let factory = |choice: &Choice, draws: usize, seed: u64| {
            let noise = |plan: &Plan| NoiseSamples::new(plan, IMPROVING_NOISE, seed);
            let draws = Draws::new(problem, network, choice, draws, seed, noise);
            Box::new(NetworkImprovement { draws, best }) as Box<_>
        };
        let settings = SearchSettings {
            screened: self.search.screened / 2,
            starts: self.search.starts / 2,
            screening_samples: 8,
            samples: 16,
            ranking_samples: 64,
            ..self.search
        };
        maximize(&SearchTask { problem, factory: &factory, warm: &warm, seed, on_stage: &|_| {} }, &settings)
    }
}

/// Realisations of the noise for every draw of the mechanisms while improvements are sought.
const IMPROVING_NOISE: usize = 4;

/// Where every search begins beside its own places: the best that was measured, and the last suggestion.
pub(super) fn warm_starts(context: &Context<'_>) -> Vec<Intervention> {
    let mut warm = best_observed(context.problem, context.data, 2);
    warm.extend(context.memory.last.clone());
    warm
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
        if !best.iter().any(|other| other.is_close(problem, intervention)) {
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
        let (network, mut memory) = self.fit(context, rng)?;
        let seed: u64 = rng.random();
        let (found, beta) = self.explore(context, &network, seed);
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
        // Where luck was trusted, what it would bring at every node.
        let optimistic = match (self.exploration, beta) {
            (Exploration::Aim(_), Some(beta)) => {
                let shared = SharedOptimism::new(problem, &network, &chosen.choice, beta, 1, seed);
                let point = shared.inside(&chosen.point);
                network.optimistic_values(problem, shared.plan(), &point, beta, seed)
            }
            (_, Some(beta)) => {
                let plan = Plan::new(problem, &network, &chosen.choice, self.optimism);
                network.optimistic_values(problem, &plan, &chosen.point, beta, seed)
            }
            (_, None) => Vec::new(),
        };
        Ok(Suggestion {
            intervention: chosen.intervention.clone(),
            strategy: self.name().into(),
            acquisition: Some(chosen.value).filter(|value| value.is_finite()),
            beta,
            predicted,
            optimistic,
            warnings,
            memory,
        })
    }

    /// See [`Mcbo::recommend`].
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        Ok(self.recommend(context, Criterion::default(), rng)?.intervention)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::testing::{check_gradients, settings, system};
    use super::*;
    use crate::network::{Batch, Workspace};
    use crate::{Noise, Observation};

    #[test]
    fn shared_optimism_has_the_right_gradients() {
        for noise in [Noise::None, Noise::Gaussian(0.1)] {
            let (problem, data) = system(noise);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let network =
                Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
            for choice in problem.choices().expect("few choices") {
                check_gradients(&SharedOptimism::new(&problem, &network, choice, 0.7, 4, 3), 2);
            }
        }
    }

    /// With small deviations the best luck within the ball is worth as many deviations of the expected reward as the width
    /// says, and that in the box the sum of all.
    #[test]
    fn the_ball_has_the_width_of_the_reward() {
        let problem = Problem::builder("chain")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]).noise(Noise::None))
            .node("y", |n| n.parents(["x"]).noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = Data::new();
        for i in 0..7 {
            let a = f64::from(i) / 6.0;
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            let x = (2.0 * a).sin();
            data.push(&problem, Observation { intervention, values: vec![Some(x), Some(x * x + x)] })
                .expect("an observation");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let choice = Choice { targets: Vec::new(), actions: vec![0] };
        let beta = 1e-3;
        let shared = SharedOptimism::new(&problem, &network, &choice, beta, 1, 0);
        let (mut workspace, mut values) = (Workspace::default(), Vec::new());
        let mut at = |eta: [f64; 2]| {
            shared.evaluate(&[0.55, eta[0], eta[1]], &mut workspace, &mut values, &mut []);
            values[0]
        };
        let mean = at([0.0, 0.0]);
        let parts = [at([1.0, 0.0]) - mean, at([0.0, 1.0]) - mean];
        let length = parts[0].hypot(parts[1]);
        // A vector of any length stands for the place on the ball in its direction.
        let best = at([3.0 * parts[0] / length, 3.0 * parts[1] / length]) - mean;
        assert!(parts[0].abs() > 0.05 * length && parts[1].abs() > 0.05 * length, "{parts:?}");
        assert!((best / length - 1.0).abs() < 1e-2, "{best} {length}");
        let plan = Plan::new(&problem, &network, &choice, Optimism::Constant);
        let noise = NoiseSamples::silent(&plan);
        let point = [0.55, parts[0].signum()];
        let batch = Batch { points: &point, beta, noise: &noise };
        network.rollout(&plan, batch, &mut Workspace::default(), &mut values, &mut []);
        let sum = parts[0].abs() + parts[1].abs();
        assert!(((values[0] - mean) / sum - 1.0).abs() < 1e-2, "{} {sum}", values[0] - mean);
    }

    #[test]
    fn every_rule_suggests_and_says_its_width() {
        let (problem, data) = system(Noise::Gaussian(0.1));
        let memory = Memory::default();
        let context = Context { problem: &problem, data: &data, pending: &[], failed: &[], memory: &memory };
        let suggest = |mcbo: Mcbo| {
            let suggestion = mcbo.suggest(&context, &mut ChaCha8Rng::seed_from_u64(4)).expect("a suggestion");
            crate::check_intervention(&problem, &suggestion.intervention).expect("it is allowed");
            suggestion
        };
        let earn = suggest(Mcbo::default());
        assert_eq!(earn, suggest(Mcbo::default().with_aim(Aim::Earn)));
        assert_eq!(earn.beta, Some(EARNING_WIDTH));
        assert!(!earn.optimistic.is_empty());
        let find = suggest(Mcbo::default().with_aim(Aim::Find));
        assert!(find.beta.is_none() && find.acquisition.is_some_and(|gain| gain > 0.0), "{find:?}");
        let theory = suggest(Mcbo { exploration: Exploration::Theory, ..Mcbo::default() });
        assert!(theory.beta.is_some_and(|beta| beta > 1.0 && beta.is_finite()), "{:?}", theory.beta);
        assert_eq!(suggest(Mcbo::default().with_beta(2.0)).beta, Some(2.0));
    }
}
