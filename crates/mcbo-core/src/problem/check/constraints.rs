//! Checks of what is allowed in one trial.

use super::Checker;
use crate::problem::diagnostics::ProblemError;
use crate::problem::draft::{At, Field};

/// The target sets the user allows.
pub(super) struct Sets {
    /// Every set once, sorted inside, in the order of the file.
    pub(super) distinct: Vec<Vec<usize>>,
    /// The sets that were listed more than once.
    pub(super) repeated: Vec<Vec<usize>>,
}

impl Checker<'_> {
    pub(super) fn limit(&mut self) -> Option<usize> {
        let At { value, span } = self.draft.max_interventions.given()?;
        let limit = usize::try_from(*value).ok().filter(|&limit| limit > 0);
        if limit.is_none() {
            self.error(ProblemError::BadLimit { found: *value }, span);
        }
        limit
    }

    pub(super) fn sets(&mut self, limit: Option<usize>) -> Option<Sets> {
        let sets = self.draft.sets.given()?;
        if sets.value.is_empty() {
            self.error(ProblemError::NoSets, &sets.span);
        }
        let mut checked = Sets { distinct: Vec::new(), repeated: Vec::new() };
        for At { value: names, span } in &sets.value {
            let mut set = Vec::with_capacity(names.len());
            for name in names {
                let Some(node) = self.node_named(name, "`sets`") else { continue };
                if self.draft.nodes[node].hard == Field::Missing {
                    self.error(ProblemError::NotSettable { node: name.value.clone() }, &name.span);
                } else if set.contains(&node) {
                    self.repeated("one of the `sets`", name);
                } else {
                    set.push(node);
                }
            }
            set.sort_unstable();
            if let Some(limit) = limit.filter(|&limit| set.len() > limit) {
                let set = set.iter().map(|&node| self.nodes[node].to_owned()).collect();
                self.error(ProblemError::SetTooLarge { set, limit }, span);
            }
            if checked.distinct.contains(&set) {
                checked.repeated.push(set);
            } else {
                checked.distinct.push(set);
            }
        }
        Some(checked)
    }

    pub(super) fn possibly_optimal(&mut self) -> bool {
        let Some(At { value: true, span }) = self.draft.possibly_optimal.given() else { return false };
        if self.draft.max_interventions != Field::Missing {
            self.error(ProblemError::PossiblyOptimalConflict { with: "max_interventions" }, span);
        }
        if self.draft.sets != Field::Missing {
            self.error(ProblemError::PossiblyOptimalConflict { with: "sets" }, span);
        }
        true
    }
}
