//! Two axes: from numbers to places, and their ticks.

use super::canvas::{Anchor, Canvas, text_width};
use super::ticks::{tick_label, ticks};

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
        let (values, decimals) = ticks(self.y, wanted);
        for value in values {
            let y = top + self.down(value);
            canvas.line([left, y], [right, y], 0.12, "");
            if numbers {
                canvas.text([left - 5.0, y + 3.5], Anchor::End, SMALL, &tick_label(value, decimals));
            }
        }
    }

    /// The width of the numbers of [`Self::horizontal_grid`].
    pub fn label_room(y: [f64; 2], wanted: usize) -> f64 {
        let (values, decimals) = ticks(y, wanted);
        values.iter().map(|value| text_width(&tick_label(*value, decimals), SMALL)).fold(0.0, f64::max) + 5.0
    }

    /// Ticks below the panel at round numbers, about so many.
    pub fn ticks(&self, canvas: &mut Canvas, wanted: usize) {
        let (values, decimals) = ticks(self.x, wanted);
        self.draw_ticks(canvas, values, decimals);
    }

    /// Ticks below the panel at whole round numbers, about so many.
    pub fn whole_ticks(&self, canvas: &mut Canvas, wanted: usize) {
        let (values, _) = ticks(self.x, wanted);
        self.draw_ticks(canvas, values.into_iter().filter(|value| value.fract() == 0.0).collect(), 0);
    }

    fn draw_ticks(&self, canvas: &mut Canvas, values: Vec<f64>, decimals: usize) {
        let bottom = self.corner[1] + self.size[1];
        for value in values {
            let x = self.corner[0] + self.across(value);
            canvas.line([x, bottom], [x, bottom + 4.0], 0.5, "");
            canvas.text([x, bottom + 15.0], Anchor::Middle, SMALL, &tick_label(value, decimals));
        }
    }
}

/// Far outside is as good as outside, and browsers do not like numbers without bound.
fn bounded(place: f64, size: f64) -> f64 {
    place.clamp(-4.0 * size, 5.0 * size)
}
