//! The examples that come with the project: each is a good file and its simulator gives finite numbers.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::problem::*;

fn example(name: &str) -> Problem {
    let path = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    Problem::from_toml(&text).unwrap_or_else(|errors| panic!("{}", errors.render(&path)))
}

/// The mean reward in the direction of improvement, over `n` runs of the simulator.
fn mean_reward(problem: &Problem, intervention: &Intervention, n: u32) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let simulator = problem.simulator().unwrap();
    let at = problem.slot(problem.reward()).start;
    let total: f64 = (0..n).map(|_| simulator.sample(problem, intervention, &mut rng)[at]).sum();
    problem.sign() * total / f64::from(n)
}

#[test]
fn examples_run_everywhere_in_their_ranges() {
    for name in ["nitrogen", "clinic", "network", "mixed", "vector"] {
        let problem = example(name);
        assert!(problem.warnings().is_empty(), "{name}: {:?}", problem.warnings());
        let simulator = problem.simulator().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut tried = vec![problem.neutral_intervention()];
        // The corners and the middle of all ranges together.
        for at in [0.0, 0.5, 1.0] {
            let inside = |[lo, hi]: [f64; 2]| lo + at * (hi - lo);
            let actions = problem.actions().iter().map(|action| inside(action.range)).collect();
            let target = |&node: &usize| {
                let ranges = problem.nodes()[node].hard.iter().flatten();
                (node, ranges.map(|&range| inside(range)).collect())
            };
            tried.push(Intervention { targets: problem.settable().iter().map(target).collect(), actions });
        }
        for intervention in &tried {
            for _ in 0..200 {
                let values = simulator.sample(&problem, intervention, &mut rng);
                assert_eq!(values.len(), problem.slots());
                assert!(values.iter().all(|value| value.is_finite()), "{name}: {values:?}");
                for (node, set) in &intervention.targets {
                    assert_eq!(values[problem.slot(*node)], set[..]);
                }
            }
        }
    }
}

#[test]
fn simulation_repeats_with_its_seed() {
    let problem = example("mixed");
    let draw = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        problem.simulator().unwrap().sample(&problem, &problem.neutral_intervention(), &mut rng)
    };
    assert_eq!(draw(3), draw(3));
    assert_ne!(draw(3), draw(4));
}

/// Expectations of the same model by quadrature: -5.155287, -5.344343, -5.616851 and -5.805923. The standard
/// deviation of one run is below 0.6, so 100,000 runs are within 0.0095 at five standard errors.
#[test]
fn the_clinic_is_the_published_model() {
    let problem = example("clinic");
    let [aspirin, statin] = ["aspirin", "statin"].map(|name| problem.node_index(name).unwrap());
    let reward = |targets: &[(usize, f64)]| {
        let targets = targets.iter().map(|&(node, value)| (node, vec![value])).collect();
        mean_reward(&problem, &Intervention { targets, actions: Vec::new() }, 100_000)
    };
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 0.0095, "{found} {expected}");
    close(reward(&[(aspirin, 0.0), (statin, 1.0)]), -5.155287);
    close(reward(&[(statin, 1.0)]), -5.344343);
    close(reward(&[(aspirin, 0.0)]), -5.616851);
    close(reward(&[]), -5.805923);
    let sets = problem.graph().minimal_sets(problem.reward(), &problem.settable(), 100).unwrap();
    assert_eq!(sets, [vec![], vec![aspirin], vec![statin], vec![aspirin, statin]]);
}

/// The best schedule uses the first and the last dose, inside their ranges, and beats the other pairs.
#[test]
fn the_best_nitrogen_schedule_is_not_obvious() {
    let problem = example("nitrogen");
    let grid: Vec<f64> = (0..=9).map(|step| 10.0 * f64::from(step)).collect();
    let mut best: Vec<(f64, Vec<f64>)> = Vec::new();
    for pair in [[0, 1], [0, 2], [1, 2]] {
        let mut found = (f64::NEG_INFINITY, Vec::new());
        for &first in &grid {
            for &second in &grid {
                let mut actions = vec![0.0; 3];
                actions[pair[0]] = first;
                actions[pair[1]] = second;
                let reward = mean_reward(
                    &problem,
                    &Intervention { targets: Vec::new(), actions: actions.clone() },
                    500,
                );
                if reward > found.0 {
                    found = (reward, actions);
                }
            }
        }
        best.push(found);
    }
    let nothing = mean_reward(&problem, &problem.neutral_intervention(), 500);
    assert!(best[1].0 > best[0].0 + 0.3 && best[1].0 > best[2].0 + 0.3, "{best:?}");
    assert!(best[1].0 > nothing + 2.0, "{best:?} {nothing}");
    let inside = |dose: f64| (10.0..=80.0).contains(&dose);
    assert!(inside(best[1].1[0]) && inside(best[1].1[2]), "{best:?}");
}
