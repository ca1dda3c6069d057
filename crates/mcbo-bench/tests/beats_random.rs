//! Twenty rounds of MCBO at β = 0.5 against random search, on each of the nine settings of the paper.

use mcbo_bench::{PAPER_TASKS, Task, run};
use mcbo_core::{Mcbo, Random};
use rayon::prelude::*;

/// Whether a strategy is above random search on nine seeds of ten.
///
/// On Dropwave some seeds fall behind, 9 of 200 with the default and 17 with the paper's settings, and not evenly: among the
/// first ten it may be one or three, among the first hundred seven or twelve. Two hundred tell, and cost little there.
fn check(name: &str, strategy: &Mcbo) {
    let task = Task::named(name).expect("a task");
    let seeds = if name == "dropwave" { 200 } else { 10 };
    let wins = wins(&task, strategy, seeds);
    assert!(10 * wins >= 9 * seeds as usize, "{name}: only {wins} of {seeds}");
}

fn wins(task: &Task, strategy: &Mcbo, seeds: u64) -> usize {
    (0..seeds)
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
    for name in PAPER_TASKS {
        check(name, &Mcbo::default().with_beta(0.5));
    }
}

#[test]
fn the_papers_settings_beat_random_search_on_nine_seeds_of_ten() {
    for name in PAPER_TASKS {
        check(name, &Mcbo::paper());
    }
}
