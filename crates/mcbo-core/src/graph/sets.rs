//! Which sets of nodes are worth setting: minimal and possibly-optimal intervention sets.

use std::collections::{BTreeSet, VecDeque};

use super::Graph;

impl Graph {
    /// Whether every member of `set` still reaches the reward when all members are set.
    ///
    /// A set is minimal when it has no smaller subset with the same effect on the reward, which holds iff
    /// every member is an ancestor of the reward in the graph without the arrows into the set
    /// (Lee & Bareinboim 2018, "Structural causal bandits: where to intervene?"). The empty set is minimal; a
    /// set with the reward in it is not a set of interventions at all, and not minimal.
    pub fn is_minimal(&self, reward: usize, set: &[usize]) -> bool {
        if set.contains(&reward) {
            return false;
        }
        let ancestors = self.ancestors_cut(reward, set);
        set.iter().all(|&member| ancestors[member])
    }

    /// All minimal sets among the subsets of `candidates`, by size and then in lexicographic order of indices.
    ///
    /// `None` when there are more than `limit` of them, which is noticed after at most
    /// `(limit + 1) * candidates.len()` tests of minimality.
    pub fn minimal_sets(&self, reward: usize, candidates: &[usize], limit: usize) -> Option<Vec<Vec<usize>>> {
        self.minimal_sets_up_to(reward, candidates, usize::MAX, limit)
    }

    /// The same as [`minimal_sets`](Self::minimal_sets) with no more than `size` members in a set.
    pub fn minimal_sets_up_to(
        &self,
        reward: usize,
        candidates: &[usize],
        size: usize,
        limit: usize,
    ) -> Option<Vec<Vec<usize>>> {
        let candidates = self.sorted_candidates(reward, candidates);
        if limit == 0 {
            return None;
        }
        // Every subset of a minimal set is minimal: a path that avoids the other members of the set avoids
        // the other members of a subset. So growing each minimal set by a larger member misses nothing.
        let mut sets = vec![Vec::new()];
        let mut grown = 0;
        while grown < sets.len() {
            if sets[grown].len() < size {
                let last = sets[grown].last().copied();
                for &member in candidates.iter().filter(|&&member| last.is_none_or(|last| member > last)) {
                    let mut set = sets[grown].clone();
                    set.push(member);
                    if self.is_minimal(reward, &set) {
                        if sets.len() == limit {
                            return None;
                        }
                        sets.push(set);
                    }
                }
            }
            grown += 1;
        }
        Some(sets)
    }

    /// The sets that can be the best ones, in the order of [`minimal_sets`](Self::minimal_sets).
    ///
    /// These are the possibly-optimal minimal intervention sets of Lee & Bareinboim (2018), where only
    /// `candidates` can be set (2019, "Structural causal bandits with non-manipulable variables"): for every
    /// other set of candidates some set in the list does at least as well, in every model with this graph
    /// and independent noise. Nodes that cannot be set take the place of unobserved confounders: the graph is
    /// projected onto the candidates and the reward, where a node that reaches two others through nodes
    /// that cannot be set joins these two by a confounding edge. A set is in the list iff it is the border
    /// (the parents) of the smallest set of nodes that holds the reward and is closed under confounding and
    /// under descendants, among the reward's ancestors, once the set itself is cut off.
    ///
    /// When all parents of the reward are candidates, they are the only set: setting them to the best values
    /// beats every other way of moving them.
    ///
    /// This holds when a candidate can be set to every value that it takes by itself, and when every set may
    /// be used: under a limit on the number of interventions a set outside the list can be the best one
    /// that is left.
    ///
    /// `None` when there are more than `limit` sets. The time is polynomial for each set found.
    pub fn possibly_optimal_sets(
        &self,
        reward: usize,
        candidates: &[usize],
        limit: usize,
    ) -> Option<Vec<Vec<usize>>> {
        let candidates = self.sorted_candidates(reward, candidates);
        let projection = Projection::new(self, reward, &candidates);
        // Every possibly-optimal set is reached from the border of the uncut graph by cutting one more
        // member of the territory at a time: each cut towards a set shrinks the territory and keeps that
        // set's own territory inside.
        let mut found = BTreeSet::new();
        let mut open = VecDeque::from([Vec::new()]);
        while let Some(cut) = open.pop_front() {
            let (territory, border) = projection.territory_and_border(&cut);
            if found.contains(&border) {
                continue;
            }
            if found.len() >= limit {
                return None;
            }
            for &member in candidates.iter().filter(|&&member| territory[member]) {
                let mut next = border.clone();
                next.push(member);
                open.push_back(next);
            }
            found.insert(border);
        }
        let mut sets: Vec<Vec<usize>> = found.into_iter().collect();
        sets.sort_by_key(Vec::len);
        Some(sets)
    }

    fn sorted_candidates(&self, reward: usize, candidates: &[usize]) -> Vec<usize> {
        let sorted: BTreeSet<usize> = candidates
            .iter()
            .copied()
            .filter(|&candidate| candidate != reward && candidate < self.len())
            .collect();
        sorted.into_iter().collect()
    }
}

/// The graph over the candidates and the reward; everything else has become an arrow or a confounder.
struct Projection {
    reward: usize,
    /// Whether a node is kept.
    kept: Vec<bool>,
    /// Kept parents, directly or through nodes that are not kept.
    parents: Vec<Vec<usize>>,
    /// The kept nodes that share a confounder, for every node that is not kept and reaches two or more.
    confounded: Vec<Vec<usize>>,
}

impl Projection {
    fn new(graph: &Graph, reward: usize, candidates: &[usize]) -> Self {
        let mut kept = vec![false; graph.len()];
        kept[reward] = true;
        for &candidate in candidates {
            kept[candidate] = true;
        }
        let mut parents = vec![Vec::new(); graph.len()];
        let mut confounded = Vec::new();
        for source in 0..graph.len() {
            let reached = reached_through_dropped(graph, &kept, source);
            if kept[source] {
                for &node in &reached {
                    parents[node].push(source);
                }
            } else if reached.len() > 1 {
                confounded.push(reached);
            }
        }
        Self { reward, kept, parents, confounded }
    }

    /// The territory of the reward and its border when the arrows into `cut` are removed.
    ///
    /// The territory ("minimal unobserved-confounders' territory") is closed under confounding and under
    /// descendants among the reward's ancestors; the border ("interventional border") is the sorted set of
    /// its parents that lie outside.
    fn territory_and_border(&self, cut: &[usize]) -> (Vec<bool>, Vec<usize>) {
        let len = self.kept.len();
        let mut is_cut = vec![false; len];
        for &member in cut {
            is_cut[member] = true;
        }
        let mut ancestor = vec![false; len];
        ancestor[self.reward] = true;
        let mut open = vec![self.reward];
        while let Some(node) = open.pop() {
            if is_cut[node] {
                continue;
            }
            for &parent in &self.parents[node] {
                if !ancestor[parent] {
                    ancestor[parent] = true;
                    open.push(parent);
                }
            }
        }
        let open_node = |node: usize| ancestor[node] && !is_cut[node];
        let mut territory = vec![false; len];
        territory[self.reward] = true;
        loop {
            let mut grown = false;
            for group in &self.confounded {
                if group.iter().any(|&node| territory[node]) {
                    for &node in group.iter().filter(|&&node| open_node(node)) {
                        grown |= !std::mem::replace(&mut territory[node], true);
                    }
                }
            }
            for node in (0..len).filter(|&node| self.kept[node] && open_node(node)) {
                if !territory[node] && self.parents[node].iter().any(|&parent| territory[parent]) {
                    territory[node] = true;
                    grown = true;
                }
            }
            if !grown {
                break;
            }
        }
        let border: BTreeSet<usize> = (0..len)
            .filter(|&node| territory[node])
            .flat_map(|node| self.parents[node].iter().copied())
            .filter(|&parent| !territory[parent])
            .collect();
        (territory, border.into_iter().collect())
    }
}

/// The kept nodes that a path from `source` meets first, sorted.
fn reached_through_dropped(graph: &Graph, kept: &[bool], source: usize) -> Vec<usize> {
    let mut seen = vec![false; graph.len()];
    let mut reached = BTreeSet::new();
    let mut open = vec![source];
    while let Some(node) = open.pop() {
        for &child in graph.children(node) {
            if std::mem::replace(&mut seen[child], true) {
                continue;
            }
            if kept[child] {
                reached.insert(child);
            } else {
                open.push(child);
            }
        }
    }
    reached.into_iter().collect()
}
