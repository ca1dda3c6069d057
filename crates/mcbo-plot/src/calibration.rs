//! Whether a node's model may be believed: each row predicted by the others.

use mcbo_core::{LeftOutRow, Network, Study};

use crate::Picture;
use crate::draw::{Anchor, Axes, Canvas, Style, shorten, span};
use crate::page::{CHOSEN, Key, MODEL, SMALL, Sheet, Swatch, measured, titled};
use crate::statistics::binomial_band;

/// Inner size of a panel.
const INNER: [f64; 2] = [270.0, 230.0];
const TOP: f64 = 22.0;
const BELOW: f64 = 42.0;
/// Components that are drawn.
const COMPONENTS: usize = 4;
/// Nominal shares at which bands are drawn.
const STEPS: usize = 200;
const GREY: Style = Style { width: 1.2, dash: "4 3", ..Style::new("p-ideal", "#8a8a8a") };
/// The share of values within two standard deviations.
const TWO_DEVIATIONS: f64 = 0.954_499_736;

/// How well a learned node foretells each trial from all the others, hyper-parameters held
/// ([`Network::left_out`]): how often its central
/// intervals hold the measured value, and the values against the predictions. `None` if the node is not learned or the
/// network does not belong to the study's data.
///
/// Components that are learned together are left out together.
pub fn calibration(study: &Study, network: &Network, node: usize) -> Option<Picture> {
    let problem = study.problem();
    let all = network.left_out(problem, study.data(), node);
    // A single row is predicted by nothing.
    let rows: Vec<&Vec<LeftOutRow>> = all.iter().filter(|rows| rows.len() > 1).take(COMPONENTS).collect();
    if rows.is_empty() {
        return None;
    }
    let rooms = rows.iter().map(|rows| Axes::label_room(range(rows), 5)).fold(0.0, f64::max);
    let lefts = [48.0, 48.0 + INNER[0] + 44.0 + rooms];
    let height = TOP + INNER[1] + BELOW;
    let mut canvas = Canvas::default();
    let components = (0..all.len()).filter(|&component| all[component].len() > 1);
    for (line, component) in components.take(COMPONENTS).enumerate() {
        let (rows, top) = (&all[component], TOP + line as f64 * (height + 6.0));
        let name = shorten(&measured(problem, node, component));
        draw_coverage(&mut canvas, rows, [lefts[0], top], &name);
        draw_values(&mut canvas, rows, [lefts[1], top], &name);
    }
    let lines = rows.len() as f64;
    let hits = |rows: &Vec<LeftOutRow>| rows.iter().filter(|row| inside(row)).count();
    let (held, total) =
        rows.iter().fold((0, 0), |(held, total), rows| (held + hits(rows), total + rows.len()));
    let mut caption = format!(
        "Each trial is predicted by the model conditioned on all other trials; its hyper-parameters are held, samples \
         of them weighed by the other trials alone. \
         {held} of {total} measured values lie within two deviations of their prediction (expected: {:.0}). \
         Left: a line above the diagonal means the model is too cautious, below it that it is too sure; a right model \
         leaves the band in 5\u{a0}% of places. Right: bars are two deviations, noise included.",
        TWO_DEVIATIONS * total as f64
    );
    let drawable = all.iter().filter(|rows| rows.len() > 1).count();
    if drawable > COMPONENTS {
        caption.push_str(&format!(" {} more components are not drawn.", drawable - COMPONENTS));
    }
    let name = &problem.nodes()[node].name;
    let sheet = Sheet {
        name: format!("calibration-{name}"),
        title: titled(study.name(), &format!("{} foretold from the other trials", shorten(name))),
        keys: vec![
            Key::new(Swatch::Line, MODEL, "share that central intervals hold"),
            Key::new(Swatch::Band, GREY, "95\u{a0}% band of a right model"),
            Key::new(Swatch::Point, MODEL, "within two deviations"),
            Key::new(Swatch::Point, CHOSEN, "outside"),
        ],
        body: canvas,
        size: [lefts[1] + INNER[0] + 6.0, lines * (height + 6.0) - 6.0],
        caption,
    };
    Some(sheet.picture())
}

fn inside(row: &LeftOutRow) -> bool {
    (row.value - row.mean).abs() <= 2.0 * row.deviation
}

fn range(rows: &[LeftOutRow]) -> [f64; 2] {
    let core = span(rows.iter().map(|row| row.value), 0.0);
    let reach = 0.5 * (core[1] - core[0]);
    let ends = rows.iter().flat_map(|row| [row.mean - 2.0 * row.deviation, row.mean + 2.0 * row.deviation]);
    let near = ends.map(|end| end.clamp(core[0] - reach, core[1] + reach));
    span(rows.iter().map(|row| row.value).chain(near), 0.05)
}

/// The share of rows that central intervals of every nominal share hold.
fn draw_coverage(canvas: &mut Canvas, rows: &[LeftOutRow], corner: [f64; 2], name: &str) {
    let axes = Axes { corner, size: INNER, x: [0.0, 100.0], y: [0.0, 100.0] };
    frame(canvas, &axes, &format!("{name}: intervals"), "nominal share of the interval, %", "share held, %");
    canvas.open(corner[0], corner[1], INNER[0], INNER[1]);
    let nominal = |step: usize| step as f64 / STEPS as f64;
    let bands: Vec<[f64; 2]> = (0..=STEPS).map(|step| binomial_band(rows.len(), nominal(step))).collect();
    let edge = |end: usize| {
        let at = |(step, band): (usize, &[f64; 2])| axes.at(100.0 * nominal(step), 100.0 * band[end]);
        bands.iter().enumerate().map(at).collect::<Vec<_>>()
    };
    canvas.open_style(&GREY);
    canvas.area(&edge(1), &edge(0), ".2");
    canvas.curve(&[axes.at(0.0, 0.0), axes.at(100.0, 100.0)], &GREY);
    canvas.close_group();
    // A value is in the central interval of share p if its probability is within p/2 of a half.
    let mut needed: Vec<f64> = rows.iter().map(|row| 100.0 * (2.0 * row.below - 1.0).abs()).collect();
    needed.sort_by(f64::total_cmp);
    let mut line = vec![axes.at(0.0, 0.0)];
    for (place, &share) in needed.iter().enumerate() {
        let held = 100.0 / rows.len() as f64;
        line.push(axes.at(share, held * place as f64));
        line.push(axes.at(share, held * (place + 1) as f64));
    }
    line.push(axes.at(100.0, 100.0));
    canvas.open_style(&MODEL);
    canvas.curve(&line, &MODEL);
    canvas.close_group();
    canvas.close();
}

fn draw_values(canvas: &mut Canvas, rows: &[LeftOutRow], corner: [f64; 2], name: &str) {
    let range = range(rows);
    let axes = Axes { corner, size: INNER, x: range, y: range };
    frame(canvas, &axes, &format!("{name}: values"), "measured", "predicted by the others");
    canvas.open(corner[0], corner[1], INNER[0], INNER[1]);
    canvas.open_style(&GREY);
    canvas.curve(&[axes.at(range[0], range[0]), axes.at(range[1], range[1])], &GREY);
    canvas.close_group();
    let faint = if rows.len() > 80 { 0.15 } else { 0.35 };
    for (style, within) in [(MODEL, true), (CHOSEN, false)] {
        canvas.open_style(&style);
        for row in rows.iter().filter(|row| inside(row) == within) {
            let end = |sign: f64| axes.at(row.value, row.mean + sign * 2.0 * row.deviation);
            canvas.stroke(&[end(1.0), end(-1.0)], 1.4, faint, "");
            canvas.spot(axes.at(row.value, row.mean), 2.8, 0.9);
        }
        canvas.close_group();
    }
    canvas.close();
}

fn frame(canvas: &mut Canvas, axes: &Axes, title: &str, across: &str, up: &str) {
    let ([left, top], [width, height]) = (axes.corner, axes.size);
    canvas.bold([left, top - 7.0], Anchor::Start, 11.0, title);
    axes.horizontal_grid(canvas, 5);
    axes.ticks(canvas, 5);
    canvas.text([left + width / 2.0, top + height + 31.0], Anchor::Middle, SMALL, across);
    canvas.text_up([left - Axes::label_room(axes.y, 5) - 8.0, top + height / 2.0], SMALL, up);
    canvas.frame(left, top, width, height);
}
