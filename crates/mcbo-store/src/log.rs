//! Reading and writing the log of a study.

use mcbo_core::TrialState;

use crate::StoreError;
use crate::address::Backend;
use crate::database::{Transaction, Value};
use crate::event::Event;
use crate::fold::Fold;
use crate::ledger::Change;
use crate::study::StoredStudy;
use crate::view::Entry;

/// What must not have happened before a change.
#[derive(Debug, Clone)]
pub(crate) struct Unless {
    /// The last event that the author of the change has seen.
    pub seen: i64,
    /// The trials that matter; all that happens does where none is named.
    pub trials: Vec<usize>,
}

impl StoredStudy {
    /// Applies the events that are not in the state yet.
    pub(crate) fn catch_up(
        &self,
        transaction: &mut Transaction<'_>,
        fold: &mut Option<Fold>,
    ) -> Result<(), StoreError> {
        let seq = fold.as_ref().map_or(0, |fold| fold.ledger.seq);
        for entry in self.read_events(transaction, seq)? {
            self.apply(fold, entry)?;
        }
        Ok(())
    }

    pub(crate) fn read_events(
        &self,
        transaction: &mut Transaction<'_>,
        after: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        let rows = transaction.rows(
            "SELECT seq, at, kind, payload FROM events WHERE study = $1 AND seq > $2 ORDER BY seq",
            &[Value::Int(self.id), Value::Int(after)],
        )?;
        let entry = |row| {
            Ok(Entry {
                seq: transaction.get(row, 0)?,
                at: transaction.get(row, 1)?,
                kind: transaction.get(row, 2)?,
                payload: transaction.get(row, 3)?,
            })
        };
        rows.iter().map(entry).collect()
    }

    pub(crate) fn apply(&self, fold: &mut Option<Fold>, entry: Entry) -> Result<(), StoreError> {
        let bad = |reason| self.bad_event(entry.seq, reason);
        let expected = fold.as_ref().map_or(1, |fold| fold.ledger.seq + 1);
        if entry.seq != expected {
            return Err(bad(format!("event {expected} is missing before it")));
        }
        let event = Event::read(&entry.kind, &entry.payload).map_err(bad)?;
        match fold {
            Some(fold) => fold.apply(entry.at, event).map_err(bad),
            None => {
                *fold = Some(Fold::start(entry.at, event, &*self.shared.strategies).map_err(bad)?);
                Ok(())
            }
        }
    }

    /// Refuses a change whose author has not seen what it would overwrite.
    fn refuse_overtaken(&self, transaction: &mut Transaction<'_>, unless: &Unless) -> Result<(), StoreError> {
        for entry in self.read_events(transaction, unless.seen)? {
            let event = Event::read(&entry.kind, &entry.payload)
                .map_err(|reason| self.bad_event(entry.seq, reason))?;
            let trial = event.trials().into_iter().find(|trial| unless.trials.contains(trial));
            if trial.is_some() || unless.trials.is_empty() {
                return Err(StoreError::Overtaken { study: self.name.clone(), trial, seq: entry.seq });
            }
        }
        Ok(())
    }

    pub(crate) fn bad_event(&self, seq: i64, reason: String) -> StoreError {
        StoreError::BadEvent { study: self.name.clone(), seq, reason }
    }

    /// Runs a change in a transaction of its own. What `act` notes is written; if anything fails, nothing is.
    pub(crate) fn change<T>(
        &mut self,
        act: impl FnOnce(&mut Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shared = self.shared.clone();
        let mut transaction = shared.database.write()?;
        self.check_there(
            &mut transaction,
            match shared.database.address.backend {
                Backend::Sqlite => "SELECT created FROM studies WHERE id = $1",
                Backend::Postgres => "SELECT created FROM studies WHERE id = $1 FOR UPDATE",
            },
        )?;
        if let Some(unless) = self.unless.take() {
            self.refuse_overtaken(&mut transaction, &unless)?;
        }
        let mut state = self.fold.take();
        self.catch_up(&mut transaction, &mut state)?;
        let mut fold = state.ok_or_else(|| self.bad_event(1, "the log is empty".into()))?;
        let first = fold.ledger.seq + 1;
        let mut change = Change::new(&mut fold.ledger, (shared.clock)(), self.lease);
        change.by = self.by.clone();
        let done = act(&mut change)?;
        let (at, events) = (change.at, change.events);
        if events.is_empty() {
            self.fold = Some(fold);
            return Ok(done);
        }
        for (seq, event) in (first..).zip(&events) {
            let payload = checked_payload(event)?;
            transaction.execute(
                "INSERT INTO events (study, seq, at, kind, payload) VALUES ($1, $2, $3, $4, $5)",
                &[
                    Value::Int(self.id),
                    Value::Int(seq),
                    Value::Int(at),
                    Value::Text(event.kind()),
                    Value::Text(&payload),
                ],
            )?;
        }
        let count = |state| Value::Int(fold.ledger.count(state) as i64);
        transaction.execute(
            "UPDATE studies SET changed = $2, trials = $3, pending = $4, complete = $5, failed = $6 WHERE id = $1",
            &[
                Value::Int(self.id),
                Value::Int(at),
                Value::Int(fold.ledger.records.len() as i64),
                count(TrialState::Pending),
                count(TrialState::Complete),
                count(TrialState::Failed),
            ],
        )?;
        transaction.commit()?;
        self.fold = Some(fold);
        Ok(done)
    }
}

/// The content of an event, after making sure that it can be read again.
fn checked_payload(event: &Event) -> Result<String, StoreError> {
    let number = match event {
        Event::Asked(event) => event.trial,
        _ => 0,
    };
    let unstorable = |reason| StoreError::Unstorable { number, reason };
    let payload = event.payload().map_err(|error| unstorable(error.to_string()))?;
    Event::read(event.kind(), &payload).map_err(unstorable)?;
    Ok(payload)
}
