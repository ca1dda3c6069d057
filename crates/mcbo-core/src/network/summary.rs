//! How well each node is known, in a few numbers that hold beyond the rows they were made from.

use std::collections::BTreeMap;

use mcbo_gp::{Prediction, Scratch};

use crate::{Data, Problem};

use super::{Group, Mechanism, Network, NodeModel, answers, form, share_name, slot_name};

/// How well one component of a node is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NodeSummary {
    /// The node.
    pub node: usize,
    /// Its component. Where its name has causes: the place of a name, and all else is of whether it is this one if it is none of those
    /// before it, 1 or 0.
    pub component: usize,
    /// Its name, or `kind=crack`.
    pub name: String,
    /// Rows it learned from.
    pub rows: usize,
    /// Standard deviation of the mechanism, averaged over the inputs seen, in the user's units.
    pub uncertainty: f64,
    /// Share of the variation of values it has not seen that the mechanism foretells, 0 to 1.
    ///
    /// Every trial is predicted by the others, hyper-parameters held, and so is the mean that it is compared with:
    /// `1 - Σ(y - ŷ₋ᵢ)² / Σ(y - ȳ₋ᵢ)²`, at least 0. Pure noise has about 0. `None` with fewer than three rows, or where all
    /// values are the same: there is nothing to foretell then.
    pub explained: Option<f64>,
    /// Standard deviation of its noise in the user's units.
    pub noise: f64,
    /// The form of its mechanism, for people; see [`Network::form`].
    pub form: String,
}

/// Trials that are foretold by the others at the most, to know how well all are.
const MOST_LEFT_OUT: usize = 2_000;
/// Rows that a share of what is explained needs at the least.
const FEWEST: usize = 3;
/// Variation, in units of the values' own scale, below which all values count as the same.
const SAME: f64 = 1e-20;

/// The trials of a node's rows in the data, by component.
pub(super) fn trials(problem: &Problem, data: &Data, node: usize) -> Vec<Vec<usize>> {
    let places =
        |component: usize| data.placed_rows(problem, node, component).map(|(place, ..)| place).collect();
    (0..problem.nodes()[node].outputs()).map(places).collect()
}

impl Network {
    /// How well each learned node is known: see [`NodeSummary`]. Known formulas and left-out nodes have none.
    pub fn summaries(&self, problem: &Problem) -> Vec<NodeSummary> {
        let mut summaries = Vec::new();
        for (node, model) in self.nodes.iter().enumerate() {
            let Some(model) = model else { continue };
            let Mechanism::Learned(groups) = &model.mechanism else { continue };
            for group in groups {
                let explained = self.explained(node, model, group, problem.input_dim(node) > 0);
                for (component, explained) in explained.into_iter().enumerate() {
                    let at = group.first + component;
                    let (named, output) = (model.sticks.is_some(), model.outputs[at]);
                    let seen = at_rows(group, component);
                    let (uncertainty, noise) = match named {
                        true => answers::spread(&seen, output),
                        false => (output.scale * spread(&seen), model.noise[at].deviation()),
                    };
                    summaries.push(NodeSummary {
                        node,
                        component: at,
                        name: if named { share_name } else { slot_name }(problem, node, at),
                        rows: self.trials[node][at].len(),
                        uncertainty,
                        explained,
                        noise,
                        form: form::describe_form(problem, node, &group.set),
                    });
                }
            }
        }
        summaries
    }

    /// The places of a group's rows in its set, by trial: the rows come component by component, in the order of the
    /// trials.
    pub(super) fn blocks(&self, node: usize, group: &Group) -> BTreeMap<usize, Vec<usize>> {
        let trials = &self.trials[node][group.first..group.first + group.set.components()];
        let mut blocks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, &trial) in trials.iter().flatten().enumerate() {
            blocks.entry(trial).or_default().push(row);
        }
        // Of very many some are enough to know how well all are foretold: evenly spread ones, and the latest.
        let (count, latest) = (blocks.len(), MOST_LEFT_OUT / 4);
        if count > MOST_LEFT_OUT {
            let step = (count - latest).div_ceil(MOST_LEFT_OUT - latest);
            let mut place = 0..count;
            blocks.retain(|_, _| place.next().is_some_and(|i| i >= count - latest || i.is_multiple_of(step)));
        }
        blocks
    }

    /// What every component of a group explains of trials it has not seen.
    fn explained(&self, node: usize, model: &NodeModel, group: &Group, has_inputs: bool) -> Vec<Option<f64>> {
        if !has_inputs {
            return vec![None; group.set.components()];
        }
        let rows = group.set.members()[0].1.rows();
        let blocks: Vec<Vec<usize>> = self.blocks(node, group).into_values().collect();
        let mut foretold: Vec<Vec<(f64, f64)>> = vec![Vec::new(); group.set.components()];
        for (block, predicted) in blocks.iter().zip(group.set.left_out(&blocks)) {
            for (&row, left_out) in block.iter().zip(predicted) {
                let component = rows.tags(row).0;
                let pair = (rows.outputs()[row], left_out.mean);
                foretold[component].push(match model.sticks {
                    Some(_) => answers::answer_and_probability(pair, model.outputs[group.first + component]),
                    None => pair,
                });
            }
        }
        foretold.iter().map(|rows| share(rows)).collect()
    }
}

/// `1 - Σ(y - ŷ₋ᵢ)² / Σ(y - ȳ₋ᵢ)²` of values and what was foretold of each, between 0 and 1.
fn share(rows: &[(f64, f64)]) -> Option<f64> {
    if rows.len() < FEWEST {
        return None;
    }
    let sum: f64 = rows.iter().map(|(value, _)| value).sum();
    let others = (rows.len() - 1) as f64;
    let by_mean: f64 = rows.iter().map(|(value, _)| (value - (sum - value) / others).powi(2)).sum();
    let by_model: f64 = rows.iter().map(|(value, foretold)| (value - foretold).powi(2)).sum();
    (by_mean > SAME).then(|| (1.0 - by_model / by_mean).clamp(0.0, 1.0))
}

/// What a set foretells of a component at the inputs seen, as means and variances; of the prior where there are none.
fn at_rows(group: &Group, component: usize) -> Vec<(f64, f64)> {
    let rows = group.set.members()[0].1.rows();
    let step = rows.len().div_ceil(MOST_LEFT_OUT).max(1);
    let places: Vec<usize> = (0..rows.len()).filter(|&j| rows.tags(j).0 == component).step_by(step).collect();
    if places.is_empty() {
        return vec![(0.0, 1.0)];
    }
    let columns = places.len();
    let inputs: Vec<f64> =
        (0..rows.dim()).flat_map(|k| places.iter().map(move |&j| rows.column(k)[j])).collect();
    let (mut scratch, mut prediction) = (Scratch::default(), Prediction::default());
    group.set.predict(&inputs, columns, false, &mut scratch, &mut prediction);
    let own = component * columns..(component + 1) * columns;
    prediction.mean[own.clone()].iter().copied().zip(prediction.variance[own].iter().copied()).collect()
}

/// The average deviation.
fn spread(at: &[(f64, f64)]) -> f64 {
    at.iter().map(|(_, variance)| variance.sqrt()).sum::<f64>() / at.len() as f64
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::network::Forecast;
    use crate::network::ModelSettings;
    use crate::quasi::normal_quantile;
    use crate::{Components, Intervention, ModelMemory, Noise, Observation};

    /// A vector node that is learned as a whole, and a reward of four actions.
    fn problem() -> Problem {
        Problem::builder("p")
            .action("a", [0.0, 1.0])
            .action("b", [0.0, 1.0])
            .node("x", |n| {
                n.actions(["a", "b"])
                    .dim(2)
                    .components(Components::Coregionalised)
                    .noise(Noise::Gaussian(0.3))
            })
            .node("y", |n| n.parents(["x"]).actions(["a", "b"]))
            .maximize("y")
            .build()
            .expect("a problem")
    }

    /// Values that follow the inputs with a weight of `signal`, and chance with a weight of `noise`.
    fn data(problem: &Problem, trials: usize, signal: f64, noise: f64, seed: u64) -> Data {
        let (mut data, mut rng) = (Data::new(), ChaCha8Rng::seed_from_u64(seed));
        for trial in 0..trials {
            let actions: Vec<f64> = (0..2).map(|_| rng.random()).collect();
            let mut chance = || noise * normal_quantile(rng.random::<f64>().clamp(1e-9, 1.0 - 1e-9));
            let x = [10.0 + signal * actions[0] + chance(), signal * (actions[0] - actions[1]) + chance()];
            let y = 100.0 + signal * (3.0 * actions[1]).sin() + chance();
            // Once in a while a component is missing.
            let values = vec![Some(x[0]), (trial % 6 != 4).then_some(x[1]), Some(y)];
            let observation = Observation { intervention: Intervention { targets: vec![], actions }, values };
            data.push(problem, observation).expect("it fits");
        }
        data
    }

    fn fit(problem: &Problem, data: &Data, settings: &ModelSettings) -> Network {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Network::fit(problem, data, &ModelMemory::default(), settings, &mut rng).expect("it fits")
    }

    fn explained(network: &Network, problem: &Problem) -> Vec<Option<f64>> {
        network.summaries(problem).into_iter().map(|summary| summary.explained).collect()
    }

    #[test]
    fn noise_is_not_explained_and_a_signal_is() {
        let problem = problem();
        for settings in [ModelSettings::default(), ModelSettings::paper()] {
            for seed in 0..5 {
                let noise = data(&problem, 60, 0.0, 1.0, seed);
                for share in explained(&fit(&problem, &noise, &settings), &problem) {
                    assert!(share.expect("60 rows") < 0.15, "{seed}: {share:?}");
                }
                let signal = data(&problem, 60, 5.0, 0.05, seed);
                for share in explained(&fit(&problem, &signal, &settings), &problem) {
                    assert!(share.expect("60 rows") > 0.97, "{seed}: {share:?}");
                }
            }
        }
    }

    #[test]
    fn few_or_equal_values_say_nothing() {
        let problem = problem();
        for trials in 0..3 {
            let network = fit(&problem, &data(&problem, trials, 5.0, 0.1, 1), &ModelSettings::default());
            assert_eq!(explained(&network, &problem), [None; 3], "{trials} rows");
        }
        let enough = fit(&problem, &data(&problem, 3, 5.0, 0.1, 1), &ModelSettings::default());
        assert!(explained(&enough, &problem).iter().all(Option::is_some));
        let mut same = Data::new();
        for trial in 0..6 {
            let intervention = Intervention { targets: vec![], actions: vec![0.15 * f64::from(trial), 0.2] };
            same.push(&problem, Observation { intervention, values: vec![Some(0.1), Some(0.1), Some(0.1)] })
                .expect("it fits");
        }
        assert_eq!(explained(&fit(&problem, &same, &ModelSettings::default()), &problem), [None; 3]);
    }

    /// Every trial is really taken out, and the process conditioned anew on what is left.
    #[test]
    fn it_is_what_fits_without_each_trial_give() {
        let problem = problem();
        let data = data(&problem, 17, 1.0, 0.5, 3);
        let network = fit(&problem, &data, &ModelSettings::paper());
        for summary in network.summaries(&problem) {
            let model = network.nodes[summary.node].as_ref().expect("a model");
            let Mechanism::Learned(groups) = &model.mechanism else { panic!("it is learned") };
            let gp = &groups[0].set.members()[0].1;
            let (rows, trials) = (gp.rows(), network.trials[summary.node].concat());
            assert_eq!((groups.len(), trials.len()), (1, rows.len()));
            let (mut values, mut foretold) = (Vec::new(), Vec::new());
            for out in (0..rows.len()).filter(|&row| rows.tags(row).0 == summary.component) {
                let input = |row: usize| (0..rows.dim()).map(|k| rows.column(k)[row]).collect::<Vec<f64>>();
                let mut others = mcbo_gp::Rows::new(rows.dim());
                for row in (0..rows.len()).filter(|&row| trials[row] != trials[out]) {
                    let (component, noise) = rows.tags(row);
                    others.push_full(&input(row), rows.outputs()[row], component, noise).expect("a row");
                }
                let without = mcbo_gp::Gp::condition(gp.spec(), gp.theta(), others).expect("conditions");
                let mut at = Prediction::default();
                without.predict(&input(out), 1, false, &mut Scratch::default(), &mut at);
                values.push(rows.outputs()[out]);
                foretold.push(at.mean[summary.component]);
            }
            let mut errors = [0.0, 0.0];
            for (i, (value, foretold)) in values.iter().zip(&foretold).enumerate() {
                let others: Vec<f64> =
                    values.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, v)| *v).collect();
                errors[0] += (value - foretold).powi(2);
                errors[1] += (value - others.iter().sum::<f64>() / others.len() as f64).powi(2);
            }
            let expected = (1.0 - errors[0] / errors[1]).clamp(0.0, 1.0);
            let explained = summary.explained.expect("enough rows");
            assert!((explained - expected).abs() < 1e-8, "{}: {explained} {expected}", summary.name);
            assert!(summary.rows == values.len() && expected < 0.99, "{summary:?}");
        }
    }

    #[test]
    fn forms_are_those_of_the_kernels() {
        let problem = Problem::builder("p")
            .action("a", [0.0, 1.0])
            .node("root", |n| n)
            .node("x", |n| n.parents(["root"]).actions(["a"]).kernel("se + linear"))
            .node("y", |n| n.parents(["x"]))
            .maximize("y")
            .build()
            .expect("a problem");
        let network = fit(&problem, &Data::new(), &ModelSettings::paper());
        let forms: Vec<String> = network.summaries(&problem).into_iter().map(|s| s.form).collect();
        let both = "one surface in root and a, plus a plane in root and a";
        assert_eq!(forms, ["a constant", both, "a curve in x"]);
        assert_eq!(network.form(&problem, 1, 0).as_deref(), Some(both));
        assert_eq!(network.form(&problem, 1, 1), None);
    }

    #[test]
    fn thousands_of_rows_are_learned_from_and_summed_up() {
        let problem = Problem::builder("many")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]))
            .node("y", |n| n.parents(["x"]))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut data = Data::new();
        for _ in 0..2_600 {
            let a: f64 = rng.random();
            let noise = |rng: &mut ChaCha8Rng| 0.2 * (rng.random::<f64>() - 0.5);
            let x = (3.0 * a).sin() + noise(&mut rng);
            let y = x * x + noise(&mut rng);
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            data.push(&problem, Observation { intervention, values: vec![Some(x), Some(y)] }).expect("a row");
        }
        let network = fit(&problem, &data, &ModelSettings::default());
        for summary in network.summaries(&problem) {
            let explained = summary.explained.expect("a share");
            assert_eq!(summary.rows, 2_600);
            assert!(explained > 0.85 && summary.uncertainty < 0.02, "{summary:?}");
            assert!((summary.noise / 0.0577 - 1.0).abs() < 0.15, "{summary:?}");
        }
        let rows = network.left_out(&problem, &data, 1);
        assert!(rows[0].len() <= MOST_LEFT_OUT && rows[0].len() > MOST_LEFT_OUT / 2, "{}", rows[0].len());
        let scaled = rows[0].iter().map(|row| ((row.value - row.mean) / row.deviation).powi(2));
        let square = scaled.sum::<f64>() / rows[0].len() as f64;
        assert!((square - 1.0).abs() < 0.25, "{square}");
        // E[x] = sin 3a and E[y] = E[x]² + Var x are known to a hundredth, and as well as the bounds say.
        let mut squares = [0.0; 2];
        for place in 1..10 {
            let a = place as f64 / 10.0;
            let forecasts =
                network.forecast(&problem, &Intervention { targets: Vec::new(), actions: vec![a] }, 1);
            let x = (3.0 * a).sin();
            for (node, truth) in [x, x * x + 0.04 / 12.0].into_iter().enumerate() {
                let Forecast { mean, lower, upper, .. } = forecasts[node];
                assert!((mean - truth).abs() < 0.02 && upper - lower < 0.04, "{a}: {mean} {truth}");
                squares[node] += ((mean - truth) * 2.0 * 1.645 / (upper - lower)).powi(2) / 9.0;
            }
        }
        assert!(squares.iter().all(|square| *square < 3.0), "{squares:?}");
    }
}
