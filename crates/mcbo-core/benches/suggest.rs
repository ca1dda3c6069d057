//! Seconds per suggestion, refit included, split into fit, screening and climbing, and how they grow.
//!
//! `cargo bench -p mcbo-core` prints all tables; `-- quick` only the first, `-- large` adds the 50-node chain with 500 rows. One thread unless `--threads N`.

use std::sync::Mutex;
use std::time::Instant;

use mcbo_core::{
    Context, Data, Exploration, Luck, Mcbo, Memory, Noise, Observation, Problem, SearchPhase, design_point,
    enumerate,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A chain `x0 -> x1 -> …` with one action per node.
fn chain(nodes: usize, noise: Noise) -> Problem {
    let mut builder = Problem::builder("chain");
    for i in 0..nodes {
        builder = builder.action(format!("a{i}"), [0.0, 1.0]);
    }
    for i in 0..nodes {
        builder = builder.node(format!("x{i}"), |n| {
            let n = n.actions([format!("a{i}")]).noise(noise);
            if i == 0 { n } else { n.parents([format!("x{}", i - 1)]) }
        });
    }
    builder.maximize(format!("x{}", nodes - 1)).build().expect("a problem")
}

/// Two actions into one node, which alone feeds the reward.
fn dropwave() -> Problem {
    Problem::builder("dropwave")
        .action("a0", [0.0, 1.0])
        .action("a1", [0.0, 1.0])
        .node("x", |n| n.actions(["a0", "a1"]).noise(Noise::None))
        .node("y", |n| n.parents(["x"]).noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem")
}

/// Three nodes in a chain of which the first `settable` can be set.
fn hard(nodes: usize, settable: usize) -> Problem {
    let mut builder = Problem::builder("hard");
    for i in 0..nodes {
        builder = builder.node(format!("x{i}"), |n| {
            let n = n.noise(Noise::Gaussian(0.3));
            let n = if i < settable { n.hard([-2.0, 2.0]) } else { n };
            if i + 1 == nodes { n.parents((0..i).map(|p| format!("x{p}"))) } else { n }
        });
    }
    builder.maximize(format!("x{}", nodes - 1)).build().expect("a problem")
}

fn toygraph() -> Problem {
    Problem::builder("toygraph")
        .node("x0", |n| n.hard([-5.0, 5.0]).noise(Noise::Gaussian(1.0)))
        .node("x1", |n| n.parents(["x0"]).hard([-5.0, 20.0]).noise(Noise::Gaussian(1.0)))
        .node("y", |n| n.parents(["x1"]).noise(Noise::Gaussian(1.0)))
        .maximize("y")
        .build()
        .expect("a problem")
}

fn data(problem: &Problem, rows: usize) -> Data {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut data = Data::new();
    for index in 0..rows {
        let intervention = design_point(problem, index, 3);
        let mut values = vec![0.0; problem.slots()];
        let mut inputs = Vec::new();
        for &node in problem.graph().order() {
            let at = problem.slot(node).start;
            if let Some(set) = intervention.target(node) {
                values[at] = set[0];
                continue;
            }
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            let noise = match problem.nodes()[node].noise {
                Noise::Gaussian(s) => s * 1.7 * (rng.random::<f64>() - 0.5),
                _ => 0.0,
            };
            values[at] =
                inputs.iter().enumerate().map(|(k, x)| (x * (2.0 + k as f64)).sin()).sum::<f64>() + noise;
        }
        let values = values.into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("an observation");
    }
    data
}

struct Split {
    fit: f64,
    screening: f64,
    climbing: f64,
    ranking: f64,
}

/// Suggestions that a figure is the mean of, each after one more row, as in a study: hyper-parameters are not found anew in
/// every round, so that one suggestion would be too dear or too cheap.
const ROUNDS: usize = 5;

/// The mean of the last suggestions before there are so many rows.
fn measure(problem: &Problem, data: &Data, strategy: &Mcbo) -> Split {
    let mut memory = Memory::default();
    let mut split = Split { fit: 0.0, screening: 0.0, climbing: 0.0, ranking: 0.0 };
    let share = |from: Instant, until: Instant| (until - from).as_secs_f64() / ROUNDS as f64;
    for round in 0..=ROUNDS {
        let mut known = Data::new();
        for observation in &data.observations()[..data.len() - ROUNDS + round] {
            known.push(problem, observation.clone()).expect("an observation");
        }
        let context = Context::new(problem, &known, &memory);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let begin = Instant::now();
        let (network, new) = context.fit(&strategy.model, &mut rng).expect("a fit");
        let fitted = Instant::now();
        if round > 0 {
            split.fit += share(begin, fitted);
            let marks = Mutex::new(Vec::new());
            let note = |stage| marks.lock().expect("one thread").push((stage, Instant::now()));
            let found = match strategy.exploration {
                Exploration::Width(beta) => strategy.search(&context, &network, Luck::Each(beta), 7, &note),
                _ => strategy.search(&context, &network, Luck::Shared(0.35), 7, &note),
            };
            let end = Instant::now();
            std::hint::black_box(&found);
            let marks = marks.into_inner().expect("one thread");
            for (i, (stage, at)) in marks.iter().enumerate() {
                let seconds = share(*at, marks.get(i + 1).map_or(end, |(_, next)| *next));
                match stage {
                    // Growing sets greedily is a screening of sets.
                    SearchPhase::Choosing | SearchPhase::Screening => split.screening += seconds,
                    SearchPhase::Climbing => split.climbing += seconds,
                    SearchPhase::Ranking => split.ranking += seconds,
                }
            }
        }
        memory = new;
    }
    split
}

fn row(name: &str, problem: &Problem, rows: usize, preset: &str, strategy: &Mcbo) {
    let data = data(problem, rows);
    let repeats = if rows * problem.nodes().len() > 2000 { 1 } else { 3 };
    let best = (0..repeats)
        .map(|_| measure(problem, &data, strategy))
        .min_by(|a, b| total(a).total_cmp(&total(b)))
        .expect("at least one");
    let ms = |seconds: f64| format!("{:9.2}", 1e3 * seconds);
    println!(
        "{name:<28}{rows:>6} {preset:<8}{}{}{}{}{}",
        ms(best.fit),
        ms(best.screening),
        ms(best.climbing),
        ms(best.ranking),
        ms(total(&best))
    );
}

/// Seconds of a fixed scalar loop, the best of five: figures of two machines or moments are compared through it.
fn yardstick() -> f64 {
    let once = || {
        let begin = Instant::now();
        let mut x = std::hint::black_box(0.5_f64);
        for _ in 0..10_000_000 {
            x = x * 0.999_999 + 1e-7;
        }
        std::hint::black_box(x);
        begin.elapsed().as_secs_f64()
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn total(split: &Split) -> f64 {
    split.fit + split.screening + split.climbing + split.ranking
}

fn head(title: &str) {
    println!(
        "\n{title}\n{:<28}{:>6} {:<8}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "", "rows", "preset", "fit", "screen", "climb", "rank", "total ms"
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |word: &str| arguments.iter().any(|a| a == word);
    let threads = arguments
        .iter()
        .position(|a| a == "--threads")
        .and_then(|i| arguments[i + 1].parse().ok())
        .unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let presets = [("paper", Mcbo::paper()), ("default", Mcbo::default())];
        println!(
            "yardstick: 1e7 dependent multiply-adds take {:.1} ms on this machine now",
            1e3 * yardstick()
        );
        head("One suggestion, refit included");
        for rows in [20, 110] {
            for (preset, strategy) in &presets {
                row("dropwave (2 nodes)", &dropwave(), rows, preset, strategy);
                row("alpine2 (chain of 6)", &chain(6, Noise::None), rows, preset, strategy);
                row("alpine2, noisy", &chain(6, Noise::Gaussian(0.2)), rows, preset, strategy);
                row("toygraph (3 sets, noisy)", &toygraph(), rows, preset, strategy);
            }
        }
        if has("quick") {
            return;
        }
        if !has("large") {
            let (preset, strategy) = &presets[0];
            head("Growth with rows, chain of 6");
            for rows in [20, 50, 100, 200, 500, 1000] {
                row("rows", &chain(6, Noise::None), rows, preset, strategy);
            }
            head("Growth with nodes, 60 rows");
            for nodes in [2, 5, 10, 20, 50] {
                row(&format!("chain of {nodes}"), &chain(nodes, Noise::None), 60, preset, strategy);
            }
            head("Growth with target sets, 60 rows");
            for settable in [1, 3, 5, 7, 8, 10] {
                let problem = hard(12, settable);
                let sets = enumerate(&problem, 300).map_or("greedy".into(), |c| c.len().to_string());
                row(&format!("{settable} settable, {sets} sets"), &problem, 60, preset, strategy);
            }
        }
        head("Large: chain of 50, 50 actions, 500 rows");
        for (preset, strategy) in &presets {
            row("chain of 50", &chain(50, Noise::Gaussian(0.1)), 500, preset, strategy);
        }
    });
}
