//! `mcbo add`: data that exist already.

mod table;

use anyhow::Result;
use mcbo_core::Study;
use mcbo_store::Row;

use crate::cli::Add;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::talk::Talk;
use crate::{problem, store, words};

use table::Rows;

/// Takes the rows of a file: all, or none unless told otherwise.
pub fn run(arguments: &Add) -> Result<ExitCode> {
    let text = problem::data(&arguments.csv)?;
    let mut study = store::study(&arguments.storage, &arguments.study)?;
    let state = study.study()?;
    let Rows { rows, mut bad, skipped } = table::read(state.problem(), &text)?;
    let plain: Vec<Row> = rows.iter().map(|(_, row)| row.clone()).collect();
    let faults = study.check(&plain)?;
    bad.extend(faults.iter().map(|fault| (rows[fault.index].0, fault.fault.to_string())));
    bad.sort();
    let talk = Talk::new(arguments.storage.quiet);
    if !bad.is_empty() && !arguments.skip_bad {
        return Err(refused(&arguments.csv, &bad).into());
    }
    for (line, fault) in &bad {
        talk.warning(&format!("line {line} is left out: {fault}"));
    }
    let good: Vec<Row> = plain
        .into_iter()
        .enumerate()
        .filter(|(index, _)| !faults.iter().any(|fault| fault.index == *index))
        .map(|(_, row)| row)
        .collect();
    if good.is_empty() {
        return Err(BadInput::new(
            format!("{} has no row to add", arguments.csv),
            "it needs a line of column names and a line for every experiment",
        )
        .into());
    }
    if !arguments.again && good.iter().all(|row| is_known(&state, row)) {
        return Err(BadInput::new(
            format!("the study has all {} already; none was added", words::count(good.len(), "row")),
            "--again adds them once more, as repeated measurements",
        )
        .into());
    }
    study.add(&good)?;
    let name = words::argument(study.name());
    talk.note(&format!("{} added to study {name}", words::count(good.len(), "row")));
    if skipped > 0 {
        talk.note(&format!("skipped {} of trials that are not complete", words::count(skipped, "row")));
    }
    Ok(ExitCode::SUCCESS)
}

/// Every bad row with its line.
fn refused(file: &str, bad: &[(u64, String)]) -> BadInput {
    const SHOWN: usize = 50;
    let indented = |fault: &str| fault.replace("; hint: ", "\n  hint: ");
    let mut lines: Vec<String> =
        bad.iter().take(SHOWN).map(|(line, fault)| format!("{file}:{line}: {}", indented(fault))).collect();
    if bad.len() > SHOWN {
        lines.push(format!("and {} more", bad.len() - SHOWN));
    }
    let count = words::count(bad.len(), "bad row");
    BadInput::new(
        format!("{count}, so none of {file} was added\n{}", lines.join("\n")),
        "mend them, or take the good rows with --skip-bad",
    )
}

/// Whether a trial of the study says the same: what was done, and what came of it.
fn is_known(study: &Study, row: &Row) -> bool {
    let Ok(observation) = row.observation(study.problem()) else { return false };
    study.data().observations().iter().any(|other| {
        let told = observation.values.iter().zip(&other.values);
        // The values of nodes that were set are filled in when a row is taken.
        other.intervention == observation.intervention
            && told.into_iter().all(|(new, old)| new.is_none() || new == old)
    })
}
