//! The `mcbo` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    without_secrets();
    ExitCode::from(mcbo_cli::run(std::env::args_os()))
}

/// Begins again with the address in the environment if the command line has one with a password: whoever lists the processes of
/// this computer can read command lines. If that fails, all goes on as it is.
#[cfg(unix)]
fn without_secrets() {
    use std::os::unix::process::CommandExt;
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let Some((url, rest)) = mcbo_cli::secret_storage(&arguments) else { return };
    let Ok(program) = std::env::current_exe() else { return };
    let mut again = std::process::Command::new(program);
    if let Some(name) = std::env::args_os().next() {
        again.arg0(name);
    }
    let _ = again.args(rest).env("MCBO_STORAGE", url).exec();
}
