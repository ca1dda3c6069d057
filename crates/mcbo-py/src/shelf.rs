//! The studies of a store as wholes.

use mcbo_store::Store;
use pyo3::prelude::*;

use crate::threads::alone;

/// Name, when it was made and changed last, trials, and those pending, complete and failed.
type Line = (String, i64, i64, usize, usize, usize, usize);

/// All studies of a store, by name.
#[pyfunction]
pub fn studies(py: Python<'_>, url: &str) -> PyResult<Vec<Line>> {
    let all = alone(py, || Ok(Store::open(url)?.studies()?))?;
    let line =
        |s: mcbo_store::Summary| (s.name, s.created, s.changed, s.trials, s.pending, s.complete, s.failed);
    Ok(all.into_iter().map(line).collect())
}

/// Deletes a study.
#[pyfunction]
pub fn delete_study(py: Python<'_>, url: &str, name: &str) -> PyResult<()> {
    alone(py, || Ok(Store::open(url)?.delete(name)?))
}

/// Makes a study that is the same as another one.
#[pyfunction]
pub fn copy_study(py: Python<'_>, url: &str, name: &str, new: &str) -> PyResult<()> {
    alone(py, || Ok(Store::open(url)?.copy(name, new).map(|_| ())?))
}

/// Gives a study another name.
#[pyfunction]
pub fn rename_study(py: Python<'_>, url: &str, name: &str, new: &str) -> PyResult<()> {
    alone(py, || Ok(Store::open(url)?.rename(name, new)?))
}
