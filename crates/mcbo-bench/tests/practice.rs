//! The optima of tasks with contexts, limits and costs, made again by other means than the strategies use.

use mcbo_bench::Task;
use mcbo_core::{Given, Intervention};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn acting(actions: &[f64]) -> Intervention {
    Intervention { targets: Vec::new(), actions: actions.to_vec() }
}

/// Contexts are roots: an intervention that sets one gives what is expected where it is so.
fn in_context(actions: &[f64], context: f64) -> Intervention {
    Intervention { targets: vec![(0, vec![context])], actions: actions.to_vec() }
}

fn grid(low: f64, high: f64, points: usize) -> impl Iterator<Item = f64> + Clone {
    (0..points).map(move |i| low + (high - low) * i as f64 / (points - 1) as f64)
}

/// The mean over contexts, by the middle of many equal parts, of the best over a grid of actions.
#[test]
fn policies() {
    for (name, range) in [("molasses", [0.0, 2.0]), ("thermostat", [0.0, 1.0])] {
        let task = Task::named(name).expect("a task");
        let best = |context: f64| {
            let rewards =
                grid(range[0], range[1], 401).map(|a| task.expected_reward(&in_context(&[a], context)));
            rewards.fold(f64::NEG_INFINITY, f64::max)
        };
        let parts = 100;
        let mean =
            (0..parts).map(|i| best((f64::from(i) + 0.5) / f64::from(parts))).sum::<f64>() / f64::from(parts);
        assert!((mean - task.optimum()).abs() < 1e-4, "{name}: {mean} against {}", task.optimum());
        // Without the context there is less to have.
        let blind = grid(range[0], range[1], 201).map(|a| task.expected_reward(&acting(&[a])));
        let blind = blind.fold(f64::NEG_INFINITY, f64::max);
        assert!(blind < 0.9 * task.optimum(), "{name}: {blind}");
        let given = task.contexts(&mut ChaCha8Rng::seed_from_u64(1));
        assert!(given != Given::default());
    }
}

/// By counting experiments: what keeps the limit, and the best reward of that.
#[test]
fn the_best_that_keeps_the_limit() {
    let task = Task::named("acetate").expect("a task");
    let mut best = f64::NEG_INFINITY;
    for feed in grid(0.0, 4.0, 41) {
        for heat in [0.3, 0.4, 0.5] {
            let at = acting(&[feed, heat]);
            let reward = task.expected_reward(&at);
            // Only what could be better is worth counting.
            if reward > best && task.keeping(&at)[0].1 >= 0.95 {
                best = reward;
            }
        }
    }
    assert!((best - task.optimum()).abs() < 0.03, "{best} against {}", task.optimum());
    // The unconstrained optimum breaks the limit.
    let free = acting(&[4.0, 0.5]);
    assert!(task.expected_reward(&free) > 1.2 * task.optimum() && task.keeping(&free)[0].1 < 0.1);
    let task = Task::named("toygraph-limit").expect("a task");
    let set = |node: usize, value: f64| Intervention { targets: vec![(node, vec![value])], actions: vec![] };
    let mut best = (f64::NEG_INFINITY, 0.0);
    for x in grid(-5.0, 20.0, 5001) {
        // What is set keeps the limit or not; nothing has to be counted.
        if x >= 0.0 && task.expected_reward(&set(1, x)) > best.0 {
            best = (task.expected_reward(&set(1, x)), x);
        }
    }
    assert!((best.0 - task.optimum()).abs() < 1e-5, "{best:?}");
    assert_eq!(task.keeping(&set(1, best.1))[0].1, 1.0);
    for x in grid(-5.0, 5.0, 21) {
        let at = set(0, x);
        assert!(task.expected_reward(&at) < 1.6 || task.keeping(&at)[0].1 < 0.9, "{x}");
    }
    assert!(task.expected_reward(&set(1, -3.1)) > task.optimum() && task.keeping(&set(1, -3.1))[0].1 == 0.0);
}

/// Whoever is older is heavier, so that of each metabolism and height the ages up to some age keep the limit: its probability is a sum over
/// those two, and the most calories that keep it come by bisection.
#[test]
fn the_most_calories_that_keep_the_index() {
    let task = Task::named("health-limit").expect("a task");
    let middle = |range: [f64; 2], k: u32| range[0] + (range[1] - range[0]) * (f64::from(k) + 0.5) / 200.0;
    let probability = |calories: f64| {
        let keeping = |(metabolism, height): (f64, f64)| {
            let heaviest = 25.0 * (height / 100.0) * (height / 100.0);
            let oldest = (13.7 * (heaviest - calories * 150.0 / 7716.0) + 5.0 * height - metabolism) / 6.8;
            ((oldest - 55.0) / 20.0).clamp(0.0, 1.0)
        };
        let pairs = (0..200)
            .flat_map(|i| (0..200).map(move |k| (middle([1490.0, 1520.0], i), middle([170.0, 180.0], k))));
        pairs.map(keeping).sum::<f64>() / 40_000.0
    };
    let (mut low, mut high) = (-400.0, 0.0);
    assert!(probability(low) > 0.8 && probability(high) < 0.8);
    for _ in 0..60 {
        let between = 0.5 * (low + high);
        *(if probability(between) >= 0.8 { &mut low } else { &mut high }) = between;
    }
    let node = |name: &str| task.problem().nodes().iter().position(|node| node.name == name).expect("a node");
    let at = |set: &[(&str, f64)]| {
        let mut targets: Vec<_> = set.iter().map(|(name, value)| (node(name), vec![*value])).collect();
        targets.sort_by_key(|(node, _)| *node);
        Intervention { targets, actions: Vec::new() }
    };
    let best = at(&[("calories", low), ("statin", 1.0), ("aspirin", 0.0)]);
    let optimum = task.expected_reward(&best);
    assert!((optimum - task.optimum()).abs() < 1e-5, "{optimum} at {low}");
    assert!((task.keeping(&best)[0].1 - 0.8).abs() < 0.01);
    // Nothing else on a grid that keeps the limit is better, and observing does not keep it.
    for calories in grid(-400.0, low, 5) {
        for drug in grid(0.0, 1.0, 5) {
            for other in grid(0.0, 1.0, 5) {
                let both = at(&[("calories", calories), ("statin", drug), ("aspirin", other)]);
                assert!(task.expected_reward(&both) <= optimum + 1e-9);
            }
            for alone in ["statin", "aspirin"] {
                assert!(task.expected_reward(&at(&[("calories", calories), (alone, drug)])) < optimum);
            }
        }
        assert!(task.expected_reward(&at(&[("calories", calories)])) < optimum);
    }
    assert!(task.expected_reward(&at(&[("calories", 400.0), ("statin", 1.0), ("aspirin", 0.0)])) > optimum);
    assert!(task.keeping(&Intervention { targets: vec![], actions: vec![] })[0].1 < 0.6);
}

/// The search that tasks of one's own are measured by finds what was worked out for these: with a limit the best that keeps it, with a context
/// the mean over contexts of the best in each. Rewards of noisy tasks are means of 100,000 experiments, contexts 64.
#[test]
fn what_is_best_in_a_task_of_ones_own_keeps_limits_and_answers_contexts() {
    for (name, off) in [("acetate", 0.02), ("molasses", 0.02), ("thermostat", 0.15)] {
        let known = Task::named(name).expect("a task");
        let own = Task::own("mine", (**known.problem()).clone()).expect("a task");
        let (optimum, expected) = (own.optimum(), known.optimum());
        assert!((optimum - expected).abs() < off * expected, "{name}: {optimum} against {expected}");
    }
}

#[test]
fn costs_do_not_change_what_is_best() {
    let (task, free) =
        (Task::named("psagraph-costs").expect("a task"), Task::named("psagraph").expect("a task"));
    assert_eq!(task.optimum(), free.optimum());
    let drugs = Intervention { targets: vec![(2, vec![0.0]), (3, vec![1.0])], actions: vec![] };
    assert!((task.expected_reward(&drugs) - task.optimum()).abs() < 1e-5);
    assert_eq!(task.problem().cost(&drugs), 6.0);
    let task = Task::named("furnaces").expect("a task");
    for actions in [[0.5, 1.0, 0.0], [0.0, 0.0, 1.5]] {
        assert!((task.expected_reward(&acting(&actions)) - task.optimum()).abs() < 1e-9);
    }
    assert_eq!(task.problem().cost(&acting(&[0.5, 1.0, 0.0])), 2.5);
    assert_eq!(task.problem().cost(&acting(&[0.0, 0.0, 1.5])), 17.5);
}
