//! Comparisons: a grid of runs, the paper's grid, and the report of either.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use mcbo_bench::report::{self, About};
use mcbo_bench::{
    EXTRA_TASKS, Entrant, Estimate, Job, Method, Metric, PAPER_TASKS, Results, RunResult, Shard, Task,
    applies, jobs, merge, paper_methods,
};

use super::folder::{Call, Folder};
use super::sweep::{Outcome, bar, sweep};
use super::task;
use crate::cli::{BenchDiff, BenchPaper, BenchReport, BenchRun, Contender, Suite, Width};
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::number::{plain as short, rough};
use crate::table::{self, Align, Table};
use crate::{describe, strategies};

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// `mcbo bench run`.
pub fn run(arguments: &BenchRun) -> Result<ExitCode> {
    let tasks = tasks(&arguments.task)?;
    let entrants = entrants(arguments);
    for entrant in &entrants {
        if !tasks.iter().any(|task| applies(&entrant.name, task.problem())) {
            return Err(BadInput::new(
                format!("{} can do nothing on these tasks", entrant.name),
                "it needs a task whose nodes can be set, such as toygraph or psagraph",
            )
            .into());
        }
    }
    let seeds = arguments.seeds.clone();
    let jobs = jobs(&tasks, &entrants, seeds, arguments.rounds, arguments.shard.unwrap_or_default());
    let mut console = Console::new(arguments.quiet);
    if !arguments.quiet && !arguments.json {
        console = console.around(bar());
    }
    let folder = arguments.out.clone().map(Folder);
    if let Some(folder) = &folder {
        folder.note_call()?;
        for file in own_files(&arguments.task) {
            folder.keep_task(task(file)?.name(), file)?;
        }
    }
    let archive = folder.as_ref().map(Folder::archive);
    let threads = arguments.threads.unwrap_or_else(all_cores);
    let write = |job: &Job<'_>, run: &RunResult| {
        if arguments.json {
            write_lines(job.task, run)?
        }
        Ok(())
    };
    let outcome = sweep(&jobs, archive.as_ref(), threads, &console, write)?;
    if !arguments.json {
        let runs = outcome.runs.into_iter().flatten().collect();
        summary(&Results::with(runs, |name| find(&arguments.task, name))?)?;
    }
    Ok(if outcome.interrupted { ExitCode::INTERRUPTED } else { ExitCode::SUCCESS })
}

/// Names that are files of one's own.
fn own_files(names: &[String]) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| name.ends_with(".toml"))
}

/// The task of that name among those that were asked for.
fn find(asked: &[String], name: &str) -> Result<Task> {
    for file in own_files(asked) {
        let own = task(file)?;
        if own.name() == name {
            return Ok(own);
        }
    }
    task(name)
}

/// The tasks by name, each once; `paper`, `extra` and `kinds` are suites.
fn tasks(names: &[String]) -> Result<Vec<Task>> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        match name.as_str() {
            "paper" => all.extend(PAPER_TASKS),
            "extra" => all.extend(EXTRA_TASKS),
            "kinds" => Task::kinds().for_each(|one| all.push(one)),
            one => all.push(one),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    all.into_iter().filter(|name| seen.insert(*name)).map(task).collect()
}

fn entrants(arguments: &BenchRun) -> Vec<Entrant> {
    let mut methods = Vec::new();
    for &Contender { name, measured } in &arguments.strategy {
        let given = arguments.beta.iter().copied().map(Some);
        let widths: Vec<Option<Width>> = if arguments.beta.is_empty() { vec![None] } else { given.collect() };
        for beta in widths {
            let method = Method::from(strategies::settings(name, arguments.preset, beta, arguments.aim));
            let method = if measured { method.measured() } else { method };
            // A strategy without a band is the same for all widths.
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
    }
    methods.into_iter().map(Entrant::from).collect()
}

fn write_lines(task: &Task, result: &RunResult) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in result.lines(task) {
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    }
    out.flush()
}

/// Mean and standard error over the seeds of every task and method.
fn summary(results: &Results) -> Result<()> {
    let mut table = Table::new([
        ("task", Align::Left),
        ("method", Align::Left),
        ("average reward", Align::Right),
        ("rounds 1..T", Align::Right),
        ("best reward", Align::Right),
        ("recommended regret", Align::Right),
        ("ms a round", Align::Right),
    ]);
    for task in results.tasks() {
        for method in results.methods() {
            let figure = |metric: Metric| {
                let estimate = results.estimate(task, method, metric);
                match estimate {
                    Some(one) if one.count == 1 => short(one.mean),
                    Some(e) => format!("{} ± {}", short(e.mean), rough(e.error)),
                    None => String::new(),
                }
            };
            let Some(seconds) = results.estimate(task, method, Metric::Seconds) else { continue };
            table.row([
                task.name().to_owned(),
                method.clone(),
                figure(Metric::Average),
                figure(Metric::Chosen),
                figure(Metric::Best),
                figure(Metric::RecommendedRegret),
                rough(1e3 * seconds.mean),
            ]);
        }
    }
    let mut out = anstream::stdout().lock();
    table.write(&mut out, table::width())?;
    writeln!(
        out,
        "\nMean ± standard error over the seeds. The average includes the initial design. The regret is\nof what the method would settle for after the last round."
    )?;
    Ok(())
}

/// `mcbo bench paper`.
pub fn paper(arguments: &BenchPaper) -> Result<ExitCode> {
    let (names, suite): (&[&str], _) = match arguments.suite {
        Suite::Paper => (&PAPER_TASKS, "paper"),
        Suite::Extra => (&EXTRA_TASKS, "extra"),
    };
    let (usual_seeds, usual_rounds, suffix) =
        if arguments.quick { (0..5, 30, "-quick") } else { (0..20, 100, "") };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("mcbo-{suite}{suffix}")));
    let folder = Folder(out);
    let tasks = names.iter().map(|name| task(name)).collect::<Result<Vec<_>, _>>()?;
    let entrants: Vec<Entrant> = paper_methods().into_iter().map(Entrant::from).collect();
    let seeds = arguments.seeds.clone().unwrap_or(usual_seeds);
    let rounds = arguments.rounds.unwrap_or(usual_rounds);
    let whole = jobs(&tasks, &entrants, seeds.clone(), rounds, Shard::default());
    let part = jobs(&tasks, &entrants, seeds, rounds, arguments.shard.unwrap_or_default());
    let console = Console::new(arguments.quiet);
    let console = if arguments.quiet { console } else { console.around(bar()) };
    folder.note_call()?;
    let archive = folder.archive();
    let threads = arguments.threads.unwrap_or_else(all_cores);
    let Outcome { interrupted, .. } = sweep(&part, Some(&archive), threads, &console, |_, _| Ok(()))?;
    if interrupted {
        console.note("the same command goes on from here");
        return Ok(ExitCode::INTERRUPTED);
    }
    let left = whole.iter().filter(|job| !archive.has(job)).count();
    if left > 0 {
        let left = describe::count(left, "run");
        console.note(&format!(
            "this part is done, {left} of other parts are not in {folder} yet; `mcbo bench report` joins all parts",
            folder = folder.0.display()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    make_report(std::slice::from_ref(&folder), &folder.0, &console)
}

/// `mcbo bench report`.
pub fn report_of(arguments: &BenchReport) -> Result<ExitCode> {
    let folders: Vec<Folder> = arguments.folders.iter().cloned().map(Folder).collect();
    let out = arguments.out.clone().unwrap_or_else(|| arguments.folders[0].clone());
    make_report(&folders, &out, &Console::new(arguments.quiet))
}

/// A task by its name, or one's own whose file is kept in one of the folders.
fn task_in(folders: &[Folder], name: &str) -> Result<Task> {
    let kept = folders.iter().map(|folder| folder.task_file(name)).find(|file| file.is_file());
    kept.map_or_else(|| task(name), |file| task(&file.display().to_string()))
}

/// Whether there is anything in the folders.
fn check(folders: &[Folder]) -> Result<(), BadInput> {
    match folders.iter().find(|Folder(folder)| !folder.join("runs").is_dir()) {
        None => Ok(()),
        Some(Folder(folder)) => Err(BadInput::new(
            format!("{} has no runs", folder.display()),
            "name a folder that `mcbo bench paper` or `mcbo bench run --out` wrote",
        )),
    }
}

/// Writes the report of the runs in some folders, and says where it is and what is in it.
fn make_report(folders: &[Folder], out: &Path, console: &Console) -> Result<ExitCode> {
    check(folders)?;
    let archives: Vec<_> = folders.iter().map(Folder::archive).collect();
    let results = Results::with(merge(&archives)?, |name| task_in(folders, name))?;
    let mut calls: Vec<Call> = folders.iter().flat_map(Folder::calls).collect();
    calls.dedup();
    let each = |field: fn(&Call) -> &String| {
        let mut seen: Vec<String> = Vec::new();
        for call in &calls {
            if !seen.contains(field(call)) {
                seen.push(field(call).clone());
            }
        }
        seen
    };
    let about = About {
        title: "Model-based causal Bayesian optimisation: a comparison".into(),
        command: each(|call| &call.command).join("\n"),
        version: each(|call| &call.version).join(", "),
        machine: each(|call| &call.machine),
        date: each(|call| &call.date).join(", "),
        notes: Vec::new(),
    };
    let written = report::write(&results, &about, out)?;
    summary(&results)?;
    console.note(&format!("{}, with figures and CSV beside it", written.report.display()));
    Ok(ExitCode::SUCCESS)
}

/// `mcbo bench diff`.
pub fn diff(arguments: &BenchDiff) -> Result<ExitCode> {
    let read = |folder: &PathBuf| {
        let folder = [Folder(folder.clone())];
        check(&folder)?;
        Results::with(folder[0].archive().runs()?, |name| task_in(&folder, name))
    };
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let mut table = Table::new([
        ("task", Align::Left),
        ("method", Align::Left),
        ("average before", Align::Right),
        ("after", Align::Right),
        ("difference", Align::Right),
        ("of the best", Align::Right),
        ("ms", Align::Right),
        ("seeds", Align::Right),
    ]);
    for task in after.tasks() {
        for method in after.methods() {
            let old = before.runs(task, method);
            let pairs: Vec<(&RunResult, &RunResult)> = after
                .runs(task, method)
                .iter()
                .filter_map(|new| Some((old.iter().find(|old| old.seed == new.seed)?, new)))
                .filter(|(old, new)| old.rounds.len() == new.rounds.len())
                .collect();
            let mean =
                |figure: &dyn Fn(&(&RunResult, &RunResult)) -> f64| Estimate::of(pairs.iter().map(figure));
            let value = |run: &RunResult, metric: Metric| after.value(task, run, metric);
            let difference = |metric: Metric| {
                let estimate = mean(&|(old, new)| value(new, metric) - value(old, metric));
                estimate.map(|e| format!("{} ± {}", rough(e.mean), rough(e.error))).unwrap_or_default()
            };
            let (Some(old), Some(new)) = (
                mean(&|(old, _)| value(old, Metric::Average)),
                mean(&|(_, new)| value(new, Metric::Average)),
            ) else {
                continue;
            };
            let ms = |new: bool| {
                mean(&|pair| 1e3 * value(if new { pair.1 } else { pair.0 }, Metric::Seconds))
                    .map(|estimate| rough(estimate.mean))
                    .unwrap_or_default()
            };
            table.row([
                task.name().to_owned(),
                method.clone(),
                short(old.mean),
                short(new.mean),
                difference(Metric::Average),
                difference(Metric::Best),
                format!("{} → {}", ms(false), ms(true)),
                pairs.len().to_string(),
            ]);
        }
    }
    table.write(&mut anstream::stdout().lock(), table::width())?;
    Ok(ExitCode::SUCCESS)
}
