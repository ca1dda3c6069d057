//! A mechanism along one of its inputs, the others held.

use mcbo_core::{Intervention, Network, Problem, Study};

use crate::along::Along;
use crate::draw::span;
use crate::statistics::median;

/// Points of a curve.
const POINTS: usize = 81;

/// The rows of one component of a node.
pub(super) type Rows = Vec<(Vec<f64>, f64)>;

/// All that the panels of a node show.
pub(super) struct Slices {
    /// The value at which each input is held while another moves: the median, of names the commonest.
    pub(super) held: Vec<f64>,
    /// The part of each input's axis that is shown.
    pub(super) ranges: Vec<[f64; 2]>,
    /// The rows of every component.
    pub(super) rows: Vec<Rows>,
    /// How the values of each input lie on its axis.
    pub(super) axes: Vec<Along>,
}

impl Slices {
    pub(super) fn new(study: &Study, node: usize) -> Self {
        let (problem, data) = (study.problem(), study.data());
        let rows: Vec<Rows> = (0..problem.nodes()[node].outputs())
            .map(|component| data.training_rows(problem, node, component).collect())
            .collect();
        let rows = if problem.nodes()[node].is_choice() { by_name(rows) } else { rows };
        let seen = |k: usize| rows.iter().flatten().map(move |(inputs, _)| inputs[k]);
        let declared = declared(problem, node);
        let mcbo_core::Node { parents, actions, .. } = &problem.nodes()[node];
        let parents = parents.iter().map(|&parent| &problem.nodes()[parent]);
        let parents = parents.flat_map(|parent| std::iter::repeat_n(Along::of_node(parent), parent.dim));
        let actions = actions.iter().map(|&action| Along::of_action(&problem.actions()[action]));
        let axes: Vec<Along> = parents.chain(actions).collect();
        let range = |k: usize| {
            let place = |value: f64| axes[k].place(value);
            match declared[k] {
                // Every name has a place of its own width.
                Some([low, high]) if axes[k].is_named() => [low - 0.5, high + 0.5],
                Some(ends) => span(seen(k).chain(ends).map(place), 0.03),
                None => span(seen(k).map(place), 0.04),
            }
        };
        let ranges: Vec<[f64; 2]> = (0..declared.len()).map(range).collect();
        let held = |k: usize| {
            if axes[k].is_named() {
                return commonest(seen(k), axes[k].names().len()) as f64;
            }
            let middle = median(seen(k));
            if middle.is_finite() { middle } else { axes[k].value(0.5 * (ranges[k][0] + ranges[k][1])) }
        };
        Self { held: (0..declared.len()).map(held).collect(), ranges, rows, axes }
    }

    /// Holds inputs where an intervention is expected to put them; those that cannot be said stay at their medians.
    pub(super) fn hold(&mut self, problem: &Problem, network: &Network, node: usize, about: &Intervention) {
        let values = network.mean_values(problem, about);
        let mut inputs = Vec::new();
        problem.gather_inputs(node, &values, &about.actions, &mut inputs);
        for (k, value) in inputs.into_iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let (place, range) = (self.axes[k].place(value), &mut self.ranges[k]);
            self.held[k] = value;
            *range = [range[0].min(place), range[1].max(place)];
        }
    }

    /// The mechanism along an input: for every component the places with mean and deviation.
    pub(super) fn along(
        &self,
        problem: &Problem,
        network: &Network,
        node: usize,
        input: usize,
    ) -> Vec<Vec<[f64; 3]>> {
        let [low, high] = self.ranges[input];
        let place = |s: usize| low + (high - low) * s as f64 / (POINTS - 1) as f64;
        let mut inputs = Vec::with_capacity(POINTS * self.held.len());
        for s in 0..POINTS {
            let start = inputs.len();
            inputs.extend_from_slice(&self.held);
            inputs[start + input] = self.axes[input].value(place(s));
        }
        let found = match problem.nodes()[node].is_choice() {
            true => network.predict_names(problem, node, &inputs, POINTS),
            false => network.predict(problem, node, &inputs, POINTS),
        };
        let point = |(s, &(mean, deviation)): (usize, &(f64, f64))| [place(s), mean, deviation];
        let finite = |point: &[f64; 3]| point.iter().all(|number| number.is_finite());
        found.iter().map(|all| all.iter().enumerate().map(point).filter(finite).collect()).collect()
    }

    /// How near a row is to the slice along an input, from 1 on it down to 0, by the other inputs as shares of their
    /// ranges.
    pub(super) fn nearness(&self, inputs: &[f64], along: usize) -> f64 {
        let others = self.held.len().saturating_sub(1);
        if others == 0 {
            return 1.0;
        }
        let share = |k: usize| match self.axes[k].is_named() {
            // Another name is as far as half a range.
            true => f64::from(u8::from(inputs[k] != self.held[k])) * 0.5,
            false => {
                let apart = self.axes[k].place(inputs[k]) - self.axes[k].place(self.held[k]);
                apart / (self.ranges[k][1] - self.ranges[k][0])
            }
        };
        let squared: f64 = (0..self.held.len()).filter(|&k| k != along).map(|k| share(k).powi(2)).sum();
        (-8.0 * squared / others as f64).exp()
    }
}

/// From rows that say of every name but the last whether it came where none before it did, to those of every name: 1 where it came,
/// else 0.
fn by_name(sticks: Vec<Rows>) -> Vec<Rows> {
    let came =
        |of: &Rows, is: f64| of.iter().filter(|(_, value)| *value == is).map(|(x, _)| x.clone()).collect();
    let last = sticks.last().map(|of| came(of, 0.0));
    let by_name: Vec<Vec<Vec<f64>>> = sticks.iter().map(|of| came(of, 1.0)).chain(last).collect();
    let rows = |name: usize| {
        let of = |(k, inputs): (usize, &Vec<Vec<f64>>)| {
            inputs.iter().map(move |x| (x.clone(), f64::from(u8::from(k == name)))).collect::<Rows>()
        };
        by_name.iter().enumerate().flat_map(of).collect()
    };
    (0..by_name.len()).map(rows).collect()
}

/// The place of a name that was seen most often, the first of equals.
fn commonest(seen: impl Iterator<Item = f64>, names: usize) -> usize {
    let mut counts = vec![0_usize; names];
    seen.for_each(|value| counts[(value as usize).min(names - 1)] += 1);
    (0..names).rev().max_by_key(|&name| counts[name]).unwrap_or(0)
}

/// The range that the problem gives to each input of a node, if it does.
fn declared(problem: &Problem, node: usize) -> Vec<Option<[f64; 2]>> {
    let mut ranges = Vec::with_capacity(problem.input_dim(node));
    for &parent in &problem.nodes()[node].parents {
        let parent = &problem.nodes()[parent];
        if parent.is_choice() {
            ranges.push(Some([0.0, (parent.choices.len() - 1) as f64]));
            continue;
        }
        let hard = |component: usize| parent.hard.as_ref().map(|hard| hard[component]);
        ranges.extend((0..parent.dim).map(|component| parent.range.or_else(|| hard(component))));
    }
    ranges.extend(problem.nodes()[node].actions.iter().map(|&action| Some(problem.actions()[action].range)));
    ranges
}
