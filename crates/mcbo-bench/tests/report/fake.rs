//! Runs that look like real ones and take no time: each method climbs towards the optimum in its own way.

use mcbo_bench::{Recommended, Round, RunResult, Task, applies};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A run from the expected rewards of its initial design and rounds.
pub fn run(task: &Task, method: &str, seed: u64, initial: &[f64], rewards: &[f64]) -> RunResult {
    let intervention = task.problem().neutral_intervention();
    let mut all = initial.to_vec();
    let mut rounds = Vec::new();
    for (place, &reward) in rewards.iter().enumerate() {
        all.push(reward);
        rounds.push(Round {
            round: place + 1,
            intervention: intervention.clone(),
            expected_reward: reward,
            average_reward: all.iter().sum::<f64>() / all.len() as f64,
            best_reward: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            beta: None,
            suggest_seconds: 0.001 * (seed + 1) as f64,
            cost: None,
            given: Default::default(),
        });
    }
    let best = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    RunResult {
        task: task.name().into(),
        method: method.into(),
        strategy: method.split('-').next().unwrap_or(method).into(),
        seed,
        initial: initial.to_vec(),
        rounds,
        recommended: Recommended { intervention, expected_reward: best, seconds: 0.0, limits: Vec::new() },
        data: Default::default(),
    }
}

/// The mean of random interventions, for tasks whose rewards keep their units.
fn random_mean(task: &str, optimum: f64) -> f64 {
    match task.trim_end_matches("-noisy") {
        "rosenbrock" => -1822.0,
        "alpine2" => 0.0,
        "ackley" => -5.72,
        "toygraph" => 0.72,
        "psagraph" => -5.8,
        _ => 0.13 * optimum,
    }
}

/// How much of the way a method gets, how fast, and how long it thinks.
fn character(method: &str) -> (f64, f64, f64) {
    match method {
        "mcbo" => (0.97, 6.0, 0.05),
        "mcbo-paper-0.05" => (0.80, 8.0, 0.02),
        "mcbo-paper-0.5" => (0.93, 8.0, 0.02),
        "mcbo-paper-5" => (0.85, 30.0, 0.02),
        "eifn-paper" => (0.85, 14.0, 0.08),
        "ucb-paper-0.05" => (0.60, 12.0, 0.006),
        "ucb-paper-0.5" => (0.70, 16.0, 0.006),
        "ucb-paper-5" => (0.65, 40.0, 0.006),
        "ei-paper" => (0.62, 18.0, 0.005),
        "cbo-paper" => (0.75, 10.0, 0.004),
        "cbo-noisy-paper" => (0.60, 14.0, 0.004),
        "random" | "observe" => (0.0, 1.0, 1e-6),
        _ => (0.5, 20.0, 0.03),
    }
}

/// Runs of all methods on all tasks that they can do anything on.
pub fn comparison(tasks: &[&str], methods: &[String], seeds: u64, rounds: usize) -> Vec<RunResult> {
    let mut runs = Vec::new();
    for (number, name) in tasks.iter().enumerate() {
        let task = Task::named(name).unwrap();
        let optimum = task.optimum();
        let low = random_mean(name, optimum);
        for (place, method) in methods.iter().enumerate().filter(|(_, m)| applies(m, task.problem())) {
            for seed in 0..seeds {
                // The same initial design for all methods.
                let mut design = ChaCha8Rng::seed_from_u64(1000 * number as u64 + seed);
                let spread = 0.25 * (optimum - low);
                let draw = |rng: &mut ChaCha8Rng| {
                    (low + spread * (rng.random::<f64>() + rng.random::<f64>() - 1.0) * 2.0).min(optimum)
                };
                let initial: Vec<f64> = (0..9).map(|_| draw(&mut design)).collect();
                let mut rng =
                    ChaCha8Rng::seed_from_u64(777 * number as u64 + 31 * seed + 7919 * place as u64);
                let (reach, time, seconds) = character(method);
                // Not every method is as good everywhere.
                let reach = reach * (1.0 - 0.25 * ((number * 7 + place * 5) % 11) as f64 / 11.0);
                // Some runs get stuck.
                let reach = reach * (1.0 - 0.7 * rng.random::<f64>().powi(4));
                // Anything but random is far better than random here.
                let (reach, time) = match name.starts_with("rosenbrock") && reach > 0.0 {
                    true => (1.0 - 0.2 * (1.0 - reach), 0.2 * time),
                    false => (reach, time),
                };
                let rewards: Vec<f64> = (1..=rounds)
                    .map(|round| {
                        let climbed = reach * (1.0 - (-(round as f64) / time).exp());
                        let aimed = low + climbed.min(1.0) * (optimum - low);
                        (aimed + 0.3 * (1.0 - climbed) * (draw(&mut rng) - low)).min(optimum)
                    })
                    .collect();
                let mut run = run(&task, method, seed, &initial, &rewards);
                for round in &mut run.rounds {
                    let size = task.problem().nodes().len() as f64;
                    round.suggest_seconds = seconds * size * (0.8 + 0.4 * rng.random::<f64>());
                }
                runs.push(run);
            }
        }
    }
    runs
}
