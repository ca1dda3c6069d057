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
            let mut point = decided.clone();
            point.resize(plan.dim(), 0.0);
            let mut rewards = Vec::new();
            if point.is_empty() {
                // Nothing is decided and nothing is learned: all draws are the same.
                let batch = Batch { points: &[], beta: 0.0, noise: &noise };
                self.rollout_functions(&plan, functions, batch, workspace, &mut rewards);
                rewards.resize(functions.count, rewards.first().copied().unwrap_or(f64::NAN));
                return rewards;
            }
            let batch = Batch { points: &point.repeat(functions.count), beta: 0.0, noise: &noise };
            self.rollout_functions(&plan, functions, batch, workspace, &mut rewards);
            rewards
        };
        decisions.par_iter().map_init(Workspace::default, one).collect()
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
        let point = DecisionSpace::new(problem, &choice).point(intervention);
        self.rewards_in_draws(problem, functions, &choice, &[point], samples, seed).pop().unwrap_or_default()
    }
}
