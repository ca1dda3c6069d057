//! How a series looks.

/// The sign at the points of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square that stands.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle that points up.
    Up,
    /// A triangle that points down.
    Down,
    /// Two strokes, aslant.
    Cross,
    /// Two strokes, upright.
    Plus,
}

/// How a series looks, everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// On a light ground.
    pub color: &'static str,
    /// The name by which a dark page gives another colour.
    pub class: &'static str,
    /// Lengths of dashes and gaps; empty for a line without gaps.
    pub dash: &'static str,
    /// The sign at its points.
    pub marker: Marker,
    /// The width of its line.
    pub width: f64,
}

impl Style {
    /// A line without gaps, with discs.
    pub const fn new(class: &'static str, color: &'static str) -> Self {
        Self { color, class, dash: "", marker: Marker::Circle, width: 1.6 }
    }
}
