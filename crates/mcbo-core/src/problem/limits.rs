//! What outcomes are to keep below or above, and what matters because of it.

use super::Problem;
use crate::graph::Graph;

/// On which side of a limit an outcome is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Smaller than the limit.
    Below,
    /// Larger than the limit.
    Above,
}

impl Side {
    /// The key in problem files: `below` or `above`.
    pub fn name(self) -> &'static str {
        match self {
            Side::Below => "below",
            Side::Above => "above",
        }
    }
}

/// What a node is to keep: a single outcome, with its noise, lies on one side of a level with at least this probability. All
/// components of a vector node together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Limit {
    /// The side.
    pub side: Side,
    /// The level.
    pub level: f64,
    /// How probable it is to be kept.
    pub probability: f64,
}

impl Limit {
    /// The probability where none is given.
    pub const PROBABILITY: f64 = 0.9;

    /// A limit from above.
    pub fn below(level: f64, probability: f64) -> Self {
        Self { side: Side::Below, level, probability }
    }

    /// A limit from below.
    pub fn above(level: f64, probability: f64) -> Self {
        Self { side: Side::Above, level, probability }
    }

    /// Whether a value keeps it; what is no number does not.
    pub fn is_kept(&self, value: f64) -> bool {
        self.room(value) >= 0.0
    }

    /// How far a value is from breaking it; negative where it does.
    pub fn room(&self, value: f64) -> f64 {
        match self.side {
            Side::Below => self.level - value,
            Side::Above => value - self.level,
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
