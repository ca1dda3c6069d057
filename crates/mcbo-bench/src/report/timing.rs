//! Seconds per suggestion: a row per task, a sign per competitor, a logarithmic axis.

use mcbo_plot::draw::{Anchor, Canvas, Style, text_width};

use crate::metrics::{Estimate, Metric};

use super::figure::Chart;
use super::series::Series;
use super::view::View;

const WIDTH: f64 = 760.0;
const LANE: f64 = 4.2;
const SMALL: f64 = 11.0;
/// Room above the rows and below.
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;

/// A task with the times of those who ran on it.
struct Row {
    name: String,
    times: Vec<(Style, usize, Estimate)>,
}

/// The chart, or `None` if no one took any time.
pub(crate) fn chart(view: &View<'_>) -> Option<(Chart, Vec<Series>)> {
    let series: Vec<Series> = view.drawn().into_iter().filter(Series::computes).collect();
    let row = |(task, declared): (usize, &crate::Task)| {
        let time = |(lane, series): (usize, &Series)| {
            let time = view.estimate(series, task, Metric::Seconds).filter(|time| time.mean > 0.0)?;
            Some((series.style, lane, time))
        };
        Row { name: declared.name().to_owned(), times: series.iter().enumerate().filter_map(time).collect() }
    };
    let rows: Vec<Row> =
        view.tasks().iter().enumerate().map(row).filter(|row| !row.times.is_empty()).collect();
    let times = || rows.iter().flat_map(|row| &row.times).map(|(_, _, time)| time);
    let lowest = times().map(|time| time.mean - time.error).filter(|low| *low > 0.0);
    let lowest = lowest.fold(times().next()?.mean, f64::min);
    let highest = times().map(|time| time.mean + time.error).fold(0.0, f64::max);
    let (low, high) = (lowest.log10(), highest.log10());
    // At least a decade, so that there is a label.
    let margin = (0.5 * (1.0 - (high - low))).max(0.08);
    let range = [low - margin, high + margin];
    let lanes = series.len().max(3) as f64 + 2.0;
    Some((draw(&rows, range, lanes * LANE), series))
}

fn draw(rows: &[Row], range: [f64; 2], height: f64) -> Chart {
    let names = rows.iter().map(|row| text_width(&row.name, SMALL)).fold(60.0, f64::max);
    let (left, inner) = (names + 14.0, WIDTH - names - 40.0);
    let x = |seconds: f64| left + inner * (seconds.log10() - range[0]) / (range[1] - range[0]);
    let total = TOP + height * rows.len() as f64;
    let mut canvas = Canvas::default();
    let few = range[1] - range[0] < 2.5;
    for decade in range[0].floor() as i32..=range[1].ceil() as i32 {
        for k in 1..10 {
            let value = f64::from(k) * 10f64.powi(decade);
            let inside = (range[0]..=range[1]).contains(&value.log10());
            if !inside {
                continue;
            }
            let at = x(value);
            canvas.line([at, TOP], [at, total], if k == 1 { 0.25 } else { 0.06 }, "");
            if k == 1 || (few && matches!(k, 2 | 5)) {
                canvas.text([at, total + 16.0], Anchor::Middle, SMALL, &seconds(k, decade));
            }
        }
    }
    for (place, row) in rows.iter().enumerate() {
        let top = TOP + height * place as f64;
        canvas.line([0.0, top], [WIDTH, top], 0.15, "");
        canvas.text([left - 8.0, top + height / 2.0 + 4.0], Anchor::End, SMALL, &row.name);
        for (style, lane, time) in &row.times {
            let y = top + LANE * (*lane as f64 + 1.5);
            canvas.open_style(style);
            let low = (time.mean - time.error).max(10f64.powf(range[0]));
            canvas.line([x(low), y], [x(time.mean + time.error), y], 1.0, "");
            canvas.marker([x(time.mean), y], style.marker, 3.4);
            canvas.close_group();
        }
    }
    canvas.line([0.0, total], [WIDTH, total], 0.15, "");
    Chart { width: WIDTH, height: total + BOTTOM, body: canvas.text }
}

/// Some times a power of ten of seconds.
fn seconds(times: i32, decade: i32) -> String {
    let (unit, power) = match decade {
        ..=-7 => ("ns", decade + 9),
        -6..=-4 => ("µs", decade + 6),
        -3..=-1 => ("ms", decade + 3),
        0.. => ("s", decade),
    };
    format!("{} {unit}", f64::from(times) * 10f64.powi(power))
}

#[cfg(test)]
mod tests {
    #[test]
    fn decades_have_units() {
        let names = [-6, -3, -1, 0, 2].map(|decade| super::seconds(1, decade));
        assert_eq!(names, ["1 µs", "1 ms", "100 ms", "1 s", "100 s"]);
        assert_eq!(super::seconds(5, -2), "50 ms");
    }
}
