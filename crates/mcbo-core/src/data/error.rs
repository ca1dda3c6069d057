//! Why something cannot be taken.

use super::LARGEST;

/// Why an observation cannot be taken. Nothing is stored then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// What cannot be fixed together.
    #[error(
        "nothing can be proposed with {what} fixed; hint: what is set by force leaves no work to actions on it, sets and limits of the problem count, and with too many ways to intervene nothing can be fixed"
    )]
    CannotFix {
        /// What is to be fixed.
        what: String,
    },
    /// A list that does not have one entry per action, component or slot.
    #[error("{what} has {found} values where the problem has {expected}")]
    WrongLength {
        /// What has the wrong length.
        what: String,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A number that is NaN or infinite.
    #[error("{what} is {value}; hint: leave out what was not measured, or mark the trial as failed")]
    NotFinite {
        /// The node or action.
        what: String,
        /// The number found.
        value: f64,
    },
    /// A number that is larger than what the model can compute with.
    #[error(
        "{what} is {value}, more than the {LARGEST:e} that can be computed with; hint: give it in a larger unit, or mend the value"
    )]
    TooLarge {
        /// The node or action.
        what: String,
        /// The number found.
        value: f64,
    },
    /// A number outside the range that the problem declares.
    #[error(
        "{what} is {value}, outside its range {low} to {high}; hint: mend the value or widen the range in the problem file"
    )]
    OutOfRange {
        /// The node or action.
        what: String,
        /// The number found.
        value: f64,
        /// Lower end of the range.
        low: f64,
        /// Upper end of the range.
        high: f64,
    },
    /// A node is set that the problem does not allow to set.
    #[error("{node} cannot be set; hint: give it a `do` range in the problem file")]
    NotSettable {
        /// The node.
        node: String,
    },
    /// A node that was set has another value than it was set to.
    #[error(
        "{node} was set to {set} but is reported as {found}; hint: leave it out, a set node needs no measurement"
    )]
    ContradictsTarget {
        /// The node.
        node: String,
        /// The value it was set to, by its name if it has one.
        set: String,
        /// The value reported, in the same way.
        found: String,
    },
    /// A value is said to be known beforehand of a node that is no context.
    #[error("{name:?} is no context; hint: {}", match known.as_str() {
        "" => "mark nodes that are known before deciding with `context = true` in the problem file".to_owned(),
        known => format!("the contexts are {known}"),
    })]
    NotAContext {
        /// The name found.
        name: String,
        /// The names of the contexts.
        known: String,
    },
    /// A context was measured as something else than the trial was chosen for.
    #[error(
        "{node} was given as {given} when the trial was asked for but is reported as {found}; hint: leave it out; if it was another one, mark the trial as failed and add what was done as a row"
    )]
    ContradictsGiven {
        /// The context.
        node: String,
        /// The value it was given as, by its name if it has one.
        given: String,
        /// The value reported, in the same way.
        found: String,
    },
    /// A node or an action that does not exist.
    #[error("there is no node {name:?}; hint: the nodes are {known}")]
    UnknownName {
        /// The name found.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A node, or a component of one, has two values.
    #[error("{what} is given twice; hint: give every node once")]
    Twice {
        /// The node or component.
        what: String,
    },
    /// Nodes are set together that the problem does not list as a set.
    #[error("the set {found} is not allowed; hint: the problem file allows {known}")]
    NotASet {
        /// The nodes that are set.
        found: String,
        /// The sets that are allowed.
        known: String,
    },
    /// More is done at once than the problem allows.
    #[error("{found} interventions at once are too many; hint: the problem file allows {most}")]
    TooManyInterventions {
        /// How many.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A value between those that something can take.
    #[error(
        "{what} is {value}, but {}; hint: the values next to it are {below} and {above}",
        step.map_or_else(|| "can only be what is listed".to_owned(), |step| format!("goes in steps of {step}"))
    )]
    OffGrid {
        /// The node or action.
        what: String,
        /// The number found.
        value: f64,
        /// The distance between two values; `None` if they are listed.
        step: Option<f64>,
        /// The nearest value.
        below: f64,
        /// The next one.
        above: f64,
    },
    /// A value that is none of the choices.
    #[error("{what} is {found}, which is not one of its choices; hint: they are {known}")]
    NotAChoice {
        /// The action.
        what: String,
        /// What was found.
        found: String,
        /// The choices.
        known: String,
    },
    /// A name that is not proposed any more.
    #[error("{what} is {name}, which is retired; hint: {known} may still be chosen")]
    Retired {
        /// The action or node.
        what: String,
        /// The name.
        name: String,
        /// The names that are left.
        known: String,
    },
    /// Values of actions that break what is required of them.
    #[error(
        "{requirement:?} is required, but is {} by {excess}; hint: change one of the actions it names",
        if requirement.contains(['<', '>', '≤', '≥']) { "exceeded" } else { "missed" }
    )]
    BreaksRequirement {
        /// The requirement.
        requirement: String,
        /// By how much.
        excess: f64,
    },
    /// Names that do not go together.
    #[error("{requirement:?} is required; hint: choose another name for one of them")]
    NotTogether {
        /// The requirement.
        requirement: String,
    },
    /// Nothing was measured.
    #[error("no node has a value; hint: mark the trial as failed if nothing could be measured")]
    Nothing,
}

impl DataError {
    /// What is wrong, without the hint.
    pub fn without_hint(&self) -> String {
        let said = self.to_string();
        said.split("; hint").next().unwrap_or(&said).to_owned()
    }
}
