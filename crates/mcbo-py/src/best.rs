//! What to settle for.

use mcbo_core::{Certificate, Criterion, Forecast, Recommendation, Study};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{forecasts, parts};
use crate::errors::{Fault, data_error};

/// A recommendation with what bounds it.
pub struct Found {
    recommendation: Recommendation,
    certificate: Option<Certificate>,
    predicted: Vec<Forecast>,
}

/// What a recommendation goes by.
pub fn criterion(by: &str) -> PyResult<Criterion> {
    match by {
        "mean" => Ok(Criterion::Mean),
        "lower" => Ok(Criterion::Lower),
        other => Err(data_error(format!("nothing goes by {other:?}; hint: by is \"mean\" or \"lower\""))),
    }
}

/// Looks for it.
pub fn find(study: &Study, criterion: Criterion, width: Option<f64>) -> Result<Found, Fault> {
    let recommendation = study.recommend_by(criterion)?;
    let certificate = width.map(|width| study.certify(&recommendation, width));
    // Always by the same draws, as on the command line: two interventions are compared under the same luck.
    let predicted = recommendation.network.forecast(study.problem(), &recommendation.intervention, 0);
    Ok(Found { recommendation, certificate, predicted })
}

/// Tells it.
pub fn dict<'py>(py: Python<'py>, study: &Study, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    let problem = study.problem();
    let Found { recommendation, certificate, predicted } = found;
    let dict = PyDict::new(py);
    dict.set_item("intervention", parts(py, problem, &recommendation.intervention)?)?;
    dict.set_item("predicted", forecasts(py, problem, predicted)?)?;
    let sign = problem.sign();
    let reward = predicted.iter().find(|forecast| forecast.node == problem.reward()).map(|forecast| {
        let (one, other) = (sign * forecast.lower, sign * forecast.upper);
        (sign * forecast.mean, one.min(other), one.max(other))
    });
    dict.set_item("reward", reward)?;
    let warnings: Vec<String> = recommendation.warnings.iter().map(ToString::to_string).collect();
    dict.set_item("warnings", warnings)?;
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
