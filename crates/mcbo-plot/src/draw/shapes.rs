//! Shapes that only pictures of a study have.

use super::canvas::{Anchor, Canvas, dashed, line_width, path};
use super::html::escape;

/// A rounded box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounded {
    /// The upper left corner.
    pub corner: [f64; 2],
    /// Width and height.
    pub size: [f64; 2],
    /// The radius of the corners.
    pub radius: f64,
    /// Opacity of the inside.
    pub fill: f64,
    /// Width and opacity of the rim.
    pub rim: [f64; 2],
    /// Lengths of dashes and gaps of the rim; empty for none.
    pub dash: &'static str,
}

impl Canvas {
    /// Opens a group in a colour of its own, which a dark page may change by the class.
    pub fn open_color(&mut self, class: &str, color: &str) {
        self.push(format_args!(r#"<g class="{class}" color="{color}">"#));
    }

    /// A rounded box in the ink of its group, on a piece of ground.
    pub fn rounded(&mut self, shape: &Rounded) {
        let Rounded { corner: [x, y], size: [width, height], radius, fill, rim: [rim, opacity], dash } =
            *shape;
        let place = format!(r#"x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}""#);
        self.push(format_args!(r##"<rect class="under" {place} fill="#fff"/>"##));
        self.push(format_args!(
            r#"<rect {place} fill="currentColor" fill-opacity="{fill}" stroke="currentColor" stroke-width="{rim}" stroke-opacity="{opacity}"{}/>"#,
            dashed(dash)
        ));
    }

    /// A filled box in the ink of its group.
    pub fn block(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], opacity: f64) {
        self.push(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="currentColor" fill-opacity="{opacity}"/>"#
        ));
    }

    /// A line through points, of some width and opacity.
    pub fn stroke(&mut self, points: &[[f64; 2]], width: f64, opacity: f64, dash: &str) {
        self.push(format_args!(
            r#"<path d="{}" fill="none" stroke="currentColor" stroke-width="{width}" stroke-opacity="{opacity}" stroke-linejoin="round"{}/>"#,
            path(points),
            dashed(dash)
        ));
    }

    /// A disc of some opacity.
    pub fn spot(&mut self, [x, y]: [f64; 2], r: f64, opacity: f64) {
        self.push(format_args!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{r:.1}" fill="currentColor" fill-opacity="{opacity:.2}"/>"#
        ));
    }

    /// A ring on a piece of ground.
    pub fn ring(&mut self, [x, y]: [f64; 2], r: f64) {
        self.push(format_args!(
            r##"<circle class="under" cx="{x:.1}" cy="{y:.1}" r="{r:.1}" fill="#fff"/><circle cx="{x:.1}" cy="{y:.1}" r="{r:.1}" fill="none" stroke="currentColor" stroke-width="1.4"/>"##
        ));
    }

    /// A way through points that leaves and reaches each of them horizontally, with an arrow's head at its end.
    pub fn arrow(&mut self, points: &[[f64; 2]], width: f64, opacity: f64) {
        let Some((&[x0, y0], rest)) = points.split_first() else { return };
        const HEAD: [f64; 2] = [7.0, 3.2];
        let mut way = format!("M{x0:.1} {y0:.1}");
        let mut from = [x0, y0];
        for (place, &[x, y]) in rest.iter().enumerate() {
            let end = if place + 1 == rest.len() { x - HEAD[0] + 1.0 } else { x };
            let middle = 0.5 * (from[0] + end);
            way.push_str(&format!("C{middle:.1} {:.1} {middle:.1} {y:.1} {end:.1} {y:.1}", from[1]));
            from = [x, y];
        }
        let [x, y] = from;
        self.push(format_args!(
            r#"<path d="{way}" fill="none" stroke="currentColor" stroke-width="{width}" stroke-opacity="{opacity}"/>"#
        ));
        let head = [[x, y], [x - HEAD[0], y - HEAD[1]], [x - HEAD[0], y + HEAD[1]]];
        self.push(format_args!(
            r#"<path d="{}Z" fill="currentColor" fill-opacity="{opacity}"/>"#,
            path(&head)
        ));
    }

    /// A text over lines, on a piece of ground that is not wider than need be.
    pub fn label(&mut self, at: [f64; 2], anchor: Anchor, size: f64, text: &str) {
        self.write_over(at, anchor, size, text, line_width(text, size) + 3.0);
    }

    /// A text that stands back.
    pub fn note(&mut self, [x, y]: [f64; 2], anchor: Anchor, size: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.push(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="currentColor" fill-opacity=".72" text-anchor="{anchor}">{}</text>"#,
            escape(text)
        ));
    }
}
