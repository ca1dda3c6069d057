//! Checks of known mechanisms and of the simulator.

use std::ops::Range;

use super::Checker;
use crate::expr::{Expr, ExprError, ExprErrorKind};
use crate::noise::Shares;
use crate::problem::diagnostics::ProblemError;
use crate::problem::draft::{At, Field, Formulas};
use crate::problem::simulator::{Mechanism, Simulator};
use crate::problem::{Node, Noise};

impl Checker<'_> {
    /// Compiles the known mechanisms into the nodes.
    pub(super) fn formulas(&mut self, nodes: &mut [Node]) {
        for index in 0..nodes.len() {
            if let Some(formula) = self.draft.nodes[index].formula.given() {
                let what = format!("`formula` of node `{}`", nodes[index].name);
                nodes[index].formula = self.compile(&what, index, formula, nodes, None);
            }
        }
    }

    /// The simulator, if there is one and it says something about every node.
    pub(super) fn simulator(&mut self, nodes: &[Node]) -> Option<Simulator> {
        let simulator = self.draft.simulator.given()?;
        let mut written: Vec<Option<&Field<Formulas>>> = vec![None; nodes.len()];
        for (name, formulas) in &simulator.value {
            if let Some(node) = self.node_named(name, "the simulator")
                && written[node].replace(formulas).is_some()
            {
                self.repeated("the simulator", name);
            }
        }
        let mut mechanisms = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let draft = &self.draft.nodes[index];
            let mechanism = match (written[index], &node.formula, node.noise) {
                // Of names that nothing is said of one is as frequent as another.
                (None, None, _) if node.is_choice() && !node.is_caused_choice() => {
                    let noise = Noise::Names(Shares::of_counts(&vec![0; node.choices.len()]));
                    Some(Mechanism { formulas: vec![Expr::zero()], noise, picks: false })
                }
                (Some(Field::Given(formulas)), ..) => {
                    let what = format!("the simulator of node `{}`", node.name);
                    let picks =
                        node.is_choice() && formulas.value.0.iter().all(|text| Expr::is_pick(&text.value));
                    let formulas = self.compile(&what, index, formulas, nodes, Some(picks));
                    formulas.map(|formulas| Mechanism { formulas, noise: Noise::None, picks })
                }
                (Some(_), ..) => None,
                (None, Some(formulas), _) if node.is_choice() => {
                    Some(Mechanism { formulas: formulas.clone(), noise: Noise::None, picks: true })
                }
                (None, Some(formulas), noise) if noise != Noise::Learn => {
                    Some(Mechanism { formulas: formulas.clone(), noise, picks: false })
                }
                // A formula or a noise that is wrong has been reported already.
                (None, None, _) if draft.formula != Field::Missing => None,
                (None, Some(_), _) if draft.noise == Field::Broken => None,
                (None, formula, _) => {
                    let has_formula = formula.is_some();
                    let error = ProblemError::NotSimulated { node: node.name.clone(), has_formula };
                    self.error(error, &draft.name.span);
                    None
                }
            };
            mechanisms.push(mechanism);
        }
        Some(Simulator::new(mechanisms.into_iter().collect::<Option<_>>()?))
    }

    /// Compiles one formula per component over the node's inputs, or the one that picks a name. That of a simulator may be random;
    /// it says whether it picks.
    fn compile(
        &mut self,
        what: &str,
        index: usize,
        formulas: &At<Formulas>,
        nodes: &[Node],
        simulated: Option<bool>,
    ) -> Option<Vec<Expr>> {
        let node = &nodes[index];
        let (random, picks) = (simulated.is_some(), simulated.unwrap_or(node.is_choice()));
        let texts = &formulas.value.0;
        if self.dim_ok[index] && texts.len() != node.dim {
            let error = ProblemError::ComponentCount {
                what: what.to_owned(),
                node: node.name.clone(),
                dim: node.dim,
                found: texts.len(),
            };
            self.error(error, &formulas.span);
        }
        // With inputs that are not all known, an unknown name is no mistake of the formula.
        if !self.inputs_ok[index] || !node.parents.iter().all(|&parent| self.dim_ok[parent]) {
            return None;
        }
        let parents = node.parents.iter().map(|&parent| (nodes[parent].name.as_str(), nodes[parent].dim));
        let actions = node.actions.iter().map(|&action| (self.actions[action], 1));
        let inputs: Vec<(&str, usize)> = parents.chain(actions).collect();
        let names: Vec<Vec<String>> = node
            .parents
            .iter()
            .map(|&parent| names_of(&self.draft.nodes[parent].choices))
            .chain(node.actions.iter().map(|&action| names_of(&self.draft.actions[action].choices)))
            .collect();
        let names: Vec<&[String]> = names.iter().map(Vec::as_slice).collect();
        let parse = |text: &str| match picks {
            true => Expr::parse_pick(text, &inputs, &names, &node.name, &node.choices),
            false => Expr::parse_with_choices(text, &inputs, &names, random).map(|expr| vec![expr]),
        };
        let exprs: Vec<Option<Vec<Expr>>> = texts
            .iter()
            .map(|text| match parse(&text.value) {
                Ok(exprs) => Some(exprs),
                Err(error) => {
                    let span = span_in_file(text, &error);
                    let error = self.formula_error(what, &node.name, error);
                    self.error(error, &span);
                    None
                }
            })
            .collect();
        exprs.into_iter().collect::<Option<Vec<_>>>().map(|exprs| exprs.concat())
    }

    fn formula_error(&self, what: &str, node: &str, error: ExprError) -> ProblemError {
        let what = what.to_owned();
        if let ExprErrorKind::UnknownName { name, .. } = &error.kind {
            let (name, node) = (name.clone(), node.to_owned());
            if self.nodes.contains(&name.as_str()) {
                return ProblemError::NotAnInput { what, node, name, missing: "a parent" };
            }
            if self.actions.contains(&name.as_str()) {
                return ProblemError::NotAnInput { what, node, name, missing: "an action" };
            }
        }
        ProblemError::Formula { what, error }
    }
}

/// The names of values, if they are named.
fn names_of(choices: &Field<Vec<At<String>>>) -> Vec<String> {
    choices.given().map_or_else(Vec::new, |at| at.value.iter().map(|name| name.value.clone()).collect())
}

/// The bytes of the file that a formula's mistake covers, or the whole formula if it is written with escapes.
fn span_in_file(text: &At<String>, error: &ExprError) -> Option<Range<usize>> {
    span_within(text, &error.span)
}

/// The bytes of the file that words of a text cover, or the whole text if it is written with escapes.
pub(super) fn span_within(text: &At<String>, words: &Range<usize>) -> Option<Range<usize>> {
    let span = text.span.clone()?;
    if span.len() == text.value.len() {
        Some(span.start + words.start..span.start + words.end)
    } else {
        Some(span)
    }
}
