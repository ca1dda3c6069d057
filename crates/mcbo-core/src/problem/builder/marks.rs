//! Units, contexts, limits and costs in code.

use super::{NodeBuilder, ProblemBuilder, given};
use crate::problem::{Cost, Limit, Scale};

impl ProblemBuilder {
    fn of_action(mut self, name: &str, mark: impl FnOnce(&mut super::DraftAction)) -> Self {
        // An action that is not there has no mark: that no node can read it is reported where one does.
        if let Some(action) = self.draft.actions.iter_mut().rfind(|action| action.name.value == name) {
            mark(action);
        }
        self
    }

    /// Says what an action that was added before costs.
    #[must_use]
    pub fn action_cost(self, action: &str, cost: Cost) -> Self {
        self.of_action(action, |action| action.cost = given(cost))
    }

    /// Says in which unit the values of an action are that was added before.
    #[must_use]
    pub fn action_unit(self, action: &str, unit: impl Into<String>) -> Self {
        let unit = unit.into();
        self.of_action(action, |action| action.unit = given(unit))
    }
}

impl ProblemBuilder {
    /// Says whether differences or ratios of the values of an action count that was added before.
    #[must_use]
    pub fn action_scale(self, action: &str, scale: Scale) -> Self {
        self.of_action(action, |action| action.scale = given(scale))
    }

    /// Names of an action that was added before which are not proposed any more. What was done with them is learned from.
    #[must_use]
    pub fn action_retired<S: Into<String>>(self, action: &str, names: impl IntoIterator<Item = S>) -> Self {
        let retired = given(super::names(names));
        self.of_action(action, |action| action.retired = retired)
    }
}

impl NodeBuilder {
    /// Names it is not set to any more. What was measured with them is learned from.
    #[must_use]
    pub fn retired<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.node.retired = given(super::names(names));
        self
    }

    /// The unit of its values.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.node.unit = given(unit.into());
        self
    }

    /// Makes it a context: it is known before anything is decided.
    #[must_use]
    pub fn context(mut self) -> Self {
        self.node.context = given(true);
        self
    }

    /// What its outcomes are to keep.
    #[must_use]
    pub fn limit(mut self, limit: Limit) -> Self {
        self.node.limit = given(limit);
        self
    }

    /// What it costs to set it.
    #[must_use]
    pub fn cost(mut self, fixed: f64) -> Self {
        self.node.cost = given(Cost { fixed, per_unit: 0.0 });
        self
    }
}
