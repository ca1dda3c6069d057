//! The form of a mechanism in words.

use mcbo_gp::GpSet;

use crate::Problem;

use super::{Mechanism, Network};

/// The form that a node's processes give most weight to: the text of its covariance. A node without inputs is a constant.
pub(super) fn describe_form(problem: &Problem, node: usize, set: &GpSet) -> String {
    if problem.input_dim(node) == 0 {
        return "a constant".into();
    }
    let mut forms: Vec<(String, f64)> = Vec::new();
    for (weight, gp) in set.members() {
        let text = gp.spec().kernel.to_string();
        match forms.iter_mut().find(|(known, _)| *known == text) {
            Some((_, total)) => *total += weight,
            None => forms.push((text, *weight)),
        }
    }
    // Of equals the first stays.
    let best = forms.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map_or_else(String::new, |(text, _)| text)
}

impl Network {
    /// The form of the mechanism of a component that the data speak for most, for people; none of a node that is not
    /// learned.
    pub fn form(&self, problem: &Problem, node: usize, component: usize) -> Option<String> {
        let model = self.nodes.get(node)?.as_ref()?;
        let Mechanism::Learned(groups) = &model.mechanism else { return None };
        let within = |first: usize, width: usize| (first..first + width).contains(&component);
        let group = groups.iter().find(|group| within(group.first, group.set.components()))?;
        Some(describe_form(problem, node, &group.set))
    }
}
