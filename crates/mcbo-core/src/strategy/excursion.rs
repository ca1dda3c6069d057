//! Trials that are worth more for what they teach than for what they earn.
//!
//! Optimism of a third of a deviation earns well while there is something to climb. Then it sits on the first peak it has reached:
//! what it does there teaches nothing, and nothing else is plausible enough by a third of a deviation. So every few trials
//! interventions all over are compared in systems that are drawn as wholes, and one is taken instead that costs less now than what
//! it may bring from then on.

use serde::{Deserialize, Serialize};

use crate::decision::DecisionSpace;
use crate::network::{Counting, FunctionDraws, Network, Plan};
use crate::quasi::{normal_sobol, sobol};
use crate::search::{Candidate, exchanges};
use crate::{Choice, Intervention, Problem};

use super::limits::{keeping_ones, may_keep, shortfall};
use super::{Context, Mcbo, best_observed};

/// Trials from one comparison to the next.
const EVERY: usize = 5;
/// A suggestion that may gain less than this share of what another may has stalled.
const STALLED: f64 = 0.5;
/// The share of the draws that counts: gains of the luckiest are cut to that of the others. What lies furthest above all data is what a
/// model knows least about, so that an excursion must hope for more than one chance in five; what optimism found is given up only
/// where not even one in twenty speaks for it.
const HOPED: f64 = 0.8;
const NOT_HOPELESS: f64 = 0.95;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Excursions {
    /// Whether the last suggestion was one.
    under_way: bool,
    /// How many in a row have found nothing better than what was known.
    fruitless: u32,
    /// From how many trials on interventions are compared again.
    next: usize,
}

impl Excursions {
    /// Whether there is nothing to remember.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the last suggestion was one.
    pub(super) fn under_way(&self) -> bool {
        self.under_way
    }

    /// Whether it is time for one, given what is believed best: the time until the first, and the outcome of the last, are noted.
    pub(super) fn is_due(&mut self, context: &Context<'_>, believed: Option<&Candidate>) -> bool {
        let last = context.memory.last.as_ref();
        let found = || {
            last.zip(believed)
                .is_some_and(|(last, best)| best.intervention.is_within(context.problem, last, CLOSE))
        };
        self.settle(context.data.len(), found);
        context.data.len() >= self.next
    }

    /// One begins now, or none does.
    pub(super) fn begin(&mut self, begins: bool, trials: usize) {
        self.under_way = begins;
        if begins {
            self.next = trials + self.pause();
        }
    }

    /// Notes the outcome of the last one, if it was one: whether the best that is known was found by it.
    fn settle(&mut self, trials: usize, found: impl FnOnce() -> bool) {
        if self.is_none() {
            // First what there is to climb.
            self.next = trials + self.pause();
        }
        if std::mem::take(&mut self.under_way) {
            self.fruitless = if found() { 0 } else { self.fruitless + 1 };
            self.next = trials + self.pause();
        }
    }

    /// Trials until interventions are compared again: the longer nothing was found, the rarer one looks.
    fn pause(&self) -> usize {
        EVERY * (1 + self.fruitless as usize)
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
    /// The share of the draws that counts.
    trusted: f64,
}

impl<'a> Comparison<'a> {
    fn new(context: &Context<'a>, network: &'a Network, scale: usize, seed: u64) -> Self {
        Self {
            problem: context.problem,
            network,
            functions: network.draw_functions(scale * DRAWS, seed ^ scale as u64),
            samples: scale * SAMPLES,
            seed,
            // Nobody has said how many trials will follow: as many as there have been.
            rounds: context.data.len() as f64,
            trusted: HOPED,
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
        let most = gains[((gains.len() - 1) as f64 * self.trusted) as usize];
        gains.iter().map(|gain| gain.min(most).max(0.0)).sum::<f64>() / gains.len() as f64
    }

    /// What a trial earns, and what its gain brings in the trials to come.
    fn worth(&self, rewards: &[f64], best: &[f64]) -> f64 {
        mean(rewards) + self.rounds * self.gain(rewards, best)
    }
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
        let mut tried =
            keeping_ones(problem, network, Counting::Plausible, best_observed(problem, context.data, KNOWN));
        tried.extend(context.last().cloned());
        let mut comparison = Comparison::new(context, network, 1, seed);
        let of_usual = comparison.rewards(&usual);
        let of_tried: Vec<Vec<f64>> = tried.iter().map(|at| comparison.rewards(at)).collect();
        let best = largest(of_tried.iter().map(|rewards| mean(rewards)))?;
        let trials = context.data.len();
        let last = context.memory.last.as_ref();
        excursions.settle(trials, || last.is_some_and(|last| tried[best].is_within(problem, last, CLOSE)));
        let best = &of_tried[best];
        comparison.trusted = NOT_HOPELESS;
        // A mechanism's luck can bring a bad intervention up to the best there is and no further: that costs, and gains nothing.
        let wasted = tried.iter().zip(&of_tried).any(|(at, rewards)| {
            mean(rewards) > mean(&of_usual)
                && comparison.worth(rewards, best) > comparison.worth(&of_usual, best)
                && !at.is_within(problem, &usual, CLOSE)
        });
        let look = trials >= excursions.next;
        if look {
            comparison.trusted = HOPED;
            excursions.next = trials + excursions.pause();
        } else if !wasted {
            return None;
        }
        let known: Vec<Intervention> = [usual.clone()].into_iter().chain(tried.iter().cloned()).collect();
        let mut compared: Vec<(f64, Intervention)> = Vec::new();
        for (plan, mut points) in candidates(problem, network, &known, seed) {
            let mut kept = may_keep(problem, network, plan.space.choice(), &points, seed).into_iter();
            points.retain(|_| kept.next().unwrap_or(true));
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
        let again = Comparison { trusted: comparison.trusted, ..Comparison::new(context, network, 2, seed) };
        let allowed = compared
            .into_iter()
            .map(|(_, intervention)| intervention)
            .filter(|at| shortfall(problem, network, at, Counting::Plausible) == 0.0);
        let finalists = allowed.take(FINALISTS);
        let finalists: Vec<Intervention> = known.into_iter().chain(finalists).collect();
        let rewards: Vec<Vec<f64>> = finalists.iter().map(|at| again.rewards(at)).collect();
        let of_tried = &rewards[1..=tried.len()];
        let best = &of_tried[largest(of_tried.iter().map(|rewards| mean(rewards)))?];
        // What comes no nearer to breaking a limit than what it takes the place of.
        let missing: Vec<f64> =
            finalists.iter().map(|at| shortfall(problem, network, at, Counting::Plausible)).collect();
        let worth = |place: usize| match missing[place] > missing[0] || context.is_taken(&finalists[place]) {
            true => f64::NAN,
            false => again.worth(&rewards[place], best),
        };
        let place = largest((0..finalists.len()).map(worth))?;
        let stalled = again.gain(&rewards[0], best) <= STALLED * again.gain(&rewards[place], best);
        if place == 0 || !(wasted || stalled) {
            return None;
        }
        excursions.under_way = look;
        let intervention = finalists[place].clone();
        let choice = Choice::of(problem, &intervention);
        let point = DecisionSpace::new(problem, &choice).point(&intervention);
        Some(Candidate { choice, point, value: again.gain(&rewards[place], best), intervention })
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
            // On a grid a free action is often just neutral.
            let own = match plan.space.is_box() {
                true => Choice::of(problem, at) == choice,
                false => choice.includes(problem, at),
            };
            if dim == 0 || !own {
                continue;
            }
            let center = plan.space.point(at);
            points.extend((0..NEAR).map(|i| {
                let scale = WIDEST * CLOSER.powi(i as i32);
                let offset = |k: usize| scale * normal_sobol(i as usize, which * dim + k, seed);
                (0..dim).map(|k| (center[k] + offset(k)).clamp(0.0, 1.0)).collect()
            }));
            // Another choice where everything else is good is what decided values all over rarely are.
            if !plan.space.is_box() {
                points.extend(exchanges(&plan.space, &center));
            }
        }
        if !plan.space.is_box() {
            // Of points that come to lie on the same values one is enough.
            let mut seen: Vec<Vec<f64>> = Vec::new();
            points.retain_mut(|point| {
                let new = plan.space.allow(point) && !seen.contains(point);
                seen.extend(new.then(|| point.clone()));
                new
            });
        }
        (plan, points)
    };
    choices.into_iter().map(of_choice).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::strategy::Memory;
    use crate::{Data, Noise, Observation};

    fn problem() -> Problem {
        Problem::builder("hill")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]).noise(Noise::Gaussian(0.05)))
            .node("y", |n| n.parents(["x"]).noise(Noise::Gaussian(0.05)))
            .maximize("y")
            .build()
            .expect("a problem")
    }

    fn at(a: f64) -> Intervention {
        Intervention { targets: Vec::new(), actions: vec![a] }
    }

    /// Trials at these actions of `y = 1 - 4 (a - 0.6)²` with a little noise that is the same every time.
    fn data(problem: &Problem, actions: impl Iterator<Item = f64>) -> Data {
        let mut data = Data::new();
        for (i, a) in actions.enumerate() {
            let noise = |k: usize| 0.05 * (1.7 * (2 * i + k) as f64).sin();
            let x = a + noise(0);
            let y = 1.0 - 4.0 * (x - 0.6).powi(2) + noise(1);
            let observation = Observation { intervention: at(a), values: vec![Some(x), Some(y)] };
            data.push(problem, observation).expect("an observation");
        }
        data
    }

    /// What is tried instead of the action `usual`, which was also the last suggestion.
    fn instead(data: &Data, usual: f64, mut excursions: Excursions) -> (Option<f64>, Excursions) {
        let problem = problem();
        let memory = Memory { last: Some(at(usual)), ..Memory::default() };
        let context = Context::new(&problem, data, &memory);
        let mcbo = Mcbo::default();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (network, _) = context.fit(&mcbo.model, &mut rng).expect("a fit");
        let choice = Choice { targets: Vec::new(), actions: vec![0] };
        let found = [Candidate { choice, point: vec![usual], value: 0.0, intervention: at(usual) }];
        let excursion = mcbo.excursion(&context, &network, &found, &mut excursions, 7);
        (excursion.map(|candidate| candidate.intervention.actions[0]), excursions)
    }

    #[test]
    fn what_repeats_itself_gives_way_to_what_is_not_known() {
        let problem = problem();
        // Thirty trials at one place and two near it: little is known of the rest, and there is much to gain.
        let stuck = data(&problem, (0..30).map(|_| 0.2).chain([0.15, 0.25, 0.1, 0.3, 0.2]));
        let now = Excursions { next: 1, ..Excursions::default() };
        let (tried, excursions) = instead(&stuck, 0.2, now);
        assert!(tried.is_some_and(|a| a > 0.3), "{tried:?}");
        assert_eq!(excursions, Excursions { under_way: true, fruitless: 0, next: 40 });
        // Between two comparisons nothing is tried, nor before the first.
        let (tried, first) = instead(&stuck, 0.2, Excursions::default());
        assert_eq!((tried, first.next), (None, 40));
        let waiting = Excursions { next: 36, ..Excursions::default() };
        assert_eq!(instead(&stuck, 0.2, waiting), (None, waiting));
    }

    #[test]
    fn what_is_known_to_be_best_stays() {
        let known = data(&problem(), (0..60).map(|i| f64::from(i) / 59.0));
        let (tried, _) = instead(&known, 0.6, Excursions { next: 1, ..Excursions::default() });
        assert!(tried.is_none_or(|a| (a - 0.6).abs() < 0.1), "{tried:?}");
    }

    #[test]
    fn the_longer_nothing_is_found_the_rarer_one_looks() {
        let known = data(&problem(), (0..60).map(|i| f64::from(i) / 59.0));
        // The action 0 earns -0.44 where 1 is possible, which 0.6 earns.
        let tried = Excursions { under_way: true, fruitless: 1, next: 0 };
        let after = |last: f64| instead(&known, last, tried).1;
        assert_eq!((after(0.0).fruitless, after(0.0).next), (2, 75));
        assert_eq!(after(35.0 / 59.0).fruitless, 0);
    }

    #[test]
    fn what_earns_less_and_gains_nothing_is_wasted() {
        // Between two comparisons, and still replaced: everything is known, and 0.1 is not good.
        let known = data(&problem(), (0..61).map(|i| f64::from(i) / 60.0));
        let (tried, _) = instead(&known, 0.1, Excursions { next: 100, ..Excursions::default() });
        assert!(tried.is_some_and(|a| (a - 0.6).abs() < 0.1), "{tried:?}");
    }

    #[test]
    fn the_luckiest_draws_are_cut() {
        let problem = problem();
        let data = data(&problem, (0..10).map(|i| f64::from(i) / 9.0));
        let memory = Memory::default();
        let context = Context::new(&problem, &data, &memory);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (network, _) = context.fit(&Mcbo::default().model, &mut rng).expect("a fit");
        let comparison = Comparison::new(&context, &network, 1, 1);
        let best = vec![0.0; 11];
        let mut rewards = vec![-1.0; 11];
        (rewards[3], rewards[7]) = (1e6, 5.0);
        assert_eq!(comparison.gain(&rewards, &best), 0.0);
        rewards[9] = 2.0;
        rewards[10] = 1.0;
        // Of eleven the ninth by size lies at 80 %: the two above it count as much as it does.
        assert!((comparison.gain(&rewards, &best) - (3.0 * 2.0 + 1.0) / 11.0).abs() < 1e-12);
        assert_eq!(comparison.rounds, 10.0);
    }
}
