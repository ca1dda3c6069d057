//! Many runs of one strategy, one line of figures per task, and paired comparison with an earlier sweep.
//!
//! ```text
//! cargo run --release -p mcbo-bench --example sweep -- --tasks dropwave,toygraph --seeds 0..20 --rounds 100 --out a.jsonl
//! cargo run --release -p mcbo-bench --example sweep -- --preset paper --beta 0.5 --out b.jsonl --compare a.jsonl
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;

use mcbo_bench::{Job, RunResult, Task, run_all};
use mcbo_core::{Mcbo, Random, Strategy};
use serde_json::{Value, json};

const USAGE: &str = "\
usage: sweep [--tasks a,b,c|all|scm:N] [--seeds 0..20] [--rounds 100] [--strategy mcbo|random] [--preset default|paper]
             [--beta B] [--label L] [--threads N] [--out FILE.jsonl] [--compare OTHER.jsonl] [--quiet]

Task names may be joined by commas; `all` means the paper's ten, `scm:N` the first N random models of each kind.
--out appends one line per run; --compare pairs every run with the last line of OTHER of the same task and seed.";

/// The numbers of a run that are compared, as they are reported.
const METRICS: [&str; 3] = ["average", "chosen", "best"];

struct Options {
    tasks: Vec<String>,
    seeds: Range<u64>,
    rounds: usize,
    strategy: Box<dyn Strategy>,
    label: String,
    threads: usize,
    out: Option<String>,
    compare: Option<String>,
    quiet: bool,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let name = name.strip_prefix("--").ok_or(USAGE)?.to_owned();
        if name == "help" {
            return Err(USAGE.into());
        }
        let value = if name == "quiet" { String::new() } else { arguments.next().ok_or(USAGE)? };
        given.insert(name, value);
    }
    let mut take = |name: &str, default: &str| given.remove(name).unwrap_or_else(|| default.to_owned());
    let mut tasks = Vec::new();
    for name in take("tasks", "all").split(',') {
        match name.strip_prefix("scm:") {
            Some(count) => {
                for k in 0..count.parse::<u32>()? {
                    tasks.extend(["soft", "hard", "mixed"].map(|kind| format!("scm-{kind}-{k}")));
                }
            }
            None if name == "all" => tasks.extend(Task::names().map(str::to_owned)),
            None => tasks.push(name.to_owned()),
        }
    }
    let seeds = take("seeds", "0..20");
    let seeds = match seeds.split_once("..") {
        Some((from, to)) => from.parse()?..to.parse()?,
        None => 0..seeds.parse()?,
    };
    let rounds = take("rounds", "100").parse()?;
    let preset = take("preset", "default");
    let mut mcbo = match preset.as_str() {
        "default" => Mcbo::default(),
        "paper" => Mcbo::paper(),
        _ => return Err(USAGE.into()),
    };
    let beta = take("beta", "");
    if !beta.is_empty() {
        mcbo = mcbo.with_beta(beta.parse()?);
    }
    let strategy: Box<dyn Strategy> = match take("strategy", "mcbo").as_str() {
        "mcbo" => Box::new(mcbo),
        "random" => Box::new(Random),
        _ => return Err(USAGE.into()),
    };
    let default_label = format!("{} {preset} {beta}", strategy.name());
    let options = Options {
        tasks,
        seeds,
        rounds,
        strategy,
        label: take("label", default_label.trim_end()),
        threads: take("threads", &std::thread::available_parallelism().map_or(1, usize::from).to_string())
            .parse()?,
        out: given.remove("out"),
        compare: given.remove("compare"),
        quiet: given.remove("quiet").is_some(),
    };
    if given.is_empty() { Ok(options) } else { Err(USAGE.into()) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let tasks = options.tasks.iter().map(|name| Task::named(name)).collect::<Result<Vec<_>, _>>()?;
    let others = options.compare.as_deref().map(read).transpose()?;
    let mut out = match &options.out {
        Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
        None => None,
    };
    let mut jobs = Vec::new();
    for task in &tasks {
        for seed in options.seeds.clone() {
            jobs.push(Job { task, strategy: &*options.strategy, seed, rounds: options.rounds });
        }
    }
    println!(
        "{:<26} {:>22} {:>22} {:>22} {:>10}  {}",
        "task", "average (with design)", "chosen (rounds 1..T)", "best", "s/suggest", options.label
    );
    let per_task = options.seeds.end.saturating_sub(options.seeds.start) as usize;
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); tasks.len()];
    let mut failure = None;
    run_all(&jobs, options.threads, |place, result| {
        let at = place / per_task;
        let row = match result {
            Ok(run) => row(&tasks[at], &options.label, &run),
            Err(error) => {
                eprintln!("{error}");
                failure = Some(error);
                return;
            }
        };
        if !options.quiet {
            eprintln!("{} seed {}: average {}", row["task"], row["seed"], row["average"]);
        }
        if let Some(file) = &mut out
            && let Err(error) = writeln!(file, "{row}")
        {
            eprintln!("cannot write: {error}");
        }
        results[at].push(row);
        if results[at].len() == per_task {
            report(tasks[at].name(), &results[at], others.as_ref());
        }
    });
    // Rewards of random models are on one scale, 0 as good as random and 1 the best, and can be pooled.
    let pooled: Vec<Value> = tasks
        .iter()
        .zip(results)
        .filter(|(task, _)| !task.optimum_is_known())
        .flat_map(|(_, rows)| rows)
        .collect();
    if pooled.len() > per_task {
        report("all random models", &pooled, others.as_ref());
    }
    failure.map_or(Ok(()), |error| Err(error.into()))
}

fn row(task: &Task, label: &str, run: &RunResult) -> Value {
    let mut seconds: Vec<f64> = run.rounds.iter().map(|round| round.suggest_seconds).collect();
    seconds.sort_by(f64::total_cmp);
    json!({
        "label": label,
        "task": run.task,
        "strategy": run.strategy,
        "seed": run.seed,
        "rounds": run.rounds.len(),
        "average": task.reported(run.average_reward()),
        "chosen": task.reported(run.chosen_average()),
        "best": task.reported(run.best_reward()),
        "suggest_seconds": seconds.get(seconds.len() / 2),
        "expected_rewards": run.rounds.iter().map(|r| task.reported(r.expected_reward)).collect::<Vec<_>>(),
    })
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or(f64::NAN)
}

/// Mean, and the standard error of it.
fn summary(values: &[f64]) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let digits = if mean.abs() >= 100.0 { 2 } else { 4 };
    format!("{mean:.digits$} ± {:.digits$}", (variance / n).sqrt())
}

fn report(name: &str, rows: &[Value], others: Option<&BTreeMap<(String, u64), Value>>) {
    let [average, chosen, best] =
        METRICS.map(|key| summary(&rows.iter().map(|row| number(row, key)).collect::<Vec<_>>()));
    let mut seconds: Vec<f64> = rows.iter().map(|row| number(row, "suggest_seconds")).collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    println!("{:<26} {average:>22} {chosen:>22} {best:>22} {median:>10.4}", name);
    let Some(others) = others else { return };
    let mut pairs: [Vec<f64>; 3] = Default::default();
    let mut label = None;
    for row in rows {
        let task = row["task"].as_str().unwrap_or_default().to_owned();
        let seed = row["seed"].as_u64().unwrap_or_default();
        if let Some(other) = others.get(&(task, seed)) {
            label = other["label"].as_str();
            for (differences, key) in pairs.iter_mut().zip(METRICS) {
                differences.push(number(row, key) - number(other, key));
            }
        }
    }
    if pairs[0].is_empty() {
        println!("{:<26} nothing to compare with", "");
        return;
    }
    let [average, chosen, best] = pairs.each_ref().map(|differences| summary(differences));
    let (count, label) = (pairs[0].len(), label.unwrap_or("?"));
    println!(
        "{:>26} {average:>22} {chosen:>22} {best:>22} {:>10}  minus {label} ({count} pairs)",
        "difference", ""
    );
}

fn read(path: &str) -> Result<BTreeMap<(String, u64), Value>, Box<dyn Error>> {
    let mut rows = BTreeMap::new();
    for line in fs::read_to_string(path)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        if let (Some(task), Some(seed)) = (row["task"].as_str(), row["seed"].as_u64()) {
            rows.insert((task.to_owned(), seed), row);
        }
    }
    Ok(rows)
}
