//! `mcbo bench`: the paper's tasks, and runs of strategies on them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use mcbo_bench::{Job, RunResult, Task, run_all};
use mcbo_core::{Intervention, Noise, Problem, Strategy, check_intervention, enumerate};
use serde_json::{Value, json};

use crate::cli::{Bench, BenchCommand, BenchEval, BenchList, BenchRun};
use crate::failure::BadInput;
use crate::number::{plain as short, rough};
use crate::table::{self, Align, Table};
use crate::talk::Talk;
use crate::{strategies, words};

/// Does one of the bench commands.
pub fn run(arguments: &Bench) -> Result<ExitCode> {
    match &arguments.command {
        BenchCommand::List(arguments) => list(arguments),
        BenchCommand::Eval(arguments) => eval(arguments),
        BenchCommand::Run(arguments) => runs(arguments),
    }
}

/// An error of the library as one of the command line: its words after `hint:` become the hint.
fn bad_input(error: &dyn std::fmt::Display) -> BadInput {
    let text = error.to_string();
    let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, "`mcbo bench list` shows all tasks"));
    BadInput::new(message, hint)
}

fn task(name: &str) -> Result<Task, BadInput> {
    Task::named(name).map_err(|error| bad_input(&error))
}

fn list(arguments: &BenchList) -> Result<ExitCode> {
    let tasks = Task::names().map(task).collect::<Result<Vec<_>, _>>()?;
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
                    Noise::Learn => json!("learn"),
                },
                "do": node.hard,
            })
        })
        .collect();
    let actions: Vec<Value> =
        problem.actions().iter().map(|action| json!({"name": action.name, "range": action.range})).collect();
    json!({
        "name": task.name(),
        "nodes": nodes,
        "actions": actions,
        "sets": sets(problem),
        "noise": is_noisy(problem),
        "reward": words::reward_formula(problem),
        "optimum": task.optimum(),
        "method": task.method(),
    })
}

fn eval(arguments: &BenchEval) -> Result<ExitCode> {
    let task = task(&arguments.task)?;
    let intervention = intervention(task.problem(), &arguments.targets, &arguments.actions)?;
    let reward = task.expected_reward(&intervention);
    if arguments.json {
        println!("{}", json!({"expected_reward": reward, "method": task.method()}));
    } else {
        println!("E[{}] = {} by {}", words::reward_formula(task.problem()), short(reward), task.method());
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `0.5,0.5` as the actions in order, and `a=0,b=1` as values of targets and actions by name.
fn intervention(problem: &Problem, targets: &[String], actions: &[String]) -> Result<Intervention, BadInput> {
    let number = |text: &str| {
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
                named.insert(name.trim().to_owned(), number(value)?);
            }
            None => in_order.push(number(part)?),
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
    check_intervention(problem, &intervention).map_err(|error| bad_input(&error))?;
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

fn runs(arguments: &BenchRun) -> Result<ExitCode> {
    let tasks = arguments.task.iter().map(|name| task(name)).collect::<Result<Vec<_>, _>>()?;
    let mut chosen: Vec<(String, Box<dyn Strategy>)> = Vec::new();
    for &name in &arguments.strategy {
        let widths: Vec<Option<f64>> = if arguments.beta.is_empty() || !strategies::has_beta(name) {
            vec![None]
        } else {
            arguments.beta.iter().copied().map(Some).collect()
        };
        for beta in widths {
            let strategy = strategies::boxed(name, arguments.preset, beta);
            let label = beta
                .map_or_else(|| strategy.name().to_owned(), |beta| format!("{} β={beta}", strategy.name()));
            chosen.push((label, strategy));
        }
    }
    let (seeds, rounds) = (arguments.seeds.clone(), arguments.rounds);
    let mut jobs = Vec::new();
    let mut groups = Vec::new();
    for task in &tasks {
        for (label, strategy) in &chosen {
            for seed in seeds.clone() {
                jobs.push(Job { task, strategy: &**strategy, seed, rounds });
                groups.push(format!("{}\t{label}", task.name()));
            }
        }
    }
    let threads =
        arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let talk = Talk::new(arguments.quiet);
    let mut waiting: BTreeMap<usize, RunResult> = BTreeMap::new();
    let mut finished: Vec<RunResult> = Vec::new();
    let mut trouble: Option<anyhow::Error> = None;
    run_all(&jobs, threads, |place, result| match result {
        Ok(result) => {
            waiting.insert(place, result);
            // Runs are told in the order of the jobs, whichever ends first.
            while let Some(result) = waiting.remove(&finished.len()) {
                if arguments.json
                    && let Err(error) = write_lines(jobs[finished.len()].task, &result)
                {
                    trouble.get_or_insert(error.into());
                }
                finished.push(result);
                if !arguments.json {
                    talk.note(&format!("{} of {} runs", finished.len(), jobs.len()));
                }
            }
        }
        Err(error) => {
            trouble.get_or_insert(error.into());
        }
    });
    if let Some(error) = trouble {
        return Err(error);
    }
    if !arguments.json {
        summary(&tasks, &groups, &finished)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_lines(task: &Task, result: &RunResult) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in result.lines(task) {
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    }
    out.flush()
}

/// Mean and standard error over the seeds of every task and strategy.
fn summary(tasks: &[Task], groups: &[String], finished: &[RunResult]) -> Result<()> {
    let mut table = Table::new([
        ("task", Align::Left),
        ("strategy", Align::Left),
        ("average reward", Align::Right),
        ("rounds 1..T", Align::Right),
        ("best reward", Align::Right),
        ("ms a round", Align::Right),
    ]);
    let mut from = 0;
    while from < finished.len() {
        let until = from + groups[from..].iter().take_while(|group| **group == groups[from]).count();
        let runs = &finished[from..until];
        let (name, label) = groups[from].split_once('\t').unwrap_or((&groups[from], ""));
        let reported =
            |reward: f64| tasks.iter().find(|t| t.name() == name).map_or(reward, |t| t.reported(reward));
        let figure = |of: &dyn Fn(&RunResult) -> f64| {
            let values: Vec<f64> = runs.iter().map(of).collect();
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
            format!("{} ± {}", short(mean), rough((spread / count).sqrt()))
        };
        let mut seconds: Vec<f64> =
            runs.iter().flat_map(|r| &r.rounds).map(|round| round.suggest_seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
        table.row([
            name.to_owned(),
            label.to_owned(),
            figure(&|run| reported(run.average_reward())),
            figure(&|run| reported(run.chosen_average())),
            figure(&|run| reported(run.best_reward())),
            rough(1e3 * median),
        ]);
        from = until;
    }
    let mut out = anstream::stdout().lock();
    table.write(&mut out, table::width())?;
    writeln!(
        out,
        "\nMean ± standard error over the seeds. The average includes the initial design; ms is the median."
    )?;
    Ok(())
}
