//! The causal processes of CBO: do-calculus estimates, corrected by interventions.

use mcbo_gp::{Gp, GpSpec, Kernel, Leaf, Mean, Noise as GpNoise, Prediction, Rows, Scratch, Shape};
use rayon::prelude::*;

use crate::decision::Variable;
use crate::{Choice, Data, DecisionSpace, Intervention, Problem};

use super::{Drawn, Draws, FitError, Network, NoiseSamples, Plan, SMALLEST_DEVIATION, Workspace};

/// Draws of the mechanisms behind `m` and `s`, and noise samples for each.
const DRAWS: usize = 8;
const SAMPLES: usize = 16;

/// The hyper-parameters that are tried: lengthscale (of the unit box), variance and noise (of standardised rewards).
const LENGTHSCALES: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6];
const VARIANCES: [f64; 5] = [0.01, 0.1, 0.3, 1.0, 3.0];
const NOISES: [f64; 5] = [1e-6, 1e-2, 0.1, 0.4, 1.0];
/// Rows they are compared on at the most.
const ROWS_FOR_FITTING: usize = 100;

/// A lengthscale at which an input of the unit box has no influence.
const NO_INFLUENCE: f64 = 1e6;

/// `m(x)` and `s(x)` at a batch of points, with derivatives if wanted.
#[derive(Debug, Default)]
struct Effect {
    mean: Vec<f64>,
    deviation: Vec<f64>,
    mean_slopes: Vec<f64>,
    deviation_slopes: Vec<f64>,
}

/// The do-calculus estimate for a choice.
fn effect(draws: &Draws<'_>, points: &[f64], slopes: bool, workspace: &mut Workspace) -> Effect {
    let (count, dim) = (draws.count(), draws.plan().decisions());
    let mut drawn = Drawn::default();
    draws.evaluate(points, slopes, workspace, &mut drawn);
    let mut effect = Effect::default();
    for (point, rewards) in drawn.rewards.chunks_exact(count).enumerate() {
        let mean = rewards.iter().sum::<f64>() / count as f64;
        let variance = rewards.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / count as f64;
        let deviation = variance.sqrt();
        effect.mean.push(mean);
        effect.deviation.push(deviation);
        for k in 0..if slopes { dim } else { 0 } {
            let slope = |draw: usize| drawn.slopes[(point * count + draw) * dim + k];
            let apart = rewards.iter().enumerate().map(|(draw, y)| (y - mean) * slope(draw)).sum::<f64>();
            effect.mean_slopes.push((0..count).map(slope).sum::<f64>() / count as f64);
            effect.deviation_slopes.push(if deviation > 0.0 {
                apart / count as f64 / deviation
            } else {
                0.0
            });
        }
    }
    effect
}

/// The causal processes of all target sets.
pub(crate) struct Causal<'a> {
    problem: &'a Problem,
    network: &'a Network,
    sets: Vec<(Vec<usize>, Gp)>,
    /// The scale of the rewards.
    scale: f64,
    seed: u64,
}

/// Mean and deviation of the reward at a batch of points, in the direction of improvement.
#[derive(Debug, Default)]
pub(crate) struct Belief {
    pub mean: Vec<f64>,
    pub deviation: Vec<f64>,
    pub mean_slopes: Vec<f64>,
    pub deviation_slopes: Vec<f64>,
}

fn draws_of<'a>(problem: &Problem, network: &'a Network, choice: &Choice, seed: u64) -> Draws<'a> {
    Draws::new(problem, network, choice, DRAWS, seed, |plan: &Plan| NoiseSamples::new(plan, SAMPLES, seed))
}

/// What the process of a target set reads: all that can be decided with it, relative to its range; names are counted.
fn inputs_of(problem: &Problem, intervention: &Intervention) -> Vec<f64> {
    let space = DecisionSpace::of_targets(problem, intervention.target_set());
    let units = space.units(intervention).zip(space.variables());
    units.map(|(unit, variable)| read(variable, unit)).collect()
}

/// A variable as the process reads it.
fn read(variable: &Variable, unit: f64) -> f64 {
    if variable.named { variable.value(unit) } else { unit }
}

impl<'a> Causal<'a> {
    /// Fits the processes to what interventions left unexplained by the network, which is of observations.
    pub fn fit(problem: &'a Problem, data: &Data, network: &'a Network, seed: u64) -> Result<Self, FitError> {
        let trials: Vec<(&Intervention, f64)> = data
            .rewards(problem)
            .map(|(trial, reward)| (&data.observations()[trial].intervention, reward))
            .collect();
        let n = trials.len() as f64;
        let mean = trials.iter().map(|(_, y)| y).sum::<f64>() / n.max(1.0);
        let variance = trials.iter().map(|(_, y)| (y - mean) * (y - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let interventional: Vec<(&Intervention, f64)> =
            trials.into_iter().filter(|(done, _)| !done.is_neutral(problem)).collect();
        let mut sets: Vec<Vec<usize>> = problem.target_sets().unwrap_or_default().to_vec();
        for (done, _) in &interventional {
            if !sets.contains(&done.target_set()) {
                sets.push(done.target_set());
            }
        }
        let fit = |set: Vec<usize>| {
            let space = DecisionSpace::of_targets(problem, set.clone());
            let dim = space.dim();
            let named: Vec<usize> = (0..dim).filter(|&k| space.variables()[k].named).collect();
            let mut rows = Rows::new(dim + 1);
            let mut workspace = Workspace::default();
            for (done, reward) in interventional.iter().filter(|(done, _)| done.target_set() == set) {
                let draws = draws_of(problem, network, &Choice::of(problem, done), seed);
                let at = effect(
                    &draws,
                    &draws.plan().space().units(done).collect::<Vec<f64>>(),
                    false,
                    &mut workspace,
                );
                let mut input = inputs_of(problem, done);
                input.push(at.deviation[0] / scale);
                rows.push(&input, (reward - at.mean[0]) / scale)?;
            }
            Ok((set, fit_residuals(&rows, &named)?))
        };
        let failed = |source| FitError::of_node(problem, problem.reward(), source);
        let sets = sets.into_par_iter().map(fit).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        Ok(Self { problem, network, sets, scale, seed })
    }

    /// The problem.
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// The draws behind the do-calculus estimate of a choice.
    pub fn draws(&self, choice: &Choice) -> Draws<'a> {
        draws_of(self.problem, self.network, choice, self.seed)
    }

    /// The posterior of a choice: the estimate from observations, corrected by what interventions left unexplained.
    pub fn believe(
        &self,
        draws: &Draws<'_>,
        points: &[f64],
        slopes: bool,
        workspace: &mut Workspace,
    ) -> Belief {
        let dim = draws.plan().decisions();
        let columns = points.len().checked_div(dim).unwrap_or(1);
        let at = effect(draws, points, slopes, workspace);
        let (space, choice) = (draws.plan().space(), draws.plan().space().choice());
        let Some((_, gp)) = self.sets.iter().find(|(set, _)| *set == choice.targets) else {
            // Never tried: the estimate, as uncertain as the rewards differ.
            let deviation = at.deviation.iter().map(|s| s.hypot(self.scale));
            let deviation: Vec<f64> = deviation.collect();
            let share = |(i, slope): (usize, &f64)| slope * at.deviation[i / dim] / deviation[i / dim];
            let deviation_slopes = at.deviation_slopes.iter().enumerate().map(share).collect();
            return Belief { mean: at.mean, deviation_slopes, deviation, mean_slopes: at.mean_slopes };
        };
        // Inputs that are not free are neutral.
        let seen = DecisionSpace::of_targets(self.problem, choice.targets.clone());
        let fixed: Vec<f64> = seen.units(&self.problem.neutral_intervention()).collect();
        let inputs: Vec<Option<usize>> =
            seen.variables().iter().map(|variable| space.position(variable.place)).collect();
        let mut batch = Vec::with_capacity((fixed.len() + 1) * columns);
        for ((input, fixed), variable) in inputs.iter().zip(&fixed).zip(seen.variables()) {
            let unit = |s: usize| input.map_or(*fixed, |place| points[s * dim + place]);
            batch.extend((0..columns).map(|s| read(variable, unit(s))));
        }
        batch.extend(at.deviation.iter().map(|s| s / self.scale));
        let (mut scratch, mut residual) = (Scratch::default(), Prediction::default());
        gp.predict(&batch, columns, slopes, &mut scratch, &mut residual);
        let mut belief = Belief::default();
        for s in 0..columns {
            let deviation = residual.variance[s].sqrt().max(SMALLEST_DEVIATION);
            belief.mean.push(at.mean[s] + self.scale * residual.mean[s]);
            belief.deviation.push(self.scale * deviation);
            for variable in 0..if slopes { dim } else { 0 } {
                // By the variable itself, and through s(x), the last input.
                let by_deviation = at.deviation_slopes[s * dim + variable];
                let through = |jacobian: &[f64]| {
                    let own = inputs.iter().position(|input| *input == Some(variable));
                    own.map_or(0.0, |k| self.scale * jacobian[k * columns + s])
                        + jacobian[fixed.len() * columns + s] * by_deviation
                };
                belief
                    .mean_slopes
                    .push(at.mean_slopes[s * dim + variable] + through(&residual.mean_jacobian));
                belief.deviation_slopes.push(through(&residual.variance_jacobian) / (2.0 * deviation));
            }
        }
        belief
    }

    /// Mean and deviation of the reward of an intervention, in the direction of improvement.
    pub fn predict(&self, intervention: &Intervention) -> (f64, f64) {
        let draws = self.draws(&Choice::of(self.problem, intervention));
        let at = self.believe(
            &draws,
            &draws.plan().space().units(intervention).collect::<Vec<f64>>(),
            false,
            &mut Workspace::default(),
        );
        (at.mean[0], at.deviation[0])
    }

    /// Conditions on a pending intervention as if it came out as predicted.
    ///
    /// # Errors
    /// If the process refuses it.
    pub fn condition_on_pending(&mut self, intervention: &Intervention) -> Result<(), FitError> {
        if intervention.is_neutral(self.problem) {
            return Ok(());
        }
        let draws = self.draws(&Choice::of(self.problem, intervention));
        let at = effect(
            &draws,
            &draws.plan().space().units(intervention).collect::<Vec<f64>>(),
            false,
            &mut Workspace::default(),
        );
        let residual = (self.predict(intervention).0 - at.mean[0]) / self.scale;
        let mut input = inputs_of(self.problem, intervention);
        input.push(at.deviation[0] / self.scale);
        let set = &draws.plan().space().choice().targets;
        if let Some((_, gp)) = self.sets.iter_mut().find(|(other, _)| other == set) {
            // A formula without a value there leaves nothing to condition on.
            if residual.is_finite() && input.iter().all(|x| x.is_finite()) {
                let refused = |source| FitError::of_node(self.problem, self.problem.reward(), source);
                gp.append(&input, residual, 0, 0.0).map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// The process of what interventions differ from the estimate, with the kernel `v·RBF(x, x') + s s'`. The last input is `s`.
///
/// Hyper-parameters are the most probable of a grid, under log-normal priors of lengthscale and variance.
///
/// Inputs at `named` places are names: there the kernel is `v·RBF(x, x') k(c, c') + s s'`, in which different names have the
/// correlation `1/e`.
fn fit_residuals(rows: &Rows, named: &[usize]) -> Result<Gp, mcbo_gp::GpError> {
    let dim = rows.dim() - 1;
    let kernel: Kernel = match named {
        [] => "se + linear".parse().expect("the text of a kernel"),
        _ => {
            let numbers = (0..=dim).filter(|k| !named.contains(k));
            let names = Leaf::of(Shape::Choice, named.iter().copied());
            let curve = Leaf::of(Shape::SquaredExponential, numbers);
            Kernel::sum(vec![vec![curve, names], vec![Leaf { shape: Shape::Linear, inputs: None }]])
        }
    };
    let spec = |noise: f64| GpSpec {
        kernel: kernel.clone(),
        mean: Mean::Fixed(0.0),
        ..GpSpec::new(dim + 1, GpNoise::Fixed(noise))
    };
    let condition = |lengthscale: f64, variance: f64, noise: f64, rows: &Rows| {
        let spec = spec(noise);
        let (mut curve, mut line) = (vec![lengthscale; dim + 1 - named.len()], vec![NO_INFLUENCE; dim + 1]);
        (curve[dim - named.len()], line[dim]) = (NO_INFLUENCE, 1.0);
        let names = (!named.is_empty()).then(|| vec![1.0; named.len()]);
        let lengthscales: Vec<Vec<f64>> = [curve].into_iter().chain(names).chain([line]).collect();
        let theta = spec.parameters_from(&[variance, 1.0], &lengthscales, &[], noise);
        Gp::condition(&spec, &theta, rows.clone())
    };
    let some = rows.thinned(ROWS_FOR_FITTING);
    let some = some.as_ref().unwrap_or(rows);
    let mut best = (f64::NEG_INFINITY, (0.4, 1.0, NOISES[0]));
    for lengthscale in LENGTHSCALES {
        for variance in VARIANCES {
            for noise in NOISES {
                let Ok(gp) = condition(lengthscale, variance, noise, some) else { continue };
                let prior = -0.5 * (lengthscale / 0.3).ln().powi(2) - 0.5 * (variance.ln() / 1.5).powi(2);
                let density = gp.log_marginal() + prior;
                if density > best.0 {
                    best = (density, (lengthscale, variance, noise));
                }
            }
        }
    }
    let (lengthscale, variance, noise) = best.1;
    condition(lengthscale, variance, noise, rows)
}
