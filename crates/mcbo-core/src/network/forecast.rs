//! What the model expects of an intervention, node by node, with bounds.

use serde::{Deserialize, Serialize};

use crate::{Choice, Intervention, Node, Problem};

use super::{
    Batch, Drawn, Draws, ModelWarning, Network, NoiseSamples, Plan, Workspace, share_name, slot_name,
};

/// Draws of the mechanisms, and noise samples for each.
pub(super) const DRAWS: usize = 64;
const SAMPLES: usize = 8;
/// Outcomes that a mean is made of, and where names that have causes make it jump.
const MEAN_OUTCOMES: usize = 256;
const MEAN_OUTCOMES_OF_NAMES: usize = 4096;

/// The expectation of one component of a node under an intervention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forecast {
    /// The node.
    pub node: usize,
    /// Its component; of a node whose name has causes the place of one of its names.
    pub component: usize,
    /// Its name, with the component for a vector node, or with one of its names: `kind=crack`.
    pub name: String,
    /// The expected value, in the user's units; of a name how probable it is.
    pub mean: f64,
    /// Below this with a probability of 5 %, by what is not known of the mechanisms.
    pub lower: f64,
    /// Above this with a probability of 5 %.
    pub upper: f64,
}

/// How probable it is that an expectation lies below its lower bound, and as probable above its upper one.
pub(crate) const LOWER_QUANTILE: f64 = 0.05;

/// The value below which a share of the draws lies.
pub(crate) fn quantile(draws: &mut [f64], share: f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    draws[((draws.len() - 1) as f64 * share).round() as usize]
}

/// The expected reward with its bounds, in the direction of improvement: mean, lower and upper end. `None` if the reward is
/// not among the forecasts.
pub fn expected_reward(problem: &Problem, forecasts: &[Forecast]) -> Option<[f64; 3]> {
    let forecast = forecasts.iter().find(|forecast| forecast.node == problem.reward())?;
    let (one, other) = (problem.sign() * forecast.lower, problem.sign() * forecast.upper);
    Some([problem.sign() * forecast.mean, one.min(other), one.max(other)])
}

/// The mean and the bounds of every component along draws of an intervention.
fn forecasts(problem: &Problem, intervention: &Intervention, draws: &Draws<'_>) -> Vec<Forecast> {
    let (mut workspace, mut drawn) = (Workspace::default(), Drawn::default());
    let point: Vec<f64> = draws.plan().space().units(intervention).collect();
    draws.evaluate(&point, false, &mut workspace, &mut drawn);
    let mut forecasts = Vec::new();
    for (index, step) in draws.plan().steps.iter().enumerate() {
        // Names have no expectation; that of each one's coming is its probability.
        if problem.nodes()[step.node].is_choice() && step.names.is_none() {
            continue;
        }
        let shares = step.names.map(|_| workspace.shares(draws.plan(), index, draws.count()));
        for component in 0..step.names.unwrap_or(step.components) {
            let mut means = match &shares {
                Some(shares) => shares.iter().map(|shares| shares[component]).collect(),
                None => workspace.means(index, component, draws.count()),
            };
            if !means.iter().all(|mean| mean.is_finite()) {
                continue;
            }
            forecasts.push(Forecast {
                node: step.node,
                component,
                name: match shares {
                    Some(_) => share_name(problem, step.node, component),
                    None => slot_name(problem, step.node, component),
                },
                mean: means.iter().sum::<f64>() / means.len() as f64,
                lower: quantile(&mut means, LOWER_QUANTILE),
                upper: quantile(&mut means, 1.0 - LOWER_QUANTILE),
            });
        }
    }
    forecasts
}

/// Realisations of the noise for every draw along a plan; where there is no mechanism to draw, as many as for all together.
fn samples_along(plan: &Plan, draws: usize) -> usize {
    // The same noise for every draw, so more of them need more of it.
    let samples = SAMPLES.max(draws / 16);
    if plan.dim() == plan.decisions() { draws * samples } else { samples }
}

impl Network {
    /// Draws of the expected reward under an intervention, in the direction of improvement: the mechanisms drawn
    /// from their posteriors as in [`Self::forecast`], the noise averaged out.
    pub fn reward_draws(&self, problem: &Problem, intervention: &Intervention, seed: u64) -> Vec<f64> {
        let (draws, mut drawn) = (self.draws(problem, intervention, seed), Drawn::default());
        let point: Vec<f64> = draws.plan().space().units(intervention).collect();
        draws.evaluate(&point, false, &mut Workspace::default(), &mut drawn);
        drawn.rewards
    }

    /// Draws of what an intervention gives.
    fn draws(&self, problem: &Problem, intervention: &Intervention, seed: u64) -> Draws<'_> {
        let choice = Choice::of(problem, intervention);
        Draws::expectation(problem, self, &choice, DRAWS, seed, |plan| samples_along(plan, DRAWS))
    }

    /// Draws along a plan, the noise in balance.
    fn draws_along(&self, plan: Plan, count: usize, seed: u64) -> Draws<'_> {
        Draws::balanced_along(plan, self, count, seed, |plan| samples_along(plan, count))
    }

    /// The expected value of every node that matters under an intervention, with bounds of 90 % credibility.
    ///
    /// Each mechanism is drawn from its posterior as a whole shifted by a normal multiple of its deviation, and the
    /// noise is averaged out: bounds are on the expectation, not on a single outcome. A node whose formula has no value for
    /// some of what may happen is left out, and so are those that depend on it.
    pub fn forecast(&self, problem: &Problem, intervention: &Intervention, seed: u64) -> Vec<Forecast> {
        self.forecast_by(problem, intervention, DRAWS, seed)
    }

    /// The same with another number of draws of the mechanisms than 64, and from 128 on with a sixteenth of that of noise for each.
    pub fn forecast_by(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        draws: usize,
        seed: u64,
    ) -> Vec<Forecast> {
        let plan = Plan::for_prediction(problem, self, &Choice::of(problem, intervention));
        let mut found = forecasts(problem, intervention, &self.draws_along(plan, draws, seed));
        let beside = |node: usize| !found.iter().any(|forecast| forecast.node == node);
        if problem.limited().any(beside) {
            // What has a limit beside the way to the reward, before the reward.
            let every = self.forecast_every_node(problem, intervention, draws, seed);
            let limited = |forecast: &Forecast| problem.nodes()[forecast.node].limit.is_some();
            let more: Vec<Forecast> = every.into_iter().filter(|f| limited(f) && beside(f.node)).collect();
            let reward = found.len().saturating_sub(1);
            found.splice(reward..reward, more);
        }
        self.recentre(problem, intervention, &mut found, draws, seed);
        found
    }

    /// Moves expectations with their bounds to where many outcomes have their mean.
    ///
    /// All draws have the same few realisations of the noise, so that their differences are those of the mechanisms; for the mean of
    /// what bends these are too few. Where a mechanism is known well it would be off by more than is not known of it.
    fn recentre(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        found: &mut [Forecast],
        draws: usize,
        seed: u64,
    ) {
        let jumps = problem.nodes().iter().any(Node::is_caused_choice);
        let outcomes = if jumps { MEAN_OUTCOMES_OF_NAMES } else { MEAN_OUTCOMES };
        let means = self.expectations(problem, intervention, outcomes.max(draws), seed);
        // How probable names are is computed and not counted.
        for forecast in found.iter_mut().filter(|f| !problem.nodes()[f.node].is_choice()) {
            let mean = means[problem.slot(forecast.node).start + forecast.component];
            if mean.is_finite() {
                let [lower, upper] =
                    [forecast.lower, forecast.upper].map(|bound| mean + (bound - forecast.mean));
                (forecast.mean, forecast.lower, forecast.upper) = (mean, lower, upper);
            }
        }
    }

    /// The expected value of every node that has a mechanism of its own under an intervention, those among them that do not
    /// matter to the reward any more.
    pub(crate) fn forecast_every_node(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        draws: usize,
        seed: u64,
    ) -> Vec<Forecast> {
        let plan = Plan::for_every_node(problem, self, &Choice::of(problem, intervention));
        forecasts(problem, intervention, &self.draws_along(plan, draws, seed))
    }

    /// The first node, in the order of causes, that a forecast of an intervention had to leave out: its formula has no value.
    pub(crate) fn undefined(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        forecasts: &[Forecast],
    ) -> Option<ModelWarning> {
        let plan = Plan::for_prediction(problem, self, &Choice::of(problem, intervention));
        let missing = |step: &&super::plan::Step| {
            (!problem.nodes()[step.node].is_choice() || step.names.is_some())
                && !forecasts.iter().any(|forecast| forecast.node == step.node)
        };
        let step = plan.steps.iter().find(missing)?;
        Some(ModelWarning::Undefined { node: problem.nodes()[step.node].name.clone() })
    }

    /// The value of every component that the optimistic model expects at a decision vector, as `(name, value)`.
    pub(crate) fn optimistic_values(
        &self,
        problem: &Problem,
        plan: &Plan,
        point: &[f64],
        beta: f64,
        seed: u64,
    ) -> Vec<(String, f64)> {
        let noise = NoiseSamples::new(plan, 32, seed);
        let (mut workspace, mut values) = (Workspace::default(), Vec::new());
        self.rollout(
            plan,
            Batch { points: point, beta, noise: &noise },
            &mut workspace,
            &mut values,
            &mut [],
        );
        let mut named = Vec::new();
        let numbers = |step: &super::plan::Step| !problem.nodes()[step.node].is_choice();
        for (index, step) in plan.steps.iter().enumerate() {
            if step.names.is_some() {
                let shares = workspace.shares(plan, index, 1).concat().into_iter().enumerate();
                let shares = shares.filter(|(_, share)| share.is_finite());
                named.extend(shares.map(|(place, share)| (share_name(problem, step.node, place), share)));
            }
            for component in 0..if numbers(step) { step.components } else { 0 } {
                let mean = workspace.means(index, component, 1)[0];
                if mean.is_finite() {
                    named.push((slot_name(problem, step.node, component), mean));
                }
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::testing::settings;
    use crate::{Data, ModelMemory, ModelSettings, Noise, Observation};

    fn fit(problem: &Problem, rows: &[(f64, Vec<Option<f64>>)]) -> Network {
        let mut data = Data::new();
        for (action, values) in rows {
            let intervention = Intervention { targets: Vec::new(), actions: vec![*action] };
            data.push(problem, Observation { intervention, values: values.clone() }).expect("it fits");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Network::fit(problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit")
    }

    fn doing(action: f64) -> Intervention {
        Intervention { targets: Vec::new(), actions: vec![action] }
    }

    /// Noise that is not centred counts with its mean, that of the reward too: `x = a + U(1, 4)` and `y = 2 x + U(1, 4)` are known,
    /// so that `E[x] = a + 2.5` and `E[y] = 2 a + 7.5`, for every way of asking.
    #[test]
    fn the_mean_of_noise_counts() {
        let noise = Noise::Uniform([1.0, 4.0]);
        let problem = Problem::builder("shifted")
            .action("a", [-2.0, 2.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(noise))
            .node("y", |n| n.parents(["x"]).formula("2 * x").noise(noise))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        let a = 0.5;
        let forecasts = network.forecast(&problem, &doing(a), 1);
        assert!((forecasts[0].mean - 3.0).abs() < 1e-9, "{forecasts:?}");
        assert!((forecasts[1].mean - 8.5).abs() < 1e-9, "{forecasts:?}");
        assert_eq!(network.predict(&problem, 1, &[3.0], 1), [[(8.5, 0.0)]]);
        assert_eq!(network.noise(1), [Noise::Uniform([-1.5, 1.5])]);
        let (outlooks, _) = network.outlook(&problem, &doing(a), &forecasts);
        assert!((outlooks[1].forecast.mean - 8.5).abs() < 1e-9, "{outlooks:?}");
    }

    /// `x = a + N(0, s²)` and `y = x²` are known, so that `E[y] = a² + s²` without any doubt.
    #[test]
    fn noise_is_averaged_out() {
        let problem = Problem::builder("known")
            .action("a", [-2.0, 2.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::Gaussian(0.5)))
            .node("y", |n| n.parents(["x"]).formula("x^2").noise(Noise::Gaussian(3.0)))
            .minimize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        for (a, seed) in [(0.0, 1), (1.2, 2), (-1.7, 3)] {
            let forecasts = network.forecast(&problem, &doing(a), seed);
            let exact = a * a + 0.25;
            assert_eq!(forecasts.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["x", "y"]);
            assert!((forecasts[0].mean - a).abs() < 1e-12, "{forecasts:?}");
            assert!((forecasts[1].mean - exact).abs() < 1e-9, "{forecasts:?} {exact}");
            assert_eq!([forecasts[1].lower, forecasts[1].upper], [forecasts[1].mean; 2]);
            // Rewards point up: the node is minimised.
            let reward = expected_reward(&problem, &forecasts).expect("the reward is among them");
            assert!(reward.iter().all(|r| (r + exact).abs() < 1e-9), "{reward:?}");
            let draws = network.reward_draws(&problem, &doing(a), seed);
            assert!((draws[0] + exact).abs() < 1e-2 && draws.len() == 1, "{draws:?}");
        }
        assert_eq!(expected_reward(&problem, &[]), None);
    }

    /// One learned node: bounds are those of a normal distribution with the posterior's mean and deviation.
    #[test]
    fn bounds_are_quantiles_of_what_is_not_known() {
        let problem = Problem::builder("one")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).noise(Noise::Gaussian(0.3)))
            .maximize("y")
            .build()
            .expect("a problem");
        let rows: Vec<(f64, Vec<Option<f64>>)> =
            [0.0, 0.2, 0.4, 0.9].iter().map(|a: &f64| (*a, vec![Some((4.0 * a).sin())])).collect();
        let network = fit(&problem, &rows);
        for a in [0.1, 0.65, 1.0] {
            let (mean, deviation) = network.predict(&problem, 0, &[a], 1)[0][0];
            let forecast = &network.forecast(&problem, &doing(a), 5)[0];
            assert!((forecast.mean - mean).abs() < 1e-9 * deviation, "{forecast:?} {mean} {deviation}");
            // The fourth of 64 draws from either end: 5.5 % of a normal distribution lie beyond 1.6 deviations.
            for bound in [mean - forecast.lower, forecast.upper - mean] {
                assert!((bound / deviation - 1.6).abs() < 0.12, "{}", bound / deviation);
            }
            let mut draws = network.reward_draws(&problem, &doing(a), 5);
            assert_eq!(draws.len(), 64);
            let centre = draws.iter().sum::<f64>() / 64.0;
            let below = quantile(&mut draws, LOWER_QUANTILE) - centre;
            assert!((forecast.mean + below - forecast.lower).abs() < 1e-12, "{below} {forecast:?}");
        }
    }

    #[test]
    fn quantiles_count_from_the_smallest() {
        let shuffled: Vec<f64> = (0..101).map(|k| f64::from(k * 37 % 101)).collect();
        for share in [0.0, 0.05, 0.5, 0.95, 1.0] {
            assert_eq!(quantile(&mut shuffled.clone(), share), (100.0 * share).round());
        }
        assert_eq!(quantile(&mut [7.0], 0.05), 7.0);
    }

    /// The square root of what may be negative has no value, and neither has what reads it.
    #[test]
    fn nodes_without_a_value_are_left_out_and_named() {
        let problem = Problem::builder("root")
            .action("a", [-1.0, 1.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::None))
            .node("root", |n| n.parents(["x"]).formula("sqrt(x)").noise(Noise::None))
            .node("y", |n| n.parents(["root"]).formula("root + 1").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        let defined = network.forecast(&problem, &doing(0.25), 1);
        assert_eq!(defined.iter().map(|f| f.mean).collect::<Vec<_>>(), [0.25, 0.5, 1.5]);
        assert_eq!(network.undefined(&problem, &doing(0.25), &defined), None);
        let undefined = network.forecast(&problem, &doing(-0.25), 1);
        assert_eq!(undefined.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["x"]);
        let warning = network.undefined(&problem, &doing(-0.25), &undefined);
        assert_eq!(warning, Some(ModelWarning::Undefined { node: "root".into() }));
    }

    /// Noise that is averaged out over a few realisations must not move what is expected: not at all through what is linear, nor
    /// through a square, however well the mechanisms are known.
    #[test]
    fn expectations_are_not_moved_by_the_noise_that_is_drawn() {
        let problem = Problem::builder("noisy")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]).formula("2 * a").noise(Noise::Gaussian(0.5)))
            .node("z", |n| n.parents(["x"]).formula("3 * x").noise(Noise::Uniform([-1.0, 1.0])))
            .node("s", |n| n.parents(["x"]).formula("x^2").noise(Noise::None))
            .node("w", |n| n.parents(["z", "s"]))
            .maximize("w")
            .build()
            .expect("a problem");
        let mut data = Data::new();
        for row in 0..12 {
            let a = row as f64 / 11.0;
            let (z, s) = (6.0 * a, 4.0 * a * a);
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            let values = [2.0 * a, z, s, z + s].map(Some).to_vec();
            data.push(&problem, Observation { intervention, values }).expect("a row");
        }
        let network = Network::fit(
            &problem,
            &data,
            &ModelMemory::default(),
            &ModelSettings::default(),
            &mut ChaCha8Rng::seed_from_u64(1),
        )
        .expect("a fit");
        let at = Intervention { targets: Vec::new(), actions: vec![0.3] };
        for seed in 0..5 {
            let found = network.forecast(&problem, &at, seed);
            for (name, expected) in [("x", 0.6), ("z", 1.8), ("s", 0.36 + 0.25)] {
                let forecast = found.iter().find(|forecast| forecast.name == name).expect("a forecast");
                assert!((forecast.mean - expected).abs() < 1e-9, "{seed}: {forecast:?} {expected}");
            }
        }
    }
}
