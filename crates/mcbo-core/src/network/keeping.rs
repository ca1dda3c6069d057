//! How probable it is that outcomes keep their limits.

use mcbo_gp::Scratch;
use serde::{Deserialize, Serialize};

use crate::noise::sticks;
use crate::quasi::{normal_sobol, sobol};
use crate::{Intervention, Noise, Problem};

use super::Network;
use super::systems::Systems;

/// Draws of the mechanisms, and realisations of the noise, the same for each: draws differ by their mechanisms alone.
const DRAWS: usize = 64;
const SAMPLES: usize = 32;

/// The luck of mechanisms and of noise: always the same, so that interventions are compared under the same.
const DRAW_SEED: u64 = 3;
const NOISE_SEED: u64 = 5;

/// Which of the systems that agree with the data count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    /// The luckier half: what may be tried.
    Plausible,
    /// The unluckiest: what can be relied on.
    Cautious,
}

/// One system in so many may keep a limit less often than what can be relied on.
const UNLUCKY: usize = 40;

/// How probable it is that an intervention keeps the limit of a node, in a single trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Keeping {
    /// The node.
    pub node: usize,
    /// Its name.
    pub name: String,
    /// The probability, by the noise and by what is not known of the mechanisms.
    pub probability: f64,
    /// The probability in the luckier half of the systems that are plausible.
    pub plausible: f64,
    /// The probability that all but the unluckiest of forty plausible systems reach: what can be relied on.
    #[serde(default)]
    pub cautious: f64,
    /// The probability that is wanted.
    pub wanted: f64,
}

impl Keeping {
    /// Whether the limit is kept often enough by what is probable.
    pub fn is_probable(&self) -> bool {
        self.probability >= self.wanted
    }

    /// Whether there are plausible systems in which the limit is kept often enough.
    pub fn is_plausible(&self) -> bool {
        self.plausible >= self.wanted
    }

    /// Whether it can be relied on that the limit is kept often enough: it is in thirty-nine of forty plausible systems.
    pub fn is_sure(&self) -> bool {
        self.cautious >= self.wanted
    }

    /// The probability that counts.
    pub(crate) fn chance(&self, counting: Counting) -> f64 {
        match counting {
            Counting::Plausible => self.plausible,
            Counting::Cautious => self.cautious,
        }
    }
}

impl Network {
    /// How probable it is that an intervention keeps each limit of the problem.
    ///
    /// Mechanisms are drawn as wholes, one member of each process off its mean by a multiple of its deviation, and noise is
    /// realised for each draw; the noise of the limited node itself is integrated out exactly. They are quasi-random: probabilities are
    /// off by about a hundredth. What has no value keeps no limit.
    pub fn keeping(&self, problem: &Problem, intervention: &Intervention) -> Vec<Keeping> {
        if !problem.has_limits() {
            return Vec::new();
        }
        let systems = self.drawn_systems(problem);
        let single = self.singles(problem, &systems, intervention);
        // Probabilities by limit and draw.
        let mut drawn: Vec<(usize, Vec<f64>)> = Vec::new();
        for node in problem.limited() {
            let Some(limit) = problem.nodes()[node].limit else { continue };
            let decided = intervention.target(node).is_some() || self.given.of(node).is_some();
            let kept = |outcome: usize| -> f64 {
                let component = |(component, slot): (usize, usize)| {
                    let value = single.before_noise(slot, outcome);
                    if decided || !value.is_finite() {
                        return f64::from(u8::from(limit.is_kept(value)));
                    }
                    let multiple = systems.noise(node, component, outcome / SAMPLES);
                    limit.kept_about(value, |room| self.noise(node)[component].cumulative(room / multiple))
                };
                problem.slot(node).enumerate().map(component).product()
            };
            let draw =
                |draw: usize| (draw * SAMPLES..(draw + 1) * SAMPLES).map(kept).sum::<f64>() / SAMPLES as f64;
            drawn.push((node, (0..DRAWS).map(draw).collect()));
        }
        let lucky = luckiest(DRAWS, DRAWS / 2, |draw| drawn.iter().map(|(_, kept)| kept[draw].ln()).sum());
        let keeping = |(node, kept): (usize, Vec<f64>)| {
            let declared = &problem.nodes()[node];
            let mut sorted = kept.clone();
            sorted.sort_by(f64::total_cmp);
            Keeping {
                cautious: sorted[DRAWS / UNLUCKY],
                node,
                name: declared.name.clone(),
                probability: kept.iter().sum::<f64>() / DRAWS as f64,
                plausible: lucky.iter().map(|&draw| kept[draw]).sum::<f64>() / lucky.len() as f64,
                wanted: declared.limit.map_or(0.0, |limit| limit.probability),
            }
        };
        drawn.into_iter().map(keeping).collect()
    }
}

impl Network {
    /// The systems of the draws. Which member a process has and how far off its mean it is are spread over together: the latter takes the
    /// dimensions below.
    fn drawn_systems(&self, problem: &Problem) -> Systems {
        let slots = problem.slots();
        // Where names have causes there may be more processes than slots, and what decides them takes dimensions from there on.
        let dimension = |process: usize| if process < slots { slots + process } else { (1 << 20) + process };
        self.systems(DRAWS, |draw, process| sobol(draw as u32, dimension(process) as u32, DRAW_SEED))
    }

    /// How far single outcomes of an intervention lie beyond the limits on average, in deviations of what was measured of a node, of the
    /// node that is furthest beyond. What has no value is infinitely far.
    pub(crate) fn beyond_limits(&self, problem: &Problem, intervention: &Intervention) -> f64 {
        let single = self.singles(problem, &self.drawn_systems(problem), intervention);
        let outcomes = DRAWS * SAMPLES;
        let mut furthest: f64 = 0.0;
        for node in problem.limited() {
            let Some(limit) = problem.nodes()[node].limit else { continue };
            for (component, slot) in problem.slot(node).enumerate() {
                let scale = self.nodes[node].as_ref().map_or(1.0, |model| model.outputs[component].scale);
                let beyond = |outcome: usize| limit.beyond(single.before_noise(slot, outcome));
                let mean = (0..outcomes).map(beyond).sum::<f64>() / outcomes as f64;
                furthest = furthest.max(if mean.is_nan() { f64::INFINITY } else { mean / scale });
            }
        }
        furthest
    }
}

/// Single outcomes of what limits depend on: every draw of the mechanisms with every realisation of the noise.
struct Singles {
    /// Without the node's own noise, by slot: one number where all outcomes are the same, NaN where there is none.
    means: Vec<Vec<f64>>,
    /// The node's own noise, by slot and outcome; empty where it has none.
    noise: Vec<Vec<f64>>,
}

impl Singles {
    /// A value without the node's own noise.
    fn before_noise(&self, slot: usize, outcome: usize) -> f64 {
        let means = &self.means[slot];
        means[if means.len() == 1 { 0 } else { outcome }]
    }

    /// A value.
    fn at(&self, slot: usize, outcome: usize) -> f64 {
        let noise = self.noise[slot].get(outcome);
        self.before_noise(slot, outcome) + noise.copied().unwrap_or(0.0)
    }

    /// Whether all outcomes are the same.
    fn is_certain(&self, slot: usize) -> bool {
        self.means[slot].len() == 1 && self.noise[slot].is_empty()
    }
}

impl Network {
    /// The single outcomes of an intervention. What is certain is predicted once, and what no limit depends on not at all.
    fn singles(&self, problem: &Problem, systems: &Systems, intervention: &Intervention) -> Singles {
        let (slots, outcomes) = (problem.slots(), DRAWS * SAMPLES);
        let mut single = Singles { means: vec![vec![f64::NAN]; slots], noise: vec![Vec::new(); slots] };
        let set = |node: usize| intervention.target(node).or(self.given.of(node));
        let cut: Vec<usize> = (0..problem.nodes().len()).filter(|&node| set(node).is_some()).collect();
        let mut wanted = vec![false; problem.nodes().len()];
        for node in problem.limited() {
            let ancestors = problem.graph().ancestors_cut(node, &cut);
            wanted.iter_mut().zip(ancestors).for_each(|(wanted, ancestor)| *wanted |= ancestor);
        }
        for &node in problem.graph().order().iter().filter(|&&node| wanted[node]) {
            let slot = problem.slot(node);
            if let Some(values) = set(node) {
                slot.zip(values).for_each(|(at, &value)| single.means[at] = vec![value]);
                continue;
            }
            let declared = &problem.nodes()[node];
            let read: Vec<usize> = declared.parents.iter().flat_map(|&parent| problem.slot(parent)).collect();
            // The systems differ where the inputs do not.
            let per = if read.iter().all(|&at| single.is_certain(at)) { 1 } else { SAMPLES };
            let (dim, columns) = (problem.input_dim(node), DRAWS * per);
            let outcome = |column: usize| column * (SAMPLES / per);
            let mut inputs = Vec::with_capacity(columns * dim);
            for &at in &read {
                inputs.extend((0..columns).map(|column| single.at(at, outcome(column))));
            }
            for &action in &declared.actions {
                inputs.extend(std::iter::repeat_n(intervention.actions[action], columns));
            }
            let components =
                self.mechanism_at(node, &mut inputs, columns, Some(systems), &mut Scratch::default());
            let column = |outcome: usize| outcome * per / SAMPLES;
            if let Some(model) = self.nodes[node].as_ref().filter(|model| model.sticks.is_some()) {
                // What decides a name is off its mean by luck of its own, which no slot has.
                let luck = |k: usize, draw: usize| match k {
                    0 => normal_sobol(draw, slot.start, DRAW_SEED),
                    k => normal_sobol(draw, 2 * slots + 32 * slot.start + k, DRAW_SEED),
                };
                let unit = |sample: usize| sobol(sample as u32, (slots + slot.start) as u32, NOISE_SEED);
                let name = |outcome: usize| {
                    let stick = |(k, (mean, deviation)): (usize, &(Vec<f64>, Vec<f64>))| {
                        let at = column(outcome);
                        model.within(mean[at] + deviation[at] * luck(k, outcome / SAMPLES))
                    };
                    let sticks: Vec<f64> = components.iter().enumerate().map(stick).collect();
                    sticks::place(&sticks, unit(outcome % SAMPLES))
                };
                single.means[slot.start] = (0..outcomes).map(name).collect();
                continue;
            }
            for (component, ((at, (mean, deviation)), &noise)) in
                slot.zip(components).zip(self.noise(node)).enumerate()
            {
                let luck = |draw: usize| normal_sobol(draw, at, DRAW_SEED);
                let multiples: Vec<f64> = (0..DRAWS).map(luck).collect();
                let value = |outcome: usize| {
                    let here = column(outcome);
                    mean[here] + deviation[here] * multiples[outcome / SAMPLES]
                };
                let known = per == 1
                    && deviation.iter().all(|deviation| *deviation == 0.0)
                    && mean.iter().all(|other| *other == mean[0]);
                single.means[at] = (0..if known { 1 } else { outcomes }).map(value).collect();
                if noise != Noise::None {
                    let units: Vec<f64> = (0..SAMPLES as u32)
                        .map(|sample| sobol(sample, (slots + at) as u32, NOISE_SEED))
                        .collect();
                    let realised = |outcome: usize| {
                        let multiple = systems.noise(node, component, outcome / SAMPLES);
                        multiple * noise.quantile(units[outcome % SAMPLES])
                    };
                    single.noise[at] = (0..outcomes).map(realised).collect();
                }
            }
        }
        single
    }
}

/// So many of the draws with the largest values, in increasing order; of equals the first.
pub(crate) fn luckiest(count: usize, kept: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = (0..count).map(|draw| (draw, value(draw))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.truncate(kept);
    let mut lucky: Vec<usize> = order.into_iter().map(|(draw, _)| draw).collect();
    lucky.sort_unstable();
    lucky
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::quasi::normal_quantile;
    use crate::testing::settings;
    use mcbo_gp::{Inference, Sampling};

    use crate::{Data, Limit, ModelSettings, Observation};

    fn fit(problem: &Problem, rows: &[(f64, f64)]) -> Network {
        let mut data = Data::new();
        for &(action, value) in rows {
            let intervention = Intervention { targets: Vec::new(), actions: vec![action] };
            data.push(problem, Observation { intervention, values: vec![Some(value)] }).expect("it fits");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Network::fit(problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit")
    }

    fn doing(a: f64) -> Intervention {
        Intervention { targets: Vec::new(), actions: vec![a] }
    }

    fn normal(z: f64) -> f64 {
        Noise::Gaussian(1.0).cumulative(z)
    }

    /// Everything is known: `x = a + N(0, 0.5²)`, and `s = 2 x + N(0, 1)` beside the reward, so that a single `s` is `N(2 a, 2)`.
    #[test]
    fn probabilities_are_those_of_the_noise() {
        let problem = Problem::builder("known")
            .action("a", [-2.0, 2.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::Gaussian(0.5)))
            .node("s", |n| {
                let node = n.parents(["x"]).formula("2 * x").noise(Noise::Gaussian(1.0));
                node.limit(Limit::below(1.5, 0.9))
            })
            .node("u", |n| {
                n.actions(["a"]).formula("a").noise(Noise::Uniform([-1.0, 1.0])).limit(Limit::above(0.0, 0.9))
            })
            .node("w", |n| {
                n.actions(["a"])
                    .formula("a")
                    .noise(Noise::Gaussian(0.5))
                    .limit(Limit::between([-0.4, 0.8], 0.9))
            })
            .node("y", |n| n.parents(["x"]).formula("x").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        for a in [-0.5, 0.0, 0.6, 1.5] {
            let found = network.keeping(&problem, &doing(a));
            assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["s", "u", "w"]);
            let exact = [
                normal((1.5 - 2.0 * a) / 2.0_f64.sqrt()),
                ((1.0 + a) / 2.0).clamp(0.0, 1.0),
                normal((0.8 - a) / 0.5) - normal((-0.4 - a) / 0.5),
            ];
            for (keeping, exact) in found.iter().zip(exact) {
                assert!((keeping.probability - exact).abs() < 0.01, "{a}: {keeping:?} {exact}");
                // Nothing is uncertain.
                assert!((keeping.probability - keeping.plausible).abs() < 1e-12, "{keeping:?}");
            }
            assert_eq!(found[0].is_probable(), exact[0] >= 0.9);
        }
    }

    /// One learned node: what is not known of it and its noise are both normal, and the luckier half knows which way.
    #[test]
    fn what_is_not_known_counts_too() {
        let noise = 0.3;
        let problem = Problem::builder("one")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).noise(Noise::Gaussian(noise)).limit(Limit::below(0.8, 0.95)))
            .maximize("y")
            .build()
            .expect("a problem");
        let rows = [0.0, 0.2, 0.4, 0.9].map(|a: f64| (a, (4.0 * a).sin()));
        let network = fit(&problem, &rows);
        for a in [0.1, 0.65, 1.0] {
            let (mean, deviation) = network.predict(&problem, 0, &[a], 1)[0][0];
            let exact = normal((0.8 - mean) / deviation.hypot(noise));
            let found = &network.keeping(&problem, &doing(a))[0];
            assert!((found.probability - exact).abs() < 0.01, "{a}: {found:?} {exact}");
            // The mean over the lower half of a normal distribution, by a fine sum.
            let lower = |i: usize| normal_quantile((i as f64 + 0.5) / 20_000.0);
            let half = (0..10_000).map(|i| normal((0.8 - mean - deviation * lower(i)) / noise)).sum::<f64>();
            assert!((found.plausible - half / 10_000.0).abs() < 0.02, "{a}: {found:?} {}", half / 1e4);
            // What one system in twenty falls short of, of a probability that falls with the mechanism: between those of its neighbours.
            let unlucky = |z: f64| normal((0.8 - mean - deviation * z) / noise);
            let (least, most) = (unlucky(2.2) - 0.01, unlucky(1.3) + 0.01);
            assert!(found.cautious > least && found.cautious < most, "{a}: {found:?} {least} {most}");
        }
    }

    /// One learned node of several members, each with noise of its own: the probability is the mean of theirs.
    #[test]
    fn members_count_by_their_weights() {
        let problem = Problem::builder("mixture")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).limit(Limit::below(0.8, 0.95)))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = Data::new();
        for k in 0..7_u32 {
            let a = f64::from(k) / 6.0;
            let value = (4.0 * a).sin() + 0.3 * f64::from(k * 5 % 7) / 7.0;
            data.push(&problem, Observation { intervention: doing(a), values: vec![Some(value)] })
                .expect("it fits");
        }
        let inference = Inference::Samples(Sampling { count: 8, moves: 3, burn_in: 20 });
        let settings = ModelSettings { inference, ..settings() };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network = Network::fit(&problem, &data, &Default::default(), &settings, &mut rng).expect("a fit");
        let model = network.nodes[0].as_ref().expect("a mechanism");
        let (set, output) = (&model.groups()[0].set, model.outputs[0]);
        assert!(set.members().len() > 2);
        let noises: Vec<f64> = set
            .members()
            .iter()
            .map(|(_, gp)| gp.spec().noise_variance(gp.theta()).expect("it is learned"))
            .collect();
        assert!(noises.iter().any(|noise| *noise > 1.2 * noises[0] || *noise < noises[0] / 1.2));
        for a in [0.05, 0.2, 0.6, 0.75, 1.0] {
            let mut at = mcbo_gp::Prediction::default();
            let mut exact = 0.0;
            for (weight, gp) in set.members() {
                gp.predict(&[model.inputs[0].apply(a)], 1, false, &mut Scratch::default(), &mut at);
                let noise = gp.spec().noise_variance(gp.theta()).expect("it is learned");
                let (mean, deviation) = (
                    output.shift + output.scale * at.mean[0],
                    output.scale * (at.variance[0] + noise).sqrt(),
                );
                exact += weight * normal((0.8 - mean) / deviation);
            }
            let found = &network.keeping(&problem, &doing(a))[0];
            assert!((found.probability - exact).abs() < 0.015, "{a}: {found:?} {exact}");
        }
    }

    /// A node that is set is what it is set to, and all components of a vector must keep its limit.
    #[test]
    fn set_nodes_are_certain_and_vectors_are_kept_as_wholes() {
        let problem = Problem::builder("vector")
            .action("a", [0.0, 1.0])
            .node("v", |n| {
                let node = n.dim(2).actions(["a"]).formula(["a", "2 * a"]).noise(Noise::Gaussian(1.0));
                node.hard([0.0, 3.0]).limit(Limit::below(1.0, 0.5))
            })
            .node("y", |n| n.parents(["v"]).formula("v[0]").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = Network::fit(
            &problem,
            &Data::new(),
            &Default::default(),
            &settings(),
            &mut ChaCha8Rng::seed_from_u64(1),
        )
        .expect("a fit");
        let exact = normal(1.0 - 0.25) * normal(1.0 - 0.5);
        let found = network.keeping(&problem, &doing(0.25))[0].probability;
        assert!((found - exact).abs() < 0.002, "{found} {exact}");
        for (second, kept) in [(0.9, 1.0), (1.1, 0.0)] {
            let set = Intervention { targets: vec![(0, vec![0.5, second])], actions: vec![0.0] };
            assert_eq!(network.keeping(&problem, &set)[0].probability, kept);
        }
    }
}
