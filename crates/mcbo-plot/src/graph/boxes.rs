//! What is written in each box.

use mcbo_core::{Direction, MechanismKind, Network, Node, NodeSummary, Problem};

use crate::draw::{line_width, short};
use crate::page::SMALL;

use super::{BAR, NAME};

/// The height of a row of text.
pub(super) const LINE: f64 = 13.0;
/// Components of a node that are shown one by one.
const COMPONENTS: usize = 3;
/// Letters of a name at most.
const LETTERS: usize = 22;
/// In a graph of more nodes than this, boxes say less.
const MANY: usize = 14;

/// What a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Action,
    Node,
    Reward,
    /// A node without a path to the reward or to a limit.
    Aside,
    /// Several nodes and actions that are not shown.
    Group,
}

/// A line in a box, with a bar before it if it is about a share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) share: Option<f64>,
    pub(super) text: String,
}

/// A box before it has a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeBox {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) settable: bool,
    pub(super) rows: Vec<Row>,
}

impl NodeBox {
    /// A box that stands for others.
    pub(super) fn group(text: String) -> Self {
        Self { kind: Kind::Group, name: text, settable: false, rows: Vec::new() }
    }

    pub(super) fn size(&self) -> [f64; 2] {
        if self.kind == Kind::Action {
            return [(line_width(&self.name, 11.0) + 20.0).max(40.0), 22.0];
        }
        let name = 1.1 * line_width(&self.name, NAME) + if self.settable { 32.0 } else { 0.0 };
        let row = |row: &Row| line_width(&row.text, SMALL) + row.share.map_or(0.0, |_| BAR[0] + 6.0);
        let width = self.rows.iter().map(row).fold(name, f64::max) + 20.0;
        [width.max(64.0), if self.rows.is_empty() { 26.0 } else { 26.0 + LINE * self.rows.len() as f64 }]
    }
}

/// Whether boxes have room for the number of rows.
pub(super) fn tells_rows(problem: &Problem) -> bool {
    problem.nodes().len() <= MANY
}

/// The boxes of all nodes, then of all actions.
pub(super) fn all(problem: &Problem, network: Option<&Network>) -> Vec<NodeBox> {
    let summaries = network.map(|network| network.summaries(problem));
    let relevant = problem.matters(&[]);
    let few = tells_rows(problem);
    let node = |(place, declared): (usize, &Node)| {
        let own =
            |all: &Vec<NodeSummary>| all.iter().filter(|s| s.node == place).cloned().collect::<Vec<_>>();
        let kind = match (place == problem.reward(), relevant[place]) {
            (true, _) => Kind::Reward,
            (false, true) => Kind::Node,
            (false, false) => Kind::Aside,
        };
        let mut rows: Vec<Row> = labels(problem, place, kind).into_iter().map(plain).collect();
        if let (Some(network), Some(summaries)) = (network, &summaries) {
            rows.extend(known(problem, network, place, &own(summaries), few));
        }
        NodeBox { kind, name: cut(&declared.name), settable: declared.hard.is_some(), rows }
    };
    let action =
        |name: &str| NodeBox { kind: Kind::Action, name: cut(name), settable: false, rows: Vec::new() };
    let nodes = problem.nodes().iter().enumerate().map(node);
    nodes.chain(problem.actions().iter().map(|a| action(&a.name))).collect()
}

fn plain(text: String) -> Row {
    Row { share: None, text }
}

fn cut(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// What the problem itself says of a node.
fn labels(problem: &Problem, place: usize, kind: Kind) -> Vec<String> {
    let node = &problem.nodes()[place];
    let mut labels = Vec::new();
    match (kind, problem.direction()) {
        (Kind::Reward, Direction::Maximize) => labels.push("reward, to be large".into()),
        (Kind::Reward, Direction::Minimize) => labels.push("reward, to be small".into()),
        (Kind::Aside, _) => labels.push("no path to the reward".into()),
        _ => {}
    }
    if let Some(limit) = node.limit {
        labels.push(format!("limit: {}", limit.in_words(short, node.unit.as_deref())));
    }
    if node.formula.is_some() {
        labels.push("known formula".into());
    } else if node.is_choice() {
        let names = node.choices.join(", ");
        labels.push(if names.chars().count() > LETTERS {
            format!("one of {}", node.choices.len())
        } else {
            names
        });
    } else if problem.input_dim(place) == 0 && kind == Kind::Node {
        labels.push("context".into());
    }
    labels
}

/// What the model knows of a node.
fn known(
    problem: &Problem,
    network: &Network,
    place: usize,
    summaries: &[NodeSummary],
    few: bool,
) -> Vec<Row> {
    let (mut rows, inputs, node) = (Vec::new(), problem.input_dim(place) > 0, &problem.nodes()[place]);
    match network.kind(place) {
        MechanismKind::Absent => return rows,
        MechanismKind::Formula if node.is_choice() => return rows,
        MechanismKind::Formula => {
            let noise = network.noise(place).iter().map(|noise| noise.deviation()).fold(0.0, f64::max);
            rows.push(plain(if noise > 0.0 { format!("noise {}", brief(noise)) } else { "no noise".into() }));
            return rows;
        }
        MechanismKind::Learned => {}
    }
    // Of a name that comes or not, the rest is chance and no noise.
    let numbers = |s: &NodeSummary| match node.is_choice() {
        true => format!("unsure {}", brief(s.uncertainty)),
        false => format!("unsure {}, noise {}", brief(s.uncertainty), brief(s.noise)),
    };
    let label = |s: &NodeSummary| {
        node.choices.get(s.component).cloned().unwrap_or_else(|| format!("[{}]", s.component))
    };
    let explained = |s: &NodeSummary, before: &str| match s.explained {
        Some(share) => Row { share: Some(share), text: format!("{before}{:.0} %", 100.0 * share) },
        None => plain(format!("{before}too little to judge")),
    };
    match summaries {
        [] => return rows,
        [only] => {
            if inputs {
                rows.push(explained(only, ""));
            }
            rows.push(plain(numbers(only)));
        }
        several if several.len() <= COMPONENTS => {
            for summary in several {
                let before = format!("{} ", label(summary));
                if inputs {
                    rows.push(explained(summary, &before));
                    rows.push(plain(numbers(summary)));
                } else {
                    rows.push(plain(before + &numbers(summary)));
                }
            }
        }
        many => {
            // Of what is not known nothing good is said.
            let share = |summary: &NodeSummary| summary.explained.unwrap_or(-1.0);
            let worst = many.iter().min_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(&many[0]);
            rows.push(plain(format!("worst of {}: {}", many.len(), label(worst))));
            if inputs {
                rows.push(explained(worst, ""));
            }
            rows.push(plain(numbers(worst)));
        }
    }
    if few {
        let fewest = summaries.iter().map(|summary| summary.rows).min().unwrap_or(0);
        rows.push(plain(format!("{fewest} {}", if fewest == 1 { "row" } else { "rows" })));
    }
    rows
}

/// Two digits are enough for a deviation.
fn brief(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return short(value);
    }
    let unit = 10f64.powi(1 - value.abs().log10().floor() as i32);
    short((value * unit).round() / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_have_two_digits() {
        assert_eq!([0.0, 0.01234, 12.34, 1234.0, 3.0].map(brief), ["0", "0.012", "12", "1200", "3"]);
    }
}
