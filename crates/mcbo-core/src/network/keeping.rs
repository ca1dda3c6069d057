//! How probable it is that outcomes keep their limits.

use serde::{Deserialize, Serialize};

use crate::problem::Side;
use crate::quasi::{normal_quantile, sobol};
use crate::{Intervention, Noise, Problem};

use super::Network;

/// Draws of the mechanisms, and realisations of the noise, the same for each: draws differ by their mechanisms alone.
const DRAWS: usize = 32;
const SAMPLES: usize = 64;

/// The luck of mechanisms and of noise: always the same, so that interventions are compared under the same.
const DRAW_SEED: u64 = 3;
const NOISE_SEED: u64 = 5;

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

    /// The probability that counts: by what is plausible, or by what is probable.
    pub(crate) fn chance(&self, plausible: bool) -> f64 {
        if plausible { self.plausible } else { self.probability }
    }
}

impl Network {
    /// How probable it is that an intervention keeps each limit of the problem.
    ///
    /// Mechanisms are drawn as wholes, off their means by a multiple of their deviation, and noise is realised for each draw; the
    /// noise of the limited node itself is integrated out exactly. They are quasi-random: probabilities are off by less than
    /// a hundredth. What has no value keeps no limit.
    pub fn keeping(&self, problem: &Problem, intervention: &Intervention) -> Vec<Keeping> {
        if !problem.has_limits() {
            return Vec::new();
        }
        let slots = problem.slots() as u32;
        let noise_of = |slot: u32, outcome: usize, noise: Noise| {
            noise.quantile(sobol((outcome % SAMPLES) as u32, slots + slot, NOISE_SEED))
        };
        let luck = |node: usize, component: usize, outcome: usize, noise: Noise| {
            let slot = (problem.slot(node).start + component) as u32;
            let multiple = normal_quantile(sobol((outcome / SAMPLES) as u32, slot, DRAW_SEED));
            (multiple, noise_of(slot, outcome, noise))
        };
        let outcomes = self.outcomes(problem, intervention, DRAWS * SAMPLES, luck);
        // Probabilities by limit and draw.
        let mut drawn: Vec<(usize, Vec<f64>)> = Vec::new();
        for node in problem.limited() {
            let Some(limit) = problem.nodes()[node].limit else { continue };
            let decided = intervention.target(node).is_some() || self.given.of(node).is_some();
            let kept = |outcome: usize| -> f64 {
                let component = |(component, slot): (usize, usize)| {
                    let value = outcomes[slot][outcome];
                    if decided || !value.is_finite() {
                        return f64::from(u8::from(limit.is_kept(value)));
                    }
                    let noise = self.noise(node)[component];
                    let room = limit.level - (value - noise_of(slot as u32, outcome, noise));
                    match limit.side {
                        Side::Below => noise.cumulative(room),
                        Side::Above => 1.0 - noise.cumulative(room),
                    }
                };
                problem.slot(node).enumerate().map(component).product()
            };
            let draw =
                |draw: usize| (draw * SAMPLES..(draw + 1) * SAMPLES).map(kept).sum::<f64>() / SAMPLES as f64;
            drawn.push((node, (0..DRAWS).map(draw).collect()));
        }
        let lucky = luckier_half(DRAWS, |draw| drawn.iter().map(|(_, kept)| kept[draw].ln()).sum());
        let keeping = |(node, kept): (usize, Vec<f64>)| {
            let declared = &problem.nodes()[node];
            Keeping {
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

/// The half of the draws, at least one, with the largest values, in increasing order; of equals the first.
pub(crate) fn luckier_half(count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = (0..count).map(|draw| (draw, value(draw))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.truncate(count.div_ceil(2));
    let mut lucky: Vec<usize> = order.into_iter().map(|(draw, _)| draw).collect();
    lucky.sort_unstable();
    lucky
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::testing::settings;
    use crate::{Data, Limit, Observation};

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
            .node("y", |n| n.parents(["x"]).formula("x").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        for a in [-0.5, 0.0, 0.6, 1.5] {
            let found = network.keeping(&problem, &doing(a));
            assert_eq!((found[0].name.as_str(), found[1].name.as_str()), ("s", "u"));
            let exact = [normal((1.5 - 2.0 * a) / 2.0_f64.sqrt()), ((1.0 + a) / 2.0).clamp(0.0, 1.0)];
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
