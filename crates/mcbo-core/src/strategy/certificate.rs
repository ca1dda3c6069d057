//! How much better than the recommended intervention any other could still be.

use mcbo_gp::optimize::{StopRule, minimize};
use rayon::prelude::*;

use crate::decision::Moving;
use crate::network::{Batch, ModelWarning, Network, NoiseSamples, Plan, Workspace};
use crate::optimism::Optimism;
use crate::quasi::sobol;
use crate::search::SearchSettings;
use crate::{Choice, DecisionSpace, Intervention, Problem};

use super::limits::Guard;
use super::mcbo::search_under;
use super::{Context, Luck, Mcbo, Memory};

/// Realisations of the noise that bounds are averaged over, and the fewest of them.
const SAMPLES: [usize; 2] = [32, 4];
/// Places of the optimistic search that are bounded, and the fewest.
const FINALISTS: [usize; 2] = [6, 2];
/// How many times the starts of a suggestion's search the optimistic search has: a bound that is too low would stop a study early.
const THOROUGH: usize = 4;
/// The best signs of the mechanisms' deviations, which are climbed from, and the fewest.
const CLIMBED: [usize; 2] = [3, 1];
/// Nodes up to which there is the most of all these: each of them takes as long as there are nodes.
const NODES: usize = 64;
/// Evaluations of every ascent and descent.
const EVALUATIONS: usize = 40;

/// Bounds on what can be gained beyond the recommended intervention.
///
/// They hold if every learned mechanism lies everywhere within `width` posterior deviations of its mean
/// (Eq. calibrated of the paper), the graph and the declared formulas are right with no hidden common causes, and the noise is
/// as the model has it. They are as exact as the search for the extremes, which climbs from many starts but proves nothing, and
/// as the average over 32 realisations of the noise. Where more than 64 nodes are on the way to the reward both are less: from 512 on there are
/// 4 realisations.
///
/// Limits of outcomes do not count: interventions that break them are among those that are no better.
///
/// Nothing is said, and the gap is infinite, while a node has no row to learn from or a formula has no value.
///
/// With noise the plausible model may choose its mechanism for every realisation apart. No function of a node's inputs can do
/// better, so the bounds err to the safe side.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// The width of the confidence band, in standard deviations.
    pub width: f64,
    /// No plausible model expects less of the recommended intervention; in the direction of improvement.
    pub lower: f64,
    /// No plausible model expects more of any intervention.
    pub upper: f64,
    /// The intervention that the upper bound belongs to.
    pub optimistic: Intervention,
}

impl Certificate {
    /// No intervention is better than the recommended one by more than this, in expected reward. It is infinite where
    /// nothing can be said.
    pub fn gap(&self) -> f64 {
        let gap = self.upper - self.lower;
        if gap.is_finite() { gap.max(0.0) } else { f64::INFINITY }
    }
}

impl Mcbo {
    /// Bounds the gain that is left beyond an intervention, for a fitted network; see [`Certificate`]. As in
    /// [`Self::recommend`], what the strategy remembers does not count.
    pub fn certify(
        &self,
        context: &Context<'_>,
        network: &Network,
        intervention: &Intervention,
        width: f64,
        seed: u64,
    ) -> Certificate {
        let (problem, memory) = (context.problem, Memory::default());
        let context = &Context { pending: &[], failed: &[], memory: &memory, ..*context };
        let unknown = |warning: &ModelWarning| matches!(warning, ModelWarning::NoRows { .. });
        let forecast = network.forecast(problem, intervention, seed);
        let undefined = network.undefined(problem, intervention, &forecast).is_some();
        if undefined || network.warnings().iter().any(unknown) {
            let optimistic = intervention.clone();
            return Certificate { width, lower: f64::NEG_INFINITY, upper: f64::INFINITY, optimistic };
        }
        let network = &*network.for_searching_long();
        let lower = worst(problem, network, intervention, width, seed);
        let search = SearchSettings {
            screened: THOROUGH * self.search.screened,
            starts: THOROUGH * self.search.starts,
            ..self.search
        };
        let luck = Luck::Each(width);
        let guard = Guard::none(problem, network);
        let found = search_under(guard, context, &[], Optimism::Constant, luck, &search, seed, &|_| {});
        let own = Choice::of(problem, intervention);
        let own_point = DecisionSpace::new(problem, &own).point(intervention);
        let finalists = amount(FINALISTS, &Plan::new(problem, network, &own, Optimism::Constant));
        let starts = found.into_iter().take(finalists).map(|found| (found.choice, found.point));
        let starts: Vec<(Choice, Vec<f64>)> = starts.chain([(own, own_point)]).collect();
        let bounds = starts.into_par_iter().map(|(choice, point)| {
            let decisions = DecisionSpace::new(problem, &choice).dim();
            highest(problem, network, &choice, &point[..decisions], width, seed)
        });
        let bounds: Vec<(Intervention, f64)> = bounds.collect();
        // What has no value could be anything.
        let bounds =
            bounds.into_iter().map(|(at, upper)| (at, if upper.is_nan() { f64::INFINITY } else { upper }));
        let best = bounds.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let (optimistic, upper) = best.unwrap_or_else(|| (intervention.clone(), f64::INFINITY));
        Certificate { width, lower, upper, optimistic }
    }
}

/// What the worst plausible model expects of an intervention.
fn worst(problem: &Problem, network: &Network, intervention: &Intervention, width: f64, seed: u64) -> f64 {
    let choice = Choice::of(problem, intervention);
    let plan = Plan::new(problem, network, &choice, Optimism::Constant);
    // A negative width turns the reward's own band around: its lower end counts.
    let (_, values) = extremes(network, &plan, &plan.space().point(intervention), -width, Side::Lowest, seed);
    let lowest = values.iter().sum::<f64>() / values.len() as f64;
    if lowest.is_nan() { f64::NEG_INFINITY } else { lowest }
}

/// How many there are along a plan.
fn amount([most, least]: [usize; 2], plan: &Plan) -> usize {
    (most * NODES / plan.steps.len().max(NODES)).max(least)
}

/// Which end of what is plausible is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Lowest,
    Highest,
}

/// The `η` of lowest or highest reward for every realisation of the noise apart, with its reward: with the decisions fixed
/// nothing couples them.
fn extremes(
    network: &Network,
    plan: &Plan,
    decisions: &[f64],
    beta: f64,
    side: Side,
    seed: u64,
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let noise = noise_of(plan, seed);
    let direction = if side == Side::Lowest { 1.0 } else { -1.0 };
    let (mut lower, mut upper) = plan.bounds();
    lower[..decisions.len()].copy_from_slice(decisions);
    upper[..decisions.len()].copy_from_slice(decisions);
    let free = plan.dim() - decisions.len();
    let starts: Vec<Vec<f64>> =
        corners(free, seed).map(|eta| decisions.iter().copied().chain(eta).collect()).collect();
    let found: Vec<(Vec<f64>, f64)> = (0..noise.count())
        .into_par_iter()
        .map(|sample| {
            let noise = noise.only(sample);
            let (mut workspace, mut values) = (Workspace::default(), Vec::new());
            let batch = Batch { points: &starts.concat(), beta, noise: &noise };
            network.rollout(plan, batch, &mut workspace, &mut values, &mut []);
            let mut order: Vec<usize> = (0..starts.len()).collect();
            order.sort_by(|&a, &b| (direction * values[a]).total_cmp(&(direction * values[b])));
            let climbed =
                order.into_iter().take(if free == 0 { 0 } else { amount(CLIMBED, plan) }).map(|start| {
                    let rule = StopRule { evaluations: EVALUATIONS, ..RULE };
                    let start = starts[start].clone();
                    let search = minimize(start, lower.clone(), upper.clone(), rule, |point, gradient| {
                        let batch = Batch { points: point, beta, noise: &noise };
                        network.rollout(plan, batch, &mut workspace, &mut values, gradient);
                        gradient.iter_mut().for_each(|g| *g *= direction);
                        direction * values[0]
                    });
                    let (point, value) = search.best();
                    (point[decisions.len()..].to_vec(), direction * value)
                });
            let best = climbed.reduce(|best, next| {
                if next.1.is_nan() || direction * next.1 < direction * best.1 { next } else { best }
            });
            best.unwrap_or_else(|| (Vec::new(), values.first().copied().unwrap_or(f64::NAN)))
        })
        .collect();
    found.into_iter().unzip()
}

/// Signs for every `η`: all of them where they are few, else some, and the middle.
fn corners(free: usize, seed: u64) -> impl Iterator<Item = Vec<f64>> {
    /// With more than this, two to their power are too many.
    const FEW: usize = 4;
    let count = if free <= FEW { 1 << free } else { 2 << FEW };
    let sign = move |corner: usize, k: usize| match (free <= FEW, corner) {
        (true, _) => f64::from((corner >> k & 1) as u8),
        // All up, all down, then chance.
        (false, 0 | 1) => corner as f64,
        (false, _) => sobol(corner as u32, k as u32, seed).round(),
    };
    let corner = move |corner: usize| (0..free).map(|k| 2.0 * sign(corner, k) - 1.0).collect();
    // Where nothing is free there is one corner, which is the middle.
    (0..count).map(corner).chain((free > 0).then(|| vec![0.0; free]))
}

/// The realisations that every bound is averaged over: names are drawn, so that each counts by itself.
fn noise_of(plan: &Plan, seed: u64) -> NoiseSamples {
    NoiseSamples::drawn(plan, amount(SAMPLES, plan), seed ^ 0x00ce_4711)
}

fn clairvoyant(problem: &Problem, network: &Network, choice: &Choice) -> Plan {
    let constant = Plan::new(problem, network, choice, Optimism::Constant);
    let samples = if constant.is_noisy() { amount(SAMPLES, &constant) } else { 1 };
    Plan::new(problem, network, choice, Optimism::Clairvoyant { samples })
}

/// The decision vector with the `η` of every realisation in its place.
fn joined(plan: &Plan, constant: &Plan, decisions: &[f64], etas: &[Vec<f64>]) -> Vec<f64> {
    let mut wide = vec![0.0; plan.dim()];
    wide[..decisions.len()].copy_from_slice(decisions);
    for (step, narrow) in plan.steps.iter().zip(&constant.steps) {
        for (component, at) in narrow.eta.clone().enumerate() {
            for (sample, eta) in etas.iter().enumerate() {
                wide[step.eta.start + component * etas.len() + sample] = eta[at - decisions.len()];
            }
        }
    }
    wide
}

/// Climbs to the highest expected reward over decisions and `η`, from decisions with the best `η` there.
fn highest(
    problem: &Problem,
    network: &Network,
    choice: &Choice,
    decisions: &[f64],
    width: f64,
    seed: u64,
) -> (Intervention, f64) {
    let constant = Plan::new(problem, network, choice, Optimism::Constant);
    let plan = clairvoyant(problem, network, choice);
    let (etas, values) = extremes(network, &constant, decisions, width, Side::Highest, seed);
    let begin = values.iter().sum::<f64>() / values.len() as f64;
    let start = joined(&plan, &constant, decisions, &etas);
    if start.is_empty() {
        return (plan.space().intervention(problem, &start), begin);
    }
    let noise = noise_of(&plan, seed);
    let (mut workspace, mut values) = (Workspace::default(), Vec::new());
    let (mut lower, mut upper) = plan.bounds();
    // Steps and choices stay what the search has found best.
    let space = plan.space();
    let (low, high) = space.bounds_about(decisions, Moving::Continuous);
    lower[..decisions.len()].copy_from_slice(&low);
    upper[..decisions.len()].copy_from_slice(&high);
    let rule = StopRule { evaluations: 2 * EVALUATIONS, ..RULE };
    let search = minimize(start, lower, upper, rule, |point, gradient| {
        let mut point = point.to_vec();
        let kept = space.keep(&mut point, Moving::Continuous);
        let batch = Batch { points: &point, beta: width, noise: &noise };
        network.rollout(&plan, batch, &mut workspace, &mut values, gradient);
        if let Some(kept) = kept {
            kept.pull_back(space.half_spaces(), &mut gradient[..space.dim()]);
        }
        gradient.iter_mut().for_each(|g| *g = -*g);
        -values[0]
    });
    let (point, value) = search.best();
    let mut point = point.to_vec();
    space.keep(&mut point, Moving::Continuous);
    let point = point.as_slice();
    // Where the decisions have moved, other signs may be best.
    let moved = &point[..decisions.len()];
    let (_, values) = extremes(network, &constant, moved, width, Side::Highest, seed);
    let again = values.iter().sum::<f64>() / values.len() as f64;
    let upper = [-value, again].into_iter().fold(begin, |a, b| if a.is_nan() || a > b { a } else { b });
    (plan.space().intervention(problem, point), upper)
}

const RULE: StopRule =
    StopRule { evaluations: EVALUATIONS, value_tolerance: 1e-7, gradient_tolerance: 0.0, first_step: 0.05 };
