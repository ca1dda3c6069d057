//! The differentiable rollout: a batch of decisions through the graph, forward and backward.

use mcbo_gp::{Prediction, Scratch};

use crate::optimism::Inputs;
use crate::quasi::sobol;

use super::functions::FunctionDraws;
use super::plan::{Plan, Source, Step};
use super::{Mechanism, Network, NodeModel};
use crate::Noise;

/// Below this posterior deviation, in standardised units, a node counts as known and its slope as flat.
const SMALLEST_DEVIATION: f64 = 1e-9;

/// Realisations of the noise of every noisy node, shared by all candidates (common random numbers).
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseSamples {
    /// `[noise row][sample]`, in the user's units.
    rows: Vec<Vec<f64>>,
    count: usize,
}

impl NoiseSamples {
    /// Quasi-random realisations; one empty sample where the plan has no noise that matters.
    pub fn new(plan: &Plan, count: usize, seed: u64) -> Self {
        if !plan.is_noisy() {
            return Self::silent(plan);
        }
        let rows = plan
            .noise_kinds
            .iter()
            .enumerate()
            .map(|(row, kind)| {
                let value = |sample: usize| kind.quantile(sobol(sample as u32, row as u32, seed));
                (0..count).map(value).collect()
            })
            .collect();
        Self { rows, count }
    }

    /// Quasi-random realisations in pairs that lie opposite one another, normal ones scaled to the deviation that they should have:
    /// over them whatever is linear in one noise, or a square of it, has its very expectation. An expectation whose bounds say what is
    /// not known of the mechanisms must not be off by what a few realisations happen to be.
    pub(crate) fn balanced(plan: &Plan, count: usize, seed: u64) -> Self {
        let mut samples = Self::new(plan, count, seed);
        for (row, (kind, values)) in plan.noise_kinds.iter().zip(&mut samples.rows).enumerate() {
            for (pair, values) in values.chunks_exact_mut(2).enumerate() {
                let u = sobol(pair as u32, row as u32, seed);
                (values[0], values[1]) = (kind.quantile(u), kind.quantile(1.0 - u));
            }
            let square = values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
            if matches!(kind, Noise::Gaussian(_)) && samples.count > 1 && square > 0.0 {
                let scale = kind.deviation() / square.sqrt();
                values.iter_mut().for_each(|value| *value *= scale);
            }
        }
        samples
    }

    /// One of them alone.
    pub(crate) fn only(&self, sample: usize) -> Self {
        Self { rows: self.rows.iter().map(|row| vec![row[sample]]).collect(), count: 1 }
    }

    /// The noise of a step's component in every sample, if it is realised for the step's children.
    pub(crate) fn of(&self, step: &Step, component: usize) -> Option<&[f64]> {
        (step.noisy && (self.count > 1 || step.varies))
            .then(|| self.rows[step.noise_row + component].as_slice())
    }

    /// One sample in which nothing is noisy.
    pub(crate) fn silent(plan: &Plan) -> Self {
        Self { rows: plan.noise_kinds.iter().map(|_| vec![0.0]).collect(), count: 1 }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.count
    }
}

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
    fn candidates(&self, plan: &Plan) -> usize {
        if plan.dim() == 0 { 1 } else { self.points.len() / plan.dim() }
    }
}

#[derive(Debug, Default)]
struct StepState {
    /// Columns of the inputs, and of the values.
    columns: usize,
    value_columns: usize,
    inputs: Vec<f64>,
    predictions: Vec<Prediction>,
    deviation: Vec<f64>,
    eta: Vec<f64>,
    value: Vec<f64>,
    by_value: Vec<f64>,
}

/// The columns of a step's inputs without neighbours that are the same. Candidates that differ in `η` alone, such as the
/// draws of an expectation, are the same to a node that reads only decided values.
#[derive(Debug, Default)]
struct Distinct {
    inputs: Vec<f64>,
    count: usize,
    /// For every column, its place among the distinct ones.
    place: Vec<usize>,
}

impl Distinct {
    /// Collects them; says whether there are so few that it pays to predict them alone.
    fn find(&mut self, inputs: &[f64], columns: usize) -> bool {
        let dim = inputs.len() / columns.max(1);
        let input = |k: usize, s: usize| inputs[k * columns + s];
        let repeats = |s: usize| s > 0 && (0..dim).all(|k| input(k, s) == input(k, s - 1));
        self.place.clear();
        self.count = 0;
        for s in 0..columns {
            self.count += usize::from(!repeats(s));
            if 2 * self.count > columns {
                return false;
            }
            self.place.push(self.count - 1);
        }
        let firsts = || (0..columns).filter(|&s| s == 0 || self.place[s] != self.place[s - 1]);
        self.inputs.clear();
        self.inputs.extend((0..dim).flat_map(|k| firsts().map(move |s| input(k, s))));
        true
    }
}

/// Memory that rollouts reuse; one per thread.
#[derive(Debug, Default)]
pub struct Workspace {
    steps: Vec<StepState>,
    scratch: Scratch,
    distinct: Distinct,
    few: Prediction,
    by_mechanism: Vec<f64>,
    by_eta: Vec<f64>,
    by_inputs: Vec<f64>,
    formula_inputs: Vec<f64>,
    formula_gradient: Vec<f64>,
}

impl Workspace {
    /// The value of a node's component at every column of the last rollout, with the number of columns per candidate.
    pub(crate) fn values(&self, step: usize, component: usize) -> &[f64] {
        let state = &self.steps[step];
        &state.value[component * state.value_columns..(component + 1) * state.value_columns]
    }

    /// Where the derivatives by those values belong before [`Network::backward`].
    pub(crate) fn slopes(&mut self, step: usize, component: usize) -> &mut [f64] {
        let state = &mut self.steps[step];
        &mut state.by_value[component * state.value_columns..(component + 1) * state.value_columns]
    }

    /// Sets all of them to zero.
    pub(crate) fn forget_slopes(&mut self, plan: &Plan) {
        for state in &mut self.steps[..plan.steps.len()] {
            refill(&mut state.by_value, state.value.len());
        }
    }
}

fn refill(buffer: &mut Vec<f64>, len: usize) {
    buffer.clear();
    buffer.resize(len, 0.0);
}

impl Network {
    /// Multiplications of one decision's rollout: a triangular product per process, column and sample.
    pub(crate) fn rollout_cost(&self, plan: &Plan, samples: usize) -> f64 {
        let step = |step: &Step| {
            let columns = if step.varies { samples } else { 1 } as f64;
            let Some(NodeModel { mechanism: Mechanism::Learned(groups), .. }) = &self.nodes[step.node] else {
                return columns;
            };
            let group = |group: &super::Group| {
                let rows = group.rows as f64;
                group.set.members().len() as f64 * (0.5 * rows * rows + 30.0 * rows)
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
        let state = &workspace.steps[last];
        let per = state.value_columns / candidates;
        average(plan, state, per, values);
        if !with_gradient {
            return;
        }
        workspace.forget_slopes(plan);
        workspace.steps[last].by_value.fill(plan.sign / per as f64);
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
        workspace.steps.resize_with(plan.steps.len().max(workspace.steps.len()), StepState::default);
        for index in 0..plan.steps.len() {
            self.forward_step(plan, index, batch, None, with_gradient, workspace);
        }
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
        workspace.steps.resize_with(plan.steps.len().max(workspace.steps.len()), StepState::default);
        for index in 0..plan.steps.len() {
            self.forward_step(plan, index, batch, Some(functions), false, workspace);
        }
        let Some(last) = plan.steps.len().checked_sub(1) else { return values.clear() };
        let state = &workspace.steps[last];
        average(plan, state, state.value_columns / batch.candidates(plan), values);
    }

    fn forward_step(
        &self,
        plan: &Plan,
        index: usize,
        batch: Batch<'_>,
        functions: Option<&FunctionDraws>,
        with_gradient: bool,
        workspace: &mut Workspace,
    ) {
        let (candidates, Batch { points, beta, noise }) = (batch.candidates(plan), batch);
        let step = &plan.steps[index];
        let Some(model) = &self.nodes[step.node] else { return };
        let Workspace { steps, scratch, distinct, few, formula_inputs, formula_gradient, .. } = workspace;
        let samples = noise.count;
        let columns = candidates * if step.varies { samples } else { 1 };
        let spread = step.noisy && samples > 1;
        let value_columns = candidates * if step.varies || spread { samples } else { 1 };
        let (before, rest) = steps.split_at_mut(index);
        let state = &mut rest[0];
        (state.columns, state.value_columns) = (columns, value_columns);

        gather_inputs(plan, step, model, points, candidates, before, state);
        match &model.mechanism {
            Mechanism::Known(formulas) => {
                state.predictions.resize_with(1, Prediction::default);
                let (inputs, gradient) = (formula_inputs, formula_gradient);
                refill(inputs, step.dim);
                refill(gradient, step.dim);
                let out = &mut state.predictions[0];
                refill(&mut out.mean, step.components * columns);
                refill(
                    &mut out.mean_jacobian,
                    if with_gradient { step.components * step.dim * columns } else { 0 },
                );
                for s in 0..columns {
                    for k in 0..step.dim {
                        inputs[k] = state.inputs[k * columns + s];
                    }
                    for (c, formula) in formulas.iter().enumerate() {
                        out.mean[c * columns + s] = if with_gradient {
                            let value = formula.eval_with_gradient(inputs, gradient);
                            for k in 0..step.dim {
                                out.mean_jacobian[(c * step.dim + k) * columns + s] = gradient[k];
                            }
                            value
                        } else {
                            formula.eval(inputs)
                        };
                    }
                }
            }
            Mechanism::Learned(groups) if let Some(functions) = functions => {
                state.predictions.resize_with(groups.len(), Prediction::default);
                let per = columns / candidates;
                let paths = functions.of(step.node);
                for ((group, paths), out) in groups.iter().zip(paths).zip(&mut state.predictions) {
                    let draw = |s: usize| s / per % paths.count();
                    paths.values(&group.set, &state.inputs, columns, draw, scratch, &mut out.mean);
                    out.variance.clear();
                }
            }
            Mechanism::Learned(groups) => {
                state.predictions.resize_with(groups.len(), Prediction::default);
                let worth_it = distinct.find(&state.inputs, columns);
                for (group, out) in groups.iter().zip(&mut state.predictions) {
                    if worth_it {
                        group.set.predict(&distinct.inputs, distinct.count, with_gradient, scratch, few);
                        few.spread(distinct.count, &distinct.place, out);
                    } else {
                        group.set.predict(&state.inputs, columns, with_gradient, scratch, out);
                    }
                }
            }
        }

        // f̃ = μ + β σ η, in the user's units; the noise is realised for the children.
        refill(&mut state.deviation, step.components * columns);
        refill(&mut state.eta, step.components * columns);
        refill(&mut state.value, step.components * value_columns);
        if let Mechanism::Learned(_) = model.mechanism {
            if step.eta.is_empty() {
                state.eta.fill(plan.sign);
            } else {
                let per = columns / candidates;
                let inputs = Inputs { values: &state.inputs, dim: step.dim, columns };
                for candidate in 0..candidates {
                    let parameters = &points[candidate * plan.dim()..][step.eta.clone()];
                    let own = candidate * per..(candidate + 1) * per;
                    plan.optimism.forward(parameters, inputs, own, step.components, &mut state.eta);
                }
            }
        }
        for component in 0..step.components {
            let (prediction, within) = locate(model, &state.predictions, component);
            let output = model.outputs[component];
            let repeat = value_columns / columns;
            for s in 0..columns {
                let mut value = prediction.mean[within * columns + s];
                if !prediction.variance.is_empty() {
                    let at = component * columns + s;
                    let deviation = prediction.variance[within * columns + s].sqrt();
                    state.deviation[at] = deviation;
                    value += beta * deviation * state.eta[at];
                }
                let value = output.shift + output.scale * value;
                state.value[component * value_columns..][s * repeat..(s + 1) * repeat].fill(value);
            }
            if step.noisy && (spread || step.varies) {
                let noise = &noise.rows[step.noise_row + component];
                let values = &mut state.value[component * value_columns..(component + 1) * value_columns];
                for chunk in values.chunks_exact_mut(samples) {
                    chunk.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
                }
            }
        }
    }

    fn backward_step(
        &self,
        plan: &Plan,
        index: usize,
        batch: Batch<'_>,
        workspace: &mut Workspace,
        gradients: &mut [f64],
    ) {
        let (candidates, Batch { points, beta, .. }) = (batch.candidates(plan), batch);
        let step = &plan.steps[index];
        let Some(model) = &self.nodes[step.node] else { return };
        let Workspace { steps, by_mechanism, by_eta, by_inputs, .. } = workspace;
        let (before, rest) = steps.split_at_mut(index);
        let state = &rest[0];
        let (columns, value_columns) = (state.columns, state.value_columns);
        let repeat = value_columns / columns;
        refill(by_mechanism, columns);
        refill(by_eta, step.components * columns);
        refill(by_inputs, step.dim * columns);
        for component in 0..step.components {
            let (prediction, within) = locate(model, &state.predictions, component);
            let by_value = &state.by_value[component * value_columns..(component + 1) * value_columns];
            let scale = model.outputs[component].scale;
            for s in 0..columns {
                by_mechanism[s] = scale * by_value[s * repeat..(s + 1) * repeat].iter().sum::<f64>();
            }
            let learned = !prediction.variance.is_empty();
            for k in 0..step.dim {
                let slope = &prediction.mean_jacobian[(within * step.dim + k) * columns..][..columns];
                let target = &mut by_inputs[k * columns..(k + 1) * columns];
                for s in 0..columns {
                    target[s] += by_mechanism[s] * slope[s];
                }
                if learned {
                    let slope = &prediction.variance_jacobian[(within * step.dim + k) * columns..][..columns];
                    for s in 0..columns {
                        let at = component * columns + s;
                        if state.deviation[at] > SMALLEST_DEVIATION {
                            let by_variance =
                                by_mechanism[s] * beta * state.eta[at] / (2.0 * state.deviation[at]);
                            target[s] += by_variance * slope[s];
                        }
                    }
                }
            }
            if learned {
                for s in 0..columns {
                    by_eta[component * columns + s] =
                        by_mechanism[s] * beta * state.deviation[component * columns + s];
                }
            }
        }
        if !step.eta.is_empty() {
            let per = columns / candidates;
            let inputs = Inputs { values: &state.inputs, dim: step.dim, columns };
            for candidate in 0..candidates {
                let own = candidate * per..(candidate + 1) * per;
                let parameters = &points[candidate * plan.dim()..][step.eta.clone()];
                let by_parameters = &mut gradients[candidate * plan.dim()..][step.eta.clone()];
                plan.optimism.backward(
                    parameters,
                    inputs,
                    own,
                    step.components,
                    &state.eta,
                    by_eta,
                    by_parameters,
                    by_inputs,
                );
            }
        }
        for (k, source) in step.sources.iter().enumerate() {
            let by_input = &by_inputs[k * columns..(k + 1) * columns];
            let scale = model.inputs[k].scale;
            match *source {
                Source::Constant(_) => {}
                Source::Variable(variable) => {
                    let width = plan.space.variables()[variable].width();
                    let per = columns / candidates;
                    for (candidate, chunk) in by_input.chunks_exact(per).enumerate() {
                        gradients[candidate * plan.dim() + variable] +=
                            chunk.iter().sum::<f64>() * width / scale;
                    }
                }
                Source::Computed(parent, component) => {
                    let parent = &mut before[parent];
                    let per = columns / parent.value_columns;
                    let target =
                        &mut parent.by_value[component * parent.value_columns..][..parent.value_columns];
                    for (target, chunk) in target.iter_mut().zip(by_input.chunks_exact(per)) {
                        *target += chunk.iter().sum::<f64>() / scale;
                    }
                }
            }
        }
    }
}

/// The mean over the noise samples of every candidate's reward.
fn average(plan: &Plan, state: &StepState, per: usize, values: &mut Vec<f64>) {
    let mean = |samples: &[f64]| plan.sign * samples.iter().sum::<f64>() / per as f64;
    values.clear();
    values.extend(state.value.chunks_exact(per).map(mean));
}

/// The prediction that holds a component of a node, and the component's place in it.
fn locate<'a>(model: &NodeModel, predictions: &'a [Prediction], component: usize) -> (&'a Prediction, usize) {
    match &model.mechanism {
        Mechanism::Known(_) => (&predictions[0], component),
        Mechanism::Learned(groups) => {
            let group = groups.iter().rposition(|group| group.first <= component).unwrap_or(0);
            (&predictions[group], component - groups[group].first)
        }
    }
}

fn gather_inputs(
    plan: &Plan,
    step: &Step,
    model: &NodeModel,
    points: &[f64],
    candidates: usize,
    before: &[StepState],
    state: &mut StepState,
) {
    let columns = state.columns;
    refill(&mut state.inputs, step.dim * columns);
    for (k, source) in step.sources.iter().enumerate() {
        let target = &mut state.inputs[k * columns..(k + 1) * columns];
        let scaling = model.inputs[k];
        match *source {
            Source::Constant(value) => target.fill(scaling.apply(value)),
            Source::Variable(variable) => {
                let decided = plan.space.variables()[variable];
                for (candidate, chunk) in target.chunks_exact_mut(columns / candidates).enumerate() {
                    let u = points[candidate * plan.dim() + variable];
                    chunk.fill(scaling.apply(decided.value(u)));
                }
            }
            Source::Computed(parent, component) => {
                let parent = &before[parent];
                let values = &parent.value[component * parent.value_columns..][..parent.value_columns];
                for (chunk, value) in target.chunks_exact_mut(columns / parent.value_columns).zip(values) {
                    chunk.fill(scaling.apply(*value));
                }
            }
        }
    }
}
