//! Trials that are worth more for what they teach than for what they earn.
//!
//! Optimism of a third of a deviation earns well while there is something to climb. Then it sits on the first peak it has reached:
//! what it does there teaches nothing, and nothing else is plausible enough by a third of a deviation. So every few trials
//! interventions all over are compared in systems that are drawn as wholes, and one is taken instead that costs less now than what
//! it may bring from then on.

use serde::{Deserialize, Serialize};

use crate::decision::DecisionSpace;
use crate::network::{FunctionDraws, Network, Plan};
use crate::quasi::{normal_quantile, sobol};
use crate::search::Candidate;
use crate::{Choice, Intervention, Problem};

use super::{Context, Mcbo, best_observed};

/// Trials from one comparison to the next.
const EVERY: usize = 5;
/// A suggestion that may gain less than this share of what another may has stalled.
const STALLED: f64 = 0.5;
/// The share of the draws that counts: gains of the luckiest are cut to that of the others. Bounds are 90 % wide, and what lies
/// above them is what a model knows least about.
const TRUSTED: f64 = 0.95;
/// An excursion that has cost this many times what was expected was too hopeful, and by how much the next one hopes less.
const DISMAL: f64 = 2.0;
const LESS: f64 = 0.25;
/// Interventions that are the same to this share of their ranges are not worth telling apart.
const CLOSE: f64 = 0.01;
/// Systems that interventions are compared in, with so many realisations of the noise; twice as many of both for the best few.
const DRAWS: usize = 32;
const SAMPLES: usize = 4;
/// Interventions that are compared over all choices, and at least of each; those that are compared again.
const COMPARED: usize = 192;
const LEAST: usize = 24;
const FINALISTS: usize = 4;
/// Multiplications that a comparison may take: a tenth of a second or two.
const WORK: f64 = 3e8;

/// Known interventions that others are compared with: the best that were measured.
const KNOWN: usize = 4;

/// What is remembered of excursions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Excursions {
    /// What the last suggestion was expected to cost, if it was one.
    expected_cost: Option<f64>,
    /// How many in a row have cost much more than expected.
    too_hopeful: u32,
}

impl Excursions {
    /// Whether there is nothing to remember.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Drawn systems, to compare interventions in.
struct Comparison<'a> {
    problem: &'a Problem,
    network: &'a Network,
    functions: FunctionDraws,
    samples: usize,
    seed: u64,
    /// Trials to come that will profit from a better intervention.
    rounds: f64,
}

impl<'a> Comparison<'a> {
    fn new(
        context: &Context<'a>,
        network: &'a Network,
        excursions: Excursions,
        scale: usize,
        seed: u64,
    ) -> Self {
        Self {
            problem: context.problem,
            network,
            functions: network.draw_functions(scale * DRAWS, seed ^ scale as u64),
            samples: scale * SAMPLES,
            seed,
            rounds: rounds_to_come(context, excursions),
        }
    }

    /// The expected reward in every system.
    fn rewards(&self, intervention: &Intervention) -> Vec<f64> {
        let Self { problem, network, functions, samples, seed, .. } = self;
        network.reward_in_draws(problem, functions, intervention, *samples, *seed)
    }

    /// The expected gain over the best that was tried, `E[max(0, y - y_best)]`, the luckiest draws cut.
    fn gain(&self, rewards: &[f64], best: &[f64]) -> f64 {
        let mut gains: Vec<f64> = rewards.iter().zip(best).map(|(y, best)| y - best).collect();
        gains.sort_by(f64::total_cmp);
        let most = gains[((gains.len() - 1) as f64 * TRUSTED) as usize];
        gains.iter().map(|gain| gain.min(most).max(0.0)).sum::<f64>() / gains.len() as f64
    }

    /// What a trial earns, and what its gain brings in the trials to come.
    fn worth(&self, rewards: &[f64], best: &[f64]) -> f64 {
        mean(rewards) + self.rounds * self.gain(rewards, best)
    }
}

/// Trials that will profit from a better intervention. Nobody has said how many will follow: as many as there have been. An
/// excursion that cost much more than expected says that the model does not know what lies out there, and hopes for too much.
fn rounds_to_come(context: &Context<'_>, excursions: Excursions) -> f64 {
    context.data.len() as f64 * LESS.powi(excursions.too_hopeful.min(30) as i32)
}

fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

/// The place of the largest value, the first of equals; those that are no numbers do not count.
fn largest(values: impl Iterator<Item = f64>) -> Option<usize> {
    let numbers = values.enumerate().filter(|(_, value)| value.is_finite());
    numbers.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(place, _)| place)
}

impl Mcbo {
    /// An intervention to try instead of what optimism found, if one is worth more. `excursions` is brought up to date.
    pub(super) fn excursion(
        &self,
        context: &Context<'_>,
        network: &Network,
        found: &[Candidate],
        excursions: &mut Excursions,
        seed: u64,
    ) -> Option<Candidate> {
        let problem = context.problem;
        let free = |found: &&Candidate| !context.is_taken(&found.intervention);
        let usual = found.iter().find(free)?.intervention.clone();
        let mut tried = best_observed(problem, context.data, KNOWN);
        tried.extend(context.memory.last.clone());
        let mut comparison = Comparison::new(context, network, *excursions, 1, seed);
        let of_usual = comparison.rewards(&usual);
        let of_tried: Vec<Vec<f64>> = tried.iter().map(|at| comparison.rewards(at)).collect();
        let best = largest(of_tried.iter().map(|rewards| mean(rewards)))?;
        if let Some(expected) = excursions.expected_cost.take()
            && let Some(last) = &context.memory.last
        {
            let cost = mean(&of_tried[best]) - mean(&comparison.rewards(last));
            excursions.too_hopeful = if cost > DISMAL * expected { excursions.too_hopeful + 1 } else { 0 };
            comparison.rounds = rounds_to_come(context, *excursions);
        }
        let best = &of_tried[best];
        // A mechanism's luck can bring a bad intervention up to the best there is and no further: that costs, and gains nothing.
        let wasted = tried.iter().zip(&of_tried).any(|(at, rewards)| {
            mean(rewards) > mean(&of_usual)
                && comparison.worth(rewards, best) > comparison.worth(&of_usual, best)
                && !at.is_within(problem, &usual, CLOSE)
        });
        if !wasted && !context.data.len().is_multiple_of(EVERY) {
            return None;
        }
        let known: Vec<Intervention> = [usual.clone()].into_iter().chain(tried.iter().cloned()).collect();
        let mut compared: Vec<(f64, Intervention)> = Vec::new();
        for (plan, points) in candidates(problem, network, &known, seed) {
            let Comparison { functions, samples, .. } = &comparison;
            let rewards =
                network.rewards_in_draws(problem, functions, plan.space.choice(), &points, *samples, seed);
            let worths = rewards.iter().map(|rewards| comparison.worth(rewards, best));
            let interventions = points.iter().map(|point| plan.space.intervention(problem, point));
            compared.extend(worths.zip(interventions).filter(|(worth, _)| worth.is_finite()));
        }
        // The sort is stable: of equals the first stays first.
        compared.sort_by(|a, b| b.0.total_cmp(&a.0));
        // The best few once more, in systems that they were not chosen by.
        let again = Comparison::new(context, network, *excursions, 2, seed);
        let finalists = compared.into_iter().take(FINALISTS).map(|(_, intervention)| intervention);
        let finalists: Vec<Intervention> = known.into_iter().chain(finalists).collect();
        let rewards: Vec<Vec<f64>> = finalists.iter().map(|at| again.rewards(at)).collect();
        let of_tried = &rewards[1..=tried.len()];
        let best = &of_tried[largest(of_tried.iter().map(|rewards| mean(rewards)))?];
        let worth = |place: usize| match context.is_taken(&finalists[place]) {
            true => f64::NAN,
            false => again.worth(&rewards[place], best),
        };
        let place = largest((0..finalists.len()).map(worth))?;
        let stalled = again.gain(&rewards[0], best) <= STALLED * again.gain(&rewards[place], best);
        if place == 0 || !(wasted || stalled) {
            return None;
        }
        excursions.expected_cost = Some((mean(best) - mean(&rewards[place])).max(0.0));
        let intervention = finalists[place].clone();
        let choice = Choice::of(problem, &intervention);
        let point = DecisionSpace::new(problem, &choice).point(&intervention);
        Some(Candidate { choice, point, value: again.worth(&rewards[place], best), intervention })
    }
}

/// Decisions across every choice, and close to known interventions.
fn candidates(
    problem: &Problem,
    network: &Network,
    known: &[Intervention],
    seed: u64,
) -> Vec<(Plan, Vec<Vec<f64>>)> {
    /// Decisions close to each known intervention, the first at a fifth of the range, each closer than the one before.
    const NEAR: u32 = 8;
    const WIDEST: f64 = 0.2;
    const CLOSER: f64 = 0.6;
    let few = problem.choices().filter(|choices| choices.len() <= COMPARED / 4);
    let choices = few.map(<[Choice]>::to_vec).unwrap_or_else(|| {
        let mut choices: Vec<Choice> = known.iter().map(|at| Choice::of(problem, at)).collect();
        choices.sort();
        choices.dedup();
        choices
    });
    let each = (COMPARED / choices.len().max(1)).max(LEAST);
    let budget = WORK / choices.len().max(1) as f64;
    let of_choice = |choice: Choice| {
        let plan = Plan::for_prediction(problem, network, &choice);
        let dim = plan.decisions();
        let affordable = budget / (DRAWS as f64 * network.drawn_cost(&plan, SAMPLES));
        let count = if dim == 0 { 1 } else { each.min(affordable as usize) };
        let across = |i: usize| (0..dim).map(|k| sobol(i as u32, k as u32, seed)).collect();
        let mut points: Vec<Vec<f64>> = (0..count).map(across).collect();
        for (which, at) in known.iter().enumerate() {
            if dim == 0 || Choice::of(problem, at) != choice {
                continue;
            }
            let center = plan.space.point(at);
            points.extend((0..NEAR).map(|i| {
                let scale = WIDEST * CLOSER.powi(i as i32);
                let offset = |k: usize| scale * normal_quantile(sobol(i, (which * dim + k) as u32, seed));
                (0..dim).map(|k| (center[k] + offset(k)).clamp(0.0, 1.0)).collect()
            }));
        }
        (plan, points)
    };
    choices.into_iter().map(of_choice).collect()
}
