//! What an intervention gives: on average, and in a single trial.

use crate::quasi::{normal_quantile, sobol};
use crate::{Intervention, Noise, Problem};

use super::forecast::DRAWS;
use super::{Forecast, LOWER_QUANTILE, MechanismKind, ModelWarning, Network, quantile, slot_name};

/// Single outcomes that their range is counted from. They are quasi-random: the ends are off by about a hundredth of the
/// deviation.
const OUTCOMES: usize = 2048;

/// The luck of single outcomes, and of the expectations that are not given: always the same, so that interventions are compared
/// under the same.
const OUTCOME_SEED: u64 = 1;
const EXPECTATION_SEED: u64 = 0;

/// What is to be expected of one component of a node, on average and in a single trial.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outlook {
    /// The expectation with its bounds. A node that is set is what it is set to.
    pub forecast: Forecast,
    /// A single measurement lies below the first with a probability of 5 % and above the second with one of 5 %, by its noise and
    /// by what is not known of the mechanisms.
    pub outcome: [f64; 2],
}

impl Network {
    /// Single outcomes of an intervention, `[component][outcome]` in the order of [`Problem::slot`]: every mechanism is drawn
    /// as a whole, off its mean by a multiple of its deviation, and noise is added. NaN for nodes that have no mechanism.
    ///
    /// `luck` gives the multiple, standard normal, and the noise, for a node, its component and an outcome, one node after the
    /// other in the order of causes.
    pub fn outcomes(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        count: usize,
        mut luck: impl FnMut(usize, usize, usize, Noise) -> (f64, f64),
    ) -> Vec<Vec<f64>> {
        let mut values = vec![vec![f64::NAN; count]; problem.slots()];
        for &node in problem.graph().order() {
            let slot = problem.slot(node);
            if let Some(set) = intervention.target(node).or(self.given.of(node)) {
                slot.zip(set).for_each(|(at, &value)| values[at].fill(value));
                continue;
            }
            let declared = &problem.nodes()[node];
            let mut inputs = Vec::with_capacity(count * problem.input_dim(node));
            for outcome in 0..count {
                for &parent in &declared.parents {
                    inputs.extend(problem.slot(parent).map(|at| values[at][outcome]));
                }
                inputs.extend(declared.actions.iter().map(|&action| intervention.actions[action]));
            }
            let components = self.predict(problem, node, &inputs, count);
            for (component, (predicted, &noise)) in components.into_iter().zip(self.noise(node)).enumerate() {
                for (outcome, (mean, deviation)) in predicted.into_iter().enumerate() {
                    let (multiple, noise) = luck(node, component, outcome, noise);
                    values[slot.start + component][outcome] = mean + deviation * multiple + noise;
                }
            }
        }
        values
    }

    /// What an intervention gives of every node, in the order of causes: the expectations that are given, those of nodes that
    /// do not matter to the reward any more, and the ranges of single outcomes.
    ///
    /// Left out are nodes that are not learned because they have no path to the reward, and those whose formula has no value for
    /// some of what may happen, with all that depend on them: the first of these is the warning.
    pub(crate) fn outlook(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        expected: &[Forecast],
    ) -> (Vec<Outlook>, Option<ModelWarning>) {
        let slots = problem.slots() as u32;
        let luck = |node: usize, component: usize, outcome: usize, noise: Noise| {
            let slot = (problem.slot(node).start + component) as u32;
            let unit = |dimension: u32| sobol(outcome as u32, dimension, OUTCOME_SEED);
            (normal_quantile(unit(slot)), noise.quantile(unit(slots + slot)))
        };
        let mut outcomes = self.outcomes(problem, intervention, OUTCOMES, luck);
        let every = self.forecast_every_node(problem, intervention, DRAWS, EXPECTATION_SEED);
        let (mut outlooks, mut undefined) = (Vec::new(), None);
        for &node in problem.graph().order() {
            let set = intervention.target(node).or(self.given.of(node));
            if set.is_none() && self.kind(node) == MechanismKind::Absent {
                continue;
            }
            for (component, slot) in problem.slot(node).enumerate() {
                let here = |forecasts: &[Forecast]| {
                    let is_here = |f: &&Forecast| f.node == node && f.component == component;
                    forecasts.iter().find(is_here).cloned()
                };
                let forecast = match set {
                    Some(values) => {
                        let (name, value) = (slot_name(problem, node, component), values[component]);
                        Some(Forecast { node, component, name, mean: value, lower: value, upper: value })
                    }
                    None => here(expected).or_else(|| here(&every)),
                };
                let outcomes = &mut outcomes[slot];
                match forecast {
                    Some(forecast) if outcomes.iter().all(|value| value.is_finite()) => {
                        let ends = [LOWER_QUANTILE, 1.0 - LOWER_QUANTILE];
                        outlooks.push(Outlook { forecast, outcome: ends.map(|end| quantile(outcomes, end)) });
                    }
                    _ => {
                        let node = || problem.nodes()[node].name.clone();
                        undefined.get_or_insert_with(|| ModelWarning::Undefined { node: node() });
                    }
                }
            }
        }
        (outlooks, undefined)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::testing::settings;
    use crate::{Data, Observation};

    /// The 95 % quantile of the normal distribution.
    const QUANTILE: f64 = 1.644_853_626_951_472_2;

    fn fit(problem: &Problem, rows: &[(f64, f64)]) -> Network {
        let mut data = Data::new();
        for (action, value) in rows {
            let intervention = Intervention { targets: Vec::new(), actions: vec![*action] };
            data.push(problem, Observation { intervention, values: vec![Some(*value)] }).expect("it fits");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Network::fit(problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit")
    }

    fn outlook(network: &Network, problem: &Problem, intervention: &Intervention) -> Vec<Outlook> {
        let expected = network.forecast(problem, intervention, 0);
        let (outlooks, undefined) = network.outlook(problem, intervention, &expected);
        assert_eq!(undefined, None);
        // What was given stays to the bit.
        assert!(expected.iter().all(|forecast| outlooks.iter().any(|outlook| outlook.forecast == *forecast)));
        outlooks
    }

    fn close(found: [f64; 2], exact: [f64; 2], slack: f64) {
        assert!(found.iter().zip(exact).all(|(f, e)| (f - e).abs() < slack), "{found:?} against {exact:?}");
    }

    /// Everything is known: `x = a + N(0, 0.5²)`, `y = 2 x + N(0, 1²)`, so that a single `y` is `N(2 a, 2)`.
    #[test]
    fn noise_adds_up_along_the_graph() {
        let problem = Problem::builder("known")
            .action("a", [-2.0, 2.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::Gaussian(0.5)))
            .node("y", |n| n.parents(["x"]).formula("2 * x").noise(Noise::Gaussian(1.0)))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        for a in [0.0, 1.5] {
            let outlooks =
                outlook(&network, &problem, &Intervention { targets: Vec::new(), actions: vec![a] });
            let reach = [0.5, 2.0_f64.sqrt()].map(|deviation| QUANTILE * deviation);
            close(outlooks[0].outcome, [a - reach[0], a + reach[0]], 0.01);
            close(outlooks[1].outcome, [2.0 * a - reach[1], 2.0 * a + reach[1]], 0.03);
        }
    }

    /// Noise of another shape, and none.
    #[test]
    fn ranges_are_those_of_the_noise() {
        let problem = Problem::builder("shapes")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::Uniform([-1.0, 3.0])))
            .node("y", |n| n.parents(["x"]).actions(["a"]).formula("a + 0 * x").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let outlooks =
            outlook(&fit(&problem, &[]), &problem, &Intervention { targets: Vec::new(), actions: vec![0.5] });
        close(outlooks[0].outcome, [0.5 - 0.8, 0.5 + 2.8], 0.01);
        assert_eq!(outlooks[1].outcome, [0.5; 2]);
    }

    /// One learned node: a single outcome scatters by what is not known of the mechanism and by its noise, both normal.
    #[test]
    fn what_is_not_known_counts_too() {
        let noise = 0.3;
        let problem = Problem::builder("one")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).noise(Noise::Gaussian(noise)))
            .maximize("y")
            .build()
            .expect("a problem");
        let rows = [0.0, 0.2, 0.4, 0.9].map(|a: f64| (a, (4.0 * a).sin()));
        let network = fit(&problem, &rows);
        for a in [0.1, 0.65, 1.0] {
            let (mean, deviation) = network.predict(&problem, 0, &[a], 1)[0][0];
            let outlooks =
                outlook(&network, &problem, &Intervention { targets: Vec::new(), actions: vec![a] });
            let scatter = deviation.hypot(noise);
            assert!(scatter > 1.1 * noise, "both matter: {deviation}");
            let [low, high] = [-1.0, 1.0].map(|sign| mean + sign * QUANTILE * scatter);
            close(outlooks[0].outcome, [low, high], 0.03 * scatter);
        }
    }

    /// `z` is set, so that `w` and `x = w²` no longer matter to the reward; they are what they are all the same: `E[x] = 4`, and a
    /// single `x` is `4 χ²(1)`, below 0.01573 with probability 5 % and below 15.366 with 95 %.
    #[test]
    fn nodes_above_what_is_set_are_there() {
        let problem = Problem::builder("cut")
            .action("a", [0.0, 1.0])
            .node("w", |n| n.formula("0").noise(Noise::Gaussian(2.0)))
            .node("x", |n| n.parents(["w"]).formula("w^2").noise(Noise::None))
            .node("aside", |n| n.parents(["w"]))
            .node("z", |n| n.parents(["x"]).formula("x").noise(Noise::None).hard([0.0, 10.0]))
            .node("y", |n| n.parents(["z"]).actions(["a"]).formula("z + a").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let intervention = Intervention { targets: vec![(3, vec![7.0])], actions: vec![0.25] };
        let outlooks = outlook(&fit(&problem, &[]), &problem, &intervention);
        let named: Vec<&str> = outlooks.iter().map(|outlook| outlook.forecast.name.as_str()).collect();
        assert_eq!(named, ["w", "x", "z", "y"], "in the order of causes, without what is not learned");
        assert!((outlooks[1].forecast.mean - 4.0).abs() < 0.05, "{:?}", outlooks[1]);
        close(outlooks[1].outcome, [0.015_73, 15.366], 0.1);
        assert_eq!((outlooks[2].forecast.mean, outlooks[2].outcome), (7.0, [7.0; 2]));
        assert_eq!((outlooks[3].forecast.mean, outlooks[3].outcome), (7.25, [7.25; 2]));
    }

    /// The square root of a negative number has no value, and neither has what reads it.
    #[test]
    fn nodes_without_a_value_are_named() {
        let problem = Problem::builder("log")
            .action("a", [-1.0, 1.0])
            .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::None))
            .node("root", |n| n.parents(["x"]).formula("sqrt(x)").noise(Noise::None))
            .node("y", |n| n.parents(["root"]).formula("root + 1").noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &[]);
        let intervention = Intervention { targets: Vec::new(), actions: vec![-0.25] };
        let (outlooks, undefined) = network.outlook(&problem, &intervention, &[]);
        assert_eq!(outlooks.len(), 1);
        assert_eq!(undefined, Some(ModelWarning::Undefined { node: "root".into() }));
    }
}
