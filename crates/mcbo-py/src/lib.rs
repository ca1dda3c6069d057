//! The extension module `mcbo._mcbo`: the library, for the Python package around it.
//!
//! What users import is `python/mcbo`; this module gives it plain numbers, names, dictionaries and arrays. Every call lets
//! other Python threads go on while it computes, and every mistake is an exception of `mcbo._errors`.

mod backend;
mod bench;
mod best;
mod convert;
mod errors;
mod heart;
mod model;
mod problem;
mod rows;
mod serve;
mod shelf;
mod strategy;
mod study;
mod threads;
mod trial;

/// The library behind the package.
#[pyo3::pymodule]
mod _mcbo {
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyTuple};

    use crate::errors::data_error;

    #[pymodule_export]
    use crate::bench::Task;
    #[pymodule_export]
    use crate::heart::Heart;
    #[pymodule_export]
    use crate::model::{Fit, Model};
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::serve::Served;
    #[pymodule_export]
    use crate::shelf::{copy_study, delete_study, rename_study, studies};
    #[pymodule_export]
    use crate::study::Study;

    /// Uses so many threads from now on; 0 for one per core.
    #[pyfunction]
    fn set_threads(count: usize) -> PyResult<()> {
        if count > 1024 {
            return Err(data_error(format!("{count} threads are too many; hint: 1024 at most")));
        }
        crate::threads::set_threads(count);
        Ok(())
    }

    /// An SVG picture of ours as PNG.
    #[pyfunction]
    fn png<'py>(py: Python<'py>, svg: &str) -> PyResult<Bound<'py, PyBytes>> {
        let drawn = crate::threads::alone(py, || {
            mcbo_plot::draw::png(svg).map_err(|reason| data_error(format!("no picture: {reason}")).into())
        })?;
        Ok(PyBytes::new(py, &drawn))
    }

    /// Runs the command `mcbo` with these arguments; with which code to end.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<String>) -> PyResult<u8> {
        let arguments: Vec<String> = std::iter::once("mcbo".to_owned()).chain(arguments).collect();
        crate::threads::alone(py, || Ok(mcbo_cli::run(arguments)))
    }

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The strategies by name.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let names = mcbo_core::StrategyName::ALL.map(|name| name.as_str());
        module.add("STRATEGIES", PyTuple::new(module.py(), names)?)
    }
}
