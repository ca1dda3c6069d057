//! Optimism out of one budget for the whole network.

use crate::network::{Network, Plan, Rollout, Workspace};
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
    rollout: Rollout<'a>,
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
        Self { rollout: Rollout::new(network, plan, beta, samples, seed) }
    }

    /// The decision vector with its `η` brought into the ball.
    pub(crate) fn inside(&self, point: &[f64]) -> Vec<f64> {
        let decisions = self.decisions();
        let length = Self::length(&point[decisions..]);
        let (decided, eta) = point.split_at(decisions);
        decided.iter().copied().chain(eta.iter().map(|e| e / length)).collect()
    }

    /// The decision vector with the luckiest `η` to first order, along the reward's gradient, and the reward there.
    pub(crate) fn luckiest(&self, decided: &[f64]) -> (Vec<f64>, f64) {
        let (dim, decisions) = (self.plan().dim(), self.plan().decisions());
        let mut point = decided.to_vec();
        point.resize(dim, 0.0);
        let (mut workspace, mut values, mut gradient) = (Workspace::default(), Vec::new(), vec![0.0; dim]);
        self.evaluate(&point, &mut workspace, &mut values, &mut gradient);
        let steepest = &gradient[decisions..];
        let length = steepest.iter().map(|g| g * g).sum::<f64>().sqrt();
        if length > 0.0 && length.is_finite() {
            point[decisions..].iter_mut().zip(steepest).for_each(|(eta, g)| *eta = g / length);
        }
        self.evaluate(&point, &mut workspace, &mut values, &mut []);
        (point, values.first().copied().unwrap_or(f64::NAN))
    }

    /// The length that `η` is divided by.
    fn length(eta: &[f64]) -> f64 {
        eta.iter().map(|e| e * e).sum::<f64>().sqrt().max(1.0)
    }
}

impl Acquisition for SharedOptimism<'_> {
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
        let (dim, decisions) = (self.plan().dim(), self.decisions());
        let inside: Vec<f64> = points.chunks_exact(dim.max(1)).flat_map(|point| self.inside(point)).collect();
        self.rollout.evaluate(&inside, workspace, values, gradients);
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::network::{Batch, NoiseSamples};
    use crate::optimism::Optimism;
    use crate::testing::{check_gradients, settings, system};
    use crate::{Data, Intervention, Noise, Observation};

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
}
