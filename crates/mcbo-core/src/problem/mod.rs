//! What is known before the first experiment: nodes, actions, ranges, noise, constraints.
//!
//! A [`Problem`] comes from a TOML file ([`Problem::from_toml`]) or from code ([`Problem::builder`]); both go
//! through the same checks, which find all mistakes at once. After that nothing in it can be invalid.

mod builder;
mod check;
mod choices;
mod costs;
mod diagnostics;
mod draft;
mod grid;
mod limits;
mod parse;
mod render;
mod require;
mod scale;
mod simulator;
#[cfg(test)]
mod tests;

use std::ops::Range;

use mcbo_gp::Kernel;

use crate::expr::Expr;
use crate::graph::Graph;
use crate::intervention::Intervention;
use crate::noise::Noise;

use choices::Listed;
use limits::Guarded;

pub use builder::{NodeBuilder, ProblemBuilder};
pub use choices::{ENUMERATION_LIMIT, enumerate, target_sets};
pub(crate) use choices::{Part, compose, parts};
pub use costs::Cost;
pub use diagnostics::{Diagnostic, ProblemError, ProblemErrors, ProblemWarning, RequirementFault};
pub use draft::Formulas;
pub use grid::Grid;
pub use limits::Limit;
pub use require::Requirement;
pub(crate) use require::{HalfSpace, Projection, project};
pub(crate) use scale::Curve;
pub use scale::Scale;
pub use simulator::Simulator;

/// Whether a large or a small reward is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Large is good.
    Maximize,
    /// Small is good.
    Minimize,
}

/// How the components of a vector node are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Components {
    /// Each for itself.
    #[default]
    Independent,
    /// Together, so that what is seen of one informs the others.
    Coregionalised,
}

/// What experiments are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aim {
    /// To earn while learning: the reward of every trial counts, as in the paper's measure.
    #[default]
    Earn,
    /// To find a good intervention: only the reward of what is recommended in the end counts.
    Find,
}

impl Aim {
    /// The name in problem files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Aim::Earn => "earn",
            Aim::Find => "find",
        }
    }
}

/// The text is no aim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is no aim; hint: \"earn\" (every trial counts) or \"find\" (only the final recommendation does)"
)]
pub struct AimParseError {
    /// The text.
    pub found: String,
}

impl std::str::FromStr for Aim {
    type Err = AimParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = [Aim::Earn, Aim::Find].into_iter().find(|aim| aim.name() == text);
        known.ok_or_else(|| AimParseError { found: text.to_owned() })
    }
}

/// A variable of the system.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Node {
    /// Its name: an identifier that is unique among nodes and actions.
    pub name: String,
    /// The nodes it reads, in the order they were declared.
    pub parents: Vec<usize>,
    /// The actions it reads, in the order they were declared.
    pub actions: Vec<usize>,
    /// The number of its components, at least 1.
    pub dim: usize,
    /// The noise of every component.
    pub noise: Noise,
    /// Where it may be set: one range per component, if it is a target of hard interventions.
    pub hard: Option<Vec<[f64; 2]>>,
    /// The values it may be set to, one grid per component, if it cannot be set to all of its ranges.
    pub grid: Option<Vec<Grid>>,
    /// Its mechanism, one formula per component, if it is known; of a node with names as [`Expr::parse_pick`] has them.
    pub formula: Option<Vec<Expr>>,
    /// The covariance of its mechanism, if the user chose one.
    pub kernel: Option<Kernel>,
    /// How its components are learned.
    pub components: Components,
    /// The values that are usual for every component, if the user declared them: a scale for the model and an axis for pictures.
    pub range: Option<[f64; 2]>,
    /// The unit of its values, for those who read them.
    pub unit: Option<String>,
    /// Whether it is known before anything is decided.
    pub context: bool,
    /// What a single outcome is to keep below or above.
    pub limit: Option<Limit>,
    /// What it costs to set it.
    pub cost: Option<Cost>,
    /// The names of its values, if they are named and not numbers: value 0 is the first, value 1 the second.
    pub choices: Vec<String>,
}

/// The name of a value whose values have these names.
fn name_of(names: &[String], value: f64) -> Option<&str> {
    let named = names.iter().enumerate().find(|(place, _)| *place as f64 == value);
    named.map(|(_, name)| name.as_str())
}

/// The value that a name stands for.
fn place_of(names: &[String], name: &str) -> Option<f64> {
    names.iter().position(|choice| choice == name).map(|place| place as f64)
}

/// The names that are not on the grid of what is proposed.
fn retired<'a>(names: &'a [String], grid: Option<&Grid>) -> Vec<&'a str> {
    let Some(grid) = grid else { return Vec::new() };
    names
        .iter()
        .enumerate()
        .filter(|(place, _)| !grid.holds(*place as f64))
        .map(|(_, name)| name.as_str())
        .collect()
}

impl Node {
    /// The names of its values that it is no longer set to.
    pub fn retired(&self) -> Vec<&str> {
        retired(&self.choices, self.grid.as_ref().and_then(|grids| grids.first()))
    }

    /// Whether its values are names and not numbers.
    pub fn is_choice(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Whether its values are names, and which of them comes depends on other nodes or on actions.
    pub fn is_caused_choice(&self) -> bool {
        self.is_choice() && !(self.parents.is_empty() && self.actions.is_empty())
    }

    /// How many numbers its mechanism gives: one for each component. Where a name has causes, for every name but the last how probable
    /// it is if it is none of those before it.
    pub fn outputs(&self) -> usize {
        if self.is_caused_choice() { self.choices.len() - 1 } else { self.dim }
    }

    /// Its mechanism as it was written, if it is known: one formula per component, or the one that picks a name.
    pub fn formula_texts(&self) -> Option<Vec<&str>> {
        let written = if self.is_choice() { 1 } else { usize::MAX };
        self.formula.as_ref().map(|formulas| formulas.iter().take(written).map(Expr::text).collect())
    }

    /// The name of a value, if its values have names.
    pub fn choice(&self, value: f64) -> Option<&str> {
        name_of(&self.choices, value)
    }

    /// The value that a name stands for, if its values have names.
    pub fn value_of(&self, name: &str) -> Option<f64> {
        place_of(&self.choices, name)
    }
}

/// Something that can be chosen in every trial and that feeds nodes (a soft intervention).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Action {
    /// Its name: an identifier that is unique among nodes and actions.
    pub name: String,
    /// The values it can take.
    pub range: [f64; 2],
    /// The value that means not acting; it may lie outside the range.
    pub neutral: f64,
    /// The values it can take, if not all of the range.
    pub grid: Option<Grid>,
    /// The names of its values, if they are named and not numbers: value 0 is the first, value 1 the second.
    pub choices: Vec<String>,
    /// The unit of its values, for those who read them.
    pub unit: Option<String>,
    /// What it costs to use it.
    pub cost: Option<Cost>,
    /// Whether differences of its values count, or ratios.
    pub scale: Scale,
}

impl Action {
    /// Where its values lie on its scale.
    pub(crate) fn curve(&self) -> Curve {
        Curve::new(self.scale, self.range)
    }

    /// Where a value lies in its range, on its scale: 0 at the lower end, 1 at the upper.
    pub fn share(&self, value: f64) -> f64 {
        let [at, low, high] = [value, self.range[0], self.range[1]].map(|value| self.curve().at(value));
        (at - low) / (high - low)
    }

    /// The value at a share of its range, on its scale.
    pub fn at_share(&self, share: f64) -> f64 {
        let [low, high] = self.range.map(|end| self.curve().at(end));
        self.curve().value(low + (high - low) * share)
    }

    /// Whether two values differ by less than a share of its range, on its scale.
    pub(crate) fn is_near(&self, a: f64, b: f64, share: f64) -> bool {
        let [a, b, low, high] = [a, b, self.range[0], self.range[1]].map(|value| self.curve().at(value));
        (a - b).abs() < share * (high - low)
    }

    /// The names of its values that are no longer proposed.
    pub fn retired(&self) -> Vec<&str> {
        retired(&self.choices, self.grid.as_ref())
    }

    /// Whether its values are names and not numbers.
    pub fn is_choice(&self) -> bool {
        !self.choices.is_empty()
    }

    /// The name of a value, if its values have names.
    pub fn choice(&self, value: f64) -> Option<&str> {
        name_of(&self.choices, value)
    }

    /// The value that a name stands for, if its values have names.
    pub fn value_of(&self, name: &str) -> Option<f64> {
        place_of(&self.choices, name)
    }

    /// Whether it can take a value: one of its range and, if it has steps, of its grid.
    pub fn can_take(&self, value: f64) -> bool {
        (self.range[0]..=self.range[1]).contains(&value)
            && self.grid.as_ref().is_none_or(|grid| grid.holds(value))
    }
}

/// The name of a component of a node: `leaf`, or `leaf[1]` for a vector node.
pub fn slot_name(problem: &Problem, node: usize, component: usize) -> String {
    let Some(node) = problem.nodes().get(node) else { return String::new() };
    if node.dim == 1 { node.name.clone() } else { format!("{}[{component}]", node.name) }
}

/// A checked problem.
///
/// ```
/// use mcbo_core::{Noise, Problem};
/// let problem = Problem::builder("p")
///     .action("a", [0.0, 1.0])
///     .node("x", |n| n.actions(["a"]).noise(Noise::Gaussian(0.1)))
///     .node("y", |n| n.parents(["x"]))
///     .maximize("y")
///     .build()?;
/// assert_eq!(problem.reward(), 1);
/// # Ok::<(), mcbo_core::ProblemErrors>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    name: String,
    graph: Graph,
    nodes: Vec<Node>,
    actions: Vec<Action>,
    /// Where each node's components start in a flat vector, and the total at the end.
    offsets: Vec<usize>,
    reward: usize,
    direction: Direction,
    aim: Aim,
    max_interventions: Option<usize>,
    sets: Option<Vec<Vec<usize>>>,
    possibly_optimal: bool,
    requirements: Vec<Requirement>,
    simulator: Option<Simulator>,
    warnings: Vec<ProblemWarning>,
    listed: Listed,
    /// The graph with a sink for the reward and everything that is limited, if anything is.
    guarded: Option<Guarded>,
}

impl Problem {
    /// Reads a problem file.
    ///
    /// # Errors
    /// All mistakes of the file at once, each with its place.
    ///
    #[doc = include_str!("format.md")]
    pub fn from_toml(text: &str) -> Result<Self, ProblemErrors> {
        parse::parse(text)
    }

    /// Starts a problem in code.
    pub fn builder(name: impl Into<String>) -> ProblemBuilder {
        ProblemBuilder::new(name.into())
    }

    /// The problem's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The causal graph; its nodes have the indices of [`nodes`](Self::nodes).
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// All nodes, in the order they were declared.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All actions, in the order they were declared.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The node that is optimised; it has one component and cannot be set.
    pub fn reward(&self) -> usize {
        self.reward
    }

    /// Whether the reward is maximised or minimised.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The factor that makes large rewards good: 1 to maximise, -1 to minimise.
    pub fn sign(&self) -> f64 {
        match self.direction {
            Direction::Maximize => 1.0,
            Direction::Minimize => -1.0,
        }
    }

    /// What the experiments are for.
    pub fn aim(&self) -> Aim {
        self.aim
    }

    /// How many hard targets and actions away from neutral one trial may have (`eq:cardinality_constraints`).
    pub fn max_interventions(&self) -> Option<usize> {
        self.max_interventions
    }

    /// The target sets the user allows, if restricted: sorted node indices, no set twice.
    pub fn sets(&self) -> Option<&[Vec<usize>]> {
        self.sets.as_deref()
    }

    /// Whether only sets that can be best are to be considered, instead of all minimal sets.
    pub fn possibly_optimal(&self) -> bool {
        self.possibly_optimal
    }

    /// What the values of actions must keep to.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The nodes that can be set, in increasing order.
    pub fn settable(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&node| self.nodes[node].hard.is_some()).collect()
    }

    /// The simulator, if the problem has one.
    pub fn simulator(&self) -> Option<&Simulator> {
        self.simulator.as_ref()
    }

    /// The total number of components of all nodes.
    pub fn slots(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Where a node's components live in a flat vector of [`slots`](Self::slots) values.
    pub fn slot(&self, node: usize) -> Range<usize> {
        self.offsets[node]..self.offsets[node + 1]
    }

    /// The node with this name.
    pub fn node_index(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// The action with this name.
    pub fn action_index(&self, name: &str) -> Option<usize> {
        self.actions.iter().position(|action| action.name == name)
    }

    /// Whether there are names to decide between: of an action, or of a node that can be set.
    pub fn decides_names(&self) -> bool {
        self.actions.iter().any(Action::is_choice)
            || self.nodes.iter().any(|node| node.is_choice() && node.hard.is_some())
    }

    /// The names of the values of a node or an action, none if they are numbers; `do(node)` is the node.
    pub fn names_of(&self, name: &str) -> &[String] {
        let name = name.strip_prefix("do(").and_then(|inner| inner.strip_suffix(')')).unwrap_or(name);
        match (self.node_index(name), self.action_index(name)) {
            (Some(node), _) => &self.nodes[node].choices,
            (None, Some(action)) => &self.actions[action].choices,
            (None, None) => &[],
        }
    }

    /// The name of a value of a node or an action, as [`Self::names_of`] has them; none if it is a number.
    pub fn name_of(&self, name: &str, value: f64) -> Option<&str> {
        name_of(self.names_of(name), value)
    }

    /// A value of a node or an action as people write it: its name if it has one, else the number.
    pub(crate) fn said(&self, name: &str, value: f64) -> String {
        self.name_of(name, value).map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The places among a node's inputs of those whose values are names.
    pub(crate) fn named_inputs(&self, node: usize) -> Vec<usize> {
        let node = &self.nodes[node];
        let parents = node.parents.iter().map(|&parent| &self.nodes[parent]);
        let parents = parents.flat_map(|parent| std::iter::repeat_n(parent.is_choice(), parent.dim));
        let actions = node.actions.iter().map(|&action| self.actions[action].is_choice());
        parents.chain(actions).enumerate().filter_map(|(place, named)| named.then_some(place)).collect()
    }

    /// How many numbers a node's mechanism reads: the components of its parents in their order, then its actions.
    pub fn input_dim(&self, node: usize) -> usize {
        let node = &self.nodes[node];
        node.parents.iter().map(|&parent| self.nodes[parent].dim).sum::<usize>() + node.actions.len()
    }

    /// Gathers the inputs of a node's mechanism from the values of all nodes and actions.
    ///
    /// `inputs` is cleared first; its length becomes [`input_dim`](Self::input_dim).
    pub fn gather_inputs(&self, node: usize, values: &[f64], actions: &[f64], inputs: &mut Vec<f64>) {
        inputs.clear();
        for &parent in &self.nodes[node].parents {
            inputs.extend_from_slice(&values[self.slot(parent)]);
        }
        inputs.extend(self.nodes[node].actions.iter().map(|&action| actions[action]));
    }

    /// What is odd about the problem without being wrong.
    pub fn warnings(&self) -> &[ProblemWarning] {
        &self.warnings
    }

    /// Doing nothing: no targets, every action neutral.
    pub fn neutral_intervention(&self) -> Intervention {
        Intervention {
            targets: Vec::new(),
            actions: self.actions.iter().map(|action| action.neutral).collect(),
        }
    }
}
