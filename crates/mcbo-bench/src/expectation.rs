//! `E[Y | intervention]`: exactly, by quadrature, or from a fixed set of noise samples.

use std::sync::OnceLock;

use mcbo_core::{Intervention, Noise, Problem, Simulator};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::quadrature::rule;

/// Points of the rule for a node that the registry says nothing about.
const POINTS: usize = 41;

/// How the expected reward of a task is computed.
///
/// All of them take a node to be its formula with random numbers at their means, plus the noise that the problem
/// declares for it. Noise of the reward itself has mean zero and drops out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Expectation {
    /// Noise does not change the mean of the reward: the value without any noise.
    Noiseless,
    /// Sums over the noise of every node that reaches the reward, with this number of points for these nodes.
    Quadrature(&'static [(&'static str, usize)]),
    /// The mean of this many samples, the same noise for all interventions.
    Samples(usize),
    /// The mean of this many experiments on the simulator, whatever in it is random, with the same random numbers for all
    /// interventions. The only one that does not rely on the noise that the problem declares.
    Simulated(usize),
}

impl Expectation {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Expectation::Noiseless | Expectation::Simulated(1) => "exact",
            Expectation::Quadrature(_) => "quadrature",
            Expectation::Samples(_) | Expectation::Simulated(_) => "samples",
        }
    }
}

/// The nodes of one intervention that have to be computed, in order.
struct Flow<'a> {
    problem: &'a Problem,
    simulator: &'a Simulator,
    intervention: &'a Intervention,
    nodes: Vec<usize>,
}

impl<'a> Flow<'a> {
    fn new(problem: &'a Problem, simulator: &'a Simulator, intervention: &'a Intervention) -> Self {
        let targets: Vec<usize> = intervention.targets.iter().map(|(node, _)| *node).collect();
        let relevant = problem.graph().ancestors_cut(problem.reward(), &targets);
        let order = problem.graph().order().iter().copied();
        let nodes = order.filter(|node| relevant[*node] && !targets.contains(node)).collect();
        Self { problem, simulator, intervention, nodes }
    }

    /// A vector of node values with the targets in place.
    fn start(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.problem.slots()];
        for (node, set) in &self.intervention.targets {
            values[self.problem.slot(*node)].copy_from_slice(set);
        }
        values
    }

    /// Computes a node without its noise. Of one whose name is picked it is the name that is most probable.
    fn apply(&self, node: usize, values: &mut [f64], inputs: &mut Vec<f64>) {
        self.problem.gather_inputs(node, values, &self.intervention.actions, inputs);
        if let Some(shares) = self.simulator.shares(node, inputs) {
            let most = (0..shares.len()).rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
            values[self.problem.slot(node).start] = most.unwrap_or(0) as f64;
            return;
        }
        for (at, formula) in self.problem.slot(node).zip(self.simulator.formulas(node)) {
            values[at] = formula.eval(inputs);
        }
    }

    fn reward(&self, values: &[f64]) -> f64 {
        self.problem.sign() * values[self.problem.slot(self.problem.reward()).start]
    }
}

/// The reward without any noise, in the direction of improvement.
pub(crate) fn noiseless(problem: &Problem, simulator: &Simulator, intervention: &Intervention) -> f64 {
    let flow = Flow::new(problem, simulator, intervention);
    let (mut values, mut inputs) = (flow.start(), Vec::new());
    for &node in &flow.nodes {
        flow.apply(node, &mut values, &mut inputs);
    }
    flow.reward(&values)
}

/// The expected reward by a tensor rule over the noise of all nodes that reach it. Noisy nodes are scalar.
pub(crate) fn quadrature(
    problem: &Problem,
    simulator: &Simulator,
    intervention: &Intervention,
    points: &[(&str, usize)],
) -> f64 {
    let flow = Flow::new(problem, simulator, intervention);
    let rules: Vec<Vec<(f64, f64)>> = flow
        .nodes
        .iter()
        .map(|&node| {
            let known = points.iter().find(|(name, _)| *name == problem.nodes()[node].name);
            let noise = if node == problem.reward() { Noise::None } else { problem.nodes()[node].noise };
            rule(noise, known.map_or(POINTS, |(_, points)| *points))
        })
        .collect();
    sum(&flow, &rules, &mut flow.start(), &mut Vec::new(), 0)
}

fn sum(
    flow: &Flow<'_>,
    rules: &[Vec<(f64, f64)>],
    values: &mut Vec<f64>,
    inputs: &mut Vec<f64>,
    k: usize,
) -> f64 {
    let Some(&node) = flow.nodes.get(k) else { return flow.reward(values) };
    flow.apply(node, values, inputs);
    let at = flow.problem.slot(node).start;
    if let Some(shares) = flow.simulator.shares(node, inputs) {
        let mut named = |(name, share): (usize, f64)| {
            values[at] = name as f64;
            share * sum(flow, rules, values, inputs, k + 1)
        };
        return shares.into_iter().enumerate().map(&mut named).sum();
    }
    let mean = values[at];
    let mut total = 0.0;
    for (shift, weight) in &rules[k] {
        values[at] = mean + shift;
        total += weight * sum(flow, rules, values, inputs, k + 1);
    }
    total
}

/// Noise of all nodes, drawn once and used for every intervention.
#[derive(Debug, Default)]
pub(crate) struct NoiseTable {
    rows: OnceLock<Vec<Vec<f64>>>,
}

impl NoiseTable {
    /// The mean reward over the first `count` of `size` draws of the noise.
    pub(crate) fn expectation(
        &self,
        problem: &Problem,
        simulator: &Simulator,
        intervention: &Intervention,
        size: usize,
        count: usize,
    ) -> f64 {
        let rows = self.rows.get_or_init(|| draw(problem, size));
        let flow = Flow::new(problem, simulator, intervention);
        let noisy = |node: &usize| *node != problem.reward() && problem.nodes()[*node].noise != Noise::None;
        let count = if flow.nodes.iter().any(noisy) { count.min(rows.len()) } else { 1 };
        let (mut values, mut inputs) = (flow.start(), Vec::new());
        let mut total = 0.0;
        for row in &rows[..count] {
            for &node in &flow.nodes {
                flow.apply(node, &mut values, &mut inputs);
                if node != problem.reward() {
                    for at in problem.slot(node) {
                        values[at] += row[at];
                    }
                }
            }
            total += flow.reward(&values);
        }
        total / count as f64
    }
}

/// Rows come in pairs of opposite signs where the noise is symmetric.
fn draw(problem: &Problem, size: usize) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
    for k in 0..size.max(1) {
        let mut row = vec![0.0; problem.slots()];
        for (index, node) in problem.nodes().iter().enumerate() {
            for at in problem.slot(index) {
                row[at] = match (node.noise, rows.last()) {
                    (Noise::Gaussian(_), Some(last)) if k % 2 == 1 => -last[at],
                    (Noise::Uniform([lo, hi]), Some(last)) if k % 2 == 1 => lo + hi - last[at],
                    (noise, _) => noise.draw(&mut rng),
                };
            }
        }
        rows.push(row);
    }
    rows
}
