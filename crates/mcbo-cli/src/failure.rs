//! How a command ends when it does not end well.

use std::io;

use mcbo_core::{DataError, StudyError};
pub use mcbo_report::{BadFile, BadInput};
use mcbo_store::{RowFault, StoreError};

use crate::console;
use crate::exit::ExitCode;

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
        || error.downcast_ref::<StudyError>().is_some_and(StudyError::is_refusal)
        || error.downcast_ref::<StoreError>().is_some_and(StoreError::is_refusal);
    if bad_input { ExitCode::BAD_INPUT } else { ExitCode::FAILURE }
}
