//! Where a study lives: in memory, or in a store.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcbo_core::{Intervention, Problem, Trial, TrialState};
use mcbo_store::{Row, Store, StoredStudy, StoredTrial, StrategyOptions};

use crate::convert::Named;
use crate::errors::Fault;
use crate::memory::{InMemory, Record};
use crate::strategy::Known;

/// A trial with what is known of it.
pub struct Told {
    pub trial: Trial,
    pub record: Record,
}

/// Where a study stands.
pub struct Counts {
    pub trials: usize,
    pub pending: usize,
    pub complete: usize,
    pub failed: usize,
    pub created: i64,
    pub changed: i64,
}

/// A study in memory or in a store.
pub enum Backend {
    Memory(Box<InMemory>),
    /// The process that opened it belongs to it: a connection does not survive a fork.
    Stored {
        study: Box<StoredStudy>,
        process: u32,
    },
}

/// Opens a study by name, and tells its settings.
pub fn open(url: &str, name: &str, known: Known) -> Result<StoredStudy, Fault> {
    Ok(Store::open(url)?.with_strategies(known).open_study(name)?)
}

fn of_store(stored: StoredTrial) -> Told {
    let record = Record {
        worker: stored.record.worker,
        asked: stored.record.asked,
        lease_until: stored.record.lease_until,
        told: stored.record.told,
        reason: stored.record.reason,
        took_seconds: stored.record.took_seconds,
    };
    Told { trial: stored.trial, record }
}

fn of_memory(memory: &InMemory, number: usize) -> Told {
    Told { trial: memory.study.trials()[number - 1].clone(), record: memory.records[number - 1].clone() }
}

impl Backend {
    /// A study in a store, opened by this process.
    pub fn stored(study: StoredStudy) -> Self {
        Self::Stored { study: Box::new(study), process: std::process::id() }
    }

    /// Trials for a worker.
    pub fn ask(&mut self, worker: &str, count: usize) -> Result<Vec<Told>, Fault> {
        match self {
            Self::Memory(memory) => {
                Ok(memory.ask(worker, count)?.into_iter().map(|number| of_memory(memory, number)).collect())
            }
            Self::Stored { study, .. } => Ok(study.ask(worker, count)?.into_iter().map(of_store).collect()),
        }
    }

    /// Puts a trial of the caller's own choice under way.
    pub fn enqueue(&mut self, worker: Option<&str>, intervention: Intervention) -> Result<Told, Fault> {
        match self {
            Self::Memory(memory) => {
                let number = memory.enqueue(worker, intervention)?;
                Ok(of_memory(memory, number))
            }
            Self::Stored { study, .. } => Ok(of_store(study.enqueue(worker, intervention)?)),
        }
    }

    /// Takes values of a trial.
    pub fn tell(&mut self, number: usize, values: &Named, worker: Option<&str>) -> Result<(), Fault> {
        match self {
            Self::Memory(memory) => memory.tell(number, values),
            Self::Stored { study, .. } => {
                let values: Vec<(&str, Vec<f64>)> =
                    values.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
                Ok(study.tell(number, &values, worker)?)
            }
        }
    }

    /// Marks a trial as failed.
    pub fn fail(&mut self, number: usize, reason: &str) -> Result<(), Fault> {
        match self {
            Self::Memory(memory) => memory.fail(number, reason),
            Self::Stored { study, .. } => Ok(study.fail(number, reason)?),
        }
    }

    /// Adds rows.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), Fault> {
        match self {
            Self::Memory(memory) => memory.add(rows),
            Self::Stored { study, .. } => Ok(study.add(rows)?),
        }
    }

    /// One trial.
    pub fn trial(&mut self, number: usize) -> Result<Told, Fault> {
        let unknown = |last| mcbo_core::StudyError::UnknownTrial { number, last };
        match self {
            Self::Memory(memory) if (1..=memory.records.len()).contains(&number) => {
                Ok(of_memory(memory, number))
            }
            Self::Memory(memory) => Err(unknown(memory.records.len()).into()),
            Self::Stored { study, .. } => {
                let mut all = study.trials()?;
                match number.checked_sub(1).filter(|&place| place < all.len()) {
                    Some(place) => Ok(of_store(all.swap_remove(place))),
                    None => Err(unknown(all.len()).into()),
                }
            }
        }
    }

    /// All trials.
    pub fn trials(&mut self) -> Result<Vec<Told>, Fault> {
        match self {
            Self::Memory(memory) => {
                Ok((1..=memory.records.len()).map(|number| of_memory(memory, number)).collect())
            }
            Self::Stored { study, .. } => Ok(study.trials()?.into_iter().map(of_store).collect()),
        }
    }

    /// The study as it stands, in memory.
    pub fn study(&mut self) -> Result<mcbo_core::Study, Fault> {
        match self {
            Self::Memory(memory) => Ok(memory.study.clone()),
            Self::Stored { study, .. } => Ok(study.study()?),
        }
    }

    /// Goes on with another problem.
    pub fn change_problem(&mut self, text: &str) -> Result<(), Fault> {
        match self {
            Self::Memory(memory) => memory.change_problem(text),
            Self::Stored { study, .. } => Ok(study.change_problem(text)?),
        }
    }

    /// The problem in force.
    pub fn problem(&mut self) -> Result<Arc<Problem>, Fault> {
        match self {
            Self::Memory(memory) => Ok(memory.study.problem().clone()),
            Self::Stored { study, .. } => Ok(study.problem()?),
        }
    }

    /// How many trials there are.
    pub fn counts(&mut self) -> Result<Counts, Fault> {
        match self {
            Self::Memory(memory) => {
                let of = |state| memory.study.trials().iter().filter(|trial| trial.state == state).count();
                Ok(Counts {
                    trials: memory.records.len(),
                    pending: of(TrialState::Pending),
                    complete: of(TrialState::Complete),
                    failed: of(TrialState::Failed),
                    created: memory.created,
                    changed: memory.changed,
                })
            }
            Self::Stored { study, .. } => {
                let status = study.status()?;
                Ok(Counts {
                    trials: status.trials,
                    pending: status.pending,
                    complete: status.complete,
                    failed: status.failed,
                    created: status.created,
                    changed: status.changed,
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
