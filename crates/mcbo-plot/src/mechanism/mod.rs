//! What was learned of one node: its value along each input.

mod context;
mod slice;

use mcbo_core::{Intervention, MechanismKind, Network, Study, input_names, share_name, slot_name};

use crate::Picture;
use crate::along::Along;
use crate::draw::{Anchor, Axes, Canvas, Style, short, shorten, span};
use crate::page::{ADVICE, CHOSEN, Key, LIMIT, MODEL, Sheet, Swatch, inputs, measured, titled};
use crate::statistics::median;
use slice::Slices;

/// Inner size of a panel.
const INNER: [f64; 2] = [216.0, 164.0];
const BELOW: f64 = 44.0;
const BETWEEN: f64 = 18.0;
const COLUMNS: usize = 4;
/// Components that are drawn.
const COMPONENTS: usize = 4;
/// Inputs that are drawn: those along which the mean changes most.
const INPUTS: usize = 12;
/// The curve and its bands may stretch a panel by this share of the range of the values, or of the usual band, on either side.
const STRETCH: f64 = 1.5;
/// What the intervention is called that a picture is about unless it is another.
const RECOMMENDED: &str = "recommended";
const DATA: Style = Style::new("p-data", "#d55e00");

/// The mechanism of one node, a panel per input with the other inputs held; of a node without inputs the values that were
/// seen. `None` for a node that has no path to the reward.
pub fn mechanism(study: &Study, network: &Network, node: usize) -> Option<Picture> {
    panels(study, network, node, None)
}

/// The same about an intervention: inputs that do not move are held where it is expected to put them, and that place is marked.
pub fn mechanism_about(
    study: &Study,
    network: &Network,
    node: usize,
    about: &Intervention,
) -> Option<Picture> {
    panels(study, network, node, Some((about, RECOMMENDED)))
}

/// The same about an intervention that is another than the recommended one, such as that of `trial 7`, by which it is called.
pub fn mechanism_at(
    study: &Study,
    network: &Network,
    node: usize,
    about: &Intervention,
    called: &str,
) -> Option<Picture> {
    panels(study, network, node, Some((about, called)))
}

fn panels(
    study: &Study,
    network: &Network,
    node: usize,
    about: Option<(&Intervention, &str)>,
) -> Option<Picture> {
    let problem = study.problem();
    let kind = network.kind(node);
    let named = problem.nodes()[node].is_caused_choice();
    // How often each name came is no mechanism.
    if kind == MechanismKind::Absent || (problem.nodes()[node].is_choice() && !named) {
        return None;
    }
    if problem.input_dim(node) == 0 {
        return Some(context::context(study, network, node));
    }
    let mut slices = Slices::new(study, node);
    let called = about.map(|(_, called)| called);
    if let Some((about, _)) = about {
        slices.hold(problem, network, node, about);
    }
    let (names, labels) = (input_names(problem, node), inputs(problem, node));
    let limit = problem.nodes()[node].limit;
    let curves: Vec<Vec<Vec<[f64; 3]>>> =
        (0..names.len()).map(|input| slices.along(problem, network, node, input)).collect();
    let shown = shown(&curves, slices.rows.len().min(COMPONENTS));
    // Names have no noise about how probable they are.
    let noise = |component: usize| if named { 0.0 } else { network.noise(node)[component].deviation() };
    let components = slices.rows.len().min(COMPONENTS);
    let ranges: Vec<[f64; 2]> = (0..components)
        .map(|component| {
            let noise = noise(component);
            let along = shown.iter().map(|&input| curves[input][component].as_slice());
            let range = match named {
                true => [-0.04, 1.04],
                false => range(&slices.rows[component], along, noise),
            };
            // A limit that is not far off is shown.
            let near = |level: f64| level.clamp(2.0 * range[0] - range[1], 2.0 * range[1] - range[0]);
            match limit {
                Some(limit) => {
                    span(range.into_iter().chain(limit.levels().map(|(_, level)| near(level))), 0.0)
                }
                None => range,
            }
        })
        .collect();
    let left = ranges.iter().map(|range| Axes::label_room(*range, 4)).fold(0.0, f64::max) + 20.0;
    let columns = match shown.len() {
        0..=COLUMNS => shown.len(),
        5 | 6 | 9 => 3,
        _ => COLUMNS,
    };
    let lines = shown.len().div_ceil(columns);
    let mut canvas = Canvas::default();
    for component in 0..components {
        for (place, &input) in shown.iter().enumerate() {
            let (line, column) = (component * lines + place / columns, place % columns);
            let axes = Axes {
                corner: [left + column as f64 * (INNER[0] + BETWEEN), 4.0 + line as f64 * (INNER[1] + BELOW)],
                size: INNER,
                x: slices.ranges[input],
                y: ranges[component],
            };
            frame(
                &mut canvas,
                &axes,
                &labels[input],
                &slices.axes[input],
                (column == 0).then(|| if named { share_name } else { measured }(problem, node, component)),
            );
            canvas.open(axes.corner[0], axes.corner[1], INNER[0], INNER[1]);
            // Between names there is nothing.
            let pieces: Vec<&[[f64; 3]]> = match slices.axes[input].is_named() {
                false => vec![&curves[input][component]],
                true => curves[input][component].chunk_by(|a, b| a[0].round() == b[0].round()).collect(),
            };
            for piece in &pieces {
                draw_bands(&mut canvas, &axes, piece, noise(component), (kind, named));
            }
            for (_, level) in limit.iter().flat_map(mcbo_core::Limit::levels) {
                canvas.open_style(&LIMIT);
                let [low, high] = axes.x;
                canvas.curve(&[axes.at(low, level), axes.at(high, level)], &LIMIT);
                canvas.close_group();
            }
            draw_rows(&mut canvas, &axes, &slices, component, input);
            canvas.open_style(&MODEL);
            for piece in &pieces {
                let mean = piece.iter().map(|&[x, mean, _]| axes.at(x, mean));
                canvas.curve(&mean.collect::<Vec<_>>(), &MODEL);
            }
            canvas.close_group();
            if about.is_some() {
                let x = axes.across(slices.axes[input].place(slices.held[input]));
                canvas.open_style(&ADVICE);
                canvas.curve(&[[x, 0.0], [x, INNER[1]]], &ADVICE);
                canvas.close_group();
            }
            canvas.close();
        }
    }
    let name = &problem.nodes()[node].name;
    let what = if kind == MechanismKind::Formula { "known formula of" } else { "what was learned of" };
    let sheet = Sheet {
        name: format!("mechanism-{name}"),
        title: titled(study.name(), &format!("{what} {}", shorten(name))),
        keys: keys(kind, named, called)
            .into_iter()
            .chain(limit.map(|_| Key::new(Swatch::Line, LIMIT, "limit")))
            .collect(),
        body: canvas,
        size: [
            left + columns as f64 * (INNER[0] + BETWEEN),
            4.0 + (components * lines) as f64 * (INNER[1] + BELOW),
        ],
        caption: form(study, network, node)
            + &caption(
                &slices,
                &names,
                shown.len(),
                (kind, named),
                problem.nodes()[node].hard.is_some(),
                called,
            ),
    };
    Some(sheet.picture())
}

/// The inputs to show, in their order.
fn shown(curves: &[Vec<Vec<[f64; 3]>>], components: usize) -> Vec<usize> {
    let change = |input: usize| {
        let height = |curve: &Vec<[f64; 3]>| {
            let [low, high] = span(curve.iter().map(|point| point[1]), 0.0);
            high - low
        };
        curves[input].iter().take(components).map(height).fold(0.0, f64::max)
    };
    let mut shown: Vec<usize> = (0..curves.len()).collect();
    shown.sort_by(|&a, &b| change(b).total_cmp(&change(a)).then(a.cmp(&b)));
    shown.truncate(INPUTS);
    shown.sort_unstable();
    shown
}

fn range<'a>(rows: &slice::Rows, curves: impl Iterator<Item = &'a [[f64; 3]]>, noise: f64) -> [f64; 2] {
    let values = || rows.iter().map(|(_, value)| *value);
    let curves: Vec<[f64; 3]> = curves.flatten().copied().collect();
    let usual = 4.0 * median(curves.iter().map(|point| point[2])).max(0.0);
    let ends: Vec<f64> = curves
        .iter()
        .flat_map(|&[_, mean, deviation]| [-2.0, 2.0].map(|times| mean + times * deviation.hypot(noise)))
        .collect();
    if rows.is_empty() {
        return span(ends, 0.05);
    }
    let core = span(values(), 0.0);
    let reach = STRETCH * usual.max(core[1] - core[0]);
    let near = ends.into_iter().map(|end| end.clamp(core[0] - reach, core[1] + reach));
    span(values().chain(near), 0.05)
}

fn draw_bands(
    canvas: &mut Canvas,
    axes: &Axes,
    curve: &[[f64; 3]],
    noise: f64,
    (kind, named): (MechanismKind, bool),
) {
    if kind != MechanismKind::Learned {
        return;
    }
    let edge = |shift: &dyn Fn(f64) -> f64| {
        let at = |&[x, mean, deviation]: &[f64; 3]| {
            let end = mean + shift(deviation);
            // No probability is beyond these.
            axes.at(x, if named { end.clamp(0.0, 1.0) } else { end })
        };
        curve.iter().map(at).collect::<Vec<[f64; 2]>>()
    };
    let wide = |deviation: f64| 2.0 * deviation.hypot(noise);
    canvas.open_style(&MODEL);
    canvas.area(&edge(&wide), &edge(&|deviation| -wide(deviation)), ".09");
    canvas.area(&edge(&|deviation| 2.0 * deviation), &edge(&|deviation| -2.0 * deviation), ".24");
    canvas.close_group();
}

fn draw_rows(canvas: &mut Canvas, axes: &Axes, slices: &Slices, component: usize, input: usize) {
    let rows = &slices.rows[component];
    let (r, most) = if rows.len() > 150 { (1.8, 0.45) } else { (2.6, 0.9) };
    canvas.open_style(&DATA);
    for (inputs, value) in rows {
        let opacity = most * (0.13 + 0.87 * slices.nearness(inputs, input));
        canvas.spot(axes.at(slices.axes[input].place(inputs[input]), *value), r, opacity);
    }
    canvas.close_group();
}

fn frame(canvas: &mut Canvas, axes: &Axes, input: &str, along: &Along, output: Option<String>) {
    let ([left, top], [width, height]) = (axes.corner, axes.size);
    axes.horizontal_lines(canvas, 4, output.is_some());
    axes.ticks_at(canvas, along.ticks(axes.x, 4));
    canvas.text([left + width / 2.0, top + height + 30.0], Anchor::Middle, 11.0, &shorten(input));
    if let Some(output) = output {
        let x = left - Axes::label_room(axes.y, 4) - 8.0;
        canvas.text_up([x, top + height / 2.0], 11.0, &shorten(&output));
    }
    canvas.frame(left, top, width, height);
}

fn keys(kind: MechanismKind, named: bool, about: Option<&str>) -> Vec<Key> {
    let here = about.map(|called| Key::new(Swatch::Line, ADVICE, called));
    if kind == MechanismKind::Formula {
        let keys = [Key::new(Swatch::Line, MODEL, "formula"), Key::new(Swatch::Point, DATA, "measured")];
        return keys.into_iter().chain(here).collect();
    }
    if named {
        let keys = [
            Key::new(Swatch::LineBand, MODEL, "probability, with two deviations of what is not known"),
            Key::new(Swatch::Point, CHOSEN, "came (1) or not (0); faint: far from the slice"),
        ];
        return keys.into_iter().chain(here).collect();
    }
    let keys = [
        Key::new(Swatch::LineBand, MODEL, "mean, with two deviations of what is not known"),
        Key::new(Swatch::Band, Style { color: "#9dc6e0", class: "p-noise", ..MODEL }, "with noise"),
        Key::new(Swatch::Point, CHOSEN, "measured; faint: far from the slice"),
    ];
    keys.into_iter().chain(here).collect()
}

/// The form of a learned mechanism; of a vector node that of each component, unless they agree.
fn form(study: &Study, network: &Network, node: usize) -> String {
    let problem = study.problem();
    let form = |component: usize| network.form(problem, node, component);
    let forms: Vec<String> = (0..problem.nodes()[node].outputs()).filter_map(form).collect();
    let Some(first) = forms.first() else { return String::new() };
    if forms.iter().all(|form| form == first) {
        return format!("Form: {first}. ");
    }
    let name = if problem.nodes()[node].is_choice() { share_name } else { slot_name };
    let named = forms.iter().enumerate().take(COMPONENTS);
    let named: Vec<String> =
        named.map(|(component, form)| format!("{}: {form}", name(problem, node, component))).collect();
    format!("Forms: {}. ", named.join("; "))
}

fn caption(
    slices: &Slices,
    names: &[String],
    shown: usize,
    (kind, named): (MechanismKind, bool),
    settable: bool,
    about: Option<&str>,
) -> String {
    let mut text = String::new();
    if names.len() > 1 {
        let held: Vec<String> = names
            .iter()
            .zip(slices.held.iter().zip(&slices.axes))
            .map(|(name, (value, along))| {
                let shown = along.names().get(*value as usize).cloned().unwrap_or_else(|| short(*value));
                format!("{name}\u{a0}=\u{a0}{shown}")
            })
            .collect();
        let commonest =
            if slices.axes.iter().any(Along::is_named) { ", choices at the commonest," } else { "" };
        text.push_str(&format!(
            "Each panel moves one input and holds the others {}: {}. Points are trials with their own values of all inputs; the fainter, the further these are from the held ones. ",
            match about {
                Some(RECOMMENDED) => "where the recommended intervention is expected to put them".to_owned(),
                Some(called) => format!("where {called} is expected to put them"),
                None => format!("at their medians{commonest} in the data"),
            },
            held.join(", ")
        ));
    }
    let rows = slices.rows.iter().map(Vec::len).min().unwrap_or(0);
    if rows == 0 {
        text.push_str("No trial has this node measured together with its parents yet. ");
    }
    if kind == MechanismKind::Learned && named {
        text.push_str("The band is two standard deviations of what is not known of the probability. ");
    } else if kind == MechanismKind::Learned {
        text.push_str("The dark band is two standard deviations of what is not known of the mechanism, the faint one adds its noise. ");
    }
    if settable {
        text.push_str("Trials in which the node was set say nothing of its mechanism and are left out. ");
    }
    if shown < names.len() {
        let rest = names.len() - shown;
        text.push_str(&format!("{rest} more inputs, along which it changes less, are not drawn. "));
    }
    if slices.rows.len() > COMPONENTS {
        let what = if named { "names" } else { "components" };
        text.push_str(&format!("{} more {what} are not drawn.", slices.rows.len() - COMPONENTS));
    }
    text
}
