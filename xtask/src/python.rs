//! Python with pinned libraries, in a virtual environment of the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;
use crate::run::{Step, root};

fn interpreter() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

/// Whether there is a Python that can make environments.
pub fn is_usable() -> bool {
    let mut look = Command::new(interpreter());
    look.args(["-c", "import ensurepip, venv"]).stdout(Stdio::null()).stderr(Stdio::null());
    look.status().is_ok_and(|status| status.success())
}

/// Makes the environment `name` in the root with the libraries of `requirements`; gives its interpreter.
pub fn environment(name: &str, requirements: &Path) -> Result<PathBuf, Failure> {
    let mut make = Command::new(interpreter());
    make.args(["-m", "venv", name]).current_dir(root());
    let hint = "Python 3.11 or newer with its venv module is needed";
    Step { name: "python", command: make, hint }.run(false)?;

    // A relative program is looked up before the working directory changes: name it in full.
    let python = root().join(name).join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    install.arg(requirements).current_dir(root());
    let hint = "the pinned versions need a package index and a Python they support";
    Step { name: "libraries", command: install, hint }.run(false)?;
    Ok(python)
}
