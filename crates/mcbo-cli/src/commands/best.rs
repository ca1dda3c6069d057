//! `mcbo best`: what to settle for, and how much better anything else could be.

use std::io::Write;

use anyhow::Result;
use mcbo_core::{Certificate, Criterion, Given, Recommendation, Study};
use serde_json::json;

use crate::cli::{Advice, By, Look};
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::run::report::Report;
use crate::{assignment, describe, json, store, table};

/// Fits the model and prints what it recommends.
pub fn run(arguments: &Look) -> Result<ExitCode> {
    let study = store::study(&arguments.storage, &arguments.study)?.study()?;
    if study.data().is_empty() {
        let name = describe::argument(&arguments.study);
        return Err(BadInput::new(
            format!("study {name} has no measurements yet, so there is nothing to recommend"),
            format!("`mcbo ask {name}` says what to measure first"),
        )
        .into());
    }
    let given = assignment::given(study.problem(), &arguments.given.given)?;
    let (recommendation, certificate) =
        super::with_threads(arguments.threads, || advise(&study, &arguments.advice, &given))?;
    let problem = study.problem();
    if arguments.json {
        super::write_line(&json!({
            "study": arguments.study,
            "recommendation": json::recommendation(problem, &recommendation),
            "best": json::best(problem, study.best_trial(), Some(&recommendation)),
            "certificate": json::certificate(problem, &certificate),
            "nodes": json::nodes(&recommendation.network.summaries(problem)),
        }))?;
    } else {
        let mut out = anstream::stdout().lock();
        let report = Report::new(&study, Some(&recommendation)).with_certificate(Some(&certificate));
        report.write_advice(&mut out, table::width())?;
        out.flush()?;
    }
    let console = Console::new(arguments.storage.quiet);
    for warning in &recommendation.warnings {
        console.warning(&warning.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

/// The recommendation that is asked for, with its certificate.
///
/// # Errors
/// If no model can be fitted.
pub fn advise(study: &Study, advice: &Advice, given: &Given) -> Result<(Recommendation, Certificate)> {
    let criterion = match advice.by {
        By::Mean => Criterion::Mean,
        By::Lower => Criterion::Lower,
    };
    let recommendation = study.recommend_given(criterion, given)?;
    let certificate = study.certify(&recommendation, advice.width);
    Ok((recommendation, certificate))
}
