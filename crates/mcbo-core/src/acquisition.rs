//! What is maximised: functions of a decision vector with value and gradient.

mod credible;
mod shared;

use crate::network::{Batch, Network, NoiseSamples, Plan, Workspace};
use crate::optimism::Optimism;
use crate::{Choice, DecisionSpace, Problem};

pub use credible::CredibleReward;
pub use shared::SharedOptimism;

/// A function of the decision vector of one [`Choice`]: unit-scaled variables first, auxiliary variables after them.
pub trait Acquisition: Send + Sync {
    /// The way through the graph that it evaluates, which also says what a decision vector means.
    fn plan(&self) -> &Plan;

    /// What the choice leaves to decide.
    fn space(&self) -> &DecisionSpace {
        self.plan().space()
    }

    /// Number of unit-scaled variables at the front of the decision vector.
    fn decisions(&self) -> usize {
        self.space().dim()
    }

    /// Bounds of the whole decision vector.
    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.plan().bounds()
    }

    /// Whether other noise samples would give another value.
    fn is_noisy(&self) -> bool;

    /// Multiplications that the value at one point costs, roughly; a gradient costs twice that.
    fn cost(&self) -> f64;

    /// Values at a batch of decision vectors, larger is better; derivatives too unless `gradients` is empty.
    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    );
}

/// Makes the acquisition of a choice with a number of noise samples and their seed.
pub type AcquisitionFactory<'a> = dyn Fn(&Choice, usize, u64) -> Box<dyn Acquisition + 'a> + Sync + 'a;

/// The optimistic expected reward, maximised over the action and over `η` together (Eq. reparam_acquisition).
#[derive(Debug)]
pub struct OptimisticReward<'a> {
    network: &'a Network,
    plan: Plan,
    beta: f64,
    noise: NoiseSamples,
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
        let noise = NoiseSamples::new(&plan, samples, seed);
        Self { network, plan, beta, noise }
    }
}

impl Acquisition for OptimisticReward<'_> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn is_noisy(&self) -> bool {
        self.plan.is_noisy()
    }

    fn cost(&self) -> f64 {
        self.network.rollout_cost(&self.plan, self.noise.count())
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let batch = Batch { points, beta: self.beta, noise: &self.noise };
        self.network.rollout(&self.plan, batch, workspace, values, gradients);
    }
}
