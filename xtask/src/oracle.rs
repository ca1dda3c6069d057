//! The reference figures of mcbo-gp, made by Python libraries that share no code with it.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::python::environment;
use crate::run::{Step, root};

const FOLDER: &str = "crates/mcbo-gp/tests/oracle";

/// Makes a virtual environment with the pinned libraries and runs the script in it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = arguments.iter().find(|argument| *argument != "--check") {
        return Err(Failure::Usage(format!("oracle has no option {unknown:?}\nhint: it knows --check")));
    }
    let folder = Path::new(FOLDER);
    let python = environment(".venv", &folder.join("requirements.txt"))?;
    let mut figures = Command::new(python);
    figures.arg(folder.join("make.py")).args(arguments).current_dir(root());
    let hint = "figures that two sources do not agree on are not written: look at the case named above";
    Step { name: "figures", command: figures, hint }.run(true)
}
