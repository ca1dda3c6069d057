//! How mistakes are mended.

use super::ProblemError;

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
            Self::ControlInText { .. } => "give one that fits in one line".to_owned(),
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
            Self::DoWithoutChoices { .. } => "write `do = [LOW, HIGH]`, or `choices = [\"one\", \"other\"]` beside it".to_owned(),
            Self::DoWithNumbers { .. } => "write `do = true`: it may be set to any of its names".to_owned(),
            Self::RewardIsChoice { .. } => "names have no order; optimise a node whose values are numbers".to_owned(),
            Self::TooManyChoices { .. } => "put those together that are alike, or describe them by numbers".to_owned(),
            Self::EmptyLimit { .. } => "`above` must be smaller than `below`: outcomes are to lie between them".to_owned(),
            Self::WithChoices { key: key @ ("formula" | "kernel"), .. } => {
                format!("nothing causes it, and how often each name comes is learned; remove `{key}`, or name what it depends on")
            }
            Self::WithChoices { key, .. } => format!("choices have names and no numbers; remove `{key}` or `choices`"),
            Self::WithValues { key, .. } => format!("it takes the listed values and no others; remove `{key}` or `values`"),
            Self::TooFewValues { .. } => "list at least two, as in `values = [20, 30, 45]`; what is always the same needs no action".to_owned(),
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
            Self::PerUnitOfNode { .. } | Self::PerUnitOfChoice { .. } => "write `cost = { fixed = COST }`".to_owned(),
            Self::LogOfNone { .. } => {
                "ratios need values above 0; begin the range above it, and write `neutral = 0` if not acting means none".to_owned()
            }
            Self::NegativeOnLog { .. } => "ratios have no values below 0; write `neutral = 0` for none at all".to_owned(),
            Self::StepOnLog { .. } => "list the values, as in `values = [1, 3, 10, 30]`, or remove one of the two".to_owned(),
            Self::RetiredWithoutChoices { .. } => {
                "only names are retired; make the range narrower, or take values from the list".to_owned()
            }
            Self::RetiredOfUnset { .. } => "nothing proposes its names; remove `retired`".to_owned(),
            Self::AllRetired { .. } => "leave at least one that may be proposed".to_owned(),
            Self::RetiredNeutral { .. } => "choose another `neutral`, one of those that are left".to_owned(),
            Self::NothingToDo => {
                "give a node `do = [LOW, HIGH]`, or add an action under `[actions.NAME]` and to a node's `actions`"
                    .to_owned()
            }
        };
        Some(hint)
    }
}
