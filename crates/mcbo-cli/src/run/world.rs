//! Where measurements come from.

use std::fmt;
use std::sync::Arc;

use mcbo_core::{Given, Problem, Trial};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Why a trial could not be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureError {
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub hint: String,
    /// The last lines that the program wrote to stderr.
    pub said: String,
}

impl MeasureError {
    /// Something that happened, and what to do about it.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into(), said: String::new() }
    }

    /// What happened, the last that the program wrote to stderr, and what to do about it.
    pub fn at_length(&self) -> String {
        let mut text = self.what.clone();
        if !self.said.is_empty() {
            text.push_str("\nthe last it wrote to stderr:");
            self.said.lines().for_each(|line| text.push_str(&format!("\n  {line}")));
        }
        text + "\nhint: " + &self.hint
    }
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The system under study: does what a trial says and measures.
pub trait World {
    /// What is known of the contexts before trial `number` is chosen; nothing unless the system can tell.
    ///
    /// # Errors
    /// If the system should be able to tell and is not.
    fn given(&mut self, number: usize) -> Result<Given, MeasureError> {
        let _ = number;
        Ok(Given::default())
    }

    /// The values at the places of [`Problem::slot`], `None` where not measured.
    ///
    /// # Errors
    /// If the trial could not be run or its answer cannot be used.
    fn measure(&mut self, trial: &Trial) -> Result<Vec<Option<f64>>, MeasureError>;
}

/// The simulator of the problem file.
pub struct Simulated {
    problem: Arc<Problem>,
    seed: u64,
}

impl Simulated {
    /// Keeps the simulator's randomness apart from that of the strategy, which counts streams from the same seed.
    const KEY: u64 = 0x7369_6d75_6c61_7465;

    /// The same for contexts, which are drawn before a trial is chosen.
    const CONTEXTS: u64 = 0x636f_6e74_6578_7473;

    /// One stream per trial: what a trial gives does not depend on the trials before it.
    fn stream(&self, key: u64, number: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ key);
        rng.set_stream(number as u64);
        rng
    }

    /// The simulator of a problem; a problem without one fails every trial.
    pub fn new(problem: &Arc<Problem>, seed: u64) -> Self {
        Self { problem: Arc::clone(problem), seed }
    }
}

impl World for Simulated {
    fn given(&mut self, number: usize) -> Result<Given, MeasureError> {
        let draw =
            |simulator| Given::draw(&self.problem, simulator, &mut self.stream(Self::CONTEXTS, number));
        Ok(self.problem.simulator().map_or_else(Given::default, draw))
    }

    fn measure(&mut self, trial: &Trial) -> Result<Vec<Option<f64>>, MeasureError> {
        let Some(simulator) = self.problem.simulator() else {
            return Err(MeasureError::new(
                "the problem has no [simulator]",
                "add one, or measure with --exec",
            ));
        };
        let (mut rng, suggestion) = (self.stream(Self::KEY, trial.number), &trial.suggestion);
        let known = |node: usize| suggestion.given.of(node);
        let values = simulator.sample_knowing(&self.problem, &suggestion.intervention, known, &mut rng);
        Ok(values.into_iter().map(Some).collect())
    }
}
