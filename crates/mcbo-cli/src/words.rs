//! `NAME=VALUE` on the command line.

use crate::failure::BadInput;

/// Values by name, one per component.
pub type Named = Vec<(String, Vec<f64>)>;

/// What is known of the contexts, from `quality=0.8`.
///
/// # Errors
/// If a word is something else, or names no context.
pub fn given(problem: &mcbo_core::Problem, words: &[String]) -> anyhow::Result<mcbo_core::Given> {
    let named = read(words, "quality=0.8", "write a number with a decimal point")?;
    Ok(mcbo_core::Given::new(problem, named)?)
}

/// Reads `name=1.5` and `name=1.5,2.5`; an `example` and a `hint` for what is not a number are shown to who writes something else.
///
/// # Errors
/// If a word is something else.
pub fn read(words: &[String], example: &str, hint: &str) -> Result<Named, BadInput> {
    let parse = |word: &String| {
        let (name, values) = word.split_once('=').ok_or_else(|| {
            BadInput::new(format!("{word:?} is not NAME=VALUE"), format!("write it as in {example}"))
        })?;
        let number = |text: &str| {
            let told = |_| BadInput::new(format!("{name}: {text:?} is not a number"), hint);
            text.trim().parse::<f64>().map_err(told)
        };
        let values = values.split(',').map(number).collect::<Result<Vec<f64>, BadInput>>()?;
        Ok((name.trim().to_owned(), values))
    };
    words.iter().map(parse).collect()
}
