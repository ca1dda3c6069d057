//! The one set of checks: a draft in, a problem or all its mistakes out.

mod actions;
mod condition;
mod constraints;
mod formulas;
mod kernels;
mod marks;
mod nodes;
mod require;
mod warnings;

use std::ops::Range;

use super::diagnostics::{Diagnostic, ProblemError};
use super::draft::{At, Draft, Field};
use super::limits::Guarded;
use super::{Action, Direction, Node, Problem};
use crate::expr::{is_reserved, nearest};
use crate::graph::{Graph, GraphError};

/// Checks a draft; `errors` are those found while it was read.
pub(super) fn check(draft: &Draft, errors: Vec<Diagnostic>) -> Result<Problem, Vec<Diagnostic>> {
    let mut checker = Checker::new(draft, errors);
    match checker.problem() {
        Some(problem) if checker.errors.is_empty() => Ok(problem),
        _ => Err(checker.errors),
    }
}

struct Checker<'d> {
    draft: &'d Draft,
    errors: Vec<Diagnostic>,
    nodes: Vec<&'d str>,
    actions: Vec<&'d str>,
    /// For every node, whether its parents and actions are all right.
    inputs_ok: Vec<bool>,
    /// For every node, whether its number of components is all right.
    dim_ok: Vec<bool>,
}

impl<'d> Checker<'d> {
    fn new(draft: &'d Draft, errors: Vec<Diagnostic>) -> Self {
        Self {
            draft,
            errors,
            nodes: draft.nodes.iter().map(|node| node.name.value.as_str()).collect(),
            actions: draft.actions.iter().map(|action| action.name.value.as_str()).collect(),
            inputs_ok: vec![true; draft.nodes.len()],
            dim_ok: vec![true; draft.nodes.len()],
        }
    }

    fn error(&mut self, error: ProblemError, span: &Option<Range<usize>>) {
        self.errors.push(Diagnostic { error, span: span.clone() });
    }

    /// Goes on after mistakes as long as something can be said; `None` only after an error.
    fn problem(&mut self) -> Option<Problem> {
        let draft = self.draft;
        self.names();
        let mut nodes: Vec<Node> = (0..draft.nodes.len()).map(|node| self.node(node)).collect();
        let graph = self.graph(&nodes);
        let mut actions: Vec<Option<Action>> =
            (0..draft.actions.len()).map(|action| self.action(action)).collect();
        self.unused_actions(&nodes);
        self.marks(&nodes);
        self.formulas(&mut nodes);
        let simulator = self.simulator(&nodes);
        let reward = self.reward(&nodes);
        let settable = nodes.iter().filter(|node| node.hard.is_some()).count();
        let broken = draft.nodes_broken
            || draft.actions_broken
            || draft.nodes.iter().any(|node| node.inputs_broken || node.hard == Field::Broken);
        if settable + actions.len() == 0 && !nodes.is_empty() && !broken {
            self.error(ProblemError::NothingToDo, &None);
        }
        let max_interventions = self.limit();
        let sets = self.sets(max_interventions);
        let possibly_optimal = self.possibly_optimal();
        let requirements = self.requirements(&mut actions);

        let (reward, direction) = reward?;
        self.reward_marks(reward, &nodes);
        let mut offsets = vec![0];
        for node in &nodes {
            offsets.push(offsets.last().copied().unwrap_or(0) + node.dim);
        }
        let mut problem = Problem {
            name: draft.name.given().map_or_else(|| "problem".to_owned(), |name| name.value.clone()),
            graph: graph?,
            nodes,
            actions: actions.into_iter().collect::<Option<_>>()?,
            offsets,
            reward,
            direction,
            aim: draft.aim.given().map(|aim| aim.value).unwrap_or_default(),
            max_interventions,
            sets: sets.as_ref().map(|sets| sets.distinct.clone()),
            possibly_optimal,
            requirements: requirements?,
            simulator,
            warnings: Vec::new(),
            listed: Default::default(),
            guarded: None,
        };
        problem.guarded = Guarded::of(&problem);
        problem.warnings = warnings::warnings(&problem, draft, sets.map(|sets| sets.repeated));
        Some(problem)
    }

    fn names(&mut self) {
        let draft = self.draft;
        if let Some(name) = draft.name.given().filter(|name| name.value.trim().is_empty()) {
            self.error(ProblemError::EmptyName, &name.span);
        }
        if let Some(name) = draft.name.given().filter(|name| name.value.chars().any(char::is_control)) {
            let (what, text) = ("the problem's name".to_owned(), name.value.clone());
            self.error(ProblemError::ControlInText { what, text }, &name.span);
        }
        if draft.nodes.is_empty() && !draft.nodes_broken {
            self.error(ProblemError::NoNodes, &None);
        }
        let mut seen: Vec<(&str, &'static str)> = Vec::new();
        let nodes = draft.nodes.iter().map(|node| (&node.name, "a node"));
        let actions = draft.actions.iter().map(|action| (&action.name, "an action"));
        for (name, kind) in nodes.chain(actions) {
            let At { value, span } = name;
            let reserved = is_reserved(value);
            if reserved || !is_identifier(value) {
                self.error(ProblemError::BadName { what: kind, name: value.clone(), reserved }, span);
            }
            if let Some(&(_, other)) = seen.iter().find(|(known, _)| known == value) {
                let what = kind.trim_start_matches("an ").trim_start_matches("a ");
                self.error(ProblemError::DuplicateName { what, name: value.clone(), other }, span);
            }
            seen.push((value, kind));
        }
    }

    /// The index of a node; an unknown name is reported as being named by `place`.
    fn node_named(&mut self, name: &At<String>, place: &str) -> Option<usize> {
        let found = self.nodes.iter().position(|known| *known == name.value);
        if found.is_none() && !self.draft.nodes_broken {
            let error = ProblemError::UnknownNode {
                place: place.to_owned(),
                name: name.value.clone(),
                nearest: nearest(&name.value, self.nodes.iter().copied()).map(str::to_owned),
                is_action: self.actions.contains(&name.value.as_str()),
            };
            self.error(error, &name.span);
        }
        found
    }

    fn graph(&mut self, nodes: &[Node]) -> Option<Graph> {
        let names = nodes.iter().map(|node| node.name.clone()).collect();
        match Graph::new(names, nodes.iter().map(|node| node.parents.clone()).collect()) {
            Ok(graph) => Some(graph),
            Err(GraphError::Cycle { nodes: cycle }) => {
                // The arrow that closes the cycle: the first node names the last as its parent.
                let first =
                    cycle.first().and_then(|name| self.draft.nodes.iter().find(|n| n.name.value == *name));
                let arrow =
                    first.and_then(|node| node.parents.iter().find(|p| Some(&p.value) == cycle.last()));
                let span = arrow.and_then(|parent| parent.span.clone());
                self.error(ProblemError::Cycle { nodes: cycle }, &span);
                None
            }
            // Everything else about the graph has been reported where its nodes were checked.
            Err(_) => None,
        }
    }

    fn reward(&mut self, nodes: &[Node]) -> Option<(usize, Direction)> {
        let draft = self.draft;
        let (key, name, direction) = match (&draft.maximize, &draft.minimize) {
            (Field::Given(_), Field::Given(name)) => {
                self.error(ProblemError::TwoRewards, &name.span);
                return None;
            }
            (Field::Given(name), _) => ("`maximize`", name, Direction::Maximize),
            (_, Field::Given(name)) => ("`minimize`", name, Direction::Minimize),
            (Field::Missing, Field::Missing) => {
                self.error(ProblemError::NoReward, &None);
                return None;
            }
            _ => return None,
        };
        let reward = self.node_named(name, key)?;
        let node = &nodes[reward];
        if node.dim > 1 {
            let error = ProblemError::RewardIsVector { node: node.name.clone(), dim: node.dim };
            self.error(error, &name.span);
        }
        if let Some(choices) = draft.nodes[reward].choices.given() {
            self.error(ProblemError::RewardIsChoice { node: node.name.clone() }, &choices.span);
        }
        if let Some(hard) = draft.nodes[reward].hard.given() {
            self.error(ProblemError::RewardIsSettable { node: node.name.clone() }, &hard.span);
        }
        Some((reward, direction))
    }

    /// Reports a range that is not finite or not increasing; whether it is fine.
    fn range(&mut self, what: &str, [lo, hi]: [f64; 2], span: &Option<Range<usize>>) -> bool {
        if let Some(value) = [lo, hi].into_iter().find(|end| !end.is_finite()) {
            self.error(ProblemError::NotFinite { what: format!("an end of {what}"), value }, span);
        } else if let Some(value) = [lo, hi].into_iter().find(|end| end.abs() > MOST) {
            self.error(ProblemError::TooLarge { what: format!("an end of {what}"), value, most: MOST }, span);
        } else if lo >= hi {
            self.error(ProblemError::BadRange { what: what.to_owned(), lo, hi }, span);
        } else {
            return true;
        }
        false
    }
}

/// The largest number, with either sign, that a range may end at: what is measured and done is held to the same
/// (`crate::data::LARGEST`).
const MOST: f64 = 1e60;

/// Letters, digits and underscores, not starting with a digit: usable in formulas.
fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
