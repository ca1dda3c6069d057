//! What interventions give: on average, and in a single trial.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::quasi::{normal_quantile, normal_sobol};
use crate::{Intervention, Node, Noise, Problem};

use super::mixture::{Mixture, NormalTable, parts};
use super::roll::{Chance, Rolled, Room};
use super::{
    Forecast, Group, LOWER_QUANTILE, Mechanism, MechanismKind, ModelWarning, Network, NodeModel, share_name,
    slot_name,
};

/// The luck of outcomes: always the same, so that interventions are compared under the same.
const OUTCOME_SEED: u64 = 1;

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

/// What an intervention gives of every node that has a value, and the first whose formula has none.
pub(crate) type Outlooks = (Vec<Outlook>, Option<ModelWarning>);

/// Outcomes of each of a few interventions, and of each of many.
const OF_FEW: usize = 2048;
const OF_MANY: usize = 64;
/// What jumps from one name to another takes more.
const OF_MANY_NAMES: usize = 512;
/// More interventions than this are many.
pub(crate) const FEW: usize = 16;

/// What remains unsaid by the rows that processes are condensed to, as a share of the variance of the noise: for few interventions,
/// and for many, of which less is promised.
const REMAINDERS: [f64; 2] = [1e-5, 1e-4];
/// Interventions that go through the network together: enough for matrix products, few enough for the cache.
const BLOCK: usize = 16;
/// Blocks that a thread does with the same memory.
const LONG: usize = 8;

/// Outcomes of each of many interventions.
fn of_many(problem: &Problem) -> usize {
    if problem.nodes().iter().any(Node::is_caused_choice) { OF_MANY_NAMES } else { OF_MANY }
}

/// Normal numbers of a number of dimensions, `[dimension][point]`: quasi-random, every point with its mirror image, and as far as
/// there are points enough with exactly the variances and covariances that are right. Expectations of what bends are then exact to
/// the second order, and variances of what does not to the first.
fn normal_points(dimensions: usize, points: usize, seed: u64) -> Vec<Vec<f64>> {
    let half = points / 2;
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(dimensions);
    for dimension in 0..dimensions {
        let normal = |k: usize| normal_sobol(k, dimension, seed);
        let mut own: Vec<f64> = (0..half).map(normal).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // What little room is left for further dimensions would be the same for all of them.
        for before in all.iter().filter(|_| 4 * dimension < 3 * half) {
            let along = dot(&own, before) / half as f64;
            own.iter_mut().zip(before).for_each(|(x, b)| *x -= along * b);
        }
        let size = (dot(&own, &own) / half as f64).sqrt();
        own.iter_mut().for_each(|x| *x /= size);
        all.push(own);
    }
    let mirrored = |own: Vec<f64>| own.iter().copied().chain(own.iter().map(|x| -x)).collect();
    all.into_iter().map(mirrored).collect()
}

/// The luck behind outlooks, of at least `points` outcomes: as many as it takes to keep all dimensions apart.
fn chance(problem: &Problem, network: &Network, points: usize, seed: u64) -> Chance {
    let noise = |node: usize, component: usize| network.noise(node).get(component).copied();
    let kinds: Vec<Noise> = (0..problem.nodes().len())
        .flat_map(|node| (0..problem.nodes()[node].dim).map(move |component| (node, component)))
        .map(|(node, component)| noise(node, component).unwrap_or(Noise::None))
        .collect();
    // Noise that is not normal has a dimension of its own.
    let own = |slot: usize| matches!(kinds[slot], Noise::Uniform(_) | Noise::Names(_));
    // What decides a name that has causes is off its mean by a luck of its own.
    let outputs = |node: &Node| if node.is_caused_choice() { node.outputs() - 1 } else { 0 };
    let behind: usize = problem.nodes().iter().map(outputs).sum();
    let dimensions = kinds.len() + (0..kinds.len()).filter(|&slot| own(slot)).count() + behind;
    let points = points.max(8 * dimensions.div_ceil(3) + 2);
    let mut multiples = normal_points(dimensions, points, seed);
    let mut further = multiples.split_off(kinds.len()).into_iter();
    let noise = |kind: &Noise| match kind {
        Noise::Uniform(_) | Noise::Names(_) => further.next().map_or_else(Vec::new, |luck| {
            luck.into_iter().map(|z| kind.quantile(mcbo_gp::normal_probability(z))).collect()
        }),
        _ => Vec::new(),
    };
    let deviations = kinds.iter().map(|kind| kind.deviation()).collect();
    let noise = kinds.iter().map(noise).collect();
    let mut behind = vec![Vec::new(); kinds.len()];
    for (index, node) in problem.nodes().iter().enumerate() {
        behind[problem.slot(index).start] = further.by_ref().take(outputs(node)).collect();
    }
    Chance { points, deviations, noise, multiples, further: behind }
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
        luck: impl FnMut(usize, usize, usize, Noise) -> (f64, f64),
    ) -> Vec<Vec<f64>> {
        let chance = Chance::by(problem, self, count, luck);
        let rolled = self.roll(problem, &[intervention], &chance, &mut Room::default());
        let every = |rolled: &Rolled| rolled.values(0, 1).iter().copied().cycle().take(count).collect();
        rolled.iter().map(every).collect()
    }

    /// The expected value of every component under an intervention, in the order of [`Problem::slot`], by at least so many outcomes;
    /// not finite where there is none.
    pub(super) fn expectations(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        outcomes: usize,
        seed: u64,
    ) -> Vec<f64> {
        let chance = chance(problem, self, outcomes, seed);
        let rolled = self.roll(problem, &[intervention], &chance, &mut Room::default());
        let mean = |rolled: &Rolled| {
            let (means, _) = rolled.mechanism(0, 1);
            average(means.iter().copied(), means.len())
        };
        rolled.iter().map(mean).collect()
    }

    /// The same mechanisms for the very many predictions of a search: where a node has many rows, by as few of them as will do. Means and
    /// deviations are off by less than a hundredth of a deviation; nothing but predictions is to be had of it.
    pub(crate) fn for_searching(&self) -> Cow<'_, Self> {
        /// With fewer rows there is little to gain.
        const MANY: usize = 250;
        self.above(MANY)
    }

    /// The same for a search that takes very long.
    pub(crate) fn for_searching_long(&self) -> Cow<'_, Self> {
        const MANY: usize = 30;
        self.above(MANY)
    }

    /// Condensed if a node has more rows than that.
    fn above(&self, most: usize) -> Cow<'_, Self> {
        let many = |model: &NodeModel| model.groups().iter().any(|group| group.rows > most);
        match self.nodes.iter().flatten().any(many) {
            true => Cow::Owned(self.condensed(REMAINDERS[0])),
            false => Cow::Borrowed(self),
        }
    }

    /// The same mechanisms by as few rows as will do: for predictions alone.
    fn condensed(&self, remainder: f64) -> Self {
        let condensed = |group: &Group| Group {
            set: group.set.condensed(remainder),
            first: group.first,
            rows: group.rows,
            row_noise: group.row_noise.clone(),
            scales: group.scales.clone(),
        };
        let node = |model: &NodeModel| NodeModel {
            inputs: model.inputs.clone(),
            outputs: model.outputs.clone(),
            noise: model.noise.clone(),
            mechanism: match &model.mechanism {
                Mechanism::Learned(groups) => Mechanism::Learned(groups.iter().map(condensed).collect()),
                known => known.clone(),
            },
            sticks: model.sticks,
        };
        Self {
            nodes: self.nodes.par_iter().map(|model| model.as_ref().map(node)).collect(),
            trials: Vec::new(),
            warnings: Vec::new(),
            given: self.given.clone(),
        }
    }

    /// What interventions give of every node, in the order of causes, each with the expectations that are known already.
    ///
    /// Left out are nodes that are not learned because they have no path to the reward, and those whose formula has no value for
    /// some of what may happen, with all that depend on them: the first of these is the warning.
    ///
    /// A few interventions are predicted by 2048 outcomes each, many by 64.
    pub(crate) fn outlooks(
        &self,
        problem: &Problem,
        interventions: &[(&Intervention, &[Forecast])],
    ) -> Vec<Outlooks> {
        self.outlooks_by(
            problem,
            interventions,
            if interventions.len() > FEW { of_many(problem) } else { OF_FEW },
        )
    }

    /// What is expected of every node under each of many interventions, with bounds: as exact as [`Study::predict_many`] says.
    ///
    /// [`Study::predict_many`]: crate::Study::predict_many
    pub fn forecast_many(&self, problem: &Problem, interventions: &[Intervention]) -> Vec<Vec<Forecast>> {
        let pairs: Vec<(&Intervention, &[Forecast])> =
            interventions.iter().map(|one| (one, &[][..])).collect();
        let found = self.outlooks_by(problem, &pairs, of_many(problem));
        found.into_iter().map(|(nodes, _)| nodes.into_iter().map(|node| node.forecast).collect()).collect()
    }

    fn outlooks_by(
        &self,
        problem: &Problem,
        interventions: &[(&Intervention, &[Forecast])],
        outcomes: usize,
    ) -> Vec<Outlooks> {
        let remainder = REMAINDERS[usize::from(outcomes < OF_FEW)];
        let (network, table) = (self.condensed(remainder), NormalTable::new());
        let chance = chance(problem, self, outcomes, OUTCOME_SEED);
        // Interventions that set the same nodes go together.
        let mut order: Vec<usize> = (0..interventions.len()).collect();
        let targets = |k: usize| interventions[k].0.target_set();
        order.sort_by_cached_key(|&k| targets(k));
        let alike = order.chunk_by(|&a, &b| targets(a) == targets(b));
        let blocks: Vec<&[usize]> = alike.flat_map(|alike| alike.chunks(BLOCK)).collect();
        let one = |room: &mut Room, block: &&[usize]| {
            let doing: Vec<&Intervention> = block.iter().map(|&k| interventions[k].0).collect();
            let rolled = network.roll(problem, &doing, &chance, room);
            let above = above(problem, &doing, &network);
            let told = Block {
                problem,
                network: &network,
                chance: &chance,
                table: &table,
                of: block.len(),
                rolled,
                above,
            };
            let told = |(place, &k): (usize, &usize)| (k, told.outlook(interventions[k], place));
            block.iter().enumerate().map(told).collect::<Vec<_>>()
        };
        let mut found: Vec<_> =
            blocks.par_iter().with_min_len(LONG).map_init(Room::default, one).flatten().collect();
        found.sort_by_key(|(k, _)| *k);
        found.into_iter().map(|(_, outlook)| outlook).collect()
    }

    /// The same of one intervention.
    pub(crate) fn outlook(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        expected: &[Forecast],
    ) -> Outlooks {
        let mut found = self.outlooks(problem, &[(intervention, expected)]);
        found.pop().unwrap_or_default()
    }
}

/// The slots that each node depends on under interventions that set the same nodes.
fn above(problem: &Problem, interventions: &[&Intervention], network: &Network) -> Vec<Vec<usize>> {
    let nodes = 0..problem.nodes().len();
    let set = |node: usize| interventions.iter().any(|doing| doing.target(node).is_some());
    let cut: Vec<usize> = nodes.clone().filter(|&n| set(n) || network.given.of(n).is_some()).collect();
    let of = |node: usize| {
        let ancestors = problem.graph().ancestors_cut(node, &cut);
        let other = |&other: &usize| other != node && ancestors[other] && !cut.contains(&other);
        (0..ancestors.len()).filter(other).flat_map(|other| problem.slot(other)).collect()
    };
    nodes.map(of).collect()
}

/// A block of interventions that went through the network.
struct Block<'a> {
    problem: &'a Problem,
    network: &'a Network,
    chance: &'a Chance,
    table: &'a NormalTable,
    /// How many there are.
    of: usize,
    rolled: Vec<Rolled>,
    above: Vec<Vec<usize>>,
}

impl Block<'_> {
    /// What the intervention at a place gives.
    fn outlook(&self, (intervention, expected): (&Intervention, &[Forecast]), place: usize) -> Outlooks {
        let (problem, network) = (self.problem, self.network);
        let (mut outlooks, mut undefined) = (Vec::new(), None);
        let mut mixture = Mixture::default();
        let doubts: Vec<f64> = (0..problem.slots()).map(|slot| self.share_of_doubt(slot, place)).collect();
        for &node in problem.graph().order() {
            let set = intervention.target(node).or(network.given.of(node));
            let absent = set.is_none() && network.kind(node) == MechanismKind::Absent;
            if problem.nodes()[node].is_caused_choice() && set.is_none() && !absent {
                let shares = self.shares(node, expected, place, &doubts);
                if shares.is_none() {
                    let node = || problem.nodes()[node].name.clone();
                    undefined.get_or_insert_with(|| ModelWarning::Undefined { node: node() });
                }
                outlooks.extend(shares.into_iter().flatten());
            }
            if absent || problem.nodes()[node].is_choice() {
                continue;
            }
            for (component, slot) in problem.slot(node).enumerate() {
                let rolled = &self.rolled[slot];
                if !rolled.values(place, self.of).iter().all(|value| value.is_finite()) {
                    let node = || problem.nodes()[node].name.clone();
                    undefined.get_or_insert_with(|| ModelWarning::Undefined { node: node() });
                    continue;
                }
                let (means, deviations) = rolled.mechanism(place, self.of);
                let known = expected.iter().find(|f| f.node == node && f.component == component);
                let forecast = known.filter(|_| set.is_none()).cloned().unwrap_or_else(|| {
                    let (mean, deviation) = self.expectation(node, means, deviations, &doubts);
                    let [lower, upper] = ENDS.map(|end| mean + deviation * normal_quantile(end));
                    let name = slot_name(problem, node, component);
                    Forecast { node, component, name, mean, lower, upper }
                });
                let noise = if set.is_some() { Noise::None } else { network.noise(node)[component] };
                let at = means.iter().zip(deviations);
                mixture.refill(at.flat_map(|(mean, deviation)| parts(*mean, *deviation, noise)));
                outlooks.push(Outlook { forecast, outcome: mixture.ends(ENDS, self.table) });
            }
        }
        (outlooks, undefined)
    }

    /// How probable each name of a node is, where it has causes. In a single trial a name comes or not: it does at the lower end if it
    /// does in nineteen of twenty, and at the upper one if it does in one of twenty. None where there is no value.
    fn shares(
        &self,
        node: usize,
        expected: &[Forecast],
        place: usize,
        doubts: &[f64],
    ) -> Option<Vec<Outlook>> {
        let slot = self.problem.slot(node).start;
        let one = |(name, shares): (usize, &[f64])| {
            let known = expected.iter().find(|f| f.node == node && f.component == name);
            let forecast = known.cloned().unwrap_or_else(|| {
                let (mean, above) = self.expectation(node, shares, &[0.0], doubts);
                let own = std::iter::once(&self.chance.multiples[slot]).chain(&self.chance.further[slot]);
                let own: f64 = own.map(|luck| along(luck, shares).powi(2)).sum();
                let deviation = (above * above + own).sqrt();
                let [lower, upper] =
                    ENDS.map(|end| (mean + deviation * normal_quantile(end)).clamp(0.0, 1.0));
                let label = share_name(self.problem, node, name);
                Forecast { node, component: name, name: label, mean, lower, upper }
            });
            let outcome = ENDS.map(|end| f64::from(u8::from(forecast.mean > 1.0 - end)));
            forecast.mean.is_finite().then_some(Outlook { forecast, outcome })
        };
        self.rolled[slot].shares(place, self.of).enumerate().map(one).collect()
    }

    /// The share of the variance of a component's luck that comes from what is not known of its mechanism.
    fn share_of_doubt(&self, slot: usize, place: usize) -> f64 {
        if self.chance.noise[slot].len() == self.chance.points {
            // Its noise has a dimension of its own.
            return 1.0;
        }
        let (_, deviations) = self.rolled[slot].mechanism(place, self.of);
        let noise = self.chance.deviations[slot].powi(2);
        let share = |deviation: &f64| match deviation * deviation {
            0.0 => 0.0,
            doubt => doubt / (doubt + noise),
        };
        average(deviations.iter().map(share), deviations.len())
    }

    /// The expectation of a component and the deviation of what is not known of it.
    ///
    /// The expectation moves with the mechanism of each component above by `E[∂f/∂z]` for each unit of its luck `z`, which is
    /// `E[f z]` (Stein) and exact where `f` bends no more than a parabola does; its own mechanism moves it by its mean deviation.
    fn expectation(&self, node: usize, means: &[f64], deviations: &[f64], doubts: &[f64]) -> (f64, f64) {
        let mean = average(means.iter().copied(), means.len());
        let own = average(deviations.iter().copied(), deviations.len());
        let moved = |&slot: &usize| {
            let further: f64 = self.chance.further[slot].iter().map(|luck| along(luck, means).powi(2)).sum();
            doubts[slot] * along(&self.chance.multiples[slot], means).powi(2) + further
        };
        let above = if means.len() == 1 { 0.0 } else { self.above[node].iter().map(moved).sum() };
        (mean, (own * own + above).sqrt())
    }
}

/// `E[f z]`.
fn along(luck: &[f64], means: &[f64]) -> f64 {
    average(luck.iter().zip(means).map(|(z, f)| z * f), means.len())
}

fn average(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

/// The probabilities of less than the two ends.
const ENDS: [f64; 2] = [LOWER_QUANTILE, 1.0 - LOWER_QUANTILE];

#[cfg(test)]
mod tests;
