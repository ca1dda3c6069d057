//! What a fitted mechanism says, for those who look at it: its values at given inputs, and how well it foretells the rows
//! it was not shown.

use mcbo_gp::{Prediction, Scratch};

use crate::{Data, Expr, Noise, Problem};

use super::systems::Systems;
use super::{Affine, Mechanism, Network, answers, slot_name};

/// Where a node's mechanism comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MechanismKind {
    /// It is learned from the rows.
    Learned,
    /// It is a formula that the user knows.
    Formula,
    /// The node has no path to the reward and is left out.
    Absent,
}

/// A row that was predicted by all others, in the user's units.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeftOutRow {
    /// The place of its trial in the data.
    pub place: usize,
    /// The value that was measured.
    pub value: f64,
    /// The value that the other trials let expect.
    pub mean: f64,
    /// The standard deviation of what was to be measured, noise included.
    pub deviation: f64,
    /// The probability of a value below the measured one, uniform in (0, 1) if the model is right.
    pub below: f64,
}

/// The names of a node's inputs, in the order of [`Problem::gather_inputs`].
pub fn input_names(problem: &Problem, node: usize) -> Vec<String> {
    let declared = &problem.nodes()[node];
    let parents = declared.parents.iter().flat_map(|&parent| {
        (0..problem.nodes()[parent].dim).map(move |component| slot_name(problem, parent, component))
    });
    parents.chain(declared.actions.iter().map(|&action| problem.actions()[action].name.clone())).collect()
}

impl Network {
    /// Where the mechanism of a node comes from.
    pub fn kind(&self, node: usize) -> MechanismKind {
        match self.nodes.get(node).and_then(Option::as_ref).map(|model| &model.mechanism) {
            Some(Mechanism::Learned(_)) => MechanismKind::Learned,
            Some(Mechanism::Formula(_)) => MechanismKind::Formula,
            None => MechanismKind::Absent,
        }
    }

    /// The mechanism of a node at `count` inputs, one after the other in the order of [`Problem::gather_inputs`]: for every
    /// component the mean and the standard deviation of what is not known of it, without noise, in the user's units.
    ///
    /// A known formula has no deviation. Nodes that are left out have no components. Where a name has causes, there is one for every
    /// name but the last: how probable it is if it is none of those before it, learned ones by their log-odds; [`Self::predict_names`] has the names.
    ///
    /// # Panics
    /// If `inputs` does not hold [`Problem::input_dim`] numbers for each of the `count` inputs.
    pub fn predict(
        &self,
        problem: &Problem,
        node: usize,
        inputs: &[f64],
        count: usize,
    ) -> Vec<Vec<(f64, f64)>> {
        let dim = problem.input_dim(node);
        assert_eq!(inputs.len(), dim * count, "{count} inputs of {dim} numbers each");
        let mut columns: Vec<f64> =
            (0..dim).flat_map(|k| (0..count).map(move |s| inputs[s * dim + k])).collect();
        let components = self.mechanism_at(node, &mut columns, count, None, &mut Scratch::default());
        components.into_iter().map(|(mean, deviation)| mean.into_iter().zip(deviation).collect()).collect()
    }

    /// The same at inputs `[input][column]`, which are scaled on the way: means and deviations of every component. With systems each has as
    /// many columns as any other, one system after the other.
    pub(super) fn mechanism_at(
        &self,
        node: usize,
        inputs: &mut [f64],
        columns: usize,
        systems: Option<&Systems>,
        scratch: &mut Scratch,
    ) -> Vec<(Vec<f64>, Vec<f64>)> {
        let Some(model) = &self.nodes[node] else { return Vec::new() };
        let dim = model.inputs.len();
        match &model.mechanism {
            Mechanism::Formula(formulas) => {
                let mut at = vec![0.0; dim];
                let mut exact = |(formula, output): (&Expr, &Affine)| {
                    let value = |s: usize| {
                        at.iter_mut().enumerate().for_each(|(k, x)| *x = inputs[k * columns + s]);
                        output.shift + formula.eval(&at)
                    };
                    ((0..columns).map(value).collect(), vec![0.0; columns])
                };
                formulas.iter().zip(&model.outputs).map(&mut exact).collect()
            }
            Mechanism::Learned(groups) => {
                for (column, scaling) in inputs.chunks_exact_mut(columns.max(1)).zip(&model.inputs) {
                    column.iter_mut().for_each(|x| *x = scaling.apply(*x));
                }
                let (mut at, mut components) =
                    (Prediction::default(), Vec::with_capacity(model.outputs.len()));
                for (set, group) in groups.iter().enumerate() {
                    match systems {
                        Some(systems) => {
                            let draw = |s: usize| s * systems.count() / columns;
                            let member = |s: usize| systems.member(node, set, draw(s));
                            let members: Vec<usize> = (0..columns).map(member).collect();
                            group.set.predict_by(&members, inputs, false, scratch, &mut at);
                        }
                        None => group.set.predict(inputs, columns, false, scratch, &mut at),
                    }
                    for component in 0..group.set.components() {
                        let output = model.outputs[group.first + component];
                        let own = component * columns..(component + 1) * columns;
                        let mean = at.mean[own.clone()].iter().map(|m| output.shift + output.scale * m);
                        let deviation = at.variance[own].iter().map(|v| output.scale * v.sqrt());
                        components.push((mean.collect(), deviation.collect()));
                    }
                }
                components
            }
        }
    }

    /// How probable each name of a node is, where its name has causes, at `count` inputs, one after the other: for every name the
    /// probability, and the standard deviation of what is not known of it. None for other nodes and those that are left out.
    ///
    /// # Panics
    /// As [`Self::predict`].
    pub fn predict_names(
        &self,
        problem: &Problem,
        node: usize,
        inputs: &[f64],
        count: usize,
    ) -> Vec<Vec<(f64, f64)>> {
        let model = self.nodes.get(node).and_then(Option::as_ref);
        let Some(model) = model.filter(|model| model.sticks.is_some()) else { return Vec::new() };
        let outputs = self.predict(problem, node, inputs, count);
        // The sticks are independent of one another, and so are their squares.
        let moments =
            |&(mean, deviation): &(f64, f64)| answers::moments(|f| model.within(f), mean, deviation);
        let moments: Vec<Vec<[f64; 2]>> = outputs.iter().map(|at| at.iter().map(moments).collect()).collect();
        let share = |name: usize, s: usize| {
            let (mut mean, mut square) = moments.get(name).map_or((1.0, 1.0), |at| (at[s][0], at[s][1]));
            for [q, squared] in moments[..name].iter().map(|at| at[s]) {
                mean *= 1.0 - q;
                square *= 1.0 - 2.0 * q + squared;
            }
            (mean, (square - mean * mean).max(0.0).sqrt())
        };
        (0..=outputs.len()).map(|name| (0..count).map(|s| share(name, s)).collect()).collect()
    }

    /// The noise of every component of a node about its mechanism, in the user's units and never [`Noise::Learn`]; none of a
    /// node that is left out. Mechanisms have taken up the mean of the noise, so that what is left has mean zero.
    pub fn noise(&self, node: usize) -> &[Noise] {
        self.nodes.get(node).and_then(Option::as_ref).map_or(&[], |model| &model.noise)
    }

    /// The width `β_t` of the paper's theorem for the data so far: the largest over the nodes of
    /// `B + sqrt(2 γ + 2 ln(m/δ))` with `δ` of 10 % shared out between the `m` learned mechanisms.
    ///
    /// `γ` is the information gain `½ ln det(I + K/σ²)` of the rows, which the theorem bounds by its largest possible value; `B`,
    /// a bound on the mechanism's norm in its kernel's space that nobody knows, is taken to be the norm of the posterior mean. A
    /// mechanism without noise has no second part. Both are of the most probable member.
    pub fn theoretical_width(&self) -> f64 {
        const DELTA: f64 = 0.1;
        let groups =
            || self.nodes.iter().flatten().flat_map(|model| model.groups().iter().map(move |g| (model, g)));
        let mechanisms = groups().count().max(1) as f64;
        let width = |(model, group): (&super::NodeModel, &super::Group)| {
            let members = group.set.members().iter();
            let Some((_, gp)) = members.max_by(|a, b| a.0.total_cmp(&b.0)) else { return 0.0 };
            let silent = model.sticks.is_none() && model.noise[group.first] == Noise::None;
            let (gain, norm) = gp.information();
            norm + if silent { 0.0 } else { (2.0 * gain + 2.0 * (mechanisms / DELTA).ln()).sqrt() }
        };
        groups().map(width).fold(0.0, f64::max)
    }

    /// The information gain `½ ln det(I + K/σ²)` of the rows of every learned mechanism, of its most probable member, in nats.
    pub fn information_gains(&self) -> Vec<f64> {
        let most = |group: &super::Group| {
            let best = group.set.members().iter().max_by(|a, b| a.0.total_cmp(&b.0));
            best.map_or(0.0, |(_, gp)| gp.information().0)
        };
        self.nodes.iter().flatten().flat_map(|model| model.groups().iter().map(most)).collect()
    }

    /// Predicts every row of a learned node by the other trials, hyper-parameters held, `[component][row]`.
    ///
    /// Components that are learned together are left out together. Empty if the node is not learned, if its values are names, or if the
    /// network was fitted to other data.
    pub fn left_out(&self, problem: &Problem, data: &Data, node: usize) -> Vec<Vec<LeftOutRow>> {
        let Some(model) = self.nodes.get(node).and_then(Option::as_ref) else { return Vec::new() };
        let Mechanism::Learned(groups) = &model.mechanism else { return Vec::new() };
        // Whether a name comes lies within no bounds.
        if model.sticks.is_some() {
            return Vec::new();
        }
        let mut components = Vec::with_capacity(model.outputs.len());
        for group in groups {
            // The rows of the set: component by component, trial by trial.
            let mut rows: Vec<(usize, usize, f64)> = Vec::new();
            for component in group.first..group.first + group.set.components() {
                let placed = data.placed_rows(problem, node, component);
                rows.extend(placed.map(|(place, _, value)| (component, place, value)));
            }
            let own = self.trials[node][group.first..group.first + group.set.components()].iter().flatten();
            if !own.eq(rows.iter().map(|(_, place, _)| place)) {
                return Vec::new();
            }
            let blocks: Vec<Vec<usize>> = self.blocks(node, group).into_values().collect();
            let mut found: Vec<Vec<LeftOutRow>> = vec![Vec::new(); group.set.components()];
            for (block, predicted) in blocks.iter().zip(group.set.left_out(&blocks)) {
                for (&row, left_out) in block.iter().zip(predicted) {
                    let (component, place, value) = rows[row];
                    let output = model.outputs[component];
                    found[component - group.first].push(LeftOutRow {
                        place,
                        value,
                        mean: output.shift + output.scale * left_out.mean,
                        deviation: output.scale * left_out.variance.sqrt(),
                        below: left_out.below,
                    });
                }
            }
            components.append(&mut found);
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::network::ModelSettings;
    use crate::{Components, Intervention, ModelMemory, Noise, Observation};

    fn problem() -> Problem {
        Problem::builder("p")
            .action("a", [0.0, 10.0])
            .node("x", |n| {
                n.actions(["a"])
                    .dim(2)
                    .components(Components::Coregionalised)
                    .noise(Noise::Gaussian(0.3))
                    .hard_each([[0.0, 5.0], [0.0, 40.0]])
            })
            .node("z", |n| n.parents(["x"]).formula("x[0] + x[1]").noise(Noise::None))
            .node("aside", |n| n.parents(["x"]))
            .node("y", |n| n.parents(["x", "z"]).actions(["a"]))
            .maximize("y")
            .build()
            .expect("a problem")
    }

    fn data(problem: &Problem, trials: usize) -> Data {
        let (mut data, mut rng) = (Data::new(), ChaCha8Rng::seed_from_u64(5));
        for trial in 0..trials {
            let a = 10.0 * rng.random::<f64>();
            let targets =
                if trial % 5 == 4 { vec![(0, vec![2.5, 20.0 * rng.random::<f64>()])] } else { vec![] };
            let x = targets.first().map_or([0.4 * a, 3.0 * a + rng.random::<f64>()], |t| [t.1[0], t.1[1]]);
            let y = 100.0 + x[0] * x[0] - x[1] + rng.random::<f64>();
            // Once in a while the second component, the reward or the first is missing.
            let values =
                [Some(x[0]), (trial % 7 != 3).then_some(x[1]), Some(x[0] + x[1]), Some(0.0), Some(y)];
            let intervention = Intervention { targets, actions: vec![a] };
            data.push(problem, Observation { intervention, values: values.to_vec() }).expect("it fits");
        }
        data
    }

    fn fit(problem: &Problem, data: &Data, memory: &ModelMemory, settings: &ModelSettings) -> Network {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Network::fit(problem, data, memory, settings, &mut rng).expect("it fits")
    }

    #[test]
    fn predictions_agree_with_the_mean_values() {
        let problem = problem();
        let network = fit(&problem, &data(&problem, 20), &ModelMemory::default(), &ModelSettings::default());
        let intervention = Intervention { targets: vec![], actions: vec![6.5] };
        let values = network.mean_values(&problem, &intervention);
        let mut inputs = Vec::new();
        for node in [0, 1, 3] {
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            // Twice the same input, and another before them.
            let other = inputs.iter().map(|x| 0.5 * x).collect::<Vec<_>>();
            let all = [other.as_slice(), &inputs, &inputs].concat();
            let found = network.predict(&problem, node, &all, 3);
            assert_eq!(found.len(), problem.nodes()[node].dim);
            for (component, found) in found.iter().enumerate() {
                let expected = values[problem.slot(node).start + component];
                for (mean, deviation) in &found[1..] {
                    assert!((mean - expected).abs() < 1e-9 * expected.abs(), "{node} {mean} {expected}");
                    assert_eq!(*deviation == 0.0, node == 1, "{node} {deviation}");
                }
            }
        }
        assert_eq!(input_names(&problem, 3), ["x[0]", "x[1]", "z", "a"]);
        assert_eq!(network.kind(0), MechanismKind::Learned);
        assert_eq!(network.kind(1), MechanismKind::Formula);
        assert_eq!(network.kind(2), MechanismKind::Absent);
        assert_eq!(network.noise(0), [Noise::Gaussian(0.3); 2]);
        assert!(network.predict(&problem, 2, &[0.0, 0.0], 1).is_empty() && network.noise(2).is_empty());
    }

    /// The scaling of a node's values is part of its hyper-parameters and is held; so the processes are asked directly.
    #[test]
    fn rows_left_out_agree_with_a_fit_without_their_trial() {
        let problem = problem();
        let data = data(&problem, 18);
        let network = fit(&problem, &data, &ModelMemory::default(), &ModelSettings::paper());
        for node in [0, 3] {
            let model = network.nodes[node].as_ref().expect("a model");
            let Mechanism::Learned(groups) = &model.mechanism else { panic!("it is learned") };
            let found = network.left_out(&problem, &data, node);
            let (set, components) = (&groups[0].set, problem.nodes()[node].dim);
            assert_eq!((groups.len(), found.len()), (1, components));
            let (gp, rows) = (&set.members()[0].1, set.members()[0].1.rows());
            for component in 0..components {
                let all: Vec<_> = data.placed_rows(&problem, node, component).collect();
                assert_eq!(found[component].len(), all.len());
                for (left_out, (place, inputs, value)) in found[component].iter().zip(all) {
                    assert_eq!((left_out.place, left_out.value), (place, value));
                    let mut others = mcbo_gp::Rows::new(rows.dim());
                    let mut row = 0;
                    for c in 0..components {
                        for (other, _, _) in data.placed_rows(&problem, node, c) {
                            if other != place {
                                let input: Vec<f64> = (0..rows.dim()).map(|k| rows.column(k)[row]).collect();
                                let (c, noise) = rows.tags(row);
                                others.push_full(&input, rows.outputs()[row], c, noise).expect("a row");
                            }
                            row += 1;
                        }
                    }
                    let without = mcbo_gp::Gp::condition(gp.spec(), gp.theta(), others).expect("conditions");
                    let scaled: Vec<f64> =
                        inputs.iter().zip(&model.inputs).map(|(x, scaling)| scaling.apply(*x)).collect();
                    let mut at = Prediction::default();
                    without.predict(&scaled, 1, false, &mut Scratch::default(), &mut at);
                    let output = model.outputs[component];
                    let mean = output.shift + output.scale * at.mean[component];
                    assert!((left_out.mean - mean).abs() < 1e-8 * output.scale, "{left_out:?} {mean}");
                    let noise = network.noise(node)[component].deviation();
                    let deviation = (output.scale.powi(2) * at.variance[component] + noise * noise).sqrt();
                    assert!((left_out.deviation - deviation).abs() < 1e-8 * output.scale, "{left_out:?}");
                }
            }
        }
        assert!(
            network.left_out(&problem, &data, 1).is_empty()
                && network.left_out(&problem, &data, 2).is_empty()
        );
        assert!(network.left_out(&problem, &Data::new(), 0).is_empty(), "these are not its data");
    }
}
