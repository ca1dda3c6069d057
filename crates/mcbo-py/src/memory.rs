//! A study in memory that behaves as one in a store: workers, leases, measurements in pieces, trials in a queue.

use std::time::{SystemTime, UNIX_EPOCH};

use mcbo_core::{DataError, Intervention, Problem, Study, Trial, TrialState, values_by_name};
use mcbo_store::{LEASE, Row, RowError, RowFault, StoreError};

use crate::convert::Named;
use crate::errors::Fault;

/// What is known of a trial beside what the study itself knows.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub worker: Option<String>,
    pub asked: i64,
    pub lease_until: Option<i64>,
    pub told: Option<i64>,
    pub reason: Option<String>,
    pub took_seconds: Option<f64>,
}

/// A study in memory.
pub struct InMemory {
    pub study: Study,
    pub records: Vec<Record>,
    pub created: i64,
    pub changed: i64,
}

/// The system's clock, in milliseconds since 1970 (UTC).
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn lease(at: i64) -> i64 {
    at.saturating_add(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX))
}

impl InMemory {
    /// A study that begins now.
    pub fn new(study: Study) -> Self {
        let at = now();
        Self { study, records: Vec::new(), created: at, changed: at }
    }

    /// Trials for a worker: those it has, then those that nobody has any more, then new ones.
    pub fn ask(&mut self, worker: &str, count: usize) -> Result<Vec<usize>, Fault> {
        let at = now();
        let pending = |trial: &&Trial| trial.state == TrialState::Pending;
        let pending: Vec<usize> =
            self.study.trials().iter().filter(pending).map(|trial| trial.number).collect();
        let own = |number: usize| self.records[number - 1].worker.as_deref() == Some(worker);
        let over = |number: usize| self.records[number - 1].lease_until.is_none_or(|until| until <= at);
        let (mine, others): (Vec<usize>, Vec<usize>) = pending.into_iter().partition(|&number| own(number));
        let mut given: Vec<usize> = mine;
        given.extend(others.into_iter().filter(|&number| over(number)));
        given.truncate(count);
        // All of them, or none.
        let before = (given.len() + 1 < count).then(|| (self.study.clone(), self.records.clone()));
        let mut made = Vec::new();
        while given.len() + made.len() < count {
            let start = std::time::Instant::now();
            let number = match self.study.ask() {
                Ok(trial) => trial.number,
                Err(error) => {
                    before.into_iter().for_each(|before| (self.study, self.records) = before);
                    return Err(error.into());
                }
            };
            made.push(number);
            self.records.push(Record {
                worker: Some(worker.to_owned()),
                asked: at,
                lease_until: Some(lease(at)),
                took_seconds: Some(start.elapsed().as_secs_f64()),
                ..Record::default()
            });
            self.changed = at;
        }
        for &number in &given {
            let record = &mut self.records[number - 1];
            record.worker = Some(worker.to_owned());
            record.lease_until = Some(lease(at));
        }
        given.append(&mut made);
        Ok(given)
    }

    /// Puts a trial of the caller's own choice under way; without a worker the next who asks gets it.
    pub fn enqueue(&mut self, worker: Option<&str>, intervention: Intervention) -> Result<usize, Fault> {
        let at = now();
        let number = self.study.enqueue(intervention)?.number;
        self.records.push(Record {
            worker: Some(worker.unwrap_or("queue").to_owned()),
            asked: at,
            lease_until: Some(worker.map_or(at, |_| lease(at))),
            took_seconds: Some(0.0),
            ..Record::default()
        });
        self.changed = at;
        Ok(number)
    }

    /// Takes values of a trial, its first or further ones.
    pub fn tell(&mut self, number: usize, values: &Named) -> Result<(), Fault> {
        if values.is_empty() {
            return Err(DataError::Nothing.into());
        }
        let named = values.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
        let values = values_by_name(self.study.problem(), named)?;
        let new = self.study.take(number, values)?;
        if new {
            self.changed = now();
            let record = &mut self.records[number - 1];
            (record.told, record.reason) = (Some(self.changed), None);
        }
        Ok(())
    }

    /// Marks a pending trial as one that could not be run; saying so twice is no mistake.
    pub fn fail(&mut self, number: usize, reason: &str) -> Result<(), Fault> {
        let known = number.checked_sub(1).and_then(|place| self.study.trials().get(place));
        if known.is_some_and(|trial| trial.state == TrialState::Failed) {
            return Ok(());
        }
        self.study.fail(number)?;
        self.changed = now();
        self.records[number - 1].reason = Some(reason.to_owned());
        Ok(())
    }

    /// Goes on with another problem.
    pub fn change_problem(&mut self, text: &str) -> Result<(), Fault> {
        let problem = Problem::from_toml(text).map_err(StoreError::from)?;
        self.study.change_problem(problem).map_err(StoreError::from)?;
        self.changed = now();
        Ok(())
    }

    /// Adds rows that were measured outside the study: all of them, or none.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), Fault> {
        let mut changed = self.study.clone();
        let mut faults = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let observation = row.observation(changed.problem());
            let added = observation.and_then(|observation| match changed.add(observation) {
                Err(mcbo_core::StudyError::Data(error)) => Err(RowFault::Data(error)),
                _ => Ok(()),
            });
            faults.extend(added.err().map(|fault| RowError { index, fault }));
        }
        if !faults.is_empty() {
            return Err(StoreError::Rows(faults).into());
        }
        let at = now();
        let record = Record { asked: at, told: Some(at), ..Record::default() };
        self.records.resize(changed.trials().len(), record);
        (self.study, self.changed) = (changed, at);
        Ok(())
    }
}
