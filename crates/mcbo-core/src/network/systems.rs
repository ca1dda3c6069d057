//! Systems that agree with the data: of every process one member, with the noise that it has.

use mcbo_gp::Noise::Learned;

use super::{Network, NodeModel};

/// Which member of every process counts in each of so many draws, and how much noise it has.
///
/// A mixture's mean and deviation say little of the ends of what is plausible: with a short lengthscale or much noise a limit is broken
/// that the others keep for sure. So a draw has one member of every process as a whole, off its mean by a multiple of its deviation.
#[derive(Debug)]
pub(crate) struct Systems {
    nodes: Vec<Members>,
    draws: usize,
}

/// Of one node.
#[derive(Debug, Default)]
struct Members {
    /// The place of the member of every set of processes, `[set][draw]`.
    places: Vec<Vec<usize>>,
    /// The deviation of the noise of every component, as a multiple of what the network says of it, `[component][draw]`.
    noise: Vec<Vec<f64>>,
}

impl Network {
    /// Systems of which every member has as many as its weight says. What decides about a process in a draw is a number between 0 and 1,
    /// given the draw and how many processes come before.
    pub(crate) fn systems(&self, draws: usize, unit: impl Fn(usize, usize) -> f64) -> Systems {
        let mut before = 0;
        let mut node = |model: &Option<NodeModel>| {
            let Some(model) = model else { return Members::default() };
            let mut members = Members::default();
            for group in model.groups() {
                let own = group.set.members();
                let place = |draw: usize| {
                    let mut rest = unit(draw, before);
                    let counts = |(weight, _): &(f64, _)| {
                        rest -= weight;
                        rest < 0.0
                    };
                    own.iter().position(counts).unwrap_or(own.len() - 1)
                };
                let places: Vec<usize> = (0..draws).map(place).collect();
                before += 1;
                let learned = own.iter().all(|(_, gp)| gp.spec().noise == Learned);
                let mean = group.set.noise_variance();
                let ratio = |&place: &usize| {
                    let (_, gp) = &own[place];
                    let variance = gp.spec().noise_variance(gp.theta()).filter(|_| learned && mean > 0.0);
                    variance.map_or(1.0, |variance| (variance / mean).sqrt())
                };
                let ratios: Vec<f64> = places.iter().map(ratio).collect();
                members.noise.extend((0..group.set.components()).map(|_| ratios.clone()));
                members.places.push(places);
            }
            members
        };
        Systems { nodes: self.nodes.iter().map(&mut node).collect(), draws }
    }
}

impl Systems {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.draws
    }

    /// The place of the member that counts in a draw, of one of a node's sets of processes.
    pub fn member(&self, node: usize, set: usize, draw: usize) -> usize {
        self.nodes[node].places[set][draw]
    }

    /// The deviation of a component's noise in a draw, as a multiple of what the network says of it.
    pub fn noise(&self, node: usize, component: usize, draw: usize) -> f64 {
        let of = self.nodes[node].noise.get(component);
        of.and_then(|noise| noise.get(draw)).copied().unwrap_or(1.0)
    }
}
