//! Choices, limits, contexts and costs in figures.
//!
//! `cargo run --release -p mcbo-bench --example kinds -- 20 60 FOLDER [TASK…]`: seeds, rounds, and a folder of finished runs, to which
//! only those that are missing are added; with `MCBO_THREADS=2` two at a time. Tables on stdout are Markdown. Random models (`scm-choices-0`, `scm-limits-0`,
//! `scm-contexts-0`, `scm-costs-0` and so on) are run when they are asked for.
//!
//! How things are counted:
//!
//! - *share*: rewards on a scale where random interventions have 0 and the optimum 1.
//! - *reached*: a trial of the run, or what is recommended after it, has a share of 0.99 or more. On grids that is the true optimum and
//!   nothing else.
//! - *average*: of the rounds, without the initial design, which is the same for all.
//! - *earned*: the mean share of the rounds, 0 for those that do not keep the limits as probably as is wanted.
//! - *kept*: the share of 20,000 simulated trials of what is recommended that keep the limit is at least what is wanted.
//! - *of the knowing*: the rewards of all rounds above those of random interventions in the same contexts, divided by the same of
//!   somebody who knows the mechanisms and responds best to every context.
//! - *cost to come within 5 %*: what the rounds have cost up to the first whose expected reward falls short of the optimum by at most 5 % of
//!   it; all of the run's where none does.

use std::collections::BTreeMap;
use std::error::Error;

use mcbo_bench::{Archive, BenchError, Entrant, Job, Method, OneHot, RunResult, Stored, Task, run_all};
use mcbo_core::{Given, Intervention};

const CHOICES: [&str; 4] = ["ackley-mixed", "strains", "doses", "solvents"];
const LIMITS: [&str; 3] = ["toygraph-limit", "health-limit", "acetate"];
const CONTEXTS: [&str; 2] = ["molasses", "thermostat"];
const COSTS: [&str; 2] = ["psagraph-costs", "furnaces"];

/// A share this close to the optimum's has reached it.
const REACHED: f64 = 0.99;
/// What is this close to the optimum, relative to it, has come near it.
const NEAR: f64 = 0.05;

/// Whether a task is one of these, or a random model of the kind, which are run when they are asked for.
fn is_of(name: &str, tasks: &[&str], kind: &str) -> bool {
    tasks.contains(&name) || name.strip_prefix("scm-").is_some_and(|rest| rest.starts_with(kind))
}

fn is_of_choices(name: &str) -> bool {
    is_of(name, &CHOICES, "choices-")
}

fn is_of_limits(name: &str) -> bool {
    is_of(name, &LIMITS, "limits-")
}

fn is_of_contexts(name: &str) -> bool {
    is_of(name, &CONTEXTS, "contexts-")
}

fn is_of_costs(name: &str) -> bool {
    is_of(name, &COSTS, "costs-")
}

/// Whether a reward is near the optimum: within 5 % of it, of random models within 5 % of what there is to gain over random interventions.
fn is_near(task: &Task, reward: f64) -> bool {
    match task.is_relative() {
        true => task.reported(reward) >= 1.0 - NEAR,
        false => reward >= task.optimum() - NEAR * task.optimum().abs(),
    }
}

/// Whom a task is given to.
struct Line {
    task: Task,
    entrant: Entrant,
}

fn lines(name: &str) -> Result<Vec<Line>, Box<dyn Error>> {
    let task = || Task::named(name);
    let method = |method: &str| -> Result<Entrant, BenchError> { Ok(method.parse::<Method>()?.into()) };
    let mut lines = vec![Line { task: task()?, entrant: method("mcbo")? }];
    if is_of_choices(name) {
        let one_hot = OneHot::new(task()?.problem())?;
        lines.push(Line { task: task()?, entrant: Entrant::own("one-hot", Box::new(one_hot)) });
        lines.push(Line { task: task()?, entrant: method("random")? });
    }
    if is_of_limits(name) {
        lines.push(Line { task: task()?, entrant: method("mcbo-find")? });
    }
    if is_of_costs(name) {
        let blind = Entrant { name: "blind".into(), ..method("mcbo")? };
        lines.push(Line { task: task()?.blind_to_costs()?, entrant: blind });
    }
    Ok(lines)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (seeds, rounds) = (number(20)?, number(60)?);
    let archive = Archive::at(arguments.next().unwrap_or_else(|| "target/kinds".into()));
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        let all = [&CHOICES[..], &LIMITS, &CONTEXTS, &COSTS].concat();
        names = all.into_iter().map(str::to_owned).collect();
    }
    let threads = std::env::var("MCBO_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let lines: Vec<Line> =
        names.iter().map(|name| lines(name)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let jobs: Vec<Job<'_>> = (0..seeds as u64)
        .flat_map(|seed| lines.iter().map(move |Line { task, entrant }| Job { task, entrant, seed, rounds }))
        .collect();
    let missing: Vec<Job<'_>> = jobs.iter().filter(|job| !archive.has(job)).copied().collect();
    eprintln!("{} of {} runs are missing", missing.len(), jobs.len());
    run_all(&missing, threads, &|| false, |place, result| {
        let job = &missing[place];
        let saved = result
            .map_err(|error| error.to_string())
            .and_then(|result| archive.save(job, &result).map_err(|error| error.to_string()));
        match saved {
            Ok(()) => eprintln!("{} {} {}", job.task.name(), job.entrant.name, job.seed),
            Err(error) => eprintln!("error: {error}"),
        }
    });
    let mut runs: BTreeMap<(String, String), Vec<RunResult>> = BTreeMap::new();
    for job in &jobs {
        if let Stored::Run(run) = archive.find(job) {
            let key = (job.task.name().to_owned(), job.entrant.name.clone());
            runs.entry(key).or_default().push(*run);
        }
    }
    report(&names, &runs)
}

type Runs = BTreeMap<(String, String), Vec<RunResult>>;

fn report(names: &[String], runs: &Runs) -> Result<(), Box<dyn Error>> {
    let of = |task: &str, entrant: &str| {
        runs.get(&(task.to_owned(), entrant.to_owned())).map_or(&[][..], Vec::as_slice)
    };
    println!("| task | method | reached by a trial | by what is recommended | average | share | s a run |");
    println!("|---|---|---|---|---|---|---|");
    for name in names.iter().filter(|name| is_of_choices(name)) {
        let task = Task::named(name)?;
        let random = all_over(&task);
        let share = |reward: f64| (reward - random) / (task.optimum() - random);
        for entrant in ["mcbo", "one-hot", "random"] {
            let runs = of(name, entrant);
            let count = |reward: &dyn Fn(&RunResult) -> f64| {
                format!(
                    "{} of {}",
                    runs.iter().filter(|run| share(reward(run)) >= REACHED).count(),
                    runs.len()
                )
            };
            let averages: Vec<f64> = runs.iter().map(RunResult::chosen_average).collect();
            println!(
                "| {name} | {entrant} | {} | {} | {} | {:.2} | {:.1} |",
                count(&RunResult::best_reward),
                count(&|run| run.recommended.expected_reward),
                with_error(&averages),
                share(mean(&averages)),
                seconds(runs),
            );
        }
        paired(name, "mcbo", "one-hot", of(name, "mcbo"), of(name, "one-hot"));
    }
    println!(
        "\n| task | method | limit kept | least probable | within 5 % of the optimum | both | largest regret | share | earned | rounds that keep it | s a run |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for name in names.iter().filter(|name| is_of_limits(name)) {
        let task = Task::named(name)?;
        let (optimum, random) = (task.optimum(), all_over(&task));
        let share = |reward: f64| (reward - random) / (optimum - random);
        let wanted = |node: &str| {
            let node = task.problem().node_index(node).map(|node| &task.problem().nodes()[node]);
            node.and_then(|node| node.limit).map_or(1.0, |limit| limit.probability)
        };
        let kept = |run: &RunResult| run.recommended.limits.iter().all(|(node, p)| *p >= wanted(node));
        let near = |run: &RunResult| is_near(&task, run.recommended.expected_reward);
        for entrant in ["mcbo", "mcbo-find"] {
            let runs = of(name, entrant);
            let least = runs.iter().flat_map(|run| &run.recommended.limits).map(|(_, p)| *p);
            let regret = |run: &RunResult| optimum - run.recommended.expected_reward;
            let recommended: Vec<f64> =
                runs.iter().map(|run| share(run.recommended.expected_reward)).collect();
            let rounds = runs.iter().flat_map(|run| &run.rounds);
            let earned: Vec<Option<f64>> = rounds
                .map(|round| task.keeps_limits(&round.intervention).then(|| share(round.expected_reward)))
                .collect();
            let keeping: Vec<f64> = earned.iter().copied().flatten().collect();
            println!(
                "| {name} | {entrant} | {} of {} | {:.4} | {} | {} | {:.3} | {} | {:.3} | {:.2} | {:.1} |",
                runs.iter().filter(|run| kept(run)).count(),
                runs.len(),
                least.fold(1.0, f64::min),
                runs.iter().filter(|run| near(run)).count(),
                runs.iter().filter(|run| near(run) && kept(run)).count(),
                runs.iter().map(regret).fold(f64::NEG_INFINITY, f64::max),
                with_error(&recommended),
                keeping.iter().sum::<f64>() / earned.len() as f64,
                keeping.len() as f64 / earned.len() as f64,
                seconds(runs),
            );
        }
    }
    println!(
        "\n| task | average | of somebody who knows | of the knowing, random = 0 | worst run | s a run |"
    );
    println!("|---|---|---|---|---|---|");
    for name in names.iter().filter(|name| is_of_contexts(name)) {
        let (task, runs) = (Task::named(name)?, of(name, "mcbo"));
        let mut shares = Vec::new();
        let mut ideal = Vec::new();
        for run in runs {
            let offers: Vec<_> = run.rounds.iter().map(|round| task.offer(&round.given)).collect();
            let random: f64 = offers.iter().map(|offer| offer.random).sum();
            let best: f64 = offers.iter().map(|offer| offer.best).sum();
            let got: f64 = run.rounds.iter().map(|round| round.expected_reward).sum();
            shares.push((got - random) / (best - random));
            ideal.push(best / run.rounds.len() as f64);
        }
        let averages: Vec<f64> = runs.iter().map(RunResult::chosen_average).collect();
        println!(
            "| {name} | {} | {} | {} | {:.3} | {:.1} |",
            with_error(&averages),
            with_error(&ideal),
            with_error(&shares),
            shares.iter().copied().fold(f64::INFINITY, f64::min),
            seconds(runs),
        );
    }
    println!(
        "\n| task | method | cost to come within 5 % | of the blind one's | came there | average | cost of the run | s a run |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in names.iter().filter(|name| is_of_costs(name)) {
        let task = Task::named(name)?;
        let problem = task.problem();
        let cost = |done: &Intervention| problem.cost(done);
        let spent = |run: &RunResult| {
            let first = run.rounds.iter().position(|round| is_near(&task, round.expected_reward));
            let until = first.map_or(run.rounds.len(), |first| first + 1);
            let paid: f64 = run.rounds[..until].iter().map(|round| cost(&round.intervention)).sum();
            (paid, first.is_some())
        };
        let blind = mean(&of(name, "blind").iter().map(|run| spent(run).0).collect::<Vec<_>>());
        for entrant in ["mcbo", "blind"] {
            let runs = of(name, entrant);
            let paid: Vec<f64> = runs.iter().map(|run| spent(run).0).collect();
            let averages: Vec<f64> = runs.iter().map(RunResult::chosen_average).collect();
            let whole = runs.iter().map(|run| run.rounds.iter().map(|r| cost(&r.intervention)).sum::<f64>());
            println!(
                "| {name} | {entrant} | {} | {:.2} | {} of {} | {} | {} | {:.1} |",
                with_error(&paid),
                mean(&paid) / blind,
                runs.iter().filter(|run| spent(run).1).count(),
                runs.len(),
                with_error(&averages),
                with_error(&whole.collect::<Vec<_>>()),
                seconds(runs),
            );
        }
    }
    Ok(())
}

/// The mean expected reward of random interventions.
fn all_over(task: &Task) -> f64 {
    task.offer(&Given::default()).random
}

/// How much better one is than the other, seed by seed.
fn paired(name: &str, one: &str, other: &str, ours: &[RunResult], theirs: &[RunResult]) {
    let differences: Vec<f64> = ours
        .iter()
        .filter_map(|run| {
            let like = theirs.iter().find(|like| like.seed == run.seed)?;
            Some(run.chosen_average() - like.chosen_average())
        })
        .collect();
    println!("| {name} | {one} - {other} | | | {} | | |", with_error(&differences));
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn with_error(values: &[f64]) -> String {
    let (centre, count) = (mean(values), values.len() as f64);
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (count - 1.0);
    format!("{centre:.3} ± {:.3}", (variance / count).sqrt())
}

/// The mean over runs of the seconds that suggestions took.
fn seconds(runs: &[RunResult]) -> f64 {
    let of_run = |run: &RunResult| run.rounds.iter().map(|round| round.suggest_seconds).sum();
    mean(&runs.iter().map(of_run).collect::<Vec<f64>>())
}
