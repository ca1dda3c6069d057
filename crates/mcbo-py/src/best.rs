//! What to settle for.

use mcbo_core::{Certificate, Criterion, Given, Recommendation, Study};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{forecasts, known, limits, parts};
use crate::errors::{Fault, data_error};

/// A recommendation with what bounds it.
pub struct Best {
    recommendation: Recommendation,
    certificate: Option<Certificate>,
}

/// What a recommendation goes by.
pub fn criterion(by: &str) -> PyResult<Criterion> {
    match by {
        "mean" => Ok(Criterion::Mean),
        "lower" => Ok(Criterion::Lower),
        other => Err(data_error(format!("nothing goes by {other:?}; hint: by is \"mean\" or \"lower\""))),
    }
}

/// Looks for it in each of these contexts, with one model for all.
pub fn find(
    study: &Study,
    criterion: Criterion,
    width: Option<f64>,
    contexts: &[Given],
) -> Result<Vec<Best>, Fault> {
    let certified = |recommendation: Recommendation| {
        let certificate = width.map(|width| study.certify(&recommendation, width));
        Best { recommendation, certificate }
    };
    Ok(study.policy(criterion, contexts)?.into_iter().map(certified).collect())
}

/// Tells it.
pub fn dict<'py>(py: Python<'py>, study: &Study, best: &Best) -> PyResult<Bound<'py, PyDict>> {
    let problem = study.problem();
    let Best { recommendation, certificate } = best;
    let dict = PyDict::new(py);
    dict.set_item("intervention", parts(py, problem, &recommendation.intervention)?)?;
    dict.set_item("predicted", forecasts(py, problem, &recommendation.predicted)?)?;
    let reward = recommendation.reward(problem).map(|[mean, lower, upper]| (mean, lower, upper));
    dict.set_item("reward", reward)?;
    let warnings: Vec<String> = recommendation.warnings.iter().map(ToString::to_string).collect();
    dict.set_item("warnings", warnings)?;
    dict.set_item("given", known(py, problem, &recommendation.given)?)?;
    dict.set_item("limits", limits(py, &recommendation.limits)?)?;
    dict.set_item("cost", problem.has_costs().then(|| problem.cost(&recommendation.intervention)))?;
    dict.set_item("best", study.best_trial().map(|(trial, reward)| (trial.number, reward)))?;
    let bounds = match certificate {
        None => None,
        Some(bounds) => Some((
            bounds.width,
            bounds.lower,
            bounds.upper,
            bounds.gap(),
            parts(py, problem, &bounds.optimistic)?,
        )),
    };
    dict.set_item("certificate", bounds)?;
    Ok(dict)
}
