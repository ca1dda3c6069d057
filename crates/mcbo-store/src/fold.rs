//! A study as the fold of its events.

use std::sync::Arc;

use mcbo_core::{Problem, Proposal, Study, TrialState, values_by_name};

use crate::event::{Asked, Created, Event, FORMAT, Retried};
use crate::strategies::Strategies;

/// What the log says of a trial beside what the study itself knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Who has it, or had it last; `None` for rows that were added.
    pub worker: Option<String>,
    /// When it was proposed or added, in milliseconds since 1970 (UTC).
    pub asked: i64,
    /// Until when it belongs to its worker.
    pub lease_until: Option<i64>,
    /// When values came in last.
    pub told: Option<i64>,
    /// Why it could not be run.
    pub reason: Option<String>,
    /// How long the proposal took to compute.
    pub took_seconds: Option<f64>,
    /// The program that proposed it.
    pub program: Option<String>,
    /// Its proposal's place in the log.
    pub(crate) seq: i64,
}

/// The state after some events.
pub(crate) struct Fold {
    pub seq: i64,
    pub created: Created,
    pub created_at: i64,
    pub changed_at: i64,
    /// The text of the problem in force.
    pub problem: String,
    pub study: Study,
    /// One for every trial.
    pub records: Vec<Record>,
}

impl Fold {
    /// The state after the first event.
    pub fn start(at: i64, event: Event, strategies: &dyn Strategies) -> Result<Self, String> {
        let Event::Created(created) = event else {
            return Err(format!("the log starts with {:?} instead of \"created\"", event.kind()));
        };
        if created.format > FORMAT {
            return Err(format!("it has format {}, this program knows {FORMAT}", created.format));
        }
        let problem = Problem::from_toml(&created.problem).map_err(|errors| errors.to_string())?;
        let strategy = strategies.strategy(&created.strategy)?;
        let study = Study::with_strategy(problem, strategy, created.seed)
            .initial(created.initial)
            .advisor(strategies.advisor(&created.strategy)?);
        let problem = created.problem.clone();
        Ok(Self { seq: 1, created, created_at: at, changed_at: at, problem, study, records: Vec::new() })
    }

    /// The state after one more event.
    pub fn apply(&mut self, at: i64, event: Event) -> Result<(), String> {
        let text = |error: mcbo_core::StudyError| error.to_string();
        match event {
            Event::Created(_) => return Err("a study is created once".into()),
            Event::Asked(event) => {
                let record = asked(&event, at, self.seq + 1);
                let number = self.study.resume(event.proposal).map_err(text)?.number;
                if number != event.trial {
                    return Err(format!("trial {} comes where trial {number} should", event.trial));
                }
                self.records.push(record);
            }
            Event::Retried(event) => self.hand_over(&event)?,
            Event::Told(event) => {
                let named = event.values.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
                let values =
                    values_by_name(self.study.problem(), named).map_err(|error| error.to_string())?;
                self.take(event.trial, values, at).map_err(text)?;
            }
            Event::Failed(event) => {
                self.study.fail(event.trial).map_err(text)?;
                self.records[event.trial - 1].reason = Some(event.reason);
            }
            Event::Added(event) => {
                for row in event.rows {
                    let observation =
                        row.observation(self.study.problem()).map_err(|fault| fault.to_string())?;
                    self.add(observation, at).map_err(text)?;
                }
            }
            Event::ProblemChanged(event) => {
                let problem = Problem::from_toml(&event.problem).map_err(|errors| errors.to_string())?;
                self.study.change_problem(Arc::new(problem)).map_err(|error| error.to_string())?;
                self.problem = event.problem;
            }
        }
        self.advance(at);
        Ok(())
    }

    /// Counts an event whose effect is there already.
    pub fn advance(&mut self, at: i64) {
        self.seq += 1;
        self.changed_at = at;
    }

    /// Gives a pending trial to a worker.
    pub fn hand_over(&mut self, event: &Retried) -> Result<(), String> {
        let record = event.trial.checked_sub(1).and_then(|place| self.records.get_mut(place));
        let record = record.ok_or_else(|| format!("there is no trial {}", event.trial))?;
        record.worker = Some(event.worker.clone());
        record.lease_until = Some(event.lease_until);
        Ok(())
    }

    /// Takes values of a trial, its first or further ones; whether there was anything new in them.
    pub fn take(
        &mut self,
        trial: usize,
        values: Vec<Option<f64>>,
        at: i64,
    ) -> Result<bool, mcbo_core::StudyError> {
        let new = self.study.take(trial, values)?;
        if new {
            let record = &mut self.records[trial - 1];
            (record.told, record.reason) = (Some(at), None);
        }
        Ok(new)
    }

    /// Adds a row from outside.
    pub fn add(&mut self, observation: mcbo_core::Observation, at: i64) -> Result<(), mcbo_core::StudyError> {
        self.study.add(observation)?;
        self.records.push(Record {
            worker: None,
            asked: at,
            lease_until: None,
            told: Some(at),
            reason: None,
            took_seconds: None,
            program: None,
            seq: self.seq + 1,
        });
        Ok(())
    }

    /// How many trials are in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.study.trials().iter().filter(|trial| trial.state == state).count()
    }
}

/// What the log says of a trial that was just proposed.
pub(crate) fn asked(event: &Asked, at: i64, seq: i64) -> Record {
    Record {
        worker: Some(event.worker.clone()),
        asked: at,
        lease_until: Some(event.lease_until),
        told: None,
        reason: None,
        took_seconds: Some(event.took_seconds),
        program: Some(event.program.clone()),
        seq,
    }
}

/// A trial that was just put under way as it is written: with what it left to remember.
pub(crate) fn proposal(study: &Study, trial: usize) -> Proposal {
    Proposal { suggestion: study.trials()[trial - 1].suggestion.clone(), memory: study.memory().clone() }
}
