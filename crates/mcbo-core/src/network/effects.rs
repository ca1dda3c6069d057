//! What matters: what every action and every arrow does to the reward, and which node is to blame for what is not known of it.

mod sloped;

use rayon::prelude::*;

use crate::{Choice, Data, Grid, Intervention, Problem};

use super::draws::{Drawn, Draws};
use super::plan::Source;
use super::{FunctionDraws, LOWER_QUANTILE, Network, NoiseSamples, Plan, Workspace, quantile, slot_name};

/// Places that something is looked at along its range.
const PLACES: usize = 13;
/// Values of an action that has only some, at most.
const MOST_PLACES: usize = 40;
/// Systems drawn as whole functions, and realisations of the noise in each.
const SYSTEMS: usize = 48;
const SAMPLES: usize = 8;
/// Draws of one mechanism behind its share of what is not known.
const BLAME_DRAWS: usize = 128;
/// Arrows times nodes, up to which every arrow is followed through the network by itself: their product is what that takes.
const FOLLOWED: usize = 8_000;
/// An arrow is followed over what was seen of the parent, the outermost twentieths left out.
const SEEN: [f64; 2] = [0.05, 0.95];

/// What moving something does to the expected reward, all else as in one intervention.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Effect {
    /// How far the expected reward goes up and down along its range.
    pub effect: f64,
    /// Below this with a probability of 5 %.
    pub lower: f64,
    /// Above this with a probability of 5 %.
    pub upper: f64,
    /// The value at which the model expects the highest reward.
    pub best: f64,
    /// The value at which it expects the lowest.
    pub worst: f64,
}

/// What matters to the reward, about one intervention. See [`Network::effects`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Effects {
    /// Everything that can be chosen by its name, `dose` or `do(node)`, the largest effect first.
    pub actions: Vec<(String, Effect)>,
    /// Every arrow between nodes (from, to), the largest effect first; for a vector node the values are those of its first component.
    pub arrows: Vec<(usize, usize, Effect)>,
    /// The share of what is not known of the expected reward that every learned node is to blame for, the largest first; nothing
    /// where all is known.
    pub unknown: Vec<(usize, f64)>,
}

/// A way through the network with everything decided.
struct Way {
    plan: Plan,
    decided: Vec<f64>,
}

impl Way {
    fn of(problem: &Problem, network: &Network, intervention: &Intervention) -> Self {
        let plan = Plan::for_prediction(problem, network, &Choice::of(problem, intervention));
        let decided = plan.space().point(intervention);
        Self { plan, decided }
    }

    /// The expected reward in every drawn system.
    fn drawn(&self, network: &Network, functions: &FunctionDraws, seed: u64) -> Vec<f64> {
        let noise = NoiseSamples::new(&self.plan, SAMPLES, seed);
        network.rewards_along(&self.plan, functions, &self.decided, &noise, &mut Workspace::default())
    }
}

impl Network {
    /// What matters to the reward about an intervention.
    ///
    /// The effect of an action is how far the expected reward goes up and down along its range, all others as they are. That of a
    /// node that can be set, the same of setting it. That of an arrow is what moving the parent would do that is seen
    /// through this arrow alone, over nine tenths of what was seen of it. Each is the mean over systems that are drawn, all
    /// mechanisms together, from what is known of them, and its bounds are of these systems. The share of a node is that of
    /// the variance of the expected reward if its mechanism alone is not known.
    ///
    /// An action that has no way to the reward under this intervention has an effect of 0, and so has an arrow into a node
    /// that is set.
    ///
    /// In large graphs, where arrows times nodes are more than 8,000, what an arrow does to the node that it points to is
    /// followed to the reward by the slopes of the mechanisms after it, and so is what is not known of a mechanism; the effects of
    /// actions are computed as ever.
    pub fn effects(&self, problem: &Problem, data: &Data, about: &Intervention, seed: u64) -> Effects {
        self.effects_within(problem, data, about, seed, FOLLOWED)
    }

    fn effects_within(
        &self,
        problem: &Problem,
        data: &Data,
        about: &Intervention,
        seed: u64,
        followed: usize,
    ) -> Effects {
        let functions = self.draw_functions(SYSTEMS, seed);
        let arrows: Vec<(usize, usize)> = (0..problem.nodes().len())
            .filter(|&to| self.nodes[to].is_some())
            .flat_map(|to| problem.nodes()[to].parents.iter().map(move |&from| (from, to)))
            .collect();
        let one_by_one = arrows.len() * problem.nodes().len() <= followed;
        let effect = |places: &[f64], ways: Vec<Way>| {
            // The expected reward at every place, in every drawn system.
            let rewards: Vec<Vec<f64>> = ways.iter().map(|way| way.drawn(self, &functions, seed)).collect();
            Effect::along(places, &rewards)
        };
        let of_lever = |(name, interventions): &(String, Vec<(f64, Intervention)>)| {
            let places: Vec<f64> = interventions.iter().map(|(place, _)| *place).collect();
            let ways = interventions.iter().map(|(_, doing)| Way::of(problem, self, doing)).collect();
            Some((name.clone(), effect(&places, ways)?))
        };
        let mut actions: Vec<(String, Effect)> =
            levers(problem, about).par_iter().filter_map(of_lever).collect();
        let of_arrow = |&(from, to): &(usize, usize)| {
            let seen = seen(problem, data, from, to);
            let places: Vec<f64> = seen.iter().map(|values| values[0]).collect();
            let way = |values: &Vec<f64>| {
                let mut way = Way::of(problem, self, about);
                way.plan.fix_parent(problem, from, to, values);
                way
            };
            Some((from, to, effect(&places, seen.iter().map(way).collect())?))
        };
        let mut arrows: Vec<(usize, usize, Effect)> = if one_by_one {
            arrows.par_iter().filter_map(of_arrow).collect()
        } else {
            self.arrows_by_slopes(problem, data, about, &arrows, seed)
        };
        actions.sort_by(|a, b| b.1.effect.total_cmp(&a.1.effect));
        arrows.sort_by(|a, b| b.2.effect.total_cmp(&a.2.effect));
        let shares = if one_by_one {
            self.blame(problem, about, seed)
        } else {
            self.blame_by_slopes(problem, about, seed)
        };
        Effects { actions, arrows, unknown: shares }
    }

    /// The share of every learned node in what is not known of the expected reward of an intervention, the largest first.
    pub fn blame(&self, problem: &Problem, about: &Intervention, seed: u64) -> Vec<(usize, f64)> {
        let choice = Choice::of(problem, about);
        let point = Plan::for_prediction(problem, self, &choice).space().point(about);
        let nodes: Vec<usize> = {
            let draws = Draws::expectation(problem, self, &choice, 1, seed, |_| 1);
            draws.plan().steps.iter().filter(|step| !step.eta.is_empty()).map(|step| step.node).collect()
        };
        let variance = |&node: &usize| {
            let mut draws = Draws::expectation(problem, self, &choice, BLAME_DRAWS, seed, |_| SAMPLES);
            draws.only(node);
            let mut drawn = Drawn::default();
            draws.evaluate(&point, false, &mut Workspace::default(), &mut drawn);
            let mean = drawn.rewards.iter().sum::<f64>() / drawn.rewards.len() as f64;
            let squares = drawn.rewards.iter().map(|reward| (reward - mean).powi(2));
            (node, squares.sum::<f64>() / drawn.rewards.len() as f64)
        };
        shared(nodes.par_iter().map(variance).collect())
    }
}

impl Effect {
    /// What going through some places does, by the expected reward at every place in every drawn system; `None` where it has no value.
    fn along(places: &[f64], rewards: &[Vec<f64>]) -> Option<Self> {
        if rewards.is_empty() || !rewards.iter().flatten().all(|reward| reward.is_finite()) {
            return None;
        }
        let range = |system: usize| {
            let along = || rewards.iter().map(|place| place[system]);
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        let mut ranges: Vec<f64> = (0..rewards[0].len()).map(range).collect();
        let effect = ranges.iter().sum::<f64>() / ranges.len() as f64;
        let [lower, upper] = [LOWER_QUANTILE, 1.0 - LOWER_QUANTILE].map(|q| quantile(&mut ranges, q));
        let means: Vec<f64> = rewards.iter().map(|place| place.iter().sum()).collect();
        let at = |better: fn(f64, f64) -> bool| {
            let better =
                |best: usize, next: usize| if better(means[next], means[best]) { next } else { best };
            (0..means.len()).reduce(better).map_or(f64::NAN, |place| places[place])
        };
        Some(Self { effect, lower, upper, best: at(|a, b| a > b), worst: at(|a, b| a < b) })
    }
}

/// Variances as shares of their sum, the largest first; nothing where there are none.
fn shared(mut shares: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let all: f64 = shares.iter().map(|(_, variance)| variance).sum();
    if !(all > 0.0 && all.is_finite()) {
        return Vec::new();
    }
    shares.iter_mut().for_each(|(_, variance)| *variance /= all);
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

impl Plan {
    /// Lets a node see these values of one of its parents, whatever the parent is.
    fn fix_parent(&mut self, problem: &Problem, from: usize, to: usize, values: &[f64]) {
        let parents = &problem.nodes()[to].parents;
        let before = parents.iter().take_while(|&&parent| parent != from);
        let first: usize = before.map(|&parent| problem.nodes()[parent].dim).sum();
        for step in self.steps.iter_mut().filter(|step| step.node == to) {
            for (source, &value) in step.sources[first..].iter_mut().zip(values) {
                *source = Source::Constant(value);
            }
        }
    }
}

fn evenly([low, high]: [f64; 2]) -> impl Iterator<Item = f64> {
    (0..PLACES).map(move |k| low + (high - low) * k as f64 / (PLACES - 1) as f64)
}

/// Values along what can be chosen: where only some can be, all of them; of very many, some.
fn places(evenly: impl Iterator<Item = f64>, grid: Option<&Grid>) -> Vec<f64> {
    let Some(grid) = grid else { return evenly.collect() };
    let all: Vec<f64> = grid.values().collect();
    let every = all.len().div_ceil(MOST_PLACES).max(1);
    all.into_iter().step_by(every).collect()
}

/// Everything that can be chosen, with interventions along its range; the rest is as in `about`.
fn levers(problem: &Problem, about: &Intervention) -> Vec<(String, Vec<(f64, Intervention)>)> {
    let mut levers = Vec::new();
    for (index, action) in problem.actions().iter().enumerate() {
        let neutral =
            (action.neutral < action.range[0] || action.neutral > action.range[1]).then_some(action.neutral);
        let evenly = (0..PLACES).map(|k| action.at_share(k as f64 / (PLACES - 1) as f64));
        let along = places(evenly, action.grid.as_ref()).into_iter().chain(neutral).map(|value| {
            let mut doing = about.clone();
            doing.actions[index] = value;
            (value, doing)
        });
        levers.push((action.name.clone(), along.collect()));
    }
    for node in problem.settable() {
        let ranges = problem.nodes()[node].hard.as_deref().unwrap_or_default();
        for (component, &range) in ranges.iter().enumerate() {
            let grid = problem.nodes()[node].grid.as_ref().map(|grids| &grids[component]);
            let along = places(evenly(range), grid).into_iter().map(|value| {
                let mut doing = about.clone();
                if doing.target(node).is_none() {
                    let middles = ranges.iter().map(|[low, high]| 0.5 * (low + high)).collect();
                    doing.targets.push((node, middles));
                    doing.targets.sort_by_key(|(node, _)| *node);
                }
                let set = doing.targets.iter_mut().find(|(target, _)| *target == node);
                set.into_iter().for_each(|(_, values)| values[component] = value);
                (value, doing)
            });
            levers.push((format!("do({})", slot_name(problem, node, component)), along.collect()));
        }
    }
    levers
}

/// Values of a parent along what was seen of it in the rows of its child; those of a vector node are ones that were measured.
fn seen(problem: &Problem, data: &Data, from: usize, to: usize) -> Vec<Vec<f64>> {
    let before = problem.nodes()[to].parents.iter().take_while(|&&parent| parent != from);
    let first: usize = before.map(|&parent| problem.nodes()[parent].dim).sum();
    let dim = problem.nodes()[from].dim;
    let rows = data.training_rows(problem, to, 0).map(|(inputs, _)| inputs[first..first + dim].to_vec());
    let mut rows: Vec<Vec<f64>> = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    if problem.nodes()[from].is_choice() {
        rows.dedup();
        return rows;
    }
    let place = |share: f64| ((rows.len() - 1) as f64 * share).round() as usize;
    if dim == 1 {
        return evenly(SEEN.map(|share| rows[place(share)][0])).map(|value| vec![value]).collect();
    }
    let shares = (0..PLACES).map(|k| SEEN[0] + (SEEN[1] - SEEN[0]) * k as f64 / (PLACES - 1) as f64);
    shares.map(|share| rows[place(share)].clone()).collect()
}

#[cfg(test)]
mod tests;
