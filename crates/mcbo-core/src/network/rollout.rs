//! The differentiable rollout: a batch of decisions through the graph, forward and backward.

mod backward;
mod forward;
mod named;
mod noise;
mod workspace;

use mcbo_gp::{GpSet, Prediction};

use super::functions::FunctionDraws;
use super::plan::{Plan, Source, Step};
use super::systems::Systems;
use super::{Mechanism, Network, NodeModel};

pub use noise::NoiseSamples;
use workspace::StepState;
pub use workspace::Workspace;

/// A rollout in which everything is fixed but the decision vectors.
#[derive(Debug)]
pub(crate) struct Rollout<'a> {
    pub network: &'a Network,
    pub plan: Plan,
    pub noise: NoiseSamples,
    /// The width of the confidence band in standard deviations.
    pub beta: f64,
}

impl<'a> Rollout<'a> {
    /// With `samples` realisations of the noise.
    pub fn new(network: &'a Network, plan: Plan, beta: f64, samples: usize, seed: u64) -> Self {
        Self { network, noise: NoiseSamples::new(&plan, samples, seed), plan, beta }
    }

    /// Multiplications that the value at one point costs, roughly.
    pub fn cost(&self) -> f64 {
        self.network.rollout_cost(&self.plan, self.noise.count())
    }

    /// See [`Network::rollout`].
    pub fn evaluate(
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

/// What the mechanisms of a rollout are.
#[derive(Clone, Copy)]
enum Realised<'a> {
    /// What the whole posterior says: mean and deviation.
    Posterior,
    /// Functions: of decision vector `i`, draw `i` modulo their number.
    Functions(&'a FunctionDraws),
    /// Members of the posterior, in the same way.
    Systems(&'a Systems),
}

/// What goes through the graph together.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// One decision vector after the other.
    pub points: &'a [f64],
    /// The width of the confidence band in standard deviations.
    pub beta: f64,
    /// The noise, the same for every candidate.
    pub noise: &'a NoiseSamples,
}

impl Batch<'_> {
    pub(crate) fn candidates(&self, plan: &Plan) -> usize {
        if plan.dim() == 0 { 1 } else { self.points.len() / plan.dim() }
    }
}

impl Network {
    /// Multiplications of one decision's rollout: a triangular product per member of every process, column and sample.
    pub(crate) fn rollout_cost(&self, plan: &Plan, samples: usize) -> f64 {
        self.cost_with(plan, samples, |set| set.members().len() as f64)
    }

    /// The same in one system, which has one member of every process.
    pub(crate) fn system_cost(&self, plan: &Plan, samples: usize) -> f64 {
        self.cost_with(plan, samples, |_| 1.0)
    }

    fn cost_with(&self, plan: &Plan, samples: usize, members: impl Fn(&GpSet) -> f64) -> f64 {
        let step = |step: &Step| {
            let columns = if step.varies { samples } else { 1 } as f64;
            let Some(NodeModel { mechanism: Mechanism::Learned(groups), .. }) = &self.nodes[step.node] else {
                return columns;
            };
            let group = |group: &super::Group| {
                let rows = group.rows as f64;
                members(&group.set) * (0.5 * rows * rows + 30.0 * rows)
            };
            columns * groups.iter().map(group).sum::<f64>()
        };
        plan.steps.iter().map(step).sum()
    }

    /// The optimistic expected reward of a batch of decision vectors (Eq. reparam_acquisition at given `a` and `η`), in the
    /// direction of improvement.
    ///
    /// `gradients`, of the length of the points or empty, receives the derivatives by the decision vectors.
    pub fn rollout(
        &self,
        plan: &Plan,
        batch: Batch<'_>,
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let candidates = batch.candidates(plan);
        let with_gradient = !gradients.is_empty();
        self.forward(plan, batch, with_gradient, workspace);
        let Some(last) = plan.steps.len().checked_sub(1) else { return values.clear() };
        average(plan, &workspace.steps[last], candidates, values);
        if !with_gradient {
            return;
        }
        workspace.forget_slopes(plan);
        workspace.steps[last].follow_means(candidates, plan.sign);
        self.backward(plan, batch, workspace, gradients);
    }

    /// Computes the values of all steps, which [`Workspace::values`] then has.
    pub(crate) fn forward(
        &self,
        plan: &Plan,
        batch: Batch<'_>,
        with_gradient: bool,
        workspace: &mut Workspace,
    ) {
        self.all_steps(plan, batch, Realised::Posterior, with_gradient, workspace);
    }

    fn all_steps(
        &self,
        plan: &Plan,
        batch: Batch<'_>,
        realised: Realised<'_>,
        with_gradient: bool,
        workspace: &mut Workspace,
    ) {
        workspace.steps.resize_with(plan.steps.len().max(workspace.steps.len()), StepState::default);
        for index in 0..plan.steps.len() {
            self.forward_step(plan, index, batch, realised, with_gradient, workspace);
        }
    }

    /// The same in systems that agree with the data: decision vector `i` in system `i` modulo their number.
    pub(crate) fn forward_in_systems(
        &self,
        plan: &Plan,
        systems: &Systems,
        batch: Batch<'_>,
        with_gradient: bool,
        workspace: &mut Workspace,
    ) {
        self.all_steps(plan, batch, Realised::Systems(systems), with_gradient, workspace);
    }

    /// The same with the derivatives of every decision vector's reward by the values of all steps, which [`Workspace::slopes`] then has.
    pub(super) fn slopes_in_functions(
        &self,
        plan: &Plan,
        functions: &FunctionDraws,
        batch: Batch<'_>,
        workspace: &mut Workspace,
    ) {
        workspace.steps.resize_with(plan.steps.len().max(workspace.steps.len()), StepState::default);
        for index in 0..plan.steps.len() {
            self.forward_step(plan, index, batch, Realised::Functions(functions), true, workspace);
            self.function_slopes(plan, index, batch, functions, workspace);
        }
        let Some(last) = plan.steps.len().checked_sub(1) else { return };
        workspace.forget_slopes(plan);
        workspace.steps[last].follow_means(batch.candidates(plan), plan.sign);
        self.backward(plan, batch, workspace, &mut vec![0.0; batch.points.len()]);
    }

    /// The slopes of the functions that were drawn for a step, by differences, along inputs that other steps compute.
    fn function_slopes(
        &self,
        plan: &Plan,
        index: usize,
        batch: Batch<'_>,
        functions: &FunctionDraws,
        workspace: &mut Workspace,
    ) {
        /// How far to either side an input is moved, in deviations of what was seen of it.
        const WIDTH: f64 = 0.1;
        let step = &plan.steps[index];
        let Some(NodeModel { mechanism: Mechanism::Learned(groups), .. }) = &self.nodes[step.node] else {
            return;
        };
        let Workspace { steps, scratch, .. } = workspace;
        let state = &mut steps[index];
        let (columns, per) = (state.columns, state.columns / batch.candidates(plan));
        let [mut high, mut low] = [Vec::new(), Vec::new()];
        let mut inputs = state.inputs.clone();
        for ((group, paths), out) in groups.iter().zip(functions.of(step.node)).zip(&mut state.predictions) {
            out.mean_jacobian.clear();
            out.mean_jacobian.resize(group.set.components() * step.dim * columns, 0.0);
            for k in 0..step.dim {
                if !matches!(step.sources[k], Source::Computed(..)) {
                    continue;
                }
                let here = k * columns..(k + 1) * columns;
                for (side, values) in [(WIDTH, &mut high), (-WIDTH, &mut low)] {
                    let moved = state.inputs[here.clone()].iter().map(|x| x + side);
                    inputs[here.clone()].iter_mut().zip(moved).for_each(|(x, moved)| *x = moved);
                    paths.values(&group.set, &inputs, columns, |s| s / per % paths.count(), scratch, values);
                }
                inputs[here.clone()].copy_from_slice(&state.inputs[here]);
                for component in 0..group.set.components() {
                    let slopes = &mut out.mean_jacobian[(component * step.dim + k) * columns..][..columns];
                    let ends = high[component * columns..].iter().zip(&low[component * columns..]);
                    slopes.iter_mut().zip(ends).for_each(|(slope, (a, b))| *slope = (a - b) / (2.0 * WIDTH));
                }
            }
        }
    }

    /// Computes one step again, by drawn functions, from what the last rollout left of the steps before it. The steps after it are not
    /// looked at.
    pub(super) fn step_again(
        &self,
        plan: &Plan,
        index: usize,
        batch: Batch<'_>,
        functions: &FunctionDraws,
        workspace: &mut Workspace,
    ) {
        self.forward_step(plan, index, batch, Realised::Functions(functions), false, workspace);
    }

    /// The derivatives by the decision vectors of whatever has the derivatives by values that [`Workspace::slopes`] was given.
    pub(crate) fn backward(
        &self,
        plan: &Plan,
        batch: Batch<'_>,
        workspace: &mut Workspace,
        gradients: &mut [f64],
    ) {
        gradients.fill(0.0);
        for index in (0..plan.steps.len()).rev() {
            self.backward_step(plan, index, batch, workspace, gradients);
        }
    }

    /// The expected reward of a batch of decision vectors under functions that were drawn for the mechanisms, in the direction of
    /// improvement: decision vector `i` under draw `i` modulo their number. What the plan has behind the decided variables is
    /// not looked at.
    pub(crate) fn rollout_functions(
        &self,
        plan: &Plan,
        functions: &FunctionDraws,
        batch: Batch<'_>,
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
    ) {
        self.all_steps(plan, batch, Realised::Functions(functions), false, workspace);
        let Some(last) = plan.steps.len().checked_sub(1) else { return values.clear() };
        average(plan, &workspace.steps[last], batch.candidates(plan), values);
    }
}

/// The mean over the noise samples of every candidate's reward.
fn average(plan: &Plan, state: &StepState, candidates: usize, values: &mut Vec<f64>) {
    state.means(0, candidates, values);
    values.iter_mut().for_each(|value| *value *= plan.sign);
}

/// The prediction that holds a component of a node, and the component's place in it.
fn locate<'a>(model: &NodeModel, predictions: &'a [Prediction], component: usize) -> (&'a Prediction, usize) {
    match &model.mechanism {
        Mechanism::Formula(_) => (&predictions[0], component),
        Mechanism::Learned(groups) => {
            let group = groups.iter().rposition(|group| group.first <= component).unwrap_or(0);
            (&predictions[group], component - groups[group].first)
        }
    }
}
