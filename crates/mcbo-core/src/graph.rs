//! The causal graph: a directed acyclic graph over named nodes. No floats live here.

mod sets;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Why a graph cannot be a causal graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Following the arrows leads back to where one started.
    #[error("the nodes {} form a cycle", cycle_text(nodes))]
    Cycle {
        /// The nodes of one cycle, each a parent of the next and the last a parent of the first.
        nodes: Vec<String>,
    },
    /// A parent is not the index of a node.
    #[error("node `{node}` has parent number {parent}, but there are only {len} nodes")]
    UnknownParent {
        /// The node with the parent.
        node: String,
        /// The index that is not a node.
        parent: usize,
        /// The number of nodes.
        len: usize,
    },
    /// A node lists the same parent twice.
    #[error("node `{node}` lists parent `{parent}` twice")]
    DuplicateParent {
        /// The node with the parent.
        node: String,
        /// The parent that is listed twice.
        parent: String,
    },
    /// Two nodes share a name.
    #[error("two nodes are called `{name}`")]
    DuplicateName {
        /// The name they share.
        name: String,
    },
    /// There is not one list of parents for every node.
    #[error("{names} names, but {parents} lists of parents")]
    LengthMismatch {
        /// How many names were given.
        names: usize,
        /// How many lists of parents were given.
        parents: usize,
    },
}

/// `a -> b -> a`, the way a cycle is shown to users.
pub(crate) fn cycle_text(nodes: &[String]) -> String {
    nodes.iter().chain(nodes.first()).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" -> ")
}

/// A directed acyclic graph over named nodes, known to have no cycles.
///
/// ```
/// use mcbo_core::Graph;
/// let names = ["x", "z", "y"].map(String::from).to_vec();
/// let graph = Graph::new(names, vec![vec![], vec![0], vec![1]])?;
/// assert_eq!(graph.order(), [0, 1, 2]);
/// // Once z is set, x no longer matters: {x, z} does no more than {z}.
/// assert!(!graph.is_minimal(2, &[0, 1]));
/// # Ok::<(), mcbo_core::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    names: Vec<String>,
    parents: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
    order: Vec<usize>,
}

impl Graph {
    /// Builds the graph from the nodes' names and, for every node, the indices of its parents.
    ///
    /// # Errors
    /// A [`GraphError`] when names repeat, a parent does not exist or is listed twice, or the arrows form a
    /// cycle; a cycle is reported with its nodes in the order of its arrows.
    pub fn new(names: Vec<String>, parents: Vec<Vec<usize>>) -> Result<Self, GraphError> {
        let len = names.len();
        if parents.len() != len {
            return Err(GraphError::LengthMismatch { names: len, parents: parents.len() });
        }
        let mut seen = HashSet::with_capacity(len);
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(GraphError::DuplicateName { name: name.clone() });
        }
        let mut children = vec![Vec::new(); len];
        for (node, list) in parents.iter().enumerate() {
            let mut seen = HashSet::with_capacity(list.len());
            for &parent in list {
                if parent >= len {
                    return Err(GraphError::UnknownParent { node: names[node].clone(), parent, len });
                }
                if !seen.insert(parent) {
                    return Err(GraphError::DuplicateParent {
                        node: names[node].clone(),
                        parent: names[parent].clone(),
                    });
                }
                children[parent].push(node);
            }
        }
        let order = topological_order(&parents, &children);
        if order.len() < len {
            let nodes = find_cycle(&parents, &order).into_iter().map(|node| names[node].clone()).collect();
            return Err(GraphError::Cycle { nodes });
        }
        Ok(Self { names, parents, children, order })
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of all nodes, in the order they were given.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The parents of a node, in the order they were given.
    pub fn parents(&self, node: usize) -> &[usize] {
        &self.parents[node]
    }

    /// The nodes that have this node as a parent, in increasing order.
    pub fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// All nodes, every parent before its children; among the nodes that could come next, the first declared.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// For every node, whether a directed path leads from it to `node`; a node is an ancestor of itself.
    pub fn ancestors(&self, node: usize) -> Vec<bool> {
        self.ancestors_cut(node, &[])
    }

    /// The same as [`ancestors`](Self::ancestors) in the graph without the arrows into the nodes of `cut`.
    ///
    /// This is the graph that is left when the nodes of `cut` are set from outside.
    pub fn ancestors_cut(&self, node: usize, cut: &[usize]) -> Vec<bool> {
        let mut is_cut = vec![false; self.len()];
        for &member in cut {
            is_cut[member] = true;
        }
        let mut found = vec![false; self.len()];
        found[node] = true;
        let mut open = vec![node];
        while let Some(next) = open.pop() {
            if is_cut[next] {
                continue;
            }
            for &parent in &self.parents[next] {
                if !found[parent] {
                    found[parent] = true;
                    open.push(parent);
                }
            }
        }
        found
    }
}

/// Kahn's algorithm, smallest index first; shorter than the number of nodes when there is a cycle.
fn topological_order(parents: &[Vec<usize>], children: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = parents.iter().map(Vec::len).collect();
    let mut ready: BinaryHeap<_> =
        (0..parents.len()).filter(|&node| waiting[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(parents.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &child in &children[node] {
            waiting[child] -= 1;
            if waiting[child] == 0 {
                ready.push(Reverse(child));
            }
        }
    }
    order
}

/// One cycle among the nodes that found no place in `order`, parents before children, its smallest node first.
fn find_cycle(parents: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let mut left = vec![true; parents.len()];
    for &node in order {
        left[node] = false;
    }
    // Every node left has a parent that is left too, so walking up must meet a node again.
    let mut walk: Vec<usize> = Vec::new();
    let mut place = vec![None; parents.len()];
    let mut next = left.iter().position(|&left| left);
    while let Some(node) = next {
        if let Some(start) = place[node] {
            let mut cycle = walk.split_off(start);
            cycle.reverse();
            let smallest = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
            cycle.rotate_left(smallest);
            return cycle;
        }
        place[node] = Some(walk.len());
        walk.push(node);
        next = parents[node].iter().copied().filter(|&parent| left[parent]).min();
    }
    walk
}
