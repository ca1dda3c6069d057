//! `mcbo delete`: a study goes for good.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;

use crate::cli::Delete;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::{describe, store};

/// Deletes a study, after asking where there is somebody to ask.
pub fn run(arguments: &Delete) -> Result<ExitCode> {
    let store = store::existing(&arguments.storage)?;
    store.open_study(&arguments.study)?;
    // Counted by the list: a study that cannot be read any more can still be deleted.
    let known = store.studies()?.into_iter().find(|study| study.name == arguments.study);
    let trials = known.map_or(0, |study| study.trials);
    let what = format!(
        "study {} with its {}",
        describe::argument(&arguments.study),
        describe::count(trials, "trial")
    );
    let console = Console::new(arguments.storage.quiet);
    if !arguments.yes {
        if !io::stdin().is_terminal() {
            return Err(BadInput::new(
                format!("{what} would be gone for good, and there is nobody here to ask"),
                "say --yes if that is what you want; `mcbo export` keeps its trials in a file",
            )
            .into());
        }
        if !confirmed(&what)? {
            console.note("nothing was deleted");
            return Ok(ExitCode::SUCCESS);
        }
    }
    store.delete(&arguments.study)?;
    console.note(&format!("{what} is deleted"));
    Ok(ExitCode::SUCCESS)
}

/// Asks a person; only a clear yes is one.
fn confirmed(what: &str) -> io::Result<bool> {
    write!(io::stderr(), "Delete {what} for good? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
