//! A study as the fold of its events.

use mcbo_core::{Problem, Study, StudyError};

use crate::event::{Asked, Created, Event, FORMAT};
use crate::ledger::Ledger;
use crate::snapshot::Since;
use crate::strategies::{Missing, Strategies};

/// The state after some events.
pub(crate) struct Fold {
    pub created: Created,
    pub ledger: Ledger,
    /// The checksum of the last of them.
    pub tip: String,
    /// What has come since the last snapshot.
    pub since: Since,
}

impl Fold {
    /// The state after the first event.
    pub fn start(at: i64, event: Event, tip: String, strategies: &dyn Strategies) -> Result<Self, String> {
        let Event::Created(created) = event else {
            return Err(format!("the log starts with {:?} instead of \"created\"", event.kind()));
        };
        if created.format > FORMAT {
            return Err(format!("it has format {}, this program knows {FORMAT}", created.format));
        }
        let text = created.problem.clone();
        Self::with_problem(created, &text, at, tip, strategies)
    }

    /// A state without trials, with the problem that is in force.
    pub fn with_problem(
        created: Created,
        text: &str,
        at: i64,
        tip: String,
        strategies: &dyn Strategies,
    ) -> Result<Self, String> {
        let problem = Problem::from_toml(text).map_err(|errors| errors.to_string())?;
        // Reading needs no strategy: one that is not at hand is missed when it is asked.
        let strategy = strategies
            .strategy(&created.strategy)
            .unwrap_or_else(|reason| Missing::strategy(&created.strategy.strategy, reason));
        let study = Study::with_strategy(problem, strategy, created.seed)
            .initial(created.initial)
            .advisor(strategies.advisor(&created.strategy)?);
        let ledger = Ledger::new(study, Some(text.to_owned()), at);
        Ok(Self { created, ledger, tip, since: Since::default() })
    }

    /// The state after one more event.
    pub fn apply(&mut self, at: i64, event: Event) -> Result<(), String> {
        let text = |error: StudyError| error.to_string();
        let ledger = &mut self.ledger;
        let moves = event.moves();
        match event {
            Event::Created(_) => return Err("a study is created once".into()),
            Event::Asked(event) => {
                let Asked { trial, worker, lease_until, took_seconds, program, proposal, .. } = *event;
                let number = ledger.resume_written(proposal).map_err(text)?;
                if number != trial {
                    return Err(format!("trial {trial} comes where trial {number} should"));
                }
                ledger.hand_out(worker, lease_until, took_seconds, program, at);
            }
            Event::Retried(event) => ledger.hand_over(&event).map_err(text)?,
            Event::Told(event) => {
                ledger.take(&event, at).map_err(text)?;
            }
            Event::Corrected(event) => {
                ledger.correct(&event, at).map_err(text)?;
            }
            Event::Voided(event) => {
                ledger.void(&event, at).map_err(text)?;
            }
            Event::Restored(event) => {
                ledger.restore(&event).map_err(text)?;
            }
            Event::Failed(event) => ledger.fail(&event).map_err(text)?,
            Event::Released(event) => ledger.release(&event, at).map_err(text)?,
            Event::Noted(event) => {
                ledger.write_beside(&event).map_err(text)?;
            }
            Event::Added(event) => {
                let problem = ledger.study.problem().clone();
                for row in event.rows {
                    let observation = row.observation(&problem).map_err(|fault| fault.to_string())?;
                    ledger.add(observation, at).map_err(text)?;
                }
                for seen in event.table.observations(&problem) {
                    let seen = seen.map_err(|fault| fault.to_string())?;
                    ledger.add(seen.observation, at).map_err(text)?;
                }
            }
            Event::ProblemChanged(event) => {
                ledger.change_problem(&event.problem).map_err(|error| error.to_string())?;
            }
        }
        ledger.advance(at, moves);
        Ok(())
    }
}
