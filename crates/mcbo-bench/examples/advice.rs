//! Which recommendation is better, and whether the certificate keeps its word, on the paper's tasks.
//!
//! `cargo run --release -p mcbo-bench --example advice -- 20 100 > advice.csv`: seeds and rounds. Every line is one run of
//! the default strategy at one round: what the recommendations fall short of the optimum by, and the certified gaps.

use mcbo_bench::{Method, PAPER_TASKS, Task, run};
use mcbo_core::{Context, Criterion, Data, Mcbo, Memory, Preset, StrategyName};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Rounds after which advice is asked for, and widths of the band.
const ROUNDS: [usize; 3] = [10, 30, 100];
const WIDTHS: [f64; 2] = [2.0, 3.0];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let (seeds, rounds) = (arguments.next().unwrap_or(20), arguments.next().unwrap_or(100));
    println!("task,seed,round,mean_regret,lower_regret,mean_ms,lower_ms,gap2,gap3,certify_ms");
    let jobs: Vec<(&str, u64)> =
        (0..seeds).flat_map(|seed| PAPER_TASKS.iter().map(move |task| (*task, seed))).collect();
    jobs.into_par_iter().for_each(|(name, seed)| one(name, seed, rounds as usize));
}

fn one(name: &str, seed: u64, rounds: usize) {
    let task = Task::named(name).expect("a task");
    let method = Method::new(StrategyName::Mcbo, Preset::Default, None);
    let result = run(&task, method.build().as_ref(), seed, rounds).expect("a run");
    let optimum = task.optimum();
    let (problem, mcbo) = (task.problem(), Mcbo::default());
    let initial = result.data.len() - rounds;
    for &round in ROUNDS.iter().filter(|&&round| round <= rounds) {
        let mut data = Data::new();
        for observation in &result.data.observations()[..initial + round] {
            data.push(problem, observation.clone()).expect("it was taken before");
        }
        let memory = Memory::default();
        let context = Context::new(problem, &data, &memory);
        let advise = |criterion: Criterion| {
            let start = std::time::Instant::now();
            let advice =
                mcbo.recommend(&context, criterion, &mut ChaCha8Rng::seed_from_u64(seed)).expect("a fit");
            let regret = optimum - task.expected_reward(&advice.intervention);
            (advice, regret, start.elapsed().as_secs_f64() * 1e3)
        };
        let (mean, lower) = (advise(Criterion::Mean), advise(Criterion::Lower));
        let start = std::time::Instant::now();
        let gaps = WIDTHS
            .map(|width| mcbo.certify(&context, &mean.0.network, &mean.0.intervention, width, seed).gap());
        let certify = start.elapsed().as_secs_f64() * 1e3 / WIDTHS.len() as f64;
        println!(
            "{name},{seed},{round},{},{},{:.1},{:.1},{},{},{certify:.1}",
            mean.1, lower.1, mean.2, lower.2, gaps[0], gaps[1]
        );
    }
}
