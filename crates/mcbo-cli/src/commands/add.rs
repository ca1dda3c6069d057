//! `mcbo add`: data that exist already.

use anyhow::Result;
use mcbo_report::Suspected;
use mcbo_report::rows::{self, Rows};
use mcbo_store::{Duplicates, StoreError};

use crate::cli::Add;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::{describe, problem, store};

/// Takes the rows of a file: all, or none unless told otherwise.
pub fn run(arguments: &Add) -> Result<ExitCode> {
    let file = arguments.csv.path();
    let source = problem::source(file)?;
    let mut study = store::study_to_change(&arguments.storage, &arguments.study)?;
    let problem = study.problem()?;
    let Rows { table: mut good, mut lines, mut bad, skipped, comma } =
        rows::read(&problem, source, arguments.missing.is_some())
            .map_err(|(message, hint)| BadInput::new(format!("{file}: {message}"), hint))?;
    let faults = study.check_table(&good)?;
    bad.extend(faults.iter().map(|fault| (lines[fault.index], fault.fault.to_string())));
    bad.sort();
    let console = Console::new(arguments.storage.quiet);
    if !bad.is_empty() && !arguments.skip_bad {
        return Err(refused(file, &bad).into());
    }
    for (line, fault) in &bad {
        console.warning(&format!("line {line} is left out: {fault}"));
    }
    if let Some(example) = comma {
        console.note(&rows::decimal_comma(&example));
    }
    let left_out: Vec<usize> = faults.iter().map(|fault| fault.index).collect();
    good.leave_out(&left_out);
    let mut places = 0..;
    lines.retain(|_| places.next().is_some_and(|place| left_out.binary_search(&place).is_err()));
    if skipped > 0 {
        console.note(&format!(
            "skipped {} of trials that are pending, have failed or were taken out",
            describe::count(skipped, "row")
        ));
    }
    if good.is_empty() {
        return Err(BadInput::new(
            format!("{file} has no row to add"),
            "it needs a line of column names and a line for every experiment that was measured",
        )
        .into());
    }
    let known = match (arguments.again, arguments.only_new) {
        (true, _) => Duplicates::Take,
        (_, true) => Duplicates::Skip,
        _ => Duplicates::Refuse,
    };
    let added = match study.add_table(&good, known) {
        Err(StoreError::KnownRows(places)) => return Err(known_already(file, &lines, &places).into()),
        added => added?,
    };
    let name = describe::argument(study.name());
    console.note(&format!("{} added to study {name}", describe::count(added, "row")));
    if added < good.len() {
        console.note(&format!("{} there already", describe::count(good.len() - added, "row")));
    }
    let state = study.into_study()?;
    super::warn_of_outside(&state, &console);
    let before = state.trials().len() - added;
    let came = |odd: &mcbo_core::Oddity| odd.trials().last().is_some_and(|last| *last > before);
    super::warn_of_odd(&Suspected::of(&state), came, &console);
    Ok(ExitCode::SUCCESS)
}

/// Lines that say nothing new.
fn known_already(file: &str, lines: &[u64], places: &[usize]) -> BadInput {
    const SHOWN: usize = 10;
    let shown: Vec<String> = places.iter().take(SHOWN).map(|&place| lines[place].to_string()).collect();
    let more = if places.len() > SHOWN { ", ..." } else { "" };
    let what = if places.len() == lines.len() {
        "all rows of it".into()
    } else {
        describe::count(places.len(), "row")
    };
    BadInput::new(
        format!("the study has {what} already, so none of {file} was added: line {}{more}", shown.join(", ")),
        "--only-new adds the others; --again adds all, as repeated measurements",
    )
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
    let count = describe::count(rows::lines(bad), "bad row");
    BadInput::new(
        format!("{count}, so none of {file} was added\n{}", lines.join("\n")),
        "mend them, or take the good rows with --skip-bad",
    )
}
