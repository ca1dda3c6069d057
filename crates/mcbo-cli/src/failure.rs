//! How a command ends when it does not end well.

use std::fmt;
use std::io;

use mcbo_core::{DataError, Diagnostic, ProblemErrors, StudyError};
use mcbo_store::{RowFault, StoreError};

use crate::console;
use crate::exit::ExitCode;

/// Bad usage or bad input: the user can mend it. Exit code 2.
#[derive(Debug)]
pub struct BadInput {
    message: String,
    hint: String,
}

impl BadInput {
    /// What is wrong, and how to mend it.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.message, self.hint)
    }
}

impl std::error::Error for BadInput {}

/// A problem file with mistakes. Exit code 2.
#[derive(Debug)]
pub struct BadFile {
    /// The file's name as the user wrote it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What is wrong with it.
    pub errors: ProblemErrors,
}

impl BadFile {
    /// The line and the column of a mistake, both from 1, if it has a place.
    pub fn place(&self, mistake: &Diagnostic) -> Option<(usize, usize)> {
        let before = self.text.get(..mistake.span.as_ref()?.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.errors.render(&self.file);
        // The report names every mistake an error already; the first one is named by whoever prints this.
        let report = report.strip_prefix("error: ").unwrap_or(&report);
        write!(f, "{}", report.trim_end())?;
        match self.errors.errors().len() {
            1 => Ok(()),
            count => write!(f, "\n\n{count} mistakes in {}", self.file),
        }
    }
}

impl std::error::Error for BadFile {}

/// Whether nobody listens any more.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken_pipe)
}

/// Prints the error and says with which code to end: 0 if only nobody listens any more, 2 for bad input, else 1.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    // Errors of the library keep their hint in the same line.
    console::error(&format!("{error:#}").replace("; hint: ", "\nhint: "));
    let bad_input = error.is::<BadInput>()
        || error.is::<BadFile>()
        || error.is::<RowFault>()
        || error.is::<DataError>()
        || error.downcast_ref::<StudyError>().is_some_and(is_refused)
        || error.downcast_ref::<StoreError>().is_some_and(is_bad_input);
    if bad_input { ExitCode::BAD_INPUT } else { ExitCode::FAILURE }
}

/// Whether a study refuses what it is told, rather than fails to answer.
fn is_refused(error: &StudyError) -> bool {
    !matches!(error, StudyError::Suggest(_))
}

/// Whether what the store refuses is for the user to mend, rather than something that went wrong.
fn is_bad_input(error: &StoreError) -> bool {
    use StoreError as Of;
    match error {
        Of::Study(error) => is_refused(error),
        Of::BadUrl { .. }
        | Of::NotADatabase { .. }
        | Of::NotOurs { .. }
        | Of::NoStore { .. }
        | Of::NoStudy { .. }
        | Of::StudyExists { .. }
        | Of::BadName { .. }
        | Of::Deleted { .. }
        | Of::Problem(_)
        | Of::Strategy { .. }
        | Of::Twice { .. }
        | Of::Rows(_)
        | Of::KnownRows(_)
        | Of::Change(_)
        | Of::NotProposed { .. } => true,
        _ => false,
    }
}
