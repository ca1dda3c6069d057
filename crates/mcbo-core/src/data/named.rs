//! Values by the names of nodes and of their components.

use super::DataError;
use crate::Problem;

/// The places of a node's values by its name, or of one component's by a name such as `leaf[1]`.
pub(crate) fn slot_by_name(problem: &Problem, name: &str) -> Option<std::ops::Range<usize>> {
    if let Some(node) = problem.node_index(name) {
        return Some(problem.slot(node));
    }
    let (node, component) = name.strip_suffix(']')?.split_once('[')?;
    let slot = problem.slot(problem.node_index(node)?);
    let at = slot.start + component.parse::<usize>().ok().filter(|&component| component < slot.len())?;
    Some(at..at + 1)
}

/// Arranges values given by the names of nodes, or of components such as `leaf[1]`; what is not named is not measured.
///
/// # Errors
/// If a name is unknown, a vector has the wrong length or a number is not finite.
pub fn values_by_name<'a>(
    problem: &Problem,
    named: impl IntoIterator<Item = (&'a str, &'a [f64])>,
) -> Result<Vec<Option<f64>>, DataError> {
    let mut values = vec![None; problem.slots()];
    for (name, given) in named {
        let Some(slot) = slot_by_name(problem, name) else {
            return Err(DataError::UnknownName {
                name: name.to_owned(),
                known: problem.graph().names().join(", "),
            });
        };
        if given.len() != slot.len() {
            return Err(DataError::WrongLength {
                what: name.to_owned(),
                expected: slot.len(),
                found: given.len(),
            });
        }
        for (at, &value) in slot.zip(given) {
            if !value.is_finite() {
                return Err(DataError::NotFinite { what: name.to_owned(), value });
            }
            if values[at].replace(value).is_some() {
                return Err(DataError::Twice { what: name.to_owned() });
            }
        }
    }
    Ok(values)
}
