//! `mcbo update`: goes on with a changed problem file.

use anyhow::Result;

use crate::cli::Update;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{describe, problem, store};

/// Changes the problem of a study.
pub fn run(arguments: &Update) -> Result<ExitCode> {
    let (text, problem) = problem::read_text(arguments.problem.path())?;
    let mut study = store::study_to_change(&arguments.storage, &arguments.study)?;
    let same = study.problem_toml()? == text;
    study.change_problem(&text)?;
    let console = Console::new(arguments.storage.quiet);
    for warning in problem.warnings() {
        console.warning(&warning.to_string());
    }
    let name = describe::argument(study.name());
    console.note(&match same {
        true => format!("study {name}: that is the problem it has already"),
        false => format!("study {name}: goes on with the changed problem"),
    });
    Ok(ExitCode::SUCCESS)
}
