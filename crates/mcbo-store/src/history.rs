//! The log of a study as a story: who did what, and when.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use mcbo_core::{Problem, StrategyOptions};
use serde_json::Value;

use crate::event::{Event, Row};

/// Something that happened to a study.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Happening {
    /// Its place in the log, from 1.
    pub seq: i64,
    /// When it was, in milliseconds since 1970 (UTC).
    pub at: i64,
    /// What kind it is of, in a word, as in [`Entry::kind`](crate::Entry).
    pub kind: String,
    /// Who did it, where that is known.
    pub who: Option<String>,
    /// What it was.
    pub what: Deed,
}

/// What can happen to a study, by the names that nodes and actions had then.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Deed {
    /// It was begun.
    Created {
        /// Who proposes.
        strategy: StrategyOptions,
        /// The seed of its random numbers.
        seed: u64,
        /// Trials of the initial design.
        initial: usize,
    },
    /// It went on with another problem.
    ProblemChanged {
        /// The problem before.
        before: Arc<Problem>,
        /// The problem since.
        after: Arc<Problem>,
    },
    /// A trial was proposed and handed out.
    Asked {
        /// The trial.
        trial: usize,
        /// Who proposed it.
        strategy: String,
        /// What is to be done, and as values what was known of contexts.
        doing: Row,
    },
    /// A trial under way was handed out once more.
    Retried {
        /// The trial.
        trial: usize,
    },
    /// The worker of a trial under way is still at it.
    Kept {
        /// The trial.
        trial: usize,
    },
    /// A trial under way went back to waiting.
    Released {
        /// The trial.
        trial: usize,
        /// Why, as far as it was said.
        reason: String,
    },
    /// Something was written beside a trial or the study.
    Noted {
        /// The trial; `None` for the study itself.
        trial: Option<usize>,
        /// What was written, by name.
        attributes: BTreeMap<String, Value>,
    },
    /// Values of a trial came in.
    Told {
        /// The trial.
        trial: usize,
        /// The values by node or component, and what was really done by action or set node.
        values: BTreeMap<String, Vec<f64>>,
    },
    /// Values of a trial were put right.
    Corrected {
        /// The trial.
        trial: usize,
        /// The right values by node, component or action.
        values: BTreeMap<String, Vec<f64>>,
        /// Why, as far as it was said.
        reason: String,
    },
    /// Trials were taken out of the study.
    Voided {
        /// The trials.
        trials: Vec<usize>,
        /// Why, as far as it was said.
        reason: String,
    },
    /// Trials that had been taken out were put back.
    Restored {
        /// The trials.
        trials: Vec<usize>,
        /// Why, as far as it was said.
        reason: String,
    },
    /// A trial could not be run.
    Failed {
        /// The trial.
        trial: usize,
        /// Why.
        reason: String,
    },
    /// Rows came from outside.
    Added {
        /// The trials that they became.
        trials: RangeInclusive<usize>,
    },
}

/// Goes through the events with what is needed to tell them: the problem in force, how many trials there are, and who had each last.
#[derive(Default)]
pub(crate) struct Teller {
    problem: Option<Arc<Problem>>,
    trials: usize,
    workers: BTreeMap<usize, String>,
}

impl Teller {
    /// Who did it, and what it was; the reason if that cannot be told.
    pub fn tell(&mut self, event: Event) -> Result<(Option<String>, Deed), String> {
        let read = |text: &str| -> Result<Arc<Problem>, String> {
            Ok(Arc::new(Problem::from_toml(text).map_err(|errors| errors.to_string())?))
        };
        Ok(match event {
            Event::Created(event) => {
                self.problem = Some(read(&event.problem)?);
                let (strategy, seed, initial) = (event.strategy, event.seed, event.initial);
                (None, Deed::Created { strategy, seed, initial })
            }
            Event::ProblemChanged(event) => {
                let after = read(&event.problem)?;
                let before = self.problem.replace(after.clone()).ok_or("there is no problem before it")?;
                (event.by, Deed::ProblemChanged { before, after })
            }
            Event::Asked(event) => {
                self.trials += 1;
                let problem = self.problem.as_ref().ok_or("there is no problem before it")?;
                let suggestion = event.proposal.suggestion;
                mcbo_core::check_done(problem, &suggestion.intervention)
                    .map_err(|error| error.to_string())?;
                let mut doing = Row::of_intervention(problem, &suggestion.intervention);
                let known = |(node, values): (usize, &[f64])| {
                    problem.nodes().get(node).map(|node| (node.name.clone(), values.to_vec()))
                };
                doing.values = suggestion.given.iter().filter_map(known).collect();
                let asked = Deed::Asked { trial: event.trial, strategy: suggestion.strategy, doing };
                self.workers.insert(event.trial, event.worker.clone());
                (Some(event.worker), asked)
            }
            Event::Retried(event) => {
                let trial = event.trial;
                let had = self.workers.insert(trial, event.worker.clone());
                let again = had.as_ref() == Some(&event.worker);
                (Some(event.worker), if again { Deed::Kept { trial } } else { Deed::Retried { trial } })
            }
            Event::Released(event) => {
                self.workers.remove(&event.trial);
                (event.by, Deed::Released { trial: event.trial, reason: event.reason })
            }
            Event::Noted(event) => {
                (event.by, Deed::Noted { trial: event.trial, attributes: event.attributes })
            }
            Event::Told(event) => (event.worker, Deed::Told { trial: event.trial, values: event.values }),
            Event::Corrected(event) => {
                let (trial, values, reason) = (event.trial, event.values, event.reason);
                (event.by, Deed::Corrected { trial, values, reason })
            }
            Event::Voided(event) => (event.by, Deed::Voided { trials: event.trials, reason: event.reason }),
            Event::Restored(event) => {
                (event.by, Deed::Restored { trials: event.trials, reason: event.reason })
            }
            Event::Failed(event) => (event.by, Deed::Failed { trial: event.trial, reason: event.reason }),
            Event::Added(event) => {
                let first = self.trials + 1;
                self.trials += event.len();
                (event.by, Deed::Added { trials: first..=self.trials })
            }
        })
    }
}
