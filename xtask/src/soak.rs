//! `cargo xtask soak`: workers on a server that is restarted under them, for as long as wanted.

use crate::Failure;
use crate::run::cargo;

/// Runs the test that kills workers and restarts the server, for some minutes.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let minutes = match arguments {
        [] => "10",
        [option, minutes]
            if option == "--minutes" && minutes.parse::<f64>().is_ok_and(|minutes| minutes > 0.0) =>
        {
            minutes
        }
        _ => return Err(Failure::Usage("soak takes --minutes M".into())),
    };
    let mut command = cargo(&[
        "test",
        "--workspace",
        "--test",
        "processes",
        "--",
        "--ignored",
        "--exact",
        "--nocapture",
        "soak::soak",
    ]);
    command.env("MCBO_SOAK_MINUTES", minutes).env("MCBO_REQUIRE_POSTGRES", "1");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::Failed("something was lost or doubled; it stands above".into())),
        Err(error) => Err(Failure::Failed(format!("cargo cannot be started: {error}"))),
    }
}
