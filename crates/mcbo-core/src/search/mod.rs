//! Maximising an acquisition over target sets, supports and values.

mod climb;
mod grow;
mod lattice;

use rayon::prelude::*;

use crate::acquisition::{Acquisition, AcquisitionFactory};
use crate::problem::ENUMERATION_LIMIT;
use crate::{Choice, Intervention, Problem};

pub use climb::AscentBudget;

pub(crate) use climb::{Scored, climb};
pub(crate) use lattice::exchanges;

use climb::{ascend, by_value, raw_points, score, spread_out};
use grow::grow;

/// How starts climb.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ascent {
    /// Bounded quasi-Newton on fixed noise samples.
    QuasiNewton(AscentBudget),
    /// Adam with fresh noise samples in every step.
    Stochastic {
        /// Steps of every start.
        steps: usize,
        /// Step size relative to the range of a variable.
        rate: f64,
    },
}

/// How much work a search does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSettings {
    /// Points screened per choice: this many, and as many again for every decision.
    pub screened: usize,
    /// Starts per choice: this many, and as many again for every two decisions.
    pub starts: usize,
    /// How they climb.
    pub ascent: Ascent,
    /// Noise samples while climbing.
    pub samples: usize,
    /// Noise samples while screening.
    pub screening_samples: usize,
    /// Noise samples, not used before, that rank the finalists.
    pub ranking_samples: usize,
    /// Choices beyond this number, or beyond [`ENUMERATION_LIMIT`], are searched greedily instead of one by one.
    pub enumeration_limit: usize,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            screened: 96,
            starts: 6,
            ascent: Ascent::QuasiNewton(AscentBudget { first: 12, finalists: 3, second: 40 }),
            samples: 16,
            screening_samples: 4,
            ranking_samples: 128,
            enumeration_limit: ENUMERATION_LIMIT,
        }
    }
}

impl SearchSettings {
    /// The same search with `factor` times the screened points and starts, all of them climbed to the end.
    pub fn intensified(&self, factor: usize) -> Self {
        let ascent = match self.ascent {
            Ascent::QuasiNewton(stages) => {
                Ascent::QuasiNewton(AscentBudget { finalists: stages.finalists * factor, ..stages })
            }
            stochastic => stochastic,
        };
        Self { screened: self.screened * factor, starts: self.starts * factor, ascent, ..*self }
    }

    fn scaled(&self, per: usize, decisions: usize, step: usize) -> usize {
        per + per * decisions / step
    }
}

/// A place that the search found, one of those that may be proposed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Targets and free actions.
    pub choice: Choice,
    /// The decision vector, auxiliary variables included.
    pub point: Vec<f64>,
    /// The acquisition there, on the ranking samples.
    pub value: f64,
    /// What it means for the user.
    pub intervention: Intervention,
}

/// Everything a search needs beside its budget.
pub struct SearchTask<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The acquisition of a choice.
    pub factory: &'a AcquisitionFactory<'a>,
    /// Known good interventions: each is a start of its choice.
    pub warm: &'a [Intervention],
    /// Seed of all quasi-random points and noise samples.
    pub seed: u64,
    /// Told when the search enters a phase, for whoever measures.
    pub on_phase: &'a (dyn Fn(SearchPhase) + Sync),
}

/// A part of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPhase {
    /// Target sets and supports are listed or grown.
    Choosing,
    /// Quasi-random points are evaluated.
    Screening,
    /// Starts climb.
    Climbing,
    /// Finalists are compared on fresh samples.
    Ranking,
}

/// Seeds of the parts of a search, so that no part sees another's numbers.
const SCREEN_SEED: u64 = 0x51ed_270b_7f4a_7c15;
const RANK_SEED: u64 = 0xd1b5_4a32_d192_ed03;

/// Maximises the acquisition over all choices: the places found, best first, at least one.
///
/// Choices are enumerated where they are few; otherwise sets grow greedily, one target or action at a time, with exchanges.
/// The result does not depend on the number of threads.
pub fn maximize(task: &SearchTask<'_>, settings: &SearchSettings) -> Vec<Candidate> {
    (task.on_phase)(SearchPhase::Choosing);
    let listed = task.problem.choices().filter(|choices| choices.len() <= settings.enumeration_limit);
    let choices = listed.map_or_else(|| grow(task, settings), <[Choice]>::to_vec);
    let settings = share_budget(task, settings, &choices);
    (task.on_phase)(SearchPhase::Screening);
    let screened: Vec<Screened<'_>> =
        choices.par_iter().map(|choice| screen(task, choice, &settings, &[])).collect();
    let (choices, screened) = promising(choices, screened);
    (task.on_phase)(SearchPhase::Climbing);
    let reached: Vec<Vec<Scored>> =
        screened.into_par_iter().map(|screened| climb_all(task, screened, &settings)).collect();
    (task.on_phase)(SearchPhase::Ranking);
    rank(task, &choices, reached, &settings)
}

/// Choices that are climbed at the most; the screening says which.
const CLIMBED: usize = 24;

/// The choices whose best screened point is best, if there are many.
fn promising<'a>(choices: Vec<Choice>, screened: Vec<Screened<'a>>) -> (Vec<Choice>, Vec<Screened<'a>>) {
    let best = |screened: &Screened<'_>| {
        screened.starts.iter().map(|start| start.value).fold(f64::NEG_INFINITY, f64::max)
    };
    let mut pairs: Vec<(Choice, Screened<'a>)> = choices.into_iter().zip(screened).collect();
    if pairs.len() > CLIMBED {
        // The sort is stable: equal values keep the order of the choices.
        pairs.sort_by(|a, b| best(&b.1).total_cmp(&best(&a.1)));
        pairs.truncate(CLIMBED);
    }
    pairs.into_iter().unzip()
}

/// Multiplications a search may spend on screening, on the first stage of climbing and on the second: a second or
/// two each. Only problems far larger than the paper's come near.
const WORK: f64 = 4e9;

/// Evaluations of this cost that each of some parts may make, at least one.
fn affordable(cost: f64, parts: usize) -> usize {
    (WORK / parts as f64 / cost).max(1.0) as usize
}

/// With many choices, or with points that are expensive, each choice gets less, so that the whole stays affordable.
fn share_budget(task: &SearchTask<'_>, settings: &SearchSettings, choices: &[Choice]) -> SearchSettings {
    let share = |count: usize, least: usize| (count * 6 / choices.len().max(6)).max(least.min(count));
    let largest = choices.iter().max_by_key(|choice| choice.targets.len() + choice.actions.len());
    let Some(largest) = largest else { return *settings };
    let (coarse, fine) = (
        (task.factory)(largest, settings.screening_samples, task.seed),
        (task.factory)(largest, settings.samples, task.seed),
    );
    let decisions = coarse.decisions();
    let afford = |cost: f64| affordable(cost, choices.len());
    // Both numbers are per choice, before they grow with the decisions.
    let screened = share(settings.screened, 16).min((afford(coarse.cost()) / (1 + decisions)).max(1));
    let mut starts = share(settings.starts, 2);
    let mut ascent = settings.ascent;
    if let Ascent::QuasiNewton(stages) = &mut ascent {
        let climbs = afford(2.0 * coarse.cost()) / stages.first.max(1);
        starts = starts.min((climbs / (1 + decisions / 2)).max(1));
        let evaluations = afford(2.0 * fine.cost());
        stages.finalists = stages.finalists.min((evaluations / stages.second.max(1)).max(1));
        stages.second = stages.second.min((evaluations / stages.finalists).max(10));
    }
    SearchSettings { screened, starts, ascent, ..*settings }
}

/// The starts of a choice, with its acquisition on few noise samples, and on many where there is noise.
struct Screened<'a> {
    coarse: Box<dyn Acquisition + 'a>,
    fine: Option<Box<dyn Acquisition + 'a>>,
    starts: Vec<Scored>,
}

fn screen<'a>(
    task: &SearchTask<'a>,
    choice: &Choice,
    settings: &SearchSettings,
    extra: &[Vec<f64>],
) -> Screened<'a> {
    let factory = task.factory;
    let coarse = factory(choice, settings.screening_samples, task.seed);
    let decisions = coarse.decisions();
    let dim = coarse.bounds().0.len();
    let complete = |mut unit: Vec<f64>| {
        unit.resize(dim, 0.0);
        unit
    };
    let warm: Vec<Vec<f64>> = task
        .warm
        .iter()
        .filter(|intervention| choice.includes(task.problem, intervention))
        .map(|intervention| complete(coarse.space().point(intervention)))
        .chain(extra.iter().cloned().map(complete))
        .collect();
    let count = settings.scaled(settings.screened, decisions, 1);
    let starts = settings.scaled(settings.starts, decisions, 2);
    let points = if dim == 0 {
        vec![Vec::new()]
    } else {
        raw_points(coarse.as_ref(), count, &warm, task.seed ^ SCREEN_SEED)
    };
    let mut chosen = spread_out(score(coarse.as_ref(), points), decisions, starts.min(count));
    chosen.extend(score(coarse.as_ref(), warm));
    let fine = coarse.is_noisy().then(|| factory(choice, settings.samples, task.seed));
    Screened { coarse, fine, starts: chosen }
}

fn climb_all(task: &SearchTask<'_>, screened: Screened<'_>, settings: &SearchSettings) -> Vec<Scored> {
    let Screened { coarse, fine, starts } = screened;
    match settings.ascent {
        Ascent::QuasiNewton(stages) => climb(coarse.as_ref(), fine.as_deref(), starts, stages),
        // Between grid points there is nothing to go up on.
        Ascent::Stochastic { .. } if !coarse.space().is_box() => climb(
            coarse.as_ref(),
            fine.as_deref(),
            starts,
            AscentBudget { first: 12, finalists: 3, second: 40 },
        ),
        Ascent::Stochastic { steps, rate } => {
            let fresh = |step: u64| {
                (task.factory)(coarse.space().choice(), settings.samples, task.seed.wrapping_add(step + 1))
            };
            let points = ascend(&fresh, &starts, steps, rate);
            let mut reached = score(fine.as_deref().unwrap_or(coarse.as_ref()), points);
            reached.sort_by(by_value);
            reached
        }
    }
}

/// Compares the best places of all choices on samples that none was optimised on.
fn rank(
    task: &SearchTask<'_>,
    choices: &[Choice],
    reached: Vec<Vec<Scored>>,
    settings: &SearchSettings,
) -> Vec<Candidate> {
    const FINALISTS: usize = 4;
    let mut all: Vec<Candidate> = choices
        .par_iter()
        .zip(reached)
        .map(|(choice, reached)| {
            let seed = task.seed ^ RANK_SEED;
            let fresh = (task.factory)(choice, settings.ranking_samples, seed);
            let points: Vec<Vec<f64>> =
                reached.into_iter().take(FINALISTS).map(|scored| scored.point).collect();
            score(fresh.as_ref(), points)
                .into_iter()
                .map(|Scored { point, value }| Candidate {
                    choice: choice.clone(),
                    intervention: fresh.space().intervention(task.problem, &point),
                    point,
                    value,
                })
                .collect::<Vec<_>>()
        })
        .collect::<Vec<_>>()
        .into_iter()
        .flatten()
        .collect();
    all.sort_by(|a, b| b.value.total_cmp(&a.value));
    all
}
