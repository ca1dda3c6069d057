//! What is odd about a problem that has passed all checks.

use super::require::with_border;
use crate::problem::diagnostics::ProblemWarning;
use crate::problem::draft::Draft;
use crate::problem::{Noise, Problem};

/// Where there are more ways to intervene than so many it is not looked at what requirements leave of each.
const CHOICES: usize = 100;

pub(super) fn warnings(
    problem: &Problem,
    draft: &Draft,
    repeated: Option<Vec<Vec<usize>>>,
) -> Vec<ProblemWarning> {
    let mut warnings = Vec::new();
    let effective = problem.matters(&[]);
    for (index, node) in problem.nodes.iter().enumerate() {
        let name = || node.name.clone();
        if !effective[index] {
            warnings.push(ProblemWarning::NodeWithoutEffect { node: name() });
        }
        if let Noise::Uniform([lo, hi]) = node.noise {
            let mean = 0.5 * (lo + hi);
            if mean.abs() > 1e-9 * (hi - lo) {
                warnings.push(ProblemWarning::NoiseNotCentred { node: name(), mean });
            }
        }
        if node.dim == 1 && draft.nodes[index].components.given().is_some() {
            warnings.push(ProblemWarning::ComponentsOfScalar { node: name() });
        }
        if let (Some(hard), Some(limit)) = (&node.hard, node.limit) {
            let beyond = |[low, high]: &[f64; 2]| {
                limit.above.is_some_and(|above| *high <= above)
                    || limit.below.is_some_and(|below| *low >= below)
            };
            if hard.iter().any(beyond) {
                warnings.push(ProblemWarning::SetBeyondLimit { node: name() });
            }
        }
        if let (Some(hard), Some([lo, hi])) = (&node.hard, node.range)
            && hard.iter().any(|range| range[0] < lo || range[1] > hi)
        {
            warnings.push(ProblemWarning::SetOutsideRange { node: name() });
        }
    }
    for (index, action) in problem.actions.iter().enumerate() {
        let mut readers =
            problem.nodes.iter().zip(&effective).filter(|(node, _)| node.actions.contains(&index));
        if !readers.any(|(_, &effective)| effective) {
            warnings.push(ProblemWarning::ActionWithoutEffect { action: action.name.clone() });
        }
    }
    for action in problem.held_actions(CHOICES) {
        let action = &problem.actions[action];
        let (action, neutral) = (action.name.clone(), action.neutral);
        warnings.push(ProblemWarning::ActionIsHeld { action, neutral });
    }
    let available = problem.settable().len() + problem.actions.len();
    if let Some(limit) = problem.max_interventions.filter(|&limit| limit > available) {
        warnings.push(ProblemWarning::LimitWithoutEffect { limit, available });
    }
    for requirement in &draft.require {
        if let Some(read) = with_border(&requirement.value) {
            let text = requirement.value.clone();
            warnings.push(ProblemWarning::BorderIsAllowed { text, read });
        }
    }
    let named = |set: &[usize]| set.iter().map(|&node| problem.nodes[node].name.clone()).collect();
    for set in problem.sets.iter().flatten() {
        let ancestors = problem.matters(set);
        let enough: Vec<usize> = set.iter().copied().filter(|&member| ancestors[member]).collect();
        if enough.len() < set.len() {
            warnings.push(ProblemWarning::SetNotMinimal { set: named(set), enough: named(&enough) });
        }
    }
    for set in repeated.iter().flatten() {
        warnings.push(ProblemWarning::RepeatedSet { set: named(set) });
    }
    warnings
}
