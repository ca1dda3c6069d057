//! `mcbo export`: all trials, for other programs.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Problem, slot_name};
use mcbo_store::{StoredStudy, StoredTrial};
use serde_json::{Value, json};

use crate::cli::{Export, ExportFormat};
use crate::exit::ExitCode;
use crate::{json, store, timestamp};

/// Columns of the CSV that are about the trial, not about what was done or measured.
pub const ABOUT: [&str; 7] = ["trial", "state", "strategy", "worker", "asked", "told", "reason"];
/// The column of the reward, in the direction of improvement.
pub const REWARD: &str = "reward";
/// The column of what a trial costs, where the problem says it.
pub const COST: &str = "cost";
/// Stands before the names of columns that `mcbo add` is not to read.
pub const ASIDE: char = '#';

/// Prints all trials.
pub fn run(arguments: &Export) -> Result<ExitCode> {
    let mut study = store::study(&arguments.storage, &arguments.study)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match arguments.format {
        ExportFormat::Csv => csv(&mut out, &mut study)?,
        ExportFormat::Json => writeln!(out, "{}", document(&mut study)?)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The name of the column for a component of a node that was set.
pub fn set_column(problem: &Problem, node: usize, component: usize) -> String {
    format!("do({})", slot_name(problem, node, component))
}

/// Every node with its components.
fn components(problem: &Problem) -> impl Iterator<Item = (usize, usize)> + '_ {
    let pairs = |(node, declared): (usize, &mcbo_core::Node)| {
        (0..declared.dim).map(move |component| (node, component))
    };
    problem.nodes().iter().enumerate().flat_map(pairs)
}

fn csv(out: &mut impl Write, study: &mut StoredStudy) -> Result<()> {
    let (state, trials) = (study.study()?, study.trials()?);
    let problem = state.problem();
    let settable: Vec<(usize, usize)> =
        components(problem).filter(|(node, _)| problem.nodes()[*node].hard.is_some()).collect();
    let mut writer = csv::Writer::from_writer(out);
    // A node or an action may have the name of a column that is about the trial.
    let taken = |name: &str| problem.node_index(name).is_some() || problem.action_index(name).is_some();
    let about = |name: &str| if taken(name) { format!("{ASIDE}{name}") } else { name.to_owned() };
    let mut header: Vec<String> = ABOUT.map(about).to_vec();
    header.extend(settable.iter().map(|&(node, component)| set_column(problem, node, component)));
    header.extend(problem.actions().iter().map(|action| action.name.clone()));
    header.extend(components(problem).map(|(node, component)| slot_name(problem, node, component)));
    header.push(about(REWARD));
    header.extend(problem.has_costs().then(|| about(COST)));
    writer.write_record(&header)?;
    for StoredTrial { trial, record, .. } in &trials {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let mut row = vec![
            trial.number.to_string(),
            trial.state.name().into(),
            trial.suggestion.strategy.clone(),
            record.worker.clone().unwrap_or_default(),
            timestamp::exact(record.asked),
            record.told.map(timestamp::exact).unwrap_or_default(),
            record.reason.clone().unwrap_or_default(),
        ];
        let intervention = &trial.suggestion.intervention;
        row.extend(
            settable.iter().map(|&(node, component)| number(intervention.target(node).map(|v| v[component]))),
        );
        let done = problem.actions().iter().zip(&intervention.actions);
        row.extend(done.map(|(action, &value)| match action.choice(value) {
            Some(name) => name.to_owned(),
            None => number(Some(value)),
        }));
        // What was given is known before anything is told.
        let mut values = trial.values.clone().unwrap_or_else(|| vec![None; problem.slots()]);
        for (node, given) in trial.suggestion.given.iter() {
            for (at, &given) in problem.slot(node).zip(given) {
                values[at] = values[at].or(Some(given));
            }
        }
        row.extend(values.into_iter().map(number));
        row.push(number(json::reward(problem, trial)));
        row.extend(problem.has_costs().then(|| number(Some(problem.cost(intervention)))));
        writer.write_record(&row)?;
    }
    writer.flush()?;
    Ok(())
}

fn document(study: &mut StoredStudy) -> Result<Value> {
    let (status, problem_toml) = (study.status()?, study.problem_toml()?);
    let (state, trials) = (study.study()?, study.trials()?);
    let problem = state.problem();
    let trials: Vec<Value> = trials
        .iter()
        .map(|StoredTrial { trial, missing, record, .. }| {
            let mut object = json::trial(problem, trial, record.reason.as_deref());
            if let Value::Object(object) = &mut object {
                object.insert("missing".into(), missing.clone().into());
                object.insert("worker".into(), record.worker.clone().into());
                object.insert("asked".into(), timestamp::exact(record.asked).into());
                object.insert("told".into(), record.told.map(timestamp::exact).into());
                if let Some(at) = record.corrected {
                    object.insert("corrected".into(), timestamp::exact(at).into());
                }
                object.insert("suggest_seconds".into(), record.took_seconds.into());
                object.insert("program".into(), record.program.clone().into());
            }
            object
        })
        .collect();
    Ok(json!({
        "study": status.name,
        "strategy": status.strategy.strategy,
        "preset": status.strategy.preset,
        "beta": status.strategy.beta,
        "seed": status.seed,
        "initial": status.initial,
        "created": timestamp::exact(status.created),
        "changed": timestamp::exact(status.changed),
        "problem": problem_toml,
        "trials": trials,
    }))
}
