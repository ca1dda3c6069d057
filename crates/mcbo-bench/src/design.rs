//! The rows a study starts from: what was done, what was seen of it.

use mcbo_core::{
    Action, Choice, Context, Data, DecisionSpace, Intervention, Memory, Observation, Problem, Random, Scale,
    Strategy,
};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::protocol::{Purpose, generator};
use crate::task::Task;

/// Observations that tasks with hard interventions start from.
const OBSERVATIONS: usize = 10;
/// Random interventions per target set that tasks with hard interventions start from.
const PER_SET: usize = 2;

/// Habitual settings of past rows: the least and the largest number.
const HABITS: [usize; 2] = [2, 3];
/// The standard deviation around them, relative to the range.
const HABIT_SPREAD: f64 = 0.05;
/// One past row of so many is no habit.
const SCATTERED: usize = 7;

/// What was done before a study begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Design {
    /// The paper's. Function networks: `2A + 1` uniformly random actions. Hard interventions: 10 observations and 2 random
    /// interventions on every non-empty target set. Both kinds: `2A + 1` random actions without targets, and 2 random
    /// interventions with random actions on every non-empty target set. What is known before deciding counts as an action does.
    Protocol,
    /// So many random interventions, as [`Random`] makes them.
    Scattered {
        /// How many.
        rows: usize,
    },
    /// What a plant has on file: so many rows, six in seven of them near one of two or three habitual settings, and with
    /// values that were not measured. Every row has at least one.
    Past {
        /// How many.
        rows: usize,
        /// The probability that a value is missing, below 1.
        missing: f64,
    },
}

/// See [`Task::rows`].
pub(crate) fn rows(task: &Task, design: Design, seed: u64) -> Vec<Observation> {
    let problem = task.problem();
    let mut rng = generator(task, seed, Purpose::Design, 0);
    let (interventions, missing) = match design {
        Design::Protocol => (by_protocol(problem, &mut rng), 0.0),
        Design::Scattered { rows } => ((0..rows).map(|_| anywhere(problem, &mut rng)).collect(), 0.0),
        Design::Past { rows, missing } => (habitual(problem, rows, &mut rng), missing),
    };
    let mut noise = generator(task, seed, Purpose::Noise, 0);
    interventions
        .into_iter()
        .map(|intervention| {
            let mut values: Vec<Option<f64>> =
                task.sample(&intervention, &mut noise).into_iter().map(Some).collect();
            if missing > 0.0 {
                leave_out(&mut values, missing, &mut rng);
            }
            Observation { intervention, values }
        })
        .collect()
}

/// Takes values away at random, one excepted.
fn leave_out(values: &mut [Option<f64>], missing: f64, rng: &mut ChaCha8Rng) {
    let kept = rng.random_range(0..values.len());
    let gone: Vec<bool> = values.iter().map(|_| rng.random::<f64>() < missing).collect();
    // Only a row that would be empty needs the exception.
    let empty = gone.iter().all(|gone| *gone);
    for (place, value) in values.iter_mut().enumerate() {
        if gone[place] && !(empty && place == kept) {
            *value = None;
        }
    }
}

fn by_protocol(problem: &Problem, rng: &mut dyn Rng) -> Vec<Intervention> {
    let actions = problem.actions().len();
    let without_targets = if actions == 0 { OBSERVATIONS } else { 2 * (actions + problem.context_dim()) + 1 };
    let sets = problem.target_sets().unwrap_or_default();
    let targeted = sets.iter().filter(|set| !set.is_empty()).flat_map(|set| [set.as_slice(); PER_SET]);
    std::iter::repeat_n([].as_slice(), without_targets)
        .chain(targeted)
        .map(|targets| random_intervention(problem, targets, rng))
        .collect()
}

/// Uniformly random values of the targets and of all actions.
fn random_intervention(problem: &Problem, targets: &[usize], rng: &mut dyn Rng) -> Intervention {
    let mut uniform = |[low, high]: [f64; 2]| low + (high - low) * rng.random::<f64>();
    let drawn = Intervention {
        targets: targets
            .iter()
            .map(|&node| {
                let ranges = problem.nodes()[node].hard.iter().flatten();
                (node, ranges.map(|range| uniform(*range)).collect())
            })
            .collect(),
        actions: problem.actions().iter().map(|action| action.at_share(uniform([0.0, 1.0]))).collect(),
    };
    allowed(problem, drawn)
}

/// The intervention itself where it is allowed, else one near it that is: on the steps, a choice, within what is required.
///
/// ```
/// use mcbo_bench::{Task, allowed};
/// use mcbo_core::{Intervention, check_intervention};
/// let task = Task::named("doses")?;
/// let done = |actions| Intervention { targets: Vec::new(), actions };
/// let moved = allowed(task.problem(), done(vec![90.0, 90.0, 40.0]));
/// assert!(check_intervention(task.problem(), &moved).is_ok());
/// assert!(moved.actions.iter().sum::<f64>() < 120.1);
/// # Ok::<(), mcbo_bench::BenchError>(())
/// ```
pub fn allowed(problem: &Problem, intervention: Intervention) -> Intervention {
    let space = DecisionSpace::new(problem, &Choice::of(problem, &intervention));
    if space.is_box() {
        return intervention;
    }
    let mut point = space.point(&intervention);
    match space.allow(&mut point) {
        true => space.intervention(problem, &point),
        false => problem.neutral_intervention(),
    }
}

/// A random choice with random values.
fn anywhere(problem: &Problem, rng: &mut dyn Rng) -> Intervention {
    let (data, memory) = (Data::new(), Memory::default());
    let context = Context::new(problem, &data, &memory);
    // Random strategies never fail.
    Random
        .suggest(&context, rng)
        .map_or_else(|_| problem.neutral_intervention(), |proposal| proposal.suggestion.intervention)
}

fn habitual(problem: &Problem, rows: usize, rng: &mut dyn Rng) -> Vec<Intervention> {
    let count = rng.random_range(HABITS[0]..=HABITS[1]);
    let habits: Vec<Intervention> = (0..count).map(|_| anywhere(problem, rng)).collect();
    (0..rows)
        .map(|row| {
            if row % SCATTERED == SCATTERED - 1 {
                anywhere(problem, rng)
            } else {
                near(problem, &habits[rng.random_range(0..count)], rng)
            }
        })
        .collect()
}

/// Changes a value of an action on its scale: its value in its range, or its share of the way through.
pub(crate) fn along_scale(action: &Action, value: f64, change: impl FnOnce(f64, [f64; 2]) -> f64) -> f64 {
    match action.scale {
        Scale::Linear => change(value, action.range),
        Scale::Log => {
            action.at_share(change(action.share(value), [0.0, 1.0])).clamp(action.range[0], action.range[1])
        }
    }
}

/// An intervention of the same choice with values near those of another.
fn near(problem: &Problem, habit: &Intervention, rng: &mut dyn Rng) -> Intervention {
    let mut shifted = |value: f64, [low, high]: [f64; 2]| {
        let z: f64 = StandardNormal.sample(&mut *rng);
        (value + HABIT_SPREAD * (high - low) * z).clamp(low, high)
    };
    let mut next = habit.clone();
    for (value, action) in next.actions.iter_mut().zip(problem.actions()) {
        // Not acting is no setting that varies.
        if *value != action.neutral {
            *value = along_scale(action, *value, &mut shifted);
        }
    }
    for (node, values) in &mut next.targets {
        for (value, range) in values.iter_mut().zip(problem.nodes()[*node].hard.iter().flatten()) {
            *value = shifted(*value, *range);
        }
    }
    allowed(problem, next)
}
