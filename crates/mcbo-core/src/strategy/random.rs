//! Uniformly random interventions, and the quasi-random initial design.

use rand::{Rng, RngExt};

use crate::problem::{Part, compose, parts};
use crate::quasi::sobol;
use crate::{Choice, DecisionSpace, Intervention, Problem};

use super::{Context, Proposal, Strategy, SuggestError, Suggestion, Warning};

/// Uniformly random interventions: a choice at random, then values at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Random;

impl Strategy for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let (intervention, warning) = draw(context, rng);
        let warnings = warning.into_iter().collect();
        let suggestion = Suggestion { warnings, ..Suggestion::new(self.name(), intervention) };
        Ok(Proposal { suggestion, memory: context.memory.clone() })
    }
}

/// A random intervention that is not taken, if one is found in 64 attempts; else one that is, with a warning.
pub(super) fn draw(context: &Context<'_>, rng: &mut dyn Rng) -> (Intervention, Option<Warning>) {
    let mut draw = || {
        let choice = match context.problem.choices() {
            Some(choices) => choices[rng.random_range(0..choices.len())].clone(),
            None => random_choice(context.problem, rng),
        };
        fill(context.problem, &choice, |_| rng.random())
    };
    let mut intervention = draw();
    for _ in 0..64 {
        if !context.is_taken(&intervention) {
            break;
        }
        intervention = draw();
    }
    let warning = context.is_taken(&intervention).then_some(Warning::NothingElse);
    (intervention, warning)
}

/// Point `index` of the initial design: all choices in turn, the values of each from a scrambled Sobol sequence of its own.
pub fn design_point(problem: &Problem, index: usize, seed: u64) -> Intervention {
    let choice = match problem.choices() {
        Some(choices) => {
            // Every few points of one sequence would be no better than chance.
            let (turn, place) = (index / choices.len(), index % choices.len());
            let seed = seed.wrapping_add((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            return fill(problem, &choices[place], |k| sobol(turn as u32, k as u32, seed));
        }
        None => {
            use rand::SeedableRng;
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::MAX - index as u64);
            random_choice(problem, &mut rng)
        }
    };
    fill(problem, &choice, |k| sobol(index as u32, k as u32, seed))
}

/// The intervention of a choice with the given unit-scaled values.
fn fill(problem: &Problem, choice: &Choice, unit: impl FnMut(usize) -> f64) -> Intervention {
    let space = DecisionSpace::new(problem, choice);
    let point: Vec<f64> = (0..space.dim()).map(unit).collect();
    space.intervention(problem, &point)
}

/// A random choice where there are too many to list: parts are added in random order while they fit.
fn random_choice(problem: &Problem, rng: &mut dyn Rng) -> Choice {
    let mut remaining = parts(problem);
    let size =
        rng.random_range(0..=problem.max_interventions().unwrap_or(remaining.len()).min(remaining.len()));
    let mut members: Vec<Part> = match problem.sets() {
        Some(sets) => sets[rng.random_range(0..sets.len())].iter().map(|&node| Part::Target(node)).collect(),
        None => Vec::new(),
    };
    remaining.retain(|part| !members.contains(part));
    while members.len() < size && !remaining.is_empty() {
        let part = remaining.swap_remove(rng.random_range(0..remaining.len()));
        members.push(part);
        if compose(problem, &members).is_none() {
            members.pop();
        }
    }
    compose(problem, &members).unwrap_or_default()
}
