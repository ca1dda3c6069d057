//! The `mcbo` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(mcbo_cli::run(std::env::args_os()))
}
