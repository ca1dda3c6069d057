//! Which nodes a rollout visits under a target set, and what each reads.

use std::ops::Range;

use crate::decision::{DecisionSpace, Place};
use crate::optimism::Optimism;
use crate::{Choice, Noise, Problem};

use super::{Mechanism, Network};

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
    /// Numbers that its mechanism gives: its components, or where its name has causes the probabilities that decide it.
    pub outputs: usize,
    /// How many names it has, where its name has causes.
    pub names: Option<usize>,
    /// The steps above it whose names have causes, its own among them.
    pub named: Vec<usize>,
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

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The reward, by the mechanisms above it.
    Reward,
    /// The reward and what it depends on, all of them uncertain.
    Prediction,
    /// Every node, all of them uncertain.
    EveryNode,
    /// The nodes that have limits and what they depend on, all of them uncertain.
    Limits,
}

/// The way through the graph for one [`Choice`]: nodes that matter to the reward, in topological order, the reward
/// last, and the layout of the decision vector: unit-scaled variables first, then the parameters of `η`.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) space: DecisionSpace,
    pub(crate) steps: Vec<Step>,
    pub(crate) noise_kinds: Vec<Noise>,
    pub(crate) optimism: Optimism,
    pub(crate) sign: f64,
    dim: usize,
}

impl Plan {
    /// Plans the rollout of a choice.
    pub fn new(problem: &Problem, network: &Network, choice: &Choice, optimism: Optimism) -> Self {
        Self::build(problem, network, choice, optimism, Reach::Reward)
    }

    /// A plan whose `η` are one number per node and component, the reward's included, for predictions.
    pub(crate) fn for_prediction(problem: &Problem, network: &Network, choice: &Choice) -> Self {
        Self::build(problem, network, choice, Optimism::Constant, Reach::Prediction)
    }

    /// The same with all nodes that have a mechanism, those among them that no longer reach the reward because what they act on is
    /// set.
    pub(crate) fn for_every_node(problem: &Problem, network: &Network, choice: &Choice) -> Self {
        Self::build(problem, network, choice, Optimism::Constant, Reach::EveryNode)
    }

    /// A plan for predictions of the nodes that have limits.
    pub(crate) fn for_limits(problem: &Problem, network: &Network, choice: &Choice) -> Self {
        Self::build(problem, network, choice, Optimism::Constant, Reach::Limits)
    }

    fn build(
        problem: &Problem,
        network: &Network,
        choice: &Choice,
        optimism: Optimism,
        reach: Reach,
    ) -> Self {
        let reward = problem.reward();
        // Mechanisms are those of the reward and of its ancestors in the whole graph, so that the reward comes last either way.
        let relevant = match reach {
            Reach::Reward | Reach::Prediction => problem.graph().ancestors_cut(reward, &choice.targets),
            Reach::EveryNode => vec![true; problem.nodes().len()],
            Reach::Limits => {
                let mut relevant = vec![false; problem.nodes().len()];
                for limited in problem.limited() {
                    let ancestors = problem.graph().ancestors_cut(limited, &choice.targets);
                    relevant.iter_mut().zip(ancestors).for_each(|(known, more)| *known |= more);
                }
                relevant
            }
        };
        let space = DecisionSpace::new(problem, choice);
        let mut dim = space.dim();
        let (mut steps, mut noise_kinds): (Vec<Step>, Vec<Noise>) = (Vec::new(), Vec::new());
        let mut step_of = vec![None; problem.nodes().len()];
        for &node in problem.graph().order() {
            let known = choice.targets.contains(&node) || network.given.of(node).is_some();
            let (true, false, Some(model)) = (relevant[node], known, &network.nodes[node]) else {
                continue;
            };
            let declared = &problem.nodes()[node];
            let mut sources = Vec::with_capacity(model.inputs.len());
            let (mut varies, mut named): (bool, Vec<usize>) = (false, Vec::new());
            for &parent in &declared.parents {
                for component in 0..problem.nodes()[parent].dim {
                    let place = Place::Target { node: parent, component };
                    let given = network.given.of(parent).map(|values| values[component]);
                    sources.push(match (space.position(place), step_of[parent]) {
                        (Some(variable), _) => Source::Variable(variable),
                        (None, None) if let Some(value) = given => Source::Constant(value),
                        (None, Some(step)) => {
                            let read: &Step = &steps[step];
                            varies |= read.varies || read.noisy;
                            for step in &read.named {
                                if !named.contains(step) {
                                    named.push(*step);
                                }
                            }
                            Source::Computed(step, component)
                        }
                        // Ancestors of a relevant node are relevant: only a programming error comes here.
                        (None, None) => Source::Constant(0.0),
                    });
                }
            }
            sources.extend(
                declared.actions.iter().map(|&action| source_of(problem, &space, Place::Action(action))),
            );
            // The noise of what nothing reads is not realised.
            let read = match reach {
                Reach::Limits => problem.graph().children(node).iter().any(|&child| relevant[child]),
                _ => node != reward,
            };
            let noisy = read && model.noise.iter().any(|noise| *noise != Noise::None);
            let noise_row = noise_kinds.len();
            if noisy {
                noise_kinds.extend(&model.noise);
            }
            let learned = matches!(model.mechanism, Mechanism::Learned(_));
            let parameters = if learned && (node != reward || reach != Reach::Reward) {
                optimism.parameters(sources.len(), declared.outputs())
            } else {
                0
            };
            let names = declared.is_caused_choice().then_some(declared.choices.len());
            named.extend(names.map(|_| steps.len()));
            step_of[node] = Some(steps.len());
            steps.push(Step {
                node,
                dim: sources.len(),
                components: declared.dim,
                outputs: declared.outputs(),
                names,
                named,
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
        debug_assert!(
            reach == Reach::Limits
                || problem.has_limits()
                || steps.last().map(|step| step.node) == Some(reward)
        );
        Self { space, steps, noise_kinds, optimism, sign: problem.sign(), dim }
    }

    /// A plan of one step that computes the reward straight from the decided values, the targets' components first and
    /// then all actions that reach the reward: the graph left out.
    pub(crate) fn direct(problem: &Problem, choice: &Choice) -> Self {
        let space = DecisionSpace::new(problem, choice);
        let read = DecisionSpace::of_targets(problem, choice.targets.clone());
        let read = read.variables().iter().map(|variable| variable.place);
        let sources: Vec<Source> = read.map(|place| source_of(problem, &space, place)).collect();
        let dim = space.dim();
        let step = Step {
            node: problem.reward(),
            dim: sources.len(),
            components: 1,
            outputs: 1,
            names: None,
            named: Vec::new(),
            sources,
            varies: false,
            noisy: false,
            noise_row: 0,
            eta: dim..dim,
        };
        Self {
            space,
            steps: vec![step],
            noise_kinds: Vec::new(),
            optimism: Optimism::Constant,
            sign: problem.sign(),
            dim,
        }
    }

    /// What the choice leaves to decide.
    pub fn space(&self) -> &DecisionSpace {
        &self.space
    }

    /// Length of the decision vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of decided variables, at the front of the decision vector.
    pub fn decisions(&self) -> usize {
        self.space.dim()
    }

    /// Whether a node of it depends on the noise of another, so that expectations need samples: the reward then does too where all
    /// nodes matter to it.
    pub fn is_noisy(&self) -> bool {
        self.steps.iter().any(|step| step.varies)
    }

    /// Bounds of the decision vector.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let ((mut lower, mut upper), bound) = (self.space.bounds(), self.optimism.bound());
        lower.resize(self.dim, -bound);
        upper.resize(self.dim, bound);
        (lower, upper)
    }
}

/// Where the value at a place comes from that is decided, or is what it is when nothing is done.
fn source_of(problem: &Problem, space: &DecisionSpace, place: Place) -> Source {
    let neutral = match place {
        Place::Action(action) => problem.actions()[action].neutral,
        Place::Target { .. } => 0.0,
    };
    space.position(place).map_or(Source::Constant(neutral), Source::Variable)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::testing::{settings, system};

    fn network(noise: Noise) -> (Problem, Network) {
        let (problem, data) = system(noise);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network = Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng);
        (problem, network.expect("a fit"))
    }

    fn choice(targets: &[usize], actions: &[usize]) -> Choice {
        Choice { targets: targets.to_vec(), actions: actions.to_vec() }
    }

    /// The system is x(a), z(x, b), y(x, z) with x and z settable.
    #[test]
    fn every_input_comes_from_its_place() {
        use Source::{Computed, Constant, Variable};
        let (problem, network) = network(Noise::Gaussian(0.1));
        let sources = |targets: &[usize], actions: &[usize]| -> Vec<(usize, Vec<Source>)> {
            let plan = Plan::new(&problem, &network, &choice(targets, actions), Optimism::Constant);
            plan.steps.iter().map(|step| (step.node, step.sources.clone())).collect()
        };
        let neutral: Vec<f64> = problem.actions().iter().map(|action| action.neutral).collect();
        let (x, z) = (Computed(0, 0), Computed(1, 0));
        assert_eq!(
            sources(&[], &[0, 1]),
            [(0, vec![Variable(0)]), (1, vec![x, Variable(1)]), (2, vec![x, z])]
        );
        assert_eq!(
            sources(&[], &[1]),
            [(0, vec![Constant(neutral[0])]), (1, vec![x, Variable(0)]), (2, vec![x, z])]
        );
        // Targets come first among the variables, and their own mechanisms are left out.
        assert_eq!(sources(&[1], &[0]), [(0, vec![Variable(1)]), (2, vec![x, Variable(0)])]);
        assert_eq!(
            sources(&[0], &[]),
            [(1, vec![Variable(0), Constant(neutral[1])]), (2, vec![Variable(0), Computed(0, 0)])]
        );
        assert_eq!(sources(&[0, 1], &[]), [(2, vec![Variable(0), Variable(1)])]);
    }

    #[test]
    fn the_decision_vector_is_laid_out_without_gaps() {
        let (problem, network) = network(Noise::Gaussian(0.1));
        for choice in problem.choices().expect("few choices") {
            for optimism in [Optimism::Constant, Optimism::Affine, Optimism::Network { hidden: 2 }] {
                let plan = Plan::new(&problem, &network, choice, optimism);
                let mut next = plan.decisions();
                for step in &plan.steps {
                    let parameters = if step.node == problem.reward() {
                        0
                    } else {
                        optimism.parameters(step.dim, step.components)
                    };
                    assert_eq!(step.eta, next..next + parameters);
                    next += parameters;
                }
                assert_eq!((next, plan.bounds().0.len()), (plan.dim(), plan.dim()));
                let prediction = Plan::for_prediction(&problem, &network, choice);
                assert_eq!(prediction.dim(), prediction.decisions() + prediction.steps.len());
            }
        }
    }

    /// Only noise of nodes above the reward that are not set makes the expectation a matter of samples.
    #[test]
    fn noise_matters_where_it_is_realised() {
        for (noise, noisy) in [(Noise::None, false), (Noise::Gaussian(0.1), true)] {
            let (problem, network) = network(noise);
            let is_noisy = |targets: &[usize]| {
                Plan::new(&problem, &network, &choice(targets, &[]), Optimism::Constant).is_noisy()
            };
            assert_eq!([is_noisy(&[]), is_noisy(&[0]), is_noisy(&[1])], [noisy; 3]);
            assert!(!is_noisy(&[0, 1]));
        }
    }
}
