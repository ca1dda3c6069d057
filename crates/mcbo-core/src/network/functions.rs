//! Mechanisms drawn as whole functions, to compare interventions under the same draw.

use mcbo_gp::SetPaths;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::decision::DecisionSpace;
use crate::{Choice, Intervention, Problem};

use super::plan::Step;
use super::{Batch, Network, NodeModel, NoiseSamples, Plan, Workspace};

/// Draws of every learned mechanism, each as a function of its inputs.
#[derive(Debug)]
pub(crate) struct FunctionDraws {
    nodes: Vec<Vec<SetPaths>>,
    count: usize,
}

impl FunctionDraws {
    /// The draws of a node, of each of its sets of processes.
    pub fn of(&self, node: usize) -> &[SetPaths] {
        &self.nodes[node]
    }
}

impl Network {
    /// Draws `count` systems: a function for every learned mechanism in each, of one member of its set.
    pub(crate) fn draw_functions(&self, count: usize, seed: u64) -> FunctionDraws {
        let node = |(index, model): (usize, &Option<NodeModel>)| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(index as u64 + 1);
            let groups = model.as_ref().map_or(&[][..], NodeModel::groups);
            groups.iter().map(|group| SetPaths::new(&group.set, count, &mut rng)).collect()
        };
        FunctionDraws { nodes: self.nodes.iter().enumerate().map(node).collect(), count }
    }

    /// Multiplications of one decision in one drawn system, roughly: the waves of the prior, and a product with every row.
    pub(crate) fn drawn_cost(&self, plan: &Plan, samples: usize) -> f64 {
        let step = |step: &Step| {
            let columns = if step.varies { samples } else { 1 } as f64;
            let groups = self.nodes[step.node].as_ref().map_or(&[][..], NodeModel::groups);
            columns * groups.iter().map(|group| 30.0 * (group.rows as f64 + 100.0)).sum::<f64>()
        };
        plan.steps.iter().map(step).sum::<f64>().max(1.0)
    }

    /// The expected reward of unit-scaled decisions of one choice in every drawn system, in the direction of improvement:
    /// `[decision][draw]`, the noise averaged out over `samples` realisations.
    pub(crate) fn rewards_in_draws(
        &self,
        problem: &Problem,
        functions: &FunctionDraws,
        choice: &Choice,
        decisions: &[Vec<f64>],
        samples: usize,
        seed: u64,
    ) -> Vec<Vec<f64>> {
        let plan = Plan::for_prediction(problem, self, choice);
        let noise = NoiseSamples::new(&plan, samples, seed);
        let one = |workspace: &mut Workspace, decided: &Vec<f64>| {
            self.rewards_along(&plan, functions, decided, &noise, workspace)
        };
        decisions.par_iter().map_init(Workspace::default, one).collect()
    }

    /// The expected reward of one decision along a plan, in every drawn system.
    pub(super) fn rewards_along(
        &self,
        plan: &Plan,
        functions: &FunctionDraws,
        decided: &[f64],
        noise: &NoiseSamples,
        workspace: &mut Workspace,
    ) -> Vec<f64> {
        let mut point = decided.to_vec();
        point.resize(plan.dim(), 0.0);
        let mut rewards = Vec::new();
        if point.is_empty() {
            // Nothing is decided and nothing is learned: all draws are the same.
            let batch = Batch { points: &[], beta: 0.0, noise };
            self.rollout_functions(plan, functions, batch, workspace, &mut rewards);
            rewards.resize(functions.count, rewards.first().copied().unwrap_or(f64::NAN));
            return rewards;
        }
        let batch = Batch { points: &point.repeat(functions.count), beta: 0.0, noise };
        self.rollout_functions(plan, functions, batch, workspace, &mut rewards);
        rewards
    }

    /// The same of one intervention.
    pub(crate) fn reward_in_draws(
        &self,
        problem: &Problem,
        functions: &FunctionDraws,
        intervention: &Intervention,
        samples: usize,
        seed: u64,
    ) -> Vec<f64> {
        let choice = Choice::of(problem, intervention);
        let point: Vec<f64> = DecisionSpace::new(problem, &choice).units(intervention).collect();
        self.rewards_in_draws(problem, functions, &choice, &[point], samples, seed).pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, ModelSettings, Noise, Observation};

    /// Drawn systems have the mean and the spread of the forecast where that is exact, and close interventions differ less in them
    /// than either may be off.
    #[test]
    fn drawn_systems_agree_with_the_forecast_and_vary_together() {
        let problem = Problem::builder("one")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).noise(Noise::Gaussian(0.1)))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = Data::new();
        for a in [0.05, 0.2, 0.3, 0.35, 0.5, 0.6] {
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            let values = vec![Some((4.0 * a).sin())];
            data.push(&problem, Observation { intervention, values }).expect("an observation");
        }
        // One process, whose posterior is normal.
        let settings = ModelSettings { inference: Default::default(), ..ModelSettings::default() };
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let network = Network::fit(&problem, &data, &Default::default(), &settings, &mut rng).expect("a fit");
        let [one, other] = [0.9, 0.92].map(|a| Intervention { targets: Vec::new(), actions: vec![a] });
        let mut drawn: Vec<(f64, f64)> = Vec::new();
        for seed in 0..100 {
            let functions = network.draw_functions(40, seed);
            let [a, b] = [&one, &other].map(|at| network.reward_in_draws(&problem, &functions, at, 1, 1));
            drawn.extend(a.into_iter().zip(b));
        }
        let spread = |value: &dyn Fn(&(f64, f64)) -> f64| {
            let mean = drawn.iter().map(value).sum::<f64>() / drawn.len() as f64;
            (
                mean,
                (drawn.iter().map(|pair| (value(pair) - mean).powi(2)).sum::<f64>() / drawn.len() as f64)
                    .sqrt(),
            )
        };
        let (mean, deviation) = spread(&|pair| pair.0);
        let exact = network.reward_draws(&problem, &one, 3);
        let expected = exact.iter().sum::<f64>() / exact.len() as f64;
        let wide = (exact.iter().map(|y| (y - expected).powi(2)).sum::<f64>() / exact.len() as f64).sqrt();
        assert!(deviation > 0.02, "the test says nothing where all is known: {deviation}");
        assert!((mean - expected).abs() < 0.1 * deviation, "{mean} {expected}");
        assert!((deviation / wide - 1.0).abs() < 0.1, "{deviation} {wide}");
        let (_, apart) = spread(&|pair| pair.0 - pair.1);
        assert!(apart < 0.3 * deviation, "{apart} {deviation}");
    }
}
