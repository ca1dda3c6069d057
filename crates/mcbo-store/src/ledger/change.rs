//! Changes of a ledger, by the rules that hold in memory and in a database.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use mcbo_core::{
    DataError, Fixed, Given, Intervention, Memory, Proposal, StudyError, Trial, TrialState, check_size,
};
use serde_json::Value;

use super::rows::{Duplicates, Piece, new_rows};
use super::{Computed, Ledger, QUEUE, Record};
use crate::StoreError;
use crate::event::{
    Asked, Corrected, Event, Failed, From, Noted, ProblemChanged, Released, Retried, Told, Voided, program,
};
use crate::log::Draft;
use crate::table::Table;
use crate::view::StoredTrial;

/// A change under way: the ledger with it, and the events that made it. What is refused leaves the ledger as it was.
pub(crate) struct Change<'a> {
    pub ledger: &'a mut Ledger,
    /// When it happens, in milliseconds since 1970 (UTC).
    pub at: i64,
    /// Until when trials that are handed out belong to their worker.
    lease_until: i64,
    /// Who makes it, where no worker is named.
    pub by: Option<String>,
    pub drafts: Vec<Draft>,
}

impl<'a> Change<'a> {
    pub fn new(ledger: &'a mut Ledger, at: i64, lease: Duration) -> Self {
        let lease = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        Self { ledger, at, lease_until: at.saturating_add(lease), by: None, drafts: Vec::new() }
    }

    /// Notes an event whose effect is in the ledger.
    fn note(&mut self, event: Event) {
        self.note_draft(event.into());
    }

    fn note_draft(&mut self, draft: Draft) {
        self.ledger.advance(self.at, draft.event.moves());
        self.drafts.push(draft);
    }

    /// Trials for a worker, `count` in all: first those it has already, then those whose lease is over, then new ones. Where something
    /// is given, trials count that were chosen for just that, or by hand; where something is fixed, those that do it. New ones are those
    /// that were `computed`, if that are as many as are needed.
    pub fn ask(
        &mut self,
        worker: &str,
        count: usize,
        given: &Given,
        fixed: &Fixed,
        computed: Option<Computed>,
    ) -> Result<Vec<StoredTrial>, StoreError> {
        let known = self.ledger.known(worker, count, given, fixed, self.at);
        let wanted = count - known.len();
        let computed = match computed {
            Some(computed) if computed.proposals.len() == wanted => computed,
            _ => self.ledger.compute(wanted, given, fixed)?,
        };
        let new = self.put_under_way(worker, computed)?;
        for &(trial, over) in &known {
            if over {
                let event = Retried { trial, worker: worker.to_owned(), lease_until: self.lease_until };
                self.ledger.hand_over(&event)?;
                self.note(Event::Retried(event));
            }
        }
        let numbers = known.into_iter().map(|(number, _)| number).chain(new);
        Ok(numbers.map(|number| self.ledger.trial(number)).collect())
    }

    /// Makes new trials of what was computed, all of it or nothing.
    fn put_under_way(&mut self, worker: &str, computed: Computed) -> Result<Vec<usize>, StoreError> {
        // A single one that is refused leaves nothing behind.
        let before = (computed.proposals.len() > 1).then(|| self.ledger.clone());
        let Computed { seq, beside, .. } = computed;
        let late = seq != self.ledger.seq;
        let mut numbers = Vec::new();
        for (known, (proposal, took)) in computed.proposals.into_iter().enumerate() {
            let remembered = self.ledger.study.memory().clone();
            let number = match self.ledger.study.resume(proposal) {
                Ok(trial) => trial.number,
                Err(error) => {
                    before.into_iter().for_each(|before| *self.ledger = before);
                    return Err(error.into());
                }
            };
            numbers.push(number);
            let from = late.then_some(From { seq, known, beside });
            self.hand_out(number, worker, self.lease_until, took, from, &remembered);
        }
        Ok(numbers)
    }

    /// Writes down a trial that was put under way, and what of it is not what was `remembered` before.
    fn hand_out(
        &mut self,
        trial: usize,
        worker: &str,
        lease_until: i64,
        took_seconds: f64,
        from: Option<From>,
        remembered: &Memory,
    ) {
        let Proposal { suggestion, memory } = self.ledger.last_proposal();
        let proposal = Proposal { suggestion, memory: memory.since(remembered) };
        self.ledger.hand_out(worker.to_owned(), lease_until, took_seconds, program(), self.at);
        let worker = worker.to_owned();
        let event = Asked { trial, worker, lease_until, took_seconds, program: program(), from, proposal };
        self.note(Event::Asked(Box::new(event)));
    }

    /// Puts a trial of the caller's own choice under way; without a worker the next who asks gets it.
    pub fn enqueue(
        &mut self,
        worker: Option<&str>,
        intervention: Intervention,
    ) -> Result<StoredTrial, StoreError> {
        let lease_until = worker.map_or(self.at, |_| self.lease_until);
        let remembered = self.ledger.study.memory().clone();
        let number = self.ledger.study.enqueue(intervention)?.number;
        self.hand_out(number, worker.unwrap_or(QUEUE), lease_until, 0.0, None, &remembered);
        Ok(self.ledger.trial(number))
    }

    /// Takes values of a trial by names, its first or further ones.
    pub fn tell(
        &mut self,
        trial: usize,
        values: &[(&str, Vec<f64>)],
        worker: Option<&str>,
    ) -> Result<(), StoreError> {
        let worker = worker.map(str::to_owned).or_else(|| self.by.clone());
        let event = Told { trial, worker, values: by_name(values)? };
        if self.ledger.take(&event, self.at)? {
            self.note(Event::Told(event));
        }
        Ok(())
    }

    /// Puts values of a trial right, by names.
    pub fn correct(
        &mut self,
        trial: usize,
        values: &[(&str, Vec<f64>)],
        reason: &str,
    ) -> Result<(), StoreError> {
        let (reason, by) = (reason.to_owned(), self.by.clone());
        let event = Corrected { trial, values: by_name(values)?, reason, by };
        if self.ledger.correct(&event, self.at)? {
            self.note(Event::Corrected(event));
        }
        Ok(())
    }

    /// Takes trials out of the study, all of them or none; which of them were in.
    pub fn void(&mut self, trials: &[usize], reason: &str) -> Result<Vec<usize>, StoreError> {
        let mut event = Voided { trials: trials.to_vec(), reason: reason.to_owned(), by: self.by.clone() };
        event.trials = self.ledger.void(&event, self.at)?;
        let new = event.trials.clone();
        if !new.is_empty() {
            self.note(Event::Voided(event));
        }
        Ok(new)
    }

    /// Puts trials back that were taken out, all of them or none; which of them were out.
    pub fn restore(&mut self, trials: &[usize], reason: &str) -> Result<Vec<usize>, StoreError> {
        let mut event = Voided { trials: trials.to_vec(), reason: reason.to_owned(), by: self.by.clone() };
        event.trials = self.ledger.restore(&event)?;
        let new = event.trials.clone();
        if !new.is_empty() {
            self.note(Event::Restored(event));
        }
        Ok(new)
    }

    /// Marks a pending trial as one that could not be run. Saying so twice is no mistake.
    pub fn fail(&mut self, trial: usize, reason: &str) -> Result<(), StoreError> {
        let known = trial.checked_sub(1).and_then(|place| self.ledger.study.trials().get(place));
        if known.is_some_and(|trial| trial.state == TrialState::Failed) {
            return Ok(());
        }
        let event = Failed { trial, reason: reason.to_owned(), by: self.by.clone() };
        self.ledger.fail(&event)?;
        self.note(Event::Failed(event));
        Ok(())
    }

    /// Leaves pending trials to the worker that has them, from now on for another lease; which of them it still has.
    pub fn keep(&mut self, worker: &str, trials: &[usize]) -> Result<Vec<usize>, StoreError> {
        let is_own = |(trial, record): &(&Trial, Cow<'_, Record>)| {
            trials.contains(&trial.number) && record.worker.as_deref() == Some(worker)
        };
        let pending = self.ledger.in_state(TrialState::Pending).filter(is_own);
        let kept: Vec<usize> = pending.map(|(trial, _)| trial.number).collect();
        for &trial in &kept {
            let event = Retried { trial, worker: worker.to_owned(), lease_until: self.lease_until };
            self.ledger.hand_over(&event)?;
            self.note(Event::Retried(event));
        }
        Ok(kept)
    }

    /// Lets pending trials wait for the next who asks, those that a worker still has if one is named; which of them that is new of.
    /// `lost` says that they were begun and lost.
    pub fn release(
        &mut self,
        trials: &[usize],
        worker: Option<&str>,
        reason: &str,
        lost: bool,
    ) -> Result<Vec<usize>, StoreError> {
        let mut released = Vec::new();
        for &trial in trials {
            let StoredTrial { trial: known, record, .. } = self.ledger.checked_trial(trial)?;
            let is_other = worker.is_some_and(|worker| record.worker.as_deref() != Some(worker));
            if record.worker.as_deref() == Some(QUEUE) || is_other {
                continue;
            }
            if known.state != TrialState::Pending {
                return Err(StudyError::NotPending { number: trial, state: known.state }.into());
            }
            released.push(trial);
        }
        for &trial in &released {
            let by = worker.map(str::to_owned).or_else(|| self.by.clone());
            let event = Released { trial, reason: reason.to_owned(), lost, by };
            self.ledger.release(&event, self.at)?;
            self.note(Event::Released(event));
        }
        Ok(released)
    }

    /// Writes something beside a trial, or beside the study.
    pub fn write_beside(
        &mut self,
        trial: Option<usize>,
        attributes: &BTreeMap<String, Value>,
    ) -> Result<(), StoreError> {
        let event = Noted { trial, attributes: attributes.clone(), by: self.by.clone() };
        if self.ledger.write_beside(&event)? {
            self.note(Event::Noted(event));
        }
        Ok(())
    }

    /// Adds rows that were measured outside the study, all of them or none; how many.
    pub fn add(&mut self, table: &Table, duplicates: Duplicates) -> Result<usize, StoreError> {
        let problem = self.ledger.study.problem().clone();
        let new = new_rows(&problem, self.ledger.study.data(), table, 0, duplicates)?;
        let mut rows = table.observations(&problem).zip(new);
        let piece = Piece::next(&problem, &mut rows, usize::MAX, self.by.as_deref())?;
        let count = piece.rows;
        self.put(piece)?;
        Ok(count)
    }

    /// Adds rows that are ready to be added.
    pub fn put(&mut self, piece: Piece) -> Result<(), StoreError> {
        for (draft, observations) in piece.parts {
            for observation in observations {
                self.ledger.add(observation, self.at)?;
            }
            self.note_draft(draft);
        }
        Ok(())
    }

    /// Goes on with another problem. The same text again is no change.
    pub fn change_problem(&mut self, text: &str) -> Result<(), StoreError> {
        if self.ledger.problem.as_deref() != Some(text) {
            self.ledger.change_problem(text)?;
            let event = ProblemChanged { problem: text.to_owned(), by: self.by.clone() };
            self.note(Event::ProblemChanged(event));
        }
        Ok(())
    }
}

/// Values by names, each once.
fn by_name(values: &[(&str, Vec<f64>)]) -> Result<BTreeMap<String, Vec<f64>>, StoreError> {
    let mut by_name = BTreeMap::new();
    for (name, given) in values {
        given.iter().try_for_each(|&value| check_size(name, value)).map_err(StudyError::from)?;
        if by_name.insert((*name).to_owned(), given.clone()).is_some() {
            return Err(StoreError::Twice { name: (*name).to_owned() });
        }
    }
    match by_name.is_empty() {
        true => Err(StoreError::Study(DataError::Nothing.into())),
        false => Ok(by_name),
    }
}
