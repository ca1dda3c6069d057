//! Optimism out of one budget for the whole network.

use crate::network::{Batch, Network, NoiseSamples, Plan, Workspace};
use crate::{Choice, Problem};

use super::Acquisition;

/// The optimistic expected reward with one budget of luck: the `η` of all nodes and components together lie in the unit ball,
/// `Σ η² ≤ 1`, and not each in its own interval.
///
/// In the box of Eq. reparam_acquisition all nodes may be lucky at once, so that the width of what counts, the expected reward,
/// grows with the number of nodes for the same `β` (the power of N in the paper's theorem). To first order the maximum over
/// the ball is the mean plus `β` standard deviations of the expected reward, `β (Σ_i (∂y/∂f_i σ_i)²)^½`, whatever the depth:
/// one meaning of `β` for a chain of two and a chain of fifty.
///
/// The decision vector has the ball's points as `η / max(1, |η|)`, so that bounds stay a box.
#[derive(Debug)]
pub struct SharedOptimism<'a> {
    network: &'a Network,
    plan: Plan,
    beta: f64,
    noise: NoiseSamples,
}

impl<'a> SharedOptimism<'a> {
    /// For one choice, with `samples` realisations of the noise.
    pub fn new(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        beta: f64,
        samples: usize,
        seed: u64,
    ) -> Self {
        let plan = Plan::for_prediction(problem, network, choice);
        let noise = NoiseSamples::new(&plan, samples, seed);
        Self { network, plan, beta, noise }
    }

    /// The decision vector with its `η` brought into the ball.
    pub(crate) fn inside(&self, point: &[f64]) -> Vec<f64> {
        let decisions = self.plan.decisions();
        let length = Self::length(&point[decisions..]);
        let (decided, eta) = point.split_at(decisions);
        decided.iter().copied().chain(eta.iter().map(|e| e / length)).collect()
    }

    /// The length that `η` is divided by.
    fn length(eta: &[f64]) -> f64 {
        eta.iter().map(|e| e * e).sum::<f64>().sqrt().max(1.0)
    }
}

impl Acquisition for SharedOptimism<'_> {
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
        let (dim, decisions) = (self.plan.dim(), self.plan.decisions());
        let inside: Vec<f64> = points.chunks_exact(dim.max(1)).flat_map(|point| self.inside(point)).collect();
        let batch = Batch { points: &inside, beta: self.beta, noise: &self.noise };
        self.network.rollout(&self.plan, batch, workspace, values, gradients);
        if gradients.is_empty() {
            return;
        }
        let pairs = points.chunks_exact(dim.max(1)).zip(inside.chunks_exact(dim.max(1)));
        for ((point, inside), gradient) in pairs.zip(gradients.chunks_exact_mut(dim.max(1))) {
            let (length, unit) = (Self::length(&point[decisions..]), &inside[decisions..]);
            if length > 1.0 {
                // ∂(η/|η|)/∂η = (I - uuᵀ) / |η|.
                let along: f64 = gradient[decisions..].iter().zip(unit).map(|(g, u)| g * u).sum();
                gradient[decisions..].iter_mut().zip(unit).for_each(|(g, u)| *g = (*g - along * u) / length);
            }
        }
    }
}
