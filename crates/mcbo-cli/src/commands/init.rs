//! `mcbo init`: a problem file to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::{Init, Template};
use crate::console::Console;
use crate::describe;
use crate::exit::ExitCode;
use crate::failure::BadInput;

fn text(template: Template) -> &'static str {
    match template {
        Template::Soft => include_str!("../../templates/soft.toml"),
        Template::Hard => include_str!("../../templates/hard.toml"),
        Template::Network => include_str!("../../templates/network.toml"),
        Template::Reactor => include_str!("../../templates/reactor.toml"),
        Template::Choices => include_str!("../../templates/choices.toml"),
    }
}

/// Writes the file and says what to do with it.
pub fn run(arguments: &Init) -> Result<ExitCode> {
    let (file, text) = (arguments.file.as_path(), text(arguments.template));
    if file == Path::new("-") {
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = file.display().to_string();
    let mut out =
        OpenOptions::new().write(true).create_new(true).open(file).map_err(|e| refused(file, &e))?;
    out.write_all(text.as_bytes()).with_context(|| format!("cannot write {shown}"))?;
    let name = describe::argument(&shown);
    let next = [
        (format!("mcbo check {name}"), "see what it says"),
        (format!("mcbo run {name}"), "optimise its simulator"),
        (format!("mcbo new NAME --problem {name}"), "begin a study: experiments of your own"),
    ];
    let width = next.iter().map(|(call, _)| call.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> =
        next.iter().map(|(call, what)| format!("\n  {call:<width$}    {what}")).collect();
    Console::new(false).note(&format!("Wrote {shown}. Try:{}", lines.concat()));
    Ok(ExitCode::SUCCESS)
}

fn refused(file: &Path, error: &std::io::Error) -> BadInput {
    let shown = file.display();
    let hint = match error.kind() {
        ErrorKind::AlreadyExists => {
            return BadInput::new(
                format!("{shown} exists already and is left as it is"),
                "give another name, as in `mcbo init other.toml`, or remove the file first",
            );
        }
        ErrorKind::NotFound => "create the directory first",
        _ => "give a file in a directory that you may write to",
    };
    BadInput::new(format!("cannot write {shown}: {error}"), hint)
}
