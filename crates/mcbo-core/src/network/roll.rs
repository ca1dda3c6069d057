//! Interventions through the network together, under luck that is the same for all of them.

use mcbo_gp::Scratch;

use crate::noise::sticks;
use crate::{Intervention, Noise, Problem};

use super::{MechanismKind, Network, NodeModel};

/// What chance gives at a number of points: of every component, in the order of [`Problem::slot`], the multiple of its deviation by
/// which a mechanism is off its mean, and the noise.
#[derive(Debug, Clone)]
pub(super) struct Chance {
    pub points: usize,
    /// `[slot][point]`, standard normal.
    pub multiples: Vec<Vec<f64>>,
    /// `[slot][point]`, in the user's units. Where it is empty the multiple is one of the deviation of mechanism and noise together.
    pub noise: Vec<Vec<f64>>,
    /// The deviation of the noise of every slot.
    pub deviations: Vec<f64>,
    /// `[slot][further output][point]`, standard normal: the multiples of the outputs behind the first where a name has causes.
    pub further: Vec<Vec<Vec<f64>>>,
}

impl Chance {
    /// What `luck` says for every node, component and point, one node after the other in the order of causes.
    pub fn by(
        problem: &Problem,
        network: &Network,
        points: usize,
        mut luck: impl FnMut(usize, usize, usize, Noise) -> (f64, f64),
    ) -> Self {
        let none = || vec![Vec::new(); problem.slots()];
        let (deviations, further) = (vec![0.0; problem.slots()], vec![Vec::new(); problem.slots()]);
        let mut chance = Self { points, multiples: none(), noise: none(), deviations, further };
        for &node in problem.graph().order() {
            for ((component, slot), &noise) in problem.slot(node).enumerate().zip(network.noise(node)) {
                let drawn = (0..points).map(|point| luck(node, component, point, noise));
                (chance.multiples[slot], chance.noise[slot]) = drawn.unzip();
                chance.deviations[slot] = noise.deviation();
            }
            if problem.nodes()[node].is_caused_choice() && !network.noise(node).is_empty() {
                let mut multiples =
                    |output: usize| (0..points).map(|p| luck(node, output, p, Noise::None).0).collect();
                chance.further[problem.slot(node).start] =
                    (1..problem.nodes()[node].outputs()).map(&mut multiples).collect();
            }
        }
        chance
    }
}

/// One component under a number of interventions, `[intervention][point]`, or `[intervention]` where all points are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Rolled {
    /// The mechanism's mean at what its parents are, and the deviation of what is not known of it.
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// Off the mean by luck, and with noise; NaN where there is no mechanism.
    value: Vec<f64>,
    /// Where a name has causes: the probability of every name in the same order, `[name][..]`.
    shares: Vec<Vec<f64>>,
}

impl Rolled {
    fn constant(values: Vec<f64>) -> Self {
        Self { deviation: vec![0.0; values.len()], mean: values.clone(), value: values, shares: Vec::new() }
    }

    /// The probability of every name under an intervention of so many, at every point; none where its name has no causes.
    pub fn shares(&self, intervention: usize, count: usize) -> impl Iterator<Item = &[f64]> {
        let own = move |shares: &Vec<f64>| {
            let per = shares.len() / count;
            intervention * per..(intervention + 1) * per
        };
        self.shares.iter().map(move |shares| &shares[own(shares)])
    }

    /// The mechanism under an intervention of so many: means and deviations at every point, or at one where all are the same.
    pub fn mechanism(&self, intervention: usize, count: usize) -> (&[f64], &[f64]) {
        let per = self.mean.len() / count;
        let own = intervention * per..(intervention + 1) * per;
        (&self.mean[own.clone()], &self.deviation[own])
    }

    /// The value under an intervention of so many: of every point, or one where all are the same.
    pub fn values(&self, intervention: usize, count: usize) -> &[f64] {
        let per = self.value.len() / count;
        &self.value[intervention * per..(intervention + 1) * per]
    }
}

/// Memory that is used again; one per thread.
#[derive(Debug, Default)]
pub(super) struct Room {
    scratch: Scratch,
    inputs: Vec<f64>,
}

impl Network {
    /// Every component, in the order of [`Problem::slot`], under interventions that set the same nodes.
    ///
    /// A node that reads nothing but what is decided is computed once for all points, all others for all points of all interventions
    /// in one batch.
    pub(super) fn roll(
        &self,
        problem: &Problem,
        interventions: &[&Intervention],
        chance: &Chance,
        room: &mut Room,
    ) -> Vec<Rolled> {
        let count = interventions.len();
        let mut rolled = vec![Rolled::default(); problem.slots()];
        for &node in problem.graph().order() {
            let slots = problem.slot(node);
            let set = |doing: &Intervention, component: usize| {
                doing.target(node).or(self.given.of(node)).map(|values| values[component])
            };
            if interventions.first().is_none_or(|doing| set(doing, 0).is_some())
                || self.kind(node) == MechanismKind::Absent
            {
                for (component, slot) in slots.enumerate() {
                    let value = |doing: &&Intervention| set(doing, component).unwrap_or(f64::NAN);
                    rolled[slot] = Rolled::constant(interventions.iter().map(value).collect());
                }
                continue;
            }
            let declared = &problem.nodes()[node];
            let read: Vec<usize> = declared.parents.iter().flat_map(|&parent| problem.slot(parent)).collect();
            let fixed = read.iter().all(|&slot| rolled[slot].value.len() == count);
            let per = if fixed { 1 } else { chance.points };
            let columns = count * per;
            room.inputs.clear();
            for slot in read {
                let values = &rolled[slot].value;
                if values.len() == columns {
                    room.inputs.extend(values);
                } else {
                    room.inputs.extend(values.iter().flat_map(|&value| std::iter::repeat_n(value, per)));
                }
            }
            for &action in &declared.actions {
                let value = |doing: &&Intervention| std::iter::repeat_n(doing.actions[action], per);
                room.inputs.extend(interventions.iter().flat_map(value));
            }
            let components = self.mechanism_at(node, &mut room.inputs, columns, None, &mut room.scratch);
            if let Some(model) = self.nodes[node].as_ref().filter(|model| model.sticks.is_some()) {
                rolled[slots.start] = named(model, &components, count, chance, slots.start);
                continue;
            }
            for (slot, at) in slots.zip(components) {
                rolled[slot] = with_luck(at, count, chance, slot);
            }
        }
        rolled
    }
}

/// What comes out where a mechanism has these means and deviations.
fn with_luck((mean, deviation): (Vec<f64>, Vec<f64>), count: usize, chance: &Chance, slot: usize) -> Rolled {
    let per = mean.len() / count;
    let (multiples, noise, own) = (&chance.multiples[slot], &chance.noise[slot], chance.deviations[slot]);
    if per == 1 && own == 0.0 && deviation.iter().all(|deviation| *deviation == 0.0) {
        return Rolled::constant(mean);
    }
    let mut value = Vec::with_capacity(count * chance.points);
    for (means, deviations) in mean.chunks_exact(per).zip(deviation.chunks_exact(per)) {
        let at = means.iter().zip(deviations).cycle();
        let luck = multiples.iter().zip(at);
        if noise.is_empty() {
            value.extend(luck.map(|(z, (mean, d))| mean + (d * d + own * own).sqrt() * z));
        } else {
            value.extend(luck.zip(noise).map(|((z, (mean, d)), noise)| mean + d * z + noise));
        }
    }
    Rolled { mean, deviation, value, shares: Vec::new() }
}

/// The same where a name has causes: each of what decides it is off its mean by its own luck, and the noise is the point of the unit
/// interval that the name belongs to.
fn named(
    model: &NodeModel,
    outputs: &[(Vec<f64>, Vec<f64>)],
    count: usize,
    chance: &Chance,
    slot: usize,
) -> Rolled {
    let (points, per) = (chance.points, outputs[0].0.len() / count);
    let multiples = || std::iter::once(&chance.multiples[slot]).chain(&chance.further[slot]);
    let mut value = Vec::with_capacity(count * points);
    let mut shares = vec![Vec::with_capacity(count * points); outputs.len() + 1];
    for intervention in 0..count {
        for point in 0..points {
            let at = intervention * per + if per == 1 { 0 } else { point };
            let lucky = |(k, luck): (usize, &Vec<f64>)| {
                let (mean, deviation) = &outputs[k];
                model.within(mean[at] + deviation[at] * luck[point])
            };
            let sticks: Vec<f64> = multiples().take(outputs.len()).enumerate().map(lucky).collect();
            value.push(sticks::place(&sticks, chance.noise[slot][point]));
            shares.iter_mut().zip(sticks::shares(&sticks)).for_each(|(all, share)| all.push(share));
        }
    }
    Rolled { mean: value.clone(), deviation: vec![0.0; value.len()], value, shares }
}
