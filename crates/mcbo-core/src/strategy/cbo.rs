//! Causal Bayesian optimisation by do-calculus (Aglietti et al. 2020).

use rand::{Rng, RngExt};

use crate::acquisition::CausalImprovement;
use crate::network::{Causal, ModelSettings, Network};
use crate::search::{Ascent, AscentBudget, SearchSettings, SearchTask, maximize};
use crate::{Choice, Data, Intervention, Problem};

use super::{
    Context, Memory, Proposal, Strategy, SuggestError, Suggestion, Warning, first_free, reward_forecast,
    warm_starts,
};

/// Causal Bayesian optimisation with expected improvement (EICBO), for hard interventions.
///
/// Each target set has a causal process of its own, `y ~ GP(m(x), k_RBF(x, x') + s(x) s(x'))` over the values `x` of the
/// set, that learns only from interventions on that very set. `m` and `s²` are the do-calculus estimates of mean and
/// variance of `E[Y | do(x)]` from observational rows: all nodes are seen and no confounder is hidden, so the truncated
/// factorisation identifies them, and they are computed by rollouts through processes that are fitted to those rows.
///
/// The intervention of the highest expected improvement per cost is proposed, where the cost is the number of nodes and
/// actions that are intervened on and the incumbent is the best reward an intervention had. The method takes that feedback
/// to be the expectation `E[Y | do(x)]`; with single noisy outcomes the processes learn a noise variance.
///
/// Before that, the system is only observed with probability `ε = V · N / N_max` for `N` observational rows so far. `V` is
/// the share of the settable domain that the observed values cover, in the original by their convex hull; here by their
/// bounding box, which is the product of one share per settable component.
#[derive(Debug, Clone, PartialEq)]
pub struct Cbo {
    /// The model of the nodes, fitted to observational rows.
    pub model: ModelSettings,
    /// `N_max`: observational rows that are collected at the most.
    pub max_observations: usize,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Cbo {
    fn default() -> Self {
        Self { model: ModelSettings::default(), max_observations: 100, search: Self::search() }
    }
}

impl Cbo {
    /// Sets are small and `m` and `s` are costly: fewer points than elsewhere.
    fn search() -> SearchSettings {
        let ascent = Ascent::QuasiNewton(AscentBudget { first: 8, finalists: 2, second: 25 });
        SearchSettings { screened: 32, starts: 3, ascent, ..SearchSettings::default() }
    }
}

/// The share of the settable domain that the bounding box of the observed values covers, 0 to 1.
fn coverage(problem: &Problem, observed: &Data) -> f64 {
    let settable = problem.settable();
    let share = |(slot, [low, high]): (usize, [f64; 2])| {
        let seen = observed.observations().iter().filter_map(|o| o.values[slot]);
        let (least, most) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value.clamp(low, high)), most.max(value.clamp(low, high)))
        });
        ((most - least) / (high - low)).max(0.0)
    };
    let components = settable
        .iter()
        .flat_map(|&node| problem.slot(node).zip(problem.nodes()[node].hard.iter().flatten().copied()));
    if settable.is_empty() { 0.0 } else { components.map(share).product() }
}

impl Cbo {
    /// Whether to observe in this round, by the ε rule. Without any observational row there is nothing to estimate
    /// from: then always.
    fn observes(&self, context: &Context<'_>, observed: &Data, u: f64) -> bool {
        let problem = context.problem;
        let allowed = problem.sets().is_none_or(|sets| sets.iter().any(Vec::is_empty))
            && problem.neutral_is_free()
            && !context.is_taken(&problem.neutral_intervention());
        let rows = observed.len();
        let share = rows as f64 / self.max_observations.max(1) as f64;
        allowed && rows < self.max_observations && (rows == 0 || u < coverage(problem, observed) * share)
    }
}

impl Strategy for Cbo {
    fn name(&self) -> &str {
        "cbo"
    }

    fn check(&self, problem: &Problem) -> Result<(), SuggestError> {
        super::keeps_no_limits(problem, self.name())
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        context.only_rewards(self.name())?;
        let problem = context.problem;
        let (u, seed): (f64, u64) = (rng.random(), rng.random());
        let observed = observational(problem, context.data);
        if self.observes(context, &observed, u) {
            let suggestion = Suggestion::new(self.name(), problem.neutral_intervention());
            return Ok(Proposal { suggestion, memory: context.memory.clone() });
        }
        let network = Network::fit(problem, &observed, &context.memory.model, &self.model, rng)?;
        let mut causal = Causal::fit(problem, context.data, &network, seed)?;
        for pending in context.pending {
            causal.condition_on_pending(&pending.intervention)?;
        }
        let rewards = || context.data.rewards(problem).filter(|(trial, _)| context.in_ranges(*trial));
        let done = |trial: usize| &context.data.observations()[trial].intervention;
        let best = rewards()
            .filter(|(trial, _)| !done(*trial).is_neutral(problem))
            .map(|(_, reward)| reward)
            .reduce(f64::max)
            .or_else(|| rewards().map(|(_, reward)| reward).reduce(f64::max))
            .unwrap_or(0.0);
        let warm = warm_starts(context);
        let factory = |choice: &Choice, _: usize, _: u64| {
            Box::new(CausalImprovement::new(&causal, choice, best)) as Box<_>
        };
        let task = SearchTask { problem, factory: &factory, warm: &warm, seed, on_phase: &|_| {} };
        let found = maximize(&task, &self.search);
        let memory = Memory { model: network.memory(), ..context.memory.clone() };
        let warnings = network.warnings().iter().cloned().map(Warning::Model).collect();
        let forecast = |at: &Intervention| vec![reward_forecast(problem, causal.predict(at))];
        Ok(first_free(context, &found, rng).propose(self, memory, warnings, forecast))
    }

    /// Of what was tried, what the causal processes expect most of; observing is worth the mean of what was observed.
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        let problem = context.problem;
        let observed = observational(problem, context.data);
        let network = Network::fit(problem, &observed, &context.memory.model, &self.model, rng)?;
        let causal = Causal::fit(problem, context.data, &network, rng.random())?;
        let (sum, count) = observed.rewards(problem).fold((0.0, 0.0), |(s, n), (_, y)| (s + y, n + 1.0));
        let observing = if count > 0.0 { sum / count } else { f64::NEG_INFINITY };
        let mut best = (observing, problem.neutral_intervention());
        let tried = (0..context.data.len()).filter(|&trial| context.in_ranges(trial));
        let tried = tried.map(|trial| &context.data.observations()[trial].intervention);
        for intervention in tried.filter(|done| !done.is_neutral(problem)) {
            let mean = causal.predict(intervention).0;
            if mean > best.0 {
                best = (mean, intervention.clone());
            }
        }
        Ok(best.1)
    }
}

/// The trials in which nothing was done.
fn observational(problem: &Problem, data: &Data) -> Data {
    let mut observed = Data::new();
    for observation in data.observations() {
        if observation.intervention.is_neutral(problem) {
            // It was accepted before.
            let _ = observed.push(problem, observation.clone());
        }
    }
    observed
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::testing::{check_gradients, settings, system};
    use crate::{Noise, Observation};

    #[test]
    fn gradients_of_the_improvement_per_cost() {
        let (problem, data) = system(Noise::Gaussian(0.3));
        let observed = observational(&problem, &data);
        assert_eq!(observed.len(), 6);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &observed, &Default::default(), &settings(), &mut rng).expect("a fit");
        let causal = Causal::fit(&problem, &data, &network, 5).expect("a fit");
        for choice in problem.choices().expect("few choices") {
            for best in [-1.0, 5.0] {
                check_gradients(&CausalImprovement::new(&causal, choice, best), 2);
            }
        }
    }

    fn chain() -> Problem {
        Problem::builder("chain")
            .node("x", |n| n.hard([-2.0, 2.0]).noise(Noise::Gaussian(1.0)))
            .node("z", |n| n.parents(["x"]).hard([-4.0, 4.0]).noise(Noise::Gaussian(0.1)))
            .node("y", |n| n.parents(["z"]).noise(Noise::Gaussian(0.1)))
            .maximize("y")
            .simulate("x", "normal(0, 1)")
            .simulate("z", "x + 0.5 + normal(0, 0.1)")
            .simulate("y", "2 * z - 0.5 * z^2 + normal(0, 0.1)")
            .build()
            .expect("a problem")
    }

    fn observe(problem: &Problem, rows: usize) -> Data {
        let (mut data, mut rng) = (Data::new(), ChaCha8Rng::seed_from_u64(8));
        for _ in 0..rows {
            let intervention = problem.neutral_intervention();
            let values = problem.simulator().expect("one").sample(problem, &intervention, &mut rng);
            let values = values.into_iter().map(Some).collect();
            data.push(problem, Observation { intervention, values }).expect("a good observation");
        }
        data
    }

    /// Where observations cover the domain, `E[Y | do(x)]` follows from them alone; interventions correct it.
    #[test]
    fn the_estimate_from_observations_is_the_effect_of_intervening() {
        let problem = chain();
        let mut data = observe(&problem, 60);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let set_x = |x: f64| Intervention { targets: vec![(0, vec![x])], actions: Vec::new() };
        let causal = Causal::fit(&problem, &data, &network, 5).expect("a fit");
        for x in [-1.0_f64, 0.0, 1.0] {
            // E[2z - z²/2] for z normal with mean x + 1/2 and variance 1/100.
            let exact = 2.0 * (x + 0.5) - 0.5 * ((x + 0.5).powi(2) + 0.01);
            let (mean, deviation) = causal.predict(&set_x(x));
            assert!((mean - exact).abs() < 0.25 && deviation > 0.0, "{x}: {mean} against {exact}");
        }
        let (_, before) = causal.predict(&set_x(1.0));
        let values = vec![None, None, Some(7.0)];
        data.push(&problem, Observation { intervention: set_x(1.0), values }).expect("a good observation");
        let mut causal = Causal::fit(&problem, &data, &network, 5).expect("a fit");
        let (mean, after) = causal.predict(&set_x(1.0));
        assert!(mean > 2.5 && after < before, "{mean}, {before} {after}");
        // Another set learns nothing from it.
        let set_z = Intervention { targets: vec![(1, vec![1.5])], actions: Vec::new() };
        let (mean, before) = causal.predict(&set_z);
        assert!((mean - 1.875).abs() < 0.25, "{mean}");
        causal.condition_on_pending(&set_z).expect("it is taken");
        assert!(causal.predict(&set_z).1 < before);
    }

    #[test]
    fn observing_is_as_likely_as_the_rule_says() {
        let problem = chain();
        let cbo = Cbo { max_observations: 20, ..Cbo::default() };
        let memory = Memory::default();
        let observes = |data: &Data, u: f64| {
            let context = Context::new(&problem, data, &memory);
            cbo.observes(&context, data, u)
        };
        let mut data = Data::new();
        assert!(observes(&data, 0.999));
        for (x, z) in [(-1.0, 0.0), (1.0, 3.0), (0.0, -9.0)] {
            let values = vec![Some(x), Some(z), Some(0.0)];
            let intervention = problem.neutral_intervention();
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        // Half of the range of x; of z, cut to its range, from -4 to 3.
        let covered = 0.5 * 7.0 / 8.0;
        assert!((coverage(&problem, &data) - covered).abs() < 1e-12);
        let epsilon = covered * 3.0 / 20.0;
        assert!(observes(&data, epsilon - 1e-6) && !observes(&data, epsilon + 1e-6));
        assert!(!observes(&observe(&problem, 20), 0.0));
    }
}
