//! `mcbo bench`: the paper's tasks, runs of strategies on them, and reports of the runs.

mod compare;
mod folder;
mod sweep;

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use mcbo_bench::Task;
use mcbo_core::{Intervention, Noise, Problem, check_ranges, enumerate};
use serde_json::{Value, json};

use crate::cli::{Bench, BenchCommand, BenchEval, BenchList};
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::number::plain as short;
use crate::table::{self, Align, Table};
use crate::{assignment, describe, problem};

/// Does one of the bench commands.
pub fn run(arguments: &Bench) -> Result<ExitCode> {
    match &arguments.command {
        BenchCommand::List(arguments) => list(arguments),
        BenchCommand::Eval(arguments) => eval(arguments),
        BenchCommand::Run(arguments) => compare::run(arguments),
        BenchCommand::Paper(arguments) => compare::paper(arguments),
        BenchCommand::Report(arguments) => compare::report_of(arguments),
        BenchCommand::Diff(arguments) => compare::diff(arguments),
    }
}

/// An error of the library as one of the command line: its words after `hint:` become the hint.
fn bad_input(error: &dyn std::fmt::Display) -> BadInput {
    let text = error.to_string();
    let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, "`mcbo bench list` shows all tasks"));
    BadInput::new(message, hint)
}

/// A task by its name, or by the file that describes it.
fn task(name: &str) -> Result<Task> {
    if !name.ends_with(".toml") {
        return Ok(Task::named(name).map_err(|error| bad_input(&error))?);
    }
    let problem = problem::read(name)?;
    let task = problem.name().to_owned();
    Ok(Task::own(&task, problem).map_err(|error| bad_input(&error))?)
}

fn list(arguments: &BenchList) -> Result<ExitCode> {
    let names = Task::names().chain(Task::practice_names()).chain(Task::kinds());
    let tasks = names.map(task).collect::<Result<Vec<_>>>()?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<Value> = tasks.iter().map(describe).collect();
        writeln!(out, "{}", Value::Array(all))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([
        ("task", Align::Left),
        ("nodes", Align::Right),
        ("actions", Align::Right),
        ("noise", Align::Left),
        ("optimum", Align::Right),
        ("E[y] by", Align::Left),
        ("target sets", Align::Left),
    ]);
    for task in &tasks {
        let problem = task.problem();
        let sets = sets(problem).iter().map(|set| format!("{{{}}}", set.join(", "))).collect::<Vec<_>>();
        table.row([
            task.name().to_owned(),
            problem.nodes().len().to_string(),
            problem.actions().len().to_string(),
            if is_noisy(problem) { "yes" } else { "no" }.to_owned(),
            short(task.optimum()),
            task.method().to_owned(),
            if problem.settable().is_empty() { "-".to_owned() } else { sets.join(" ") },
        ]);
    }
    table.write(&mut out, table::width())?;
    Ok(ExitCode::SUCCESS)
}

fn is_noisy(problem: &Problem) -> bool {
    problem.nodes().iter().any(|node| node.noise != Noise::None)
}

/// The names of every target set that is searched.
fn sets(problem: &Problem) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = enumerate(problem, 10_000)
        .unwrap_or_default()
        .into_iter()
        .map(|choice| choice.targets.iter().map(|&node| problem.nodes()[node].name.clone()).collect())
        .collect();
    sets.dedup();
    sets.sort_by_key(Vec::len);
    sets
}

fn describe(task: &Task) -> Value {
    let problem = task.problem();
    let name = |&node: &usize| problem.nodes()[node].name.clone();
    let nodes: Vec<Value> = problem
        .nodes()
        .iter()
        .map(|node| {
            let actions: Vec<&str> =
                node.actions.iter().map(|&a| problem.actions()[a].name.as_str()).collect();
            json!({
                "name": node.name,
                "parents": node.parents.iter().map(name).collect::<Vec<_>>(),
                "actions": actions,
                "noise": match node.noise {
                    Noise::None => json!("none"),
                    Noise::Gaussian(deviation) => json!({"gaussian": deviation}),
                    Noise::Uniform(range) => json!({"uniform": range}),
                    Noise::Learn | Noise::Names(_) => json!("learn"),
                },
                "do": node.hard,
                "choices": node.is_choice().then_some(&node.choices),
            })
        })
        .collect();
    let action = |action: &mcbo_core::Action| match (action.is_choice(), &action.grid) {
        (true, _) => json!({"name": action.name, "choices": action.choices}),
        (false, Some(grid)) => match grid.list() {
            Some(values) => json!({"name": action.name, "range": action.range, "values": values}),
            None => json!({"name": action.name, "range": action.range, "step": grid.step()}),
        },
        (false, None) => json!({"name": action.name, "range": action.range}),
    };
    let actions: Vec<Value> = problem.actions().iter().map(action).collect();
    let require: Vec<&str> = problem.requirements().iter().map(|one| one.text()).collect();
    json!({
        "name": task.name(),
        "nodes": nodes,
        "actions": actions,
        "require": require,
        "sets": sets(problem),
        "noise": is_noisy(problem),
        "reward": describe::reward_formula(problem),
        "optimum": task.optimum(),
        "method": task.method(),
        "contexts": problem.contexts().map(|node| name(&node)).collect::<Vec<_>>(),
        "limits": problem.limited().map(|node| name(&node)).collect::<Vec<_>>(),
        "costs": problem.has_costs(),
    })
}

fn eval(arguments: &BenchEval) -> Result<ExitCode> {
    let task = task(&arguments.task)?;
    let intervention = intervention(task.problem(), &arguments.targets, &arguments.actions)?;
    let reward = task.expected_reward(&intervention);
    if arguments.json {
        println!("{}", json!({"expected_reward": reward, "method": task.method()}));
    } else {
        println!("E[{}] = {} by {}", describe::reward_formula(task.problem()), short(reward), task.method());
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `0.5,0.5` as the actions in order, and `a=0,b=1` as values of targets and actions by name.
fn intervention(problem: &Problem, targets: &[String], actions: &[String]) -> Result<Intervention, BadInput> {
    let number = |text: &str, name: &str| {
        let names = problem.names_of(name);
        if !names.is_empty() {
            return assignment::choice(name, names, text.trim());
        }
        text.trim().parse::<f64>().map_err(|_| {
            BadInput::new(format!("{text:?} is not a number"), "write 0.5,0.5 or name=0.5,other=1")
        })
    };
    let mut intervention = problem.neutral_intervention();
    let mut named = BTreeMap::new();
    let mut in_order = Vec::new();
    for part in actions {
        match part.split_once('=') {
            Some((name, value)) => {
                let name = name.trim();
                named.insert(name.to_owned(), number(value, name)?);
            }
            None => {
                let action = problem.actions().get(in_order.len());
                in_order.push(number(part, action.map_or("", |action| &action.name))?);
            }
        }
    }
    if !in_order.is_empty() {
        let expected = problem.actions().len();
        if in_order.len() != expected {
            return Err(BadInput::new(
                format!("{} values for {expected} actions", in_order.len()),
                "give one value per action in order, or name them as in a0=0.5",
            ));
        }
        intervention.actions = in_order;
    }
    let mut wanted: Vec<usize> = Vec::new();
    for name in targets {
        wanted.push(problem.node_index(name).ok_or_else(|| unknown(problem, name))?);
    }
    for (name, value) in named {
        if let Some(action) = problem.action_index(&name) {
            intervention.actions[action] = value;
        } else if let Some(node) = problem.node_index(&name) {
            intervention.targets.push((node, vec![value]));
        } else {
            return Err(unknown(problem, &name));
        }
    }
    intervention.targets.sort_by_key(|(node, _)| *node);
    wanted.sort_unstable();
    if !wanted.is_empty() && !intervention.targets.iter().map(|(node, _)| *node).eq(wanted) {
        return Err(BadInput::new(
            "--targets and the names in --actions differ",
            "every target needs a value, as in --targets x --actions x=1",
        ));
    }
    check_ranges(problem, &intervention).map_err(|error| bad_input(&error))?;
    Ok(intervention)
}

fn unknown(problem: &Problem, name: &str) -> BadInput {
    let actions = problem.actions().iter().map(|action| action.name.as_str());
    let nodes = problem.settable().into_iter().map(|node| problem.nodes()[node].name.as_str());
    BadInput::new(
        format!("there is no action or settable node {name:?}"),
        format!("there are {}", actions.chain(nodes).collect::<Vec<_>>().join(", ")),
    )
}
