//! The theorem's bound beside the regret that is measured, on the paper's noisy settings.
//!
//! `cargo run --release -p mcbo-bench --example theory -- 3 100`: seeds and rounds. The bound is
//! `β_T^N K^N m √(T γ_T)` with its Lipschitz constants taken as 1 and the reward in its standard deviations: the least that the
//! theorem can say. `β_T` is what `--beta theory` uses after the last round, `γ_T` the information gain of the rows.

use mcbo_bench::{Method, Task, run};
use mcbo_core::{Data, ModelSettings, Network, Problem};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const TASKS: [&str; 5] = ["toygraph", "psagraph", "dropwave-noisy", "alpine2-noisy", "rosenbrock-noisy"];
const METHODS: [&str; 3] = ["mcbo", "mcbo-theory", "random"];

/// The longest path to the reward, the most parents of a node, and the number of nodes.
fn shape(problem: &Problem) -> (usize, usize, usize) {
    let nodes = problem.nodes();
    let mut depth = vec![0; nodes.len()];
    for &node in problem.graph().order() {
        depth[node] = nodes[node].parents.iter().map(|&parent| depth[parent] + 1).max().unwrap_or(0);
    }
    let most = nodes.iter().map(|node| node.parents.len()).max().unwrap_or(0);
    (depth[problem.reward()], most.max(1), nodes.len())
}

/// What the bound is made of, beside the shape of the graph.
struct Constants {
    /// `β_T`.
    beta: f64,
    /// `γ_T`.
    gain: f64,
    /// The standard deviation of the measured rewards.
    scale: f64,
}

fn constants(problem: &Problem, data: &Data) -> Constants {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let network =
        Network::fit(problem, data, &Default::default(), &ModelSettings::default(), rng).expect("a fit");
    let rewards: Vec<f64> = data.rewards(problem).map(|(_, reward)| reward).collect();
    let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
    let variance = rewards.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / rewards.len() as f64;
    let gain = network.information_gains().into_iter().fold(0.0, f64::max);
    Constants { beta: network.theoretical_width(), gain, scale: variance.sqrt() }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let (seeds, rounds) = (arguments.next().unwrap_or(3), arguments.next().unwrap_or(100));
    println!(
        "| setting | N | K | m | β_T | γ_T | bound | {} |",
        METHODS.map(|m| format!("regret of {m}")).join(" | ")
    );
    println!("|---|---|---|---|---|---|---|{}", "---|".repeat(METHODS.len()));
    for name in TASKS {
        let task = Task::named(name).expect("a task of the paper");
        let jobs: Vec<(&str, u64)> =
            METHODS.iter().flat_map(|&method| (0..seeds as u64).map(move |seed| (method, seed))).collect();
        let runs: Vec<(f64, Option<Constants>)> = jobs
            .par_iter()
            .map(|(method, seed)| {
                let strategy = method.parse::<Method>().expect("a method").build();
                let result = run(&task, strategy.as_ref(), *seed, rounds).expect("a run");
                let regret = result.rounds.iter().map(|round| task.optimum() - round.expected_reward).sum();
                (regret, (*method == "mcbo-theory").then(|| constants(task.problem(), &result.data)))
            })
            .collect();
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let found: Vec<&Constants> = runs.iter().filter_map(|(_, constants)| constants.as_ref()).collect();
        let beta = mean(found.iter().map(|one| one.beta).collect());
        let gain = mean(found.iter().map(|one| one.gain).collect());
        let scale = mean(found.iter().map(|one| one.scale).collect());
        let (n, k, m) = shape(task.problem());
        let bound = scale
            * beta.powi(n as i32)
            * (k as f64).powi(n as i32)
            * m as f64
            * (rounds as f64 * gain).sqrt();
        let regrets: Vec<String> = runs
            .chunks(seeds)
            .map(|runs| format!("{:.3}", mean(runs.iter().map(|(regret, _)| *regret).collect())))
            .collect();
        println!(
            "| {name} | {n} | {k} | {m} | {beta:.1} | {gain:.0} | {bound:.1e} | {} |",
            regrets.join(" | ")
        );
    }
}
