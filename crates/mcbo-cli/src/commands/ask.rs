//! `mcbo ask`: the next experiments, and why.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Study, TrialState, Why};
use mcbo_store::StoredTrial;
use serde_json::Value;

use crate::cli::Ask;
use crate::console::{BOLD, Console, styled};
use crate::exit::ExitCode;
use crate::number::plain;
use crate::table::{self, paragraph};
use crate::{assignment, describe, json, show, store, timestamp, why};

/// Hands out experiments and prints them.
pub fn run(arguments: &Ask) -> Result<ExitCode> {
    let worker = arguments.worker.name();
    let mut study = store::study(&arguments.storage, &arguments.study)?.with_lease(arguments.worker.lease());
    // Of those that are there, it may be given one that is under way.
    let before = study.trials_that(|trial| trial.state == TrialState::Pending)?;
    let given = assignment::given(&*study.problem()?, &arguments.given.given)?;
    let mut trials =
        super::with_threads(arguments.threads, || Ok(study.ask_given(&worker, arguments.count, &given)?))?;
    trials.sort_by_key(|trial| trial.trial.number);
    let console = Console::new(arguments.storage.quiet);
    let state = study.study()?;
    let problem = state.problem();
    // One model for all of them, as it is now.
    let network = match arguments.why && !state.data().is_empty() {
        true => Some(super::with_threads(arguments.threads, || Ok(state.network()?))?),
        false => None,
    };
    let not_allowed = state.not_allowed();
    for trial in &trials {
        let suggestion = &trial.trial.suggestion;
        let why = network.as_ref().map(|network| state.why(network, trial.trial.number)).transpose()?;
        if arguments.json {
            let mut object = json::suggestion(problem, trial.trial.number, suggestion);
            if let Some(why) = &why {
                object.insert("why".into(), why::document(&state, why));
            }
            super::write_line(&Value::Object(object))?;
        } else {
            let mut out = anstream::stdout().lock();
            write(&mut out, &state, study.name(), trial, why.as_ref())?;
            out.flush()?;
        }
        let number = trial.trial.number;
        if let Some(earlier) = before.iter().find(|earlier| earlier.trial.number == number) {
            let since = timestamp::relative(earlier.record.asked, timestamp::now());
            console.note(&match &earlier.record.worker {
                Some(other) if *other != worker => {
                    format!("trial {number} was under way at {other} since {since}, who did not tell it in time")
                }
                _ => format!(
                    "trial {number} is under way already, asked for {since}; `mcbo ask --count` gives more at once"
                ),
            });
        }
        if let Some((_, fault)) = not_allowed.iter().find(|(other, _)| *other == number) {
            let (what, name) = (fault.without_hint(), describe::argument(study.name()));
            console.warning(&format!(
                "the problem has changed since, and would not let it be proposed: {what}; hint: mcbo void {name} {number}, and ask again"
            ));
        }
        for warning in &suggestion.warnings {
            console.warning(&warning.to_string());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What to do, what to expect, why, and how to go on.
fn write(
    out: &mut impl Write,
    study: &Study,
    name: &str,
    trial: &StoredTrial,
    why: Option<&Why>,
) -> io::Result<()> {
    let (problem, suggestion, width) = (study.problem(), &trial.trial.suggestion, table::width());
    let number = trial.trial.number;
    writeln!(out, "{}", styled(BOLD, &format!("Trial {number} of {name}")))?;
    show::given(out, problem, &suggestion.given)?;
    show::levers(out, &describe::levers(problem), &suggestion.intervention)?;
    if problem.has_costs() {
        writeln!(out, "  cost  {}", plain(problem.cost(&suggestion.intervention)))?;
    }
    writeln!(out)?;
    if !suggestion.predicted.is_empty() {
        show::forecasts(out, problem, &suggestion.predicted, width)?;
        writeln!(out)?;
    }
    show::limits(out, problem, &suggestion.limits, width)?;
    paragraph(out, &why::reason(study, suggestion), width)?;
    for sentence in why.iter().flat_map(|why| why::sentences(study, why)) {
        paragraph(out, &sentence, width)?;
    }
    let values: Vec<String> = problem
        .nodes()
        .iter()
        .enumerate()
        .filter(|(node, _)| suggestion.intervention.target(*node).is_none())
        .filter(|(node, _)| suggestion.given.of(*node).is_none())
        .map(|(_, node)| format!("{}={}", node.name, vec!["…"; node.dim].join(",")))
        .collect();
    writeln!(out, "\nMeasured? mcbo tell {} {number} {}", describe::argument(name), values.join(" "))
}
