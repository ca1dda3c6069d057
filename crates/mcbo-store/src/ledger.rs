//! The ledger of a study: its trials, who has them until when, what was told of them. The rules are the same in memory and
//! in a database; a database also keeps the events.

mod change;
mod records;
mod rows;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mcbo_core::{
    Fixed, Given, Observation, Origin, Problem, Proposal, Study, StudyError, Suggestion, Trial, TrialState,
};
use serde_json::Value;

use crate::StoreError;
use crate::event::{Corrected, Failed, Moves, Noted, Released, Retried, Told, Voided};
use crate::view::StoredTrial;

pub(crate) use change::Change;
pub(crate) use records::Kept;
use records::Records;
pub use rows::Duplicates;
pub(crate) use rows::{Piece, faults, new_rows};

/// How long a trial belongs to the worker that asked for it, unless said otherwise.
pub const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// The worker of enqueued trials that nobody has yet.
const QUEUE: &str = "queue";

/// What is known of a trial beside what the study itself knows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// Who has it, or had it last; `None` for rows that were added.
    pub worker: Option<String>,
    /// When it was proposed or added, in milliseconds since 1970 (UTC).
    pub asked: i64,
    /// Until when it belongs to its worker.
    pub lease_until: Option<i64>,
    /// When values came in last.
    pub told: Option<i64>,
    /// When values were put right last.
    pub corrected: Option<i64>,
    /// When it was taken out of the study, and why, if it is out.
    pub voided: Option<(i64, String)>,
    /// Why it could not be run.
    pub reason: Option<String>,
    /// How often it was lost under way: its worker ended, or gave it back because something failed that is not the experiment.
    pub lost: usize,
    /// What was written beside it, by name.
    pub attributes: BTreeMap<String, Value>,
    /// How long the proposal took to compute.
    pub took_seconds: Option<f64>,
    /// The program that proposed it.
    pub program: Option<String>,
    /// Its proposal's place in the log.
    pub(crate) seq: i64,
}

impl Record {
    /// Of a trial that an event of this place has just brought.
    pub(crate) fn new(at: i64, seq: i64) -> Self {
        Self {
            worker: None,
            asked: at,
            lease_until: None,
            told: None,
            corrected: None,
            voided: None,
            reason: None,
            lost: 0,
            attributes: BTreeMap::new(),
            took_seconds: None,
            program: None,
            seq,
        }
    }

    /// Whether a pending trial belongs to nobody any more.
    pub(crate) fn is_over(&self, at: i64) -> bool {
        self.lease_until.is_none_or(|until| until <= at)
    }
}

/// A study with the records of its trials, after some events.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub study: Study,
    /// One for every trial.
    pub records: Records,
    /// The text of the problem in force, where it is known.
    pub problem: Option<String>,
    /// What was written beside the study, by name.
    pub attributes: BTreeMap<String, Value>,
    /// How many events have made it.
    pub seq: i64,
    /// The last of them that suggestions must know of.
    pub moved: i64,
    /// The last of them that brought rows from outside, or back, or another problem.
    pub rows_moved: i64,
    /// When the last of them was, in milliseconds since 1970 (UTC).
    pub changed: i64,
}

impl Ledger {
    /// The ledger of a study that was just made.
    pub fn new(study: Study, problem: Option<String>, at: i64) -> Self {
        let (records, attributes) = (Records::default(), BTreeMap::new());
        Self { study, records, problem, attributes, seq: 1, moved: 1, rows_moved: 1, changed: at }
    }

    /// Counts an event whose effect is there already.
    pub fn advance(&mut self, at: i64, moves: Moves) {
        self.seq += 1;
        self.changed = at;
        if moves.suggestions {
            self.moved = self.seq;
        }
        if moves.rows {
            self.rows_moved = self.seq;
        }
    }

    /// The trial that was put under way last, with what it left to remember.
    pub fn last_proposal(&self) -> Proposal {
        let suggestion = self.study.trials().last().map(|trial| trial.suggestion.clone());
        let nothing = || Suggestion::new("", self.study.problem().neutral_intervention());
        Proposal { suggestion: suggestion.unwrap_or_else(nothing), memory: self.study.memory().clone() }
    }

    /// Puts a trial under way as it is written: with what was new to remember; its number.
    pub fn resume_written(&mut self, written: Proposal) -> Result<usize, StudyError> {
        let memory = written.memory.completed(self.study.memory());
        Ok(self.study.resume(Proposal { memory, ..written })?.number)
    }

    /// Notes a trial that was put under way.
    pub fn hand_out(
        &mut self,
        worker: String,
        lease_until: i64,
        took_seconds: f64,
        program: String,
        at: i64,
    ) {
        self.records.push(Record {
            worker: Some(worker),
            lease_until: Some(lease_until),
            took_seconds: Some(took_seconds),
            program: Some(program),
            ..Record::new(at, self.seq + 1)
        });
    }

    fn record(&mut self, trial: usize) -> Result<&mut Record, StudyError> {
        let last = self.records.len();
        let record = trial.checked_sub(1).and_then(|place| self.records.get_mut(place));
        record.ok_or(StudyError::UnknownTrial { number: trial, last })
    }

    /// Gives a pending trial to a worker, or leaves it to the one that has it for longer.
    pub fn hand_over(&mut self, event: &Retried) -> Result<(), StudyError> {
        let record = self.record(event.trial)?;
        if record.worker.as_deref().is_some_and(|had| had != event.worker && had != QUEUE) {
            record.lost += 1;
        }
        record.worker = Some(event.worker.clone());
        record.lease_until = Some(event.lease_until);
        Ok(())
    }

    /// Lets a pending trial wait for the next who asks.
    pub fn release(&mut self, event: &Released, at: i64) -> Result<(), StudyError> {
        let record = self.record(event.trial)?;
        record.worker = Some(QUEUE.to_owned());
        record.lease_until = Some(at);
        record.lost += usize::from(event.lost);
        Ok(())
    }

    /// Writes something beside a trial, or beside the study; whether that is new.
    pub fn write_beside(&mut self, event: &Noted) -> Result<bool, StudyError> {
        let attributes = match event.trial {
            Some(trial) => &mut self.record(trial)?.attributes,
            None => &mut self.attributes,
        };
        let mut new = false;
        for (name, value) in &event.attributes {
            new |= attributes.insert(name.clone(), value.clone()).as_ref() != Some(value);
        }
        Ok(new)
    }

    /// Takes values of a trial, its first or further ones; whether there was anything new in them.
    pub fn take(&mut self, event: &Told, at: i64) -> Result<bool, StudyError> {
        let new = self.study.take_named(event.trial, &borrowed(&event.values))?;
        if new {
            let record = self.record(event.trial)?;
            (record.told, record.reason) = (Some(at), None);
        }
        Ok(new)
    }

    /// Puts values of a trial right; whether anything changed.
    pub fn correct(&mut self, event: &Corrected, at: i64) -> Result<bool, StudyError> {
        let new = self.study.correct_named(event.trial, &borrowed(&event.values))?;
        if new {
            self.record(event.trial)?.corrected = Some(at);
        }
        Ok(new)
    }

    /// Takes trials out, all of them or none; which of them were in.
    pub fn void(&mut self, event: &Voided, at: i64) -> Result<Vec<usize>, StudyError> {
        let new = self.each(&event.trials, Study::void)?;
        for &trial in &new {
            self.record(trial)?.voided = Some((at, event.reason.clone()));
        }
        Ok(new)
    }

    /// Puts trials back, all of them or none; which of them were out.
    pub fn restore(&mut self, event: &Voided) -> Result<Vec<usize>, StudyError> {
        let new = self.each(&event.trials, Study::restore)?;
        for &trial in &new {
            self.record(trial)?.voided = None;
        }
        Ok(new)
    }

    /// Does the same to several trials, to all or none; which of them that changed.
    fn each(
        &mut self,
        trials: &[usize],
        act: fn(&mut Study, usize) -> Result<bool, StudyError>,
    ) -> Result<Vec<usize>, StudyError> {
        let mut study = self.study.clone();
        let mut new = Vec::new();
        for &trial in trials {
            if act(&mut study, trial)? {
                new.push(trial);
            }
        }
        self.study = study;
        Ok(new)
    }

    /// Marks a trial as one that could not be run.
    pub fn fail(&mut self, event: &Failed) -> Result<(), StudyError> {
        self.study.fail(event.trial)?;
        self.record(event.trial)?.reason = Some(event.reason.clone());
        Ok(())
    }

    /// Adds a row from outside.
    pub fn add(&mut self, observation: Observation, at: i64) -> Result<(), StudyError> {
        self.study.add(observation)?;
        self.records.push_row(at, self.seq + 1);
        Ok(())
    }

    /// Goes on with another problem.
    pub fn change_problem(&mut self, text: &str) -> Result<(), StoreError> {
        self.study.change_problem(Problem::from_toml(text)?)?;
        self.problem = Some(text.to_owned());
        Ok(())
    }

    /// How many trials are in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.study.trials().iter().filter(|trial| trial.state == state).count()
    }

    /// Trials in all, pending, complete and failed: what the list of studies shows.
    pub fn counts(&self) -> [i64; 4] {
        let mut counts = [self.records.len() as i64, 0, 0, 0];
        for trial in self.study.trials() {
            match trial.state {
                TrialState::Pending => counts[1] += 1,
                TrialState::Complete => counts[2] += 1,
                TrialState::Failed => counts[3] += 1,
                TrialState::Voided => {}
            }
        }
        counts
    }

    /// The trials of a state with their records.
    pub fn in_state(&self, state: TrialState) -> impl Iterator<Item = (&Trial, Cow<'_, Record>)> {
        self.study.trials().iter().zip(self.records.iter()).filter(move |(trial, _)| trial.state == state)
    }

    /// Trials under way, with who has them.
    pub fn under_way(&self) -> Vec<(usize, Option<String>)> {
        let pending = self.in_state(TrialState::Pending);
        pending.map(|(trial, record)| (trial.number, record.worker.clone())).collect()
    }

    /// The trials that a worker who asks for `count` gets without a new one, and whether their lease is over.
    pub fn known(
        &self,
        worker: &str,
        count: usize,
        given: &Given,
        fixed: &Fixed,
        at: i64,
    ) -> Vec<(usize, bool)> {
        let fits = |(trial, _): &(&Trial, Cow<'_, Record>)| {
            let suggestion = &trial.suggestion;
            let known =
                given.is_empty() || suggestion.given == *given || suggestion.origin() == Origin::Enqueued;
            known && fixed.holds(self.study.problem(), &suggestion.intervention)
        };
        let (own, others): (Vec<_>, Vec<_>) = self
            .in_state(TrialState::Pending)
            .filter(fits)
            .map(|(trial, record)| {
                (trial.number, record.worker.as_deref() == Some(worker), record.is_over(at))
            })
            .partition(|&(_, own, _)| own);
        let free = others.into_iter().filter(|&(_, _, over)| over);
        own.into_iter().chain(free).take(count).map(|(number, _, over)| (number, over)).collect()
    }

    /// Computes so many new suggestions, each as if those before it were under way. The ledger stays as it is.
    pub fn compute(&self, count: usize, given: &Given, fixed: &Fixed) -> Result<Computed, StudyError> {
        let mut computed = Computed { seq: self.seq, beside: false, proposals: Vec::new() };
        let mut study = (count > 1).then(|| self.study.clone());
        for _ in 0..count {
            let start = Instant::now();
            let proposal = study.as_ref().unwrap_or(&self.study).propose(given, fixed)?;
            if let Some(study) = &mut study {
                study.resume(proposal.clone())?;
            }
            computed.proposals.push((proposal, start.elapsed().as_secs_f64()));
        }
        Ok(computed)
    }

    /// A trial with everything that is known of it.
    pub fn trial(&self, number: usize) -> StoredTrial {
        let trial = self.study.trials()[number - 1].clone();
        let record = self.records.get(number - 1).expect("every trial has a record").into_owned();
        let problem = self.study.problem();
        // What was set or given is known, whether anything was measured yet or not.
        let is_known = |node: usize| {
            trial.intervention().target(node).is_some() || trial.suggestion.given.of(node).is_some()
        };
        let without = |&node: &usize| match &trial.values {
            Some(values) => values[problem.slot(node)].iter().any(Option::is_none),
            None => !is_known(node),
        };
        let missing = (0..problem.nodes().len())
            .filter(without)
            .map(|node| problem.nodes()[node].name.clone())
            .collect();
        StoredTrial { trial, missing, record }
    }

    /// A trial, if there is one of that number.
    pub fn checked_trial(&self, number: usize) -> Result<StoredTrial, StoreError> {
        let last = self.records.len();
        if !(1..=last).contains(&number) {
            return Err(StudyError::UnknownTrial { number, last }.into());
        }
        Ok(self.trial(number))
    }

    /// All trials, in order.
    pub fn trials(&self) -> Vec<StoredTrial> {
        self.trials_that(|_| true)
    }

    /// Some trials, in order.
    pub fn trials_that(&self, wanted: impl Fn(&Trial) -> bool) -> Vec<StoredTrial> {
        let wanted = self.study.trials().iter().filter(|trial| wanted(trial));
        wanted.map(|trial| self.trial(trial.number)).collect()
    }
}

/// Suggestions that were computed from a ledger.
pub(crate) struct Computed {
    /// The place in the log that they were computed from.
    pub seq: i64,
    /// Whether they were found beside all that were put under way since.
    pub beside: bool,
    /// Each with the seconds it took.
    pub proposals: Vec<(Proposal, f64)>,
}

/// Values by name, as the study takes them.
fn borrowed(values: &BTreeMap<String, Vec<f64>>) -> Vec<(&str, &[f64])> {
    values.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect()
}
