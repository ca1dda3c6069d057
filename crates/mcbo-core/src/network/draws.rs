//! Mechanisms drawn from their posteriors: the rewards that expectations, bounds and improvements are made of.

use crate::quasi::normal_sobol;
use crate::{Choice, Problem};

use super::{Network, NoiseSamples, Plan, Rollout, Workspace};

/// Draws of the expected reward of a choice.
///
/// A mechanism is drawn as a whole: every draw shifts each of them by a normal multiple of its posterior deviation, the same
/// at all inputs. The noise is averaged out within a draw. The multiples are quasi-random and fixed, so that interventions are
/// compared under the same luck and rewards have derivatives.
#[derive(Debug)]
pub(crate) struct Draws<'a> {
    rollout: Rollout<'a>,
    /// The multiples, `[draw][node and component]`.
    shifts: Vec<Vec<f64>>,
}

/// What the draws give at a batch of points.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// `[point][draw]`, in the direction of improvement.
    pub rewards: Vec<f64>,
    /// `[point][draw][variable]`; empty if not wanted.
    pub slopes: Vec<f64>,
}

/// Keeps the draws of an expectation apart from the noise samples of the same seed.
const DRAW_SEED: u64 = 0x0f0f;

impl<'a> Draws<'a> {
    /// A number of draws with the noise given by `noise`; one where no mechanism is learned, since all would be the same.
    pub fn new(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        count: usize,
        seed: u64,
        noise: impl FnOnce(&Plan) -> NoiseSamples,
    ) -> Self {
        Self::along(Plan::for_prediction(problem, network, choice), network, count, seed, noise)
    }

    /// The same along a plan for predictions that is there already.
    fn along(
        plan: Plan,
        network: &'a Network,
        count: usize,
        seed: u64,
        noise: impl FnOnce(&Plan) -> NoiseSamples,
    ) -> Self {
        let mechanisms = plan.dim() - plan.decisions();
        let count = if mechanisms == 0 { 1 } else { count };
        let normal = |draw: usize| (0..mechanisms).map(|k| normal_sobol(draw, k, seed)).collect();
        let noise = noise(&plan);
        Self {
            rollout: Rollout { network, plan, noise, beta: 1.0 },
            shifts: (0..count).map(normal).collect(),
        }
    }

    /// Draws of an expectation: each with as many realisations of the noise as `samples` says of the plan.
    pub fn expectation(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        count: usize,
        seed: u64,
        samples: impl FnOnce(&Plan) -> usize,
    ) -> Self {
        let noise = |plan: &Plan| NoiseSamples::new(plan, samples(plan), seed);
        Self::new(problem, network, choice, count, seed ^ DRAW_SEED, noise)
    }

    /// The same along a plan for predictions that is there already, the noise in balance.
    pub fn balanced_along(
        plan: Plan,
        network: &'a Network,
        count: usize,
        seed: u64,
        samples: impl FnOnce(&Plan) -> usize,
    ) -> Self {
        let noise = |plan: &Plan| NoiseSamples::balanced(plan, samples(plan), seed);
        Self::along(plan, network, count, seed ^ DRAW_SEED, noise)
    }

    /// Draws of the mechanisms, the noise left out.
    pub fn noiseless(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        count: usize,
        seed: u64,
    ) -> Self {
        Self::new(problem, network, choice, count, seed, NoiseSamples::silent)
    }

    /// The one draw in which every mechanism is its mean, the noise left out.
    pub fn mean(problem: &Problem, network: &'a Network, choice: &Choice) -> Self {
        let mut draws = Self::noiseless(problem, network, choice, 1, 0);
        draws.shift_all(0.0);
        draws
    }

    /// The same multiple for all mechanisms in all draws.
    pub fn shift_all(&mut self, multiple: f64) {
        self.shifts.iter_mut().flatten().for_each(|shift| *shift = multiple);
    }

    /// Leaves every mechanism but one node's at its mean.
    pub fn only(&mut self, node: usize) {
        let (plan, decisions) = (&self.rollout.plan, self.rollout.plan.decisions());
        let own: Vec<_> = plan.steps.iter().filter(|step| step.node == node).map(|s| s.eta.clone()).collect();
        for shifts in &mut self.shifts {
            for (place, shift) in shifts.iter_mut().enumerate() {
                if !own.iter().any(|eta| eta.contains(&(place + decisions))) {
                    *shift = 0.0;
                }
            }
        }
    }

    /// The way through the network.
    pub fn plan(&self) -> &Plan {
        &self.rollout.plan
    }

    /// The rollout of the draws, and the decision vectors of all of them at one unit-scaled point.
    pub fn at(&self, point: &[f64]) -> (&Rollout<'a>, Vec<f64>) {
        let expanded = self.shifts.iter().flat_map(|shifts| point.iter().chain(shifts).copied());
        (&self.rollout, expanded.collect())
    }

    /// Number of draws.
    pub fn count(&self) -> usize {
        self.shifts.len()
    }

    /// Multiplications that all draws at one point cost, roughly.
    pub fn cost(&self) -> f64 {
        self.count() as f64 * self.rollout.cost()
    }

    /// The rewards of a batch of unit-scaled points, with derivatives if wanted.
    pub fn evaluate(&self, points: &[f64], slopes: bool, workspace: &mut Workspace, out: &mut Drawn) {
        let count = points.len().checked_div(self.plan().decisions()).unwrap_or(1);
        let all = (0..count).flat_map(|point| (0..self.count()).map(move |draw| (point, draw)));
        self.evaluate_some(points, all, slopes, workspace, out);
    }

    /// The rewards of some draws at some points of a batch, one pair of point and draw after the other.
    pub fn evaluate_some(
        &self,
        points: &[f64],
        pairs: impl Iterator<Item = (usize, usize)>,
        slopes: bool,
        workspace: &mut Workspace,
        out: &mut Drawn,
    ) {
        let (dim, decisions) = (self.plan().dim(), self.plan().decisions());
        let mut expanded = Vec::with_capacity(pairs.size_hint().0 * dim);
        for (point, draw) in pairs {
            expanded.extend_from_slice(&points[point * decisions..(point + 1) * decisions]);
            expanded.extend_from_slice(&self.shifts[draw]);
        }
        let mut gradients = vec![0.0; if slopes { expanded.len() } else { 0 }];
        self.rollout.evaluate(&expanded, workspace, &mut out.rewards, &mut gradients);
        out.slopes.clear();
        if dim > 0 {
            out.slopes.extend(gradients.chunks_exact(dim).flat_map(|by| &by[..decisions]));
        }
    }
}
