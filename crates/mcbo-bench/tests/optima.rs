//! Expected rewards against the figures worked out independently of this crate.

mod common;

use common::{by_hand, hard, mean_and_error, optimum_of, soft, task};
use mcbo_bench::Task;
use mcbo_core::{Context, Data, Intervention, Memory, Random, Strategy};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected}");
}

#[test]
fn toygraph_has_the_tabulated_values() {
    let task = task("toygraph");
    close(task.expected_reward(&hard(&task, &[("X1", -3.200303)])), 2.171806, 1e-6);
    close(task.expected_reward(&hard(&task, &[])), 0.720150, 1e-6);
    let best = (0..=100_000)
        .map(|k| task.expected_reward(&hard(&task, &[("X0", -5.0 + 1e-4 * f64::from(k))])))
        .fold(f64::NEG_INFINITY, f64::max);
    close(best, 1.463751, 1e-6);
    let best = (0..=250_000)
        .map(|k| task.expected_reward(&hard(&task, &[("X1", -5.0 + 1e-4 * f64::from(k))])))
        .fold(f64::NEG_INFINITY, f64::max);
    close(best, task.optimum(), 1e-6);
    // In closed form: E cos(m + e) = cos(m) exp(-1/2).
    let expected = (-1.0f64 / 20.0).exp() - 1.0f64.cos();
    close(task.expected_reward(&hard(&task, &[("X1", 1.0)])), expected, 1e-12);
    let m = (-0.5f64).exp();
    let expected = (-m / 20.0 + 0.5 / 400.0).exp() - m.cos() * (-0.5f64).exp();
    close(task.expected_reward(&hard(&task, &[("X0", 0.5)])), expected, 1e-12);
}

#[test]
fn psagraph_has_the_tabulated_values() {
    let task = task("psagraph");
    let value = |targets: &[(&str, f64)]| task.expected_reward(&hard(&task, targets));
    close(value(&[("aspirin", 0.0), ("statin", 1.0)]), -5.155287, 1e-6);
    close(value(&[("statin", 1.0)]), -5.344343, 1e-6);
    close(value(&[("aspirin", 0.0)]), -5.616851, 1e-6);
    close(value(&[]), -5.805923, 1e-6);
    close(task.optimum(), -5.155287, 0.0);
}

#[test]
fn function_networks_have_the_tabulated_optima() {
    for (name, at) in [
        ("dropwave", vec![0.5; 2]),
        ("dropwave-noisy", vec![0.5; 2]),
        ("dropwave-noisy-reference", vec![0.5; 2]),
        ("rosenbrock", vec![0.75; 5]),
        ("rosenbrock-noisy", vec![0.75; 5]),
        ("ackley", vec![0.5; 6]),
    ] {
        let task = task(name);
        close(task.expected_reward(&soft(&at)), task.optimum(), 1e-6);
    }
    close(task("dropwave-noisy").optimum(), 0.742398, 0.0);
    for name in ["alpine2", "alpine2-noisy"] {
        let task = task(name);
        for one in 0..6 {
            let mut at = vec![0.791705; 6];
            at[one] = 0.481584;
            close(task.expected_reward(&soft(&at)), task.optimum(), 2e-5);
        }
    }
}

/// The optimum and five random interventions, all target sets among them.
fn interventions(task: &Task) -> Vec<Intervention> {
    let problem = task.problem();
    let (data, memory) = (Data::new(), Memory::default());
    let context = Context::new(problem, &data, &memory);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut all = vec![optimum_of(task)];
    while all.len() < 6 {
        all.push(Random.suggest(&context, &mut rng).unwrap().suggestion.intervention);
    }
    all
}

#[test]
fn expectations_agree_with_experiments_by_hand() {
    const SAMPLES: usize = 100_000;
    for name in Task::names() {
        let task = task(name);
        let reward = task.problem().slot(task.problem().reward()).start;
        for (k, intervention) in interventions(&task).iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
            let sample = |_| task.problem().sign() * by_hand(name, intervention, &mut rng)[reward];
            let (mean, error) = mean_and_error(&(0..SAMPLES).map(sample).collect::<Vec<_>>());
            let expected = task.expected_reward(intervention);
            let tolerance = 4.0 * error + 1e-9 * expected.abs().max(1.0);
            assert!(
                (mean - expected).abs() < tolerance,
                "{name} {intervention:?}: {expected}, {mean} ± {error}"
            );
            assert!(expected <= task.optimum() + 1e-6, "{name} {intervention:?}: {expected}");
        }
    }
}

#[test]
fn experiments_agree_with_experiments_by_hand_at_every_node() {
    const SAMPLES: usize = 20_000;
    for name in Task::names() {
        let task = task(name);
        for (k, intervention) in interventions(&task).iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(100 + k as u64);
            let ours: Vec<_> = (0..SAMPLES).map(|_| task.sample(intervention, &mut rng)).collect();
            let hand: Vec<_> = (0..SAMPLES).map(|_| by_hand(name, intervention, &mut rng)).collect();
            for node in 0..ours[0].len() {
                // Means, and means of squares of what is near the mean: tails of exp(-X0) have no stable variance.
                let center = mean_and_error(&hand.iter().map(|row| row[node]).collect::<Vec<_>>()).0;
                for power in [1, 2] {
                    let part = |rows: &[Vec<f64>]| {
                        let value = |row: &Vec<f64>| {
                            let from_mean = row[node] - center;
                            if power == 1 { from_mean } else { from_mean.powi(2).min(20.0) }
                        };
                        mean_and_error(&rows.iter().map(value).collect::<Vec<_>>())
                    };
                    let ((a, sa), (b, sb)) = (part(&ours), part(&hand));
                    let tolerance = 4.0 * sa.hypot(sb) + 1e-9 * center.abs().max(1.0);
                    assert!((a - b).abs() < tolerance, "{name} {intervention:?} node {node}: {a}, {b}");
                }
            }
        }
    }
}

#[test]
fn random_interventions_have_the_tabulated_means() {
    for (name, expected, rounding) in [
        ("dropwave", 0.133, 0.0005),
        ("alpine2", 0.0, 0.2),
        ("rosenbrock", -1822.7, 0.05),
        ("ackley", -5.72, 0.005),
    ] {
        let task = task(name);
        let problem = task.problem();
        let (data, memory) = (Data::new(), Memory::default());
        let context = Context::new(problem, &data, &memory);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut reward = || {
            let suggestion = Random.suggest(&context, &mut rng).unwrap().suggestion;
            task.expected_reward(&suggestion.intervention)
        };
        let (mean, error) = mean_and_error(&(0..100_000).map(|_| reward()).collect::<Vec<_>>());
        assert!((mean - expected).abs() < 4.0 * error + rounding, "{name}: {mean} ± {error}");
    }
}

#[test]
fn methods_are_named() {
    for name in Task::names() {
        let expected = match name {
            "toygraph" | "psagraph" | "dropwave-noisy" => "quadrature",
            _ => "exact",
        };
        assert_eq!(task(name).method(), expected, "{name}");
        assert!(task(name).optimum_is_known());
        assert_eq!(task(name).problem().name(), name);
    }
    assert_eq!(task("scm-soft-0").method(), "samples");
}

#[test]
fn an_unknown_task_is_answered_with_the_names() {
    let error = Task::named("dropwav").unwrap_err().to_string();
    assert!(error.contains("dropwav") && error.contains("rosenbrock-noisy"), "{error}");
}
