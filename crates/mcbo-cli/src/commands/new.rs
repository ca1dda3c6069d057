//! `mcbo new`: begins a study.

use anyhow::Result;

use crate::cli::New;
use crate::exit::ExitCode;
use crate::talk::Talk;
use crate::{problem, store, words};

/// Makes the study and says how to go on.
pub fn run(arguments: &New) -> Result<ExitCode> {
    let options = store::options(&arguments.chooser)?;
    let (text, problem) = problem::read_text(&arguments.problem)?;
    let mut study = store::open(&arguments.storage)?.create(&arguments.study, &text, &options)?;
    let talk = Talk::new(arguments.storage.quiet);
    for warning in problem.warnings() {
        talk.warning(&warning.to_string());
    }
    let (name, design) = (words::argument(study.name()), words::count(study.status()?.initial, "trial"));
    talk.note(&format!(
        "study {name}: {}; the first {design} spread over everything that can be chosen\nnext: mcbo ask {name}",
        words::objective(&problem)
    ));
    Ok(ExitCode::SUCCESS)
}
