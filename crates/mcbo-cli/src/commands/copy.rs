//! `mcbo copy`: a study once more, under another name.

use anyhow::Result;

use crate::cli::Twin;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{describe, store};

/// Copies a study.
pub fn run(arguments: &Twin) -> Result<ExitCode> {
    let mut copy = store::existing(&arguments.storage)?.copy(&arguments.study, &arguments.new)?;
    let trials = describe::count(copy.status()?.trials, "trial");
    let (name, new) = (describe::argument(&arguments.study), describe::argument(&arguments.new));
    let console = Console::new(arguments.storage.quiet);
    console.note(&format!(
        "study {new} is a copy of {name}, with its {trials}; from here on they go their own ways"
    ));
    Ok(ExitCode::SUCCESS)
}
