//! `mcbo void`: trials that are not to count.

use anyhow::Result;

use crate::cli::Void;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{describe, store};

/// Takes trials out of a study, or puts them back, and says which.
pub fn run(arguments: &Void) -> Result<ExitCode> {
    let mut study = store::study_to_change(&arguments.storage, &arguments.study)?;
    let (trials, reason) = (&arguments.trials, &arguments.reason);
    let changed = if arguments.undo { study.restore(trials, reason)? } else { study.void(trials, reason)? };
    let name = describe::argument(&arguments.study);
    let console = Console::new(arguments.storage.quiet);
    let (there, becomes) = match arguments.undo {
        false => ("out already", "taken out; the model does not learn from"),
        true => ("not out", "put back; the model learns again from"),
    };
    if changed.is_empty() {
        console.note(&format!("{} of {name}: {there}", describe::trials(trials)));
        return Ok(ExitCode::SUCCESS);
    }
    let them = if changed.len() == 1 { "it" } else { "them" };
    console.note(&format!("{} of {name}: {becomes} {them}", describe::trials(&changed)));
    if !arguments.undo {
        let numbers: Vec<String> = changed.iter().map(ToString::to_string).collect();
        console.note(&format!("to put {them} back: mcbo void {name} {} --undo", numbers.join(" ")));
    }
    Ok(ExitCode::SUCCESS)
}
