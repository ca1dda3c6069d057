//! Values that something decided can take when it cannot take all of a range.

/// Evenly spaced values: `low`, `low + step`, and so on. Named choices are the grid of their places, 0, 1, 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    low: f64,
    step: f64,
    count: usize,
    /// The last value: the end of the range where rounding would go beyond it.
    last: f64,
    /// Decimals that the first value and the step are written with.
    decimals: usize,
}

/// A value this close to one of the grid, in steps, is that one: what is left is rounding.
const ROUNDING: f64 = 1e-6;

/// More steps than this cannot be told apart by numbers.
const MOST: f64 = 9_007_199_254_740_992.0;

impl Grid {
    /// The values of a range; `None` if the step is no positive number, goes beyond the range at once, or makes more values than can
    /// be counted.
    pub(crate) fn new([low, high]: [f64; 2], step: f64) -> Option<Self> {
        let steps = (high - low) / step;
        let usable = step.is_finite() && step > 0.0 && steps < MOST && steps + ROUNDING >= 1.0;
        let decimals = decimals(low).max(decimals(step));
        usable.then(|| {
            let count = (steps + ROUNDING) as usize + 1;
            let grid = Self { low, step, count, last: high, decimals };
            Self { last: grid.value(count - 1), ..grid }
        })
    }

    /// The grid of one value, of a range of this width.
    pub(crate) fn single(value: f64, width: f64) -> Self {
        Self { low: value, step: width, count: 1, last: value, decimals: decimals(value) }
    }

    /// Number of values, at least two unless one is fixed.
    pub fn count(self) -> usize {
        self.count
    }

    /// The distance between two neighbours.
    pub fn step(self) -> f64 {
        self.step
    }

    /// The value at a place, as it would be written: 0.3 and not 0.30000000000000004.
    pub fn value(self, place: usize) -> f64 {
        let value = self.low + place.min(self.count - 1) as f64 * self.step;
        let written = match self.decimals > LONGEST {
            true => value,
            false => format!("{value:.*}", self.decimals).parse().unwrap_or(value),
        };
        written.min(self.last)
    }

    /// The place of the value next to a number.
    pub fn nearest(self, value: f64) -> usize {
        let place = ((value - self.low) / self.step).round().max(0.0);
        (place as usize).min(self.count - 1)
    }

    /// Whether a number is one of the values.
    pub fn holds(self, value: f64) -> bool {
        (self.value(self.nearest(value)) - value).abs() <= ROUNDING * self.step
    }

    /// All values in order.
    pub fn values(self) -> impl Iterator<Item = f64> {
        (0..self.count).map(move |place| self.value(place))
    }
}

/// More decimals than this are no numbers that anybody wrote.
const LONGEST: usize = 15;

/// Decimals of the shortest text that is this number.
fn decimals(value: f64) -> usize {
    // The plain form never has an exponent.
    let text = format!("{value}");
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_they_are_written() {
        let values = |range, step| Grid::new(range, step).expect("a grid").values().collect::<Vec<_>>();
        assert_eq!(values([0.0, 12.0], 3.0), [0.0, 3.0, 6.0, 9.0, 12.0]);
        // The last value lies within the range.
        assert_eq!(values([1.0, 10.0], 4.0), [1.0, 5.0, 9.0]);
        assert_eq!(values([0.0, 0.4], 0.1), [0.0, 0.1, 0.2, 0.3, 0.4]);
        assert_eq!(values([-0.05, 0.1], 0.05), [-0.05, 0.0, 0.05, 0.1]);
        assert_eq!(values([0.0, 1.0], 1.0 / 3.0).len(), 4);
        // Nothing lies beyond the range, however a step was rounded.
        assert_eq!(values([0.0, 100.0], 33.333_333_4), [0.0, 33.333_333_4, 66.666_666_8, 100.0]);
        assert_eq!(values([0.0, 1.0], 0.333_333_333_4)[3], 1.0);
        assert_eq!(values([0.0, 10.0], 10.000_000_1), [0.0, 10.0]);
        assert_eq!(values([1e6, 1e6 + 3.0], 1.5), [1e6, 1e6 + 1.5, 1e6 + 3.0]);
    }

    #[test]
    fn numbers_are_of_the_grid_or_not() {
        let grid = Grid::new([0.0, 0.9], 0.3).expect("a grid");
        assert_eq!((grid.count(), grid.nearest(-5.0), grid.nearest(0.46), grid.nearest(7.0)), (4, 0, 2, 3));
        assert!(grid.holds(0.1 + 0.2) && grid.holds(0.9) && !grid.holds(0.31) && !grid.holds(1.2));
    }

    #[test]
    fn steps_that_lead_nowhere_are_none() {
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY, 13.0, 1e-18, 1e-320] {
            assert_eq!(Grid::new([0.0, 12.0], step), None, "{step}");
        }
        assert_eq!(Grid::new([0.0, 12.0], 12.0).map(Grid::count), Some(2));
    }
}
