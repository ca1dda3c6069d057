//! Where the ticks of an axis are.

use super::numbers::{fixed, scientific};

/// Round numbers in a range, about `wanted` of them, and the digits after the point that they need.
pub fn ticks([low, high]: [f64; 2], wanted: usize) -> (Vec<f64>, usize) {
    let rough = (high - low) / wanted as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = (0..12).find(|d| {
        let scaled = step * 10f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    let ticks = (low / step).ceil() as i64..=(high / step).floor() as i64;
    (ticks.map(|k| k as f64 * step).collect(), decimals.unwrap_or(0) as usize)
}

/// The number at a tick; with an exponent where digits would be too many.
pub fn tick_label(value: f64, decimals: usize) -> String {
    if value != 0.0 && (decimals > 5 || value.abs() >= 1e7) {
        scientific(value)
    } else {
        fixed(value, decimals)
    }
}

/// The range of some numbers, a share of it wider on both sides; there is always some width. Without numbers it is the
/// unit range.
pub fn span(values: impl IntoIterator<Item = f64>, margin: f64) -> [f64; 2] {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let [low, high] = finite
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)]);
    if low > high {
        return [0.0, 1.0];
    }
    let width = high - low;
    if width <= 1e-9 * low.abs().max(high.abs()) || !width.is_finite() {
        // All the same: as wide as the number is large.
        let reach = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        return [low - reach, high + reach];
    }
    [low - margin * width, high + margin * width]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 100.0], 4), (vec![0.0, 25.0, 50.0, 75.0, 100.0], 0));
        assert_eq!(ticks([-0.06, 1.1], 5), (vec![0.0, 0.25, 0.5, 0.75, 1.0], 2));
        assert_eq!(ticks([-640.0, 50.0], 4).0, vec![-600.0, -400.0, -200.0, 0.0]);
    }

    #[test]
    fn there_is_always_a_span() {
        assert_eq!(span([], 0.1), [0.0, 1.0]);
        assert_eq!(span([f64::NAN, 0.0], 0.1), [-1.0, 1.0]);
        assert_eq!(span([0.0, 10.0], 0.1), [-1.0, 11.0]);
        for value in [1e-12, 5.0, -3e18, f64::MAX] {
            let [low, high] = span([value, value], 0.1);
            let (values, _) = ticks([low, high], 4);
            assert!(low < high && (1..20).contains(&values.len()), "{value} {values:?}");
        }
        assert_eq!(tick_label(2.5e7, 0), "2.5e7");
        assert_eq!(tick_label(-0.5, 1), "−0.5");
    }
}
