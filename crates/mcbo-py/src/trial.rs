//! Trials as Python sees them.

use mcbo_core::Problem;
use mcbo_store::StoredTrial;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{by_node, forecasts, json, known, limits, observed, parts};

/// Everything about a trial, by names.
pub fn trial_dict<'py>(
    py: Python<'py>,
    problem: &Problem,
    stored: &StoredTrial,
) -> PyResult<Bound<'py, PyDict>> {
    let (trial, record) = (&stored.trial, &stored.record);
    let suggestion = &trial.suggestion;
    let (actions, targets) = parts(py, problem, &suggestion.intervention)?;
    let values = trial.values.as_ref().map(|values| observed(py, problem, values)).transpose()?;
    let slot = problem.slot(problem.reward()).start;
    let reward = trial.values.as_ref().and_then(|values| values[slot]).map(|value| problem.sign() * value);
    let warnings: Vec<String> = suggestion.warnings.iter().map(ToString::to_string).collect();
    let dict = PyDict::new(py);
    dict.set_item("number", trial.number)?;
    dict.set_item("state", trial.state.name())?;
    dict.set_item("actions", actions)?;
    dict.set_item("targets", targets)?;
    dict.set_item("strategy", &suggestion.strategy)?;
    dict.set_item("observed", values)?;
    dict.set_item("reward", reward)?;
    dict.set_item("value", trial.values.as_ref().and_then(|values| values[slot]))?;
    dict.set_item("acquisition", suggestion.acquisition)?;
    dict.set_item("beta", suggestion.beta)?;
    dict.set_item("predicted", forecasts(py, problem, &suggestion.predicted)?)?;
    dict.set_item("optimistic", by_node(py, problem, &suggestion.optimistic)?)?;
    dict.set_item("warnings", warnings)?;
    dict.set_item("given", known(py, problem, &suggestion.given)?)?;
    dict.set_item("limits", limits(py, &suggestion.limits)?)?;
    dict.set_item("cost", problem.has_costs().then(|| problem.cost(&suggestion.intervention)))?;
    dict.set_item("worker", record.worker.as_deref())?;
    dict.set_item("asked", record.asked)?;
    dict.set_item("told", record.told)?;
    dict.set_item("corrected", record.corrected)?;
    let why = record.voided.as_ref().map(|(_, why)| why.as_str());
    dict.set_item("reason", why.filter(|why| !why.is_empty()).or(record.reason.as_deref()))?;
    let done = trial.done.as_ref().map(|done| parts(py, problem, done)).transpose()?;
    dict.set_item("done", done)?;
    dict.set_item("seconds", record.took_seconds)?;
    dict.set_item("lost", record.lost)?;
    let noted = (!record.attributes.is_empty()).then(|| json(&record.attributes)).transpose()?;
    dict.set_item("attributes", noted)?;
    Ok(dict)
}
