//! Signs of life: while a process lives, the trials it has stay its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mcbo_store::StoredStudy;
use pyo3::prelude::*;

use crate::backend::open;
use crate::errors::{Fault, data_error};
use crate::strategy::StrategyRegistry;
use crate::study::lease_of;

/// Beats in the time of a lease: some may come late.
const BEATS: u32 = 4;
/// The lease grows with the time a trial takes, to this share of it, so that long experiments are not most of the log.
const SHARE: u32 = 8;

/// A trial that is under way here.
struct Held {
    worker: String,
    since: Instant,
    next: Instant,
}

#[derive(Default)]
struct State {
    held: BTreeMap<usize, Held>,
    stop: bool,
    /// What the last beat that failed said.
    trouble: Option<String>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// The shortest and the longest lease.
    leases: [Duration; 2],
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(&self, since: Instant) -> Duration {
        let [least, most] = self.leases;
        (since.elapsed() / SHARE).clamp(least, most)
    }

    /// The trials whose time has come, with their workers and leases; `None` once it is over.
    fn wait(&self) -> Option<Vec<(usize, String, Duration)>> {
        let mut state = self.lock();
        loop {
            if state.stop {
                return None;
            }
            let now = Instant::now();
            let mut due = Vec::new();
            for (&number, held) in state.held.iter_mut().filter(|(_, held)| held.next <= now) {
                let lease = self.lease(held.since);
                held.next = now + lease / BEATS;
                due.push((number, held.worker.clone(), lease));
            }
            if !due.is_empty() {
                return Some(due);
            }
            let next = state.held.values().map(|held| held.next).min();
            let pause = next.map_or(Duration::from_secs(3600), |next| next.saturating_duration_since(now));
            state = self.wake.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes signs of life until it is over. It has a connection of its own and needs no interpreter, so that neither a long
    /// suggestion nor an experiment that never lets Python go holds it up.
    fn beat(&self, url: &str, name: &str) {
        let mut study: Option<StoredStudy> = None;
        while let Some(due) = self.wait() {
            for (number, worker, lease) in due {
                let mut beat = || -> Result<(), Fault> {
                    if study.is_none() {
                        study = Some(open(url, name, StrategyRegistry { own: None })?);
                    }
                    if let Some(study) = &mut study {
                        study.set_lease(lease);
                        study.keep(&worker, &[number])?;
                    }
                    Ok(())
                };
                if let Err(fault) = beat() {
                    self.lock().trouble = Some(fault.to_string());
                }
            }
        }
    }
}

/// What keeps trials of a stored study while they are under way in this process.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Heart {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    address: (String, String),
}

#[pymethods]
impl Heart {
    /// Of the study `name` at `url`, with leases of `least` to `most` seconds.
    #[new]
    fn new(url: String, name: String, least: f64, most: f64) -> PyResult<Self> {
        let leases = (lease_of(Some(least))?, lease_of(Some(most))?);
        let (Some(least), Some(most)) = leases else { return Err(data_error("no lease")) };
        let shared =
            Shared { state: Mutex::default(), wake: Condvar::new(), leases: [least.min(most), most] };
        Ok(Self { shared: Arc::new(shared), thread: Mutex::new(None), address: (url, name) })
    }

    /// Keeps a trial from now on.
    fn hold(&self, number: usize, worker: String) -> PyResult<()> {
        let now = Instant::now();
        let held = Held { worker, since: now, next: now + self.shared.leases[0] / BEATS };
        self.shared.lock().held.insert(number, held);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let (shared, (url, name)) = (self.shared.clone(), self.address.clone());
            let beat = move || shared.beat(&url, &name);
            let started = std::thread::Builder::new().name("mcbo-heart".into()).spawn(beat);
            *thread = Some(started.map_err(|error| data_error(format!("no thread: {error}")))?);
        }
        self.shared.wake.notify_all();
        Ok(())
    }

    /// Keeps a trial no longer.
    fn let_go(&self, number: usize) {
        self.shared.lock().held.remove(&number);
    }

    /// Ends; says what went wrong with the last beat that did.
    fn stop(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| {
            self.shared.lock().stop = true;
            self.shared.wake.notify_all();
            let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(thread) = thread {
                // A panic in it was printed; the trials lose their leases.
                let _ = thread.join();
            }
            self.shared.lock().trouble.take()
        })
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_all();
    }
}
