//! Expected improvement over the network of processes (Astudillo & Frazier 2021).

use rand::{Rng, RngExt};

use crate::acquisition::Acquisition;
use crate::network::{Batch, ModelSettings, Network, NoiseSamples, Plan, Workspace};
use crate::quasi::{normal_quantile, sobol};
use crate::search::{Ascent, Found, SearchSettings, SearchTask, Stages, maximize};
use crate::{Choice, Intervention, Problem};

use super::mcbo::warm_starts;
use super::{Context, Mcbo, Strategy, SuggestError, Suggestion, Verdict, Warning};

/// Expected improvement for function networks.
///
/// Every node's posterior is sampled on the way through the graph, and the improvement over the best measured reward is
/// averaged. The network is taken to be deterministic: in a noisy problem too only the mechanisms are drawn, not the
/// noise. The samples are fixed quasi-random normal numbers per node and component: finalists are ranked on 128 of them,
/// climb on the first 64 and are screened on the first 16.
#[derive(Debug, Clone, PartialEq)]
pub struct Eifn {
    /// The model of the nodes.
    pub model: ModelSettings,
    /// Budget of the search; its samples are those of the posterior.
    pub search: SearchSettings,
}

impl Default for Eifn {
    fn default() -> Self {
        Self { model: ModelSettings::default(), search: Self::search() }
    }
}

impl Eifn {
    /// The model of the paper's experiments: the authors' priors, MAP.
    pub fn paper() -> Self {
        Self { model: ModelSettings::paper(), search: Self::search() }
    }

    fn search() -> SearchSettings {
        let ascent = Ascent::QuasiNewton(Stages { first: 12, finalists: 3, second: 30 });
        let usual = SearchSettings::default();
        SearchSettings { ascent, screening_samples: 16, samples: 64, ranking_samples: 128, ..usual }
    }
}

/// Draws of the reward of a choice: each draw shifts every mechanism by its own normal multiple of the deviation.
#[derive(Debug)]
pub(super) struct Draws<'a> {
    network: &'a Network,
    pub plan: Plan,
    noise: NoiseSamples,
    /// The multiples, `[draw][node and component]`.
    base: Vec<Vec<f64>>,
}

/// What the draws give at a batch of points.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// `[point][draw]`, in the direction of improvement.
    pub rewards: Vec<f64>,
    /// `[point][draw][variable]`; empty if not wanted.
    pub slopes: Vec<f64>,
}

impl<'a> Draws<'a> {
    /// Draws of the mechanisms, the noise left out.
    pub fn noiseless(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        draws: usize,
        seed: u64,
    ) -> Self {
        Self::new(problem, network, choice, draws, seed, NoiseSamples::silent)
    }

    /// The one draw in which every mechanism is its mean.
    pub fn mean(problem: &Problem, network: &'a Network, choice: &Choice) -> Self {
        let mut draws = Self::noiseless(problem, network, choice, 1, 0);
        draws.base.iter_mut().flatten().for_each(|z| *z = 0.0);
        draws
    }

    /// Draws of the mechanisms, the noise given by `noise`.
    pub fn new(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        draws: usize,
        seed: u64,
        noise: impl FnOnce(&Plan) -> NoiseSamples,
    ) -> Self {
        let plan = Plan::for_prediction(problem, network, choice);
        let mechanisms = plan.dim() - plan.decisions();
        // Where nothing is learned all draws are the same.
        let draws = if mechanisms == 0 { 1 } else { draws };
        let normal = |draw: usize| {
            (0..mechanisms).map(|k| normal_quantile(sobol(draw as u32, k as u32, seed))).collect()
        };
        Self { network, noise: noise(&plan), plan, base: (0..draws).map(normal).collect() }
    }

    /// Number of draws.
    pub fn count(&self) -> usize {
        self.base.len()
    }

    pub fn cost(&self) -> f64 {
        self.count() as f64 * self.network.rollout_cost(&self.plan, self.noise.count())
    }

    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (vec![0.0; self.plan.decisions()], vec![1.0; self.plan.decisions()])
    }

    /// The rewards of a batch of unit-scaled points, with derivatives if wanted.
    pub fn evaluate(&self, points: &[f64], slopes: bool, workspace: &mut Workspace, out: &mut Drawn) {
        let count = points.len().checked_div(self.plan.decisions()).unwrap_or(1);
        let all = (0..count).flat_map(|point| (0..self.count()).map(move |draw| (point, draw)));
        self.evaluate_some(points, all, slopes, workspace, out);
    }

    /// The rewards of some draws at some points of a batch, one pair of point and draw after the other.
    fn evaluate_some(
        &self,
        points: &[f64],
        pairs: impl Iterator<Item = (usize, usize)>,
        slopes: bool,
        workspace: &mut Workspace,
        out: &mut Drawn,
    ) {
        let (dim, decisions) = (self.plan.dim(), self.plan.decisions());
        let mut expanded = Vec::with_capacity(pairs.size_hint().0 * dim);
        for (point, draw) in pairs {
            expanded.extend_from_slice(&points[point * decisions..(point + 1) * decisions]);
            expanded.extend_from_slice(&self.base[draw]);
        }
        let batch = Batch { points: &expanded, beta: 1.0, noise: &self.noise };
        let mut gradients = vec![0.0; if slopes { expanded.len() } else { 0 }];
        self.network.rollout(&self.plan, batch, workspace, &mut out.rewards, &mut gradients);
        out.slopes.clear();
        if dim > 0 {
            out.slopes.extend(gradients.chunks_exact(dim).flat_map(|by| &by[..decisions]));
        }
    }
}

/// The average of `max(0, y - best)` over the draws.
///
/// Where no draw improves, that is 0 and flat. There the value is `max(y - best)` instead, the shortfall of the best
/// draw: negative, continuous with the improvement, and with a slope that leads out of the plain.
#[derive(Debug)]
pub(super) struct NetworkImprovement<'a> {
    pub draws: Draws<'a>,
    pub best: f64,
}

impl Acquisition for NetworkImprovement<'_> {
    fn plan(&self) -> &Plan {
        &self.draws.plan
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.draws.bounds()
    }

    fn is_noisy(&self) -> bool {
        self.draws.count() > 1
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
        let (count, dim) = (self.draws.count(), self.decisions());
        let mut drawn = Drawn::default();
        self.draws.evaluate(points, false, workspace, &mut drawn);
        // The draws that count at each point: those that improve, or the highest.
        let mut counting: Vec<(usize, usize)> = Vec::new();
        let mut weights = Vec::new();
        values.clear();
        for (point, rewards) in drawn.rewards.chunks_exact(count).enumerate() {
            let (highest, reward) = rewards
                .iter()
                .enumerate()
                .fold((0, f64::NEG_INFINITY), |best, (m, &y)| if y > best.1 { (m, y) } else { best });
            if reward > self.best {
                let improving = || rewards.iter().enumerate().filter(|(_, y)| **y > self.best);
                values.push(improving().map(|(_, y)| y - self.best).sum::<f64>() / count as f64);
                counting.extend(improving().map(|(draw, _)| (point, draw)));
                weights.resize(counting.len(), 1.0 / count as f64);
            } else {
                values.push(reward - self.best);
                counting.push((point, highest));
                weights.push(1.0);
            }
        }
        if gradients.is_empty() || dim == 0 {
            return;
        }
        // Derivatives cost several times the values: only of the draws that count.
        self.draws.evaluate_some(points, counting.iter().copied(), true, workspace, &mut drawn);
        gradients.fill(0.0);
        for (((point, _), weight), slopes) in counting.iter().zip(weights).zip(drawn.slopes.chunks_exact(dim))
        {
            let by = &mut gradients[point * dim..(point + 1) * dim];
            by.iter_mut().zip(slopes).for_each(|(by, slope)| *by += weight * slope);
        }
    }
}

impl Strategy for Eifn {
    fn name(&self) -> &str {
        "eifn"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Suggestion, SuggestError> {
        let problem = context.problem;
        let (network, memory) = Mcbo { model: self.model.clone(), ..Mcbo::default() }.fit(context, rng)?;
        let seed: u64 = rng.random();
        // Without a reward yet, the mean that the processes have before data.
        let best = context.data.rewards(problem).map(|(_, reward)| reward).reduce(f64::max).unwrap_or(0.0);
        let mut warm = warm_starts(context);
        // One more start per choice: where the means of the mechanisms give the highest reward.
        let of_means = |choice: &Choice, _: usize, _: u64| {
            Box::new(NetworkImprovement { draws: Draws::mean(problem, &network, choice), best }) as Box<_>
        };
        let task = SearchTask { problem, factory: &of_means, warm: &warm, seed, on_stage: &|_| {} };
        let means = maximize(&task, &self.search);
        warm.extend(first_of_each_choice(&means));
        let of_draws = |choice: &Choice, samples: usize, _: u64| {
            let draws = Draws::noiseless(problem, &network, choice, samples, seed);
            Box::new(NetworkImprovement { draws, best }) as Box<_>
        };
        let task = SearchTask { problem, factory: &of_draws, warm: &warm, seed, on_stage: &|_| {} };
        let found = maximize(&task, &self.search);
        let warnings = network.warnings().iter().cloned().map(Warning::Model).collect();
        let forecast = |at: &Intervention| network.forecast(problem, at, seed);
        Verdict { strategy: self.name(), found: &found, beta: None, warnings, memory, forecast: &forecast }
            .settle(context, rng)
    }

    /// The highest posterior mean of the network; see [`Mcbo::recommend`].
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        Mcbo { model: self.model.clone(), ..Mcbo::default() }.recommended(context, rng)
    }
}

/// The best place of every choice.
pub(super) fn first_of_each_choice(found: &[Found]) -> Vec<Intervention> {
    let is_first =
        |(index, place): &(usize, &Found)| !found[..*index].iter().any(|other| other.choice == place.choice);
    found.iter().enumerate().filter(is_first).map(|(_, place)| place.intervention.clone()).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::testing::{check_gradients, settings, system};
    use super::*;
    use crate::Noise;

    #[test]
    fn gradients_where_draws_improve_and_where_none_does() {
        for noise in [Noise::None, Noise::Gaussian(0.1)] {
            let (problem, data) = system(noise);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let network =
                Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
            for choice in problem.choices().expect("few choices") {
                let improvement = |best: f64| NetworkImprovement {
                    draws: Draws::noiseless(&problem, &network, choice, 16, 3),
                    best,
                };
                let values = check_gradients(&improvement(-1e3), 2);
                assert!(values.iter().all(|value| *value > 0.0));
                let values = check_gradients(&improvement(1e3), 2);
                assert!(values.iter().all(|value| *value < 0.0));
            }
        }
    }

    /// One node: the draws are those of a normal distribution, whose expected improvement has a closed form.
    #[test]
    fn one_node_gives_the_closed_form() {
        let problem = Problem::builder("one")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = crate::Data::new();
        for a in [0.0_f64, 0.3, 0.9] {
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            let values = vec![Some((3.0 * a).sin())];
            data.push(&problem, crate::Observation { intervention, values }).expect("a good observation");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let choice = Choice { targets: Vec::new(), actions: vec![0] };
        let (mut workspace, mut drawn, mut values) = (Workspace::default(), Drawn::default(), Vec::new());
        // The mean, and one deviation above it.
        let mut draws = Draws::mean(&problem, &network, &choice);
        draws.evaluate(&[0.6], false, &mut workspace, &mut drawn);
        let mean = drawn.rewards[0];
        draws.base[0][0] = 1.0;
        draws.evaluate(&[0.6], false, &mut workspace, &mut drawn);
        let deviation = drawn.rewards[0] - mean;
        let best = mean + 0.5 * deviation;
        let draws = Draws::noiseless(&problem, &network, &choice, 4096, 3);
        NetworkImprovement { draws, best }.evaluate(&[0.6], &mut workspace, &mut values, &mut []);
        let exact = super::super::black_box::log_improvement(mean - best, deviation).value.exp();
        assert!((values[0] / exact - 1.0).abs() < 5e-3, "{} against {exact}", values[0]);
    }
}
