//! What can be odd about a problem.

use super::set_text;

/// Something odd about a problem that is not wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemWarning {
    /// A node that cannot change the reward.
    #[error("node `{node}` has no path to the reward; what is observed of it does not help")]
    NodeWithoutEffect {
        /// The node.
        node: String,
    },
    /// An action that cannot change the reward.
    #[error("action `{action}` feeds only nodes without a path to the reward; choosing it does nothing")]
    ActionWithoutEffect {
        /// The action.
        action: String,
    },
    /// An action that requirements leave no choice.
    #[error("action `{action}` can only be {neutral}: what is required leaves it no other value")]
    ActionIsHeld {
        /// The action.
        action: String,
        /// Its neutral value.
        neutral: f64,
    },
    /// A target set with members that do nothing while the others are set.
    #[error("the set {} does no more than {}", set_text(set), set_text(enough))]
    SetNotMinimal {
        /// The set.
        set: Vec<String>,
        /// The members that have an effect.
        enough: Vec<String>,
    },
    /// A target set that is listed twice.
    #[error("the set {} is listed twice", set_text(set))]
    RepeatedSet {
        /// The set.
        set: Vec<String>,
    },
    /// A limit on interventions that is never reached.
    #[error("`max_interventions` is {limit}, but nodes to set and actions together are only {available}")]
    LimitWithoutEffect {
        /// The limit.
        limit: usize,
        /// How many nodes can be set, plus how many actions there are.
        available: usize,
    },
    /// Uniform noise whose mean is not zero.
    #[error("the noise of node `{node}` has mean {mean}, not 0; the mechanism is learned without it")]
    NoiseNotCentred {
        /// The node.
        node: String,
        /// The mean of the noise.
        mean: f64,
    },
    /// A choice about components for a node that has one.
    #[error("`components` of node `{node}` does nothing, because it has one component")]
    ComponentsOfScalar {
        /// The node.
        node: String,
    },
    /// A requirement that leaves out its border, which cannot be told from values just beside it.
    #[error(
        "`{text}` is read as `{read}`: values that reach the border keep to it; write `{read}`, or move the border"
    )]
    BorderIsAllowed {
        /// The requirement.
        text: String,
        /// As it is read.
        read: String,
    },
    /// A node that breaks its own limit whatever it is set to.
    #[error("node `{node}` breaks its own `limit` whatever it is set to: it will not be set")]
    SetBeyondLimit {
        /// The node.
        node: String,
    },
    /// A declared range of values that does not hold the values the node can be set to.
    #[error("node `{node}` can be set outside its declared `range`")]
    SetOutsideRange {
        /// The node.
        node: String,
    },
}
