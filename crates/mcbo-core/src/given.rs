//! What is known of the contexts before a trial is chosen, and what is decided of it already.

mod fixed;

use serde::{Deserialize, Serialize};

use crate::data::{check_size, check_value};
use crate::{DataError, Problem, Simulator};

pub use fixed::Fixed;

/// Values of contexts, in the user's units; contexts that are not among them are not known.
///
/// ```
/// use mcbo_core::{Given, Problem};
/// let problem = Problem::builder("p")
///     .action("dose", [0.0, 1.0])
///     .node("quality", |n| n.context())
///     .node("y", |n| n.parents(["quality"]).actions(["dose"]))
///     .maximize("y")
///     .build()?;
/// let given = Given::new(&problem, [("quality", vec![0.8])])?;
/// assert_eq!(given.of(0), Some(&[0.8][..]));
/// assert!(Given::new(&problem, [("y", vec![1.0])]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Given(Vec<(usize, Vec<f64>)>);

impl Given {
    /// Nothing is known.
    pub const NONE: &'static Self = &Self(Vec::new());

    /// What is known, by the names of contexts, with one value per component.
    ///
    /// # Errors
    /// If a name is no context or comes twice, a vector has the wrong length or a number is not finite.
    pub fn new<S: AsRef<str>>(
        problem: &Problem,
        named: impl IntoIterator<Item = (S, Vec<f64>)>,
    ) -> Result<Self, DataError> {
        let mut given = Vec::new();
        for (name, values) in named {
            let name = name.as_ref().to_owned();
            let contexts = || {
                let names = problem.contexts().map(|node| problem.nodes()[node].name.as_str());
                names.collect::<Vec<_>>().join(", ")
            };
            let not_one = || DataError::NotAContext { name: name.clone(), known: contexts() };
            let node = problem.node_index(&name).filter(|&node| problem.nodes()[node].context);
            let node = node.ok_or_else(not_one)?;
            let expected = problem.nodes()[node].dim;
            if values.len() != expected {
                return Err(DataError::WrongLength { what: name, expected, found: values.len() });
            }
            values.iter().try_for_each(|&value| {
                check_value(&problem.nodes()[node], value)?;
                check_size(&name, value)
            })?;
            if given.iter().any(|(known, _)| *known == node) {
                return Err(DataError::Twice { what: name });
            }
            given.push((node, values));
        }
        given.sort_by_key(|(node, _)| *node);
        Ok(Self(given))
    }

    /// What a simulator has for the contexts of a trial, drawn before anything is decided.
    pub fn draw(problem: &Problem, simulator: &Simulator, rng: &mut dyn rand::Rng) -> Self {
        let mut given = Self::default();
        let (mut values, mut inputs) = (vec![0.0; problem.slots()], Vec::new());
        for &node in problem.graph().order().iter().filter(|&&node| problem.nodes()[node].context) {
            // Contexts read contexts only, and those come before them.
            problem.gather_inputs(node, &values, &[], &mut inputs);
            let slot = problem.slot(node);
            for (component, at) in slot.clone().enumerate() {
                values[at] = simulator.draw(node, component, &inputs, rng);
            }
            given.0.push((node, values[slot].to_vec()));
        }
        given.0.sort_by_key(|(node, _)| *node);
        given
    }

    /// The nodes with their values, one per component, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.0.iter().map(|(node, values)| (*node, values.as_slice()))
    }

    /// The values of a node, if they are known.
    pub fn of(&self, node: usize) -> Option<&[f64]> {
        self.0.iter().find(|(known, _)| *known == node).map(|(_, values)| values.as_slice())
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Contexts of the problem of which nothing is known, by name.
    pub fn missing(&self, problem: &Problem) -> Vec<String> {
        let unknown = problem.contexts().filter(|&node| self.of(node).is_none());
        unknown.map(|node| problem.nodes()[node].name.clone()).collect()
    }

    /// Checks that it belongs to the problem; whether its nodes are contexts today does not matter.
    pub(crate) fn check(&self, problem: &Problem) -> Result<(), DataError> {
        for (node, values) in &self.0 {
            let Some(declared) = problem.nodes().get(*node) else {
                let known = problem.graph().names().join(", ");
                return Err(DataError::UnknownName { name: format!("number {node}"), known });
            };
            if values.len() != declared.dim {
                let (what, expected, found) = (declared.name.clone(), declared.dim, values.len());
                return Err(DataError::WrongLength { what, expected, found });
            }
        }
        Ok(())
    }

    /// Puts what is known among the values that were measured in a trial, where it must not be contradicted.
    pub(crate) fn fill(&self, problem: &Problem, values: &mut [Option<f64>]) -> Result<(), DataError> {
        for (node, given) in &self.0 {
            for (slot, &given) in problem.slot(*node).zip(given) {
                let Some(value) = values.get_mut(slot) else { continue };
                match *value {
                    Some(found) if !is_rounded(given, found) => {
                        let name = &problem.nodes()[*node].name;
                        let (given, found) = (problem.said(name, given), problem.said(name, found));
                        let node =
                            crate::problem::slot_name(problem, *node, slot - problem.slot(*node).start);
                        return Err(DataError::ContradictsGiven { node, given, found });
                    }
                    _ => *value = Some(given),
                }
            }
        }
        Ok(())
    }

    /// Whether values that were measured, or taken from what was known, are those that are known here.
    pub(crate) fn agrees(&self, problem: &Problem, values: &[Option<f64>]) -> bool {
        problem.contexts().all(|node| {
            let there = &values[problem.slot(node)];
            match self.of(node) {
                Some(given) => there.iter().zip(given).all(|(there, given)| *there == Some(*given)),
                None => there.iter().all(Option::is_none),
            }
        })
    }

    /// The same where nodes have other numbers.
    pub(crate) fn renumbered(&self, nodes: &[usize]) -> Self {
        let mut given: Vec<(usize, Vec<f64>)> =
            self.0.iter().map(|(node, values)| (nodes[*node], values.clone())).collect();
        given.sort_by_key(|(node, _)| *node);
        Self(given)
    }
}

/// Whether a number is another one, but for rounding.
pub(crate) fn is_rounded(exact: f64, rounded: f64) -> bool {
    /// What rounding may change, as a share of the value.
    const ROUNDING: f64 = 1e-6;
    (exact - rounded).abs() <= ROUNDING * exact.abs().max(rounded.abs())
}

impl Problem {
    /// The contexts, in increasing order.
    pub fn contexts(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes().len()).filter(|&node| self.nodes()[node].context)
    }

    /// How many numbers are known before deciding.
    pub fn context_dim(&self) -> usize {
        self.contexts().map(|node| self.nodes()[node].dim).sum()
    }
}
