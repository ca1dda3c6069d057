//! The reference figures of mcbo-gp, made by Python libraries that share no code with it.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::run::{Step, root};

const FOLDER: &str = "crates/mcbo-gp/tests/oracle";

/// Makes a virtual environment with the pinned libraries and runs the script in it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = arguments.iter().find(|argument| *argument != "--check") {
        return Err(Failure::Usage(format!("oracle has no option {unknown:?}\nhint: it knows --check")));
    }
    let folder = Path::new(FOLDER);
    let python = if cfg!(windows) { ".venv/Scripts/python.exe" } else { ".venv/bin/python" };

    let mut environment = Command::new(if cfg!(windows) { "python" } else { "python3" });
    environment.args(["-m", "venv", ".venv"]).current_dir(root());
    let hint = "Python 3.11 or newer with its venv module is needed";
    Step { name: "python", command: environment, hint }.run(false)?;

    // A relative program is looked up before the working directory changes: name it in full.
    let python = root().join(python);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    install.arg(folder.join("requirements.txt")).current_dir(root());
    let hint = "the pinned versions need a package index and a Python they support";
    Step { name: "libraries", command: install, hint }.run(false)?;

    let mut figures = Command::new(&python);
    figures.arg(folder.join("make.py")).args(arguments).current_dir(root());
    let hint = "figures that two sources do not agree on are not written: look at the case named above";
    Step { name: "figures", command: figures, hint }.run(true)
}
