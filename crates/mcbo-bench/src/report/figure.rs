//! Figures: charts with one legend, as parts of a page, as files and as pictures.

use mcbo_plot::draw::{Anchor, Canvas, FONTS, document, text_width, wrap};

use super::numbers::{escape, shorten};
use super::series::Series;

const GAP: f64 = 14.0;
const LEGEND_LINE: f64 = 20.0;
const LEGEND_SIZE: f64 = 12.0;

/// One drawing, its upper left corner at the origin.
pub(crate) struct Chart {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) body: String,
}

/// Charts that belong together.
pub(crate) struct Figure {
    /// The name of its files.
    pub(crate) name: String,
    /// What it shows, for those who cannot see it.
    pub(crate) title: String,
    pub(crate) charts: Vec<Chart>,
    /// Those in the legend.
    pub(crate) series: Vec<Series>,
}

impl Figure {
    /// Part of a page: the charts flow into as many columns as there is room for.
    pub(crate) fn html(&self) -> String {
        let mut out = format!("<figure aria-label=\"{}\">", escape(&self.title));
        out.push_str("<ul class=\"legend\">");
        for series in &self.series {
            let mut canvas = Canvas::default();
            canvas.swatch([0.0, 6.0], &series.style);
            out.push_str(&format!(
                "<li><svg width=\"28\" height=\"12\" aria-hidden=\"true\">{}</svg>{}</li>",
                canvas.text,
                escape(&shorten(&series.label))
            ));
        }
        let kind = if self.charts.len() > 1 { "panels" } else { "panels single" };
        out.push_str(&format!("</ul>\n<div class=\"{kind}\">\n"));
        for chart in &self.charts {
            out.push_str(&format!(
                "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" font-family=\"{FONTS}\">{}</svg>\n",
                chart.width, chart.height, chart.body
            ));
        }
        out.push_str("</div></figure>\n");
        out
    }

    /// A file of its own.
    pub(crate) fn svg(&self) -> String {
        let columns = columns(self.charts.len());
        let cell = self
            .charts
            .iter()
            .fold([0.0, 0.0], |[w, h]: [f64; 2], chart| [w.max(chart.width), h.max(chart.height)]);
        let width = GAP + columns as f64 * (cell[0] + GAP);
        let mut canvas = Canvas::default();
        let top = self.draw_legend(&mut canvas, width) + GAP;
        for (place, chart) in self.charts.iter().enumerate() {
            let (row, column) = (place / columns, place % columns);
            canvas.open_at(GAP + column as f64 * (cell[0] + GAP), top + row as f64 * (cell[1] + GAP));
            canvas.text.push_str(&chart.body);
            canvas.close_group();
        }
        let rows = self.charts.len().div_ceil(columns);
        let height = top + rows as f64 * (cell[1] + GAP);
        document([width, height], &self.title, &canvas.text)
    }

    /// Draws the title and the legend; returns where they end.
    fn draw_legend(&self, canvas: &mut Canvas, width: f64) -> f64 {
        canvas.bold([width / 2.0, 26.0], Anchor::Middle, 15.0, &self.title);
        let entries: Vec<(&Series, f64)> = self
            .series
            .iter()
            .map(|series| (series, 54.0 + text_width(&shorten(&series.label), LEGEND_SIZE)))
            .collect();
        let mut y = 46.0;
        for line in wrap(&entries, width - 2.0 * GAP) {
            let mut x = (width - line.iter().map(|(_, width)| width).sum::<f64>() + 20.0) / 2.0;
            for (series, width) in line {
                canvas.swatch([x, y], &series.style);
                canvas.text([x + 34.0, y + 4.0], Anchor::Start, LEGEND_SIZE, &shorten(&series.label));
                x += width;
            }
            y += LEGEND_LINE;
        }
        y - LEGEND_LINE / 2.0
    }
}

/// Columns that make a figure of charts neither wide nor long.
fn columns(charts: usize) -> usize {
    match charts {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}
