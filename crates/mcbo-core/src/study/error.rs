//! Why a study refuses something.

use super::TrialState;
use crate::data::DataError;
use crate::strategy::SuggestError;

/// Why a study refuses what it is told. The study is as it was then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// No such trial.
    #[error(
        "there is no trial {number}; hint: {}",
        match last { 0 => "there are none yet".to_owned(), 1 => "there is one, trial 1".to_owned(), _ => format!("the trials are 1 to {last}") }
    )]
    UnknownTrial {
        /// The number asked for.
        number: usize,
        /// The last trial's number.
        last: usize,
    },
    /// The trial is not pending any more.
    #[error(
        "trial {number} is {} already; hint: what was told stays, and what is missing can still be told",
        state.name()
    )]
    NotPending {
        /// The trial.
        number: usize,
        /// Its state.
        state: TrialState,
    },
    /// A value that was told before is told again, and differs.
    #[error(
        "trial {number}: {node} is {stored} already and cannot become {told}; hint: what was told stays until it is corrected; add a row of its own for another measurement"
    )]
    Conflict {
        /// The trial.
        number: usize,
        /// The node.
        node: String,
        /// The value the study has, by its name if it has one.
        stored: String,
        /// The value told now, in the same way.
        told: String,
    },
    /// A value that is to be corrected was never told.
    #[error("trial {number}: {node} has no value to correct; hint: tell it")]
    NotTold {
        /// The trial.
        number: usize,
        /// The node.
        node: String,
    },
    /// There is nothing to go by.
    #[error(
        "no trial has been measured yet, so nothing can be predicted; hint: ask for the first one, measure it and tell what it gave"
    )]
    NoData,
    /// The observation does not fit.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No suggestion could be made.
    #[error(transparent)]
    Suggest(#[from] SuggestError),
}

impl StudyError {
    /// Whether the study refuses what it is told, rather than fails to answer.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Suggest(_))
    }
}
