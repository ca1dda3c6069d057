//! What is wrong with a formula, where, and how to mend it.

use std::ops::Range;

/// A mistake in a formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct ExprError {
    /// The bytes of the formula that are wrong.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub kind: ExprErrorKind,
}

impl ExprError {
    /// How to mend it, when there is an idea.
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

/// The kinds of mistakes in formulas.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExprErrorKind {
    /// Nothing but space.
    #[error("the formula is empty")]
    Empty,
    /// More bytes than any formula needs.
    #[error("the formula has {len} bytes, more than {limit}")]
    TooLong {
        /// The length of the formula.
        len: usize,
        /// The greatest length that is accepted.
        limit: usize,
    },
    /// Parentheses, signs or powers nested beyond the limit.
    #[error("the formula is nested more than {limit} levels deep")]
    TooDeep {
        /// The deepest nesting that is accepted.
        limit: usize,
    },
    /// A character that means nothing in formulas.
    #[error("`{}` does not belong in a formula", found.escape_debug())]
    UnexpectedCharacter {
        /// The character.
        found: char,
    },
    /// Digits that are not a number.
    #[error("`{text}` is not a number")]
    BadNumber {
        /// What stands where the number should.
        text: String,
    },
    /// A name that is no input and no constant.
    #[error("unknown name `{name}`")]
    UnknownName {
        /// The name.
        name: String,
        /// The known name that looks most like it.
        nearest: Option<String>,
        /// All names that could be read here.
        known: Vec<String>,
    },
    /// A call of something that is not a function.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The function that was probably meant.
        nearest: Option<String>,
    },
    /// A function without its arguments.
    #[error("`{name}` is a function and needs its arguments")]
    FunctionWithoutCall {
        /// The function.
        name: String,
    },
    /// Too many or too few arguments.
    #[error("`{function}` takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// How many arguments it takes, in words.
        expected: &'static str,
        /// How many were written.
        found: usize,
    },
    /// Something else was expected here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would have made sense.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Randomness where only a fixed function makes sense.
    #[error("`{function}` draws a random number, which is not allowed here")]
    RandomNotAllowed {
        /// The function.
        function: &'static str,
    },
    /// A choice used as if it were a number.
    #[error("`{name}` is a choice, whose values are names")]
    NeedsComparison {
        /// The choice.
        name: String,
        /// The first of its names.
        first: String,
    },
    /// A name that is none of the choices.
    #[error("{found:?} is not one of the choices of `{name}`")]
    NotAChoice {
        /// The choice.
        name: String,
        /// The name found.
        found: String,
        /// The one that was probably meant.
        nearest: Option<String>,
        /// Its choices.
        known: Vec<String>,
    },
    /// Names are drawn by `pick` alone.
    #[error("the formula of `{node}` gives no name")]
    NotAPick {
        /// The node.
        node: String,
        /// The first of its names.
        first: String,
    },
    /// `pick` within another formula, or of a node that has no names.
    #[error("`pick` draws a name, which is no number to compute with")]
    PickNotAlone,
    /// A name that has two weights.
    #[error("`{name}` has two weights")]
    PickedTwice {
        /// The name.
        name: String,
    },
    /// A weight that is negative whatever the inputs are.
    #[error("the weight of `{name}` is negative")]
    NegativeWeight {
        /// The name.
        name: String,
    },
    /// All weights are 0.
    #[error("no name has a weight")]
    NoWeights,
    /// A vector used as if it were a number.
    #[error("`{name}` has {width} components")]
    NeedsIndex {
        /// The vector.
        name: String,
        /// Its number of components.
        width: usize,
    },
    /// A component that does not exist.
    #[error("`{name}[{index}]` does not exist: `{name}` has {width} component(s), counted from 0")]
    NoSuchComponent {
        /// The vector.
        name: String,
        /// The component that was asked for.
        index: String,
        /// Its number of components.
        width: usize,
    },
}

impl ExprErrorKind {
    fn hint(&self) -> Option<String> {
        match self {
            Self::TooLong { .. } | Self::TooDeep { .. } => {
                Some("split the formula over several nodes".to_owned())
            }
            Self::UnexpectedCharacter { found: ',' } => {
                Some("decimals are written with a point; commas only separate arguments".to_owned())
            }
            Self::UnknownName { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownName { known, .. } if known.is_empty() => {
                Some("nothing can be read here: the node has no parents and no actions".to_owned())
            }
            Self::UnknownName { known, .. } => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                Some(format!("known here: {}", known.join(", ")))
            }
            Self::NeedsComparison { name, first } => {
                Some(format!("`{name} == '{first}'` is 1 where it is that one and 0 elsewhere"))
            }
            Self::NotAChoice { nearest: Some(nearest), .. } => Some(format!("did you mean '{nearest}'?")),
            Self::NotAChoice { known, .. } => Some(format!("they are {}", known.join(", "))),
            Self::NotAPick { first, .. } => {
                Some(format!("write `pick('{first}', WEIGHT, ...)`: names, each with its weight"))
            }
            Self::PickNotAlone => Some(
                "it is the whole formula of a node with `choices`; what reads that node compares it, as in `kind == 'crack'`"
                    .to_owned(),
            ),
            Self::PickedTwice { .. } => Some("name each once; those that are left out never come".to_owned()),
            Self::NegativeWeight { .. } | Self::NoWeights => {
                Some("weights are 0 or more, and one of them at least is more".to_owned())
            }
            Self::UnknownFunction { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::UnknownFunction { .. } => {
                Some(format!("the functions are {}", super::parser::function_names()))
            }
            Self::FunctionWithoutCall { name } => Some(format!("write `{name}(...)`")),
            Self::Unexpected { expected: "a name in quotes" | "`,` and its weight", .. } => {
                Some("names stand in quotes, each with its weight: `pick('none', 2, 'crack', 1)`".to_owned())
            }
            Self::Unexpected { expected: "an operator", found } if found == "`)`" => {
                Some("there is no `(` that it closes".to_owned())
            }
            Self::Unexpected { expected: "an operator", found } if found != "`,`" && found != "`]`" => {
                Some("write products with `*`".to_owned())
            }
            Self::Unexpected { found, .. } if found == "`*`" => {
                Some("powers are written with `^`".to_owned())
            }
            Self::RandomNotAllowed { .. } => {
                Some("write the fixed part here and the randomness as the node's `noise`".to_owned())
            }
            Self::NeedsIndex { name, width } => {
                let parts: Vec<String> = (0..*width.min(&3)).map(|k| format!("`{name}[{k}]`")).collect();
                Some(format!(
                    "write one of them: {}{}",
                    parts.join(", "),
                    if *width > 3 { ", ..." } else { "" }
                ))
            }
            _ => None,
        }
    }
}
