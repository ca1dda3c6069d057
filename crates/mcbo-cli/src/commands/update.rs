//! `mcbo update`: goes on with a changed problem file.

use anyhow::Result;

use crate::cli::Update;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{describe, problem, store};
use mcbo_report::changes::changes;

/// Changes the problem of a study.
pub fn run(arguments: &Update) -> Result<ExitCode> {
    let (text, problem) = problem::read_text(arguments.problem.path())?;
    let mut study = store::study_to_change(&arguments.storage, &arguments.study)?;
    let before = study.problem()?;
    let same = study.problem_toml()? == text;
    study.change_problem(&text)?;
    let console = Console::new(arguments.storage.quiet);
    for warning in problem.warnings() {
        console.warning(&warning.to_string());
    }
    let name = describe::argument(study.name());
    let changes = changes(&before, &problem);
    console.note(&match (same, changes.is_empty()) {
        (true, _) => format!("study {name}: that is the problem it has already"),
        (_, true) => format!("study {name}: goes on with the changed file, which says the same"),
        _ => format!("study {name}: goes on with the changed problem"),
    });
    for change in &changes {
        console.note(&format!("  {change}"));
    }
    let state = study.study()?;
    super::warn_of_outside(&state, &console);
    for (number, fault) in state.not_allowed() {
        console.warning(&format!(
            "trial {number} is under way, and would not be proposed any more: {}; hint: tell it if it is done already, or mcbo void {name} {number} and ask again", fault.without_hint()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
