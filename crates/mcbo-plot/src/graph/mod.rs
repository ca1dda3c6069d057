//! The causal graph with what is known of each node.

mod boxes;
mod layout;

use mcbo_core::{Effects, Network, Problem, Study};

use crate::Picture;
use crate::draw::{Anchor, Canvas, Rounded};
use crate::page::{CHOSEN, MARGIN, MODEL, SMALL, Sheet, titled};
use boxes::{Kind, NodeBox};

const NAME: f64 = 12.0;
const BAR: [f64; 2] = [44.0, 6.0];

/// The graph from left to right: actions point at the nodes that they push, nodes at their effects. With a model, each
/// node says how well it is known.
pub fn graph(problem: &Problem, network: Option<&Network>) -> Picture {
    drawn(problem.name(), problem, network, None)
}

/// The graph of a study; with effects, arrows are as strong as what they do to the reward.
pub fn graph_of(study: &Study, network: Option<&Network>, effects: Option<&Effects>) -> Picture {
    drawn(study.name(), study.problem(), network, effects)
}

/// How strong an arrow is, from 0 to 1: that of the largest effect is 1. Effects of actions are shared by their arrows.
fn strength(problem: &Problem, effects: &Effects, (from, to): (usize, usize)) -> f64 {
    let nodes = problem.nodes().len();
    let all = effects.actions.iter().map(|(_, e)| e).chain(effects.arrows.iter().map(|(.., e)| e));
    let largest = all.map(|effect| effect.effect).fold(0.0, f64::max);
    let own = match from.checked_sub(nodes) {
        Some(action) => {
            let name = &problem.actions()[action].name;
            effects.actions.iter().find(|(other, _)| other == name).map(|(_, effect)| effect.effect)
        }
        None => effects.arrows.iter().find(|(f, t, _)| (*f, *t) == (from, to)).map(|(.., e)| e.effect),
    };
    if largest > 0.0 { (own.unwrap_or(0.0) / largest).clamp(0.0, 1.0) } else { 0.0 }
}

fn drawn(name: &str, problem: &Problem, network: Option<&Network>, effects: Option<&Effects>) -> Picture {
    let boxes = boxes::all(problem, network);
    let nodes = problem.nodes().len();
    let mut edges = Vec::new();
    for (node, declared) in problem.nodes().iter().enumerate() {
        edges.extend(declared.parents.iter().map(|&parent| (parent, node)));
        edges.extend(declared.actions.iter().map(|&action| (nodes + action, node)));
    }
    let sizes: Vec<[f64; 2]> = boxes.iter().map(NodeBox::size).collect();
    let layout = layout::place(&sizes, &edges);
    let mut canvas = Canvas::default();
    for (&(from, to), way) in edges.iter().zip(&layout.ways) {
        let action = from >= nodes;
        if action {
            canvas.open_style(&CHOSEN);
        }
        let (width, opacity) = match effects {
            None => (if action { 1.2 } else { 1.3 }, if action { 0.8 } else { 0.55 }),
            Some(effects) => {
                let strength = strength(problem, effects, (from, to));
                (0.7 + 4.3 * strength, 0.35 + 0.5 * strength.sqrt())
            }
        };
        canvas.arrow(way, width, opacity);
        if action {
            canvas.close_group();
        }
    }
    let names = problem.nodes().iter().map(|node| &node.name);
    let names = names.chain(problem.actions().iter().map(|action| &action.name));
    for ((node, name), (corner, size)) in boxes.iter().zip(names).zip(layout.corners.iter().zip(&sizes)) {
        // By these a page knows what was clicked on.
        canvas.open_named(if node.kind == Kind::Action { "g-action" } else { "g-node" }, name);
        draw(&mut canvas, node, *corner, *size);
        canvas.close_group();
    }
    let size = [layout.size[0].max(4.0 * MARGIN), layout.size[1] + 4.0];
    Sheet {
        name: "graph".into(),
        title: titled(name, "causes and effects"),
        keys: Vec::new(),
        body: canvas,
        size,
        caption: caption(problem, network, effects.is_some()),
    }
    .picture()
}

fn draw(canvas: &mut Canvas, node: &NodeBox, corner: [f64; 2], size: [f64; 2]) {
    let [x, y] = corner;
    let (style, shape) = match node.kind {
        Kind::Action => (Some(CHOSEN), (11.0, 0.12, [1.0, 0.8], "")),
        Kind::Reward => (Some(MODEL), (5.0, 0.1, [2.4, 1.0], "")),
        Kind::Node => (None, (5.0, 0.02, [1.1, 0.6], "")),
        Kind::Aside => (None, (5.0, 0.0, [1.0, 0.45], "4 3")),
    };
    if let Some(style) = &style {
        canvas.open_style(style);
    }
    let (radius, fill, rim, dash) = shape;
    canvas.rounded(&Rounded { corner, size, radius, fill, rim, dash });
    if style.is_some() {
        canvas.close_group();
    }
    if node.kind == Kind::Action {
        return canvas.text([x + size[0] / 2.0, y + size[1] / 2.0 + 4.0], Anchor::Middle, 11.0, &node.name);
    }
    canvas.bold([x + 9.0, y + 17.0], Anchor::Start, NAME, &node.name);
    if node.settable {
        let corner = [x + size[0] - 29.0, y + 6.0];
        canvas.open_style(&CHOSEN);
        canvas.rounded(&Rounded {
            corner,
            size: [22.0, 14.0],
            radius: 7.0,
            fill: 0.12,
            rim: [1.0, 0.8],
            dash: "",
        });
        canvas.close_group();
        canvas.text([corner[0] + 11.0, corner[1] + 10.5], Anchor::Middle, SMALL, "do");
    }
    canvas.open_named("g-rows", "");
    for (place, row) in node.rows.iter().enumerate() {
        let line = y + 32.0 + boxes::LINE * place as f64;
        let mut left = x + 9.0;
        if let Some(share) = row.share {
            canvas.open_style(&MODEL);
            canvas.block([left, line - 7.0], BAR, 0.16);
            canvas.block([left, line - 7.0], [BAR[0] * share.clamp(0.0, 1.0), BAR[1]], 0.9);
            canvas.close_group();
            left += BAR[0] + 6.0;
        }
        canvas.note([left, line], Anchor::Start, SMALL, &row.text);
    }
    canvas.close_group();
}

fn caption(problem: &Problem, network: Option<&Network>, effects: bool) -> String {
    let mut text = String::new();
    if !problem.actions().is_empty() {
        text.push_str("Orange: actions, which push the nodes they point at. ");
    }
    if !problem.settable().is_empty() {
        text.push_str("do: a trial may set this node, whatever its parents are. ");
    }
    text.push_str("Blue: the reward. ");
    if effects {
        text.push_str(
            "The thicker an arrow, the more it does to the reward about the recommended intervention. ",
        );
    }
    if network.is_none() {
        text.push_str("No model is fitted yet.");
        return text;
    }
    text.push_str(
        "Bar: share of the variation of trials it has not seen that a node's mechanism foretells, each trial by all others. unsure: standard deviation of what the model does not know of the mechanism, averaged over the inputs seen; noise: standard deviation of what no input explains; both in the node's own units.",
    );
    if boxes::tells_rows(problem) {
        text.push_str(" rows: trials it is learned from.");
    }
    text
}
