//! Bayesian optimisation that does not look into the system: one process from what is decided to the reward.

use std::f64::consts::TAU;

use rand::{Rng, RngExt};

use crate::acquisition::Acquisition;
use crate::network::{Batch, Choice, Direct, ModelSettings, Network, NoiseSamples, Plan, Workspace};
use crate::search::{Found, SearchSettings, SearchTask, maximize};
use crate::{Intervention, Problem};

use super::mcbo::warm_starts;
use super::{Context, Memory, Strategy, SuggestError, Suggestion, Verdict, Warning, reward_forecast};

/// Upper confidence bound: the intervention of the highest `μ + βσ` (Srinivas et al. 2010).
///
/// One process per target set goes from the set's values and the actions to the reward. `β` multiplies the deviation, as
/// everywhere here.
#[derive(Debug, Clone, PartialEq)]
pub struct Ucb {
    /// The model of the reward.
    pub model: ModelSettings,
    /// Width of the confidence band in standard deviations.
    pub beta: f64,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Ucb {
    fn default() -> Self {
        Self { model: ModelSettings::default(), beta: 0.5, search: SearchSettings::default() }
    }
}

/// Expected improvement, maximised as its logarithm (Ament et al. 2023).
///
/// The processes are those of [`Ucb`]. The incumbent is the highest posterior mean among the interventions that were
/// tried; without noise that is the best measured reward.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExpectedImprovement {
    /// The model of the reward.
    pub model: ModelSettings,
    /// Budget of the search.
    pub search: SearchSettings,
}

/// What is made of mean `μ` and deviation `σ` of the reward.
#[derive(Debug, Clone, Copy)]
enum Criterion {
    /// `μ + βσ`.
    Bound(f64),
    /// `ln E[max(0, y - best)]`.
    Improvement { best: f64 },
}

#[derive(Debug)]
struct DirectAcquisition<'a> {
    network: Option<&'a Network>,
    plan: Plan,
    noise: NoiseSamples,
    criterion: Criterion,
    prior: (f64, f64),
    scale: f64,
}

impl<'a> DirectAcquisition<'a> {
    fn new(problem: &Problem, model: &'a Direct, choice: &Choice, criterion: Criterion) -> Self {
        let plan = Direct::plan(problem, choice);
        Self {
            network: model.network(&choice.targets),
            noise: NoiseSamples::silent(&plan),
            plan,
            criterion,
            prior: model.prior(problem),
            scale: model.scale(),
        }
    }
}

impl Acquisition for DirectAcquisition<'_> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn is_noisy(&self) -> bool {
        false
    }

    fn cost(&self) -> f64 {
        2.0 * self.network.map_or(1.0, |network| network.rollout_cost(&self.plan, 1))
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let dim = self.plan.dim();
        let Some(network) = self.network else {
            let (mean, deviation) = self.prior;
            let value = match self.criterion {
                Criterion::Bound(beta) => mean + beta * deviation,
                Criterion::Improvement { best } => log_improvement(mean - best, deviation).value,
            };
            values.clear();
            values.resize(points.len().checked_div(dim).unwrap_or(1), value);
            gradients.fill(0.0);
            return;
        };
        let mut rollout = |beta: f64, values: &mut Vec<f64>, gradients: &mut [f64]| {
            let batch = Batch { points, beta, noise: &self.noise };
            network.rollout(&self.plan, batch, workspace, values, gradients);
        };
        match self.criterion {
            Criterion::Bound(beta) => rollout(beta, values, gradients),
            Criterion::Improvement { best } => {
                // One deviation above the mean, and the mean: their difference is σ.
                let (mut above, mut by_above) = (Vec::new(), vec![0.0; gradients.len()]);
                rollout(1.0, &mut above, &mut by_above);
                rollout(0.0, values, gradients);
                for (candidate, value) in values.iter_mut().enumerate() {
                    let deviation = (above[candidate] - *value).max(SMALLEST * self.scale);
                    let improvement = log_improvement(*value - best, deviation);
                    *value = improvement.value;
                    if gradients.is_empty() {
                        continue;
                    }
                    let of = candidate * dim..(candidate + 1) * dim;
                    for (slope, above) in gradients[of.clone()].iter_mut().zip(&by_above[of]) {
                        *slope = improvement.by_mean * *slope + improvement.by_deviation * (above - *slope);
                    }
                }
            }
        }
    }
}

/// Below this share of the rewards' scale a deviation counts as this share.
pub(super) const SMALLEST: f64 = 1e-10;

/// The logarithm of the expected improvement, with its derivatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogImprovement {
    pub value: f64,
    pub by_mean: f64,
    pub by_deviation: f64,
}

/// `ln E[max(0, g + σε)]` for a gain `g` of the mean and `σ > 0`: `ln σ + ln h(g/σ)` with `h(z) = φ(z) + zΦ(z)`.
///
/// `∂EI/∂g = Φ` and `∂EI/∂σ = φ`, so that the derivatives are `Φ/(σh)` and `φ/(σh)`.
pub(super) fn log_improvement(gain: f64, deviation: f64) -> LogImprovement {
    let (log_h, cumulative, density) = log_h(gain / deviation);
    LogImprovement {
        value: deviation.ln() + log_h,
        by_mean: cumulative / deviation,
        by_deviation: density / deviation,
    }
}

/// `ln h(z)`, `Φ(z)/h(z)` and `φ(z)/h(z)`, to about 1e-14 relative for every `z` whose square is finite.
///
/// Below -1 the two parts of `h` cancel. With `t = -z` and Mills' ratio `Φ(-t)/φ(t) = 1/(t + C)`, where
/// `C = 1/(t + 2/(t + 3/(t + …)))` is Laplace's continued fraction, `h = φ C/(t + C)` has no difference left.
/// Not by `erfc` or `erfcx` of a crate: `1 - t Φ(-t)/φ(t)` is about `1/t²`, so that at `t = 1e4` half of the digits would be lost.
fn log_h(z: f64) -> (f64, f64, f64) {
    let log_density = -0.5 * z * z - 0.5 * TAU.ln();
    if z < -1.0 {
        let c = tail_fraction(-z);
        return (log_density + (c / (c - z)).ln(), 1.0 / c, (c - z) / c);
    }
    let density = log_density.exp();
    let cumulative = if z > 6.0 {
        1.0 - density / (z + tail_fraction(z))
    } else {
        // Φ(z) = 1/2 + φ(z) Σ z^(2k+1) / (1·3·…·(2k+1)), all terms of one sign.
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        0.5 + density * sum
    };
    let h = density + z * cumulative;
    (h.ln(), cumulative / h, density / h)
}

/// `1/(t + 2/(t + 3/(t + …)))` for `t ≥ 1`.
fn tail_fraction(t: f64) -> f64 {
    const TERMS: u32 = 400;
    (1..=TERMS).rev().fold(0.0, |rest, k| f64::from(k) / (t + rest))
}

/// Fits the processes, conditioned on pending trials.
fn fit(
    model: &ModelSettings,
    context: &Context<'_>,
    rng: &mut dyn Rng,
) -> Result<(Direct, Memory), SuggestError> {
    let mut direct = Direct::fit(context.problem, context.data, &context.memory.model, model, rng)?;
    let memory = Memory { model: direct.memory(context.problem), ..context.memory.clone() };
    for pending in context.pending {
        direct.condition_on_pending(context.problem, &pending.intervention);
    }
    Ok((direct, memory))
}

fn search(
    context: &Context<'_>,
    model: &Direct,
    criterion: Criterion,
    settings: &SearchSettings,
    seed: u64,
) -> Vec<Found> {
    let problem = context.problem;
    let warm = warm_starts(context);
    let factory = |choice: &Choice, _: usize, _: u64| {
        Box::new(DirectAcquisition::new(problem, model, choice, criterion)) as Box<_>
    };
    maximize(&SearchTask { problem, factory: &factory, warm: &warm, seed, on_stage: &|_| {} }, settings)
}

/// The intervention of the highest posterior mean.
fn highest_mean(
    model: &ModelSettings,
    settings: &SearchSettings,
    context: &Context<'_>,
    rng: &mut dyn Rng,
) -> Result<Intervention, SuggestError> {
    let (model, _) = fit(model, &Context { pending: &[], ..*context }, rng)?;
    let found = search(context, &model, Criterion::Bound(0.0), settings, rng.random()).into_iter().next();
    Ok(found.map_or_else(|| context.problem.neutral_intervention(), |found| found.intervention))
}

fn warnings(model: &Direct) -> Vec<Warning> {
    model.warnings().cloned().map(Warning::Model).collect()
}

impl Strategy for Ucb {
    fn name(&self) -> &str {
        "ucb"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Suggestion, SuggestError> {
        let (model, memory) = fit(&self.model, context, rng)?;
        let found = search(context, &model, Criterion::Bound(self.beta), &self.search, rng.random());
        let forecast =
            |at: &Intervention| vec![reward_forecast(context.problem, model.predict(context.problem, at))];
        let warnings = warnings(&model);
        let strategy = self.name();
        Verdict { strategy, found: &found, beta: Some(self.beta), warnings, memory, forecast: &forecast }
            .settle(context, rng)
    }

    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        highest_mean(&self.model, &self.search, context, rng)
    }
}

impl Strategy for ExpectedImprovement {
    fn name(&self) -> &str {
        "ei"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Suggestion, SuggestError> {
        let problem = context.problem;
        let (model, memory) = fit(&self.model, context, rng)?;
        let tried = context
            .data
            .rewards(problem)
            .map(|(trial, _)| model.predict(problem, &context.data.observations()[trial].intervention).0);
        let best = tried.reduce(f64::max).unwrap_or(model.prior(problem).0);
        let found = search(context, &model, Criterion::Improvement { best }, &self.search, rng.random());
        let forecast = |at: &Intervention| vec![reward_forecast(problem, model.predict(problem, at))];
        let warnings = warnings(&model);
        Verdict { strategy: self.name(), found: &found, beta: None, warnings, memory, forecast: &forecast }
            .settle(context, rng)
    }

    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        highest_mean(&self.model, &self.search, context, rng)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::testing::{check_gradients, settings, system};
    use super::*;
    use crate::search::enumerate;
    use crate::{Noise, design_point};

    #[test]
    #[expect(clippy::excessive_precision, reason = "the digits as they were computed")]
    fn the_logarithm_of_h() {
        // z, ln h, Φ/h and φ/h from mpmath with 60 digits.
        for (z, log, cumulative, density) in [
            (-40.0, -808.298_568_356_619_96, 40.049_906_657_648_518, 1_602.996_266_305_940_7),
            (-20.0, -206.917_838_509_425_1, 20.099_262_811_101_282, 402.985_256_222_025_64),
            (-10.0, -55.553_122_036_122_356, 10.194_383_033_412_553, 102.943_830_334_125_53),
            (-5.0, -16.744_301_162_660_99, 5.361_816_241_288_088_5, 27.809_081_206_440_443),
            (-2.0, -4.768_783_523_917_114_2, 2.679_416_883_955_586, 6.358_833_767_911_172),
            (-1.0001, -2.485_311_456_445_883_4, 1.904_343_431_716_527_4, 2.904_533_866_059_699),
            (-1.0, -2.485_121_025_712_641_3, 1.904_271_233_329_691_8, 2.904_271_233_329_691_8),
            (-0.5, -1.620_516_264_387_319_9, 1.559_873_148_348_079_7, 1.779_936_574_174_039_8),
            (0.0, -0.918_938_533_204_672_74, 1.253_314_137_315_500_3, 1.0),
            (0.3, -0.567_817_153_677_936_9, 1.090_249_961_131_189_3, 0.672_925_011_660_643_22),
            (1.0, 0.080_026_218_849_306_94, 0.776_638_725_201_739_26, 0.223_361_274_798_260_74),
            (3.0, 1.098_739_665_327_707_8, 0.332_840_968_451_795_24, 0.001_477_094_644_614_293_3),
            (5.0, 1.609_437_923_126_431_4, 0.199_999_940_531_220_05, 2.973_438_997_675_601_2e-7),
            (8.0, 2.079_441_541_679_835_9, 0.124_999_999_999_999_92, 6.315_338_854_421_115_3e-16),
        ] {
            let found = log_h(z);
            for (found, expected) in [(found.0, log), (found.1, cumulative), (found.2, density)] {
                let error: f64 = (found - expected) / expected;
                assert!(error.abs() < 2e-14, "{z}: {found} against {expected}");
            }
        }
        // Far out ln h(z) = ln φ(z) - 2 ln|z| - 3/z² + …
        let far = log_h(-1e6);
        assert!(far.0.is_finite() && (far.1 / 1e6 - 1.0).abs() < 1e-11, "{far:?}");
    }

    #[test]
    fn gradients_of_both_criteria() {
        for noise in [Noise::None, Noise::Gaussian(0.1)] {
            let (problem, data) = system(noise);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let model =
                Direct::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
            let choices = enumerate(&problem, 100).expect("few choices");
            assert!(choices.iter().any(|choice| choice.targets.len() == 2));
            for choice in &choices {
                for criterion in [
                    Criterion::Bound(0.7),
                    Criterion::Improvement { best: 0.3 },
                    Criterion::Improvement { best: 6.0 },
                ] {
                    check_gradients(&DirectAcquisition::new(&problem, &model, choice, criterion), 2);
                }
            }
        }
    }

    #[test]
    fn a_trial_without_noise_is_remembered() {
        let (problem, data) = system(Noise::None);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let model = Direct::fit(&problem, &data, &Default::default(), &ModelSettings::paper(), &mut rng);
        let mut model = model.expect("a fit");
        for (trial, reward) in data.rewards(&problem) {
            let (mean, deviation) = model.predict(&problem, &data.observations()[trial].intervention);
            assert!((mean - reward).abs() < 0.02 && deviation < 0.05, "{reward}: {mean} ± {deviation}");
        }
        // A pending trial changes no mean and takes the doubt away.
        let pending = design_point(&problem, 99, 7);
        let (mean, before) = model.predict(&problem, &pending);
        model.condition_on_pending(&problem, &pending);
        let (imagined, after) = model.predict(&problem, &pending);
        assert!((imagined - mean).abs() < 1e-2 * before && after < 0.1 * before, "{before} {after}");
    }
}
