//! Times and rewards beside other libraries, measured in one session.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::python::environment;
use crate::run::{Step, cargo, root};

const FOLDER: &str = "xtask/peers";

/// Makes a virtual environment with the peers, builds our side and runs the comparison.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    check(arguments)?;
    let folder = Path::new(FOLDER);
    let python = environment(".venv-peers", &folder.join("requirements.txt"))?;
    Step {
        name: "build",
        command: cargo(&["build", "--release", "--package", "mcbo-bench", "--example", "peers"]),
        hint: "mend what the compiler names above",
    }
    .run(false)?;
    let mut compare = Command::new(python);
    compare.arg(folder.join("peers.py")).args(arguments).current_dir(root());
    let hint = "look at what the script or a library says above; the page is as it was, finished runs with choices are kept";
    Step { name: "peers", command: compare, hint }.run(true)
}

/// Refuses what the script would refuse, before anything is built or installed.
fn check(arguments: &[String]) -> Result<(), Failure> {
    let hint =
        "hint: it knows --only paper or choices, --seeds N and --rounds N from 1, and --minutes N from 0";
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().map_or("", String::as_str);
        let fits = match option.as_str() {
            "--only" => ["paper", "choices"].contains(&value),
            "--seeds" | "--rounds" => value.parse::<u32>().is_ok_and(|count| count > 0),
            "--minutes" => value.parse::<u32>().is_ok(),
            _ => return Err(Failure::Usage(format!("peers has no option {option:?}\n{hint}"))),
        };
        if !fits {
            return Err(Failure::Usage(format!("{option} cannot be {value:?}\n{hint}")));
        }
    }
    Ok(())
}
