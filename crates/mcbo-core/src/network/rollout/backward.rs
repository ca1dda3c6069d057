//! One node backward: from the derivatives by its values to those by its inputs.

use super::named::share_out;
use super::workspace::{Workspace, refill};
use super::{Batch, locate};
use crate::network::Network;
use crate::network::plan::{Plan, Source};
use crate::optimism::Inputs;

/// Below this posterior deviation, in standardised units, a node counts as known and its slope as flat.
const SMALLEST_DEVIATION: f64 = 1e-9;

impl Network {
    /// Adds the derivatives of a step to those of the steps before it and of the decision vectors.
    pub(super) fn backward_step(
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
        share_out(plan, index, steps);
        let (before, rest) = steps.split_at_mut(index);
        let state = &rest[0];
        let (columns, value_columns) = (state.columns, state.value_columns);
        let repeat = value_columns / columns;
        refill(by_mechanism, columns);
        refill(by_eta, step.outputs * columns);
        refill(by_inputs, step.dim * columns);
        for component in 0..step.outputs {
            let (prediction, within) = locate(model, &state.predictions, component);
            if let Some(names) = step.names {
                by_mechanism.fill(0.0);
                state.by_stick(step, names, model, component, by_mechanism);
            } else {
                let by_value = &state.by_value[component * value_columns..(component + 1) * value_columns];
                let scale = model.outputs[component].scale;
                for s in 0..columns {
                    by_mechanism[s] = scale * by_value[s * repeat..(s + 1) * repeat].iter().sum::<f64>();
                }
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
                    step.outputs,
                    &state.eta,
                    by_eta,
                    by_parameters,
                    by_inputs,
                );
            }
        }
        for (k, source) in step.sources.iter().enumerate() {
            let by_input = &by_inputs[k * columns..(k + 1) * columns];
            let scaling = model.inputs[k];
            match *source {
                Source::Constant(_) => {}
                Source::Variable(variable) => {
                    let decided = &plan.space.variables()[variable];
                    let per = columns / candidates;
                    for (candidate, chunk) in by_input.chunks_exact(per).enumerate() {
                        let at = candidate * plan.dim() + variable;
                        let (u, curve) = (points[at], scaling.curve);
                        let slope = decided.slope(u) * curve.slope(decided.value(u));
                        gradients[at] += chunk.iter().sum::<f64>() * slope / scaling.affine.scale;
                    }
                }
                Source::Computed(parent, component) => {
                    let parent = &mut before[parent];
                    let per = columns / parent.value_columns;
                    let target =
                        &mut parent.by_value[component * parent.value_columns..][..parent.value_columns];
                    for (target, chunk) in target.iter_mut().zip(by_input.chunks_exact(per)) {
                        *target += chunk.iter().sum::<f64>() / scaling.affine.scale;
                    }
                }
            }
        }
    }
}
