//! The target sets of a problem, for showing them.

use mcbo_core::Problem;

use crate::describe;

/// With more settable nodes than this, only sets that matter are listed.
const ALL_SUBSETS: usize = 5;

/// A set of nodes that could be set together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TargetSet {
    /// Its members.
    pub targets: Vec<usize>,
    /// Whether no smaller set does the same.
    pub minimal: bool,
    /// The smaller set that does the same.
    pub core: Option<Vec<usize>>,
    /// Whether trials may choose it.
    pub used: bool,
}

impl TargetSet {
    /// Why trials do not choose it.
    pub fn why_unused(&self, problem: &Problem) -> String {
        if problem.max_interventions().is_some_and(|most| self.targets.len() > most) {
            "no, too many interventions".into()
        } else if problem.sets().is_some_and(|sets| !sets.contains(&self.targets)) {
            "no, not in `sets`".into()
        } else if self.minimal && problem.possibly_optimal() {
            "no, cannot be best".into()
        } else {
            "no".into()
        }
    }
}

/// Sets that are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The ones that trials do not use, of so many subsets.
    Unused(u32),
    /// There are too many to list even those that trials use.
    All(u32),
    /// The ones after the first.
    Rest(usize),
}

impl LeftOut {
    /// A line about them.
    pub fn sentence(self) -> String {
        let subsets = |settable: u32| match 2_u64.checked_pow(settable) {
            Some(count) if settable <= 30 => count.to_string(),
            _ => format!("2^{settable}"),
        };
        match self {
            LeftOut::Unused(settable) => {
                format!("Only the sets that trials use are listed, of {} in all.", subsets(settable))
            }
            LeftOut::All(settable) => {
                format!(
                    "There are {} sets, too many to list; they are searched step by step.",
                    subsets(settable)
                )
            }
            LeftOut::Rest(count) => format!("... and {}.", describe::count(count, "more set")),
        }
    }
}

/// The sets to show.
#[non_exhaustive]
pub struct Sets {
    /// All subsets of the nodes that can be set while those are few, else the ones that trials use.
    pub listed: Vec<TargetSet>,
    /// What is not listed.
    pub left_out: Option<LeftOut>,
}

impl Sets {
    /// The sets of a problem, by size and then in the order of the nodes; at most `most` unless the nodes are few.
    pub fn of(problem: &Problem, most: usize) -> Self {
        let settable = problem.settable();
        let bits = settable.len() as u32;
        let used: Option<Vec<Vec<usize>>> = problem.target_sets().map(|sets| {
            let most = problem.max_interventions().unwrap_or(usize::MAX);
            sets.iter().filter(|set| set.len() <= most).cloned().collect()
        });
        let describe = |targets: Vec<usize>| {
            let ancestors = problem.matters(&targets);
            let core: Vec<usize> = targets.iter().copied().filter(|&node| ancestors[node]).collect();
            let minimal = core.len() == targets.len();
            let used = used.as_ref().is_some_and(|sets| sets.contains(&targets));
            TargetSet { minimal, core: (!minimal).then_some(core), used, targets }
        };
        if settable.len() <= ALL_SUBSETS {
            let subset = |mask: usize| {
                settable
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| mask >> bit & 1 == 1)
                    .map(|(_, &node)| node)
                    .collect()
            };
            let mut subsets: Vec<Vec<usize>> = (0..1 << settable.len()).map(subset).collect();
            subsets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            return Self { listed: subsets.into_iter().map(describe).collect(), left_out: None };
        }
        let Some(mut sets) = used.clone() else {
            return Self { listed: Vec::new(), left_out: Some(LeftOut::All(bits)) };
        };
        let left_out = match sets.len().checked_sub(most) {
            Some(more @ 1..) => LeftOut::Rest(more),
            _ => LeftOut::Unused(bits),
        };
        sets.truncate(most);
        Self { listed: sets.into_iter().map(describe).collect(), left_out: Some(left_out) }
    }
}
