//! `mcbo report`: one page about a study, which needs nothing but itself.

use std::io::Write as _;

use anyhow::{Context, Result};
use mcbo_report::page::{Looks, Modelled, Subject, report};

use crate::cli::Report as Arguments;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{assignment, describe, store};

/// Writes the page.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut stored = store::study(&arguments.storage, &arguments.study)?;
    let (status, study, trials) = (stored.status()?, stored.study()?, stored.trials()?);
    let given = assignment::given(study.problem(), &arguments.given.given)?;
    let model = match study.data().is_empty() {
        true => None,
        false => Some(super::with_threads(arguments.threads, || Ok(Modelled::of_share(&study, &given)?))?),
    };
    let (name, model) = (arguments.study.as_str(), model.as_ref());
    let subject = Subject { name, status: &status, study: &study, trials: &trials, model };
    let page = report(&subject, Looks::Inside);
    if arguments.out == "-" {
        std::io::stdout().lock().write_all(page.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::write(&arguments.out, &page).with_context(|| format!("{} cannot be written", arguments.out))?;
    let name = describe::argument(&arguments.study);
    Console::new(arguments.storage.quiet).note(&format!("{}: one page about {name}", arguments.out));
    Ok(ExitCode::SUCCESS)
}
