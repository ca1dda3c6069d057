//! Expected improvement under the causal processes of CBO.

use crate::Choice;
use crate::network::{Causal, Draws, Plan, Workspace};

use super::log_improvement::log_improvement;
use super::{Acquisition, ChoiceCost};

/// `ln(EI / cost)` by the costs of the problem, or else by how much is intervened on, under the causal process of a choice; `-∞` for observing, which the ε rule decides.
pub(crate) struct CausalImprovement<'a> {
    causal: &'a Causal<'a>,
    best: f64,
    draws: Draws<'a>,
    /// The costs that the problem says, if it does.
    costs: Option<ChoiceCost>,
}

impl<'a> CausalImprovement<'a> {
    /// For one choice, over the best reward so far.
    pub fn new(causal: &'a Causal<'a>, choice: &Choice, best: f64) -> Self {
        let problem = causal.problem();
        let costs = problem.has_costs().then(|| ChoiceCost::new(problem, choice));
        Self { causal, best, draws: causal.draws(choice), costs }
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
            let at = &points[point * dim..(point + 1) * dim];
            let cost = self.costs.as_ref().map_or(cost, |costs| costs.at(at, 0.0, &mut []));
            values.push(improvement.value - cost.ln());
            if !gradients.is_empty() {
                for i in point * dim..(point + 1) * dim {
                    gradients[i] = improvement.by_mean * belief.mean_slopes[i]
                        + improvement.by_deviation * belief.deviation_slopes[i];
                }
                if let Some(costs) = &self.costs {
                    costs.at(at, -1.0 / cost, &mut gradients[point * dim..(point + 1) * dim]);
                }
            }
        }
    }
}
