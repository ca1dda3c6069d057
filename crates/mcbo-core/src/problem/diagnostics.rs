//! What can be wrong or odd with a problem, in words a user can act on.

use std::fmt;
use std::ops::Range;

use mcbo_gp::KernelParseError;

use crate::expr::ExprError;
use crate::graph::cycle_text;

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
    /// The problem's name has a line break or another control character.
    #[error("the problem's name {name:?} has a line break or another control character")]
    ControlInName {
        /// The name.
        name: String,
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
    /// A step that is not positive or leads out of the range at once.
    #[error("{what} is {step}, {}", if *step > *width { format!("wider than the range, {width}") } else { "which is not a positive number".into() })]
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
    /// A node with choices, which only actions have.
    #[error("node `{node}` has `choices`, but only actions can be one of several names")]
    ChoicesOfNode {
        /// The node.
        node: String,
    },
    /// An action with choices and a key that numbers have.
    #[error("action `{action}` has both `choices` and a `{key}`")]
    WithChoices {
        /// The action.
        action: String,
        /// The other key.
        key: &'static str,
    },
    /// Fewer choices than two.
    #[error("action `{action}` has {found} choice(s)")]
    TooFewChoices {
        /// The action.
        action: String,
        /// How many.
        found: usize,
    },
    /// A name that cannot be written everywhere.
    #[error("{name:?} cannot be a choice of action `{action}`")]
    BadChoice {
        /// The action.
        action: String,
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
    /// There is nothing to choose.
    #[error("there is nothing to choose: no actions, and no node can be set")]
    NothingToDo,
}

/// `{a, b}`, the way a target set is shown to users.
fn set_text(set: &[String]) -> String {
    format!("{{{}}}", set.join(", "))
}

impl ProblemError {
    /// How to mend it, when there is an idea.
    pub fn hint(&self) -> Option<String> {
        let did_you_mean = |nearest: &str| format!("did you mean `{nearest}`?");
        let hint = match self {
            Self::Syntax { .. } => return None,
            Self::DuplicateKey { .. } => "remove or rename one of them".to_owned(),
            Self::Empty => "start from a template; `maximize` and one `[nodes.NAME]` table are the least".to_owned(),
            Self::NoNodes => "add a table `[nodes.NAME]` for every variable".to_owned(),
            Self::UnknownKey { nearest: Some(nearest), .. } => did_you_mean(nearest),
            Self::UnknownKey { known, .. } => format!("known here: {}", known.join(", ")),
            Self::WrongType { .. } => return None,
            Self::BadName { reserved: true, .. } => "formulas use this name already; choose another".to_owned(),
            Self::BadName { .. } => {
                "names are made of letters a-z, digits and underscores, and do not start with a digit".to_owned()
            }
            Self::EmptyName => "write `name = \"...\"` or leave it out".to_owned(),
            Self::DuplicateName { .. } => "names are shared by nodes and actions; rename one of them".to_owned(),
            Self::UnknownNode { name, is_action: true, .. } => {
                format!("`{name}` is an action; actions are listed under `actions` of the nodes they feed")
            }
            Self::UnknownNode { nearest: Some(nearest), .. } => did_you_mean(nearest),
            Self::UnknownNode { name, .. } => format!("add a table `[nodes.{name}]` or remove the name"),
            Self::UnknownAction { name, is_node: true, .. } => {
                format!("`{name}` is a node; nodes are listed under `parents`")
            }
            Self::UnknownAction { nearest: Some(nearest), .. } => did_you_mean(nearest),
            Self::UnknownAction { name, .. } => {
                format!("add a table `[actions.{name}]` with a `range`, or remove the name")
            }
            Self::Repeated { .. } => "name it once".to_owned(),
            Self::SelfLoop { .. } => "a value that depends on its own past is two nodes, before and after".to_owned(),
            Self::Cycle { .. } => "remove one of these parents; causes come before their effects".to_owned(),
            Self::NoReward => "write `maximize = \"NODE\"` or `minimize = \"NODE\"` at the top".to_owned(),
            Self::TwoRewards => "keep one of them".to_owned(),
            Self::RewardIsVector { .. } => {
                "add a scalar node that reads it, with a `formula` that says what is good".to_owned()
            }
            Self::RewardIsSettable { .. } => "what is optimised cannot be set; remove `do`".to_owned(),
            Self::NotFinite { .. } => "write a number that bounds what can happen".to_owned(),
            Self::TooLarge { .. } => "give it in a larger unit".to_owned(),
            Self::ControlInName { .. } => "give a name that fits in one line".to_owned(),
            Self::BadRange { lo, hi, .. } if lo > hi => format!("write [{hi}, {lo}], the smaller end first"),
            Self::BadRange { .. } => "the second end must be larger than the first".to_owned(),
            Self::BadDim { .. } => "leave `dim` out for a plain number".to_owned(),
            Self::BadNoise { std, .. } if *std == 0.0 => "write `noise = \"none\"`".to_owned(),
            Self::BadNoise { .. } => "a standard deviation is a positive number".to_owned(),
            Self::BadKernel { source, .. } => source.hint(),
            Self::KernelOfChoice { input, choice: true, .. } => {
                format!("write choice({input}), as in se(dose) * choice({input})")
            }
            Self::KernelOfChoice { input, .. } => format!("write se({input}) or another kernel of numbers"),
            Self::KernelOfFormula { .. } => {
                "a formula is used as it is and not learned; remove one of the two".to_owned()
            }
            Self::ComponentCount { dim: 1, .. } => "write it without the array, or set `dim`".to_owned(),
            Self::ComponentCount { dim, .. } => format!("write an array of {dim}, one for each component"),
            Self::Formula { error, .. } => return error.hint(),
            Self::NotAnInput { node, name, .. } if node == name => "a node cannot read itself".to_owned(),
            Self::NotAnInput { node, name, missing: "a parent", .. } => {
                format!("add `{name}` to `parents` of node `{node}`")
            }
            Self::NotAnInput { node, name, .. } => format!("add `{name}` to `actions` of node `{node}`"),
            Self::NotSimulated { node, has_formula: true } => {
                format!("write its formula and noise under `[simulator]`, or give node `{node}` a known `noise`")
            }
            Self::NotSimulated { node, .. } => format!("add `{node} = \"...\"` under `[simulator]`"),
            Self::BadLimit { .. } => "write at least 1, or leave it out for no limit".to_owned(),
            Self::NotSettable { node } => format!("add `do = [LOW, HIGH]` to node `{node}`"),
            Self::NoSets => "write `sets = [[]]` to set no node, or leave it out".to_owned(),
            Self::SetTooLarge { .. } => "raise the limit or remove the set".to_owned(),
            Self::PossiblyOptimalConflict { .. } => {
                "the sets it leaves out can be the best ones of those that are allowed; remove one of the two"
                    .to_owned()
            }
            Self::UnusedAction { action } => {
                format!("add `actions = [\"{action}\"]` to the nodes it feeds, or remove it")
            }
            Self::NoRange { .. } => "write `range = [LOW, HIGH]`".to_owned(),
            Self::BadStep { step, width, .. } if step > width => {
                "a step leads from one value to the next; make it smaller or the range wider".to_owned()
            }
            Self::BadStep { .. } => "write the distance from one value to the next, or leave it out".to_owned(),
            Self::StepWithoutDo { node } => format!("add `do = [LOW, HIGH]` to node `{node}`, or remove `step`"),
            Self::ChoicesOfNode { node } => {
                format!("make it an action: a table `[actions.{node}]` with `choices`, listed under `actions` of the nodes that read it")
            }
            Self::WithChoices { key, .. } => format!("choices have names and no numbers; remove `{key}` or `choices`"),
            Self::TooFewChoices { .. } => "name at least two, as in `choices = [\"wild\", \"mutant\"]`".to_owned(),
            Self::BadChoice { .. } => {
                "a name is not empty, does not begin or end with space, and has no commas, quotes or equal signs".to_owned()
            }
            Self::UnknownChoice { nearest: Some(nearest), .. } => did_you_mean(nearest),
            Self::UnknownChoice { known, .. } => format!("its choices are {}", known.join(", ")),
            Self::Requirement { fault, .. } => return fault.hint(),
            Self::EmptyUnit { .. } => "write what its values are counted in, as in `unit = \"g/l\"`, or leave it out".to_owned(),
            Self::ContextDepends { .. } => {
                "a context is known before anything is decided: it reads other contexts only; remove one of the two".to_owned()
            }
            Self::ContextIsSettable { .. } => {
                "what can be set is decided, not known beforehand; remove one of the two".to_owned()
            }
            Self::RewardIsContext { .. } => "what is optimised is not known beforehand; remove `context`".to_owned(),
            Self::BadProbability { .. } => "write a number such as 0.95: nothing noisy is ever certain".to_owned(),
            Self::LimitOfUnmoved { .. } => {
                "limits are for what actions or set nodes act on; remove it, or draw the arrows that are missing".to_owned()
            }
            Self::BadCost { .. } => "write a finite number, 0 or more".to_owned(),
            Self::CostOfUnset { node } => {
                format!("add `do = [LOW, HIGH]` to node `{node}`, or give the cost to an action")
            }
            Self::PerUnitOfNode { .. } => "write `cost = { fixed = COST }`".to_owned(),
            Self::NothingToDo => {
                "give a node `do = [LOW, HIGH]`, or add an action under `[actions.NAME]` and to a node's `actions`"
                    .to_owned()
            }
        };
        Some(hint)
    }
}

/// What is wrong with a requirement on the values of actions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementFault {
    /// Nothing is compared.
    #[error("it compares nothing")]
    NoComparison,
    /// Two sides that must be equal, or more than two.
    #[error("only `<=` and `>=` can be required, once each")]
    Equality,
    /// A side is no formula.
    #[error(transparent)]
    Formula(ExprError),
    /// A name that stands for no number that is chosen.
    #[error("`{name}` is {what}")]
    NotANumber {
        /// The name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// It is no weighted sum.
    #[error("it is not linear")]
    NotLinear,
    /// It says nothing about an action.
    #[error("it depends on no action")]
    NoAction,
    /// No values within the ranges keep to it.
    #[error("no values of the actions keep to it: they miss it by at least {by}")]
    NeverKept {
        /// By how much it is missed.
        by: f64,
    },
    /// Each can be kept to, but not all.
    #[error("nothing keeps to all requirements together")]
    NothingKeeps,
    /// Not acting is not allowed.
    #[error("the neutral values break it by {excess}")]
    NeutralBreaks {
        /// By how much.
        excess: f64,
    },
}

impl RequirementFault {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoComparison => "write two sides, as in \"dose1 + dose2 <= 120\"",
            Self::Equality => {
                "write two requirements for two ends; leave out an action that follows from the others, and let a node's `formula` compute it"
            }
            Self::Formula(error) => return error.hint(),
            Self::NotANumber { what: "a node", .. } => {
                "requirements are between actions, whose values are chosen; a node's values follow"
            }
            Self::NotANumber { .. } => "its values are names, which cannot be added; leave it out",
            Self::NotLinear => "add up actions, each times a number, as in \"2 * dose1 - dose2 <= 30\"",
            Self::NoAction => "name actions, as in \"dose1 + dose2 <= 120\"",
            Self::NeverKept { .. } => "mend it, or widen the ranges",
            Self::NothingKeeps => "remove or mend one of them",
            Self::NeutralBreaks { .. } => {
                "not acting must be possible: give the actions `neutral` values that keep to it"
            }
        };
        Some(hint.to_owned())
    }
}

/// A mistake and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// What is wrong.
    pub error: ProblemError,
    /// The bytes of the file that are wrong, if the problem came from a file.
    pub span: Option<Range<usize>>,
}

impl Diagnostic {
    /// What is wrong, in words.
    pub fn message(&self) -> String {
        self.error.to_string()
    }

    /// How to mend it, when there is an idea.
    pub fn hint(&self) -> Option<String> {
        self.error.hint()
    }
}

/// All mistakes of a problem, in the order of the file; never empty.
///
/// Its display form is what [`render`](Self::render) gives for a file called `problem`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemErrors {
    pub(super) errors: Vec<Diagnostic>,
    pub(super) source: Option<String>,
}

impl ProblemErrors {
    pub(super) fn new(mut errors: Vec<Diagnostic>, source: Option<String>) -> Self {
        errors.sort_by_key(|error| error.span.as_ref().map_or(usize::MAX, |span| span.start));
        Self { errors, source }
    }

    /// All mistakes, those with a place in the order of the file.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }
}

impl fmt::Display for ProblemErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render("problem").trim_end())
    }
}

impl std::error::Error for ProblemErrors {}

/// Something odd about a problem that is not wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemWarning {
    /// A node that cannot change the reward.
    #[error("node `{node}` has no path to the reward; what is observed of it does not help")]
    NodeWithoutEffect {
        /// The node.
        node: String,
    },
    /// An action that cannot change the reward.
    #[error("action `{action}` feeds only nodes without a path to the reward; choosing it does nothing")]
    ActionWithoutEffect {
        /// The action.
        action: String,
    },
    /// A target set with members that do nothing while the others are set.
    #[error("the set {} does no more than {}", set_text(set), set_text(enough))]
    SetNotMinimal {
        /// The set.
        set: Vec<String>,
        /// The members that have an effect.
        enough: Vec<String>,
    },
    /// A target set that is listed twice.
    #[error("the set {} is listed twice", set_text(set))]
    RepeatedSet {
        /// The set.
        set: Vec<String>,
    },
    /// A limit on interventions that is never reached.
    #[error("`max_interventions` is {limit}, but nodes to set and actions together are only {available}")]
    LimitWithoutEffect {
        /// The limit.
        limit: usize,
        /// How many nodes can be set, plus how many actions there are.
        available: usize,
    },
    /// Uniform noise whose mean is not zero.
    #[error("the noise of node `{node}` has mean {mean}, not 0; the mechanism is learned without it")]
    NoiseNotCentred {
        /// The node.
        node: String,
        /// The mean of the noise.
        mean: f64,
    },
    /// A choice about components for a node that has one.
    #[error("`components` of node `{node}` does nothing, because it has one component")]
    ComponentsOfScalar {
        /// The node.
        node: String,
    },
    /// A declared range of values that does not hold the values the node can be set to.
    #[error("node `{node}` can be set outside its declared `range`")]
    SetOutsideRange {
        /// The node.
        node: String,
    },
}
