//! Twenty rounds of MCBO at β = 0.5 against random search, on each of the nine settings of the paper.

use mcbo_bench::{Task, run};
use mcbo_core::{Mcbo, Random};
use rayon::prelude::*;

const SETTINGS: [&str; 9] = [
    "toygraph",
    "psagraph",
    "dropwave",
    "alpine2",
    "rosenbrock",
    "ackley",
    "dropwave-noisy",
    "alpine2-noisy",
    "rosenbrock-noisy",
];

fn wins(task: &Task, strategy: &Mcbo) -> usize {
    (0..10_u64)
        .into_par_iter()
        .filter(|&seed| {
            let ours = run(task, strategy, seed, 20).expect("a run");
            let random = run(task, &Random, seed, 20).expect("a run");
            assert_eq!(ours.initial, random.initial, "both begin from the same design");
            ours.average_reward() > random.average_reward()
        })
        .count()
}

#[test]
fn the_default_model_beats_random_search_on_nine_seeds_of_ten() {
    for name in SETTINGS {
        let wins = wins(&Task::named(name).expect("a task"), &Mcbo::default().with_beta(0.5));
        assert!(wins >= 9, "{name}: only {wins} of 10");
    }
}

#[test]
fn the_papers_settings_beat_random_search_on_nine_seeds_of_ten() {
    for name in SETTINGS {
        let wins = wins(&Task::named(name).expect("a task"), &Mcbo::paper());
        assert!(wins >= 9, "{name}: only {wins} of 10");
    }
}
