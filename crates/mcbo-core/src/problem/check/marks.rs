//! Checks of units, contexts, limits and costs.

use super::Checker;
use crate::problem::diagnostics::ProblemError;
use crate::problem::draft::{At, Field};
use crate::problem::{Cost, Limit, Node, Noise};

impl Checker<'_> {
    pub(super) fn unit(&mut self, place: &str, unit: &Field<String>) -> Option<String> {
        let At { value, span } = unit.given()?;
        if value.trim().is_empty() {
            self.error(ProblemError::EmptyUnit { place: place.to_owned() }, span);
        } else if value.chars().any(char::is_control) {
            let (what, text) = (format!("the unit of {place}"), value.clone());
            self.error(ProblemError::ControlInText { what, text }, span);
        }
        Some(value.trim().to_owned())
    }

    pub(super) fn limit_of(&mut self, place: &str, limit: &Field<Limit>) -> Option<Limit> {
        let At { value: limit, span } = limit.given()?;
        for (side, value) in limit.levels().filter(|(_, level)| !level.is_finite()) {
            let what = format!("`{side}` of the limit of {place}");
            self.error(ProblemError::NotFinite { what, value }, span);
        }
        if let (Some(above), Some(below)) = (limit.above, limit.below)
            && above >= below
        {
            self.error(ProblemError::EmptyLimit { place: place.to_owned(), above, below }, span);
        }
        if !(limit.probability > 0.0 && limit.probability < 1.0) {
            let (place, found) = (place.to_owned(), limit.probability);
            self.error(ProblemError::BadProbability { place, found }, span);
        }
        Some(*limit)
    }

    pub(super) fn cost_of(&mut self, place: &str, cost: &Field<Cost>) -> Option<Cost> {
        let At { value: cost, span } = cost.given()?;
        for (key, value) in [("fixed", cost.fixed), ("per_unit", cost.per_unit)] {
            if !(value.is_finite() && value >= 0.0) {
                let what = format!("`{key}` of the cost of {place}");
                self.error(ProblemError::BadCost { what, value }, span);
            }
        }
        Some(*cost)
    }

    /// What takes more than one node to see: contexts that are not roots, limits that nothing moves, costs of what is not set.
    pub(super) fn marks(&mut self, nodes: &[Node]) {
        let readable = !self.draft.nodes_broken && !self.draft.actions_broken;
        for (index, draft) in self.draft.nodes.iter().enumerate() {
            let (node, name) = (&nodes[index], draft.name.value.clone());
            if let Some(At { value: true, span }) = draft.context.given() {
                let action = draft.actions.first().map(|action| ("the action", action));
                let parent = node.parents.iter().find(|&&parent| !nodes[parent].context);
                let parent = parent.and_then(|&parent| {
                    draft.parents.iter().find(|written| written.value == nodes[parent].name)
                });
                if let Some((what, reads)) = action.or(parent.map(|parent| ("the node", parent))) {
                    let error =
                        ProblemError::ContextDepends { node: name.clone(), what, on: reads.value.clone() };
                    self.error(error, &reads.span);
                }
                if draft.hard != Field::Missing {
                    self.error(ProblemError::ContextIsSettable { node: name.clone() }, span);
                }
            }
            if let Some(At { value: cost, span }) = draft.cost.given() {
                if draft.hard == Field::Missing {
                    self.error(ProblemError::CostOfUnset { node: name.clone() }, span);
                } else if cost.per_unit != 0.0 {
                    self.error(ProblemError::PerUnitOfNode { node: name.clone() }, span);
                }
            }
            if let Some(At { span, .. }) = draft.limit.given().filter(|_| readable)
                && self.inputs_ok.iter().all(|&ok| ok)
                && !moved(nodes, index, &mut vec![false; nodes.len()])
            {
                let constant = node.parents.is_empty() && node.noise == Noise::None;
                self.error(ProblemError::LimitOfUnmoved { node: name, constant }, span);
            }
        }
        let limited = self.draft.nodes.iter().any(|node| node.limit != Field::Missing);
        if let Some(At { value: true, span }) = self.draft.possibly_optimal.given()
            && limited
        {
            self.error(ProblemError::PossiblyOptimalConflict { with: "limit" }, span);
        }
    }

    /// The reward is no context.
    pub(super) fn reward_marks(&mut self, reward: usize, nodes: &[Node]) {
        let draft = &self.draft.nodes[reward];
        if let Some(At { span, .. }) = draft.context.given().filter(|_| nodes[reward].context) {
            self.error(ProblemError::RewardIsContext { node: draft.name.value.clone() }, span);
        }
    }
}

/// Whether anything that is chosen can change a node.
fn moved(nodes: &[Node], node: usize, seen: &mut [bool]) -> bool {
    // In a cycle, which is reported elsewhere, a node comes by twice.
    if std::mem::replace(&mut seen[node], true) {
        return false;
    }
    let Node { actions, hard, parents, .. } = &nodes[node];
    !actions.is_empty() || hard.is_some() || parents.iter().any(|&parent| moved(nodes, parent, seen))
}
