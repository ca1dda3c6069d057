//! Computing without holding up Python: the interpreter is let go, panics are caught, and threads survive a fork.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Fault;

/// Threads that wait for work, with the process they belong to: a forked child has none of its parent's and makes its own.
///
/// Whoever computes has a pool for itself alone. In a shared one a thread that waits for a part of its work may take up the
/// work of somebody else, and with it wait for a lock that it holds itself.
static IDLE: Mutex<Vec<(u32, ThreadPool)>> = Mutex::new(Vec::new());
/// How many threads to use; 0 for one per core.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// How often a long computation looks whether the user interrupts it.
const POLL: Duration = Duration::from_millis(50);

/// Uses so many threads from now on; 0 for one per core.
pub fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
    while take_idle().is_some() {}
}

/// A pool that nobody uses. Those of another process are not even dropped: their threads are not there to answer.
fn take_idle() -> Option<ThreadPool> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some((process, pool)) = idle.pop() {
        if process == std::process::id() {
            return Some(pool);
        }
        std::mem::forget(pool);
    }
    None
}

fn on_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let threads = THREADS.load(Ordering::Relaxed);
    let make =
        || ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("mcbo-{at}")).build();
    let Some(pool) = take_idle().or_else(|| make().ok()) else { return work() };
    let done = pool.install(work);
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).push((std::process::id(), pool));
    done
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

fn caught<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Fault::Internal(said(&*panic))))
}

/// Works on this thread while other Python threads go on.
pub fn alone<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Fault> + Send) -> PyResult<T> {
    Ok(py.detach(|| caught(work))?)
}

/// Works on all threads while other Python threads go on.
pub fn together<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Fault> + Send) -> PyResult<T> {
    alone(py, || on_pool(work))
}

/// Whether the user interrupts, or a `threading.Event` was set: as an exception.
fn interrupt(event: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        match event {
            Some(event) if event.bind(py).call_method0("is_set")?.is_truthy()? => {
                Err(PyKeyboardInterrupt::new_err("stopped"))
            }
            _ => Ok(()),
        }
    })
}

/// Works on one thread of its own and looks every moment whether the user interrupts, or an event is set: `work` ends early
/// then, once it sees its flag.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    event: Option<&Py<PyAny>>,
    work: impl FnOnce(&AtomicBool) -> Result<T, Fault> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let ended = py.detach(|| {
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let stop = &stop;
            scope.spawn(move || {
                let work = || caught(|| work(stop));
                // A pool of one thread keeps what a strategy does in parallel on one core.
                let done = match ThreadPoolBuilder::new().num_threads(1).build() {
                    Ok(pool) => pool.install(work),
                    Err(_) => work(),
                };
                // The receiver is there until the scope ends.
                let _ = sender.send(done);
            });
            let mut interrupted = None;
            loop {
                match receiver.recv_timeout(POLL) {
                    Ok(done) => return interrupted.map_or(done, |error| Err(Fault::Python(error))),
                    Err(mpsc::RecvTimeoutError::Disconnected) => {
                        return Err(Fault::Internal("a thread ended early".into()));
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if interrupted.is_none()
                            && let Err(error) = interrupt(event)
                        {
                            interrupted = Some(error);
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
        })
    });
    Ok(ended?)
}
