//! A study that lasts as long as the program, under the rules of one that is kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcbo_core::{Fixed, Given, Problem, Study, TrialState};

use crate::StoreError;
use crate::event::Event;
use crate::fold::Fold;
use crate::ledger::{Change, Duplicates, LEASE, Ledger};
use crate::store::{Options, first_event, now};
use crate::strategies::Strategies;
use crate::table::Table;
use crate::view::{Entry, StoredTrial};

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
    lease: Duration,
    /// What happened, if it is written down.
    log: Option<Vec<(i64, Event)>>,
}

impl std::fmt::Debug for MemoryStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStudy").field("trials", &self.ledger.records.len()).finish_non_exhaustive()
    }
}

crate::changes::changes!(MemoryStudy);

impl MemoryStudy {
    /// A study that begins now, without trials; the text of its problem where there is one.
    pub fn new(study: Study, problem_toml: Option<String>) -> Self {
        let created = now();
        Self { ledger: Ledger::new(study, problem_toml, created), created, lease: LEASE, log: None }
    }

    /// A study from the text of its problem file that writes down what happens, as one in a store does: [`Self::entries`].
    ///
    /// # Errors
    /// If the problem has mistakes, or the strategy is unknown.
    pub fn create(
        problem_toml: &str,
        options: &Options,
        strategies: &dyn Strategies,
    ) -> Result<Self, StoreError> {
        let event = first_event(problem_toml, options, strategies)?;
        let created = now();
        let refused = |reason| StoreError::Strategy { name: options.strategy.strategy.clone(), reason };
        let fold = Fold::start(created, event.clone(), String::new(), strategies).map_err(refused)?;
        Ok(Self { ledger: fold.ledger, created, lease: LEASE, log: Some(vec![(created, event)]) })
    }

    /// A study from what happened to one, in memory or in a store: it goes on as that one would.
    ///
    /// # Errors
    /// If an event makes no sense.
    pub fn of_entries(entries: &[Entry], strategies: &dyn Strategies) -> Result<Self, StoreError> {
        let (mut fold, mut log): (Option<Fold>, _) = (None, Vec::new());
        for entry in entries {
            let bad = |reason| StoreError::BadEvent { study: "in memory".into(), seq: entry.seq, reason };
            let event = Event::read(&entry.kind, &entry.payload).map_err(bad)?;
            match &mut fold {
                Some(fold) => fold.apply(entry.at, event.clone()).map_err(bad)?,
                None => {
                    let tip = entry.digest.clone();
                    fold = Some(Fold::start(entry.at, event.clone(), tip, strategies).map_err(bad)?);
                }
            }
            log.push((entry.at, event));
        }
        let empty =
            || StoreError::BadEvent { study: "in memory".into(), seq: 1, reason: "the log is empty".into() };
        let fold = fold.ok_or_else(empty)?;
        Ok(Self { created: log[0].0, ledger: fold.ledger, lease: LEASE, log: Some(log) })
    }

    /// All that happened, oldest first; `None` if it is not written down.
    ///
    /// # Errors
    /// If a suggestion has numbers that cannot be written down.
    pub fn entries(&self) -> Result<Option<Vec<Entry>>, StoreError> {
        let entry = |(seq, (at, event)): (i64, &(i64, Event))| {
            let unstorable =
                |error: serde_json::Error| StoreError::Unstorable { number: 0, reason: error.to_string() };
            let payload = event.payload().map_err(unstorable)?;
            Ok(Entry::new(seq, *at, event.kind().to_owned(), payload))
        };
        self.log.as_ref().map(|log| (1..).zip(log).map(entry).collect()).transpose()
    }

    /// Trials that are asked for or kept from now on belong to their worker for so long.
    pub fn set_lease(&mut self, lease: Duration) {
        self.lease = lease;
    }

    fn change<T>(
        &mut self,
        act: impl FnOnce(&mut Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut change = Change::new(&mut self.ledger, now(), self.lease);
        let done = act(&mut change)?;
        let (at, drafts) = (change.at, change.drafts);
        if let Some(log) = &mut self.log {
            log.extend(drafts.into_iter().map(|draft| (at, draft.event)));
        }
        Ok(done)
    }

    /// As [`Self::add_with`], of a table: all of it, or nothing.
    ///
    /// # Errors
    /// As [`Self::add_with`].
    pub fn add_table(&mut self, table: &Table, duplicates: Duplicates) -> Result<usize, StoreError> {
        self.change(|change| change.add(table, duplicates))
    }

    /// As [`StoredStudy::ask_fixing`](crate::StoredStudy::ask_fixing).
    ///
    /// # Errors
    /// As [`Self::ask_given`], and if what is fixed cannot be done.
    pub fn ask_fixing(
        &mut self,
        worker: &str,
        count: usize,
        given: &Given,
        fixed: &Fixed,
    ) -> Result<Vec<StoredTrial>, StoreError> {
        self.change(|change| change.ask(worker, count, given, fixed, None))
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

    /// Trials under way, with who has them.
    pub fn under_way(&self) -> Vec<(usize, Option<String>)> {
        self.ledger.under_way()
    }

    /// What was written beside the study, by name.
    pub fn attributes(&self) -> &BTreeMap<String, serde_json::Value> {
        &self.ledger.attributes
    }

    /// The number of its last event: as long as that stays, nothing has changed.
    pub fn version(&self) -> i64 {
        self.ledger.seq
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
