//! The studies in a browser, by a server in this process.

use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use mcbo_server::{Options, ServeError, Server, Stop};
use mcbo_store::Store;
use pyo3::prelude::*;

use crate::errors::{data_error, exception};
use crate::threads::alone;

/// A server on a thread of its own, which ends with the object or the process.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Served {
    url: String,
    stop: Stop,
    thread: Mutex<Option<JoinHandle<Result<(), ServeError>>>>,
}

#[pymethods]
impl Served {
    /// Takes the address and begins to answer.
    #[new]
    fn new(
        py: Python<'_>,
        storage: &str,
        address: (String, u16),
        token: Option<String>,
        read_only: bool,
        author: String,
        names: Vec<String>,
    ) -> PyResult<Self> {
        let store = alone(py, || Ok(Store::open(storage)?))?;
        let (host, port) = address;
        let options = Options { host, port, token, read_only, author, names };
        let server = py.detach(|| Server::bind(store, options)).map_err(refused)?;
        let (url, stop) = (server.url(), server.stopper());
        let thread = std::thread::Builder::new().name("mcbo-serve".into()).spawn(move || server.run());
        let thread = thread.map_err(|error| refused(error.into()))?;
        Ok(Self { url, stop, thread: Mutex::new(Some(thread)) })
    }

    /// What to open, with the token if there is one.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Whether it still answers.
    #[getter]
    fn running(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends it, and waits until it has.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.stop.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match py.detach(|| thread.map(JoinHandle::join)) {
            Some(Ok(Err(error))) => Err(refused(error)),
            Some(Err(_)) => {
                Err(exception("InternalError", "a mistake in mcbo itself: the server broke".into()))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn refused(error: ServeError) -> PyErr {
    // The command's option has the name of ours.
    data_error(error.to_string().replace("--port", "port"))
}
