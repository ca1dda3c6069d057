//! The axes of parallel coordinates: everything that is decided, then everything that is measured, the reward last.

use mcbo_core::{Intervention, Problem};

use crate::along::Along;
use crate::draw::span;
use crate::page::{measured, reward_name, with_unit};

/// Axes that are drawn.
pub(super) const MOST: usize = 26;

/// Where the number on an axis comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A component of a hard target.
    Target(usize, usize),
    Action(usize),
    /// A measured slot.
    Slot(usize),
    /// The reward, in the user's own sign.
    Reward,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) source: Source,
    pub(super) name: String,
    /// The part of the axis that is shown; where there is nothing to go by, none.
    pub(super) range: Option<[f64; 2]>,
    /// How its values lie on it.
    pub(super) along: Along,
    /// Whether small values are at the top: of a reward that is to be small.
    pub(super) flipped: bool,
}

/// Where a line meets an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meeting {
    At(f64),
    /// A target that was not set.
    NotSet,
    /// Not measured.
    Missing,
}

impl Source {
    pub(super) fn of(
        self,
        problem: &Problem,
        intervention: &Intervention,
        values: &[Option<f64>],
    ) -> Meeting {
        let measured = |value: Option<f64>| match value {
            Some(value) if value.is_finite() => Meeting::At(value),
            _ => Meeting::Missing,
        };
        match self {
            Self::Target(node, component) => {
                intervention.target(node).map_or(Meeting::NotSet, |values| Meeting::At(values[component]))
            }
            Self::Action(action) => Meeting::At(intervention.actions[action]),
            Self::Slot(slot) => measured(values[slot]),
            Self::Reward => measured(values[problem.slot(problem.reward()).start]),
        }
    }

    pub(super) fn is_lever(self) -> bool {
        matches!(self, Self::Target(..) | Self::Action(_))
    }
}

/// The axes in their order, and how many are left out because they are too many: nodes far from the reward go first.
pub(super) fn columns(problem: &Problem, lines: &[(&Intervention, &[Option<f64>])]) -> (Vec<Column>, usize) {
    let mut sources = Vec::new();
    for node in problem.settable() {
        let dim = problem.nodes()[node].dim;
        sources.extend((0..dim).map(|component| {
            (Source::Target(node, component), format!("do {}", measured(problem, node, component)))
        }));
    }
    let actions = problem.actions().iter().enumerate();
    sources.extend(actions.map(|(action, declared)| {
        (Source::Action(action), with_unit(declared.name.clone(), declared.unit.as_deref()))
    }));
    let mut seen = Vec::new();
    for &node in problem.graph().order().iter().filter(|&&node| node != problem.reward()) {
        let slots = problem.slot(node).enumerate();
        seen.extend(slots.map(|(component, slot)| (Source::Slot(slot), measured(problem, node, component))));
    }
    let room = (MOST - 1).saturating_sub(sources.len().min(MOST - 1));
    let left_out = seen.len().saturating_sub(room) + sources.len().saturating_sub(MOST - 1);
    seen.drain(..seen.len().saturating_sub(room));
    sources.truncate(MOST - 1);
    sources.extend(seen);
    sources.push((Source::Reward, reward_name(problem)));
    let column = |(source, name): (Source, String)| {
        let declared = match source {
            Source::Target(node, component) => {
                problem.nodes()[node].hard.as_ref().map(|hard| hard[component])
            }
            Source::Action(action) => Some(problem.actions()[action].range),
            _ => None,
        };
        let along = match source {
            Source::Action(action) => Along::of_action(&problem.actions()[action]),
            Source::Target(node, _) => Along::of_node(&problem.nodes()[node]),
            Source::Slot(slot) => {
                let node = (0..problem.nodes().len()).find(|&node| problem.slot(node).contains(&slot));
                node.map_or(Along::Numbers, |node| Along::of_node(&problem.nodes()[node]))
            }
            Source::Reward => Along::Numbers,
        };
        let declared = match along.names().len() {
            0 => declared,
            count => Some([0.0, (count - 1) as f64]),
        };
        let met = lines.iter().filter_map(|(intervention, values)| {
            match source.of(problem, intervention, values) {
                Meeting::At(value) => Some(value),
                _ => None,
            }
        });
        let mut known = met.chain(declared.into_iter().flatten()).map(|value| along.place(value)).peekable();
        let range = known.peek().is_some().then(|| span(known, 0.0));
        let flipped = source == Source::Reward && problem.sign() < 0.0;
        Column { source, name, range, along, flipped }
    };
    let mut columns: Vec<Column> = sources.into_iter().map(column).collect();
    if !lines.is_empty() {
        // What was never measured would only cut all lines in two.
        columns.retain(|column| column.range.is_some());
    }
    (columns, left_out)
}
