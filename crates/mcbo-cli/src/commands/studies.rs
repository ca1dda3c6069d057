//! `mcbo studies`: the list of studies.

use std::io::Write;

use anyhow::Result;
use mcbo_store::Summary;
use serde_json::Value;

use crate::cli::Studies;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::run::kept::is_unnamed;
use crate::table::{self, Align, Table};
use crate::{store, timestamp};

/// Lists the studies of a store.
pub fn run(arguments: &Studies) -> Result<ExitCode> {
    // Somebody who has no studies yet is no mistake; a place without any, that was named, is.
    let storage = &arguments.storage;
    let named = storage.storage.is_some();
    let all = match store::existing(storage) {
        Err(error) if !named && error.is::<BadInput>() => Vec::new(),
        opened => opened?.studies()?,
    };
    let count = all.len();
    let shown: Vec<Summary> =
        all.into_iter().filter(|study| arguments.all || !is_unnamed(&study.name)).collect();
    if arguments.json {
        let studies: Vec<Value> = shown.iter().map(mcbo_report::status::summary).collect();
        super::write_line(&studies.into())?;
        return Ok(ExitCode::SUCCESS);
    }
    let console = Console::new(arguments.storage.quiet);
    if shown.is_empty() {
        console.note("no studies yet; `mcbo new NAME --problem FILE` begins one");
    } else {
        use Align::{Left, Right};
        let numbers = ["trials", "complete", "pending", "failed"].map(|name| (name, Right));
        let mut table = Table::new([("study", Left)].into_iter().chain(numbers).chain([("changed", Left)]));
        let now = timestamp::now();
        for study in &shown {
            let counts = [study.trials, study.complete, study.pending, study.failed];
            let mut row = vec![study.name.clone()];
            row.extend(counts.map(|count| count.to_string()));
            row.push(timestamp::relative(study.changed, now));
            table.row(row);
        }
        let mut out = anstream::stdout().lock();
        table.write(&mut out, table::width())?;
        out.flush()?;
    }
    if count > shown.len() {
        console.note(&format!("{} of `mcbo run --exec` not shown; --all shows them", count - shown.len()));
    }
    Ok(ExitCode::SUCCESS)
}
