//! Which nodes a rollout visits under a target set, and what each reads.

use std::ops::Range;

use crate::optimism::Optimism;
use crate::{Intervention, Noise, Problem};

use super::{Mechanism, Network};

/// The discrete part of an intervention: which nodes are set and which actions are free.
///
/// All other actions are neutral.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Choice {
    /// Hard targets, in increasing order.
    pub targets: Vec<usize>,
    /// Actions that may take any value in their range, in increasing order.
    pub actions: Vec<usize>,
}

/// A number that is decided: a component of a target or an action, from its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Variable {
    pub range: [f64; 2],
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Target { index: usize, component: usize },
    Action(usize),
}

/// Where an input of a node comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source {
    Variable(usize),
    Constant(f64),
    /// Step of the plan and component.
    Computed(usize, usize),
}

/// A node that is computed.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub node: usize,
    pub dim: usize,
    pub components: usize,
    pub sources: Vec<Source>,
    /// Whether its inputs differ between noise samples.
    pub varies: bool,
    /// Whether its own noise is realised for its children.
    pub noisy: bool,
    /// Its first row of the noise samples.
    pub noise_row: usize,
    /// Its `η` parameters in the decision vector; empty for a known formula and for the reward.
    pub eta: Range<usize>,
}

/// The way through the graph for one [`Choice`]: nodes that matter to the reward, in topological order, the reward
/// last, and the layout of the decision vector: unit-scaled variables first, then the parameters of `η`.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) choice: Choice,
    pub(crate) steps: Vec<Step>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) noise_kinds: Vec<Noise>,
    pub(crate) optimism: Optimism,
    pub(crate) sign: f64,
    dim: usize,
}

impl Plan {
    /// Plans the rollout of a choice.
    pub fn new(problem: &Problem, network: &Network, choice: &Choice, optimism: Optimism) -> Self {
        Self::build(problem, network, choice, optimism, false)
    }

    /// A plan whose `η` are one number per node and component, the reward's included, for predictions.
    pub(crate) fn for_prediction(problem: &Problem, network: &Network, choice: &Choice) -> Self {
        Self::build(problem, network, choice, Optimism::Constant, true)
    }

    fn build(
        problem: &Problem,
        network: &Network,
        choice: &Choice,
        optimism: Optimism,
        reward_free: bool,
    ) -> Self {
        let reward = problem.reward();
        let relevant = problem.graph().ancestors_cut(reward, &choice.targets);
        let (variables, target_variables, action_variables) = variables_of(problem, choice);
        let mut dim = variables.len();
        let (mut steps, mut noise_kinds): (Vec<Step>, Vec<Noise>) = (Vec::new(), Vec::new());
        let mut step_of = vec![None; problem.nodes().len()];
        for &node in problem.graph().order() {
            let (true, None, Some(model)) = (relevant[node], target_variables[node], &network.nodes[node])
            else {
                continue;
            };
            let declared = &problem.nodes()[node];
            let mut sources = Vec::with_capacity(model.inputs.len());
            let mut varies = false;
            for &parent in &declared.parents {
                for component in 0..problem.nodes()[parent].dim {
                    sources.push(match (target_variables[parent], step_of[parent]) {
                        (Some(first), _) => Source::Variable(first + component),
                        (None, Some(step)) => {
                            let of: &Step = &steps[step];
                            varies |= of.varies || of.noisy;
                            Source::Computed(step, component)
                        }
                        // Ancestors of a relevant node are relevant: only a programming error comes here.
                        (None, None) => Source::Constant(0.0),
                    });
                }
            }
            sources.extend(declared.actions.iter().map(|&action| match action_variables[action] {
                Some(variable) => Source::Variable(variable),
                None => Source::Constant(problem.actions()[action].neutral),
            }));
            let noisy = node != reward && model.noise.iter().any(|noise| *noise != Noise::None);
            let noise_row = noise_kinds.len();
            if noisy {
                noise_kinds.extend(&model.noise);
            }
            let learned = matches!(model.mechanism, Mechanism::Learned(_));
            let parameters = if learned && (node != reward || reward_free) {
                optimism.parameters(sources.len(), declared.dim)
            } else {
                0
            };
            step_of[node] = Some(steps.len());
            steps.push(Step {
                node,
                dim: sources.len(),
                components: declared.dim,
                sources,
                varies,
                noisy,
                noise_row,
                eta: dim..dim + parameters,
            });
            dim += parameters;
        }
        // The reward is the sink of all relevant nodes, so topological order may still put a sibling after it only
        // if that sibling is not an ancestor; those are left out, and the reward is last.
        debug_assert_eq!(steps.last().map(|step| step.node), Some(reward));
        Self { choice: choice.clone(), steps, variables, noise_kinds, optimism, sign: problem.sign(), dim }
    }

    /// A plan of one step that computes the reward straight from the decided values, the targets' components first and
    /// then the given actions: the graph left out.
    pub(crate) fn direct(problem: &Problem, choice: &Choice, actions: &[usize]) -> Self {
        let (variables, _, action_variables) = variables_of(problem, choice);
        let components = variables.len() - choice.actions.len();
        let action = |&action: &usize| match action_variables[action] {
            Some(variable) => Source::Variable(variable),
            None => Source::Constant(problem.actions()[action].neutral),
        };
        let sources: Vec<Source> =
            (0..components).map(Source::Variable).chain(actions.iter().map(action)).collect();
        let dim = variables.len();
        let step = Step {
            node: problem.reward(),
            dim: sources.len(),
            components: 1,
            sources,
            varies: false,
            noisy: false,
            noise_row: 0,
            eta: dim..dim,
        };
        Self {
            choice: choice.clone(),
            steps: vec![step],
            variables,
            noise_kinds: Vec::new(),
            optimism: Optimism::Constant,
            sign: problem.sign(),
            dim,
        }
    }

    /// Length of the decision vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of decided variables, at the front of the decision vector.
    pub fn decisions(&self) -> usize {
        self.variables.len()
    }

    /// Whether the reward depends on noise, so that its expectation needs samples.
    pub fn is_noisy(&self) -> bool {
        self.steps.last().is_some_and(|step| step.varies)
    }

    /// Bounds of the decision vector.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let (n, bound) = (self.decisions(), self.optimism.bound());
        let lower = (0..self.dim).map(|i| if i < n { 0.0 } else { -bound }).collect();
        let upper = (0..self.dim).map(|i| if i < n { 1.0 } else { bound }).collect();
        (lower, upper)
    }

    /// The intervention that a decision vector stands for, in the user's units.
    pub fn intervention(&self, problem: &Problem, point: &[f64]) -> Intervention {
        let mut intervention = problem.neutral_intervention();
        intervention.targets =
            self.choice.targets.iter().map(|&node| (node, vec![0.0; problem.nodes()[node].dim])).collect();
        for (variable, &u) in self.variables.iter().zip(point) {
            let [low, high] = variable.range;
            // Both ends exactly, whatever the rounding.
            let value = if u >= 1.0 { high } else { (low + u * (high - low)).clamp(low, high) };
            match variable.place {
                Place::Target { index, component } => intervention.targets[index].1[component] = value,
                Place::Action(action) => intervention.actions[action] = value,
            }
        }
        intervention
    }

    /// The unit-scaled variables of an intervention of the same choice.
    pub fn point(&self, intervention: &Intervention) -> Vec<f64> {
        let unit = |variable: &Variable| {
            let value = match variable.place {
                Place::Target { index, component } => {
                    intervention.targets.get(index).map_or(0.0, |(_, values)| values[component])
                }
                Place::Action(action) => intervention.actions[action],
            };
            ((value - variable.range[0]) / (variable.range[1] - variable.range[0])).clamp(0.0, 1.0)
        };
        self.variables.iter().map(unit).collect()
    }
}

/// The variables of a choice, with the first one of every target and the one of every free action.
fn variables_of(
    problem: &Problem,
    choice: &Choice,
) -> (Vec<Variable>, Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut variables = Vec::new();
    let mut target_variables = vec![None; problem.nodes().len()];
    for (index, &target) in choice.targets.iter().enumerate() {
        target_variables[target] = Some(variables.len());
        for (component, &range) in problem.nodes()[target].hard.iter().flatten().enumerate() {
            variables.push(Variable { range, place: Place::Target { index, component } });
        }
    }
    let mut action_variables = vec![None; problem.actions().len()];
    for &action in &choice.actions {
        action_variables[action] = Some(variables.len());
        variables.push(Variable { range: problem.actions()[action].range, place: Place::Action(action) });
    }
    (variables, target_variables, action_variables)
}
