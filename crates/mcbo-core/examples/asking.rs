//! What `crates/mcbo-py/benches/beside_rust.py` does from Python, from Rust: a suggestion and a recommendation of a study with many rows.
//!
//! `asking PROBLEM.toml ROWS ask best`, where every line of `ROWS` has the actions and then the values of all nodes, in the problem's order. Prints
//! what was done, its seconds, and an action that was chosen, to its last bit.

use std::time::Instant;

use mcbo_core::{Criterion, Given, Intervention, Observation, Problem, Study};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [problem, rows, wanted @ ..] = &arguments[..] else {
        return Err("PROBLEM.toml ROWS ask best".into());
    };
    let problem = Problem::from_toml(&std::fs::read_to_string(problem)?)?;
    let actions = problem.actions().len();
    let mut study = Study::new(problem, 1);
    for line in std::fs::read_to_string(rows)?.lines() {
        let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let intervention = Intervention { actions: numbers[..actions].to_vec(), ..Intervention::default() };
        let values = numbers[actions..].iter().map(|&value| Some(value)).collect();
        study.add(Observation { intervention, values })?;
    }
    for kind in wanted {
        let start = Instant::now();
        let action = match kind.as_str() {
            "ask" => study.clone().ask()?.suggestion.intervention.actions[0],
            _ => {
                let best = study.policy(Criterion::Mean, &[Given::default()])?.remove(0);
                assert!(study.certify(&best, 2.0).gap() >= 0.0);
                best.intervention.actions[0]
            }
        };
        println!("{kind} {} {:016x}", start.elapsed().as_secs_f64(), action.to_bits());
    }
    Ok(())
}
