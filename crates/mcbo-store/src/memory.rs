//! A study that lasts as long as the program, under the rules of one that is kept.

use std::sync::Arc;

use mcbo_core::{Given, Intervention, Problem, Study, TrialState};

use crate::StoreError;
use crate::event::Row;
use crate::ledger::{Change, Duplicates, LEASE, Ledger};
use crate::store::now;
use crate::view::StoredTrial;

/// A study in memory that behaves as a [`StoredStudy`](crate::StoredStudy): workers, leases, trials in a queue, measurements in
/// pieces.
///
/// ```
/// use mcbo_core::{Problem, Study};
/// use mcbo_store::MemoryStudy;
/// let problem = Problem::builder("p").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y").build()?;
/// let mut study = MemoryStudy::new(Study::new(problem, 1), None);
/// let first = study.ask("bench 3", 1)?;
/// assert_eq!(study.ask("bench 3", 1)?, first, "it has one already");
/// study.tell(1, &[("y", vec![0.5])], None)?;
/// assert_eq!(study.ask("bench 3", 1)?[0].trial.number, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryStudy {
    ledger: Ledger,
    created: i64,
}

impl std::fmt::Debug for MemoryStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStudy").field("trials", &self.ledger.records.len()).finish_non_exhaustive()
    }
}

impl MemoryStudy {
    /// A study that begins now, without trials; the text of its problem where there is one.
    pub fn new(study: Study, problem_toml: Option<String>) -> Self {
        let created = now();
        Self { ledger: Ledger::new(study, problem_toml, created), created }
    }

    fn change<T>(
        &mut self,
        act: impl FnOnce(&mut Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        act(&mut Change::new(&mut self.ledger, now(), LEASE))
    }

    /// As [`StoredStudy::ask`](crate::StoredStudy::ask).
    ///
    /// # Errors
    /// If no model can be fitted.
    pub fn ask(&mut self, worker: &str, count: usize) -> Result<Vec<StoredTrial>, StoreError> {
        self.ask_given(worker, count, Given::NONE)
    }

    /// As [`StoredStudy::ask_given`](crate::StoredStudy::ask_given).
    ///
    /// # Errors
    /// If no model can be fitted, or the strategy cannot use what is known.
    pub fn ask_given(
        &mut self,
        worker: &str,
        count: usize,
        given: &Given,
    ) -> Result<Vec<StoredTrial>, StoreError> {
        self.change(|change| change.ask(worker, count, given, None))
    }

    /// As [`StoredStudy::enqueue`](crate::StoredStudy::enqueue).
    ///
    /// # Errors
    /// If the intervention does not fit the problem.
    pub fn enqueue(
        &mut self,
        worker: Option<&str>,
        intervention: Intervention,
    ) -> Result<StoredTrial, StoreError> {
        self.change(|change| change.enqueue(worker, intervention))
    }

    /// As [`StoredStudy::tell`](crate::StoredStudy::tell).
    ///
    /// # Errors
    /// As there, but for the database.
    pub fn tell(
        &mut self,
        trial: usize,
        values: &[(&str, Vec<f64>)],
        worker: Option<&str>,
    ) -> Result<(), StoreError> {
        self.change(|change| change.tell(trial, values, worker))
    }

    /// As [`StoredStudy::correct`](crate::StoredStudy::correct).
    ///
    /// # Errors
    /// As there, but for the database.
    pub fn correct(
        &mut self,
        trial: usize,
        values: &[(&str, Vec<f64>)],
        reason: &str,
    ) -> Result<(), StoreError> {
        self.change(|change| change.correct(trial, values, reason))
    }

    /// As [`StoredStudy::void`](crate::StoredStudy::void).
    ///
    /// # Errors
    /// If there is no such trial.
    pub fn void(&mut self, trials: &[usize], reason: &str) -> Result<Vec<usize>, StoreError> {
        self.change(|change| change.void(trials, reason))
    }

    /// As [`StoredStudy::restore`](crate::StoredStudy::restore).
    ///
    /// # Errors
    /// If there is no such trial, or one does not fit the problem any more.
    pub fn restore(&mut self, trials: &[usize], reason: &str) -> Result<Vec<usize>, StoreError> {
        self.change(|change| change.restore(trials, reason))
    }

    /// As [`StoredStudy::fail`](crate::StoredStudy::fail).
    ///
    /// # Errors
    /// If there is no such trial, or it has values.
    pub fn fail(&mut self, trial: usize, reason: &str) -> Result<(), StoreError> {
        self.change(|change| change.fail(trial, reason))
    }

    /// Adds rows that were measured outside the study: all of them, or none.
    ///
    /// # Errors
    /// Every row that does not fit, with its place.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), StoreError> {
        self.change(|change| change.add(rows, Duplicates::Take)).map(|_| ())
    }

    /// As [`StoredStudy::change_problem`](crate::StoredStudy::change_problem).
    ///
    /// # Errors
    /// If the problem has mistakes or does not fit the trials.
    pub fn change_problem(&mut self, problem_toml: &str) -> Result<(), StoreError> {
        self.change(|change| change.change_problem(problem_toml))
    }

    /// One trial.
    ///
    /// # Errors
    /// If there is no such trial.
    pub fn trial(&self, number: usize) -> Result<StoredTrial, StoreError> {
        self.ledger.checked_trial(number)
    }

    /// All trials, in order.
    pub fn trials(&self) -> Vec<StoredTrial> {
        self.ledger.trials()
    }

    /// How many trials are in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.ledger.count(state)
    }

    /// The study itself.
    pub fn study(&self) -> &Study {
        &self.ledger.study
    }

    /// The problem in force.
    pub fn problem(&self) -> &Arc<Problem> {
        self.ledger.study.problem()
    }

    /// When it began, in milliseconds since 1970 (UTC).
    pub fn created(&self) -> i64 {
        self.created
    }

    /// When anything happened to it last.
    pub fn changed(&self) -> i64 {
        self.ledger.changed
    }
}
