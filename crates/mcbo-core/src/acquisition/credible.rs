//! The expected reward by what is known of the mechanisms, less a share of what is not.

use crate::network::{Batch, Network, NoiseSamples, Plan, Workspace, mechanism_draws};
use crate::{Choice, Problem};

use super::Acquisition;

/// Draws of the mechanisms behind one value.
const DRAWS: usize = 32;

/// A lower confidence bound through the network: mean less `caution` standard deviations of the expected reward, both
/// over draws of the mechanisms from their posteriors, the noise averaged out in each draw.
///
/// Without caution it is the posterior mean. A mechanism is drawn as in [`Network::forecast`], as a whole.
#[derive(Debug)]
pub struct CredibleReward<'a> {
    network: &'a Network,
    plan: Plan,
    /// The auxiliary variables of every draw, one draw after the other.
    draws: Vec<f64>,
    /// How many there are: one where no mechanism is learned.
    count: usize,
    caution: f64,
    noise: NoiseSamples,
}

impl<'a> CredibleReward<'a> {
    /// For one choice, with `samples` realisations of the noise.
    pub fn new(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        caution: f64,
        samples: usize,
        seed: u64,
    ) -> Self {
        let plan = Plan::for_prediction(problem, network, choice);
        let count = if plan.dim() > plan.decisions() { DRAWS } else { 1 };
        let draws = mechanism_draws(&plan, count, seed);
        let noise = NoiseSamples::new(&plan, samples, seed);
        Self { network, plan, draws, count, caution, noise }
    }
}

impl Acquisition for CredibleReward<'_> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The decided variables alone: what is drawn is not chosen.
    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (vec![0.0; self.decisions()], vec![1.0; self.decisions()])
    }

    fn is_noisy(&self) -> bool {
        self.plan.is_noisy()
    }

    fn cost(&self) -> f64 {
        self.count as f64 * self.network.rollout_cost(&self.plan, self.noise.count())
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let (decisions, dim) = (self.decisions(), self.plan.dim());
        let places = points.len().checked_div(decisions).unwrap_or(1);
        if dim == 0 {
            let batch = Batch { points, beta: 1.0, noise: &self.noise };
            return self.network.rollout(&self.plan, batch, workspace, values, &mut []);
        }
        let mut drawn = Vec::with_capacity(places * self.count * dim);
        for place in 0..places {
            for draw in 0..self.count {
                drawn.extend_from_slice(&points[place * decisions..(place + 1) * decisions]);
                drawn
                    .extend_from_slice(&self.draws[draw * (dim - decisions)..(draw + 1) * (dim - decisions)]);
            }
        }
        let mut by_drawn = vec![0.0; if gradients.is_empty() { 0 } else { drawn.len() }];
        let batch = Batch { points: &drawn, beta: 1.0, noise: &self.noise };
        let mut rewards = Vec::new();
        self.network.rollout(&self.plan, batch, workspace, &mut rewards, &mut by_drawn);
        values.clear();
        for (place, rewards) in rewards.chunks_exact(self.count).enumerate() {
            let mean = rewards.iter().sum::<f64>() / self.count as f64;
            let variance = rewards.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / self.count as f64;
            let deviation = variance.sqrt();
            values.push(mean - self.caution * deviation);
            if gradients.is_empty() {
                continue;
            }
            let gradient = &mut gradients[place * decisions..(place + 1) * decisions];
            gradient.fill(0.0);
            for (draw, reward) in rewards.iter().enumerate() {
                // ∂(mean - κ·deviation)/∂reward_d; where all draws agree, but for rounding, the deviation has no slope.
                let pull = if deviation > 1e-12 * mean.abs() {
                    self.caution * (reward - mean) / deviation
                } else {
                    0.0
                };
                let weight = (1.0 - pull) / self.count as f64;
                let by = &by_drawn[(place * self.count + draw) * dim..][..decisions];
                gradient.iter_mut().zip(by).for_each(|(total, by)| *total += weight * by);
            }
        }
    }
}
