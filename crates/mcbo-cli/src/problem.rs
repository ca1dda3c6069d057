//! Reading problem files.

use std::io::Read;

use anyhow::Result;
use mcbo_core::Problem;

use crate::failure::{BadFile, BadInput};

/// What the user calls standard input.
pub const STDIN: &str = "-";

/// Reads and checks a problem file; `-` is standard input.
///
/// # Errors
/// Bad input if it cannot be read or has mistakes.
pub fn read(file: &str) -> Result<Problem> {
    Ok(read_text(file)?.1)
}

/// Reads and checks a problem file, and keeps its text.
///
/// # Errors
/// Bad input if it cannot be read or has mistakes.
pub fn read_text(file: &str) -> Result<(String, Problem)> {
    let (name, text) = text(file).map_err(|error| unreadable(file, &error))?;
    match Problem::from_toml(&text) {
        Ok(problem) => Ok((text, problem)),
        Err(errors) => Err(BadFile { file: name, text, errors }.into()),
    }
}

/// The text of a file with the name to show for it; `-` is standard input.
///
/// # Errors
/// If it cannot be read.
pub fn text(file: &str) -> std::io::Result<(String, String)> {
    if file == STDIN {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(("<stdin>".into(), text));
    }
    Ok((file.to_owned(), std::fs::read_to_string(file)?))
}

/// The text of a file of data.
///
/// # Errors
/// Bad input if it cannot be read.
pub fn data(file: &str) -> Result<String, BadInput> {
    let hint = "check the name and the permissions; data must be UTF-8 text";
    let (_, text) =
        text(file).map_err(|error| BadInput::new(format!("cannot read {file}: {error}"), hint))?;
    // Some programs begin a text with a mark that says it is one.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// A file of data, to be read as it comes.
///
/// # Errors
/// Bad input if it cannot be opened.
pub fn source(file: &str) -> Result<Box<dyn Read>, BadInput> {
    if file == STDIN {
        return Ok(Box::new(std::io::stdin()));
    }
    let hint = "check the name and the permissions; data must be UTF-8 text";
    let opened = std::fs::File::open(file);
    let opened = opened.map_err(|error| BadInput::new(format!("cannot read {file}: {error}"), hint))?;
    Ok(Box::new(opened))
}

fn unreadable(file: &str, error: &std::io::Error) -> BadInput {
    use std::io::ErrorKind;
    if file == STDIN {
        return BadInput::new(format!("cannot read standard input: {error}"), "give a file instead");
    }
    let (what, hint) = match error.kind() {
        ErrorKind::NotFound => {
            ("there is no such file".to_owned(), format!("`mcbo init {file}` writes one to begin with"))
        }
        ErrorKind::IsADirectory => ("it is a directory".to_owned(), "name the problem file in it".to_owned()),
        ErrorKind::InvalidData => {
            ("it is not UTF-8 text".to_owned(), "save it as UTF-8; a problem file is TOML".to_owned())
        }
        _ => (error.to_string(), "check the file's permissions".to_owned()),
    };
    BadInput::new(format!("cannot read {file}: {what}"), hint)
}
