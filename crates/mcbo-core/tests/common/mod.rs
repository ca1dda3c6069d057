//! Random problems with random data, for property tests.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use mcbo_core::{
    Components, Data, FitOptions, Inference, Intervention, ModelMemory, ModelSettings, Network, Noise,
    Observation, ParentScaling, PriorPreset, Problem, design_point,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The shape of a random graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Chain,
    Tree,
    Diamond,
    Random,
}

pub const SHAPES: [Shape; 4] = [Shape::Chain, Shape::Tree, Shape::Diamond, Shape::Random];

pub struct Options {
    pub shape: Shape,
    pub nodes: usize,
    pub noisy: bool,
    pub vectors: bool,
    pub hard: bool,
    pub formulas: bool,
}

fn parents(shape: Shape, node: usize, nodes: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let last = node == nodes - 1;
    match shape {
        _ if node == 0 => Vec::new(),
        Shape::Chain => vec![node - 1],
        // Leaves point to the root of the tree, which is the last node.
        Shape::Tree => {
            (0..node).filter(|&p| (p + nodes) / 2 == node || last && p + 1 == node).take(3).collect()
        }
        Shape::Diamond if last => (1..node).collect(),
        Shape::Diamond => vec![0],
        Shape::Random => {
            (0..node).filter(|&p| p + 1 == node && last || rng.random::<f64>() < 0.4).take(3).collect()
        }
    }
}

/// A random problem; the reward is the last node.
pub fn problem(options: &Options, rng: &mut ChaCha8Rng) -> Problem {
    problem_with(options, false, rng)
}

/// The same, some of the actions on a scale of ratios if wanted.
pub fn problem_with(options: &Options, ratios: bool, rng: &mut ChaCha8Rng) -> Problem {
    let n = options.nodes;
    let dims: Vec<usize> = (0..n)
        .map(|i| if options.vectors && i + 1 < n && rng.random::<f64>() < 0.4 { 2 } else { 1 })
        .collect();
    let mut builder = Problem::builder("random");
    let actions: Vec<String> = (0..n.min(4)).map(|a| format!("a{a}")).collect();
    for (a, name) in actions.iter().enumerate() {
        builder = match a % 2 {
            1 if ratios => {
                builder.action(name.clone(), [0.1, 20.0]).action_scale(name, mcbo_core::Scale::Log)
            }
            _ => builder.action(name.clone(), [-1.0 - a as f64, 2.0]),
        };
    }
    for i in 0..n {
        let of = parents(options.shape, i, n, rng);
        let mut reads: Vec<String> = actions.iter().filter(|_| rng.random::<f64>() < 0.3).cloned().collect();
        // Every action feeds something.
        if i < actions.len() && !reads.contains(&actions[i]) {
            reads.push(actions[i].clone());
        }
        let noise = match (options.noisy, rng.random_range(0..4)) {
            (false, _) | (true, 0) => Noise::None,
            (true, 1) => Noise::Uniform([-0.2, 0.2]),
            (true, 2) => Noise::Learn,
            _ => Noise::Gaussian(0.15),
        };
        let formula = options.formulas && !of.is_empty() && dims[i] == 1 && rng.random::<f64>() < 0.3;
        let terms: Vec<String> = of
            .iter()
            .map(|&p| if dims[p] == 1 { format!("sin(x{p})") } else { format!("x{p}[0] * x{p}[1]") })
            .chain(reads.iter().map(|a| format!("0.3 * {a}^2")))
            .collect();
        let hard = options.hard && i + 1 < n && rng.random::<f64>() < 0.5;
        let together = rng.random::<bool>();
        builder = builder.node(format!("x{i}"), |mut node| {
            node = node.parents(of.iter().map(|p| format!("x{p}"))).actions(reads).dim(dims[i]).noise(noise);
            if formula {
                node = node.formula(terms.join(" + "));
            }
            if hard {
                node = node.hard([-1.0, 1.5]);
            }
            if together && dims[i] == 2 {
                node = node.components(Components::Coregionalised);
            }
            node
        });
    }
    builder.maximize(format!("x{}", n - 1)).build().expect("a good problem")
}

/// What a smooth made-up system answers.
pub fn answer(problem: &Problem, intervention: &Intervention, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut values = vec![0.0; problem.slots()];
    let mut inputs = Vec::new();
    for &node in problem.graph().order() {
        let slot = problem.slot(node);
        if let Some(set) = intervention.target(node) {
            values[slot].copy_from_slice(set);
            continue;
        }
        problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
        for (c, at) in slot.enumerate() {
            let f = match &problem.nodes()[node].formula {
                Some(formulas) => formulas[c].eval(&inputs),
                None => {
                    let wave =
                        |(k, x): (usize, &f64)| (x * (0.8 + 0.3 * k as f64) + c as f64 + node as f64).sin();
                    inputs.iter().enumerate().map(wave).sum::<f64>() / (inputs.len() as f64).sqrt().max(1.0)
                }
            };
            let noise = match problem.nodes()[node].noise {
                Noise::None => 0.0,
                Noise::Gaussian(s) => s * (rng.random::<f64>() + rng.random::<f64>() - 1.0),
                Noise::Uniform([low, high]) => low + (high - low) * rng.random::<f64>(),
                Noise::Learn | Noise::Names(_) => 0.1 * (rng.random::<f64>() - 0.5),
            };
            values[at] = f + noise;
        }
    }
    values
}

/// Data from quasi-random interventions.
pub fn data(problem: &Problem, rows: usize, rng: &mut ChaCha8Rng) -> Data {
    let mut data = Data::new();
    for index in 0..rows {
        let intervention = design_point(problem, index, 5);
        let values = answer(problem, &intervention, rng).into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("a good observation");
    }
    data
}

/// Quick settings with a well-conditioned covariance.
pub fn settings(members: usize) -> ModelSettings {
    ModelSettings {
        inference: if members == 1 {
            Inference::Map(FitOptions { starts: 1, evaluations: 20 })
        } else {
            Inference::Samples(mcbo_core::Sampling { count: members, moves: 1, burn_in: 2 })
        },
        priors: PriorPreset::DimensionScaled,
        scaling: ParentScaling::Declared,
        noise_floor: 1e-4,
        learn_misfit: false,
    }
}

pub fn network(problem: &Problem, data: &Data, members: usize, seed: u64) -> Network {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Network::fit(problem, data, &ModelMemory::default(), &settings(members), &mut rng).expect("a fit")
}
