//! `mcbo predict`: what the model expects of an intervention of one's own.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Criterion, Given, Intervention, MechanismKind, Network, Prediction, Problem, slot_name};
use mcbo_store::Row;
use serde_json::json;

use crate::cli::Predict;
use crate::commands::export::set_column;
use crate::console::{BOLD, Console, styled};
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::table::{self, paragraph};
use crate::words::{self, Texts};
use crate::{describe, json, show, store};

/// Fits the model and prints what it expects.
pub fn run(arguments: &Predict) -> Result<ExitCode> {
    // What is given is understood before anything is opened.
    let named = words::texts(&arguments.doing, "dose=30")?;
    let study = store::study(&arguments.storage, &arguments.study)?.study()?;
    let problem = study.problem();
    let intervention = row(problem, named)?.intervention(problem)?;
    let given = words::given(problem, &arguments.given.given)?;
    let (prediction, network) = super::with_threads(arguments.threads, || {
        let recommendation = study.recommend_given(Criterion::Mean, &given)?;
        Ok((study.predict(&recommendation, &intervention)?, recommendation.network))
    })?;
    if arguments.json {
        super::write_line(&json!({
            "study": arguments.study,
            "intervention": json::intervention(problem, &intervention),
            "given": json::given(problem, &given),
            "limits": json::limits(&prediction.limits),
            "predicted": json::outlooks(problem, &prediction.nodes),
            "warnings": json::warnings(&prediction.warnings),
        }))?;
    } else {
        let mut out = anstream::stdout().lock();
        write(&mut out, problem, &network, &given, &intervention, &prediction)?;
        out.flush()?;
    }
    let console = Console::new(arguments.storage.quiet);
    for warning in &prediction.warnings {
        console.warning(&warning.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

/// What is done, by names: `dose=30` is an action, `do(temperature)=31` sets a node.
fn row(problem: &Problem, named: Texts) -> Result<Row, BadInput> {
    let (mut row, mut components) = (Row::default(), BTreeMap::<usize, Vec<Option<f64>>>::new());
    for (name, texts) in named {
        let value = |text: &String| words::value(problem, &name, text, "write a number with a decimal point");
        let values = texts.iter().map(value).collect::<Result<Vec<f64>, BadInput>>()?;
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(BadInput::new(format!("{name} is {value}"), "give a finite number"));
        }
        let twice = || BadInput::new(format!("{name} is given twice"), "give every name once");
        if problem.action_index(&name).is_some() {
            let [value] = values[..] else {
                let count = values.len();
                return Err(BadInput::new(format!("{name} has {count} values"), "an action has one value"));
            };
            if row.actions.insert(name.clone(), value).is_some() {
                return Err(twice());
            }
            continue;
        }
        let inner = name.strip_prefix("do(").and_then(|rest| rest.strip_suffix(')'));
        match (inner.and_then(|inner| place(problem, inner)), &values[..]) {
            (Some((node, None)), _) => {
                if row.targets.insert(problem.nodes()[node].name.clone(), values).is_some() {
                    return Err(twice());
                }
            }
            (Some((node, Some(component))), [value]) => {
                let parts = components.entry(node).or_insert_with(|| vec![None; problem.nodes()[node].dim]);
                if parts[component].replace(*value).is_some() {
                    return Err(twice());
                }
            }
            (Some(_), _) => {
                let count = values.len();
                return Err(BadInput::new(format!("{name} has {count} values"), "a component has one value"));
            }
            (None, _) => return Err(unknown(problem, &name)),
        }
    }
    for (node, parts) in components {
        let name = &problem.nodes()[node].name;
        let Some(values) = parts.into_iter().collect::<Option<Vec<f64>>>() else {
            return Err(BadInput::new(format!("{name} is set in part"), "give all its components"));
        };
        if row.targets.insert(name.clone(), values).is_some() {
            return Err(BadInput::new(format!("{name} is given twice"), "give every name once"));
        }
    }
    Ok(row)
}

/// A node by its name, or one of its components by a name such as `leaf[1]`.
fn place(problem: &Problem, name: &str) -> Option<(usize, Option<usize>)> {
    if let Some(node) = problem.node_index(name) {
        return Some((node, None));
    }
    (0..problem.nodes().len()).find_map(|node| {
        let component = (0..problem.nodes()[node].dim).find(|&c| slot_name(problem, node, c) == name)?;
        Some((node, Some(component)))
    })
}

/// A name that nothing to choose has.
fn unknown(problem: &Problem, name: &str) -> BadInput {
    let settable = problem.settable();
    if let Some((node, _)) = place(problem, name) {
        let hint = match settable.contains(&node) {
            true => format!("write 'do({name})=...' to set it"),
            false => "it cannot be set; give it a `do` range in the problem file".into(),
        };
        return BadInput::new(format!("{name} is a node, not an action"), hint);
    }
    let mut known: Vec<String> = problem.actions().iter().map(|action| action.name.clone()).collect();
    known.extend(
        settable.iter().flat_map(|&n| (0..problem.nodes()[n].dim).map(move |c| set_column(problem, n, c))),
    );
    BadInput::new(
        format!("there is nothing to choose that is called {name:?}"),
        format!("there is {}", known.join(", ")),
    )
}

/// What is done and what to expect of it.
fn write(
    out: &mut impl Write,
    problem: &Problem,
    network: &Network,
    given: &Given,
    intervention: &Intervention,
    prediction: &Prediction,
) -> io::Result<()> {
    let width = table::width();
    writeln!(out, "{}", styled(BOLD, "Intervention"))?;
    show::given(out, problem, given)?;
    show::levers(out, &describe::levers(problem), intervention)?;
    writeln!(out)?;
    show::outlooks(out, problem, intervention, given, &prediction.nodes, width)?;
    show::limits(out, problem, &prediction.limits, width)?;
    let absent =
        |node: &usize| network.kind(*node) == MechanismKind::Absent && intervention.target(*node).is_none();
    let absent = (0..problem.nodes().len()).filter(absent).map(|node| problem.nodes()[node].name.as_str());
    let absent: Vec<&str> = absent.collect();
    if !absent.is_empty() {
        let reward = describe::reward_name(problem);
        let text = format!("Not learned, since {reward} does not depend on it: {}.", absent.join(", "));
        paragraph(out, &text, width)?;
    }
    Ok(())
}
