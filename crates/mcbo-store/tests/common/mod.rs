//! What the tests of the store share: a problem, its world, and a PostgreSQL server of their own.
#![allow(dead_code)]

pub mod postgres;

use mcbo_core::{Intervention, Trial};
use mcbo_store::{Options, Store, StoredStudy, StrategyOptions};

pub const PROBLEM: &str = r#"
name = "greenhouse"
maximize = "growth"

[nodes.light]
[nodes.moisture]
parents = ["light"]
actions = ["water"]
do = [0.0, 1.0]
range = [-2.0, 3.0]
[nodes.growth]
parents = ["moisture", "light"]

[actions.water]
range = [0.0, 10.0]
"#;

/// The same with another node, another action and a wider range.
pub const EXTENDED: &str = r#"
name = "greenhouse"
maximize = "growth"

[nodes.leaf]
actions = ["lamp"]
[nodes.light]
[nodes.moisture]
parents = ["light"]
actions = ["water"]
do = [0.0, 2.0]
range = [-2.0, 3.0]
[nodes.growth]
parents = ["moisture", "light", "leaf"]

[actions.lamp]
range = [1.0, 2.0]
neutral = 0.0
[actions.water]
range = [0.0, 10.0]
"#;

/// What the world answers to an intervention on [`PROBLEM`]: numbers that need all their digits.
pub fn world(number: usize, intervention: &Intervention) -> Vec<(&'static str, Vec<f64>)> {
    let light = (number as f64 * 0.7).sin() / 3.0;
    let moisture = match intervention.target(1) {
        Some(set) => set[0],
        None => 0.1 + 0.07 * intervention.actions[0] + 0.1 * light,
    };
    let growth = 1.0 - (moisture - 0.6).powi(2) + 0.1 * light + 0.1 + 0.2;
    vec![("light", vec![light]), ("moisture", vec![moisture]), ("growth", vec![growth])]
}

/// A study on [`PROBLEM`].
pub fn create(store: &Store, name: &str, strategy: &str, initial: usize) -> StoredStudy {
    let options = Options { strategy: StrategyOptions::named(strategy), seed: 7, initial: Some(initial) };
    store.create(name, PROBLEM, &options).expect("the study is made")
}

/// Asks and tells once.
pub fn round(study: &mut StoredStudy, worker: &str) -> Trial {
    let trial = study.ask(worker, 1).expect("asking works").remove(0).trial;
    study
        .tell(trial.number, &world(trial.number, &trial.suggestion.intervention), Some(worker))
        .expect("telling works");
    trial
}

/// The address of an SQLite file in a folder.
pub fn sqlite(folder: &tempfile::TempDir) -> String {
    format!("sqlite://{}", folder.path().join("studies.sqlite").display())
}
