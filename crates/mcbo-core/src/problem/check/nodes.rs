//! Checks of one node by itself.

use std::collections::HashSet;

use mcbo_gp::{Kernel, KernelParseError};

use super::actions::span_of;
use super::{Checker, kernels};
use crate::expr::nearest;
use crate::noise::Shares;
use crate::problem::diagnostics::ProblemError;
use crate::problem::draft::{At, Draft, DraftNode, DraftRanges, Field};
use crate::problem::{Grid, Node, Noise};

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
        let choices = self.node_choices(draft);
        let (hard, grid) = match draft.choices.given() {
            Some(_) if choices.len() > 1 => {
                let range = [0.0, (choices.len() - 1) as f64];
                let set = matches!(draft.hard.given(), Some(At { value: DraftRanges::Names, .. }));
                let grid = self.left(&place, &choices, &draft.retired);
                if let (false, Field::Given(At { span, .. })) = (set, &draft.retired) {
                    self.error(ProblemError::RetiredOfUnset { node: draft.name.value.clone() }, span);
                }
                (set.then(|| vec![range]), grid.filter(|_| set).map(|grid| vec![grid]))
            }
            // What is wrong with the names was reported.
            Some(_) => (None, None),
            None => {
                if let Some(At { span, .. }) = draft.retired.given() {
                    self.error(ProblemError::RetiredWithoutChoices { place: place.clone() }, span);
                }
                let hard = self.hard(index, draft, dim);
                let grid = self.node_grid(draft, hard.as_deref());
                (hard, grid)
            }
        };
        Node {
            name: draft.name.value.clone(),
            parents,
            actions,
            dim,
            noise: self.noise(draft),
            hard,
            grid,
            formula: None,
            kernel: self.kernel(index, draft),
            components: draft.components.given().map(|at| at.value).unwrap_or_default(),
            range: range.map(|at| at.value),
            unit: self.unit(&place, &draft.unit),
            context: draft.context.given().is_some_and(|at| at.value),
            limit: self.limit_of(&place, &draft.limit),
            cost: self.cost_of(&place, &draft.cost),
            choices,
        }
    }

    /// The names of a node's values, if they are named. What nothing causes has no mechanism: it is given from outside.
    fn node_choices(&mut self, draft: &DraftNode) -> Vec<String> {
        let Some(choices) = draft.choices.given() else { return Vec::new() };
        let place = format!("node `{}`", draft.name.value);
        let caused = !(draft.parents.is_empty() && draft.actions.is_empty()) || draft.inputs_broken;
        if let Some(At { value: DraftRanges::One(_) | DraftRanges::Each(_) | DraftRanges::Listed(_), span }) =
            draft.hard.given()
        {
            self.error(ProblemError::DoWithNumbers { node: draft.name.value.clone() }, span);
        }
        let others = [
            ("range", span_of(&draft.range)),
            ("step", span_of(&draft.step)),
            ("dim", span_of(&draft.dim)),
            ("noise", span_of(&draft.noise)),
            ("formula", span_of(&draft.formula).filter(|_| !caused)),
            ("kernel", span_of(&draft.kernel).filter(|_| !caused)),
            ("components", span_of(&draft.components)),
            ("limit", span_of(&draft.limit)),
            ("unit", span_of(&draft.unit)),
        ];
        let names = self.choices(&place, choices, others).unwrap_or_default();
        if names.len() > Shares::MOST {
            let (found, most) = (names.len(), Shares::MOST);
            self.error(ProblemError::TooManyChoices { place, found, most }, &choices.span);
        }
        names
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
            DraftRanges::Names => {
                if draft.choices == Field::Missing {
                    let node = draft.name.value.clone();
                    self.error(ProblemError::DoWithoutChoices { node }, &hard.span);
                }
                None
            }
            DraftRanges::Listed(values) => {
                let [low, high] =
                    [values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?];
                Some(vec![[low, high]; dim])
            }
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

    /// The values a node can be set to, if it is set in steps.
    fn node_grid(&mut self, draft: &DraftNode, hard: Option<&[[f64; 2]]>) -> Option<Vec<Grid>> {
        let name = &draft.name.value;
        if let Some(At { value: DraftRanges::Listed(values), span }) = draft.hard.given() {
            let others = [("step", span_of(&draft.step))];
            let values = At { value: values.clone(), span: span.clone() };
            let grid = self.listed(&format!("`do` of node `{name}`"), &values, others)?;
            return Some(vec![grid; hard?.len()]);
        }
        let At { span, .. } = draft.step.given()?;
        let Some(ranges) = hard else {
            if draft.hard == Field::Missing {
                self.error(ProblemError::StepWithoutDo { node: name.clone() }, span);
            }
            return None;
        };
        let usable = |[low, high]: &[f64; 2]| low < high && (high - low).is_finite();
        let ranges = ranges.iter().filter(|range| usable(range));
        let grids: Vec<Option<Grid>> =
            ranges.map(|range| self.grid(&format!("node `{name}`"), *range, &draft.step)).collect();
        // One step that is too wide for several components is one mistake.
        grids.into_iter().collect()
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
        let is_choice = |name: &String| {
            let Draft { actions, nodes, .. } = self.draft;
            actions.iter().any(|a| a.name.value == *name && a.choices != Field::Missing)
                || nodes.iter().any(|n| n.name.value == *name && n.choices != Field::Missing)
        };
        let named: Vec<usize> = (0..names.len()).filter(|&k| is_choice(&names[k])).collect();
        match Kernel::parse(value, &names) {
            Ok(kernel) => match kernels::with_choices(&kernel, names.len(), &named) {
                Ok(kernel) => Some(kernel),
                Err((input, choice)) => {
                    let error = ProblemError::KernelOfChoice { node, input: names[input].clone(), choice };
                    self.error(error, span);
                    None
                }
            },
            // An input that could not be read was reported already.
            Err(KernelParseError::UnknownInput { .. }) if !self.inputs_ok[index] => None,
            Err(source) => {
                self.error(ProblemError::BadKernel { node, source }, span);
                None
            }
        }
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
