//! The reward in the most optimistic model that is still plausible.

use crate::network::{Network, Plan, Rollout, Workspace};
use crate::optimism::Optimism;
use crate::{Choice, Problem};

use super::Acquisition;

/// The optimistic expected reward, maximised over the action and over `η` together (Eq. reparam_acquisition).
#[derive(Debug)]
pub struct OptimisticReward<'a> {
    rollout: Rollout<'a>,
}

impl<'a> OptimisticReward<'a> {
    /// For one choice, with `samples` realisations of the noise.
    pub fn new(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        optimism: Optimism,
        beta: f64,
        samples: usize,
        seed: u64,
    ) -> Self {
        let plan = Plan::new(problem, network, choice, optimism);
        Self { rollout: Rollout::new(network, plan, beta, samples, seed) }
    }
}

impl Acquisition for OptimisticReward<'_> {
    fn plan(&self) -> &Plan {
        &self.rollout.plan
    }

    fn cost(&self) -> f64 {
        self.rollout.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        self.rollout.evaluate(points, workspace, values, gradients);
    }
}
