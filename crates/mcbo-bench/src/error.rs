//! What can go wrong in an experiment.

use mcbo_core::{DataError, ProblemErrors, SuggestError};

/// Why an experiment cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// No task has this name.
    #[error(
        "there is no task {name:?}; hint: the tasks are {known}, and scm-soft-K, scm-hard-K, scm-mixed-K, the same with 20 or 50 nodes such as scm20-soft-K, and scm-additive-K, scm-scaled-K, scm-linear-K, scm-warped-K, scm-past-K, scm-choices-K, scm-limits-K, scm-contexts-K, scm-costs-K, with K = 0, 1, ..."
    )]
    UnknownTask {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A task of one's own has the name of another.
    #[error("there is a task {name:?} already; hint: give the problem another name")]
    TakenName {
        /// The name.
        name: String,
    },
    /// A task of one's own has a name that is no file name.
    #[error(
        "{name:?} cannot be the name of a task; hint: give the problem a name of letters, digits, dashes, dots and underscores"
    )]
    UnfitName {
        /// The name.
        name: String,
    },
    /// No method has this name.
    #[error(
        "there is no method {name:?}; hint: a method is a strategy with its settings, such as mcbo, mcbo-paper-0.5 or eifn-paper"
    )]
    UnknownMethod {
        /// The name asked for.
        name: String,
    },
    /// The problem file of a task is wrong.
    #[error("the problem of task {task}: {errors}")]
    Problem {
        /// The task.
        task: String,
        /// What is wrong with it.
        errors: ProblemErrors,
    },
    /// A problem without a simulator cannot be run.
    #[error("the problem of task {task} has no [simulator]")]
    NoSimulator {
        /// The task.
        task: String,
    },
    /// A strategy gave no suggestion.
    #[error("task {task}, seed {seed}, round {round}: {error}")]
    Suggest {
        /// The task.
        task: String,
        /// The seed of the run.
        seed: u64,
        /// The round, from 1.
        round: usize,
        /// Why there is none.
        error: SuggestError,
    },
    /// A strategy suggested what the problem does not allow, or an experiment gave a number that is not finite.
    #[error("task {task}, seed {seed}, round {round}: {error}")]
    Data {
        /// The task.
        task: String,
        /// The seed of the run.
        seed: u64,
        /// The round, from 1; 0 for the initial design.
        round: usize,
        /// What is wrong with the observation.
        error: DataError,
    },
}
