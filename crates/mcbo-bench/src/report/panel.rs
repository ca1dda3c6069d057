//! A panel: the curves of all competitors on a task.

use mcbo_plot::draw::{Anchor, Axes, Canvas, Style};

use crate::metrics::Estimate;

use super::limits::vertical;
use super::numbers::{number, short, shorten};

/// The size of a panel, for one column of a page.
pub(crate) const WIDTH: f64 = 340.0;
pub(crate) const HEIGHT: f64 = 240.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 26.0;
const INNER: [f64; 2] = [WIDTH - LEFT - 12.0, HEIGHT - TOP - 36.0];
/// Points of a curve at most.
const POINTS: usize = 120;
/// Markers on a curve.
const MARKERS: usize = 5;
const SMALL: f64 = 10.0;

/// A curve with its look.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) style: Style,
    /// From round 0 on.
    pub(crate) values: Vec<Estimate>,
}

/// What a panel shows.
pub(crate) struct Panel {
    pub(crate) title: String,
    /// The name of the vertical axis.
    pub(crate) axis: &'static str,
    pub(crate) optimum: Option<f64>,
    pub(crate) lines: Vec<Line>,
}

impl Panel {
    /// The panel with its upper left corner at the origin.
    pub(crate) fn draw(&self) -> String {
        let curves: Vec<&[Estimate]> = self.lines.iter().map(|line| line.values.as_slice()).collect();
        let rounds = curves.iter().map(|curve| curve.len()).max().unwrap_or(0).saturating_sub(1).max(1);
        let scale = Axes {
            corner: [LEFT, TOP],
            size: INNER,
            x: [0.0, rounds as f64],
            y: vertical(&curves, self.optimum),
        };
        let mut canvas = Canvas::default();
        canvas.bold([LEFT + INNER[0] / 2.0, 17.0], Anchor::Middle, 12.0, &self.title);
        scale.horizontal_grid(&mut canvas, 5);
        scale.whole_ticks(&mut canvas, 4);
        canvas.text([LEFT + INNER[0] / 2.0, HEIGHT - 5.0], Anchor::Middle, SMALL, "round");
        canvas.text_up([11.0, TOP + INNER[1] / 2.0], SMALL, self.axis);
        canvas.open(LEFT, TOP, INNER[0], INNER[1]);
        self.draw_optimum(&mut canvas, &scale);
        // The first is the most important and lies on top.
        for (place, line) in self.lines.iter().enumerate().rev() {
            draw_line(&mut canvas, &scale, line, place);
        }
        self.draw_departed(&mut canvas, &scale);
        canvas.close();
        canvas.frame(LEFT, TOP, INNER[0], INNER[1]);
        canvas.text
    }

    fn draw_optimum(&self, canvas: &mut Canvas, scale: &Axes) {
        let Some(optimum) = self.optimum else { return };
        let label = format!("optimum {}", short(optimum));
        if optimum > scale.y[1] {
            canvas.text_over([6.0, 12.0], Anchor::Start, SMALL, &format!("{label} ↑"));
            return;
        }
        let y = scale.down(optimum);
        canvas.line([0.0, y], [INNER[0], y], 0.8, "5 4");
        canvas.text_over([6.0, y - 4.0], Anchor::Start, SMALL, &label);
    }

    /// Names those that end below the panel, with their last value.
    fn draw_departed(&self, canvas: &mut Canvas, scale: &Axes) {
        let mut departed: Vec<(&Line, f64)> = self
            .lines
            .iter()
            .filter_map(|line| Some((line, line.values.last()?.mean)))
            .filter(|(_, end)| *end < scale.y[0])
            .collect();
        departed.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (place, (line, end)) in departed.into_iter().enumerate() {
            let y = INNER[1] - 5.0 - 12.0 * place as f64;
            let text = format!("{} {} ↓", shorten(&line.label), number(end));
            canvas.open_style(&line.style);
            canvas.text_over([INNER[0] - 6.0, y], Anchor::End, SMALL, &text);
            canvas.close_group();
        }
    }
}

fn draw_line(canvas: &mut Canvas, scale: &Axes, line: &Line, place: usize) {
    let last = line.values.len().saturating_sub(1);
    let stride = last.div_ceil(POINTS).max(1);
    let finite = |round: &usize| (line.values[*round].mean + line.values[*round].error).is_finite();
    let rounds = (0..line.values.len()).filter(|round| round % stride == 0 || *round == last);
    let rounds: Vec<usize> = rounds.filter(finite).collect();
    let at = |sign: f64| {
        let point = |round: &usize| {
            let value = line.values[*round];
            [scale.across(*round as f64), scale.down(value.mean + sign * value.error)]
        };
        rounds.iter().map(point).collect::<Vec<_>>()
    };
    canvas.open_style(&line.style);
    if rounds.iter().any(|&round| line.values[round].error > 0.0) {
        canvas.band(&at(1.0), &at(-1.0));
    }
    let points = at(0.0);
    canvas.curve(&points, &line.style);
    // Each line has its markers elsewhere, so that those of lines that run together can be told apart.
    for k in 0..MARKERS {
        let share = (k as f64 + 0.25 + 0.5 * (place % 6) as f64 / 6.0) / MARKERS as f64;
        if let Some(point) = points.get((share * points.len() as f64) as usize) {
            canvas.marker(*point, line.style.marker, 2.8);
        }
    }
    canvas.close_group();
}
