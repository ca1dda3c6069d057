//! Commands and the steps made of them.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Failure;

/// The root of the repository.
pub fn root() -> PathBuf {
    let xtask =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    xtask.parent().map_or_else(|| xtask.clone(), Path::to_path_buf)
}

/// The cargo that started this chore, with arguments, in the root of the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Whether `cargo <subcommand>` is installed.
pub fn has_cargo(subcommand: &str) -> bool {
    let mut version = cargo(&[subcommand, "--version"]);
    version.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Whether a line is a test runner's count of tests, of one at least.
fn is_summary(line: &str) -> bool {
    line.starts_with("Summary [")
        || line.contains(" passed in ")
        || line.starts_with("test result: ") && !line.contains(" 0 passed; 0 failed;")
}

/// One command of a chore, told in one line.
pub struct Step {
    /// A word or two for the line.
    pub name: &'static str,
    /// What is run.
    pub command: Command,
    /// What to do when it fails.
    pub hint: &'static str,
}

impl Step {
    /// Runs the command and prints its name, outcome and time.
    ///
    /// Its own output is shown when it fails, or as it comes with `verbose`.
    pub fn run(mut self, verbose: bool) -> Result<(), Failure> {
        let start = Instant::now();
        if verbose {
            eprintln!("---- {}: {:?}", self.name, self.command);
        } else {
            eprint!("{:<10} ", self.name);
            // The line is only a courtesy: a closed stderr is no reason to stop.
            let _ = io::stderr().flush();
        }
        let mut said = Vec::new();
        let ended = if verbose {
            self.command.status()
        } else {
            // rustfmt colours its differences for a terminal of this name even when nobody looks.
            self.command.env("TERM", "dumb");
            self.command.stdin(Stdio::null()).output().map(|output| {
                said.extend(output.stderr);
                said.extend(output.stdout);
                output.status
            })
        };
        let seconds = start.elapsed().as_secs_f64();
        if verbose {
            eprint!("{:<10} ", self.name);
        }
        match ended {
            Ok(status) if status.success() => {
                eprintln!("ok     {seconds:7.1} s");
                // How many tests ran is worth a line each, whatever the runner.
                let said = String::from_utf8_lossy(&said);
                for line in said.lines().map(str::trim).filter(|line| is_summary(line)) {
                    eprintln!("           {line}");
                }
                Ok(())
            }
            Ok(status) => {
                eprintln!("FAILED {seconds:7.1} s");
                let _ = io::stderr().write_all(&said);
                let Self { name, command, hint } = self;
                Err(Failure::Failed(format!("{name} failed with {status}: {command:?}\nhint: {hint}")))
            }
            Err(error) => {
                eprintln!("FAILED {seconds:7.1} s");
                let Self { command, hint, .. } = self;
                Err(Failure::Failed(format!("cannot run {command:?}: {error}\nhint: {hint}")))
            }
        }
    }
}
