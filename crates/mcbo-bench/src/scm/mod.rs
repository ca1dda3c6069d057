//! Random structural causal models, so that no method is tuned to a handful of known functions.
//!
//! A name such as `scm-soft-3` is a seed: it fixes the graph of 3 to 10 nodes, the mechanisms and the noise; `scm20-soft-3`
//! and `scm50-soft-3` have 20 and 50 nodes. Mechanisms are draws from Gaussian processes (as sums of random Fourier
//! features), written as formulas of an ordinary problem; in `scm-additive-3`, `scm-scaled-3`, `scm-linear-3` and
//! `scm-warped-3` they have a form. `scm-past-3` is for studies that begin from past rows. Half of the actions of `scm-choices-3` are names,
//! each with a mechanism that has something in common with the others, and some go in steps. `scm-limits-3` has limits on outcomes, `scm-contexts-3`
//! something that is known before deciding, `scm-costs-3` actions that cost.

mod draft;
mod marks;
mod mechanism;
#[cfg(test)]
mod tests;
mod trials;

use std::ops::Range;

use mcbo_core::{Context, Data, Memory, Noise, Problem, ProblemErrors, Random, Strategy};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::design::Design;
use crate::expectation::NoiseTable;
use crate::protocol::name_hash;
use crate::task::Span;

use draft::{Decided, Draft, name_of};
use marks::Marks;
use mechanism::{Form, Inputs, mechanism};
use trials::Trials;

/// Samples behind an expected reward.
pub(crate) const SAMPLES: usize = 1024;

/// The sizes, in nodes, that can be asked for.
const LARGE: [&str; 2] = ["20", "50"];

/// Where a node may be set; nodes have about unit variance.
const DO_RANGE: [f64; 2] = [-2.0, 2.0];
/// Standard deviations of the noise where there is some, and where there is past data.
const NOISE: Range<f64> = 0.05..0.2;
const PAST_NOISE: Range<f64> = 0.05..0.3;
/// What there is of the past.
const PAST: Design = Design::Past { rows: 40, missing: 0.12 };
/// Models in which expected rewards of random interventions have a smaller standard deviation are drawn anew: whatever is done
/// in them hardly matters. The reward itself has about unit variance.
const LEAST_SPREAD: f64 = 0.25;
/// Random interventions and noise samples behind that standard deviation.
const SPREAD_BUDGET: (usize, usize) = (100, 64);

/// Spans of the first models of each kind: name, mean of random interventions, the best of several searches.
const SPANS: &str = include_str!("../../tasks/scm-spans.txt");

/// What the second word of a name stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kind {
    word: &'static str,
    /// Whether it has actions.
    soft: bool,
    /// Whether nodes can be set.
    hard: bool,
    form: Form,
    /// The least and the largest number of nodes, where the name gives none.
    nodes: [usize; 2],
    /// Whether a study begins from past rows and has to learn the noise, which there always is.
    past: bool,
    more: More,
}

/// What a problem has beside numbers to decide and rewards to raise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Nothing,
    /// Actions may be names, and go in steps.
    Names,
    /// Outcomes must keep limits.
    Limits,
    /// Something is known before deciding.
    Contexts,
    /// Actions cost.
    Costs,
}

const SOFT: Kind = Kind {
    word: "soft",
    soft: true,
    hard: false,
    form: Form::Free,
    nodes: [3, 10],
    past: false,
    more: More::Nothing,
};
const FORMED: Kind = Kind { nodes: [3, 8], ..SOFT };

const KINDS: [Kind; 12] = [
    SOFT,
    Kind { word: "hard", soft: false, hard: true, ..SOFT },
    Kind { word: "mixed", soft: true, hard: true, ..SOFT },
    Kind { word: "additive", form: Form::Additive, ..FORMED },
    Kind { word: "scaled", form: Form::Scaled, ..FORMED },
    Kind { word: "linear", form: Form::Linear, ..FORMED },
    Kind { word: "warped", form: Form::Warped, ..FORMED },
    Kind { word: "past", past: true, ..SOFT },
    Kind { word: "choices", more: More::Names, nodes: [2, 6], ..SOFT },
    Kind { word: "limits", more: More::Limits, nodes: [3, 6], ..SOFT },
    Kind { word: "contexts", more: More::Contexts, nodes: [3, 6], ..SOFT },
    Kind { word: "costs", more: More::Costs, nodes: [3, 6], ..SOFT },
];

/// A name, read.
struct Name {
    kind: Kind,
    size: Option<usize>,
    number: u32,
}

impl Name {
    fn read(name: &str) -> Option<Self> {
        let (size, rest) = name.strip_prefix("scm")?.split_once('-')?;
        let (word, number) = rest.split_once('-')?;
        let kind = KINDS.into_iter().find(|kind| kind.word == word)?;
        let size = match size {
            "" => None,
            _ if kind.form != Form::Free || kind.past || kind.more != More::Nothing => return None,
            _ => LARGE.contains(&size).then(|| size.parse().ok()).flatten().map(Some)?,
        };
        // One spelling per task: no sign, no leading zero.
        let number = number.parse::<u32>().ok().filter(|parsed| parsed.to_string() == number)?;
        Some(Self { kind, size, number })
    }
}

/// The problem of a random model, or `None` if the name is not one of those.
pub(crate) fn problem(name: &str) -> Option<Result<Problem, ProblemErrors>> {
    let Name { kind, size, number } = Name::read(name)?;
    let mut rng = ChaCha8Rng::seed_from_u64(name_hash(kind.word) ^ size.unwrap_or(0) as u64);
    rng.set_stream(u64::from(number));
    loop {
        let draft = Draft::new(&kind, size, &mut rng);
        let start = rng.clone();
        match build(name, &kind, &draft, &Marks::default(), &mut rng) {
            Ok(problem) if spread(&problem, &mut rng) < LEAST_SPREAD => {}
            // The same model once more, with marks that fit what happens in it.
            Ok(problem) if matches!(kind.more, More::Limits | More::Costs) => {
                if let Some(marks) = Marks::random(&problem, kind.more, &mut rng) {
                    return Some(build(name, &kind, &draft, &marks, &mut start.clone()));
                }
            }
            built => return Some(built),
        }
    }
}

/// The rows that a model begins from, if those are past ones and its noise is to be learned.
pub(crate) fn past(name: &str) -> Option<Design> {
    Name::read(name)?.kind.past.then_some(PAST)
}

/// What is known about the rewards of a random model without searching.
pub(crate) fn known_span(name: &str) -> Option<Span> {
    SPANS.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (found, random, optimum) = (words.next()?, words.next()?, words.next()?);
        (found == name).then_some(Span { random: random.parse().ok()?, optimum: optimum.parse().ok()? })
    })
}

/// The standard deviation of expected rewards of random interventions.
fn spread(problem: &Problem, rng: &mut ChaCha8Rng) -> f64 {
    let Some(simulator) = problem.simulator() else { return 0.0 };
    let (count, samples) = SPREAD_BUDGET;
    let table = NoiseTable::default();
    let (data, memory) = (Data::new(), Memory::default());
    let context = Context::new(problem, &data, &memory);
    let rewards: Vec<f64> = (0..count)
        .filter_map(|_| Random.suggest(&context, rng).ok())
        .map(|proposal| {
            let intervention = &proposal.suggestion.intervention;
            table.expectation(problem, simulator, intervention, samples, samples)
        })
        .collect();
    let mean = rewards.iter().sum::<f64>() / count as f64;
    (rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / count as f64).sqrt()
}

fn build(
    name: &str,
    kind: &Kind,
    draft: &Draft,
    marks: &Marks,
    rng: &mut ChaCha8Rng,
) -> Result<Problem, ProblemErrors> {
    let n = draft.parents.len();
    let node_name = |node: usize| if node + 1 == n { "Y".to_owned() } else { format!("X{node}") };
    let (noisy, stds) = if kind.past { (true, PAST_NOISE) } else { (rng.random_bool(0.5), NOISE) };
    let mut builder = Problem::builder(name).maximize("Y");
    let decided = match kind.more {
        More::Names => Decided::random(draft, rng),
        _ => vec![Decided::Number; draft.action_count],
    };
    for (action, decided) in decided.iter().enumerate() {
        let name = format!("a{action}");
        builder = match decided {
            Decided::Number => builder.action(name, [0.0, 1.0]),
            Decided::Steps(steps) => builder.action_in_steps(name, [0.0, 1.0], 1.0 / *steps as f64),
            Decided::Names(count) => builder.choice(name, (0..*count).map(name_of)),
        };
    }
    let mut trials = if kind.form == Form::Free { Trials::none() } else { Trials::random(draft, rng) };
    for node in 0..n {
        let parents: Vec<String> = draft.parents[node].iter().map(|&parent| node_name(parent)).collect();
        let actions: Vec<String> = draft.actions[node].iter().map(|action| format!("a{action}")).collect();
        let names = |&action: &usize| match decided[action] {
            Decided::Names(count) => Some((format!("a{action}"), count)),
            _ => None,
        };
        let choices: Vec<(String, usize)> = draft.actions[node].iter().filter_map(names).collect();
        let is_number = |action: &&String| !choices.iter().any(|(name, _)| name == *action);
        let numbers: Vec<String> = actions.iter().filter(is_number).cloned().collect();
        let inputs = Inputs { parents: &parents, actions: &numbers, choices: &choices };
        let std = if inputs.none() {
            Some(rng.random_range(0.5..1.0))
        } else if noisy {
            Some(rng.random_range(stds.clone()))
        } else {
            None
        };
        // Three decimals, so that the noise declared and the noise simulated are the same number.
        let std = std.map(|std: f64| (1e3 * std).round() / 1e3);
        trials.begin(draft, node);
        let mean = mechanism(kind.form, inputs, node + 1 == n, &trials, rng);
        trials.end(&mean, inputs, std.unwrap_or(0.0), rng);
        let formula = std.map_or_else(|| mean.clone(), |std| format!("normal({mean}, {std})"));
        let settable = draft.settable.contains(&node);
        builder = builder.simulate(node_name(node), formula).node(node_name(node), |builder| {
            let builder = builder.parents(parents).actions(actions);
            let builder = builder.noise(std.map_or(Noise::None, Noise::Gaussian));
            let builder = if settable { builder.hard(DO_RANGE) } else { builder };
            let builder = if draft.context == Some(node) { builder.context() } else { builder };
            match marks.limits.iter().find(|(limited, _)| *limited == node) {
                Some((_, limit)) => builder.limit(*limit),
                None => builder,
            }
        });
    }
    for (action, cost) in marks.costs.iter().enumerate() {
        builder = builder.action_cost(&format!("a{action}"), *cost);
    }
    if let Some(limit) = draft.max_interventions {
        builder = builder.max_interventions(limit);
    }
    builder.build()
}
