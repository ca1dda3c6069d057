//! Checks of one node or one action by itself.

use std::collections::HashSet;

use mcbo_gp::{Kernel, KernelParseError};

use super::Checker;
use crate::expr::nearest;
use crate::problem::diagnostics::ProblemError;
use crate::problem::draft::{At, DraftNode, DraftRanges, Field};
use crate::problem::{Action, Node, Noise};

/// More components than this are a slip of the pen.
const MAX_DIM: usize = 1000;

impl Checker<'_> {
    /// The node without its formulas; what is wrong is reported and left out.
    pub(super) fn node(&mut self, index: usize) -> Node {
        let draft = &self.draft.nodes[index];
        let parents = self.parents(index, draft);
        let actions = self.node_actions(index, draft);
        self.inputs_ok[index] &= !draft.inputs_broken;
        let dim = self.dim(index, draft);
        let place = format!("node `{}`", draft.name.value);
        let range = draft.range.given();
        let range = range.filter(|at| self.range(&format!("`range` of {place}"), at.value, &at.span));
        Node {
            name: draft.name.value.clone(),
            parents,
            actions,
            dim,
            noise: self.noise(draft),
            hard: self.hard(index, draft, dim),
            formula: None,
            kernel: self.kernel(index, draft),
            components: draft.components.given().map(|at| at.value).unwrap_or_default(),
            range: range.map(|at| at.value),
            unit: self.unit(&place, &draft.unit),
            context: draft.context.given().is_some_and(|at| at.value),
            limit: self.limit_of(&place, &draft.limit),
            cost: self.cost_of(&place, &draft.cost),
        }
    }

    fn parents(&mut self, index: usize, draft: &DraftNode) -> Vec<usize> {
        let place = format!("`parents` of node `{}`", draft.name.value);
        let mut parents = Vec::new();
        for name in &draft.parents {
            match self.node_named(name, &place) {
                Some(parent) if parent == index => {
                    self.error(ProblemError::SelfLoop { node: name.value.clone() }, &name.span);
                    self.inputs_ok[index] = false;
                }
                Some(parent) if parents.contains(&parent) => self.repeated(&place, name),
                Some(parent) => parents.push(parent),
                None => self.inputs_ok[index] = false,
            }
        }
        parents
    }

    fn node_actions(&mut self, index: usize, draft: &DraftNode) -> Vec<usize> {
        let place = format!("`actions` of node `{}`", draft.name.value);
        let mut actions = Vec::new();
        for name in &draft.actions {
            match self.actions.iter().position(|known| *known == name.value) {
                Some(action) if actions.contains(&action) => self.repeated(&place, name),
                Some(action) => actions.push(action),
                None => {
                    self.inputs_ok[index] = false;
                    if self.draft.actions_broken {
                        continue;
                    }
                    let error = ProblemError::UnknownAction {
                        node: draft.name.value.clone(),
                        name: name.value.clone(),
                        nearest: nearest(&name.value, self.actions.iter().copied()).map(str::to_owned),
                        is_node: self.nodes.contains(&name.value.as_str()),
                    };
                    self.error(error, &name.span);
                }
            }
        }
        actions
    }

    pub(super) fn repeated(&mut self, place: &str, name: &At<String>) {
        let error = ProblemError::Repeated { place: place.to_owned(), name: name.value.clone() };
        self.error(error, &name.span);
    }

    fn dim(&mut self, index: usize, draft: &DraftNode) -> usize {
        match &draft.dim {
            Field::Missing => 1,
            Field::Given(At { value, .. }) if (1..=MAX_DIM as i64).contains(value) => *value as usize,
            Field::Given(At { value, span }) => {
                let node = draft.name.value.clone();
                self.error(ProblemError::BadDim { node, found: *value, limit: MAX_DIM }, span);
                self.dim_ok[index] = false;
                1
            }
            Field::Broken => {
                self.dim_ok[index] = false;
                1
            }
        }
    }

    fn noise(&mut self, draft: &DraftNode) -> Noise {
        let Some(At { value: noise, span }) = draft.noise.given() else { return Noise::default() };
        let node = draft.name.value.clone();
        let what = format!("the noise of node `{node}`");
        match *noise {
            Noise::Gaussian(std) if !std.is_finite() => {
                self.error(ProblemError::NotFinite { what, value: std }, span);
            }
            Noise::Gaussian(std) if std <= 0.0 => self.error(ProblemError::BadNoise { node, std }, span),
            Noise::Uniform(range) => {
                self.range(&what, range, span);
            }
            _ => {}
        }
        *noise
    }

    fn hard(&mut self, index: usize, draft: &DraftNode, dim: usize) -> Option<Vec<[f64; 2]>> {
        let hard = draft.hard.given()?;
        let what = format!("`do` of node `{}`", draft.name.value);
        match &hard.value {
            DraftRanges::One(range) => {
                self.range(&what, *range, &hard.span);
                Some(vec![*range; dim])
            }
            DraftRanges::Each(ranges) => {
                for At { value, span } in ranges {
                    self.range(&what, *value, span);
                }
                if ranges.len() != dim && self.dim_ok[index] {
                    let node = draft.name.value.clone();
                    let error = ProblemError::ComponentCount { what, node, dim, found: ranges.len() };
                    self.error(error, &hard.span);
                }
                Some(ranges.iter().map(|range| range.value).collect())
            }
        }
    }

    fn kernel(&mut self, index: usize, draft: &DraftNode) -> Option<Kernel> {
        let At { value, span } = draft.kernel.given()?;
        let node = draft.name.value.clone();
        if draft.formula != Field::Missing {
            self.error(ProblemError::KernelOfFormula { node: node.clone() }, span);
        }
        let parents = draft.parents.iter().flat_map(|parent| {
            let declared = self.draft.nodes.iter().find(|node| node.name.value == parent.value);
            match declared.and_then(|node| node.dim.given()).map_or(1, |dim| dim.value) {
                1 => vec![parent.value.clone()],
                dim => (0..dim.clamp(0, MAX_DIM as i64)).map(|c| format!("{}[{c}]", parent.value)).collect(),
            }
        });
        let names: Vec<String> =
            parents.chain(draft.actions.iter().map(|action| action.value.clone())).collect();
        match Kernel::parse(value, &names) {
            Ok(kernel) => Some(kernel),
            // An input that could not be read was reported already.
            Err(KernelParseError::UnknownInput { .. }) if !self.inputs_ok[index] => None,
            Err(source) => {
                self.error(ProblemError::BadKernel { node, source }, span);
                None
            }
        }
    }

    pub(super) fn action(&mut self, index: usize) -> Option<Action> {
        let draft = &self.draft.actions[index];
        let name = draft.name.value.clone();
        let range = match &draft.range {
            Field::Given(At { value, span }) => {
                self.range(&format!("`range` of action `{name}`"), *value, span).then_some(*value)
            }
            Field::Missing => {
                self.error(ProblemError::NoRange { action: name.clone() }, &draft.name.span);
                None
            }
            Field::Broken => None,
        };
        if let Some(At { value, span }) = draft.neutral.given().filter(|at| !at.value.is_finite()) {
            let what = format!("`neutral` of action `{name}`");
            self.error(ProblemError::NotFinite { what, value: *value }, span);
        }
        let range = range?;
        let default = if (range[0]..=range[1]).contains(&0.0) { 0.0 } else { range[0] };
        let neutral = draft.neutral.given().map_or(default, |at| at.value);
        let place = format!("action `{name}`");
        let unit = self.unit(&place, &draft.unit);
        let cost = self.cost_of(&place, &draft.cost);
        Some(Action { name, range, neutral, unit, cost })
    }

    pub(super) fn unused_actions(&mut self, nodes: &[Node]) {
        if self.draft.nodes_broken || self.draft.nodes.iter().any(|node| node.inputs_broken) {
            return;
        }
        let used: HashSet<usize> = nodes.iter().flat_map(|node| node.actions.iter().copied()).collect();
        for (action, draft) in self.draft.actions.iter().enumerate() {
            if !used.contains(&action) {
                let error = ProblemError::UnusedAction { action: draft.name.value.clone() };
                self.error(error, &draft.name.span);
            }
        }
    }
}
