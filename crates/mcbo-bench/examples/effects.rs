//! Whether `effects` ranks actions and arrows as the truth does, on random models whose mechanisms are known.
//!
//! `cargo run --release -p mcbo-bench --example effects -- 50`: how many models. Each has 80 rows of random interventions, and its
//! noise is to be learned. Effects are taken about the recommended intervention, by the model and by the simulator; the
//! agreement of their ranks is Kendall's tau, over actions, over arrows and over both together.

use mcbo_bench::{Design, Task};
use mcbo_core::{Intervention, Observation, Problem, Study};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// A value that one arrow alone passes on: from a node, to a node.
type Arrow = (usize, usize, f64);

const KINDS: [&str; 7] = ["soft", "additive", "scaled", "linear", "warped", "mixed", "hard"];
/// Models of this number and above are in no suite.
const FIRST: usize = 2000;
const ROWS: usize = 80;
/// Realisations of the noise behind a true expectation, and places along a range.
const SAMPLES: u64 = 400;
const PLACES: usize = 13;

fn main() {
    let models = std::env::args().nth(1).map_or(50, |count| count.parse().expect("a number of models"));
    let taus: Vec<[Option<f64>; 3]> = (0..models).into_par_iter().map(measure).collect();
    for (which, words) in ["actions", "arrows", "both"].iter().enumerate() {
        let found: Vec<f64> = taus.iter().filter_map(|tau| tau[which]).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        println!("{words}: mean tau {mean:.3} over {} models", found.len());
    }
    for (kind, name) in KINDS.iter().enumerate() {
        let found: Vec<f64> = taus.iter().skip(kind).step_by(KINDS.len()).filter_map(|tau| tau[2]).collect();
        println!("  {name}: {:.3}", found.iter().sum::<f64>() / found.len() as f64);
    }
}

fn measure(index: usize) -> [Option<f64>; 3] {
    let name = format!("scm-{}-{}", KINDS[index % KINDS.len()], FIRST + index / KINDS.len());
    let task = Task::named(&name).and_then(Task::with_learned_noise).expect("a task");
    let problem = task.problem();
    let mut study = Study::new(problem.clone(), 1);
    for row in task.rows(Design::Scattered { rows: ROWS }, 0) {
        study.add(row).expect("it fits");
    }
    let recommendation = study.recommend().expect("a model");
    let effects = study.effects(&recommendation).expect("effects");
    let about = &recommendation.intervention;
    let range = |along: Vec<(Intervention, Option<Arrow>)>| {
        let rewards: Vec<f64> = along.iter().map(|(doing, seen)| truth(problem, doing, *seen)).collect();
        let ends =
            rewards.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], r| [l.min(*r), h.max(*r)]);
        ends[1] - ends[0]
    };
    let evenly =
        |[low, high]: [f64; 2]| (0..PLACES).map(move |k| low + (high - low) * k as f64 / (PLACES - 1) as f64);
    let mut actions = Vec::new();
    for (name, effect) in &effects.actions {
        let along = match problem.action_index(name) {
            Some(action) => evenly(problem.actions()[action].range)
                .map(|value| {
                    let mut doing = about.clone();
                    doing.actions[action] = value;
                    (doing, None)
                })
                .collect(),
            None => {
                let node = name.trim_start_matches("do(").trim_end_matches(')');
                let node = problem.node_index(node).expect("a node");
                let range = problem.nodes()[node].hard.as_ref().expect("it can be set")[0];
                evenly(range)
                    .map(|value| {
                        let mut doing = about.clone();
                        doing.targets.retain(|(target, _)| *target != node);
                        doing.targets.push((node, vec![value]));
                        doing.targets.sort_by_key(|(target, _)| *target);
                        (doing, None)
                    })
                    .collect()
            }
        };
        actions.push((effect.effect, range(along)));
    }
    let mut arrows = Vec::new();
    for (from, to, effect) in &effects.arrows {
        let seen = seen(problem, study.data().observations(), *from, *to);
        let along = evenly(seen).map(|value| (about.clone(), Some((*from, *to, value)))).collect();
        arrows.push((effect.effect, range(along)));
    }
    let both: Vec<(f64, f64)> = actions.iter().chain(&arrows).copied().collect();
    [kendall(&actions), kendall(&arrows), kendall(&both)]
}

/// The expected reward, by the simulator; one node may see another value of one of its parents.
fn truth(problem: &Problem, doing: &Intervention, seen: Option<(usize, usize, f64)>) -> f64 {
    let simulator = problem.simulator().expect("a simulator");
    let mut sum = 0.0;
    for sample in 0..SAMPLES {
        // The same luck at every place.
        let mut rng = ChaCha8Rng::seed_from_u64(sample);
        let (mut values, mut inputs) = (vec![0.0; problem.slots()], Vec::new());
        for &node in problem.graph().order() {
            rng.set_stream(node as u64 + 1);
            if let Some(set) = doing.target(node) {
                values[problem.slot(node).start] = set[0];
                continue;
            }
            problem.gather_inputs(node, &values, &doing.actions, &mut inputs);
            if let Some((from, to, value)) = seen
                && to == node
                && let Some(place) = problem.nodes()[node].parents.iter().position(|&parent| parent == from)
            {
                inputs[place] = value;
            }
            values[problem.slot(node).start] = simulator.draw(node, 0, &inputs, &mut rng);
        }
        sum += problem.sign() * values[problem.slot(problem.reward()).start];
    }
    sum / SAMPLES as f64
}

/// The middle nine tenths of what was seen of a parent in the rows of its child.
fn seen(problem: &Problem, rows: &[Observation], from: usize, to: usize) -> [f64; 2] {
    let rows = rows.iter().filter(|row| row.intervention.target(to).is_none());
    let mut values: Vec<f64> = rows.filter_map(|row| row.values[problem.slot(from).start]).collect();
    values.sort_by(f64::total_cmp);
    [0.05, 0.95].map(|share| values[((values.len() - 1) as f64 * share).round() as usize])
}

/// Kendall's tau of pairs, ties counted for half (tau-b); none for fewer than two.
fn kendall(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut sum, mut left, mut right) = (0.0, 0.0, 0.0);
    let sign = |a: f64, b: f64| if (a - b).abs() < 1e-9 { 0.0 } else { (a - b).signum() };
    for (i, one) in pairs.iter().enumerate() {
        for other in &pairs[..i] {
            let (a, b) = (sign(one.0, other.0), sign(one.1, other.1));
            sum += a * b;
            left += a * a;
            right += b * b;
        }
    }
    (left > 0.0 && right > 0.0).then(|| sum / f64::sqrt(left * right))
}
