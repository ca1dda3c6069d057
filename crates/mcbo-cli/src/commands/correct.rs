//! `mcbo correct`: values that were told wrong.

use anyhow::Result;
use mcbo_core::slot_name;

use crate::cli::Correct;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{assignment, describe, store};

/// Puts values right, and says which were others.
pub fn run(arguments: &Correct) -> Result<ExitCode> {
    let mut study = store::study_to_change(&arguments.storage, &arguments.study)?;
    let hint = "write a number with a decimal point; leave out what is right";
    let values = assignment::read(&*study.problem()?, &arguments.values, "taste=7.1", hint)?;
    let named: Vec<(&str, Vec<f64>)> =
        values.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
    let (number, name) = (arguments.trial, describe::argument(&arguments.study));
    let before = study.trials()?.into_iter().find(|trial| trial.trial.number == number);
    study.correct(number, &named, &arguments.reason)?;
    let (problem, after) = (study.problem()?, study.trial(number)?);
    let told = |trial: &mcbo_store::StoredTrial| trial.trial.values.clone().unwrap_or_default();
    let mut changes = Vec::new();
    if let Some(before) = &before {
        let (was, is) = (before.trial.intervention(), after.trial.intervention());
        for (place, action) in problem.actions().iter().enumerate() {
            let (was, is) = (was.actions[place], is.actions[place]);
            if was != is {
                let [was, is] = [was, is].map(|value| describe::chosen_value(&problem, &action.name, value));
                changes.push(format!("{} = {is}, was {was}", action.name));
            }
        }
    }
    let (before, after) = (before.as_ref().map(told).unwrap_or_default(), told(&after));
    for node in 0..problem.nodes().len() {
        for (component, slot) in problem.slot(node).enumerate() {
            let values = (before.get(slot).copied().flatten(), after.get(slot).copied().flatten());
            if let (Some(was), Some(is)) = values
                && was != is
            {
                let name = slot_name(&problem, node, component);
                let [was, is] = [was, is].map(|value| describe::chosen_value(&problem, &name, value));
                changes.push(format!("{name} = {is}, was {was}"));
            }
        }
    }
    let console = Console::new(arguments.storage.quiet);
    console.note(&match changes.is_empty() {
        true => format!("trial {number} of {name} has these values already"),
        false => format!("trial {number} of {name} is put right: {}", changes.join("; ")),
    });
    Ok(ExitCode::SUCCESS)
}
