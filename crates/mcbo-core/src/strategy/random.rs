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
        let warnings = warning.into_iter().chain(context.ignoring(self.name(), true)).collect();
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
        fill(context.problem, &choice, |_, _| rng.random())
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
            return fill(problem, &choices[place], design(turn, seed));
        }
        None => {
            use rand::SeedableRng;
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::MAX - index as u64);
            random_choice(problem, &mut rng)
        }
    };
    fill(problem, &choice, design(index, seed))
}

/// The numbers of a point of the design: where requirements refuse one, the next try is another part of the sequence.
fn design(index: usize, seed: u64) -> impl FnMut(usize, usize) -> f64 {
    const PARTS: u64 = 0x632b_e59b_d9b4_e019;
    move |k, attempt| sobol(index as u32, k as u32, seed.wrapping_add(PARTS.wrapping_mul(attempt as u64)))
}

/// Points that are tried before one is moved to where it keeps to what is required.
const ATTEMPTS: usize = 200;

/// The intervention of a choice with the given unit-scaled values, by variable and attempt: the first attempt that is allowed.
fn fill(problem: &Problem, choice: &Choice, mut unit: impl FnMut(usize, usize) -> f64) -> Intervention {
    let space = DecisionSpace::new(problem, choice);
    let mut draw = |attempt: usize| (0..space.dim()).map(|k| unit(k, attempt)).collect::<Vec<f64>>();
    let first = draw(0);
    if space.is_box() {
        return space.intervention(problem, &first);
    }
    let mut point = first.clone();
    let mut found = space.spread(first);
    if found.is_none() && space.has_conditions() {
        // Names under which less is allowed have their share all the same, unless they do not go together.
        let mut under_names = |attempt: usize| {
            let mut next = draw(attempt);
            let named = space.variables().iter().enumerate().filter(|(_, variable)| variable.named);
            named.for_each(|(k, _)| next[k] = point[k]);
            next
        };
        found = (1..ATTEMPTS).find_map(|attempt| space.spread(under_names(attempt)));
        found = found.or_else(|| space.allow_under_names(point.clone()));
    }
    let found = found.or_else(|| (1..ATTEMPTS).find_map(|attempt| space.spread(draw(attempt))));
    if let Some(found) = found {
        return space.intervention(problem, &found);
    }
    // Little of the box is allowed: the nearest to the first attempt.
    match space.allow(&mut point) {
        true => space.intervention(problem, &point),
        false => problem.neutral_intervention(),
    }
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
