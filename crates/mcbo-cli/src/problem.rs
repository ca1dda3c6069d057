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
    let (name, text) = if file == STDIN {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|e| BadInput::new(format!("cannot read standard input: {e}"), "give a file instead"))?;
        ("<stdin>", text)
    } else {
        (file, std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?)
    };
    Problem::from_toml(&text).map_err(|errors| BadFile { file: name.to_owned(), text, errors }.into())
}

fn unreadable(file: &str, error: &std::io::Error) -> BadInput {
    use std::io::ErrorKind;
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
