//! The few shapes that figures are made of, as SVG text.
//!
//! Ink is `currentColor`, so that a page can change it; a series is a group with a colour of its own. Nested `<svg>` elements
//! clip what leaves a panel: they need no names, which would have to be unique in a page.

use std::fmt::Write;

use super::html::escape;
use super::style::{Marker, Style};

/// Fonts of readers' systems; pictures are drawn with the one that we bring along.
pub const FONTS: &str = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif";

/// Where a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// SVG text that grows.
#[derive(Debug, Default)]
pub struct Canvas {
    /// What was drawn so far.
    pub text: String,
}

impl Canvas {
    /// Writing to a string cannot fail.
    pub(super) fn push(&mut self, arguments: std::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(arguments);
    }

    /// Opens a part that clips what lies outside of it.
    pub fn open(&mut self, x: f64, y: f64, width: f64, height: f64) {
        self.push(format_args!(r#"<svg x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}">"#));
    }

    /// Closes what [`Self::open`] opened.
    pub fn close(&mut self) {
        self.text.push_str("</svg>");
    }

    /// Opens a group in the colour of a series.
    pub fn open_style(&mut self, style: &Style) {
        self.push(format_args!(r#"<g class="{}" color="{}">"#, style.class, style.color));
    }

    /// Opens a group that a page can find by its class and its name.
    pub fn open_named(&mut self, class: &str, name: &str) {
        self.push(format_args!(r#"<g class="{class}" data-name="{}">"#, escape(name)));
    }

    /// Opens a group at a place.
    pub fn open_at(&mut self, x: f64, y: f64) {
        self.push(format_args!(r#"<g transform="translate({x:.1} {y:.1})">"#));
    }

    /// Closes a group.
    pub fn close_group(&mut self) {
        self.text.push_str("</g>");
    }

    /// The ground of a file; a page hides it and shows its own.
    pub fn ground(&mut self, width: f64, height: f64) {
        self.push(format_args!(
            r##"<rect class="ground" width="{width:.0}" height="{height:.0}" fill="#fff"/>"##
        ));
    }

    /// The frame of a panel.
    pub fn frame(&mut self, x: f64, y: f64, width: f64, height: f64) {
        self.push(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="none" stroke="currentColor" stroke-opacity=".35"/>"#
        ));
    }

    /// A straight line of some opacity.
    pub fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], opacity: f64, dash: &str) {
        self.push(format_args!(
            r#"<path d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}" stroke="currentColor" stroke-opacity="{opacity}"{}/>"#,
            dashed(dash)
        ));
    }

    /// A text in the ink of its group.
    pub fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, size: f64, text: &str) {
        self.write_text([x, y], anchor, size, text, "");
    }

    /// A bold text.
    pub fn bold(&mut self, at: [f64; 2], anchor: Anchor, size: f64, text: &str) {
        self.write_text(at, anchor, size, text, r#" font-weight="bold""#);
    }

    /// A text over lines, on a piece of ground.
    pub fn text_over(&mut self, at: [f64; 2], anchor: Anchor, size: f64, text: &str) {
        self.write_over(at, anchor, size, text, text_width(text, size) + 4.0);
    }

    pub(super) fn write_over(&mut self, [x, y]: [f64; 2], anchor: Anchor, size: f64, text: &str, width: f64) {
        let left = match anchor {
            Anchor::Start => x - 2.0,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width + 2.0,
        };
        let (top, height) = (y - 0.9 * size, 1.2 * size);
        self.push(format_args!(
            r##"<rect class="under" x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" fill="#fff" fill-opacity=".8"/>"##
        ));
        self.text([x, y], anchor, size, text);
    }

    /// A text that reads upwards.
    pub fn text_up(&mut self, [x, y]: [f64; 2], size: f64, text: &str) {
        let turn = format!(r#" transform="rotate(-90 {x:.1} {y:.1})""#);
        self.write_text([x, y], Anchor::Middle, size, text, &turn);
    }

    fn write_text(&mut self, [x, y]: [f64; 2], anchor: Anchor, size: f64, text: &str, extra: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.push(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="currentColor"{anchor}{extra}>{}</text>"#,
            escape(text)
        ));
    }

    /// A line through points, in the way of a series.
    pub fn curve(&mut self, points: &[[f64; 2]], style: &Style) {
        let list = path(points);
        self.push(format_args!(
            r#"<path d="{list}" fill="none" stroke="currentColor" stroke-width="{}" stroke-linejoin="round"{}/>"#,
            style.width,
            dashed(style.dash)
        ));
    }

    /// The area between two lines.
    pub fn band(&mut self, upper: &[[f64; 2]], lower: &[[f64; 2]]) {
        self.area(upper, lower, ".16");
    }

    /// The area between two lines, of some opacity.
    pub fn area(&mut self, upper: &[[f64; 2]], lower: &[[f64; 2]], opacity: &str) {
        let around: Vec<[f64; 2]> = upper.iter().chain(lower.iter().rev()).copied().collect();
        self.push(format_args!(
            r#"<path d="{}Z" fill="currentColor" fill-opacity="{opacity}"/>"#,
            path(&around)
        ));
    }

    /// The sign of a series.
    pub fn marker(&mut self, [x, y]: [f64; 2], marker: Marker, r: f64) {
        if marker == Marker::Circle {
            return self
                .push(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{r:.1}" fill="currentColor"/>"#));
        }
        let (s, d) = (0.9 * r, 1.3 * r);
        let (shape, filled) = match marker {
            Marker::Circle | Marker::Square => (vec![[-s, -s], [s, -s], [s, s], [-s, s]], true),
            Marker::Diamond => (vec![[0.0, -d], [d, 0.0], [0.0, d], [-d, 0.0]], true),
            Marker::Up => (vec![[0.0, -d], [d, r], [-d, r]], true),
            Marker::Down => (vec![[0.0, d], [d, -r], [-d, -r]], true),
            Marker::Cross => (vec![[-s, -s], [s, s], [s, -s], [-s, s]], false),
            Marker::Plus => (vec![[-d, 0.0], [d, 0.0], [0.0, -d], [0.0, d]], false),
        };
        let at: Vec<[f64; 2]> = shape.iter().map(|[dx, dy]| [x + dx, y + dy]).collect();
        if filled {
            self.push(format_args!(r#"<path d="{}Z" fill="currentColor"/>"#, path(&at)));
        } else {
            let (one, two) = (path(&at[..2]), path(&at[2..]));
            self.push(format_args!(r#"<path d="{one}{two}" stroke="currentColor" stroke-width="1.6"/>"#));
        }
    }

    /// A piece of line with its marker, for legends.
    pub fn swatch(&mut self, [x, y]: [f64; 2], style: &Style) {
        self.open_style(style);
        self.curve(&[[x, y], [x + 28.0, y]], style);
        self.marker([x + 14.0, y], style.marker, 3.2);
        self.close_group();
    }
}

pub(super) fn dashed(dash: &str) -> String {
    if dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dash}""#) }
}

pub(super) fn path(points: &[[f64; 2]]) -> String {
    let mut out = String::new();
    for (place, [x, y]) in points.iter().enumerate() {
        let _ = write!(out, "{}{x:.1} {y:.1}", if place == 0 { "M" } else { "L" });
    }
    out
}

/// The width of a text by the kinds of its letters, as they are in the widest of the common fonts; bold text is a tenth
/// wider.
pub fn line_width(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '\'' | '|' | '!' => 0.3,
        ' ' | '\u{a0}' | '.' | ',' | ':' | ';' | '(' | ')' | '[' | ']' | '/' => 0.36,
        'f' | 't' | 'r' | 'I' | '-' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '…' => 0.98,
        'A'..='Z' | '+' | '=' | '−' | '±' | '≤' | '–' => 0.74,
        c if c.is_ascii() || (c.is_alphabetic() && c < '\u{0530}') => 0.62,
        _ => 1.0,
    };
    size * text.chars().map(letter).sum::<f64>()
}

/// About the width of a text: no letter of the fonts in question is wider on average.
pub fn text_width(text: &str, size: f64) -> f64 {
    0.58 * size * text.chars().count() as f64
}

/// Lines of entries that are not wider than there is room for.
pub fn wrap<T>(entries: &[(T, f64)], room: f64) -> Vec<&[(T, f64)]> {
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

/// A file of its own: what was drawn, on a ground.
pub fn document([width, height]: [f64; 2], title: &str, body: &str) -> String {
    let mut ground = Canvas::default();
    ground.ground(width, height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" color=\"#222\" font-family=\"{FONTS}\">\
         <title>{}</title>{}{body}</svg>\n",
        escape(title),
        ground.text,
    )
}
