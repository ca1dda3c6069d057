//! What happened to a study: the events of its log, as they are written.

use std::collections::BTreeMap;

use mcbo_core::{DataError, Intervention, Observation, Problem, Proposal, values_by_name};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::RowFault;
use crate::table::Table;
use mcbo_core::StrategyOptions;

/// The format of the payloads.
pub(crate) const FORMAT: u32 = 1;

/// The program that writes.
///
/// With the kind of processor: sums are made in another order on another kind, and the last bits with them.
pub(crate) fn program() -> String {
    format!("mcbo {} on {}", env!("CARGO_PKG_VERSION"), mcbo_core::processor())
}

/// A measurement made outside the study, by names.
///
/// ```
/// let row: mcbo_store::Row =
///     serde_json::from_str(r#"{"actions": {"dose": 30.0}, "values": {"n1": [31.0], "yield": [7.9]}}"#)?;
/// assert!(row.targets.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Nodes that were set, with one value per component.
    #[serde(default)]
    pub targets: BTreeMap<String, Vec<f64>>,
    /// The values of the actions; those not named were neutral.
    #[serde(default)]
    pub actions: BTreeMap<String, f64>,
    /// What was measured, with one value per component.
    pub values: BTreeMap<String, Vec<f64>>,
}

impl Row {
    /// What was done: actions that are not named are neutral. Whether it can be done at all is not looked at.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn intervention(&self, problem: &Problem) -> Result<Intervention, RowFault> {
        let mut intervention: Intervention = problem.neutral_intervention();
        for (name, &value) in &self.actions {
            let known = || problem.actions().iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
            let action = problem
                .action_index(name)
                .ok_or_else(|| RowFault::UnknownAction { name: name.clone(), known: known() })?;
            intervention.actions[action] = value;
        }
        for (name, values) in &self.targets {
            let node = problem.node_index(name).ok_or_else(|| DataError::UnknownName {
                name: name.clone(),
                known: problem.graph().names().join(", "),
            })?;
            intervention.targets.push((node, values.clone()));
        }
        intervention.targets.sort_by_key(|(node, _)| *node);
        Ok(intervention)
    }

    /// The row as an observation of the problem.
    ///
    /// # Errors
    /// If a name is unknown or a vector has the wrong length.
    pub fn observation(&self, problem: &Problem) -> Result<Observation, RowFault> {
        let intervention = self.intervention(problem)?;
        let named = self.values.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
        Ok(Observation { intervention, values: values_by_name(problem, named)? })
    }

    /// What is done, by names; nothing is measured.
    pub(crate) fn of_intervention(problem: &Problem, intervention: &Intervention) -> Self {
        let named =
            |(node, values): &(usize, Vec<f64>)| (problem.nodes()[*node].name.clone(), values.clone());
        let targets = intervention.targets.iter().map(named).collect();
        Self { targets, ..Self::default() }.explicit(problem, intervention)
    }

    /// The row with the value of every action written out, so that another neutral value does not change it.
    pub(crate) fn explicit(mut self, problem: &Problem, intervention: &Intervention) -> Self {
        let names = problem.actions().iter().map(|action| action.name.clone());
        self.actions = names.zip(intervention.actions.iter().copied()).collect();
        self
    }
}

/// The first event of every study.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Created {
    pub format: u32,
    pub program: String,
    pub problem: String,
    #[serde(flatten)]
    pub strategy: StrategyOptions,
    pub seed: u64,
    pub initial: usize,
}

/// A trial was proposed and handed out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub trial: usize,
    pub worker: String,
    pub lease_until: i64,
    pub took_seconds: f64,
    pub program: String,
    /// The place in the log that it was computed from, where that is not the event before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    #[serde(rename = "suggestion")]
    pub proposal: Proposal,
}

/// What a suggestion knew that was computed while others wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct From {
    /// The last event.
    pub seq: i64,
    /// How many of the proposals directly before its own, which were computed with it.
    pub known: usize,
    /// Whether it was found again beside all that were put under way between that event and its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
}

/// A pending trial was handed to another worker, or to the same one again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Retried {
    pub trial: usize,
    pub worker: String,
    pub lease_until: i64,
}

/// Values were measured, all or some.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    pub trial: usize,
    pub worker: Option<String>,
    pub values: BTreeMap<String, Vec<f64>>,
}

/// Values that were told were wrong, and are put right.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Corrected {
    pub trial: usize,
    pub values: BTreeMap<String, Vec<f64>>,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Trials were taken out of the study, or put back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Voided {
    pub trials: Vec<usize>,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A trial could not be run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub trial: usize,
    pub reason: String,
    /// Who did it; nobody wrote that down before there was a place for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A trial under way went back to waiting: the next who asks gets it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Released {
    pub trial: usize,
    /// Why, as far as it was said.
    pub reason: String,
    /// Whether it was lost: begun, and ended by something that is not the experiment's fault.
    pub lost: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Something was written beside a trial, or beside the study.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// The trial; `None` for the study itself.
    pub trial: Option<usize>,
    pub attributes: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Rows came from outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Added {
    /// One by one, as they were written once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub table: Table,
    /// Who did it; nobody wrote that down before there was a place for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Added {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.rows.len() + self.table.len()
    }
}

/// The problem was mended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ProblemChanged {
    pub problem: String,
    /// Who did it; nobody wrote that down before there was a place for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// What must be prepared again that was prepared without an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moves {
    /// Suggestions: another one is under way that could be the same, or the problem or the numbers of trials are others. Measurements
    /// that came meanwhile are for the next one.
    pub suggestions: bool,
    /// Rows to add: the problem is another one, or they may be there by now.
    pub rows: bool,
}

/// One event.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Created(Created),
    ProblemChanged(ProblemChanged),
    Asked(Box<Asked>),
    Retried(Retried),
    Told(Told),
    Corrected(Corrected),
    Voided(Voided),
    Restored(Voided),
    Failed(Failed),
    Released(Released),
    Noted(Noted),
    Added(Added),
}

impl Event {
    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Created(_) => "created",
            Self::ProblemChanged(_) => "problem-changed",
            Self::Asked(_) => "asked",
            Self::Retried(_) => "retried",
            Self::Told(_) => "told",
            Self::Corrected(_) => "corrected",
            Self::Voided(_) => "voided",
            Self::Restored(_) => "restored",
            Self::Failed(_) => "failed",
            Self::Released(_) => "released",
            Self::Noted(_) => "noted",
            Self::Added(_) => "added",
        }
    }

    /// What was prepared without it and must be prepared again.
    pub fn moves(&self) -> Moves {
        let rows = matches!(self, Self::ProblemChanged(_) | Self::Added(_) | Self::Restored(_));
        Moves { suggestions: rows || matches!(self, Self::Asked(_)), rows }
    }

    /// The trials that it changes.
    pub fn trials(&self) -> Vec<usize> {
        match self {
            Self::Created(_) | Self::ProblemChanged(_) | Self::Added(_) => Vec::new(),
            Self::Asked(event) => vec![event.trial],
            Self::Retried(event) => vec![event.trial],
            Self::Told(event) => vec![event.trial],
            Self::Corrected(event) => vec![event.trial],
            Self::Voided(event) | Self::Restored(event) => event.trials.clone(),
            Self::Failed(event) => vec![event.trial],
            Self::Released(event) => vec![event.trial],
            Self::Noted(event) => event.trial.into_iter().collect(),
        }
    }

    /// Its content as JSON.
    pub fn payload(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Created(event) => serde_json::to_string(event),
            Self::ProblemChanged(event) => serde_json::to_string(event),
            Self::Asked(event) => serde_json::to_string(event),
            Self::Retried(event) => serde_json::to_string(event),
            Self::Told(event) => serde_json::to_string(event),
            Self::Corrected(event) => serde_json::to_string(event),
            Self::Voided(event) | Self::Restored(event) => serde_json::to_string(event),
            Self::Failed(event) => serde_json::to_string(event),
            Self::Released(event) => serde_json::to_string(event),
            Self::Noted(event) => serde_json::to_string(event),
            Self::Added(event) => serde_json::to_string(event),
        }
    }

    /// Reads an event; the reason if that is not possible.
    pub fn read(kind: &str, payload: &str) -> Result<Self, String> {
        fn parse<T: DeserializeOwned>(payload: &str) -> Result<T, String> {
            serde_json::from_str(payload).map_err(|error| error.to_string())
        }
        Ok(match kind {
            "created" => Self::Created(parse(payload)?),
            "problem-changed" => Self::ProblemChanged(parse(payload)?),
            "asked" => Self::Asked(parse(payload)?),
            "retried" => Self::Retried(parse(payload)?),
            "told" => Self::Told(parse(payload)?),
            "corrected" => Self::Corrected(parse(payload)?),
            "voided" => Self::Voided(parse(payload)?),
            "restored" => Self::Restored(parse(payload)?),
            "failed" => Self::Failed(parse(payload)?),
            "released" => Self::Released(parse(payload)?),
            "noted" => Self::Noted(parse(payload)?),
            "added" => {
                let added: Added = parse(payload)?;
                if !added.table.is_whole() {
                    return Err("its table has more or fewer numbers than its names ask for".into());
                }
                Self::Added(added)
            }
            other => return Err(format!("its kind {other:?} is unknown")),
        })
    }
}
