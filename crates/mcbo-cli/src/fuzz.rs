//! Readers of what others write, for the test that feeds them anything at all (`tests/fuzz`). Nothing here is for users.

use mcbo_core::Problem;

/// Reads a table as `mcbo add` does; how many rows it has.
///
/// # Errors
/// What is wrong with it.
pub fn table(problem: &Problem, text: &str) -> Result<usize, String> {
    let rows = mcbo_report::rows::read(problem, text.as_bytes(), false);
    rows.map(|rows| rows.table.len()).map_err(|(message, hint)| format!("{message}; hint: {hint}"))
}

/// Reads values as `mcbo tell --json` does; how many there are.
///
/// # Errors
/// What is wrong with them.
pub fn told(problem: &Problem, text: &str) -> Result<usize, String> {
    mcbo_report::values::from_json(problem, text)
        .map(|values| values.len())
        .map_err(|error| error.to_string())
}

/// Reads the answer of a program as `mcbo run --exec` does; how many values it has.
///
/// # Errors
/// What is wrong with it.
pub fn answer(problem: &Problem, bytes: &[u8]) -> Result<usize, String> {
    let values = crate::run::exec::answer::read(problem, bytes);
    values
        .map(|values| values.iter().flatten().count())
        .map_err(|error| format!("{}; hint: {}", error.what, error.hint))
}

/// Reads a drawn graph as `mcbo init --from` does, and the problem file it becomes.
///
/// # Errors
/// What is wrong with it.
pub fn graph(text: &str) -> Result<usize, String> {
    let drawn =
        crate::drawn::Drawn::read(text).map_err(|(message, hint)| format!("{message}; hint: {hint}"))?;
    Ok(drawn.toml().len())
}
