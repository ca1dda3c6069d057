//! Benchmarks.

use crate::Failure;
use crate::run::cargo;

/// `cargo bench -p mcbo-core` with the arguments as they are.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut command = cargo(&["bench", "-p", "mcbo-core"]);
    command.args(arguments);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Failed(format!("the benchmarks ended with {status}"))),
        Err(error) => Err(Failure::Failed(format!("cannot run {command:?}: {error}"))),
    }
}
