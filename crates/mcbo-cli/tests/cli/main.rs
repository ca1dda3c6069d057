//! The real binary, command by command.

mod bench;
mod broken;
mod check;
#[cfg(unix)]
mod exec;
mod guide;
mod honest;
mod init;
mod insight;
#[cfg(unix)]
mod interrupt;
mod kept;
#[cfg(unix)]
mod kills;
mod kinds;
mod marks;
mod output;
mod records;
mod run;
mod study;
mod tables;
mod walk;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a call of the binary gave.
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Done {
    /// Fails unless the call ended with this code.
    fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Every line of stdout, which must be JSON and nothing else.
    fn json(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(parse).collect()
    }
}

/// The binary, in a directory, without a terminal and without the settings of whoever runs the tests. Studies are kept in
/// the directory, unless that is the one of the examples.
fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcbo"));
    command.current_dir(directory).stdin(Stdio::null());
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let store = if directory.starts_with(examples()) {
        scratch.join(format!("examples-{}.sqlite", std::process::id()))
    } else {
        directory.join("studies.sqlite")
    };
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "MCBO_WORKER"] {
        command.env_remove(name);
    }
    command.env("MCBO_STORAGE", format!("sqlite://{}", store.display()));
    command
}

fn finish(mut command: Command) -> Done {
    let output = command.output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Calls the binary in a directory.
fn mcbo_in(directory: &Path, arguments: &[&str]) -> Done {
    let mut command = command(directory);
    command.args(arguments);
    finish(command)
}

/// Calls the binary in the directory of the examples.
fn mcbo(arguments: &[&str]) -> Done {
    mcbo_in(&examples(), arguments)
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A directory of its own with one problem file in it.
fn with_file(name: &str, text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join(name), text).expect("the file is written");
    directory
}
