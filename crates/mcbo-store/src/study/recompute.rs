//! Suggestions that are computed once more from the log.

use std::borrow::Cow;

use mcbo_core::{Origin, StudyError, Suggestion};

use super::StoredStudy;
use crate::StoreError;
use crate::event::{Event, From, program};
use crate::fold::Fold;
use crate::view::{Outcome, Recomputed};

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
        let (seq, kind) = (record.seq, entries[place].kind.clone());
        let event = match Event::read(&entries[place].kind, &entries[place].payload) {
            Ok(Event::Asked(event)) => event,
            _ => return Err(self.bad_event(seq, "it is no proposal".into())),
        };
        if event.proposal.suggestion.origin() == Origin::Enqueued {
            return Err(StoreError::NotProposed { number: trial });
        }
        // What it knew: the log up to some place, and perhaps the proposals before its own that were computed with it.
        let from = event.from.unwrap_or(From { seq: seq - 1, known: 0, beside: false });
        let (mut fold, mut study, mut proposals, mut before) = (None, None, Vec::new(), 0);
        for entry in entries.into_iter().take(place + 1) {
            let (at, asked) = (entry.seq, entry.kind == kind);
            self.apply(&mut fold, entry)?;
            let Some(Fold { ledger, .. }) = &fold else { continue };
            if asked {
                proposals.push(ledger.last_proposal());
            }
            if at == from.seq {
                (study, before) = (Some(ledger.study.clone()), proposals.len());
            }
        }
        let (Some(mut study), Some(stored)) = (study, proposals.pop()) else {
            return Err(self.bad_event(seq, "nothing comes before it".into()));
        };
        let mut beside = match from.beside {
            false => None,
            true => Some(proposals.drain(before..).map(|proposal| proposal.suggestion).collect()),
        };
        for proposal in proposals.split_off(proposals.len().saturating_sub(from.known)) {
            study.resume(proposal)?;
        }
        let mut again = stored.clone();
        let Suggestion { given, fixed, .. } = &stored.suggestion;
        study.propose_beside(given, fixed, &mut |proposal| {
            again = proposal.unwrap_or_else(|| again.clone());
            beside.take()
        })?;
        let text = |proposal| {
            serde_json::to_string(proposal).map_err(|error| self.bad_event(seq, error.to_string()))
        };
        let outcome = match text(&stored)? == text(&again)? {
            true => Outcome::Same,
            false if event.program == program() => Outcome::Different,
            false => Outcome::OtherProgram { then: event.program.clone(), now: program() },
        };
        Ok(Recomputed { outcome, stored, again })
    }
}
