//! `mcbo new`: begins a study.

use anyhow::Result;

use crate::cli::New;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::run::kept;
use crate::{describe, problem, store};

/// Makes the study and says how to go on.
pub fn run(arguments: &New) -> Result<ExitCode> {
    let options = store::options(&arguments.chooser)?;
    if kept::is_unnamed(&arguments.study) {
        return Err(BadInput::new(
            format!("{:?} is a name for runs that have none", arguments.study),
            "choose a name that does not begin with run/",
        )
        .into());
    }
    let (text, problem) = problem::read_text(arguments.problem.path())?;
    let mut study = store::open(&arguments.storage)?.create(&arguments.study, &text, &options)?;
    let console = Console::new(arguments.storage.quiet);
    for warning in problem.warnings() {
        console.warning(&warning.to_string());
    }
    let (name, objective) = (describe::argument(study.name()), describe::objective(&problem));
    let design = match study.status()?.initial {
        0 => String::new(),
        count => {
            format!(
                "; the first {} spread over everything that can be chosen",
                describe::count(count, "trial")
            )
        }
    };
    console.note(&format!("study {name}: {objective}{design}\nnext: mcbo ask {name}"));
    Ok(ExitCode::SUCCESS)
}
