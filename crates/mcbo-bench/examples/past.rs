//! A study that begins from past rows: does it matter how it was told of them, or that it forgets?
//!
//! `cargo run --release -p mcbo-bench --example past -- 10 mcbo,mcbo-paper,ucb 3`: seeds, methods and how many of the ways. A
//! bioreactor with noise that has to be learned; 40 past rows around habitual settings with 12 % of the values missing, then 25
//! trials. Each seed runs up to three ways that differ in nothing but what the strategy remembers: all rows at once; the same with the
//! study made anew from its rows before every trial; and row by row, a suggestion computed after each as if the study had run along.

use std::sync::Arc;

use mcbo_bench::{Design, Method, Task};
use mcbo_core::{Context, Intervention, Memory, Observation, Problem, Proposal, Strategy, Study};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const PROBLEM: &str = include_str!("../tasks/bioreactor.toml");
const PAST: Design = Design::Past { rows: 40, missing: 0.12 };
const TRIALS: usize = 25;
/// Experiments behind a true value, always with the same noise.
const SAMPLES: usize = 4000;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    AtOnce,
    Anew,
    OneByOne,
}

const WAYS: [(Way, &str); 3] =
    [(Way::AtOnce, "at once"), (Way::Anew, "made anew"), (Way::OneByOne, "row by row")];

/// What came out of one study.
#[derive(Clone, Copy)]
struct Outcome {
    /// The true value of what is recommended in the end.
    recommended: f64,
    /// The mean true value of the trials.
    trials: f64,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(10, |text| text.parse::<u64>().expect("a number of seeds"));
    let names = arguments.next().unwrap_or_else(|| "mcbo,mcbo-paper,ucb".into());
    let ways = arguments.next().map_or(WAYS.len(), |text| text.parse().expect("a number of ways"));
    let methods: Vec<Method> = names.split(',').map(|name| name.parse().expect("a method")).collect();
    let problem = Problem::from_toml(PROBLEM).expect("a problem");
    let task = Task::own("bioreactor", problem).expect("a task");
    let past = |seed: u64| task.rows(PAST, seed);
    let best_past =
        |seed: u64| past(seed).iter().map(|row| value(&task, &row.intervention)).fold(f64::MIN, f64::max);

    let mut jobs = Vec::new();
    for method in &methods {
        for &way in WAYS.iter().take(ways) {
            jobs.extend((0..seeds).map(|seed| (*method, way, seed)));
        }
    }
    let outcomes: Vec<Outcome> =
        jobs.par_iter().map(|(method, way, seed)| study(&task, method, way.0, *seed)).collect();
    println!("method,way,seed,best_past,trials,recommended,optimum");
    for ((method, (_, way), seed), outcome) in jobs.iter().zip(&outcomes) {
        let (best, optimum) = (best_past(*seed), task.optimum());
        let Outcome { recommended, trials } = outcome;
        println!("{method},{way},{seed},{best:.3},{trials:.3},{recommended:.3},{optimum:.3}");
    }
    println!("\nMeans and standard errors over {seeds} seeds; the optimum is {:.3}.", task.optimum());
    println!("{:<16} {:<11} {:>18} {:>18}", "method", "way", "trials", "recommended");
    for (jobs, outcomes) in jobs.chunks(seeds as usize).zip(outcomes.chunks(seeds as usize)) {
        let (method, (_, way), _) = &jobs[0];
        let figure = |part: fn(&Outcome) -> f64| {
            let (mean, error) = mean_and_error(&outcomes.iter().map(part).collect::<Vec<_>>());
            if error.is_nan() { format!("{mean:.3}") } else { format!("{mean:.3} ± {error:.3}") }
        };
        let (trials, recommended) = (figure(|one| one.trials), figure(|one| one.recommended));
        println!("{:<16} {way:<11} {trials:>18} {recommended:>18}", method.to_string());
    }
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// `E[Y | intervention]`, from fewer experiments than [`Task::expected_reward`] makes.
fn value(task: &Task, doing: &Intervention) -> f64 {
    let reward = task.problem().slot(task.problem().reward()).start;
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let total: f64 = (0..SAMPLES).map(|_| task.sample(doing, &mut rng)[reward]).sum();
    task.problem().sign() * total / SAMPLES as f64
}

fn study(task: &Task, method: &Method, way: Way, seed: u64) -> Outcome {
    let strategy: Arc<dyn Strategy> = Arc::from(method.build());
    let start = || Study::with_strategy(task.problem().clone(), strategy.clone(), seed);
    let mut study = start();
    for row in task.rows(PAST, seed) {
        if way == Way::OneByOne {
            // What would be suggested is computed, and something else was done.
            let mut ahead = study.clone();
            let mut suggestion = ahead.ask().expect("a suggestion").suggestion.clone();
            suggestion.intervention = row.intervention;
            let proposal = Proposal { suggestion, memory: ahead.memory().clone() };
            tell(&mut study, proposal, row.values);
        } else {
            study.add(row).expect("a row of the problem");
        }
    }
    let mut total = 0.0;
    for round in 0..TRIALS {
        if way == Way::Anew {
            study = again(start(), study.data().observations());
        }
        let trial = study.ask().expect("a suggestion");
        let (number, doing) = (trial.number, trial.suggestion.intervention.clone());
        total += value(task, &doing);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1 + round as u64);
        let values = task.sample(&doing, &mut rng).into_iter().map(Some).collect();
        study.tell(number, values).expect("values of the problem");
    }
    let recommended = value(task, &recommended(&study, strategy.as_ref(), way));
    Outcome { recommended, trials: total / TRIALS as f64 }
}

fn tell(study: &mut Study, proposal: Proposal, values: Vec<Option<f64>>) {
    let number = study.resume(proposal).expect("an intervention of the problem").number;
    study.tell(number, values).expect("values of the problem");
}

/// A study that has the rows and remembers nothing.
fn again(mut study: Study, rows: &[Observation]) -> Study {
    for row in rows {
        study.add(row.clone()).expect("a row of the problem");
    }
    study
}

/// What the strategy itself would settle for, by what it remembers.
fn recommended(study: &Study, strategy: &dyn Strategy, way: Way) -> Intervention {
    let memory = if way == Way::Anew { Memory::default() } else { study.memory().clone() };
    let (problem, data) = (study.problem(), study.data());
    let context = Context::new(problem, data, &memory);
    strategy.recommended(&context, &mut ChaCha8Rng::seed_from_u64(study.seed())).expect("a fit")
}
