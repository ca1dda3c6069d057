//! Two axes: from numbers to places, and their ticks.

use super::canvas::{Anchor, Canvas, text_width};
use super::numbers::fixed;
use super::ticks::{labelled_ticks, ticks};

/// The size of numbers at ticks.
const SMALL: f64 = 10.0;

/// A panel's inner part with its two ranges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    /// The upper left corner.
    pub corner: [f64; 2],
    /// Width and height.
    pub size: [f64; 2],
    /// The horizontal range, the lower end first.
    pub x: [f64; 2],
    /// The vertical range, the lower end first.
    pub y: [f64; 2],
}

impl Axes {
    /// How far right of the left end a number is.
    pub fn across(&self, value: f64) -> f64 {
        bounded(self.size[0] * (value - self.x[0]) / (self.x[1] - self.x[0]), self.size[0])
    }

    /// How far below the upper end a number is.
    pub fn down(&self, value: f64) -> f64 {
        bounded(self.size[1] * (self.y[1] - value) / (self.y[1] - self.y[0]), self.size[1])
    }

    /// The place of a point, from the corner.
    pub fn at(&self, x: f64, y: f64) -> [f64; 2] {
        [self.across(x), self.down(y)]
    }

    /// Lines across at round numbers, about so many, with the numbers on the left.
    pub fn horizontal_grid(&self, canvas: &mut Canvas, wanted: usize) {
        self.horizontal_lines(canvas, wanted, true);
    }

    /// Lines across at round numbers, about so many, with or without the numbers on the left.
    pub fn horizontal_lines(&self, canvas: &mut Canvas, wanted: usize, numbers: bool) {
        let ([left, top], right) = (self.corner, self.corner[0] + self.size[0]);
        for (value, text) in labelled_ticks(self.y, wanted) {
            let y = top + self.down(value);
            canvas.line([left, y], [right, y], 0.12, "");
            if numbers {
                canvas.text([left - 5.0, y + 3.5], Anchor::End, SMALL, &text);
            }
        }
    }

    /// The width of the numbers of [`Self::horizontal_grid`].
    pub fn label_room(y: [f64; 2], wanted: usize) -> f64 {
        let widths = labelled_ticks(y, wanted).into_iter().map(|(_, text)| text_width(&text, SMALL));
        widths.fold(0.0, f64::max) + 5.0
    }

    /// Ticks below the panel at round numbers, about so many.
    pub fn ticks(&self, canvas: &mut Canvas, wanted: usize) {
        labelled_ticks(self.x, wanted).into_iter().for_each(|(value, text)| self.tick(canvas, value, &text));
    }

    /// Ticks below the panel at whole round numbers, about so many.
    pub fn whole_ticks(&self, canvas: &mut Canvas, wanted: usize) {
        self.counting_ticks(canvas, wanted, f64::NEG_INFINITY);
    }

    /// Ticks below the panel at whole round numbers from the least on, about so many.
    pub fn counting_ticks(&self, canvas: &mut Canvas, wanted: usize, least: f64) {
        let (values, _) = ticks(self.x, wanted);
        for value in values.into_iter().filter(|value| value.fract() == 0.0 && *value >= least) {
            self.tick(canvas, value, &fixed(value, 0));
        }
    }

    /// Ticks below the panel at given places, with given words.
    pub fn ticks_at(&self, canvas: &mut Canvas, ticks: impl IntoIterator<Item = (f64, String)>) {
        ticks.into_iter().for_each(|(place, text)| self.tick(canvas, place, &text));
    }

    fn tick(&self, canvas: &mut Canvas, value: f64, text: &str) {
        let bottom = self.corner[1] + self.size[1];
        let x = self.corner[0] + self.across(value);
        canvas.line([x, bottom], [x, bottom + 4.0], 0.5, "");
        canvas.text([x, bottom + 15.0], Anchor::Middle, SMALL, text);
    }
}

/// Far outside is as good as outside, and browsers do not like numbers without bound.
fn bounded(place: f64, size: f64) -> f64 {
    place.clamp(-4.0 * size, 5.0 * size)
}
