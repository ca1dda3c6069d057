//! Suggestions that are computed once more from the log.

use std::borrow::Cow;

use mcbo_core::{Origin, StudyError};

use super::StoredStudy;
use crate::StoreError;
use crate::event::{Event, program};
use crate::view::{Entry, Outcome, Recomputed};

impl StoredStudy {
    /// Computes the suggestion of a trial once more, from the log as it was then.
    ///
    /// It is the same to the bit where the same version of the program runs on the same kind of processor; elsewhere a
    /// difference says nothing, and [`Outcome`] says that.
    ///
    /// # Errors
    /// If there is no such trial, or it was added or enqueued from outside.
    pub fn recompute(&mut self, trial: usize) -> Result<Recomputed, StoreError> {
        let records = &self.ledger()?.records;
        let record = trial.checked_sub(1).and_then(|place| records.get(place)).map(Cow::into_owned);
        let record = record.ok_or(StudyError::UnknownTrial { number: trial, last: records.len() })?;
        if record.program.is_none() {
            return Err(StoreError::NotProposed { number: trial });
        }
        let entries = self.events()?;
        let place = entries.iter().position(|entry| entry.seq == record.seq);
        let Some(place) = place else { return Err(self.bad_event(record.seq, "it is gone".into())) };
        let asked = |entry: &Entry| match Event::read(&entry.kind, &entry.payload) {
            Ok(Event::Asked(event)) => Ok(event),
            _ => Err(self.bad_event(entry.seq, "it is no proposal".into())),
        };
        let entry = entries[place].clone();
        let event = asked(&entry)?;
        // What it knew: the log up to some place, and perhaps proposals that were computed with it.
        let (last, known) = event.from.map_or((entry.seq - 1, 0), |from| (from.seq, from.known));
        let with = entries[..place].iter().rev().take(known).map(asked).collect::<Result<Vec<_>, _>>()?;
        let mut fold = None;
        for entry in entries.into_iter().take_while(|entry| entry.seq <= last) {
            self.apply(&mut fold, entry)?;
        }
        let Some(mut fold) = fold else {
            return Err(self.bad_event(record.seq, "nothing comes before it".into()));
        };
        for event in with.into_iter().rev() {
            fold.ledger.study.resume(event.proposal)?;
        }
        if event.proposal.suggestion.origin() == Origin::Enqueued {
            return Err(StoreError::NotProposed { number: trial });
        }
        let asked = &event.proposal.suggestion;
        fold.ledger.study.ask_fixing(&asked.given, &asked.fixed)?;
        let again = fold.ledger.last_proposal();
        let text = |proposal| {
            serde_json::to_string(proposal).map_err(|error| self.bad_event(entry.seq, error.to_string()))
        };
        let outcome = match text(&event.proposal)? == text(&again)? {
            true => Outcome::Same,
            false if event.program == program() => Outcome::Different,
            false => Outcome::OtherProgram { then: event.program.clone(), now: program() },
        };
        Ok(Recomputed { outcome, stored: event.proposal, again })
    }
}
