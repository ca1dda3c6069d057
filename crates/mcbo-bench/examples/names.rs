//! How often bounds hold the truth where a name that has causes lies on the way to the reward, beside the same systems without one:
//! `cargo run --release --example names -- [MODELS]`.
//!
//! Every model has two actions, a noisy node, a name that depends on that and on an action by a random logistic law, and a reward
//! with a curve of its own for each name. Rows are random interventions; then 12 other interventions are forecast. The truth is the mean of
//! 40,000 experiments on the simulator, always with the same random numbers. Behind the bar the same for the probabilities of the names
//! where the node is measured that they depend on, and how surprising names are on average, in nats.

use mcbo_core::{Data, Intervention, ModelSettings, Network, Observation, Problem};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const ROWS: [usize; 5] = [8, 16, 32, 64, 256];
const TRUTH: usize = 40_000;
const ASKED: usize = 12;
/// Deviations on either side of the mean that 90 % of a normal distribution lie within.
const WIDTH: f64 = 1.645;

/// A random model, with a name or without.
fn problem(seed: u64, names: usize) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut within = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    let x = format!("sin({:.3} * a + {:.3}) + normal(0, 0.2)", within(1.0, 4.0), within(-2.0, 2.0));
    let curve = |within: &mut dyn FnMut(f64, f64) -> f64| {
        format!(
            "({:.3} + {:.3} * x + {:.3} * sin({:.3} * b))",
            within(-1.0, 1.0),
            within(-1.0, 1.0),
            within(-0.5, 0.5),
            within(1.0, 5.0)
        )
    };
    let curves: Vec<String> = (0..names.max(1)).map(|_| curve(&mut within)).collect();
    let weight = |within: &mut dyn FnMut(f64, f64) -> f64| {
        format!(
            "exp({:.3} + {:.3} * x + {:.3} * (b - 0.5))",
            within(-1.0, 1.0),
            within(-4.0, 4.0),
            within(-6.0, 6.0)
        )
    };
    let weights: Vec<String> = (0..names).map(|k| format!("'n{k}', {}", weight(&mut within))).collect();
    let builder = Problem::builder("random").action("a", [0.0, 1.0]).action("b", [0.0, 1.0]);
    let builder = builder.node("x", |n| n.actions(["a"])).simulate("x", x.as_str());
    let builder = match names {
        0 => builder
            .node("y", |n| n.parents(["x"]).actions(["b"]))
            .simulate("y", format!("{} + normal(0, 0.2)", curves[0])),
        _ => {
            let terms: Vec<String> =
                curves.iter().enumerate().map(|(k, curve)| format!("(k == 'n{k}') * {curve}")).collect();
            builder
                .node("k", |n| n.parents(["x"]).actions(["b"]).choices((0..names).map(|k| format!("n{k}"))))
                .node("y", |n| n.parents(["k", "x"]).actions(["b"]))
                .simulate("k", format!("pick({})", weights.join(", ")))
                .simulate("y", format!("{} + normal(0, 0.2)", terms.join(" + ")))
        }
    };
    builder.maximize("y").build().expect("a problem")
}

fn doing(rng: &mut ChaCha8Rng) -> Intervention {
    Intervention { targets: Vec::new(), actions: vec![rng.random(), rng.random()] }
}

/// For every number of rows: how many truths lie within their bounds, the mean miss and the mean width; the same of the probabilities of
/// the names, and the surprise.
fn look(seed: u64, names: usize) -> Vec<[f64; 7]> {
    let problem = problem(seed, names);
    let simulator = problem.simulator().expect("one is there");
    let (mut rng, reward) = (ChaCha8Rng::seed_from_u64(1000 + seed), problem.slots() - 1);
    let asked: Vec<(Intervention, f64)> = (0..ASKED)
        .map(|_| {
            let (at, mut same) = (doing(&mut rng), ChaCha8Rng::seed_from_u64(5));
            let sum: f64 = (0..TRUTH).map(|_| simulator.sample(&problem, &at, &mut same)[reward]).sum();
            (at, sum / TRUTH as f64)
        })
        .collect();
    let mut data = Data::new();
    let of = |&rows: &usize| {
        while data.len() < rows {
            let intervention = doing(&mut rng);
            let values = simulator.sample(&problem, &intervention, &mut rng).into_iter().map(Some).collect();
            data.push(&problem, Observation { intervention, values }).expect("it fits");
        }
        let mut own = ChaCha8Rng::seed_from_u64(seed);
        let network = Network::fit(&problem, &data, &Default::default(), &ModelSettings::default(), &mut own);
        let network = network.expect("a fit");
        let mut sums = [0.0; 7];
        let add = |sums: &mut [f64], truth: f64, mean: f64, half: f64, share: f64| {
            let inside = f64::from(u8::from((mean - truth).abs() <= half));
            sums.iter_mut()
                .zip([inside, (mean - truth).abs(), 2.0 * half])
                .for_each(|(sum, new)| *sum += share * new);
        };
        let mut measured = ChaCha8Rng::seed_from_u64(9000 + seed);
        for (at, truth) in &asked {
            let y = network.forecast(&problem, at, 1).pop().expect("the reward");
            let (middle, half) = (0.5 * (y.lower + y.upper), 0.5 * (y.upper - y.lower));
            add(&mut sums[..3], *truth, middle, half, 1.0);
            sums[1] += (y.mean - truth).abs() - (middle - truth).abs();
            let inputs = [simulator.sample(&problem, at, &mut measured)[0], at.actions[1]];
            for (name, truth) in simulator.shares(1, &inputs).unwrap_or_default().into_iter().enumerate() {
                let (mean, deviation) = network.predict_names(&problem, 1, &inputs, 1)[name][0];
                add(&mut sums[3..6], truth, mean, WIDTH * deviation, 1.0 / names as f64);
                sums[6] -= truth * mean.max(1e-9).ln();
            }
        }
        sums
    };
    ROWS.iter().map(of).collect()
}

fn main() {
    let models: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(60);
    println!("{models} models, {ASKED} interventions each: share within 90 % bounds, mean miss, mean width");
    for names in [0, 2, 3, 5] {
        let all: Vec<Vec<[f64; 7]>> = (0..models).into_par_iter().map(|seed| look(seed, names)).collect();
        let line = ROWS.iter().enumerate().map(|(k, rows)| {
            let mean = |part: usize| {
                all.iter().map(|one| one[k][part]).sum::<f64>() / (models as usize * ASKED) as f64
            };
            let [first, second] =
                [0, 3].map(|k| [mean(k), mean(k + 1), mean(k + 2)].map(|x| format!("{x:.3}")).join(" "));
            format!("{names} names, {rows} rows: {first} | {second} {:.3}", mean(6))
        });
        println!("{}", line.collect::<Vec<_>>().join("\n"));
    }
}
