//! Values that something decided can take when it cannot take all of a range.

use std::sync::Arc;

/// Values that are spaced evenly, `low`, `low + step`, and so on, or listed one by one. Named choices are the grid of their places,
/// 0, 1, 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid(Values);

#[derive(Debug, Clone, PartialEq)]
enum Values {
    Even {
        low: f64,
        step: f64,
        count: usize,
        /// The last value: the end of the range where rounding would go beyond it.
        last: f64,
        /// Decimals that the first value and the step are written with.
        decimals: usize,
    },
    /// In ascending order.
    Listed(Arc<[f64]>),
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
            let end = even(low, step, decimals, count - 1).min(high);
            Self(Values::Even { low, step, count, last: end, decimals })
        })
    }

    /// Exactly these values; `None` unless there are two or more, all different numbers in ascending order.
    pub(crate) fn listed(values: &[f64]) -> Option<Self> {
        let usable = values.iter().all(|value| value.is_finite()) && values.is_sorted_by(|a, b| a < b);
        (usable && values.len() >= 2).then(|| Self(Values::Listed(values.into())))
    }

    /// Some places of a list of names, in ascending order; one may be all there is.
    pub(crate) fn of_names(places: &[f64]) -> Option<Self> {
        match places {
            [] => None,
            [only] => Some(Self::single(*only, 1.0)),
            // All of them, one after the other.
            [first, .., last] if last - first == (places.len() - 1) as f64 => Self::new([*first, *last], 1.0),
            several => Self::listed(several),
        }
    }

    /// The grid of one value, of a range of this width.
    pub(crate) fn single(value: f64, width: f64) -> Self {
        Self(Values::Even { low: value, step: width, count: 1, last: value, decimals: decimals(value) })
    }

    /// Number of values, at least two unless one is fixed.
    pub fn count(&self) -> usize {
        match &self.0 {
            Values::Even { count, .. } => *count,
            Values::Listed(values) => values.len(),
        }
    }

    /// The distance between any two neighbours; `None` if they are listed.
    pub fn step(&self) -> Option<f64> {
        match &self.0 {
            Values::Even { step, .. } => Some(*step),
            Values::Listed(_) => None,
        }
    }

    /// The values, if they are listed.
    pub fn list(&self) -> Option<&[f64]> {
        match &self.0 {
            Values::Even { .. } => None,
            Values::Listed(values) => Some(values),
        }
    }

    /// The value at a place, as it would be written: 0.3 and not 0.30000000000000004.
    pub fn value(&self, place: usize) -> f64 {
        match &self.0 {
            Values::Even { low, step, count, last, decimals } => {
                even(*low, *step, *decimals, place.min(count - 1)).min(*last)
            }
            Values::Listed(values) => values[place.min(values.len() - 1)],
        }
    }

    /// The place of the value next to a number.
    pub fn nearest(&self, value: f64) -> usize {
        match &self.0 {
            Values::Even { low, step, count, .. } => {
                let place = ((value - low) / step).round().max(0.0);
                (place as usize).min(count - 1)
            }
            Values::Listed(values) => {
                let above = values.partition_point(|other| *other < value).min(values.len() - 1);
                let below = above.saturating_sub(1);
                if value - values[below] < values[above] - value { below } else { above }
            }
        }
    }

    /// Whether a number is one of the values.
    pub fn holds(&self, value: f64) -> bool {
        let place = self.nearest(value);
        let gap = match &self.0 {
            Values::Even { step, .. } => *step,
            Values::Listed(values) => {
                let gap = |pair: &[f64]| pair[1] - pair[0];
                let about = place.saturating_sub(1)..(place + 2).min(values.len());
                values[about].windows(2).map(gap).fold(f64::INFINITY, f64::min)
            }
        };
        (self.value(place) - value).abs() <= ROUNDING * gap
    }

    /// All values in order.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.count()).map(|place| self.value(place))
    }
}

/// A value of a grid of steps, as it would be written.
fn even(low: f64, step: f64, decimals: usize, place: usize) -> f64 {
    let value = low + place as f64 * step;
    match decimals > LONGEST {
        true => value,
        false => format!("{value:.decimals$}").parse().unwrap_or(value),
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
        assert_eq!(Grid::new([0.0, 12.0], 12.0).map(|grid| grid.count()), Some(2));
    }

    #[test]
    fn listed_values_are_these_and_no_others() {
        let grid = Grid::listed(&[1.0, 2.0, 5.0, 1000.0]).expect("a grid");
        assert_eq!((grid.count(), grid.step(), grid.list()), (4, None, Some(&[1.0, 2.0, 5.0, 1000.0][..])));
        assert_eq!(grid.values().collect::<Vec<_>>(), [1.0, 2.0, 5.0, 1000.0]);
        for (value, place) in [(-7.0, 0), (1.4, 0), (1.6, 1), (3.6, 2), (400.0, 2), (900.0, 3), (1e9, 3)] {
            assert_eq!(grid.nearest(value), place, "{value}");
        }
        assert!(grid.holds(5.0 + 1e-9) && grid.holds(1000.0) && !grid.holds(1.001) && !grid.holds(4.0));
        // What is close to a value is measured by its own neighbours.
        assert!(!Grid::listed(&[0.0, 0.001, 1e6]).expect("a grid").holds(0.0005));
        for values in [&[1.0][..], &[], &[2.0, 1.0], &[1.0, 1.0], &[0.0, f64::NAN], &[0.0, f64::INFINITY]] {
            assert_eq!(Grid::listed(values), None, "{values:?}");
        }
    }
}
