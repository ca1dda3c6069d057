//! What can be wrong or odd with a problem, in words a user can act on.

mod found;
mod hint;
mod requirement;
mod warning;

use mcbo_gp::KernelParseError;

use crate::expr::ExprError;
use crate::graph::cycle_text;

pub use found::{Diagnostic, ProblemErrors};
pub use requirement::RequirementFault;
pub use warning::ProblemWarning;

/// A mistake in a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// The file is not TOML.
    #[error("not valid TOML: {message}")]
    Syntax {
        /// What the TOML reader says.
        message: String,
    },
    /// A key or a table is given twice.
    #[error("`{key}` is given twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// There is nothing in the file.
    #[error("the problem file is empty")]
    Empty,
    /// There are no nodes.
    #[error("the problem has no nodes")]
    NoNodes,
    /// A key that means nothing.
    #[error("unknown key `{key}` in {place}")]
    UnknownKey {
        /// The key.
        key: String,
        /// What it was found in.
        place: String,
        /// The known key that looks most like it.
        nearest: Option<&'static str>,
        /// All keys that are known there.
        known: &'static [&'static str],
    },
    /// A value of the wrong type.
    #[error("{what} must be {expected}, found {found}")]
    WrongType {
        /// Whose value it is.
        what: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A name that cannot be used in formulas.
    #[error("`{}` cannot be the name of {what}", name.escape_debug())]
    BadName {
        /// A node or an action.
        what: &'static str,
        /// The name.
        name: String,
        /// Whether the name is taken by a function or a constant of formulas.
        reserved: bool,
    },
    /// The problem's own name is empty.
    #[error("the problem's name is empty")]
    EmptyName,
    /// Two nodes, two actions, or a node and an action share a name.
    #[error("{what} `{name}` has the name of {other}")]
    DuplicateName {
        /// What comes second.
        what: &'static str,
        /// The name.
        name: String,
        /// What comes first.
        other: &'static str,
    },
    /// A node that does not exist.
    #[error("{place} names `{name}`, which is not a node")]
    UnknownNode {
        /// Where it is named.
        place: String,
        /// The name.
        name: String,
        /// The node that was probably meant.
        nearest: Option<String>,
        /// Whether there is an action of this name.
        is_action: bool,
    },
    /// An action that does not exist.
    #[error("`actions` of node `{node}` names `{name}`, which is not an action")]
    UnknownAction {
        /// The node.
        node: String,
        /// The name.
        name: String,
        /// The action that was probably meant.
        nearest: Option<String>,
        /// Whether there is a node of this name.
        is_node: bool,
    },
    /// A name that is listed twice.
    #[error("{place} names `{name}` twice")]
    Repeated {
        /// Where it is named.
        place: String,
        /// The name.
        name: String,
    },
    /// A node that is its own parent.
    #[error("node `{node}` is its own parent")]
    SelfLoop {
        /// The node.
        node: String,
    },
    /// Nodes that are each other's ancestors.
    #[error("the nodes form a cycle: {}", cycle_text(nodes))]
    Cycle {
        /// The nodes in the order of the arrows.
        nodes: Vec<String>,
    },
    /// Nothing says what to optimise.
    #[error("the problem does not say what to optimise")]
    NoReward,
    /// Both `maximize` and `minimize` are given.
    #[error("both `maximize` and `minimize` are given")]
    TwoRewards,
    /// The reward has more than one component.
    #[error("the reward `{node}` has {dim} components")]
    RewardIsVector {
        /// The reward.
        node: String,
        /// Its number of components.
        dim: usize,
    },
    /// The reward can be set.
    #[error("the reward `{node}` has a `do` range")]
    RewardIsSettable {
        /// The reward.
        node: String,
    },
    /// A number that must be finite is not.
    #[error("{what} is {value}, which is not a finite number")]
    NotFinite {
        /// Whose number it is.
        what: String,
        /// The number.
        value: f64,
    },
    /// A number that is too large to compute with.
    #[error("{what} is {value:e}, more than the {most:e} that can be computed with")]
    TooLarge {
        /// Whose number it is.
        what: String,
        /// The number.
        value: f64,
        /// The largest number that may stand there.
        most: f64,
    },
    /// A text that stands in tables has a line break or another control character: the problem's name, a unit.
    #[error("{what} {text:?} has a line break or another control character")]
    ControlInText {
        /// What it is.
        what: String,
        /// The text.
        text: String,
    },
    /// A range whose ends are the wrong way round or equal.
    #[error("{what} goes from {lo} to {hi}")]
    BadRange {
        /// Whose range it is.
        what: String,
        /// Its first end.
        lo: f64,
        /// Its second end.
        hi: f64,
    },
    /// A number of components that no node can have.
    #[error("`dim` of node `{node}` is {found}, which is not between 1 and {limit}")]
    BadDim {
        /// The node.
        node: String,
        /// The number.
        found: i64,
        /// The most components a node can have.
        limit: usize,
    },
    /// A standard deviation that is not positive.
    #[error("the standard deviation of the noise of node `{node}` is {std}")]
    BadNoise {
        /// The node.
        node: String,
        /// The standard deviation.
        std: f64,
    },
    /// A kernel that does not exist.
    #[error("`kernel` of node `{node}`: `{}` is not {}", source.found(), match source {
        KernelParseError::UnknownInput { .. } => "an input of it",
        _ => "a kernel",
    })]
    BadKernel {
        /// The node.
        node: String,
        /// What is wrong with the kernel.
        source: KernelParseError,
    },
    /// A kernel of numbers on a choice, or one of choices on a number.
    #[error("`kernel` of node `{node}`: `{input}` is {}", if *choice { "a choice, which has no numbers" } else { "a number, not a choice" })]
    KernelOfChoice {
        /// The node.
        node: String,
        /// The input.
        input: String,
        /// Whether the input is a choice.
        choice: bool,
    },
    /// A known mechanism with a kernel, which only mechanisms that are learned have.
    #[error("node `{node}` has both a `formula` and a `kernel`")]
    KernelOfFormula {
        /// The node.
        node: String,
    },
    /// Not one value per component.
    #[error("{what} has {found} entries, but node `{node}` has {dim} component(s)")]
    ComponentCount {
        /// What has the entries.
        what: String,
        /// The node.
        node: String,
        /// The node's number of components.
        dim: usize,
        /// The number of entries.
        found: usize,
    },
    /// A formula that cannot be understood.
    #[error("{what}: {error}")]
    Formula {
        /// Whose formula it is.
        what: String,
        /// What is wrong with it.
        error: ExprError,
    },
    /// A formula that reads something the node does not depend on.
    #[error("{what} reads `{name}`, which is not {missing} of node `{node}`")]
    NotAnInput {
        /// Whose formula it is.
        what: String,
        /// The node of the formula.
        node: String,
        /// What it reads.
        name: String,
        /// What it would have to be: a parent or an action.
        missing: &'static str,
    },
    /// A node without a mechanism in the simulator.
    #[error("the simulator says nothing about node `{node}`")]
    NotSimulated {
        /// The node.
        node: String,
        /// Whether the node has a formula, which could have been used if its noise were known.
        has_formula: bool,
    },
    /// A limit that allows no interventions.
    #[error("`max_interventions` is {found}, so no intervention is allowed")]
    BadLimit {
        /// The limit.
        found: i64,
    },
    /// A target set with a node that cannot be set.
    #[error("`sets` names node `{node}`, which cannot be set")]
    NotSettable {
        /// The node.
        node: String,
    },
    /// A list of target sets without any.
    #[error("`sets` is empty, so nothing is allowed")]
    NoSets,
    /// A target set that is larger than the limit on interventions.
    #[error("the set {} has {} targets, but `max_interventions` is {limit}", set_text(set), set.len())]
    SetTooLarge {
        /// The set.
        set: Vec<String>,
        /// The limit.
        limit: usize,
    },
    /// `possibly_optimal` under constraints that make it wrong.
    #[error("`possibly_optimal` cannot be combined with `{with}`")]
    PossiblyOptimalConflict {
        /// The other key.
        with: &'static str,
    },
    /// An action that feeds no node.
    #[error("no node reads action `{action}`")]
    UnusedAction {
        /// The action.
        action: String,
    },
    /// An action without a range.
    #[error("action `{action}` has no `range`")]
    NoRange {
        /// The action.
        action: String,
    },
    /// A step that is not positive, leads out of the range at once or makes more values than can be counted.
    #[error("{what} is {step}, {}", if *step > *width { format!("wider than the range, {width}") } else if *step > 0.0 { "which makes more values than can be counted".into() } else { "which is not a positive number".into() })]
    BadStep {
        /// Whose step it is.
        what: String,
        /// The step.
        step: f64,
        /// The width of the range.
        width: f64,
    },
    /// Steps of a node that cannot be set.
    #[error("node `{node}` has a `step`, but cannot be set")]
    StepWithoutDo {
        /// The node.
        node: String,
    },
    /// `do = true` of a node whose values are numbers.
    #[error("`do` of node `{node}` is true, but its values are numbers")]
    DoWithoutChoices {
        /// The node.
        node: String,
    },
    /// `do` with numbers of a node whose values are names.
    #[error("`do` of node `{node}` has numbers, but its values are names")]
    DoWithNumbers {
        /// The node.
        node: String,
    },
    /// A limit that no outcome can keep.
    #[error("the limit of {place} wants values above {above} and below {below}")]
    EmptyLimit {
        /// The node.
        place: String,
        /// What they are to be above.
        above: f64,
        /// What they are to be below.
        below: f64,
    },
    /// A reward whose values are names.
    #[error("the reward `{node}` has `choices`")]
    RewardIsChoice {
        /// The node.
        node: String,
    },
    /// Choices with a key that numbers have.
    #[error("{place} has both `choices` and a `{key}`")]
    WithChoices {
        /// The action or node.
        place: String,
        /// The other key.
        key: &'static str,
    },
    /// Listed values with a key that ranges have.
    #[error("{place} has both `values` and a `{key}`")]
    WithValues {
        /// The action or node.
        place: String,
        /// The other key.
        key: &'static str,
    },
    /// Fewer values than two.
    #[error("{place} has {}", if *found == 0 { "no value" } else { "one value only" })]
    TooFewValues {
        /// The action or node.
        place: String,
        /// How many.
        found: usize,
    },
    /// Fewer choices than two.
    #[error("{place} has {}", if *found == 0 { "no choice" } else { "one choice only" })]
    TooFewChoices {
        /// The action or node.
        place: String,
        /// How many.
        found: usize,
    },
    /// More choices than a node can have.
    #[error("{place} has {found} choices, more than {most}")]
    TooManyChoices {
        /// The node.
        place: String,
        /// How many.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A name that cannot be written everywhere.
    #[error("{name:?} cannot be a choice of {place}")]
    BadChoice {
        /// The action or node.
        place: String,
        /// The name.
        name: String,
    },
    /// A name that is none of the choices.
    #[error("{what} is {found:?}, which is not one of its choices")]
    UnknownChoice {
        /// Whose value it is.
        what: String,
        /// The name found.
        found: String,
        /// The choice that was probably meant.
        nearest: Option<String>,
        /// All choices.
        known: Vec<String>,
    },
    /// A requirement that makes no sense, or that nothing keeps to.
    #[error("`require` {text:?}: {fault}")]
    Requirement {
        /// The requirement.
        text: String,
        /// What is wrong with it.
        fault: RequirementFault,
    },
    /// A unit without letters.
    #[error("`unit` of {place} is empty")]
    EmptyUnit {
        /// The node or action.
        place: String,
    },
    /// A context that depends on something that is not one.
    #[error("node `{node}` is a context, but reads {what} `{on}`")]
    ContextDepends {
        /// The context.
        node: String,
        /// A node or an action.
        what: &'static str,
        /// What it reads.
        on: String,
    },
    /// A context that can be set.
    #[error("node `{node}` is a context and has a `do` range")]
    ContextIsSettable {
        /// The context.
        node: String,
    },
    /// The reward is a context.
    #[error("the reward `{node}` is a context")]
    RewardIsContext {
        /// The reward.
        node: String,
    },
    /// A probability that is not between 0 and 1.
    #[error("`probability` of the limit of {place} is {found}, which is not between 0 and 1")]
    BadProbability {
        /// The node.
        place: String,
        /// The number.
        found: f64,
    },
    /// A limit on a node that nothing can change.
    #[error("node `{node}` has a `limit`, but {}", match constant {
        true => "it is a constant",
        false => "nothing that is chosen can change it",
    })]
    LimitOfUnmoved {
        /// The node.
        node: String,
        /// Whether it is always the same.
        constant: bool,
    },
    /// A cost that is negative or not finite.
    #[error("{what} is {value}")]
    BadCost {
        /// Whose cost it is.
        what: String,
        /// The number.
        value: f64,
    },
    /// A cost of setting a node that cannot be set.
    #[error("node `{node}` has a `cost`, but cannot be set")]
    CostOfUnset {
        /// The node.
        node: String,
    },
    /// A cost per unit of a node, which has no neutral value to count from.
    #[error("the cost of setting node `{node}` is per unit, but a node has no neutral value to count from")]
    PerUnitOfNode {
        /// The node.
        node: String,
    },
    /// A cost per unit of an action whose values are names.
    #[error(
        "the cost of action `{action}` is per unit, but its values are names, which lie no distance apart"
    )]
    PerUnitOfChoice {
        /// The action.
        action: String,
    },
    /// A scale of ratios with values that have none.
    #[error("action `{action}` has a logarithmic scale, but its range begins at {low}")]
    LogOfNone {
        /// The action.
        action: String,
        /// The lower end of its range.
        low: f64,
    },
    /// Not acting is less than nothing on a scale of ratios.
    #[error("action `{action}` has a logarithmic scale, but its `neutral` is {neutral}")]
    NegativeOnLog {
        /// The action.
        action: String,
        /// Its neutral value.
        neutral: f64,
    },
    /// Even steps on a scale of ratios.
    #[error("action `{action}` has both a `step` and a logarithmic scale")]
    StepOnLog {
        /// The action.
        action: String,
    },
    /// Names that are not proposed any more, of something that has no names.
    #[error("{place} has `retired`, but no `choices`")]
    RetiredWithoutChoices {
        /// The action or node.
        place: String,
    },
    /// Names that are not proposed any more, of a node that is not set.
    #[error("node `{node}` has `retired`, but cannot be set")]
    RetiredOfUnset {
        /// The node.
        node: String,
    },
    /// No name is left.
    #[error("all choices of {place} are retired")]
    AllRetired {
        /// The action or node.
        place: String,
    },
    /// Not acting means a name that is not proposed any more.
    #[error("`neutral` of action `{action}` is \"{neutral}\", which is retired")]
    RetiredNeutral {
        /// The action.
        action: String,
        /// The name.
        neutral: String,
    },
    /// There is nothing to choose.
    #[error("there is nothing to choose: no actions, and no node can be set")]
    NothingToDo,
}

/// `{a, b}`, the way a target set is shown to users.
fn set_text(set: &[String]) -> String {
    format!("{{{}}}", set.join(", "))
}
