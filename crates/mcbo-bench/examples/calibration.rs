//! Whether the model's bounds hold what they promise, and whether it learns the noise, on random models of all kinds.
//!
//! `cargo run --release -p mcbo-bench --example calibration -- 300 [--csv] [KIND…]`: how many models, and of which kinds (`choices`, whose
//! actions are names and steps, and `limits`, only if they are asked for). The noise of every node is to be
//! learned; the rows are few or many, anywhere or around habitual settings. A model of the default settings is fitted once, and
//! its 90 % bounds of the reward are compared with the true expectation at random interventions and at the one that it
//! recommends; with `limits` also how probably each limit is kept with how often it is. In the end the same for 100 sets of rows in
//! which nothing matters.

use mcbo_bench::{Design, EXTRA_TASKS, Task};
use mcbo_core::{
    Context, Criterion, Data, Forecast, Intervention, Keeping, Mcbo, Memory, Network, Noise, Observation,
    Problem, Random, Recommendation, Strategy,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Only if they are asked for.
const MORE_KINDS: [&str; 2] = ["choices", "limits"];
const KINDS: [&str; 8] = ["soft", "hard", "mixed", "additive", "scaled", "linear", "warped", "past"];
/// Models of this number and above are in no suite.
const FIRST: usize = 1000;
/// The rows of a model: the least, and one more than the most.
const ROWS: [usize; 2] = [10, 151];
/// Bands of rows that are summed up, and the rows from which the noise can be asked for.
const BANDS: [[usize; 2]; 3] = [[10, 30], [30, 60], [60, 151]];
const ENOUGH: usize = 60;
/// Random interventions of every model.
const PLACES: usize = 20;
/// A learned noise within this factor counts as right.
const NEAR: f64 = 1.25;
/// Draws of a problem in which nothing matters: the draws, their actions, rows, and the mean of the reward.
const IDLE: (usize, usize, usize, f64) = (100, 4, 100, 10.0);

/// What came out for one model.
struct Measured {
    kind: &'static str,
    number: usize,
    rows: usize,
    clustered: bool,
    /// Random places whose true expectation is within the bounds.
    covered: usize,
    /// Whether that of the recommendation is.
    recommended: bool,
    /// The truth at the recommendation below the lower bound (-1), above the upper one (1), or between (0).
    side: i8,
    /// Median width of the bounds over the standard deviation of expected rewards at the random places.
    width: f64,
    /// The same at the recommendation.
    recommended_width: f64,
    /// Learned over true standard deviation of every noisy node, where there are rows enough.
    ratios: Vec<f64>,
    /// Limits at random places, and at the recommendation.
    promises: Vec<Promise>,
    kept: Vec<Promise>,
}

/// What is said of a limit, and what is true.
struct Promise {
    said: Keeping,
    truth: f64,
}

fn main() {
    let mut csv = false;
    let mut models = 300;
    let mut kinds: Vec<&'static str> = Vec::new();
    for argument in std::env::args().skip(1) {
        match (argument.as_str(), argument.parse()) {
            ("--csv", _) => csv = true,
            (_, Ok(number)) => models = number,
            (name, _) => {
                let known = KINDS.iter().chain(&MORE_KINDS).find(|kind| **kind == name);
                kinds.push(known.expect("a number of models, --csv, or a kind"));
            }
        }
    }
    if kinds.is_empty() {
        kinds = KINDS.to_vec();
    }
    let measured: Vec<Measured> = (0..models).into_par_iter().map(|index| measure(&kinds, index)).collect();
    if csv {
        println!(
            "task,rows,design,covered,places,recommended_covered,side,width,recommended_width,noise_ratios"
        );
        for m in &measured {
            let ratios: Vec<String> = m.ratios.iter().map(|ratio| format!("{ratio:.4}")).collect();
            println!(
                "scm-{}-{},{},{},{},{PLACES},{},{},{:.4},{:.4},{}",
                m.kind,
                m.number,
                m.rows,
                design_name(m.clustered),
                m.covered,
                u8::from(m.recommended),
                m.side,
                m.width,
                m.recommended_width,
                ratios.join(" ")
            );
        }
        println!();
    }
    summary(&kinds, &measured);
    promises(&measured);
    idle();
}

fn design_name(clustered: bool) -> &'static str {
    if clustered { "clustered" } else { "scattered" }
}

fn measure(kinds: &[&'static str], index: usize) -> Measured {
    let (kind, number) = (kinds[index % kinds.len()], FIRST + index / kinds.len());
    let name = format!("scm-{kind}-{number}");
    assert!(!EXTRA_TASKS.contains(&name.as_str()));
    let task = Task::named(&name).and_then(Task::with_learned_noise).expect("a task");
    let problem = task.problem();
    let mut rng = ChaCha8Rng::seed_from_u64(index as u64);
    // As many small as large ones, on a scale of ratios.
    let [least, most] = ROWS.map(|rows| (rows as f64).ln());
    let rows = rng.random_range(least..most).exp() as usize;
    let clustered = rng.random_bool(0.5);
    let missing = if kind == "past" { 0.12 } else { 0.0 };
    let design = if clustered { Design::Past { rows, missing } } else { Design::Scattered { rows } };
    let data = told(problem, task.rows(design, 0));
    let Recommendation { intervention, predicted, network, .. } = recommend(problem, &data, index as u64);

    let empty = Data::new();
    let memory = Memory::default();
    let context = Context::new(problem, &empty, &memory);
    let (mut truths, mut widths, mut covered, mut promises) = (Vec::new(), Vec::new(), 0, Vec::new());
    for place in 0..PLACES {
        let doing = Random.suggest(&context, &mut rng).expect("chance never fails").suggestion.intervention;
        let bounds = of_reward(problem, &network.forecast(problem, &doing, place as u64));
        let truth = value(&task, &doing);
        covered += usize::from(side(&bounds, truth) == 0);
        promises.extend(promised(&task, &network, &doing));
        truths.push(truth);
        widths.push(bounds.upper - bounds.lower);
    }
    let spread = deviation(&truths);
    let bounds = of_reward(problem, &predicted);
    let side = side(&bounds, value(&task, &intervention));
    Measured {
        kind,
        number,
        rows,
        clustered,
        covered,
        recommended: side == 0,
        side,
        width: median(&mut widths) / spread,
        recommended_width: (bounds.upper - bounds.lower) / spread,
        ratios: if rows >= ENOUGH { ratios(&task, &network) } else { Vec::new() },
        promises,
        kept: promised(&task, &network, &intervention),
    }
}

fn promised(task: &Task, network: &Network, doing: &Intervention) -> Vec<Promise> {
    let said = network.keeping(task.problem(), doing);
    said.into_iter().zip(task.keeping(doing)).map(|(said, (_, truth))| Promise { said, truth }).collect()
}

fn told(problem: &Problem, rows: impl IntoIterator<Item = Observation>) -> Data {
    let mut data = Data::new();
    for row in rows {
        data.push(problem, row).expect("rows of the problem");
    }
    data
}

fn recommend(problem: &Problem, data: &Data, seed: u64) -> Recommendation {
    let memory = Memory::default();
    let context = Context::new(problem, data, &memory);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mcbo::default().recommend(&context, Criterion::Mean, &mut rng).expect("a fit")
}

/// The true expectation of the reward's node, as forecasts have it.
fn value(task: &Task, doing: &Intervention) -> f64 {
    task.problem().sign() * task.expected_reward(doing)
}

fn of_reward(problem: &Problem, forecasts: &[Forecast]) -> Forecast {
    forecasts
        .iter()
        .find(|forecast| forecast.node == problem.reward())
        .expect("a forecast of the reward")
        .clone()
}

/// Below the bounds (-1), between them (0), or above (1).
fn side(bounds: &Forecast, truth: f64) -> i8 {
    i8::from(truth > bounds.upper) - i8::from(truth < bounds.lower)
}

fn ratios(task: &Task, network: &Network) -> Vec<f64> {
    let summaries = network.summaries(task.problem());
    let ratio = |summary: &mcbo_core::NodeSummary| match task.noise(summary.node) {
        Noise::Gaussian(std) => Some(summary.noise / std),
        _ => None,
    };
    summaries.iter().filter_map(ratio).collect()
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// The middle value; not a number where there is none.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
    }
}

fn summary(kinds: &[&str], all: &[Measured]) {
    println!(
        "{:<12} {:>6} {:>8} {:>12} {:>6} {:>6} {:>7} {:>9} {:>6} {:>7} {:>9} {:>10}",
        "models",
        "count",
        "covered",
        "recommended",
        "below",
        "above",
        "width",
        "rec.width",
        "noisy",
        "ratio",
        "|log|",
        "within 25%"
    );
    line("all", all.iter());
    for &kind in kinds {
        line(kind, all.iter().filter(|m| m.kind == kind));
    }
    for [from, to] in BANDS {
        let name = format!("{from}-{} rows", to - 1);
        line(&name, all.iter().filter(|m| (from..to).contains(&m.rows)));
    }
    for clustered in [false, true] {
        line(design_name(clustered), all.iter().filter(|m| m.clustered == clustered));
    }
    println!(
        "\ncovered: true expectations within the 90 % bounds, of {PLACES} random interventions a model; recommended: the same of the one\nit recommends, and the truth below or above them. width: median over the models, in deviations of expected rewards. ratio: median\nof learned over true noise of the noisy nodes of models with {ENOUGH} rows or more, the median of its absolute logarithm, and how many\nare within 25 %."
    );
}

fn line<'a>(name: &str, models: impl Iterator<Item = &'a Measured>) {
    let models: Vec<&Measured> = models.collect();
    let count = models.len();
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
    let sides = |side: i8| share(models.iter().filter(|m| m.side == side).count(), count);
    let mut widths: Vec<f64> = models.iter().map(|m| m.width).collect();
    let mut recommended: Vec<f64> = models.iter().map(|m| m.recommended_width).collect();
    let mut ratios: Vec<f64> = models.iter().flat_map(|m| &m.ratios).copied().collect();
    let mut logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln().abs()).collect();
    let near = logs.iter().filter(|log| **log <= NEAR.ln()).count();
    // Where there is nothing to tell of there is no number either.
    let number = |value: f64, tail: &str, digits: usize| {
        if value.is_nan() { "-".to_owned() } else { format!("{value:.digits$}{tail}") }
    };
    let covered = share(models.iter().map(|m| m.covered).sum(), count * PLACES);
    println!(
        "{name:<12} {count:>6} {:>8} {:>12} {:>6} {:>6} {:>7} {:>9} {:>6} {:>7} {:>9} {:>10}",
        number(covered, "%", 1),
        number(sides(0), "%", 1),
        number(sides(-1), "%", 1),
        number(sides(1), "%", 1),
        number(median(&mut widths), "", 3),
        number(median(&mut recommended), "", 3),
        ratios.len(),
        number(median(&mut ratios), "", 3),
        number(median(&mut logs), "", 3),
        number(share(near, logs.len()), "%", 1),
    );
}

/// How often limits are kept by what is said of them.
fn promises(all: &[Measured]) {
    const EDGES: [f64; 6] = [0.0, 0.2, 0.5, 0.8, 0.95, 1.0];
    let everywhere: Vec<&Promise> = all.iter().flat_map(|m| &m.promises).collect();
    if everywhere.is_empty() {
        return;
    }
    let average = |of: &[&Promise], value: &dyn Fn(&Promise) -> f64| {
        of.iter().map(|promise| value(promise)).sum::<f64>() / of.len() as f64
    };
    let said = |promise: &Promise| promise.said.probability;
    // What an outcome costs by the probability that was said, less what it costs by the true one.
    let surprise = |promise: &Promise| {
        let by = |p: f64, q: f64| if p > 0.0 { p * (p / q.max(1e-9)).ln() } else { 0.0 };
        let (truth, said) = (promise.truth, said(promise));
        by(truth, said) + by(1.0 - truth, 1.0 - said)
    };
    let sure = |promise: &Promise| f64::from(u8::from(promise.said.is_sure()));
    let is_kept = |promise: &Promise| f64::from(u8::from(promise.truth >= promise.said.wanted));
    let line = |name: &str, of: Vec<&Promise>| {
        if of.is_empty() {
            return;
        }
        let relied: Vec<&Promise> = of.iter().copied().filter(|promise| promise.said.is_sure()).collect();
        println!(
            "{name:<12} {:>6} {:>8.3} {:>8.3} {:>9.4} {:>7.1}% {:>11.1}%",
            of.len(),
            average(&of, &said),
            average(&of, &|promise| promise.truth),
            average(&of, &surprise),
            100.0 * average(&of, &sure),
            100.0 * average(&relied, &is_kept),
        );
    };
    println!(
        "\n{:<12} {:>6} {:>8} {:>8} {:>9} {:>8} {:>12}",
        "limits", "count", "said", "true", "surprise", "sure", "rightly sure"
    );
    for edges in EDGES.windows(2) {
        let within = |promise: &&Promise| {
            (edges[0]..edges[1]).contains(&said(promise)) || edges[1] == 1.0 && said(promise) == 1.0
        };
        line(&format!("{}-{}", edges[0], edges[1]), everywhere.iter().copied().filter(within).collect());
    }
    line("random", everywhere);
    for [from, to] in BANDS {
        let of = all.iter().filter(|m| (from..to).contains(&m.rows)).flat_map(|m| &m.promises);
        line(&format!("{from}-{} rows", to - 1), of.collect());
    }
    line("recommended", all.iter().flat_map(|m| &m.kept).collect());
    println!(
        "\nsaid, true: the mean probability of keeping a limit; surprise: nats that an outcome costs by what was said more than by what is\ntrue; sure: of thirty-nine of forty systems it is said that they keep the limit as probably as is wanted, and how often they do."
    );
}

/// Rows in which the reward is noise and no action matters.
fn idle() {
    let (draws, actions, rows, mean) = IDLE;
    let names: Vec<String> = (0..actions).map(|k| format!("a{k}")).collect();
    let mut builder = Problem::builder("idle").maximize("y");
    for name in &names {
        builder = builder.action(name, [0.0, 1.0]);
    }
    let problem = builder.node("y", |node| node.actions(&names)).build().expect("a problem");
    let one = |draw: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(draw as u64);
        let row = |_| {
            let actions = (0..actions).map(|_| rng.random()).collect();
            let z: f64 = StandardNormal.sample(&mut rng);
            let intervention = Intervention { targets: Vec::new(), actions };
            Observation { intervention, values: vec![Some(mean + z)] }
        };
        let data = told(&problem, (0..rows).map(row).collect::<Vec<_>>());
        let advice = recommend(&problem, &data, draw as u64);
        let summary = advice.network.summaries(&problem).remove(0);
        (of_reward(&problem, &advice.predicted), summary)
    };
    let all: Vec<_> = (0..draws).into_par_iter().map(one).collect();
    let covered = all.iter().filter(|(bounds, _)| side(bounds, mean) == 0).count();
    let width = all.iter().map(|(bounds, _)| bounds.upper - bounds.lower).sum::<f64>() / draws as f64;
    let off = all.iter().map(|(bounds, _)| bounds.mean - mean).sum::<f64>() / draws as f64;
    let mut noise: Vec<f64> = all.iter().map(|(_, summary)| summary.noise).collect();
    let mut explained: Vec<f64> = all.iter().map(|(_, summary)| summary.explained.unwrap_or(0.0)).collect();
    println!(
        "\nNothing matters, y ~ N({mean}, 1), {draws} times {rows} rows of {actions} actions: {covered} of the recommendations have {mean} within their bounds;\ntheir mean is off by {off:.3} on average and the bounds are {width:.3} wide; median noise {:.3}, median explained {:.3}.",
        median(&mut noise),
        median(&mut explained)
    );
}
