//! One node forward: its inputs from those before it, its mechanism, its optimism, its noise.

use mcbo_gp::Prediction;

use super::named::weigh;
use super::workspace::{StepState, Workspace, refill};
use super::{Batch, Realised, locate};
use crate::network::plan::{Plan, Source, Step};
use crate::network::{Mechanism, Network, NodeModel, Scaling};
use crate::optimism::Inputs;

impl Network {
    /// Computes the values of a step from those before it, with mechanisms that were drawn, if they were.
    pub(super) fn forward_step(
        &self,
        plan: &Plan,
        index: usize,
        batch: Batch<'_>,
        realised: Realised<'_>,
        with_gradient: bool,
        workspace: &mut Workspace,
    ) {
        let (candidates, Batch { points, beta, noise }) = (batch.candidates(plan), batch);
        let step = &plan.steps[index];
        let Some(model) = &self.nodes[step.node] else { return };
        let Workspace { steps, scratch, distinct, few, members, formula_inputs, formula_gradient, .. } =
            workspace;
        let samples = noise.count;
        let columns = candidates * if step.varies { samples } else { 1 };
        let spread = step.noisy && samples > 1;
        let value_columns = candidates * if step.varies || spread { samples } else { 1 };
        let (before, rest) = steps.split_at_mut(index);
        let state = &mut rest[0];
        (state.columns, state.value_columns) = (columns, value_columns);

        gather_inputs(plan, step, model, points, candidates, before, state);
        match &model.mechanism {
            Mechanism::Formula(formulas) => {
                state.predictions.resize_with(1, Prediction::default);
                let (inputs, gradient) = (formula_inputs, formula_gradient);
                refill(inputs, step.dim);
                refill(gradient, step.dim);
                let out = &mut state.predictions[0];
                // The step at this place of another plan may have been a learned one.
                out.variance.clear();
                refill(&mut out.mean, step.outputs * columns);
                refill(
                    &mut out.mean_jacobian,
                    if with_gradient { step.outputs * step.dim * columns } else { 0 },
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
            Mechanism::Learned(groups) if let Realised::Functions(functions) = realised => {
                state.predictions.resize_with(groups.len(), Prediction::default);
                let per = columns / candidates;
                let paths = functions.of(step.node);
                for ((group, paths), out) in groups.iter().zip(paths).zip(&mut state.predictions) {
                    let draw = |s: usize| s / per % paths.count();
                    paths.values(&group.set, &state.inputs, columns, draw, scratch, &mut out.mean);
                    out.variance.clear();
                }
            }
            Mechanism::Learned(groups) if let Realised::Systems(systems) = realised => {
                state.predictions.resize_with(groups.len(), Prediction::default);
                let per = columns / candidates;
                for (set, (group, out)) in groups.iter().zip(&mut state.predictions).enumerate() {
                    let member = |s: usize| systems.member(step.node, set, s / per % systems.count());
                    members.clear();
                    members.extend((0..columns).map(member));
                    group.set.predict_by(members, &state.inputs, with_gradient, scratch, out);
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
        refill(&mut state.deviation, step.outputs * columns);
        refill(&mut state.eta, step.outputs * columns);
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
                    plan.optimism.forward(parameters, inputs, own, step.outputs, &mut state.eta);
                }
            }
        }
        if let Some(names) = step.names {
            for output in 0..step.outputs {
                let (prediction, within) = locate(model, &state.predictions, output);
                if !prediction.variance.is_empty() {
                    let variance = &prediction.variance[within * columns..(within + 1) * columns];
                    let deviation = &mut state.deviation[output * columns..(output + 1) * columns];
                    deviation.iter_mut().zip(variance).for_each(|(d, v)| *d = v.sqrt());
                }
            }
            state.name(step, names, model, batch);
            return weigh(plan, index, steps);
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
                for (candidate, chunk) in values.chunks_exact_mut(samples).enumerate() {
                    let multiple = match realised {
                        Realised::Systems(systems) => {
                            systems.noise(step.node, component, candidate % systems.count())
                        }
                        _ => 1.0,
                    };
                    chunk.iter_mut().zip(noise).for_each(|(value, noise)| *value += multiple * noise);
                }
            }
        }
        state.own.clear();
        weigh(plan, index, steps);
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
                let decided = &plan.space.variables()[variable];
                for (candidate, chunk) in target.chunks_exact_mut(columns / candidates).enumerate() {
                    let u = points[candidate * plan.dim() + variable];
                    chunk.fill(scaling.apply(decided.value(u)));
                }
            }
            Source::Computed(parent, component) => {
                let parent = &before[parent];
                let values = &parent.value[component * parent.value_columns..][..parent.value_columns];
                // Only what is decided may be on a scale of its own.
                let Scaling { affine, .. } = scaling;
                for (chunk, value) in target.chunks_exact_mut(columns / parent.value_columns).zip(values) {
                    chunk.fill(affine.apply(*value));
                }
            }
        }
    }
}
