//! Mistakes become Python exceptions, in the same words as on the command line.

use mcbo_bench::BenchError;
use mcbo_core::{DataError, ProblemErrors, StudyError, SuggestError};
use mcbo_store::StoreError;
use pyo3::prelude::*;

/// Anything that can go wrong outside Python.
pub enum Fault {
    /// A Python exception, from a strategy of the user's for example.
    Python(PyErr),
    /// A problem with mistakes, and the name of its file.
    Problem(ProblemErrors, String),
    /// A study in memory refuses.
    Study(StudyError),
    /// A study in a store refuses, or the store fails.
    Store(StoreError),
    /// A task or a run of it.
    Bench(BenchError),
    /// A strategy that cannot be made or used.
    Strategy(String),
    /// A call of a study from inside its own strategy.
    Reentered,
    /// A panic: a mistake of ours.
    Internal(String),
}

impl From<StudyError> for Fault {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Self {
        Self::Study(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<BenchError> for Fault {
    fn from(error: BenchError) -> Self {
        Self::Bench(error)
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// An exception of the package, by the name of its class in `mcbo._errors`.
pub fn exception(class: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let class = py.import("mcbo._errors").and_then(|module| module.getattr(class));
        match class.and_then(|class| class.call1((message,))) {
            Ok(value) => PyErr::from_value(value),
            Err(error) => error,
        }
    })
}

/// A mistake in the numbers that were given.
pub fn data_error(message: impl Into<String>) -> PyErr {
    exception("DataError", message.into())
}

fn study_class(error: &StudyError) -> &'static str {
    match error {
        StudyError::Data(_) | StudyError::NoData => "DataError",
        StudyError::Suggest(_) => "StrategyError",
        _ => "TrialError",
    }
}

fn store_class(error: &StoreError) -> &'static str {
    match error {
        StoreError::NoStudy { .. } | StoreError::Deleted { .. } => "StudyNotFoundError",
        StoreError::StudyExists { .. } => "StudyExistsError",
        StoreError::Problem(_) | StoreError::Change(_) => "ProblemError",
        StoreError::Strategy { .. } => "StrategyError",
        StoreError::Study(error) => study_class(error),
        StoreError::Twice { .. } | StoreError::Rows(_) => "DataError",
        StoreError::NotProposed { .. } => "TrialError",
        _ => "StorageError",
    }
}

fn bench_class(error: &BenchError) -> &'static str {
    match error {
        BenchError::Suggest { error: SuggestError::Own { .. } | SuggestError::Fit(_), .. }
        | BenchError::UnknownMethod { .. } => "StrategyError",
        BenchError::Data { .. } => "DataError",
        BenchError::Problem { .. } => "ProblemError",
        _ => "TaskError",
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Python(error) => error.fmt(f),
            Self::Problem(errors, file) => f.write_str(errors.render(file).trim_end()),
            Self::Study(error) => error.fmt(f),
            Self::Store(StoreError::Problem(errors)) => f.write_str(errors.render("problem").trim_end()),
            Self::Store(error) => error.fmt(f),
            Self::Bench(error) => error.fmt(f),
            Self::Strategy(reason) => f.write_str(reason),
            Self::Reentered => f.write_str(
                "a strategy cannot call the study that is asking it; hint: all it may look at is in the context",
            ),
            Self::Internal(what) => {
                write!(f, "a mistake in mcbo itself: {what}; hint: the study is as it was; please report it")
            }
        }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        let message = fault.to_string();
        let class = match fault {
            Fault::Python(error) => return error,
            Fault::Problem(..) | Fault::Store(StoreError::Problem(_)) => "ProblemError",
            Fault::Study(error) => study_class(&error),
            Fault::Store(error) => store_class(&error),
            Fault::Bench(error) => bench_class(&error),
            Fault::Strategy(_) | Fault::Reentered => "StrategyError",
            Fault::Internal(_) => "InternalError",
        };
        exception(class, message)
    }
}
