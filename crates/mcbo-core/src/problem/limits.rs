//! What outcomes are to keep below or above, and what matters because of it.

use super::Problem;
use crate::graph::Graph;

/// What a node is to keep: a single outcome, with its noise, lies below a level, above one, or between two, with at least this
/// probability. All components of a vector node together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Limit {
    /// What it is to be below, if anything.
    pub below: Option<f64>,
    /// What it is to be above, if anything.
    pub above: Option<f64>,
    /// How probable it is to be kept.
    pub probability: f64,
}

impl Limit {
    /// The probability where none is given.
    pub const PROBABILITY: f64 = 0.9;

    /// A limit from above.
    pub fn below(level: f64, probability: f64) -> Self {
        Self { below: Some(level), above: None, probability }
    }

    /// A limit from below.
    pub fn above(level: f64, probability: f64) -> Self {
        Self { below: None, above: Some(level), probability }
    }

    /// Limits from both sides: a window that an outcome is to lie in.
    pub fn between([low, high]: [f64; 2], probability: f64) -> Self {
        Self { below: Some(high), above: Some(low), probability }
    }

    /// Its levels by their keys in problem files.
    pub fn levels(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let named = |name: &'static str| move |level: f64| (name, level);
        self.above.map(named("above")).into_iter().chain(self.below.map(named("below")))
    }

    /// Whether a value keeps it; what is no number does not.
    pub fn is_kept(&self, value: f64) -> bool {
        !value.is_nan()
            && self.below.is_none_or(|level| value <= level)
            && self.above.is_none_or(|level| value >= level)
    }

    /// How far a value lies beyond it; 0 if it keeps it.
    pub fn beyond(&self, value: f64) -> f64 {
        let above = self.below.map_or(0.0, |level| value - level);
        let below = self.above.map_or(0.0, |level| level - value);
        if value.is_nan() { value } else { above.max(below).max(0.0) }
    }

    /// How probable it is that it is kept about a value, by the distribution function of what is added to that.
    pub fn kept_about(&self, value: f64, cumulative: impl Fn(f64) -> f64) -> f64 {
        let share = |level: f64| cumulative(level - value);
        self.below.map_or(1.0, share) - self.above.map_or(0.0, share)
    }

    /// `below 4`, `above 2`, `between 6.8 and 7.2`, with levels and a unit behind them as `show` and `unit` have them.
    pub fn in_words(&self, show: impl Fn(f64) -> String, unit: Option<&str>) -> String {
        let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
        match (self.above, self.below) {
            (Some(low), Some(high)) => format!("between {} and {}{unit}", show(low), show(high)),
            _ => {
                let one = self.levels().map(|(side, level)| format!("{side} {}{unit}", show(level)));
                one.collect::<String>()
            }
        }
    }
}

/// The causal graph with one more node, the last, that reads the reward and every node that has a limit: what reaches it matters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Guarded(Graph);

impl Guarded {
    /// `None` where nothing has a limit but the reward at most: then what reaches the reward is what matters.
    pub(super) fn of(problem: &Problem) -> Option<Self> {
        let limited: Vec<usize> = problem.limited().filter(|&node| node != problem.reward).collect();
        if limited.is_empty() {
            return None;
        }
        let mut names = problem.graph.names().to_vec();
        // No node can be called so.
        names.push("limits".to_owned() + " and reward");
        let mut parents: Vec<Vec<usize>> =
            (0..problem.nodes.len()).map(|node| problem.graph.parents(node).to_vec()).collect();
        parents.push([problem.reward].into_iter().chain(limited).collect());
        Graph::new(names, parents).ok().map(Self)
    }
}

impl Problem {
    /// The nodes that have a limit, in increasing order.
    pub fn limited(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&node| self.nodes[node].limit.is_some())
    }

    /// Whether any node has a limit.
    pub fn has_limits(&self) -> bool {
        self.limited().next().is_some()
    }

    /// The graph in which what reaches the last of the pair matters: the causal graph and the reward, or one with a sink for the
    /// reward and all limits.
    pub(crate) fn purpose(&self) -> (&Graph, usize) {
        match &self.guarded {
            Some(Guarded(graph)) => (graph, self.nodes.len()),
            None => (&self.graph, self.reward),
        }
    }

    /// For every node, whether the reward or a limit depends on it when these targets are set.
    pub fn matters(&self, targets: &[usize]) -> Vec<bool> {
        let (graph, sink) = self.purpose();
        let mut found = graph.ancestors_cut(sink, targets);
        found.truncate(self.nodes.len());
        found
    }
}
