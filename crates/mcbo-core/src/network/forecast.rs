//! What the model expects of an intervention, node by node, with bounds.

use serde::{Deserialize, Serialize};

use crate::{Choice, Intervention, Problem};

use super::{Batch, Drawn, Draws, ModelWarning, Network, NoiseSamples, Plan, Workspace, slot_name};

/// Draws of the mechanisms, and noise samples for each.
const DRAWS: usize = 64;
const SAMPLES: usize = 8;

/// The expectation of one component of a node under an intervention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forecast {
    /// The node.
    pub node: usize,
    /// Its component.
    pub component: usize,
    /// Its name, with the component for a vector node.
    pub name: String,
    /// The expected value, in the user's units.
    pub mean: f64,
    /// Below this with a probability of 5 %, by what is not known of the mechanisms.
    pub lower: f64,
    /// Above this with a probability of 5 %.
    pub upper: f64,
}

/// How probable it is that an expectation lies below its lower bound, and as probable above its upper one.
pub(crate) const LOWER_QUANTILE: f64 = 0.05;

/// The value below which a share of the draws lies.
pub(crate) fn quantile(draws: &mut [f64], share: f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    draws[((draws.len() - 1) as f64 * share).round() as usize]
}

/// The expected reward with its bounds, in the direction of improvement: mean, lower and upper end. `None` if the reward is
/// not among the forecasts.
pub fn expected_reward(problem: &Problem, forecasts: &[Forecast]) -> Option<[f64; 3]> {
    let forecast = forecasts.iter().find(|forecast| forecast.node == problem.reward())?;
    let (one, other) = (problem.sign() * forecast.lower, problem.sign() * forecast.upper);
    Some([problem.sign() * forecast.mean, one.min(other), one.max(other)])
}

impl Network {
    /// Draws of the expected reward under an intervention, in the direction of improvement: the mechanisms drawn
    /// from their posteriors as in [`Self::forecast`], the noise averaged out.
    pub fn reward_draws(&self, problem: &Problem, intervention: &Intervention, seed: u64) -> Vec<f64> {
        let (draws, mut drawn) = (self.draws(problem, intervention, seed), Drawn::default());
        let point = draws.plan().space().point(intervention);
        draws.evaluate(&point, false, &mut Workspace::default(), &mut drawn);
        drawn.rewards
    }

    /// Draws of what an intervention gives; where there is no mechanism to draw, one with as many noise samples as all together.
    fn draws(&self, problem: &Problem, intervention: &Intervention, seed: u64) -> Draws<'_> {
        let choice = Choice::of(problem, intervention);
        Draws::expectation(problem, self, &choice, DRAWS, seed, |plan| {
            if plan.dim() == plan.decisions() { DRAWS * SAMPLES } else { SAMPLES }
        })
    }

    /// The expected value of every node that matters under an intervention, with bounds of 90 % credibility.
    ///
    /// Each mechanism is drawn from its posterior as a whole shifted by a normal multiple of its deviation, and the
    /// noise is averaged out: bounds are on the expectation, not on a single outcome. A node whose formula has no value for
    /// some of what may happen is left out, and so are those that depend on it.
    pub fn forecast(&self, problem: &Problem, intervention: &Intervention, seed: u64) -> Vec<Forecast> {
        let draws = self.draws(problem, intervention, seed);
        let (mut workspace, mut drawn) = (Workspace::default(), Drawn::default());
        let point = draws.plan().space().point(intervention);
        draws.evaluate(&point, false, &mut workspace, &mut drawn);
        let mut forecasts = Vec::new();
        for (index, step) in draws.plan().steps.iter().enumerate() {
            for component in 0..step.components {
                let values = workspace.values(index, component);
                let per = values.len() / draws.count();
                let mut means: Vec<f64> =
                    values.chunks_exact(per).map(|chunk| chunk.iter().sum::<f64>() / per as f64).collect();
                if !means.iter().all(|mean| mean.is_finite()) {
                    continue;
                }
                forecasts.push(Forecast {
                    node: step.node,
                    component,
                    name: slot_name(problem, step.node, component),
                    mean: means.iter().sum::<f64>() / means.len() as f64,
                    lower: quantile(&mut means, LOWER_QUANTILE),
                    upper: quantile(&mut means, 1.0 - LOWER_QUANTILE),
                });
            }
        }
        forecasts
    }

    /// The first node, in the order of causes, that a forecast of an intervention had to leave out: its formula has no value.
    pub(crate) fn undefined(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        forecasts: &[Forecast],
    ) -> Option<ModelWarning> {
        let plan = Plan::for_prediction(problem, self, &Choice::of(problem, intervention));
        let missing =
            |step: &&super::plan::Step| !forecasts.iter().any(|forecast| forecast.node == step.node);
        let step = plan.steps.iter().find(missing)?;
        Some(ModelWarning::Undefined { node: problem.nodes()[step.node].name.clone() })
    }

    /// The value of every component that the optimistic model expects at a decision vector, as `(name, value)`.
    pub(crate) fn optimistic_values(
        &self,
        problem: &Problem,
        plan: &Plan,
        point: &[f64],
        beta: f64,
        seed: u64,
    ) -> Vec<(String, f64)> {
        let noise = NoiseSamples::new(plan, 32, seed);
        let (mut workspace, mut values) = (Workspace::default(), Vec::new());
        self.rollout(
            plan,
            Batch { points: point, beta, noise: &noise },
            &mut workspace,
            &mut values,
            &mut [],
        );
        let mut named = Vec::new();
        for (index, step) in plan.steps.iter().enumerate() {
            for component in 0..step.components {
                let values = workspace.values(index, component);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                if mean.is_finite() {
                    named.push((slot_name(problem, step.node, component), mean));
                }
            }
        }
        named
    }
}
