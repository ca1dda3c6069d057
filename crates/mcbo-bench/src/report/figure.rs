//! Figures: charts with one legend, as parts of a page, as files and as pictures.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::numbers::{escape, shorten};
use super::series::Series;
use super::svg::{Anchor, Canvas, text_width};

/// Fonts of readers' systems; pictures are drawn with the one that we bring along.
const FONTS: &str = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif";
/// Dots of a picture per unit of the figure.
const RESOLUTION: f32 = 2.0;
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
        let mut ground = Canvas::default();
        ground.ground(width, height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" color=\"#222\" font-family=\"{FONTS}\">\
             <title>{}</title>{}{}</svg>\n",
            escape(&self.title),
            ground.text,
            canvas.text
        )
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

/// Lines of entries that are not wider than there is room for.
fn wrap<T>(entries: &[(T, f64)], room: f64) -> Vec<&[(T, f64)]> {
    let mut lines = Vec::new();
    let (mut start, mut used) = (0, 0.0);
    for (place, (_, width)) in entries.iter().enumerate() {
        if used + width > room && place > start {
            lines.push(&entries[start..place]);
            (start, used) = (place, 0.0);
        }
        used += width;
    }
    lines.push(&entries[start..]);
    lines
}

/// Columns that make a figure of charts neither wide nor long.
fn columns(charts: usize) -> usize {
    match charts {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// A figure as a picture.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = Database::new();
    for font in [dejavu::sans_condensed::regular(), dejavu::sans_condensed::bold()] {
        fonts.load_font_data(font.to_vec());
    }
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|family| family.0.clone());
    fonts.set_sans_serif_family(family.unwrap_or_default());
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(RESOLUTION).ok_or("it has no size")?;
    let mut picture = Pixmap::new(size.width(), size.height()).ok_or("it is too large")?;
    resvg::render(&tree, Transform::from_scale(RESOLUTION, RESOLUTION), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}
