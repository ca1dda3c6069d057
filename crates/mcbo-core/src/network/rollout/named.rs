//! Names that have causes, in a rollout.
//!
//! A name that is drawn by its probabilities jumps where they pass a point, and what depends on it has no slope. So in a rollout every
//! sample has its name whatever the decisions are, and counts by how probable that name is there: `E[y] = Σ w y / Σ w`, where `w` is
//! the product of the probabilities of all names above `y`. That is the sum over all names, and its derivatives are exact.

use super::workspace::{StepState, refill};
use super::{Batch, locate};
use crate::network::plan::{Plan, Step};
use crate::network::{NodeModel, Sticks};
use crate::noise::sticks;

/// How the names of a rollout come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// Every sample has its names and a weight.
    Weighed,
    /// By their probabilities, one sample as good as another: for bounds that are sought sample by sample.
    Drawn,
}

impl StepState {
    /// The probabilities that decide a name, from what the mechanism gives, then the name of every sample and its weight.
    pub(super) fn name(&mut self, step: &Step, names: usize, model: &NodeModel, batch: Batch<'_>) {
        let (columns, noise) = (self.columns, batch.noise);
        refill(&mut self.sticks, step.outputs * columns);
        for output in 0..step.outputs {
            let (prediction, within) = locate(model, &self.predictions, output);
            let scaling = model.outputs[output];
            for s in 0..columns {
                let at = output * columns + s;
                let value =
                    prediction.mean[within * columns + s] + batch.beta * self.deviation[at] * self.eta[at];
                self.sticks[s * step.outputs + output] = model.within(scaling.shift + scaling.scale * value);
            }
        }
        let repeat = self.value_columns / columns;
        self.own.clear();
        for column in 0..self.value_columns {
            let s = column / repeat;
            let sticks = &self.sticks[s * step.outputs..(s + 1) * step.outputs];
            let u = noise.rows[step.noise_row][column % noise.count];
            match noise.naming {
                Naming::Drawn => self.value[column] = sticks::place(sticks, u),
                Naming::Weighed => {
                    let name = ((u * names as f64) as usize).min(names - 1);
                    self.value[column] = name as f64;
                    self.own.push(names as f64 * sticks::share(sticks, name));
                }
            }
        }
    }

    /// The derivative by an output of whatever has the derivatives by the weights of this step's names.
    pub(super) fn by_stick(
        &self,
        step: &Step,
        names: usize,
        model: &NodeModel,
        output: usize,
        by: &mut [f64],
    ) {
        let repeat = self.value_columns / self.columns;
        for (column, by_own) in self.by_own.iter().enumerate() {
            let s = column / repeat;
            let sticks = &self.sticks[s * step.outputs..(s + 1) * step.outputs];
            let q = sticks[output];
            let link = match model.sticks {
                Some(Sticks::Learned) => q * (1.0 - q),
                // At the ends it is cut off.
                _ => f64::from(u8::from(q > 0.0 && q < 1.0)),
            };
            let slope = link * sticks::slope(sticks, self.value[column] as usize, output);
            by[s] += by_own * names as f64 * slope * model.outputs[output].scale;
        }
    }

    /// The mean probability of every name over the samples of every candidate, `[candidate][name]`.
    pub(super) fn shares(&self, outputs: usize, candidates: usize) -> Vec<Vec<f64>> {
        let (per, repeat) = (self.value_columns / candidates, self.value_columns / self.columns);
        let of = |candidate: usize| {
            let (mut shares, mut total) = (vec![0.0; outputs + 1], 0.0);
            for column in candidate * per..(candidate + 1) * per {
                let sticks = &self.sticks[column / repeat * outputs..][..outputs];
                let weight = self.weight.get(column).copied().unwrap_or(1.0);
                let each = shares.iter_mut().zip(sticks::shares(sticks));
                each.for_each(|(sum, share)| *sum += weight * share);
                total += weight;
            }
            shares.iter_mut().for_each(|sum| *sum /= total);
            shares
        };
        (0..candidates).map(of).collect()
    }

    /// The mean of a component over the samples of every candidate, each with its weight.
    pub(super) fn means(&self, component: usize, candidates: usize, means: &mut Vec<f64>) {
        let per = self.value_columns / candidates;
        let values = self.value[component * self.value_columns..][..self.value_columns].chunks_exact(per);
        means.clear();
        if self.weight.is_empty() {
            return means.extend(values.map(|values| values.iter().sum::<f64>() / per as f64));
        }
        let weighed = |(values, weights): (&[f64], &[f64])| {
            let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            sum / weights.iter().sum::<f64>()
        };
        means.extend(values.zip(self.weight.chunks_exact(per)).map(weighed));
    }

    /// Where only the means over the samples of every candidate count, the derivatives by values and weights of `sign` times these.
    pub(super) fn follow_means(&mut self, candidates: usize, sign: f64) {
        let per = self.value_columns / candidates;
        if self.weight.is_empty() {
            return self.by_value.fill(sign / per as f64);
        }
        let mut means = Vec::new();
        self.means(0, candidates, &mut means);
        self.by_weight.resize(self.weight.len(), 0.0);
        for (candidate, mean) in means.into_iter().enumerate() {
            let own = candidate * per..(candidate + 1) * per;
            let total: f64 = self.weight[own.clone()].iter().sum();
            for column in own {
                self.by_value[column] = sign * self.weight[column] / total;
                self.by_weight[column] = sign * (self.value[column] - mean) / total;
            }
        }
    }
}

/// The weight of every sample of a step: the product of those of all names above it.
pub(super) fn weigh(plan: &Plan, index: usize, steps: &mut [StepState]) {
    let (before, rest) = steps.split_at_mut(index);
    let state = &mut rest[0];
    state.weight.clear();
    for &named in &plan.steps[index].named {
        let own = if named == index { &state.own } else { &before[named].own };
        match state.weight.is_empty() {
            true => state.weight.extend(own),
            false => state.weight.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own),
        }
    }
}

/// Hands the derivatives by the weights of a step to the names that they are of.
pub(super) fn share_out(plan: &Plan, index: usize, steps: &mut [StepState]) {
    let by_weight = std::mem::take(&mut steps[index].by_weight);
    let named = &plan.steps[index].named;
    for &name in named.iter().filter(|_| !by_weight.is_empty()) {
        for (column, by) in by_weight.iter().enumerate() {
            let others = named.iter().filter(|&&other| other != name);
            let others: f64 = others.map(|&other| steps[other].own[column]).product();
            steps[name].by_own[column] += by * others;
        }
    }
    steps[index].by_weight = by_weight;
}

#[cfg(test)]
mod tests;
