//! What is maximised: functions of a decision vector with value and gradient.

mod black_box;
mod causal;
mod credible;
mod improvement;
mod limited;
mod log_improvement;
mod optimistic;
mod per_cost;
mod shared;

use crate::network::{Plan, Workspace};
use crate::{Choice, DecisionSpace};

pub(crate) use black_box::{BlackBoxReward, Score};
pub(crate) use causal::CausalImprovement;
pub use credible::CredibleReward;
pub(crate) use improvement::{Best, NetworkImprovement};
pub(crate) use limited::{Limited, Price, Toll};
pub use optimistic::OptimisticReward;
pub(crate) use per_cost::{ChoiceCost, PerCost};
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
    fn is_noisy(&self) -> bool {
        self.plan().is_noisy()
    }

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
