//! What can be wrong with a requirement.

use crate::expr::ExprError;

/// What is wrong with a requirement on the values of actions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementFault {
    /// Nothing is compared.
    #[error("it compares nothing")]
    NoComparison,
    /// More than two sides.
    #[error("it compares more than two sides")]
    TwoComparisons,
    /// A side is no formula.
    #[error(transparent)]
    Formula(ExprError),
    /// A name that stands for no number that is chosen.
    #[error("`{name}` is {what}")]
    NotANumber {
        /// The name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// It is no weighted sum.
    #[error("it is not linear")]
    NotLinear,
    /// It says nothing about an action.
    #[error("it depends on no action")]
    NoAction,
    /// It adds up ratios.
    #[error("`{name}` has a logarithmic scale, on which nothing is added")]
    OnLog {
        /// The action.
        name: String,
    },
    /// A condition, or what is required of names, that cannot be read.
    #[error("it cannot be read as NAME == 'choice' or NAME != 'choice'")]
    NotNames,
    /// A condition about something that has no names.
    #[error("`{name}` is no action with choices")]
    NoSuchChoice {
        /// What was found.
        name: String,
        /// The action that may be meant.
        nearest: Option<String>,
    },
    /// A name that is none of an action's.
    #[error("\"{found}\" is not one of the choices of `{action}`")]
    UnknownName {
        /// The action.
        action: String,
        /// What was found.
        found: String,
        /// The choice that may be meant.
        nearest: Option<String>,
        /// The choices.
        known: Vec<String>,
    },
    /// Several names are required at once.
    #[error("it requires several names at once")]
    SeveralNames,
    /// No values within the ranges keep to it.
    #[error("no values of the actions keep to it: they miss it by at least {by}")]
    NeverKept {
        /// By how much it is missed.
        by: f64,
    },
    /// Each can be kept to, but not all.
    #[error("nothing keeps to all requirements together")]
    NothingKeeps,
    /// Not acting is not allowed.
    #[error("the neutral values break it by {excess}")]
    NeutralBreaks {
        /// By how much.
        excess: f64,
    },
    /// Not acting has names that do not go together.
    #[error("the neutral values break it")]
    NeutralExcluded,
}

impl RequirementFault {
    pub(super) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoComparison => "write two sides, as in \"dose1 + dose2 <= 120\"",
            Self::TwoComparisons => {
                "write two requirements, as in [\"10 <= dose1 + dose2\", \"dose1 + dose2 <= 120\"]"
            }
            Self::Formula(error) => return error.hint(),
            Self::NotANumber { what: "a node", .. } => {
                "requirements are between actions, whose values are chosen; a node's values follow"
            }
            Self::NotANumber { .. } => "its values are names, which cannot be added; leave it out",
            Self::NotLinear => "add up actions, each times a number, as in \"2 * dose1 - dose2 <= 30\"",
            Self::NoAction => "name actions, as in \"dose1 + dose2 <= 120\"",
            Self::NotNames => {
                "write conditions behind `if`, as in \"temperature <= 78 if solvent == 'ethanol'\", several joined by `and`; for `or` write two requirements"
            }
            Self::NoSuchChoice { nearest: Some(nearest), .. }
            | Self::UnknownName { nearest: Some(nearest), .. } => {
                return Some(format!("did you mean `{nearest}`?"));
            }
            Self::NoSuchChoice { .. } => "conditions are about actions whose values are names",
            Self::UnknownName { known, .. } => return Some(format!("they are {}", known.join(", "))),
            Self::SeveralNames => "write one requirement for each",
            Self::OnLog { .. } => "remove its `scale`, or require something of it alone",
            Self::NeverKept { .. } => "mend it, or widen the ranges",
            Self::NothingKeeps => "remove or mend one of them",
            Self::NeutralBreaks { .. } | Self::NeutralExcluded => {
                "not acting must be possible: give the actions `neutral` values that keep to it"
            }
        };
        Some(hint.to_owned())
    }
}
