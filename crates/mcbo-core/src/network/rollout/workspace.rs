//! Memory that rollouts reuse.

use mcbo_gp::{Prediction, Scratch};

use crate::network::plan::Plan;

#[derive(Debug, Default)]
pub(super) struct StepState {
    /// Columns of the inputs, and of the values.
    pub(super) columns: usize,
    pub(super) value_columns: usize,
    pub(super) inputs: Vec<f64>,
    pub(super) predictions: Vec<Prediction>,
    pub(super) deviation: Vec<f64>,
    pub(super) eta: Vec<f64>,
    pub(super) value: Vec<f64>,
    pub(super) by_value: Vec<f64>,
    /// Where a name has causes: the probabilities that decide it, `[column][output]`, and the weight of every sample's name with the
    /// derivative by it.
    pub(super) sticks: Vec<f64>,
    pub(super) own: Vec<f64>,
    pub(super) by_own: Vec<f64>,
    /// The weight of every sample by all names above, with the derivative by it; empty where there are none.
    pub(super) weight: Vec<f64>,
    pub(super) by_weight: Vec<f64>,
}

/// The columns of a step's inputs without neighbours that are the same. Candidates that differ in `η` alone, such as the
/// draws of an expectation, are the same to a node that reads only decided values.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    pub(super) inputs: Vec<f64>,
    pub(super) count: usize,
    /// For every column, its place among the distinct ones.
    pub(super) place: Vec<usize>,
}

impl Distinct {
    /// Collects them; says whether there are so few that it pays to predict them alone.
    pub(super) fn find(&mut self, inputs: &[f64], columns: usize) -> bool {
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
    pub(super) steps: Vec<StepState>,
    pub(super) scratch: Scratch,
    pub(super) distinct: Distinct,
    pub(super) few: Prediction,
    pub(super) members: Vec<usize>,
    pub(super) by_mechanism: Vec<f64>,
    pub(super) by_eta: Vec<f64>,
    pub(super) by_inputs: Vec<f64>,
    pub(super) formula_inputs: Vec<f64>,
    pub(super) formula_gradient: Vec<f64>,
}

impl Workspace {
    /// The value of a node's component at every column of the last rollout, with the number of columns per candidate.
    pub(crate) fn values(&self, step: usize, component: usize) -> &[f64] {
        let state = &self.steps[step];
        &state.value[component * state.value_columns..(component + 1) * state.value_columns]
    }

    /// The weights of the samples behind those values; none where all count the same.
    pub(crate) fn weights(&self, step: usize) -> &[f64] {
        &self.steps[step].weight
    }

    /// Their mean for every candidate.
    pub(crate) fn means(&self, step: usize, component: usize, candidates: usize) -> Vec<f64> {
        let mut means = Vec::new();
        self.steps[step].means(component, candidates, &mut means);
        means
    }

    /// The mean probability of every name of a step whose name has causes, `[candidate][name]`.
    pub(crate) fn shares(&self, plan: &Plan, step: usize, candidates: usize) -> Vec<Vec<f64>> {
        self.steps[step].shares(plan.steps[step].outputs, candidates)
    }

    /// Where the derivatives by the weights belong before [`Network::backward`].
    pub(crate) fn weight_slopes(&mut self, step: usize) -> &mut [f64] {
        let state = &mut self.steps[step];
        state.by_weight.resize(state.weight.len(), 0.0);
        &mut state.by_weight
    }

    /// What the derivatives of a step are by, and the derivatives: its values, or where its name has causes the weights of its names.
    pub(crate) fn moving(&self, step: usize, component: usize) -> (&[f64], &[f64]) {
        let state = &self.steps[step];
        if !state.own.is_empty() {
            return (&state.own, &state.by_own);
        }
        let own = component * state.value_columns..(component + 1) * state.value_columns;
        (&state.value[own.clone()], &state.by_value[own])
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
            refill(&mut state.by_own, state.own.len());
            state.by_weight.clear();
        }
    }
}

pub(super) fn refill(buffer: &mut Vec<f64>, len: usize) {
    buffer.clear();
    buffer.resize(len, 0.0);
}
