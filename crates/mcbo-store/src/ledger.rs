//! The ledger of a study: its trials, who has them until when, what was told of them. The rules are the same in memory and
//! in a database; a database also keeps the events.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use mcbo_core::{
    DataError, Fixed, Given, Intervention, Observation, Origin, Problem, Proposal, Study, StudyError,
    Suggestion, Trial, TrialState, check_size,
};
use serde_json::Value;

use crate::event::{
    Added, Asked, Corrected, Event, Failed, From, Noted, ProblemChanged, Released, Retried, Row, Told,
    Voided, program,
};
use crate::view::StoredTrial;
use crate::{RowError, StoreError};

/// How long a trial belongs to the worker that asked for it, unless said otherwise.
pub const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// The most rows of one event.
const MOST_IN_ONE: usize = 2000;

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
    /// Whether a pending trial belongs to nobody any more.
    pub(crate) fn is_over(&self, at: i64) -> bool {
        self.lease_until.is_none_or(|until| until <= at)
    }
}

/// What to do with rows that a study has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Add them once more: they are repeated measurements.
    Take,
    /// Leave them out.
    Skip,
    /// Add nothing and say which they are.
    Refuse,
}

/// A study with the records of its trials, after some events.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub study: Study,
    /// One for every trial.
    pub records: Vec<Record>,
    /// The text of the problem in force, where it is known.
    pub problem: Option<String>,
    /// What was written beside the study, by name.
    pub attributes: BTreeMap<String, Value>,
    /// How many events have made it.
    pub seq: i64,
    /// The last of them that suggestions must know of.
    pub moved: i64,
    /// When the last of them was, in milliseconds since 1970 (UTC).
    pub changed: i64,
}

impl Ledger {
    /// The ledger of a study that was just made.
    pub fn new(study: Study, problem: Option<String>, at: i64) -> Self {
        let (records, attributes) = (Vec::new(), BTreeMap::new());
        Self { study, records, problem, attributes, seq: 1, moved: 1, changed: at }
    }

    /// Counts an event whose effect is there already.
    pub fn advance(&mut self, at: i64, moves_suggestions: bool) {
        self.seq += 1;
        self.changed = at;
        if moves_suggestions {
            self.moved = self.seq;
        }
    }

    /// The trial that was put under way last, as it is written: with what it left to remember.
    pub fn last_proposal(&self) -> Proposal {
        let suggestion = self.study.trials().last().map(|trial| trial.suggestion.clone());
        let nothing = || Suggestion::new("", self.study.problem().neutral_intervention());
        Proposal { suggestion: suggestion.unwrap_or_else(nothing), memory: self.study.memory().clone() }
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
            asked: at,
            lease_until: Some(lease_until),
            told: None,
            corrected: None,
            voided: None,
            reason: None,
            lost: 0,
            attributes: BTreeMap::new(),
            took_seconds: Some(took_seconds),
            program: Some(program),
            seq: self.seq + 1,
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
            let record = &mut self.records[event.trial - 1];
            (record.told, record.reason) = (Some(at), None);
        }
        Ok(new)
    }

    /// Puts values of a trial right; whether anything changed.
    pub fn correct(&mut self, event: &Corrected, at: i64) -> Result<bool, StudyError> {
        let new = self.study.correct_named(event.trial, &borrowed(&event.values))?;
        if new {
            self.records[event.trial - 1].corrected = Some(at);
        }
        Ok(new)
    }

    /// Takes trials out, all of them or none; which of them were in.
    pub fn void(&mut self, event: &Voided, at: i64) -> Result<Vec<usize>, StudyError> {
        let mut study = self.study.clone();
        let mut new = Vec::new();
        for &trial in &event.trials {
            if study.void(trial)? {
                new.push(trial);
            }
        }
        self.study = study;
        for &trial in &new {
            self.records[trial - 1].voided = Some((at, event.reason.clone()));
        }
        Ok(new)
    }

    /// Puts trials back, all of them or none; which of them were out.
    pub fn restore(&mut self, event: &Voided) -> Result<Vec<usize>, StudyError> {
        let mut study = self.study.clone();
        let mut new = Vec::new();
        for &trial in &event.trials {
            if study.restore(trial)? {
                new.push(trial);
            }
        }
        self.study = study;
        new.iter().for_each(|&trial| self.records[trial - 1].voided = None);
        Ok(new)
    }

    /// Marks a trial as one that could not be run.
    pub fn fail(&mut self, event: &Failed) -> Result<(), StudyError> {
        self.study.fail(event.trial)?;
        self.records[event.trial - 1].reason = Some(event.reason.clone());
        Ok(())
    }

    /// Adds a row from outside.
    pub fn add(&mut self, observation: Observation, at: i64) -> Result<(), StudyError> {
        self.study.add(observation)?;
        self.records.push(Record {
            worker: None,
            asked: at,
            lease_until: None,
            told: Some(at),
            corrected: None,
            voided: None,
            reason: None,
            lost: 0,
            attributes: BTreeMap::new(),
            took_seconds: None,
            program: None,
            seq: self.seq + 1,
        });
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
        let count = |state| self.count(state) as i64;
        let (pending, complete) = (count(TrialState::Pending), count(TrialState::Complete));
        [self.records.len() as i64, pending, complete, count(TrialState::Failed)]
    }

    /// The trials of a state with their records.
    pub fn in_state(&self, state: TrialState) -> impl Iterator<Item = (&Trial, &Record)> {
        self.study.trials().iter().zip(&self.records).filter(move |(trial, _)| trial.state == state)
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
        let fits = |(trial, _): &(&Trial, &Record)| {
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
        let mut computed = Computed { seq: self.seq, proposals: Vec::new() };
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
        let (trial, record) = (self.study.trials()[number - 1].clone(), self.records[number - 1].clone());
        let problem = self.study.problem();
        let without = |node: &usize| match &trial.values {
            Some(values) => values[problem.slot(*node)].iter().any(Option::is_none),
            None => true,
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
        (1..=self.records.len()).map(|number| self.trial(number)).collect()
    }
}

/// Suggestions that were computed from a ledger.
pub(crate) struct Computed {
    /// The place in the log that they were computed from.
    pub seq: i64,
    /// Each with the seconds it took.
    pub proposals: Vec<(Proposal, f64)>,
}

/// A change under way: the ledger with it, and the events that made it. What is refused leaves the ledger as it was.
pub(crate) struct Change<'a> {
    pub ledger: &'a mut Ledger,
    /// When it happens, in milliseconds since 1970 (UTC).
    pub at: i64,
    /// Until when trials that are handed out belong to their worker.
    lease_until: i64,
    /// Who makes it, where no worker is named.
    pub by: Option<String>,
    pub events: Vec<Event>,
}

impl<'a> Change<'a> {
    pub fn new(ledger: &'a mut Ledger, at: i64, lease: Duration) -> Self {
        let lease = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        Self { ledger, at, lease_until: at.saturating_add(lease), by: None, events: Vec::new() }
    }

    /// Notes an event whose effect is in the ledger.
    fn note(&mut self, event: Event) {
        self.ledger.advance(self.at, event.moves_suggestions());
        self.events.push(event);
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
        let (seq, late) = (computed.seq, computed.seq != self.ledger.seq);
        let mut numbers = Vec::new();
        for (known, (proposal, took)) in computed.proposals.into_iter().enumerate() {
            let number = match self.ledger.study.resume(proposal) {
                Ok(trial) => trial.number,
                Err(error) => {
                    before.into_iter().for_each(|before| *self.ledger = before);
                    return Err(error.into());
                }
            };
            numbers.push(number);
            self.hand_out(number, worker, self.lease_until, took, late.then_some(From { seq, known }));
        }
        Ok(numbers)
    }

    fn hand_out(
        &mut self,
        trial: usize,
        worker: &str,
        lease_until: i64,
        took_seconds: f64,
        from: Option<From>,
    ) {
        let proposal = self.ledger.last_proposal();
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
        let number = self.ledger.study.enqueue(intervention)?.number;
        self.hand_out(number, worker.unwrap_or(QUEUE), lease_until, 0.0, None);
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
        let is_own = |(trial, record): &(&Trial, &Record)| {
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
    pub fn add(&mut self, rows: &[Row], duplicates: Duplicates) -> Result<usize, StoreError> {
        let problem = self.ledger.study.problem().clone();
        let (good, faults) = checked(&problem, rows);
        if !faults.is_empty() {
            return Err(StoreError::Rows(faults));
        }
        let is_known: Vec<bool> = match duplicates {
            Duplicates::Take => vec![false; good.len()],
            Duplicates::Skip | Duplicates::Refuse => {
                known_rows(&good, self.ledger.study.data().observations())
            }
        };
        if duplicates == Duplicates::Refuse && is_known.contains(&true) {
            let places = is_known.iter().enumerate().filter(|(_, known)| **known).map(|(place, _)| place);
            return Err(StoreError::KnownRows(places.collect()));
        }
        let (mut added, mut count) = (Vec::new(), 0);
        for ((row, observation), known) in rows.iter().zip(good).zip(is_known) {
            if !known {
                added.push(row.clone().explicit(&problem, &observation.intervention));
                self.ledger.add(observation, self.at)?;
                count += 1;
            }
            // No event is larger than what is read at once without care.
            if added.len() == MOST_IN_ONE {
                self.note(Event::Added(Added { rows: std::mem::take(&mut added), by: self.by.clone() }));
            }
        }
        if !added.is_empty() {
            self.note(Event::Added(Added { rows: added, by: self.by.clone() }));
        }
        Ok(count)
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

/// Values by name, as the study takes them.
fn borrowed(values: &BTreeMap<String, Vec<f64>>) -> Vec<(&str, &[f64])> {
    values.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect()
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

/// Which rows say nothing that an observation does not say: the same was done, and what was measured is the same.
fn known_rows(rows: &[Observation], there: &[Observation]) -> Vec<bool> {
    // A row may have gaps: for each pattern of gaps the observations are looked at by the other values alone.
    let gaps = |row: &Observation| row.values.iter().map(Option::is_some).collect::<Vec<bool>>();
    let mut by_gaps: HashMap<Vec<bool>, HashSet<Vec<u64>>> = HashMap::new();
    let key = |observation: &Observation, measured: &[bool]| {
        // Both zeros are one number. Values that were set are filled in when a row is taken, so they are told by what was done.
        let bits = |value: f64| (value + 0.0).to_bits();
        let Intervention { targets, actions } = &observation.intervention;
        let mut key: Vec<u64> = actions.iter().map(|value| bits(*value)).collect();
        for (node, values) in targets {
            key.push(*node as u64);
            key.extend(values.iter().map(|value| bits(*value)));
        }
        key.push(u64::MAX);
        let values = observation.values.iter().zip(measured).filter(|(_, measured)| **measured);
        key.extend(values.map(|(value, _)| value.map_or(u64::MAX, bits)));
        key
    };
    let is_known = |row: &Observation| {
        let gaps = gaps(row);
        let known =
            by_gaps.entry(gaps.clone()).or_insert_with(|| there.iter().map(|old| key(old, &gaps)).collect());
        known.contains(&key(row, &gaps))
    };
    rows.iter().map(is_known).collect()
}

/// Rows that fit the problem, and those that do not.
pub(crate) fn checked(problem: &Problem, rows: &[Row]) -> (Vec<Observation>, Vec<RowError>) {
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    for (index, row) in rows.iter().enumerate() {
        let checked = row.observation(problem).and_then(|observation| {
            row.sizes().try_for_each(|(name, value)| check_size(name, value))?;
            mcbo_core::Data::new().push(problem, observation.clone())?;
            Ok(observation)
        });
        match checked {
            Ok(observation) => good.push(observation),
            Err(fault) => faults.push(RowError { index, fault }),
        }
    }
    (good, faults)
}
