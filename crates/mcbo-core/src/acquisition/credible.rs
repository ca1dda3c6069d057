//! The expected reward by what is known of the mechanisms, less a share of what is not.

use crate::network::{Drawn, Draws, Network, Plan, Workspace};
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
    draws: Draws<'a>,
    caution: f64,
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
        Self { draws: Draws::expectation(problem, network, choice, DRAWS, seed, |_| samples), caution }
    }
}

impl Acquisition for CredibleReward<'_> {
    fn plan(&self) -> &Plan {
        self.draws.plan()
    }

    /// The decided variables alone: what is drawn is not chosen.
    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.space().bounds()
    }

    fn cost(&self) -> f64 {
        self.draws.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let (decisions, count) = (self.decisions(), self.draws.count());
        let mut drawn = Drawn::default();
        self.draws.evaluate(points, !gradients.is_empty(), workspace, &mut drawn);
        values.clear();
        for (place, rewards) in drawn.rewards.chunks_exact(count).enumerate() {
            let mean = rewards.iter().sum::<f64>() / count as f64;
            let variance = rewards.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / count as f64;
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
                let weight = (1.0 - pull) / count as f64;
                let by = &drawn.slopes[(place * count + draw) * decisions..][..decisions];
                gradient.iter_mut().zip(by).for_each(|(total, by)| *total += weight * by);
            }
        }
    }
}
