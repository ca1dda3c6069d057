//! All trials at once: a line each, through what was decided and what came out.

mod columns;

use mcbo_core::{Intervention, Recommendation, Study, Trial, TrialState};

use crate::Picture;
use crate::draw::{Anchor, Canvas, Style, line_width, number, shorten};
use crate::page::{ADVICE, Key, SMALL, Sheet, Swatch, titled};
use crate::ramp::color;
use crate::statistics::{median, sorted};
use columns::{Column, Meeting, Source, columns};

/// Lines that are drawn at most: the best half, and the latest.
const LINES: usize = 500;
const HEIGHT: f64 = 290.0;
/// The first line of names, the second, and the upper ends of the axes.
const NAMES: [f64; 2] = [12.0, 26.0];
const TOP: f64 = 38.0;
/// The notch below axes of targets, for those that were not set.
const NOTCH: f64 = 26.0;
/// Shades of the ramp.
const SHADES: usize = 24;
const RAMP: f64 = 12.0;
const HIGHLIGHT: Style = Style { width: 2.6, dash: "", ..ADVICE };

struct Line<'a> {
    intervention: &'a Intervention,
    values: &'a [Option<f64>],
    reward: f64,
}

/// Every complete trial as a line across all levers and all nodes, the reward last, coloured by the reward. The recommended
/// intervention with what the model expects of it lies on top.
pub fn parallel(study: &Study, recommendation: Option<&Recommendation>) -> Picture {
    let problem = study.problem();
    let (lines, left_out) = lines(study);
    let expected = recommendation.map(|advice| (&advice.intervention, means(study, advice)));
    let mut all: Vec<(&Intervention, &[Option<f64>])> =
        lines.iter().map(|line| (line.intervention, line.values)).collect();
    all.extend(expected.iter().map(|(intervention, means)| (*intervention, means.as_slice())));
    let (columns, hidden) = columns(problem, &all);
    let shades = Shades::new(&lines, problem.sign());
    let widest =
        columns.iter().map(|column| 1.1 * line_width(&shorten(&column.name), 11.0)).fold(0.0, f64::max);
    let gaps = columns.len().saturating_sub(1).max(1) as f64;
    // Names stand in two lines, so each has the room of two gaps.
    let step = (720.0 / gaps).clamp(58.0, 150.0).max(0.5 * widest + 8.0);
    let crowded = widest + 8.0 > step;
    let first = 0.5 * line_width(&columns.first().map_or(String::new(), |c| shorten(&c.name)), 11.0);
    let left = first.max(36.0);
    let x = |place: usize| left + step * place as f64;
    let y = |column: &Column, meeting: Meeting| match meeting {
        Meeting::At(value) => column.height(value),
        Meeting::NotSet => Some(TOP + HEIGHT + NOTCH),
        Meeting::Missing => None,
    };
    let pieces = |intervention: &Intervention, values: &[Option<f64>]| {
        let mut pieces: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
        for (place, column) in columns.iter().enumerate() {
            match y(column, column.source.of(problem, intervention, values)) {
                Some(y) => pieces.last_mut().into_iter().for_each(|piece| piece.push([x(place), y])),
                None => pieces.push(Vec::new()),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    };
    // One line of names takes less room than two.
    let above = if crowded { 0.0 } else { NAMES[1] - NAMES[0] };
    let mut canvas = Canvas::default();
    canvas.open_at(0.0, -above);
    let (width, opacity) = if lines.len() > 120 { (0.9, 0.45) } else { (1.3, 0.75) };
    for line in &lines {
        canvas.open_color("p-line", &shades.color(line.reward));
        pieces(line.intervention, line.values)
            .iter()
            .for_each(|piece| draw_piece(&mut canvas, piece, width, opacity));
        canvas.close_group();
    }
    if let Some((intervention, means)) = &expected {
        canvas.open_style(&HIGHLIGHT);
        for piece in pieces(intervention, means) {
            canvas.curve(&piece, &HIGHLIGHT);
            piece.iter().for_each(|at| canvas.marker(*at, HIGHLIGHT.marker, 3.4));
        }
        canvas.close_group();
    }
    for (place, column) in columns.iter().enumerate() {
        draw_axis(&mut canvas, column, x(place), NAMES[if crowded { place % 2 } else { 1 }]);
    }
    if let Some(last) = columns.last().filter(|_| !lines.is_empty()) {
        draw_ramp(&mut canvas, last, &shades, x(columns.len() - 1) + 3.0);
    }
    let right = x(columns.len() - 1);
    if lines.is_empty() {
        let at = [0.5 * (left + right), TOP + HEIGHT / 2.0];
        canvas.text_over(at, Anchor::Middle, 14.0, "nothing measured yet");
    }
    canvas.close_group();
    let mut keys = Vec::new();
    if expected.is_some() {
        keys.push(Key::new(Swatch::Line, HIGHLIGHT, "recommended, with what is expected of it"));
    }
    let labels = shades.ends().into_iter().map(|(_, label)| line_width(&label, SMALL)).fold(0.0, f64::max);
    let room = (RAMP + 8.0 + labels).max(0.5 * widest);
    let notch = columns.iter().any(|column| matches!(column.source, Source::Target(..)));
    Sheet {
        name: "parallel".into(),
        title: titled(study.name(), "what was decided and what came out"),
        keys,
        body: canvas,
        size: [right + room, TOP + HEIGHT - above + if notch { NOTCH + 22.0 } else { 16.0 }],
        caption: caption(lines.len(), left_out, hidden, &shades, notch),
    }
    .picture()
}

/// The trials with a reward, the worst first so that the best lie on top, and how many were left out.
fn lines(study: &Study) -> (Vec<Line<'_>>, usize) {
    let problem = study.problem();
    let slot = problem.slot(problem.reward()).start;
    let line = |trial: &Trial| {
        let reward = problem.sign() * trial.values.as_ref()?.get(slot).copied().flatten()?;
        (trial.state == TrialState::Complete && reward.is_finite()).then_some((trial.number, reward))
    };
    let mut found: Vec<(usize, f64)> = study.trials().iter().filter_map(line).collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let left_out = found.len().saturating_sub(LINES);
    if left_out > 0 {
        let best = found.split_off(found.len() - LINES / 2);
        found.sort_by_key(|(number, _)| *number);
        let mut kept = found.split_off(found.len() - (LINES - LINES / 2));
        kept.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        found = kept;
        found.extend(best);
    }
    let whole = |(number, reward): (usize, f64)| {
        let trial = &study.trials()[number - 1];
        let values = trial.values.as_deref().unwrap_or(&[]);
        Line { intervention: trial.intervention(), values, reward }
    };
    (found.into_iter().map(whole).collect(), left_out)
}

/// What is expected of every slot under the recommended intervention.
fn means(study: &Study, advice: &Recommendation) -> Vec<Option<f64>> {
    let problem = study.problem();
    let mut means = vec![None; problem.slots()];
    for (node, values) in &advice.intervention.targets {
        problem.slot(*node).zip(values).for_each(|(slot, value)| means[slot] = Some(*value));
    }
    let (names, numbers): (Vec<_>, Vec<_>) =
        advice.predicted.iter().partition(|forecast| problem.nodes()[forecast.node].is_choice());
    // Of names the most probable one.
    for node in problem.graph().order() {
        let own = names.iter().filter(|forecast| forecast.node == *node);
        if let Some(most) = own.max_by(|a, b| a.mean.total_cmp(&b.mean)) {
            means[problem.slot(*node).start] = Some(most.component as f64);
        }
    }
    for forecast in numbers {
        means[problem.slot(forecast.node).start + forecast.component] = Some(forecast.mean);
    }
    means
}

impl Column {
    /// Where a value is on the axis.
    fn height(&self, value: f64) -> Option<f64> {
        self.height_of(self.along.place(value))
    }

    /// Where a place of the axis is drawn.
    fn height_of(&self, value: f64) -> Option<f64> {
        let share = |[low, high]: [f64; 2]| {
            if self.flipped { (value - low) / (high - low) } else { (high - value) / (high - low) }
        };
        self.range.map(|range| TOP + HEIGHT * share(range))
    }
}

/// Rewards as shades.
struct Shades {
    low: f64,
    high: f64,
    /// Whether there are rewards below the lower end.
    cut: bool,
    /// −1 where small values are good: rewards are in the direction of improvement here.
    sign: f64,
}

impl Shades {
    /// A few very bad trials do not take all shades from the others.
    fn new(lines: &[Line<'_>], sign: f64) -> Self {
        let rewards = sorted(lines.iter().map(|line| line.reward));
        let (least, high) = (rewards.first().copied().unwrap_or(0.0), rewards.last().copied().unwrap_or(1.0));
        let low = least.max(high - 5.0 * (high - median(rewards.iter().copied())));
        let low = if low.is_finite() && low < high { low } else { least };
        Self { low, high, cut: least < low, sign }
    }

    /// The ends of the ramp with their numbers, in the user's own sign, the best first.
    fn ends(&self) -> Vec<(f64, String)> {
        let [high, low] = [self.high, self.low].map(|reward| self.sign * reward);
        let beyond = if self.sign < 0.0 { "≥ " } else { "≤ " };
        let worst = format!("{}{}", if self.cut { beyond } else { "" }, number(low));
        let mut ends = vec![(high, number(high)), (low, worst)];
        ends.truncate(if self.high > self.low { 2 } else { 1 });
        ends
    }

    fn color(&self, reward: f64) -> String {
        let share = if self.high > self.low { (reward - self.low) / (self.high - self.low) } else { 1.0 };
        color((share.clamp(0.0, 1.0) * SHADES as f64).round() / SHADES as f64)
    }
}

/// A piece of a line between two gaps; a point if it has no length.
fn draw_piece(canvas: &mut Canvas, piece: &[[f64; 2]], width: f64, opacity: f64) {
    match piece {
        [alone] => canvas.spot(*alone, 2.0, opacity),
        _ => canvas.stroke(piece, width, opacity, ""),
    }
}

fn draw_axis(canvas: &mut Canvas, column: &Column, x: f64, name: f64) {
    let bottom = TOP + HEIGHT;
    canvas.line([x, TOP], [x, bottom], 0.7, "");
    if name < NAMES[1] {
        canvas.line([x, name + 4.0], [x, TOP], 0.25, "1 2");
    }
    let label = shorten(&column.name);
    if column.source.is_lever() {
        canvas.label([x, name], Anchor::Middle, 11.0, &label);
    } else {
        canvas.bold([x, name], Anchor::Middle, 11.0, &label);
    }
    let ticks = column.range.map(|range| column.along.ticks(range, 4)).unwrap_or_default();
    for (place, text) in ticks {
        let Some(y) = column.height_of(place) else { continue };
        canvas.line([x - 3.0, y], [x, y], 0.7, "");
        canvas.label([x - 5.0, y + 3.5], Anchor::End, SMALL, &text);
    }
    if matches!(column.source, Source::Target(..)) {
        canvas.line([x - 7.0, bottom + NOTCH], [x + 7.0, bottom + NOTCH], 0.7, "");
        canvas.label([x, bottom + NOTCH + 14.0], Anchor::Middle, SMALL, "not set");
    }
}

/// The colours of the rewards, along the axis of the reward.
fn draw_ramp(canvas: &mut Canvas, column: &Column, shades: &Shades, x: f64) {
    let Some([low, high]) = column.range else { return };
    let y = |value: f64| column.height(value).unwrap_or(TOP);
    let step = HEIGHT / 60.0;
    for k in 0..60 {
        let down = (f64::from(k) + 0.5) / 60.0 * (high - low);
        let value = if column.flipped { low + down } else { high - down };
        canvas.open_color("p-line", &shades.color(shades.sign * value));
        // Each reaches under the next: no seams.
        let height = if k < 59 { 1.6 * step } else { step };
        canvas.block([x, TOP + f64::from(k) * step], [RAMP, height], 1.0);
        canvas.close_group();
    }
    let mut least = TOP + 3.5;
    for (end, label) in shades.ends() {
        // The two numbers keep apart.
        let at = (y(end) + 3.5).clamp(least, TOP + HEIGHT + 3.5);
        canvas.text([x + RAMP + 4.0, at], Anchor::Start, SMALL, &label);
        least = at + 12.0;
    }
}

fn caption(lines: usize, left_out: usize, hidden: usize, shades: &Shades, notch: bool) -> String {
    let mut text = String::from("Plain names: what was decided; bold names: what was measured. ");
    if lines > 0 {
        text.push_str("A line is a trial with its reward measured. The more it stands out, the better is its reward, the last axis; up is better there. ");
    }
    if shades.cut {
        text.push_str("All rewards worse than the lower number have the palest colour. ");
    }
    if notch {
        text.push_str("Lines through “not set” left that node to its causes. ");
    }
    text.push_str("A line has a gap where a value was not measured. ");
    if left_out > 0 {
        text.push_str(&format!(
            "The best {} trials and the latest {} others are drawn, {left_out} are not. ",
            LINES / 2,
            LINES - LINES / 2
        ));
    }
    if hidden > 0 {
        text.push_str(&format!("{hidden} axes are left out, those furthest from the reward."));
    }
    text
}
