//! What interventions cost.

use super::Problem;
use crate::intervention::Intervention;

/// What it costs to use an action or to set a node, in whatever the user counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// To use it at all: an action at another value than its neutral one, or a node that is set.
    pub fixed: f64,
    /// For every unit that an action differs from its neutral value.
    pub per_unit: f64,
}

impl Problem {
    /// Whether anything is said about costs.
    pub fn has_costs(&self) -> bool {
        self.actions.iter().any(|action| action.cost.is_some())
            || self.nodes.iter().any(|node| node.cost.is_some())
    }

    /// What an intervention costs: what its actions and its set nodes do together. Nothing where nothing is said about costs.
    ///
    /// ```
    /// use mcbo_core::{Cost, Intervention, Problem};
    /// let problem = Problem::builder("p")
    ///     .action("dose", [0.0, 90.0])
    ///     .action_cost("dose", Cost { fixed: 3.0, per_unit: 0.2 })
    ///     .node("y", |n| n.actions(["dose"]))
    ///     .maximize("y")
    ///     .build()?;
    /// let dose = |value: f64| Intervention { targets: vec![], actions: vec![value] };
    /// assert_eq!((problem.cost(&dose(0.0)), problem.cost(&dose(10.0))), (0.0, 5.0));
    /// # Ok::<(), mcbo_core::ProblemErrors>(())
    /// ```
    pub fn cost(&self, intervention: &Intervention) -> f64 {
        let action = |(action, &value): (&super::Action, &f64)| match action.cost {
            Some(cost) if value != action.neutral => {
                cost.fixed + cost.per_unit * (value - action.neutral).abs()
            }
            _ => 0.0,
        };
        let set = |(node, _): &(usize, Vec<f64>)| self.nodes[*node].cost.map_or(0.0, |cost| cost.fixed);
        self.actions.iter().zip(&intervention.actions).map(action).sum::<f64>()
            + intervention.targets.iter().map(set).sum::<f64>()
    }
}
