//! The `mcbo` command as a function: the only crate that prints. stdout carries data, stderr everything else.

mod cli;
mod commands;
mod console;
mod exit;
mod failure;
#[doc(hidden)]
pub mod fuzz;
mod interrupt;
mod problem;
mod run;
mod show;
mod store;
mod strategies;
mod table;

use std::ffi::OsString;

use clap::Parser;

// What is said of a study is said by others as well; here it goes by the same names.
use mcbo_report::{assignment, describe, drawn, json, number, timestamp, why};

use cli::{Cli, Command};
use exit::ExitCode;

pub use store::secret as secret_storage;

/// Runs a command line, the program's name first, and says with which code to end.
pub fn run<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and versions go to stdout, mistakes to stderr; that nobody reads them is no reason to fail.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::BAD_INPUT.0 } else { ExitCode::SUCCESS.0 };
        }
    };
    cli.color.apply();
    let outcome = match cli.command {
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::New(arguments) => commands::new::run(&arguments),
        Command::Studies(arguments) => commands::studies::run(&arguments),
        Command::Ask(arguments) => commands::ask::run(&arguments),
        Command::Tell(arguments) => commands::tell::run(&arguments),
        Command::Add(arguments) => commands::add::run(&arguments),
        Command::Best(arguments) => commands::best::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Plot(arguments) => commands::plot::run(&arguments),
        Command::Update(arguments) => commands::update::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(&arguments),
        Command::Correct(arguments) => commands::correct::run(&arguments),
        Command::Void(arguments) => commands::void::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Effects(arguments) => commands::effects::run(&arguments),
        Command::Log(arguments) => commands::log::run(&arguments),
        Command::Copy(arguments) => commands::copy::run(&arguments),
        Command::Rename(arguments) => commands::rename::run(&arguments),
        Command::Delete(arguments) => commands::delete::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
    };
    outcome.unwrap_or_else(|error| failure::report(&error)).0
}
