//! One experiment of a study.

use crate::Intervention;
use crate::strategy::Suggestion;

/// Where a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialState {
    /// Proposed, not yet measured.
    Pending,
    /// Measured.
    Complete,
    /// Could not be run.
    Failed,
    /// Taken out of the study; what was told of it stays on record, and it can be put back.
    Voided,
}

impl TrialState {
    /// The state in a word: `pending`, `complete`, `failed` or `voided`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Voided => "voided",
        }
    }
}

/// Who chose what a trial does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The initial design.
    Design,
    /// The study's strategy.
    Strategy,
    /// The user, by hand.
    Enqueued,
    /// Nobody here: it was made outside the study.
    Added,
}

impl Origin {
    /// What stands in the place of a strategy's name in suggestions that no strategy made; strategies cannot be called so.
    pub const RESERVED: [&'static str; 3] = ["design", "enqueued", "added"];

    /// The reserved name; nothing for a strategy, which has its own.
    pub fn name(self) -> &'static str {
        match self {
            Self::Design => Self::RESERVED[0],
            Self::Enqueued => Self::RESERVED[1],
            Self::Added => Self::RESERVED[2],
            Self::Strategy => "",
        }
    }
}

impl Suggestion {
    /// Who made it.
    pub fn origin(&self) -> Origin {
        let named = [Origin::Design, Origin::Enqueued, Origin::Added];
        named.into_iter().find(|origin| origin.name() == self.strategy).unwrap_or(Origin::Strategy)
    }
}

/// One experiment of a study.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// Its number, from 1.
    pub number: usize,
    /// Where it stands.
    pub state: TrialState,
    /// What is to be done, and why. Trials that were added from outside have no predictions.
    pub suggestion: Suggestion,
    /// What was really done, where that is something else.
    pub done: Option<Intervention>,
    /// What was measured, once it is complete.
    pub values: Option<Vec<Option<f64>>>,
}

impl Trial {
    /// What was done as far as it is known: what was told of it, else what was suggested. The model learns from this one.
    pub fn intervention(&self) -> &Intervention {
        self.done.as_ref().unwrap_or(&self.suggestion.intervention)
    }
}
