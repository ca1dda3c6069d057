//! Causal Bayesian optimisation by do-calculus (Aglietti et al. 2020).

use mcbo_gp::{Gp, GpSpec, Kernel, Mean, Noise as GpNoise, Prediction, Rows, Scratch};
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::acquisition::Acquisition;
use crate::network::{Choice, FitError, ModelSettings, Network, NoiseSamples, Plan, Workspace, choice_of};
use crate::search::{
    Ascent, ENUMERATION_LIMIT, SearchSettings, SearchTask, Stages, maximize, target_sets, useful_actions,
};
use crate::{Data, Intervention, Problem};

use super::black_box::{SMALLEST, log_improvement};
use super::eifn::{Drawn, Draws};
use super::mcbo::best_observed;
use super::{
    Context, Memory, Observe, Strategy, SuggestError, Suggestion, Verdict, Warning, reward_forecast,
};

/// Causal Bayesian optimisation with expected improvement (EICBO), for hard interventions.
///
/// Each target set has a causal process of its own, `y ~ GP(m(x), k_RBF(x, x') + s(x) s(x'))` over the values `x` of the
/// set, that learns only from interventions on that very set. `m` and `s²` are the do-calculus estimates of mean and
/// variance of `E[Y | do(x)]` from observational rows: all nodes are seen and no confounder is hidden, so the truncated
/// factorisation identifies them, and they are computed by rollouts through processes that are fitted to those rows.
///
/// The intervention of the highest expected improvement per cost is proposed, where the cost is the number of nodes and
/// actions that are intervened on and the incumbent is the best reward an intervention had. The method takes that feedback
/// to be the expectation `E[Y | do(x)]`; with single noisy outcomes the processes learn a noise variance.
///
/// Before that, the system is only observed with probability `ε = V · N / N_max` for `N` observational rows so far. `V` is
/// the share of the settable domain that the observed values cover, in the original by their convex hull; here by their
/// bounding box, which is the product of one share per settable component.
#[derive(Debug, Clone, PartialEq)]
pub struct Cbo {
    /// The model of the nodes, fitted to observational rows.
    pub model: ModelSettings,
    /// `N_max`: observational rows that are collected at the most.
    pub max_observations: usize,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Cbo {
    fn default() -> Self {
        Self { model: ModelSettings::default(), max_observations: 100, search: Self::search() }
    }
}

impl Cbo {
    /// Sets are small and `m` and `s` are costly: fewer points than elsewhere.
    fn search() -> SearchSettings {
        let ascent = Ascent::QuasiNewton(Stages { first: 8, finalists: 2, second: 25 });
        SearchSettings { screened: 32, starts: 3, ascent, ..SearchSettings::default() }
    }
}

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
    let (count, dim) = (draws.count(), draws.plan.decisions());
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
struct Causal<'a> {
    problem: &'a Problem,
    network: &'a Network,
    sets: Vec<(Vec<usize>, Gp)>,
    /// The scale of the rewards.
    scale: f64,
    seed: u64,
}

/// Mean and deviation of the reward at a batch of points, in the direction of improvement.
#[derive(Debug, Default)]
struct Belief {
    mean: Vec<f64>,
    deviation: Vec<f64>,
    mean_slopes: Vec<f64>,
    deviation_slopes: Vec<f64>,
}

fn draws_of<'a>(problem: &Problem, network: &'a Network, choice: &Choice, seed: u64) -> Draws<'a> {
    Draws::new(problem, network, choice, DRAWS, seed, |plan: &Plan| NoiseSamples::new(plan, SAMPLES, seed))
}

/// What is decided of an intervention: its targets' components and the actions that matter, unit-scaled.
fn inputs_of(problem: &Problem, intervention: &Intervention) -> Vec<f64> {
    let unit = |value: f64, [low, high]: [f64; 2]| (value - low) / (high - low);
    let set: Vec<usize> = intervention.targets.iter().map(|(node, _)| *node).collect();
    let targets = intervention.targets.iter().flat_map(|(node, values)| {
        values.iter().zip(problem.nodes()[*node].hard.iter().flatten()).map(|(v, range)| unit(*v, *range))
    });
    let actions = useful_actions(problem, &set);
    let actions =
        actions.iter().map(|&action| unit(intervention.actions[action], problem.actions()[action].range));
    targets.chain(actions).collect()
}

fn is_observational(problem: &Problem, intervention: &Intervention) -> bool {
    *intervention == problem.neutral_intervention()
}

impl<'a> Causal<'a> {
    fn fit(problem: &'a Problem, data: &Data, network: &'a Network, seed: u64) -> Result<Self, FitError> {
        let trials: Vec<(&Intervention, f64)> = data
            .rewards(problem)
            .map(|(trial, reward)| (&data.observations()[trial].intervention, reward))
            .collect();
        let n = trials.len() as f64;
        let mean = trials.iter().map(|(_, y)| y).sum::<f64>() / n.max(1.0);
        let variance = trials.iter().map(|(_, y)| (y - mean) * (y - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let interventional: Vec<(&Intervention, f64)> =
            trials.into_iter().filter(|(done, _)| !is_observational(problem, done)).collect();
        let set_of = |done: &Intervention| done.targets.iter().map(|(node, _)| *node).collect::<Vec<_>>();
        let mut sets: Vec<Vec<usize>> = target_sets(problem, ENUMERATION_LIMIT).unwrap_or_default();
        for (done, _) in &interventional {
            if !sets.contains(&set_of(done)) {
                sets.push(set_of(done));
            }
        }
        let fit = |set: Vec<usize>| {
            let dim = set.iter().map(|&node| problem.nodes()[node].dim).sum::<usize>()
                + useful_actions(problem, &set).len();
            let mut rows = Rows::new(dim + 1);
            let mut workspace = Workspace::default();
            for (done, reward) in interventional.iter().filter(|(done, _)| set_of(done) == set) {
                let draws = draws_of(problem, network, &choice_of(problem, done), seed);
                let at = effect(&draws, &draws.plan.point(done), false, &mut workspace);
                let mut input = inputs_of(problem, done);
                input.push(at.deviation[0] / scale);
                rows.push(&input, (reward - at.mean[0]) / scale)?;
            }
            Ok((set, fit_residuals(&rows)?))
        };
        let failed = |source| FitError { node: problem.nodes()[problem.reward()].name.clone(), source };
        let sets = sets.into_par_iter().map(fit).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        Ok(Self { problem, network, sets, scale, seed })
    }

    /// The posterior of a choice: the estimate from observations, corrected by what interventions left unexplained.
    fn believe(&self, draws: &Draws<'_>, points: &[f64], slopes: bool, workspace: &mut Workspace) -> Belief {
        let dim = draws.plan.decisions();
        let columns = points.len().checked_div(dim).unwrap_or(1);
        let at = effect(draws, points, slopes, workspace);
        let choice = &draws.plan.choice;
        let Some((_, gp)) = self.sets.iter().find(|(set, _)| *set == choice.targets) else {
            // Never tried: the estimate, as uncertain as the rewards differ.
            let deviation = at.deviation.iter().map(|s| s.hypot(self.scale));
            let deviation: Vec<f64> = deviation.collect();
            let share = |(i, slope): (usize, &f64)| slope * at.deviation[i / dim] / deviation[i / dim];
            let deviation_slopes = at.deviation_slopes.iter().enumerate().map(share).collect();
            return Belief { mean: at.mean, deviation_slopes, deviation, mean_slopes: at.mean_slopes };
        };
        // The neutral intervention gives the inputs that are not free.
        let mut fixed = draws.plan.intervention(self.problem, &vec![0.0; dim]);
        for &action in &choice.actions {
            fixed.actions[action] = self.problem.actions()[action].neutral;
        }
        let fixed = inputs_of(self.problem, &fixed);
        let components = dim - choice.actions.len();
        let useful = useful_actions(self.problem, &choice.targets);
        let source = |input: usize| match input.checked_sub(components) {
            None => Some(input),
            Some(k) => choice.actions.iter().position(|a| *a == useful[k]).map(|p| components + p),
        };
        let inputs: Vec<Option<usize>> = (0..fixed.len()).map(source).collect();
        let mut batch = Vec::with_capacity((fixed.len() + 1) * columns);
        for (input, fixed) in inputs.iter().zip(&fixed) {
            batch.extend((0..columns).map(|s| input.map_or(*fixed, |variable| points[s * dim + variable])));
        }
        batch.extend(at.deviation.iter().map(|s| s / self.scale));
        let (mut scratch, mut residual) = (Scratch::default(), Prediction::default());
        gp.predict(&batch, columns, slopes, &mut scratch, &mut residual);
        let mut belief = Belief::default();
        for s in 0..columns {
            let deviation = residual.variance[s].sqrt().max(SMALLEST);
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

    fn predict(&self, intervention: &Intervention) -> (f64, f64) {
        let draws = draws_of(self.problem, self.network, &choice_of(self.problem, intervention), self.seed);
        let at = self.believe(&draws, &draws.plan.point(intervention), false, &mut Workspace::default());
        (at.mean[0], at.deviation[0])
    }

    /// Conditions on a pending intervention as if it came out as predicted.
    fn imagine(&mut self, intervention: &Intervention) {
        if is_observational(self.problem, intervention) {
            return;
        }
        let draws = draws_of(self.problem, self.network, &choice_of(self.problem, intervention), self.seed);
        let at = effect(&draws, &draws.plan.point(intervention), false, &mut Workspace::default());
        let residual = (self.predict(intervention).0 - at.mean[0]) / self.scale;
        let mut input = inputs_of(self.problem, intervention);
        input.push(at.deviation[0] / self.scale);
        let set = &draws.plan.choice.targets;
        if let Some((_, gp)) = self.sets.iter_mut().find(|(other, _)| other == set) {
            // Only a number that is not finite is refused: nothing to learn then.
            let _ = gp.append(&input, residual, 0, 0.0);
        }
    }
}

/// The process of what interventions differ from the estimate, with the kernel `v·RBF(x, x') + s s'`. The last input is `s`.
///
/// Hyper-parameters are the most probable of a grid, under log-normal priors of lengthscale and variance.
fn fit_residuals(rows: &Rows) -> Result<Gp, mcbo_gp::GpError> {
    let dim = rows.dim() - 1;
    let kernel: Kernel = "se + linear".parse().expect("the text of a kernel");
    let spec = |noise: f64| GpSpec {
        kernel: kernel.clone(),
        mean: Mean::Fixed(0.0),
        ..GpSpec::new(dim + 1, GpNoise::Fixed(noise))
    };
    let condition = |lengthscale: f64, variance: f64, noise: f64, rows: &Rows| {
        let spec = spec(noise);
        let mut lengthscales = [vec![lengthscale; dim + 1], vec![NO_INFLUENCE; dim + 1]];
        (lengthscales[0][dim], lengthscales[1][dim]) = (NO_INFLUENCE, 1.0);
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

/// `ln(EI / cost)` under the causal process of a choice; `-∞` for observing, which the ε rule decides.
struct CausalImprovement<'a> {
    causal: &'a Causal<'a>,
    draws: Draws<'a>,
    best: f64,
}

impl Acquisition for CausalImprovement<'_> {
    fn plan(&self) -> &Plan {
        &self.draws.plan
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.draws.bounds()
    }

    fn is_noisy(&self) -> bool {
        false
    }

    fn cost(&self) -> f64 {
        self.draws.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        values.clear();
        let dim = self.decisions();
        if dim == 0 {
            values.push(f64::NEG_INFINITY);
            return;
        }
        let belief = self.causal.believe(&self.draws, points, !gradients.is_empty(), workspace);
        let choice = self.choice();
        let cost = (choice.targets.len() + choice.actions.len()) as f64;
        for (point, (mean, deviation)) in belief.mean.iter().zip(&belief.deviation).enumerate() {
            let improvement = log_improvement(mean - self.best, *deviation);
            values.push(improvement.value - cost.ln());
            if !gradients.is_empty() {
                for i in point * dim..(point + 1) * dim {
                    gradients[i] = improvement.by_mean * belief.mean_slopes[i]
                        + improvement.by_deviation * belief.deviation_slopes[i];
                }
            }
        }
    }
}

/// The share of the settable domain that the bounding box of the observed values covers, 0 to 1.
fn coverage(problem: &Problem, observed: &Data) -> f64 {
    let settable = problem.settable();
    let share = |(slot, [low, high]): (usize, [f64; 2])| {
        let seen = observed.observations().iter().filter_map(|o| o.values[slot]);
        let (least, most) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value.clamp(low, high)), most.max(value.clamp(low, high)))
        });
        ((most - least) / (high - low)).max(0.0)
    };
    let components = settable
        .iter()
        .flat_map(|&node| problem.slot(node).zip(problem.nodes()[node].hard.iter().flatten().copied()));
    if settable.is_empty() { 0.0 } else { components.map(share).product() }
}

impl Cbo {
    /// Whether to observe in this round, by the ε rule. Without any observational row there is nothing to estimate
    /// from: then always.
    fn observes(&self, context: &Context<'_>, observed: &Data, u: f64) -> bool {
        let problem = context.problem;
        let allowed = problem.sets().is_none_or(|sets| sets.iter().any(Vec::is_empty))
            && !context.is_taken(&problem.neutral_intervention());
        let rows = observed.len();
        let share = rows as f64 / self.max_observations.max(1) as f64;
        allowed && rows < self.max_observations && (rows == 0 || u < coverage(problem, observed) * share)
    }
}

impl Strategy for Cbo {
    fn name(&self) -> &str {
        "cbo"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Suggestion, SuggestError> {
        let problem = context.problem;
        let (u, seed): (f64, u64) = (rng.random(), rng.random());
        let observed = observational(problem, context.data);
        if self.observes(context, &observed, u) {
            let observe = Observe.suggest(context, rng)?;
            return Ok(Suggestion { strategy: self.name().into(), ..observe });
        }
        let network = Network::fit(problem, &observed, &context.memory.model, &self.model, rng)?;
        let mut causal = Causal::fit(problem, context.data, &network, seed)?;
        for intervention in context.pending {
            causal.imagine(intervention);
        }
        let rewards = || context.data.rewards(problem);
        let done = |trial: usize| &context.data.observations()[trial].intervention;
        let best = rewards()
            .filter(|(trial, _)| !is_observational(problem, done(*trial)))
            .map(|(_, reward)| reward)
            .reduce(f64::max)
            .or_else(|| rewards().map(|(_, reward)| reward).reduce(f64::max))
            .unwrap_or(0.0);
        let mut warm = best_observed(problem, context.data, 2);
        warm.extend(context.memory.last.clone());
        let factory = |choice: &Choice, _: usize, _: u64| {
            let draws = draws_of(problem, &network, choice, seed);
            Box::new(CausalImprovement { causal: &causal, draws, best }) as Box<_>
        };
        let task = SearchTask { problem, factory: &factory, warm: &warm, seed, on_stage: &|_| {} };
        let found = maximize(&task, &self.search);
        let memory = Memory { model: network.memory(), ..context.memory.clone() };
        let warnings = network.warnings().iter().cloned().map(Warning::Model).collect();
        let forecast = |at: &Intervention| vec![reward_forecast(problem, causal.predict(at))];
        Verdict { strategy: self.name(), found: &found, beta: None, warnings, memory, forecast: &forecast }
            .settle(context, rng)
    }

    /// Of what was tried, what the causal processes expect most of; observing is worth the mean of what was observed.
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        let problem = context.problem;
        let observed = observational(problem, context.data);
        let network = Network::fit(problem, &observed, &context.memory.model, &self.model, rng)?;
        let causal = Causal::fit(problem, context.data, &network, rng.random())?;
        let (sum, count) = observed.rewards(problem).fold((0.0, 0.0), |(s, n), (_, y)| (s + y, n + 1.0));
        let observing = if count > 0.0 { sum / count } else { f64::NEG_INFINITY };
        let mut best = (observing, problem.neutral_intervention());
        let tried = context.data.observations().iter().map(|observation| &observation.intervention);
        for intervention in tried.filter(|done| !is_observational(problem, done)) {
            let mean = causal.predict(intervention).0;
            if mean > best.0 {
                best = (mean, intervention.clone());
            }
        }
        Ok(best.1)
    }
}

/// The trials in which nothing was done.
fn observational(problem: &Problem, data: &Data) -> Data {
    let mut observed = Data::new();
    for observation in data.observations() {
        if is_observational(problem, &observation.intervention) {
            // It was accepted before.
            let _ = observed.push(problem, observation.clone());
        }
    }
    observed
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::testing::{check_gradients, settings, system};
    use super::*;
    use crate::search::enumerate;
    use crate::{Noise, Observation};

    #[test]
    fn gradients_of_the_improvement_per_cost() {
        let (problem, data) = system(Noise::Gaussian(0.3));
        let observed = observational(&problem, &data);
        assert_eq!(observed.len(), 6);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &observed, &Default::default(), &settings(), &mut rng).expect("a fit");
        let causal = Causal::fit(&problem, &data, &network, 5).expect("a fit");
        for choice in enumerate(&problem, 100).expect("few choices") {
            for best in [-1.0, 5.0] {
                let draws = draws_of(&problem, &network, &choice, 5);
                check_gradients(&CausalImprovement { causal: &causal, draws, best }, 2);
            }
        }
    }

    fn chain() -> Problem {
        Problem::builder("chain")
            .node("x", |n| n.hard([-2.0, 2.0]).noise(Noise::Gaussian(1.0)))
            .node("z", |n| n.parents(["x"]).hard([-4.0, 4.0]).noise(Noise::Gaussian(0.1)))
            .node("y", |n| n.parents(["z"]).noise(Noise::Gaussian(0.1)))
            .maximize("y")
            .simulate("x", "normal(0, 1)")
            .simulate("z", "x + 0.5 + normal(0, 0.1)")
            .simulate("y", "2 * z - 0.5 * z^2 + normal(0, 0.1)")
            .build()
            .expect("a problem")
    }

    fn observe(problem: &Problem, rows: usize) -> Data {
        let (mut data, mut rng) = (Data::new(), ChaCha8Rng::seed_from_u64(8));
        for _ in 0..rows {
            let intervention = problem.neutral_intervention();
            let values = problem.simulator().expect("one").sample(problem, &intervention, &mut rng);
            let values = values.into_iter().map(Some).collect();
            data.push(problem, Observation { intervention, values }).expect("a good observation");
        }
        data
    }

    /// Where observations cover the domain, `E[Y | do(x)]` follows from them alone; interventions correct it.
    #[test]
    fn the_estimate_from_observations_is_the_effect_of_intervening() {
        let problem = chain();
        let mut data = observe(&problem, 60);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let set_x = |x: f64| Intervention { targets: vec![(0, vec![x])], actions: Vec::new() };
        let causal = Causal::fit(&problem, &data, &network, 5).expect("a fit");
        for x in [-1.0_f64, 0.0, 1.0] {
            // E[2z - z²/2] for z normal with mean x + 1/2 and variance 1/100.
            let exact = 2.0 * (x + 0.5) - 0.5 * ((x + 0.5).powi(2) + 0.01);
            let (mean, deviation) = causal.predict(&set_x(x));
            assert!((mean - exact).abs() < 0.25 && deviation > 0.0, "{x}: {mean} against {exact}");
        }
        let (_, before) = causal.predict(&set_x(1.0));
        let values = vec![None, None, Some(7.0)];
        data.push(&problem, Observation { intervention: set_x(1.0), values }).expect("a good observation");
        let mut causal = Causal::fit(&problem, &data, &network, 5).expect("a fit");
        let (mean, after) = causal.predict(&set_x(1.0));
        assert!(mean > 2.5 && after < before, "{mean}, {before} {after}");
        // Another set learns nothing from it.
        let set_z = Intervention { targets: vec![(1, vec![1.5])], actions: Vec::new() };
        let (mean, before) = causal.predict(&set_z);
        assert!((mean - 1.875).abs() < 0.25, "{mean}");
        causal.imagine(&set_z);
        assert!(causal.predict(&set_z).1 < before);
    }

    #[test]
    fn observing_is_as_likely_as_the_rule_says() {
        let problem = chain();
        let cbo = Cbo { max_observations: 20, ..Cbo::default() };
        let memory = Memory::default();
        let observes = |data: &Data, u: f64| {
            let context = Context { problem: &problem, data, pending: &[], failed: &[], memory: &memory };
            cbo.observes(&context, data, u)
        };
        let mut data = Data::new();
        assert!(observes(&data, 0.999));
        for (x, z) in [(-1.0, 0.0), (1.0, 3.0), (0.0, -9.0)] {
            let values = vec![Some(x), Some(z), Some(0.0)];
            let intervention = problem.neutral_intervention();
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        // Half of the range of x; of z, cut to its range, from -4 to 3.
        let covered = 0.5 * 7.0 / 8.0;
        assert!((coverage(&problem, &data) - covered).abs() < 1e-12);
        let epsilon = covered * 3.0 / 20.0;
        assert!(observes(&data, epsilon - 1e-6) && !observes(&data, epsilon + 1e-6));
        assert!(!observes(&observe(&problem, 20), 0.0));
    }
}
