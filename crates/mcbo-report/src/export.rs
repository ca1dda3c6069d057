//! All trials, for other programs.

use std::io::Write;

use mcbo_core::{Intervention, Problem, Study, slot_name};
use mcbo_store::{Status, StoredTrial};
use serde_json::{Value, json};

use crate::{json, timestamp};

/// Columns of the CSV that are about the trial, not about what was done or measured.
pub const ABOUT: [&str; 8] = ["trial", "state", "strategy", "worker", "asked", "told", "corrected", "reason"];
/// The column of the reward, in the direction of improvement.
pub const REWARD: &str = "reward";
/// The column of what a trial costs, where the problem says it.
pub const COST: &str = "cost";
/// Begins the name of a column with what was suggested, where something else was done.
const SUGGESTED: &str = "#suggested(";
/// Stands before the names of columns that `mcbo add` is not to read.
pub const ASIDE: char = '#';

/// The name of the column for a component of a node that was set.
pub fn set_column(problem: &Problem, node: usize, component: usize) -> String {
    format!("do({})", slot_name(problem, node, component))
}

/// Something that can be chosen.
#[derive(Debug, Clone, Copy)]
enum Lever {
    Set { node: usize, component: usize },
    Action(usize),
}

fn value_of(intervention: &Intervention, lever: Lever) -> Option<f64> {
    match lever {
        Lever::Set { node, component } => intervention.target(node).map(|values| values[component]),
        Lever::Action(action) => Some(intervention.actions[action]),
    }
}

/// Every node with its components.
fn components(problem: &Problem) -> impl Iterator<Item = (usize, usize)> + '_ {
    let pairs = |(node, declared): (usize, &mcbo_core::Node)| {
        (0..declared.dim).map(move |component| (node, component))
    };
    problem.nodes().iter().enumerate().flat_map(pairs)
}

/// Who reads a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A program: every cell is as it is.
    Program,
    /// A spreadsheet, which would take a text that begins with `=` for a formula: such a text gets a quote before it.
    Spreadsheet,
}

/// A text as a spreadsheet may see it.
fn harmless(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{text}") } else { text }
}

/// All trials as CSV, which `mcbo add` reads again.
///
/// # Errors
/// If it cannot be written.
pub fn csv(out: &mut impl Write, study: &Study, trials: &[StoredTrial], reader: Reader) -> csv::Result<()> {
    let text = |text: String| match reader {
        Reader::Program => text,
        Reader::Spreadsheet => harmless(text),
    };
    let problem = study.problem();
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
    let differs = |lever: &Lever| {
        let is = |trial: &StoredTrial| {
            let done = value_of(trial.trial.intervention(), *lever);
            done != value_of(&trial.trial.suggestion.intervention, *lever)
        };
        trials.iter().any(is)
    };
    let levers = settable.iter().map(|&(node, component)| Lever::Set { node, component });
    let levers = levers.chain((0..problem.actions().len()).map(Lever::Action));
    let otherwise: Vec<Lever> = levers.filter(differs).collect();
    header.extend(otherwise.iter().map(|lever| match *lever {
        Lever::Set { node, component } => format!("{SUGGESTED}{})", set_column(problem, node, component)),
        Lever::Action(action) => format!("{SUGGESTED}{})", problem.actions()[action].name),
    }));
    writer.write_record(header.into_iter().map(text))?;
    for StoredTrial { trial, record, .. } in trials {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let mut row = vec![
            trial.number.to_string(),
            trial.state.name().into(),
            text(trial.suggestion.strategy.clone()),
            text(record.worker.clone().unwrap_or_default()),
            timestamp::exact(record.asked),
            record.told.map(timestamp::exact).unwrap_or_default(),
            record.corrected.map(timestamp::exact).unwrap_or_default(),
            text(match &record.voided {
                Some((_, reason)) => reason.clone(),
                None => record.reason.clone().unwrap_or_default(),
            }),
        ];
        // What was done, which the model learns from; what was suggested stands beside it where anything differs.
        let intervention = trial.intervention();
        let of_node = |node: usize, value: Option<f64>| {
            let name = value.and_then(|value| problem.nodes()[node].choice(value));
            name.map_or_else(|| number(value), |name| text(name.to_owned()))
        };
        let of_action = |action: usize, value: f64| match problem.actions()[action].choice(value) {
            Some(name) => text(name.to_owned()),
            None => number(Some(value)),
        };
        row.extend(settable.iter().map(|&(node, component)| {
            of_node(node, intervention.target(node).map(|values| values[component]))
        }));
        row.extend(intervention.actions.iter().enumerate().map(|(action, &value)| of_action(action, value)));
        // What was given is known before anything is told.
        let mut values = trial.values.clone().unwrap_or_else(|| vec![None; problem.slots()]);
        for (node, given) in trial.suggestion.given.iter() {
            for (at, &given) in problem.slot(node).zip(given) {
                values[at] = values[at].or(Some(given));
            }
        }
        row.extend(components(problem).zip(values).map(|((node, _), value)| of_node(node, value)));
        row.push(number(json::reward(problem, trial)));
        row.extend(problem.has_costs().then(|| number(Some(problem.cost(intervention)))));
        let suggested = &trial.suggestion.intervention;
        row.extend(otherwise.iter().map(|&lever| match lever {
            Lever::Set { node, .. } => of_node(node, value_of(suggested, lever)),
            Lever::Action(action) => of_action(action, suggested.actions[action]),
        }));
        writer.write_record(&row)?;
    }
    writer.flush()?;
    Ok(())
}

/// A trial with everything that is on record of it.
pub fn trial(problem: &Problem, stored: &StoredTrial) -> Value {
    let StoredTrial { trial, missing, record, .. } = stored;
    let mut object = json::trial(problem, trial, record.reason.as_deref());
    if let Value::Object(object) = &mut object {
        object.insert("missing".into(), missing.clone().into());
        object.insert("worker".into(), record.worker.clone().into());
        object.insert("asked".into(), timestamp::exact(record.asked).into());
        object.insert("told".into(), record.told.map(timestamp::exact).into());
        if let Some(at) = record.corrected {
            object.insert("corrected".into(), timestamp::exact(at).into());
        }
        if let Some((at, reason)) = &record.voided {
            object.insert("voided".into(), timestamp::exact(*at).into());
            object.insert("void_reason".into(), reason.clone().into());
        }
        object.insert("suggest_seconds".into(), record.took_seconds.into());
        object.insert("program".into(), record.program.clone().into());
    }
    object
}

/// All of a study: `mcbo export --format json`.
pub fn document(status: &Status, problem_toml: &str, study: &Study, trials: &[StoredTrial]) -> Value {
    let trials: Vec<Value> = trials.iter().map(|stored| trial(study.problem(), stored)).collect();
    json!({
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
    })
}
