//! What unit tests share: a small system, and gradients against finite differences.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::acquisition::Acquisition;
use crate::network::Workspace;
use crate::{Data, Inference, ModelSettings, Noise, Observation, Problem, design_point};

/// Two settable nodes, two actions and a reward that is minimised, so that signs show.
pub(crate) fn system(noise: Noise) -> (Problem, Data) {
    let problem = Problem::builder("system")
        .action("a", [-1.0, 2.0])
        .action_with_neutral("b", [1.0, 3.0], 0.0)
        .node("x", |n| n.actions(["a"]).noise(noise).hard([-2.0, 2.0]))
        .node("z", |n| n.parents(["x"]).actions(["b"]).noise(noise).hard([0.0, 3.0]))
        .node("y", |n| n.parents(["x", "z"]).noise(noise))
        .minimize("y")
        .simulate("x", "sin(2 * a)")
        .simulate("z", "1 + 0.5 * cos(x) + 0.2 * b")
        .simulate("y", "(x - 0.5)^2 + sin(2 * z)")
        .build()
        .expect("a problem");
    let data = simulated(&problem, 30);
    (problem, data)
}

fn simulated(problem: &Problem, trials: usize) -> Data {
    let (mut data, mut rng) = (Data::new(), ChaCha8Rng::seed_from_u64(4));
    for trial in 0..trials {
        // Every fifth trial is an observation.
        let intervention = match trial % 5 {
            0 => problem.neutral_intervention(),
            _ => design_point(problem, trial, 1),
        };
        let simulator = problem.simulator().expect("a simulator");
        let values = simulator.sample(problem, &intervention, &mut rng);
        let values = values.into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("a good observation");
    }
    data
}

/// A kind of defect and a mode that have causes, and a reward that reads both.
pub(crate) fn named_system() -> (Problem, Data) {
    let problem = Problem::builder("machine")
        .action("speed", [0.0, 4.0])
        .action("heat", [0.0, 1.0])
        .node("wear", |n| n.actions(["speed"]).noise(Noise::Gaussian(0.3)))
        .node("kind", |n| {
            n.parents(["wear"]).actions(["heat"]).choices(["none", "crack", "chip"]).hard_choices()
        })
        .node("mode", |n| n.parents(["kind"]).actions(["heat"]).choices(["slow", "fast"]))
        .node("y", |n| n.parents(["kind", "mode", "wear"]).noise(Noise::Gaussian(0.1)))
        .maximize("y")
        .simulate("wear", "0.5 * speed + normal(0, 0.3)")
        .simulate("kind", "pick('none', 1, 'crack', exp(wear - 1), 'chip', exp(2 * heat - 1))")
        .simulate("mode", "pick('slow', 1 + (kind == 'chip'), 'fast', 2 * heat)")
        .simulate("y", "wear * (1 + (mode == 'fast')) - 2 * (kind == 'crack') - (kind == 'chip')")
        .build()
        .expect("a problem");
    let data = simulated(&problem, 60);
    (problem, data)
}

/// A quick model.
pub(crate) fn settings() -> ModelSettings {
    ModelSettings {
        inference: Inference::default(),
        noise_floor: 1e-4,
        learn_misfit: false,
        ..ModelSettings::default()
    }
}

/// Compares the gradient at random points with central differences of fourth order; returns the values.
pub(crate) fn check_gradients(acquisition: &dyn Acquisition, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (dim, count) = (acquisition.bounds().0.len(), 6);
    let points: Vec<f64> = (0..count * dim).map(|_| rng.random_range(0.05..0.95)).collect();
    let (mut workspace, mut values) = (Workspace::default(), Vec::new());
    let mut gradients = vec![0.0; points.len()];
    acquisition.evaluate(&points, &mut workspace, &mut values, &mut gradients);
    let largest = gradients.iter().fold(1e-3_f64, |most, g| most.max(g.abs()));
    for i in 0..points.len() {
        let mut at = |step: f64| {
            let (mut moved, mut values) = (points.clone(), Vec::new());
            moved[i] += step;
            acquisition.evaluate(&moved, &mut workspace, &mut values, &mut []);
            values[i / dim]
        };
        let step = 1e-5;
        let numeric = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
        let error = (gradients[i] - numeric).abs();
        assert!(error < 1e-4 * numeric.abs().max(0.01 * largest), "{i}: {} against {numeric}", gradients[i]);
    }
    values
}
