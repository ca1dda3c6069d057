//! A study in a store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcbo_core::{
    DataError, Intervention, Observation, Origin, Problem, Study, Trial, TrialState, values_by_name,
};

use crate::event::{Added, Asked, Event, Failed, ProblemChanged, Retried, Row, Told, program};
use crate::fold::{Fold, Record, asked, proposal};
use crate::store::Shared;
use crate::view::{Entry, Outcome, Recomputed, Status, StoredTrial, stored};
use crate::{RowError, StoreError};

/// How long a trial belongs to the worker that asked for it, unless said otherwise.
pub const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// The worker of enqueued trials that nobody has yet.
const QUEUE: &str = "queue";

/// A study in a store. Every call sees what others have written in the meantime; every call that writes is one
/// transaction, and done when it returns.
pub struct StoredStudy {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: i64,
    pub(crate) name: String,
    lease: Duration,
    /// The state as of the last call; events that came later are added to it.
    pub(crate) fold: Option<Fold>,
}

impl std::fmt::Debug for StoredStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredStudy").field("name", &self.name).finish_non_exhaustive()
    }
}

impl StoredStudy {
    pub(crate) fn new(shared: Arc<Shared>, id: i64, name: &str) -> Self {
        Self { shared, id, name: name.to_owned(), lease: LEASE, fold: None }
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same study where trials that are asked for from now on belong to their worker for another time than [`LEASE`].
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// Trials for a worker, `count` in all: first those it has already, then those whose lease is over, then new ones.
    ///
    /// So asking again, after a crash for example, gives the same trials and not others. The suggestion is computed
    /// while the study is locked: other writers wait for it, readers do not.
    ///
    /// # Errors
    /// If no model can be fitted, or the database cannot be written.
    pub fn ask(&mut self, worker: &str, count: usize) -> Result<Vec<StoredTrial>, StoreError> {
        let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        self.change(|change| {
            let (at, lease_until) = (change.at, change.at.saturating_add(lease));
            let mut hand_out = Vec::new();
            let pending: Vec<usize> = change
                .fold
                .study
                .trials()
                .iter()
                .filter(|t| t.state == TrialState::Pending)
                .map(|t| t.number)
                .collect();
            let own = |record: &Record| record.worker.as_deref() == Some(worker);
            let over = |record: &Record| record.lease_until.is_none_or(|until| until <= at);
            let of = |fold: &Fold, number: usize| {
                (own(&fold.records[number - 1]), over(&fold.records[number - 1]))
            };
            hand_out.extend(pending.iter().copied().filter(|&number| of(change.fold, number).0));
            hand_out
                .extend(pending.iter().copied().filter(|&number| of(change.fold, number) == (false, true)));
            hand_out.truncate(count);
            for &trial in &hand_out {
                if of(change.fold, trial).1 {
                    let event = Retried { trial, worker: worker.to_owned(), lease_until };
                    change.fold.hand_over(&event).map_err(|reason| bad_state(trial, reason))?;
                    change.note(Event::Retried(event));
                }
            }
            while hand_out.len() < count {
                let start = Instant::now();
                let trial = change.fold.study.ask()?.number;
                let event = Asked {
                    trial,
                    worker: worker.to_owned(),
                    lease_until,
                    took_seconds: start.elapsed().as_secs_f64(),
                    program: program(),
                    proposal: proposal(&change.fold.study, trial),
                };
                hand_out.push(event.trial);
                change.fold.records.push(asked(&event, at, change.fold.seq + 1));
                change.note(Event::Asked(Box::new(event)));
            }
            Ok(hand_out.iter().map(|&number| stored(change.fold, number)).collect())
        })
    }

    /// Puts a trial of the caller's own choice under way. Without a worker nobody has it, and the next who asks gets it.
    ///
    /// # Errors
    /// If the intervention does not fit the problem, or the database cannot be written.
    pub fn enqueue(
        &mut self,
        worker: Option<&str>,
        intervention: Intervention,
    ) -> Result<StoredTrial, StoreError> {
        let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        self.change(|change| {
            let lease_until = worker.map_or(change.at, |_| change.at.saturating_add(lease));
            let trial = change.fold.study.enqueue(intervention)?.number;
            let event = Asked {
                trial,
                worker: worker.unwrap_or(QUEUE).to_owned(),
                lease_until,
                took_seconds: 0.0,
                program: program(),
                proposal: proposal(&change.fold.study, trial),
            };
            change.fold.records.push(asked(&event, change.at, change.fold.seq + 1));
            change.note(Event::Asked(Box::new(event)));
            Ok(stored(change.fold, trial))
        })
    }

    /// Takes what a trial gave, by the names of the nodes, all or some of them.
    ///
    /// The first values make the trial complete: from then on the model learns from it, where a node counts for which it
    /// and its parents have values. The others can be told later, until none is missing. Values that are told again are
    /// taken silently if they are the same.
    ///
    /// # Errors
    /// If there is no such trial, a name is unknown or given twice, a value is not finite, outside the
    /// declared range, of the wrong length, or contradicts what was set or told before.
    pub fn tell(
        &mut self,
        trial: usize,
        values: &[(&str, Vec<f64>)],
        worker: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut by_name = BTreeMap::new();
        for (name, given) in values {
            if by_name.insert((*name).to_owned(), given.clone()).is_some() {
                return Err(StoreError::Twice { name: (*name).to_owned() });
            }
        }
        self.change(|change| {
            if by_name.is_empty() {
                return Err(StoreError::Study(DataError::Nothing.into()));
            }
            let named = by_name.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
            let arranged =
                values_by_name(change.fold.study.problem(), named).map_err(mcbo_core::StudyError::from)?;
            if change.fold.take(trial, arranged, change.at)? {
                change.note(Event::Told(Told { trial, worker: worker.map(str::to_owned), values: by_name }));
            }
            Ok(())
        })
    }

    /// Marks a pending trial as one that could not be run. It is not proposed again. Saying so twice is no mistake.
    ///
    /// # Errors
    /// If there is no such trial, or it has values.
    pub fn fail(&mut self, trial: usize, reason: &str) -> Result<(), StoreError> {
        self.change(|change| {
            let known = trial.checked_sub(1).and_then(|place| change.fold.study.trials().get(place));
            if known.is_some_and(|trial| trial.state == TrialState::Failed) {
                return Ok(());
            }
            change.fold.study.fail(trial)?;
            change.fold.records[trial - 1].reason = Some(reason.to_owned());
            change.note(Event::Failed(Failed { trial, reason: reason.to_owned() }));
            Ok(())
        })
    }

    /// Adds rows that were measured outside the study: all of them, or none.
    ///
    /// # Errors
    /// Every row that does not fit, with its place.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), StoreError> {
        self.add_with(rows, Known::Take).map(|_| ())
    }

    /// The same, with a word on rows that the study has already: a trial in which the same was done and the same was
    /// measured. Says how many rows were added.
    ///
    /// # Errors
    /// As [`Self::add`], and [`StoreError::KnownRows`].
    pub fn add_with(&mut self, rows: &[Row], known: Known) -> Result<usize, StoreError> {
        self.change(|change| {
            let problem = change.fold.study.problem().clone();
            let (mut good, faults) = checked(&problem, rows);
            if !faults.is_empty() {
                return Err(StoreError::Rows(faults));
            }
            let mut rows = rows.to_vec();
            if known != Known::Take {
                let there = change.fold.study.data().observations();
                let is_known: Vec<bool> =
                    good.iter().map(|row| there.iter().any(|old| repeats(row, old))).collect();
                if known == Known::Refuse && is_known.contains(&true) {
                    let places =
                        is_known.iter().enumerate().filter(|(_, known)| **known).map(|(place, _)| place);
                    return Err(StoreError::KnownRows(places.collect()));
                }
                let mut keep = is_known.iter().map(|known| !known);
                rows.retain(|_| keep.next().unwrap_or(true));
                let mut keep = is_known.iter().map(|known| !known);
                good.retain(|_| keep.next().unwrap_or(true));
            }
            if rows.is_empty() {
                return Ok(0);
            }
            let explicit =
                rows.iter().zip(&good).map(|(row, good)| row.clone().explicit(&problem, &good.intervention));
            let event = Event::Added(Added { rows: explicit.collect() });
            let count = good.len();
            for observation in good {
                change.fold.add(observation, change.at)?;
            }
            change.note(event);
            Ok(count)
        })
    }

    /// Every row that [`Self::add`] would refuse, with its place.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn check(&mut self, rows: &[Row]) -> Result<Vec<RowError>, StoreError> {
        Ok(checked(self.current()?.study.problem(), rows).1)
    }

    /// Goes on with another problem: see [`Study::change_problem`] for what may change. The same text again is no change.
    ///
    /// # Errors
    /// If the problem has mistakes or does not fit the trials.
    pub fn change_problem(&mut self, problem_toml: &str) -> Result<(), StoreError> {
        let problem = Problem::from_toml(problem_toml)?;
        self.change(|change| {
            if change.fold.problem != problem_toml {
                change.fold.study.change_problem(problem)?;
                change.fold.problem = problem_toml.to_owned();
                change.note(Event::ProblemChanged(ProblemChanged { problem: problem_toml.to_owned() }));
            }
            Ok(())
        })
    }

    /// All trials, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn trials(&mut self) -> Result<Vec<StoredTrial>, StoreError> {
        let fold = self.current()?;
        Ok((1..=fold.records.len()).map(|number| stored(fold, number)).collect())
    }

    /// The study as it stands, in memory: to look at, to ask for a recommendation, or to go on with outside the store.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn study(&mut self) -> Result<Study, StoreError> {
        Ok(self.current()?.study.clone())
    }

    /// The problem in force.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn problem(&mut self) -> Result<Arc<Problem>, StoreError> {
        Ok(self.current()?.study.problem().clone())
    }

    /// The text of the problem file in force.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn problem_toml(&mut self) -> Result<String, StoreError> {
        Ok(self.current()?.problem.clone())
    }

    /// Where the study stands.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn status(&mut self) -> Result<Status, StoreError> {
        let (name, now) = (self.name.clone(), (self.shared.clock)());
        let fold = self.current()?;
        let over = |(trial, record): &(&Trial, &Record)| {
            trial.state == TrialState::Pending && record.lease_until.is_none_or(|until| until <= now)
        };
        let partial = |trial: &&Trial| trial.values.iter().flatten().any(Option::is_none);
        Ok(Status {
            name,
            strategy: fold.created.strategy.clone(),
            seed: fold.created.seed,
            initial: fold.created.initial,
            created: fold.created_at,
            changed: fold.changed_at,
            trials: fold.records.len(),
            pending: fold.count(TrialState::Pending),
            expired: fold.study.trials().iter().zip(&fold.records).filter(over).count(),
            complete: fold.count(TrialState::Complete),
            partial: fold.study.trials().iter().filter(partial).count(),
            failed: fold.count(TrialState::Failed),
            best: fold.study.best_trial().map(|(trial, reward)| (trial.number, reward)),
        })
    }

    /// The whole log, oldest event first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn events(&self) -> Result<Vec<Entry>, StoreError> {
        self.read_events(&mut self.shared.database.read()?, 0)
    }

    /// Computes the suggestion of a trial once more, from the log as it was then.
    ///
    /// It is the same to the bit where the same version of the program runs on the same kind of processor; elsewhere a
    /// difference says nothing, and [`Outcome`] says that.
    ///
    /// # Errors
    /// If there is no such trial, or it was added or enqueued from outside.
    pub fn recompute(&mut self, trial: usize) -> Result<Recomputed, StoreError> {
        let last = self.current()?.records.len();
        let record = trial.checked_sub(1).and_then(|place| self.current().ok()?.records.get(place).cloned());
        let record = record.ok_or(mcbo_core::StudyError::UnknownTrial { number: trial, last })?;
        if record.program.is_none() {
            return Err(StoreError::NotProposed { number: trial });
        }
        let entries = self.events()?;
        let (mut fold, mut found) = (None, None);
        for entry in entries {
            if entry.seq == record.seq {
                found = Some(entry);
                break;
            }
            self.apply(&mut fold, entry)?;
        }
        let (Some(mut fold), Some(entry)) = (fold, found) else {
            return Err(self.bad_event(record.seq, "it is gone".into()));
        };
        let Ok(Event::Asked(event)) = Event::read(&entry.kind, &entry.payload) else {
            return Err(self.bad_event(entry.seq, "it is no proposal".into()));
        };
        if event.proposal.suggestion.origin() == Origin::Enqueued {
            return Err(StoreError::NotProposed { number: trial });
        }
        let number = fold.study.ask()?.number;
        let again = proposal(&fold.study, number);
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

    /// The state with everything that is in the database.
    fn current(&mut self) -> Result<&Fold, StoreError> {
        let shared = self.shared.clone();
        let mut fold = self.fold.take();
        self.catch_up(&mut shared.database.read()?, &mut fold)?;
        match fold {
            Some(fold) => Ok(self.fold.insert(fold)),
            None => Err(self.bad_event(1, "the log is empty".into())),
        }
    }
}

/// What to do with rows that a study has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Add them once more: they are repeated measurements.
    Take,
    /// Leave them out.
    Skip,
    /// Add nothing and say which they are.
    Refuse,
}

/// Whether a row says nothing that an observation does not say.
fn repeats(row: &Observation, old: &Observation) -> bool {
    // The values of nodes that were set are filled in when a row is taken.
    let mut values = row.values.iter().zip(&old.values);
    old.intervention == row.intervention && values.all(|(new, old)| new.is_none() || new == old)
}

/// Rows that fit the problem, and those that do not.
fn checked(problem: &Problem, rows: &[Row]) -> (Vec<Observation>, Vec<RowError>) {
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    for (index, row) in rows.iter().enumerate() {
        let checked = row.observation(problem).and_then(|observation| {
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

fn bad_state(number: usize, reason: String) -> StoreError {
    StoreError::Unstorable { number, reason }
}
