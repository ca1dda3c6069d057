//! What is done to the system in one trial, in the user's units.

use serde::{Deserialize, Serialize};

/// Hard targets with their values and the values of all soft actions, in the user's units.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Intervention {
    /// Nodes that are set, in increasing order, each with one value per component.
    pub targets: Vec<(usize, Vec<f64>)>,
    /// The value of every action of the problem, in the problem's order.
    pub actions: Vec<f64>,
}

impl Intervention {
    /// The values a node is set to, if it is a hard target.
    pub fn target(&self, node: usize) -> Option<&[f64]> {
        self.targets.iter().find(|(target, _)| *target == node).map(|(_, values)| values.as_slice())
    }

    /// The nodes that are set, in increasing order.
    pub fn target_set(&self) -> Vec<usize> {
        self.targets.iter().map(|(node, _)| *node).collect()
    }
}

/// The discrete part of an intervention: which nodes are set and which actions are free.
///
/// All other actions are neutral.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Choice {
    /// Hard targets, in increasing order.
    pub targets: Vec<usize>,
    /// Actions that may take any value in their range, in increasing order.
    pub actions: Vec<usize>,
}
