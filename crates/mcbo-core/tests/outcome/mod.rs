//! What tests of outcomes share.

use mcbo_core::{Intervention, Study};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// An action, and nothing else.
pub fn doing(a: f64) -> Intervention {
    Intervention { targets: Vec::new(), actions: vec![a] }
}

/// Asks and measures so many times.
pub fn run(study: &mut Study, trials: usize) {
    let problem = study.problem().clone();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..trials {
        let trial = study.ask().expect("a suggestion");
        let (number, intervention) = (trial.number, trial.suggestion.intervention.clone());
        let values = problem.simulator().expect("one").sample(&problem, &intervention, &mut rng);
        study.tell(number, values.into_iter().map(Some).collect()).expect("a good observation");
    }
}
