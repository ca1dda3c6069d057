//! `mcbo init`: a problem file to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};
use mcbo_core::Problem;

use crate::cli::Init;
use crate::console::Console;
use crate::drawn::Drawn;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::{describe, problem};

/// Writes the file and says what to do with it.
pub fn run(arguments: &Init) -> Result<ExitCode> {
    let file = arguments.file.as_path();
    let text = match &arguments.from {
        None => arguments.template.text().to_owned(),
        Some(graph) => {
            let bad = |(message, hint): (String, String)| BadInput::new(format!("{graph}: {message}"), hint);
            let text = Drawn::read(&problem::data(graph)?).map_err(bad)?.toml();
            // A circle, for example.
            Problem::from_toml(&text).map_err(|errors| {
                let first = errors.to_string().lines().next().unwrap_or_default().to_owned();
                BadInput::new(
                    format!("{graph} is no graph of causes: {first}"),
                    "draw arrows from causes to effects, without circles",
                )
            })?;
            text
        }
    };
    if file == Path::new("-") {
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = file.display().to_string();
    let mut out =
        OpenOptions::new().write(true).create_new(true).open(file).map_err(|e| refused(file, &e))?;
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.sync_all()) {
        // Half a file is worse than none.
        let _ = std::fs::remove_file(file);
        return Err(error)
            .with_context(|| format!("cannot write {shown}; hint: make room and repeat the command"));
    }
    let name = describe::argument(&shown);
    let drawn = arguments.from.is_some();
    let next = [
        drawn.then(|| (format!("$EDITOR {name}"), "mend what is marked: ranges, noise, what to optimise")),
        Some((format!("mcbo check {name}"), "see what it says")),
        (!drawn).then(|| (format!("mcbo run {name}"), "optimise its simulator")),
        Some((format!("mcbo new NAME --problem {name}"), "begin a study: experiments of your own")),
    ];
    let next: Vec<(String, &str)> = next.into_iter().flatten().collect();
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
