//! The same for large graphs: one way through the network forward and one back, whatever the number of arrows.

use super::super::draws::Draws;
use super::super::{Batch, Network, NoiseSamples, Workspace};
use super::{Effect, SAMPLES, SYSTEMS, Way, seen, shared};
use crate::{Choice, Data, Intervention, Problem};

impl Network {
    /// What arrows do to the reward: the mechanism that an arrow points to goes through its values as it is; what follows after it goes by
    /// the slope of the reward by its value, in every drawn system.
    pub(super) fn arrows_by_slopes(
        &self,
        problem: &Problem,
        data: &Data,
        about: &Intervention,
        arrows: &[(usize, usize)],
        seed: u64,
    ) -> Vec<(usize, usize, Effect)> {
        let Way { mut plan, decided: mut point } = Way::of(problem, self, about);
        let functions = self.draw_functions(SYSTEMS, seed);
        point.resize(plan.dim(), 0.0);
        let (points, noise) = (point.repeat(SYSTEMS), NoiseSamples::new(&plan, SAMPLES, seed));
        let batch = Batch { points: &points, beta: 0.0, noise: &noise };
        // Where nothing is decided and nothing is learned all systems are one.
        let systems = batch.candidates(&plan);
        let mut workspace = Workspace::default();
        self.slopes_in_functions(&plan, &functions, batch, &mut workspace);
        let mut effects = Vec::with_capacity(arrows.len());
        // From the last to the first: a step reads those before it, which are then as the rollout has left them.
        let mut order: Vec<(Option<usize>, usize, usize)> = arrows
            .iter()
            .map(|&(from, to)| (plan.steps.iter().position(|step| step.node == to), from, to))
            .collect();
        order.sort_by_key(|(step, ..)| std::cmp::Reverse(*step));
        for (index, from, to) in order {
            let seen = seen(problem, data, from, to);
            let places: Vec<f64> = seen.iter().map(|values| values[0]).collect();
            let rewards = seen.iter().map(|values| {
                let Some(index) = index else { return vec![0.0; systems] };
                let sources = plan.steps[index].sources.clone();
                plan.fix_parent(problem, from, to, values);
                self.step_again(&plan, index, batch, &functions, &mut workspace);
                plan.steps[index].sources = sources;
                worth(&workspace, index, plan.steps[index].components, systems)
            });
            let rewards: Vec<Vec<f64>> = rewards.collect();
            effects.extend(Effect::along(&places, &rewards).map(|effect| (from, to, effect)));
        }
        effects
    }

    /// The share of every learned node in what is not known, by how fast the expected reward goes with what its mechanism may be off by.
    pub(super) fn blame_by_slopes(
        &self,
        problem: &Problem,
        about: &Intervention,
        seed: u64,
    ) -> Vec<(usize, f64)> {
        let choice = Choice::of(problem, about);
        let mut draws = Draws::expectation(problem, self, &choice, 1, seed, |_| SAMPLES);
        draws.shift_all(0.0);
        let (rollout, point) = draws.at(&draws.plan().space().point(about));
        let mut slopes = vec![0.0; point.len()];
        rollout.evaluate(&point, &mut Workspace::default(), &mut Vec::new(), &mut slopes);
        let learned = draws.plan().steps.iter().filter(|step| !step.eta.is_empty());
        let variance = |slopes: &[f64]| slopes.iter().map(|slope| slope * slope).sum::<f64>();
        shared(learned.map(|step| (step.node, variance(&slopes[step.eta.clone()]))).collect())
    }
}

/// What the values of a step are worth by the slopes of the reward, in every system.
fn worth(workspace: &Workspace, step: usize, components: usize, systems: usize) -> Vec<f64> {
    let mut rewards = vec![0.0; systems];
    for component in 0..components {
        let (values, slopes) = workspace.moving(step, component);
        let per = values.len() / systems;
        let pairs = slopes.chunks_exact(per).zip(values.chunks_exact(per));
        for (reward, (slopes, values)) in rewards.iter_mut().zip(pairs) {
            *reward += slopes.iter().zip(values).map(|(slope, value)| slope * value).sum::<f64>();
        }
    }
    rewards
}
