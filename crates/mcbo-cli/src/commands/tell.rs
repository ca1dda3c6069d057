//! `mcbo tell`: what an experiment gave.

use anyhow::Result;
use mcbo_core::{Problem, TrialState};
use mcbo_store::StoredStudy;

use crate::assignment::{self, Named};
use crate::cli::Tell;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::number::plain;
use crate::{describe, json, problem, store};
use mcbo_report::Suspected;
use mcbo_report::values::from_json;

/// Takes the values, or that there are none.
pub fn run(arguments: &Tell) -> Result<ExitCode> {
    let console = Console::new(arguments.storage.quiet);
    let mut study = store::study_to_change(&arguments.storage, &arguments.study)?;
    let named = study.problem()?;
    let values = match (&arguments.failed, &arguments.json) {
        (Some(_), _) => Vec::new(),
        (None, Some(file)) => from_json(&named, &problem::data(file)?)?,
        (None, None) => from_words(&named, &arguments.values)?,
    };
    if let Some(reason) = &arguments.failed {
        study.fail(arguments.trial, reason)?;
        console.note(&format!(
            "trial {} of {} is marked as failed; it will not be proposed again",
            arguments.trial,
            study.name()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let named: Vec<(&str, Vec<f64>)> =
        values.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
    study.tell(arguments.trial, &named, None)?;
    said(&mut study, arguments.trial, &console)?;
    Ok(ExitCode::SUCCESS)
}

/// Values in words.
fn from_words(problem: &Problem, words: &[String]) -> Result<Named, BadInput> {
    if words.is_empty() {
        return Err(BadInput::new(
            "no values are given",
            "write them as NAME=VALUE, name a file with --json, or say --failed",
        ));
    }
    let hint = "write a number with a decimal point; leave out what was not measured";
    assignment::read(problem, words, "taste=7.1", hint)
}

/// Says what became of the trial.
fn said(study: &mut StoredStudy, number: usize, console: &Console) -> Result<()> {
    let trial = study.trial(number)?;
    let (name, state) = (describe::argument(study.name()), study.study()?);
    let problem = state.problem();
    let mut text = format!("trial {number} of {}", study.name());
    match json::reward(problem, &trial.trial) {
        Some(reward) => {
            let node = describe::reward_name(problem);
            let value = describe::of_reward(problem, plain(problem.sign() * reward));
            text.push_str(&format!(": {node} = {value}"));
            if state.best_trial().is_some_and(|(best, _)| best.number == number) {
                text.push_str(", the best so far");
            }
        }
        None => text.push_str(&format!(" has no value for {} yet", describe::reward_name(problem))),
    }
    if trial.trial.state == TrialState::Voided {
        text.push_str("; it is taken out, and counts when it is put back (mcbo void --undo)");
    }
    console.note(&text);
    let instead = describe::done_instead(problem, &trial.trial);
    if !instead.is_empty() {
        console.note(&format!("done otherwise than asked, and learned from so: {}", instead.join("; ")));
        if let Err(error) = mcbo_core::check_intervention(problem, trial.trial.intervention()) {
            let what = error.without_hint();
            console.warning(&format!(
                "{what}; the model learns from that, and it would not be proposed; hint: if it is a slip of the pen, mcbo correct {name} {number} NAME=VALUE"
            ));
        }
    }
    if !trial.missing.is_empty() {
        console.note(&format!(
            "still without a value, tell them when they are known: {}",
            trial.missing.join(", ")
        ));
    }
    if trial.trial.state == TrialState::Complete {
        super::warn_of_odd(&Suspected::of(&state), |odd| odd.came_with(number), console);
    }
    console.note(&format!("next: mcbo ask {name}, or mcbo best {name}"));
    Ok(())
}
