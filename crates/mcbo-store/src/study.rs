//! A study in a store.

mod add;
mod ask;
mod recompute;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcbo_core::{Problem, Study, Trial, TrialState};

use crate::database::{Transaction, Value};
use crate::digest::StudyLine;
use crate::event::{Event, Row};
use crate::fold::Fold;
use crate::history::{Happening, Teller};
use crate::ledger::{LEASE, Ledger, faults};
use crate::log::Unless;
use crate::schema;
use crate::store::Shared;
use crate::table::Table;
use crate::view::{Entry, Status, StoredTrial};
use crate::{RowError, StoreError};

/// A study in a store. Every call sees what others have written in the meantime; every call that writes is one
/// transaction, and done when it returns.
pub struct StoredStudy {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: i64,
    /// When it was made. The number of a study that was deleted may go to another one, so both are looked at.
    created: i64,
    pub(crate) name: String,
    pub(crate) lease: Duration,
    /// Who makes the changes, where no worker is named.
    pub(crate) by: Option<String>,
    /// The state as of the last call; events that came later are added to it.
    pub(crate) fold: Option<Fold>,
    /// What must not have happened before the next change.
    pub(crate) unless: Option<Unless>,
}

impl std::fmt::Debug for StoredStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredStudy").field("name", &self.name).finish_non_exhaustive()
    }
}

crate::changes::changes!(StoredStudy);

impl StoredStudy {
    pub(crate) fn new(shared: Arc<Shared>, id: i64, created: i64, name: &str) -> Self {
        Self { shared, id, created, name: name.to_owned(), lease: LEASE, by: None, fold: None, unless: None }
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of its store, without its password.
    pub fn address(&self) -> &str {
        &self.shared.database.address.shown
    }

    /// The same study where trials that are asked for from now on belong to their worker for another time than [`LEASE`].
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// Trials that are asked for or kept from now on belong to their worker for so long.
    pub fn set_lease(&mut self, lease: Duration) {
        self.lease = lease;
    }

    /// The same study with the name of who makes the changes from now on: it stands in the log where no worker is named.
    pub fn signed(self, by: impl Into<String>) -> Self {
        Self { by: Some(by.into()), ..self }
    }

    /// Names who makes the changes from now on, as [`Self::signed`] does.
    pub fn sign(&mut self, by: impl Into<String>) {
        self.by = Some(by.into());
    }

    /// The next change is refused if any of these trials was changed after the event of this number, which is the last that its author
    /// has seen; with no trials named, if anything happened to the study at all.
    pub fn unless_changed(&mut self, seen: i64, trials: &[usize]) {
        self.unless = Some(Unless { seen, trials: trials.to_vec() });
    }

    /// Whether another handle is of the same study, by whatever names they go.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.id, self.created) == (other.id, other.created)
    }

    /// The number of the last event in its log.
    ///
    /// # Errors
    /// If the database cannot be read, or the study was deleted.
    pub fn last_event(&self) -> Result<i64, StoreError> {
        let mut transaction = self.shared.database.read()?;
        let line = self.check_there(&mut transaction, false)?;
        if line.head > 0 {
            return Ok(line.head);
        }
        // A store without checksums that cannot be written.
        let rows = transaction
            .rows("SELECT COALESCE(MAX(seq), 0) FROM events WHERE study = $1", &[Value::Int(self.id)])?;
        rows.first().map_or(Ok(0), |row| transaction.get(row, 0))
    }

    /// The number of the last event that this handle has read.
    pub fn known_event(&self) -> i64 {
        self.fold.as_ref().map_or(0, |fold| fold.ledger.seq)
    }

    /// Every row that [`Self::add`] would refuse, with its place.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn check(&mut self, rows: &[Row]) -> Result<Vec<RowError>, StoreError> {
        self.check_table(&rows.iter().collect())
    }

    /// The same of a table.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn check_table(&mut self, table: &Table) -> Result<Vec<RowError>, StoreError> {
        Ok(faults(self.ledger()?.study.problem(), table))
    }

    /// One trial.
    ///
    /// # Errors
    /// If there is no such trial, or the database cannot be read.
    pub fn trial(&mut self, number: usize) -> Result<StoredTrial, StoreError> {
        self.ledger()?.checked_trial(number)
    }

    /// All trials, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn trials(&mut self) -> Result<Vec<StoredTrial>, StoreError> {
        Ok(self.ledger()?.trials())
    }

    /// Some trials, in order: those of which that is true.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn trials_that(&mut self, wanted: impl Fn(&Trial) -> bool) -> Result<Vec<StoredTrial>, StoreError> {
        Ok(self.ledger()?.trials_that(wanted))
    }

    /// The study as it stands, in memory: to look at, to ask for a recommendation, or to go on with outside the store.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn study(&mut self) -> Result<Study, StoreError> {
        let name = self.name.clone();
        Ok(self.ledger()?.study.clone().named(&name))
    }

    /// The same without a copy, for studies that fill the memory once.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn into_study(mut self) -> Result<Study, StoreError> {
        self.current()?;
        let fold = self.fold.take().ok_or_else(|| self.bad_event(1, "the log is empty".into()))?;
        Ok(fold.ledger.study.named(&self.name))
    }

    /// The problem in force.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn problem(&mut self) -> Result<Arc<Problem>, StoreError> {
        Ok(self.ledger()?.study.problem().clone())
    }

    /// The text of the problem file in force.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn problem_toml(&mut self) -> Result<String, StoreError> {
        Ok(self.ledger()?.problem.clone().unwrap_or_default())
    }

    /// The text of the problem file it was made with.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn first_problem_toml(&mut self) -> Result<String, StoreError> {
        Ok(self.current()?.created.problem.clone())
    }

    /// Trials under way, with who has them.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn under_way(&mut self) -> Result<Vec<(usize, Option<String>)>, StoreError> {
        Ok(self.ledger()?.under_way())
    }

    /// What was written beside the study, by name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn attributes(&mut self) -> Result<BTreeMap<String, serde_json::Value>, StoreError> {
        Ok(self.ledger()?.attributes.clone())
    }

    /// The number of its last event: as long as that stays, nothing has changed.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn version(&mut self) -> Result<i64, StoreError> {
        Ok(self.ledger()?.seq)
    }

    /// Where the study stands.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn status(&mut self) -> Result<Status, StoreError> {
        let (name, made, now) = (self.name.clone(), self.created, (self.shared.clock)());
        let Fold { created, ledger, .. } = self.current()?;
        let partial = |trial: &&Trial| {
            trial.state != TrialState::Voided && trial.values.iter().flatten().any(Option::is_none)
        };
        Ok(Status {
            name,
            strategy: created.strategy.clone(),
            seed: created.seed,
            initial: created.initial,
            created: made,
            changed: ledger.changed,
            trials: ledger.records.len(),
            pending: ledger.count(TrialState::Pending),
            expired: ledger.in_state(TrialState::Pending).filter(|(_, record)| record.is_over(now)).count(),
            complete: ledger.count(TrialState::Complete),
            partial: ledger.study.trials().iter().filter(partial).count(),
            failed: ledger.count(TrialState::Failed),
            corrected: ledger.records.iter().filter(|record| record.corrected.is_some()).count(),
            voided: ledger.count(TrialState::Voided),
            best: ledger.study.best_trial().map(|(trial, reward)| (trial.number, reward)),
        })
    }

    /// The whole log, oldest event first.
    ///
    /// # Errors
    /// If the database cannot be read, or is damaged.
    pub fn events(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        self.each_event(|entry| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(entries)
    }

    /// Who did what and when, oldest first: the log as a story.
    ///
    /// # Errors
    /// If the database cannot be read, or an event makes no sense.
    pub fn history(&self) -> Result<Vec<Happening>, StoreError> {
        let mut teller = Teller::default();
        let mut story = Vec::new();
        self.each_event(|entry| {
            let (seq, at) = (entry.seq, entry.at);
            let event =
                Event::read(&entry.kind, &entry.payload).map_err(|reason| self.bad_event(seq, reason))?;
            let (who, what) = teller.tell(event).map_err(|reason| self.bad_event(seq, reason))?;
            story.push(Happening { seq, at, kind: entry.kind, who, what });
            Ok(())
        })?;
        Ok(story)
    }

    /// The line of the study in the list; nobody else writes to it until the transaction ends, if it is `locked`. Refuses to go on
    /// with a study that was deleted.
    pub(crate) fn check_there(
        &self,
        transaction: &mut Transaction<'_>,
        locked: bool,
    ) -> Result<StudyLine, StoreError> {
        match schema::line(transaction, self.id, locked)? {
            Some(line) if line.created == self.created => Ok(line),
            _ => Err(transaction.database.suspect(StoreError::Deleted { name: self.name.clone() })),
        }
    }

    /// The ledger with everything that is in the database.
    fn ledger(&mut self) -> Result<&Ledger, StoreError> {
        Ok(&self.current()?.ledger)
    }

    /// The state with everything that is in the database.
    pub(crate) fn current(&mut self) -> Result<&Fold, StoreError> {
        self.catch()?;
        self.save();
        self.fold.as_ref().ok_or_else(|| self.bad_event(1, "the log is empty".into()))
    }

    /// Reads what is new in the database, for what is not done yet: snapshots wait.
    pub(crate) fn catch(&mut self) -> Result<&Fold, StoreError> {
        let shared = self.shared.clone();
        let mut fold = self.fold.take();
        let mut transaction = shared.database.read()?;
        let line = self.check_there(&mut transaction, false)?;
        self.catch_up(&mut transaction, &mut fold, &line)?;
        drop(transaction);
        match fold {
            Some(fold) => Ok(self.fold.insert(fold)),
            None => Err(self.bad_event(1, "the log is empty".into())),
        }
    }
}
