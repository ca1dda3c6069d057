//! How much better than the recommended intervention any other could still be.

use mcbo_gp::optimize::{StopRule, minimize};
use rayon::prelude::*;

use crate::network::{Batch, Choice, ModelWarning, Network, NoiseSamples, Plan, Workspace, choice_of};
use crate::optimism::Optimism;
use crate::quasi::sobol;
use crate::{Intervention, Problem};

use super::{Context, Mcbo, Memory};

/// Realisations of the noise that bounds are averaged over.
const SAMPLES: usize = 32;
/// Places of the optimistic search that are bounded.
const FINALISTS: usize = 3;
/// Starts of the search for the worst plausible model.
const WORST_STARTS: u32 = 4;
/// Evaluations of every ascent and descent.
const EVALUATIONS: usize = 40;

/// Bounds on what can be gained beyond the recommended intervention.
///
/// They hold if every learned mechanism lies everywhere within `width` posterior deviations of its mean
/// (Eq. calibrated of the paper), the graph and the declared formulas are right with no hidden common causes, and the noise is
/// as the model has it. They are as exact as the search for the extremes, which climbs from many starts but proves nothing, and
/// as the average over 32 realisations of the noise.
///
/// Nothing is said, and the gap is infinite, while a node has no row to learn from or a formula has no value.
///
/// With noise the plausible model may choose its mechanism for every realisation apart. No function of a node's inputs can do
/// better, so the bounds err to the safe side.
#[derive(Debug, Clone, PartialEq)]
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
        let lower = worst(problem, network, intervention, width, seed);
        let simple = Self { optimism: Optimism::Constant, ..self.clone() };
        let found = simple.search(context, network, width, seed, &|_| {});
        let own = choice_of(problem, intervention);
        let own_point = Plan::new(problem, network, &own, Optimism::Constant).point(intervention);
        let starts = found.into_iter().take(FINALISTS).map(|found| (found.choice, found.point));
        let starts: Vec<(Choice, Vec<f64>)> = starts.chain([(own, own_point)]).collect();
        let bounds = starts.into_par_iter().map(|(choice, point)| {
            let plan = clairvoyant(problem, network, &choice);
            let start = spread(&plan, &Plan::new(problem, network, &choice, Optimism::Constant), &point);
            let (point, upper) = extreme(network, &plan, start, width, false, seed);
            (plan.intervention(problem, &point), upper)
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
    let choice = choice_of(problem, intervention);
    let plan = clairvoyant(problem, network, &choice);
    let constant = Plan::new(problem, network, &choice, Optimism::Constant);
    let starts: Vec<f64> = (0..WORST_STARTS)
        .into_par_iter()
        .map(|start| {
            let mut point = plan.point(intervention);
            let eta = |k: u32| match start {
                0 => 0.0,
                1 => -1.0,
                2 => 1.0,
                _ => 2.0 * sobol(start, k, seed) - 1.0,
            };
            point.extend((0..(constant.dim() - point.len()) as u32).map(eta));
            // A negative width turns the reward's own band around: its lower end counts.
            extreme(network, &plan, spread(&plan, &constant, &point), -width, true, seed).1
        })
        .collect();
    starts
        .into_iter()
        .fold(f64::INFINITY, |low, next| if next.is_nan() { f64::NEG_INFINITY } else { low.min(next) })
}

fn clairvoyant(problem: &Problem, network: &Network, choice: &Choice) -> Plan {
    let noisy = Plan::new(problem, network, choice, Optimism::Constant).is_noisy();
    let samples = if noisy { SAMPLES } else { 1 };
    Plan::new(problem, network, choice, Optimism::Clairvoyant { samples })
}

/// The decision vector with every `η` repeated for all noise samples; those that are missing are 0.
fn spread(plan: &Plan, constant: &Plan, point: &[f64]) -> Vec<f64> {
    let mut wide = vec![0.0; plan.dim()];
    wide[..plan.decisions()].copy_from_slice(&point[..plan.decisions()]);
    for (step, narrow) in plan.steps.iter().zip(&constant.steps) {
        let samples = step.eta.len() / narrow.eta.len().max(1);
        for (component, at) in narrow.eta.clone().enumerate() {
            let value = point.get(at).copied().unwrap_or(0.0);
            wide[step.eta.start + component * samples..][..samples].fill(value);
        }
    }
    wide
}

/// Climbs to the highest expected reward over decisions and `η`, or, where the decisions are fixed, descends to the lowest
/// over `η` alone.
fn extreme(
    network: &Network,
    plan: &Plan,
    start: Vec<f64>,
    beta: f64,
    fixed: bool,
    seed: u64,
) -> (Vec<f64>, f64) {
    let noise = NoiseSamples::new(plan, SAMPLES, seed ^ 0x00ce_4711);
    let (mut workspace, mut values) = (Workspace::default(), Vec::new());
    let direction = if fixed { 1.0 } else { -1.0 };
    let (mut lower, mut upper) = plan.bounds();
    if fixed {
        lower[..plan.decisions()].copy_from_slice(&start[..plan.decisions()]);
        upper[..plan.decisions()].copy_from_slice(&start[..plan.decisions()]);
    }
    if start.is_empty() {
        network.rollout(
            plan,
            Batch { points: &start, beta, noise: &noise },
            &mut workspace,
            &mut values,
            &mut [],
        );
        return (start, values.first().copied().unwrap_or(f64::NAN));
    }
    let rule = StopRule {
        evaluations: EVALUATIONS,
        value_tolerance: 1e-7,
        gradient_tolerance: 0.0,
        first_step: 0.05,
    };
    let search = minimize(start, lower, upper, rule, |point, gradient| {
        let batch = Batch { points: point, beta, noise: &noise };
        network.rollout(plan, batch, &mut workspace, &mut values, gradient);
        gradient.iter_mut().for_each(|g| *g *= direction);
        direction * values[0]
    });
    let (point, value) = search.best();
    (point.to_vec(), direction * value)
}
