//! The mistakes of a problem, each with its place.

use std::fmt;
use std::ops::Range;

use super::ProblemError;

/// A mistake and where it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong.
    pub error: ProblemError,
    /// The bytes of the file that are wrong, if the problem came from a file.
    pub span: Option<Range<usize>>,
}

impl Diagnostic {
    /// What is wrong, in words.
    pub fn message(&self) -> String {
        self.error.to_string()
    }

    /// How to mend it, when there is an idea.
    pub fn hint(&self) -> Option<String> {
        self.error.hint()
    }
}

/// All mistakes of a problem, in the order of the file; never empty.
///
/// Its display form is what [`render`](Self::render) gives for a file called `problem`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemErrors {
    pub(in crate::problem) errors: Vec<Diagnostic>,
    pub(in crate::problem) source: Option<String>,
}

impl ProblemErrors {
    pub(in crate::problem) fn new(mut errors: Vec<Diagnostic>, source: Option<String>) -> Self {
        errors.sort_by_key(|error| error.span.as_ref().map_or(usize::MAX, |span| span.start));
        Self { errors, source }
    }

    /// All mistakes, those with a place in the order of the file.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }
}

impl fmt::Display for ProblemErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render("problem").trim_end())
    }
}

impl std::error::Error for ProblemErrors {}
