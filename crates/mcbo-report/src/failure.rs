//! What users can mend: bad input, and problem files with mistakes.

use std::fmt;

use mcbo_core::{DataError, Diagnostic, ProblemErrors};

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

impl From<DataError> for BadInput {
    fn from(error: DataError) -> Self {
        let text = error.to_string();
        let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, "check what was given"));
        Self::new(message, hint)
    }
}
