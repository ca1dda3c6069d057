//! `mcbo log`: who did what, and when.

use std::io::Write;

use anyhow::Result;
use mcbo_report::log::{object, sentence};
use mcbo_store::{Deed, Happening};

use crate::cli::Log;
use crate::exit::ExitCode;
use crate::table::{self, Align, Table};
use crate::{store, timestamp};

/// Prints what happened to a study.
pub fn run(arguments: &Log) -> Result<ExitCode> {
    let mut study = store::study(&arguments.storage, &arguments.study)?;
    let (history, state) = (study.history()?, study.study()?);
    let problem = state.problem();
    if arguments.json {
        for happening in &history {
            super::write_line(&object(problem, happening))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let now = timestamp::now();
    let mut table = Table::new([("when", Align::Left), ("who", Align::Left), ("what", Align::Left)]);
    // Signs of life would be most of the story.
    let told = |happening: &&Happening| !matches!(happening.what, Deed::Kept { .. });
    for happening in history.iter().filter(told) {
        let who = happening.who.clone().unwrap_or_else(|| "-".into());
        table.row([timestamp::relative(happening.at, now), who, sentence(problem, &happening.what)]);
    }
    let mut out = anstream::stdout().lock();
    table.write(&mut out, table::width())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
