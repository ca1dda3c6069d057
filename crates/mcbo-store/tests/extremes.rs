//! What is accepted can be used: whatever was told, the next trial can be asked for, and a recommendation.

mod common;

use mcbo_core::{Problem, StrategySettings, Study};
use mcbo_store::{MemoryStudy, StoreError};

/// Numbers at the ends of what there is.
const NUMBERS: [f64; 18] = [
    0.0,
    -0.0,
    5e-324,
    -1e-310,
    1e-200,
    1e-60,
    1e-15,
    1.0,
    1.0 + f64::EPSILON,
    -3.5,
    1e9,
    -1e16,
    1e40,
    1e60,
    -1e60,
    1.1e60,
    1e307,
    f64::MAX,
];

fn tell_anything_and_ask(seed: u64) -> (usize, usize) {
    let problem = Problem::from_toml(common::PROBLEM).unwrap();
    let mut study = MemoryStudy::new(Study::new(problem, seed).initial(2), None);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed + 1);
    let mut next = |most: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % most
    };
    let (mut taken, mut refused) = (0, 0);
    for round in 0..6 {
        let asked = study.ask("w", 1).unwrap_or_else(|error| panic!("seed {seed}, round {round}: {error}"));
        let text = serde_json::to_string(&asked[0].trial.suggestion).unwrap();
        assert!(serde_json::from_str::<mcbo_core::Suggestion>(&text).is_ok(), "seed {seed}: {text}");
        let number = asked[0].trial.number;
        // Half of the rounds are of one size, as measurements are.
        let size = NUMBERS[next(NUMBERS.len())];
        let mut value = || match round % 2 {
            0 => NUMBERS[next(NUMBERS.len())],
            _ => size * (1.0 + next(100) as f64 / 100.0),
        };
        let mut told = vec![("light", vec![value()]), ("growth", vec![value()])];
        if asked[0].trial.suggestion.intervention.targets.is_empty() {
            told.push(("moisture", vec![value()]));
        }
        if round == 3 {
            told.push(("water", vec![value()]));
        }
        match study.tell(number, &told, None) {
            Ok(()) => taken += 1,
            Err(error @ StoreError::Study(_)) => {
                refused += 1;
                assert!(error.to_string().contains("hint:"), "{error}");
                study.tell(number, &[("light", vec![0.5]), ("growth", vec![1.0])], None).unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
    study.ask("w", 1).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    study.study().recommend().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    (taken, refused)
}

#[test]
fn what_is_accepted_can_be_used() {
    let (mut taken, mut refused) = (0, 0);
    let seeds = std::env::var("MCBO_SEEDS").map_or(12, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let (more, less) = tell_anything_and_ask(seed);
        (taken, refused) = (taken + more, refused + less);
    }
    eprintln!("{seeds} studies: {taken} tells taken, {refused} refused");
    assert!(taken > refused && refused > 0);
}

#[test]
fn numbers_that_cannot_be_computed_with_are_refused_where_they_enter() {
    let settings = StrategySettings::default();
    let problem = Problem::from_toml(common::PROBLEM).unwrap();
    let study = Study::with_strategy(problem, settings.build().into(), 1);
    let mut study = MemoryStudy::new(study, Some(common::PROBLEM.into()));
    let number = study.ask("w", 1).unwrap()[0].trial.number;
    for value in [1e61, -1e308, f64::MAX] {
        let error = study.tell(number, &[("growth", vec![value])], None).unwrap_err().to_string();
        assert!(
            error.starts_with("growth is ") && error.contains("hint: give it in a larger unit"),
            "{error}"
        );
        let row = mcbo_store::Row { values: [("growth".into(), vec![value])].into(), ..Default::default() };
        assert!(matches!(study.add(&[row]), Err(StoreError::Rows(_))));
    }
    study.tell(number, &[("growth", vec![1e60])], None).unwrap();
    assert!(study.correct(number, &[("growth", vec![1e61])], "").is_err());
}
