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
}
