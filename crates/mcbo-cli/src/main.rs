//! The `mcbo` command: the only crate that prints. stdout carries data, stderr everything else.

mod cli;
mod commands;
mod failure;
mod interrupt;
mod json;
mod number;
mod problem;
mod run;
mod strategies;
mod table;
mod talk;
mod words;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    let outcome = match cli.command {
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
    };
    outcome.unwrap_or_else(|error| failure::report(&error))
}
