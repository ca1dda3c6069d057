//! Expected improvement under the causal processes of CBO.

use crate::Choice;
use crate::network::{Causal, Draws, Plan, Workspace};

use super::Acquisition;
use super::log_improvement::log_improvement;

/// `ln(EI / cost)` under the causal process of a choice; `-∞` for observing, which the ε rule decides.
pub(crate) struct CausalImprovement<'a> {
    causal: &'a Causal<'a>,
    best: f64,
    draws: Draws<'a>,
}

impl<'a> CausalImprovement<'a> {
    /// For one choice, over the best reward so far.
    pub fn new(causal: &'a Causal<'a>, choice: &Choice, best: f64) -> Self {
        Self { causal, best, draws: causal.draws(choice) }
    }
}

impl Acquisition for CausalImprovement<'_> {
    fn plan(&self) -> &Plan {
        self.draws.plan()
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.space().bounds()
    }

    fn is_noisy(&self) -> bool {
        false
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
        values.clear();
        let dim = self.decisions();
        if dim == 0 {
            values.push(f64::NEG_INFINITY);
            return;
        }
        let belief = self.causal.believe(&self.draws, points, !gradients.is_empty(), workspace);
        let choice = self.space().choice();
        let cost = (choice.targets.len() + choice.actions.len()) as f64;
        for (point, (mean, deviation)) in belief.mean.iter().zip(&belief.deviation).enumerate() {
            let improvement = log_improvement(mean - self.best, *deviation);
            values.push(improvement.value - cost.ln());
            if !gradients.is_empty() {
                for i in point * dim..(point + 1) * dim {
                    gradients[i] = improvement.by_mean * belief.mean_slopes[i]
                        + improvement.by_deviation * belief.deviation_slopes[i];
                }
            }
        }
    }
}
