//! `cargo xtask fuzz`: anything at all as input, for as long as wanted.

use crate::Failure;
use crate::run::cargo;

/// Runs the test that feeds every reader, for some minutes.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let usage = || Failure::Usage("fuzz takes --minutes M, --seed N and --only KIND[,KIND…]".into());
    let (mut minutes, mut seed, mut only) = ("1".to_owned(), "0".to_owned(), None);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(usage)?;
        match argument.as_str() {
            "--minutes" if value.parse::<f64>().is_ok_and(|minutes| minutes > 0.0) => {
                minutes.clone_from(value)
            }
            "--seed" if value.parse::<u64>().is_ok() => seed.clone_from(value),
            "--only" => only = Some(value.clone()),
            _ => return Err(usage()),
        }
    }
    let mut command =
        cargo(&["test", "--release", "--workspace", "--test", "fuzz", "--", "--ignored", "--nocapture"]);
    command.env("MCBO_FUZZ_MINUTES", minutes).env("MCBO_FUZZ_SEED", seed);
    command.envs(only.map(|only| ("MCBO_FUZZ_ONLY", only)));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::Failed("an input was found that breaks something; it stands above".into())),
        Err(error) => Err(Failure::Failed(format!("cargo cannot be started: {error}"))),
    }
}
