//! A problem as it was written, before anything about it is known to be right.

use std::ops::Range;

use super::{Aim, Components, Cost, Limit, Noise, Scale};

/// A value and the bytes of the file it came from, if it came from a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) span: Option<Range<usize>>,
}

impl<T> At<T> {
    pub(super) fn new(value: T, span: Range<usize>) -> Self {
        Self { value, span: Some(span) }
    }
}

impl<T> From<T> for At<T> {
    fn from(value: T) -> Self {
        Self { value, span: None }
    }
}

/// One formula per component of a node, as text.
///
/// It is made from one text or from an array or vector of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Formulas(pub(super) Vec<At<String>>);

impl From<&str> for Formulas {
    fn from(text: &str) -> Self {
        Self(vec![text.to_owned().into()])
    }
}

impl From<String> for Formulas {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

impl<const N: usize> From<[&str; N]> for Formulas {
    fn from(texts: [&str; N]) -> Self {
        Self(texts.iter().map(|text| (*text).to_owned().into()).collect())
    }
}

impl From<Vec<String>> for Formulas {
    fn from(texts: Vec<String>) -> Self {
        Self(texts.into_iter().map(At::from).collect())
    }
}

/// A field that may be missing, or there but already reported as wrong.
///
/// The difference keeps one mistake from being reported twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Field<T> {
    #[default]
    Missing,
    Broken,
    Given(At<T>),
}

impl<T> Field<T> {
    pub(super) fn given(&self) -> Option<&At<T>> {
        match self {
            Field::Given(at) => Some(at),
            _ => None,
        }
    }
}

/// The ranges of `do`, as written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DraftRanges {
    /// One range for every component.
    One([f64; 2]),
    /// One range per component.
    Each(Vec<At<[f64; 2]>>),
    /// These values for every component.
    Listed(Vec<f64>),
    /// `true`: to any of its names.
    Names,
}

/// Target sets by the names of their members.
pub(super) type DraftSets = Vec<At<Vec<At<String>>>>;

/// What the simulator says about each node.
pub(super) type DraftSimulator = Vec<(At<String>, Field<Formulas>)>;

#[derive(Debug, Clone, Default)]
pub(super) struct DraftNode {
    pub(super) name: At<String>,
    pub(super) parents: Vec<At<String>>,
    pub(super) actions: Vec<At<String>>,
    /// Whether something about the parents or actions could not be read.
    pub(super) inputs_broken: bool,
    pub(super) dim: Field<i64>,
    pub(super) noise: Field<Noise>,
    pub(super) hard: Field<DraftRanges>,
    pub(super) step: Field<f64>,
    pub(super) formula: Field<Formulas>,
    pub(super) kernel: Field<String>,
    pub(super) components: Field<Components>,
    pub(super) range: Field<[f64; 2]>,
    pub(super) unit: Field<String>,
    pub(super) context: Field<bool>,
    pub(super) limit: Field<Limit>,
    pub(super) cost: Field<Cost>,
    pub(super) choices: Field<Vec<At<String>>>,
    pub(super) retired: Field<Vec<At<String>>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct DraftAction {
    pub(super) name: At<String>,
    pub(super) range: Field<[f64; 2]>,
    pub(super) neutral: Field<DraftValue>,
    pub(super) step: Field<f64>,
    /// The only values it takes.
    pub(super) values: Field<Vec<f64>>,
    pub(super) choices: Field<Vec<At<String>>>,
    /// Those that are not proposed any more.
    pub(super) retired: Field<Vec<At<String>>>,
    pub(super) scale: Field<Scale>,
    pub(super) unit: Field<String>,
    pub(super) cost: Field<Cost>,
}

/// The value of an action, as written: a number, or the name of a choice.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DraftValue {
    Number(f64),
    Name(String),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) name: Field<String>,
    pub(super) maximize: Field<String>,
    pub(super) minimize: Field<String>,
    pub(super) aim: Field<Aim>,
    pub(super) nodes: Vec<DraftNode>,
    pub(super) actions: Vec<DraftAction>,
    /// Whether `nodes`, or one of them, could not be read at all.
    pub(super) nodes_broken: bool,
    /// Whether `actions`, or one of them, could not be read at all.
    pub(super) actions_broken: bool,
    pub(super) max_interventions: Field<i64>,
    pub(super) sets: Field<DraftSets>,
    pub(super) possibly_optimal: Field<bool>,
    pub(super) require: Vec<At<String>>,
    pub(super) simulator: Field<DraftSimulator>,
}
