//! Where a study lives: in memory, or in a store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcbo_core::{Fixed, Given, Intervention, Problem, TrialState};
use mcbo_store::{Entry, LEASE, MemoryStudy, Row, Store, StoredStudy, StoredTrial, StrategyOptions};
use serde_json::Value;

use crate::convert::Named;
use crate::errors::Fault;
use crate::strategy::StrategyRegistry;

/// Where a study stands.
pub struct Counts {
    pub trials: usize,
    pub pending: usize,
    pub complete: usize,
    pub failed: usize,
    pub voided: usize,
    pub created: i64,
    pub changed: i64,
    /// The number of the last event.
    pub version: i64,
}

/// A study in memory or in a store.
pub enum Backend {
    Memory(Box<MemoryStudy>),
    /// The process that opened it belongs to it: a connection does not survive a fork.
    Stored {
        study: Box<StoredStudy>,
        process: u32,
    },
}

/// Opens a study by name.
pub fn open(url: &str, name: &str, strategies: StrategyRegistry) -> Result<StoredStudy, Fault> {
    Ok(Store::open(url)?.with_strategies(strategies).open_study(name)?)
}

impl Backend {
    /// A study in a store, opened by this process.
    pub fn stored(study: StoredStudy) -> Self {
        Self::Stored { study: Box::new(study), process: std::process::id() }
    }

    /// For how long trials belong to their worker from now on; a day unless it is said.
    fn set_lease(&mut self, lease: Option<Duration>) {
        let lease = lease.unwrap_or(LEASE);
        match self {
            Self::Memory(study) => study.set_lease(lease),
            Self::Stored { study, .. } => study.set_lease(lease),
        }
    }

    /// Trials for a worker, which has them for so long.
    pub fn ask(
        &mut self,
        worker: &str,
        count: usize,
        given: &Given,
        fixed: &Fixed,
        lease: Option<Duration>,
    ) -> Result<Vec<StoredTrial>, Fault> {
        self.set_lease(lease);
        Ok(match self {
            Self::Memory(study) => study.ask_fixing(worker, count, given, fixed)?,
            Self::Stored { study, .. } => study.ask_fixing(worker, count, given, fixed)?,
        })
    }

    /// Puts a trial of the caller's own choice under way.
    pub fn enqueue(
        &mut self,
        worker: Option<&str>,
        intervention: Intervention,
    ) -> Result<StoredTrial, Fault> {
        Ok(match self {
            Self::Memory(study) => study.enqueue(worker, intervention)?,
            Self::Stored { study, .. } => study.enqueue(worker, intervention)?,
        })
    }

    /// Takes values of a trial.
    pub fn tell(&mut self, number: usize, values: &Named, worker: Option<&str>) -> Result<(), Fault> {
        let values: Vec<(&str, Vec<f64>)> =
            values.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
        match self {
            Self::Memory(study) => study.tell(number, &values, worker),
            Self::Stored { study, .. } => study.tell(number, &values, worker),
        }?;
        Ok(())
    }

    /// Puts values of a trial right.
    pub fn correct(&mut self, number: usize, values: &Named, reason: &str) -> Result<(), Fault> {
        let values: Vec<(&str, Vec<f64>)> =
            values.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
        match self {
            Self::Memory(study) => study.correct(number, &values, reason),
            Self::Stored { study, .. } => study.correct(number, &values, reason),
        }?;
        Ok(())
    }

    /// Takes trials out, or puts them back; which of them that is new of.
    pub fn void(&mut self, numbers: &[usize], reason: &str, undo: bool) -> Result<Vec<usize>, Fault> {
        Ok(match (self, undo) {
            (Self::Memory(study), false) => study.void(numbers, reason)?,
            (Self::Memory(study), true) => study.restore(numbers, reason)?,
            (Self::Stored { study, .. }, false) => study.void(numbers, reason)?,
            (Self::Stored { study, .. }, true) => study.restore(numbers, reason)?,
        })
    }

    /// Leaves trials to the worker that has them for longer; which of them it still has.
    pub fn keep(
        &mut self,
        worker: &str,
        numbers: &[usize],
        lease: Option<Duration>,
    ) -> Result<Vec<usize>, Fault> {
        self.set_lease(lease);
        Ok(match self {
            Self::Memory(study) => study.keep(worker, numbers)?,
            Self::Stored { study, .. } => study.keep(worker, numbers)?,
        })
    }

    /// Gives trials back that are under way; which of them that is new of.
    pub fn release(
        &mut self,
        numbers: &[usize],
        worker: Option<&str>,
        reason: &str,
        lost: bool,
    ) -> Result<Vec<usize>, Fault> {
        Ok(match self {
            Self::Memory(study) => study.release(numbers, worker, reason, lost)?,
            Self::Stored { study, .. } => study.release(numbers, worker, reason, lost)?,
        })
    }

    /// Trials under way, with who has them.
    pub fn pending(&mut self) -> Result<Vec<(usize, Option<String>)>, Fault> {
        Ok(match self {
            Self::Memory(study) => study.under_way(),
            Self::Stored { study, .. } => study.under_way()?,
        })
    }

    /// Writes something beside a trial, or beside the study.
    pub fn write_beside(
        &mut self,
        trial: Option<usize>,
        attributes: &BTreeMap<String, Value>,
    ) -> Result<(), Fault> {
        match self {
            Self::Memory(study) => study.write_beside(trial, attributes),
            Self::Stored { study, .. } => study.write_beside(trial, attributes),
        }?;
        Ok(())
    }

    /// What is written beside the study.
    pub fn attributes(&mut self) -> Result<BTreeMap<String, Value>, Fault> {
        Ok(match self {
            Self::Memory(study) => study.attributes().clone(),
            Self::Stored { study, .. } => study.attributes()?,
        })
    }

    /// All that happened, oldest first.
    pub fn entries(&mut self) -> Result<Vec<Entry>, Fault> {
        Ok(match self {
            Self::Memory(study) => study.entries()?.unwrap_or_default(),
            Self::Stored { study, .. } => study.events()?,
        })
    }

    /// Marks a trial as failed.
    pub fn fail(&mut self, number: usize, reason: &str) -> Result<(), Fault> {
        match self {
            Self::Memory(study) => study.fail(number, reason),
            Self::Stored { study, .. } => study.fail(number, reason),
        }?;
        Ok(())
    }

    /// Adds rows.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), Fault> {
        match self {
            Self::Memory(study) => study.add(rows),
            Self::Stored { study, .. } => study.add(rows),
        }?;
        Ok(())
    }

    /// One trial.
    pub fn trial(&mut self, number: usize) -> Result<StoredTrial, Fault> {
        Ok(match self {
            Self::Memory(study) => study.trial(number)?,
            Self::Stored { study, .. } => study.trial(number)?,
        })
    }

    /// All trials.
    pub fn trials(&mut self) -> Result<Vec<StoredTrial>, Fault> {
        Ok(match self {
            Self::Memory(study) => study.trials(),
            Self::Stored { study, .. } => study.trials()?,
        })
    }

    /// The study as it stands, in memory.
    pub fn study(&mut self) -> Result<mcbo_core::Study, Fault> {
        Ok(match self {
            Self::Memory(study) => study.study().clone(),
            Self::Stored { study, .. } => study.study()?,
        })
    }

    /// Goes on with another problem.
    pub fn change_problem(&mut self, text: &str) -> Result<(), Fault> {
        match self {
            Self::Memory(study) => study.change_problem(text),
            Self::Stored { study, .. } => study.change_problem(text),
        }?;
        Ok(())
    }

    /// The problem in force.
    pub fn problem(&mut self) -> Result<Arc<Problem>, Fault> {
        Ok(match self {
            Self::Memory(study) => study.problem().clone(),
            Self::Stored { study, .. } => study.problem()?,
        })
    }

    /// How many trials there are.
    pub fn counts(&mut self) -> Result<Counts, Fault> {
        match self {
            Self::Memory(study) => Ok(Counts {
                trials: study.study().trials().len(),
                pending: study.count(TrialState::Pending),
                complete: study.count(TrialState::Complete),
                failed: study.count(TrialState::Failed),
                voided: study.count(TrialState::Voided),
                created: study.created(),
                changed: study.changed(),
                version: study.version(),
            }),
            Self::Stored { study, .. } => {
                let status = study.status()?;
                Ok(Counts {
                    trials: status.trials,
                    pending: status.pending,
                    complete: status.complete,
                    failed: status.failed,
                    voided: status.voided,
                    created: status.created,
                    changed: status.changed,
                    version: study.version()?,
                })
            }
        }
    }

    /// Who proposes, the seed and the trials of the initial design of a study in a store.
    pub fn settings(study: &mut StoredStudy) -> Result<(StrategyOptions, u64, usize), Fault> {
        let status = study.status()?;
        Ok((status.strategy, status.seed, status.initial))
    }
}

/// A value that one thread at a time may use, and that knows which: a thread that has it does not get it again.
pub struct Guarded<T> {
    inner: Mutex<T>,
    owner: AtomicUsize,
}

thread_local! {
    static MARK: u8 = const { 0 };
}

/// Sets the owner back however its work ends.
struct Release<'a>(&'a AtomicUsize);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl<T> Guarded<T> {
    /// A value that nobody uses.
    pub fn new(value: T) -> Self {
        Self { inner: Mutex::new(value), owner: AtomicUsize::new(0) }
    }

    /// Uses the value as soon as nobody else does.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> Result<R, Fault>) -> Result<R, Fault> {
        let me = MARK.with(|mark| std::ptr::from_ref(mark) as usize);
        if self.owner.load(Ordering::Acquire) == me {
            return Err(Fault::Reentered);
        }
        let mut value = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        self.owner.store(me, Ordering::Release);
        let _release = Release(&self.owner);
        work(&mut value)
    }
}
