//! `mcbo rename`: another name for a study.

use anyhow::Result;

use crate::cli::Twin;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{describe, store};

/// Renames a study.
pub fn run(arguments: &Twin) -> Result<ExitCode> {
    store::existing(&arguments.storage)?.rename(&arguments.study, &arguments.new)?;
    let (name, new) = (describe::argument(&arguments.study), describe::argument(&arguments.new));
    Console::new(arguments.storage.quiet).note(&format!("study {name} is called {new} now"));
    Ok(ExitCode::SUCCESS)
}
