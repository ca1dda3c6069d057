//! The paper's structural equations once more, in plain Rust, so that the problem files are checked against
//! something else.
#![allow(dead_code)]

use mcbo_bench::Task;
use mcbo_core::Intervention;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

pub fn task(name: &str) -> Task {
    Task::named(name).unwrap()
}

pub fn soft(actions: &[f64]) -> Intervention {
    Intervention { targets: vec![], actions: actions.to_vec() }
}

pub fn hard(task: &Task, targets: &[(&str, f64)]) -> Intervention {
    let target = |&(name, value): &(&str, f64)| (task.problem().node_index(name).unwrap(), vec![value]);
    Intervention { targets: targets.iter().map(target).collect(), actions: vec![] }
}

/// The optimum of every task, and where it is.
pub fn optimum_of(task: &Task) -> Intervention {
    match task.name() {
        "toygraph" => hard(task, &[("X1", -3.200303)]),
        "psagraph" => hard(task, &[("aspirin", 0.0), ("statin", 1.0)]),
        "dropwave" | "dropwave-noisy" | "dropwave-noisy-reference" => soft(&[0.5; 2]),
        "alpine2" | "alpine2-noisy" => soft(&[0.791705, 0.791705, 0.481584, 0.791705, 0.791705, 0.791705]),
        "rosenbrock" | "rosenbrock-noisy" => soft(&[0.75; 5]),
        "ackley" => soft(&[0.5; 6]),
        other => panic!("{other}"),
    }
}

/// One experiment by the equations of the paper: all node values in the task's order.
pub fn by_hand(name: &str, doing: &Intervention, rng: &mut dyn Rng) -> Vec<f64> {
    let a = &doing.actions;
    let set = |node: usize, value: f64| doing.target(node).map_or(value, |values| values[0]);
    let normal = |rng: &mut dyn Rng, std: f64| -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        std * z
    };
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (base, noisy) = match name.strip_suffix("-noisy") {
        Some(base) => (base, 1.0),
        None => (name, 0.0),
    };
    match base {
        "toygraph" => {
            let x0 = set(0, normal(rng, 1.0));
            let x1 = set(1, (-x0).exp() + normal(rng, 1.0));
            vec![x0, x1, -(x1.cos() - (-x1 / 20.0).exp()) + normal(rng, 1.0)]
        }
        "psagraph" => {
            let age = 55.0 + 20.0 * rng.random::<f64>();
            let bmi = 27.0 - 0.01 * age + normal(rng, 0.7);
            let aspirin = set(2, sigmoid(-8.0 + 0.10 * age + 0.03 * bmi));
            let statin = set(3, sigmoid(-13.0 + 0.10 * age + 0.20 * bmi));
            let cancer = sigmoid(2.2 - 0.05 * age + 0.01 * bmi - 0.04 * statin + 0.02 * aspirin);
            let mean = 6.8 + 0.04 * age - 0.15 * bmi - 0.60 * statin + 0.55 * aspirin + cancer;
            vec![age, bmi, aspirin, statin, cancer, mean + normal(rng, 0.4)]
        }
        "dropwave" | "dropwave-noisy-reference" => {
            let norm = a.iter().map(|a| (10.24 * a - 5.12).powi(2)).sum::<f64>().sqrt();
            let wave = |x: f64| (1.0 + (12.0 * x).cos()) / (2.0 + 0.5 * x * x);
            if base == "dropwave" {
                let x0 = norm + normal(rng, 0.1 * noisy);
                vec![x0, wave(x0) + normal(rng, 0.1 * noisy)]
            } else {
                vec![norm + normal(rng, 0.1), wave(norm) + normal(rng, 0.1)]
            }
        }
        "alpine2" => {
            let mut values = Vec::new();
            let mut last = -1.0;
            for a in a {
                let x = 10.0 * a;
                last = x.sqrt() * x.sin() * last + normal(rng, noisy);
                values.push(last);
            }
            values
        }
        "rosenbrock" => {
            let x: Vec<f64> = a.iter().map(|a| 4.0 * (a - 0.5)).collect();
            let mut values = Vec::new();
            let mut last = 0.0;
            for i in 0..4 {
                let term = 100.0 * (x[i + 1] - x[i] * x[i]).powi(2) + (1.0 - x[i]).powi(2);
                last += normal(rng, noisy) - term;
                values.push(last);
            }
            values
        }
        "ackley" => {
            let x: Vec<f64> = a.iter().map(|a| 4.0 * (a - 0.5)).collect();
            let x0 = x.iter().map(|x| x * x).sum::<f64>() / 6.0;
            let x1 = x.iter().map(|x| (2.0 * std::f64::consts::PI * x).cos()).sum::<f64>() / 6.0;
            let y = 20.0 * (-0.2 * x0.sqrt()).exp() + x1.exp() - 20.0 - 1f64.exp();
            vec![x0, x1, y]
        }
        other => panic!("{other}"),
    }
}

/// Mean and standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
