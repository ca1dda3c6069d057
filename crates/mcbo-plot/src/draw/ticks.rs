//! Where the ticks of an axis are.

use super::numbers::{fixed, with_exponent};

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

/// Ticks with their numbers, which have an exponent where digits would be too many.
pub fn labelled_ticks(range: [f64; 2], wanted: usize) -> Vec<(f64, String)> {
    let (values, decimals) = ticks(range, wanted);
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let step = if values.len() > 1 { values[1] - values[0] } else { largest };
    let plain = largest < 1e6 && (largest >= 1e-4 || largest == 0.0);
    // As many digits as it takes to tell neighbours apart.
    let share = step / 10f64.powf(largest.log10().floor());
    let whole = |digits: &usize| {
        let scaled = share * 10f64.powi(*digits as i32);
        scaled >= 0.5 && (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    let digits = (0..8).find(whole).unwrap_or(8);
    let label = |value: f64| match plain || value == 0.0 {
        true => fixed(value, if plain { decimals } else { 0 }),
        false => with_exponent(value, digits),
    };
    values.into_iter().map(|value| (value, label(value))).collect()
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
    }

    #[test]
    fn numbers_at_ticks_can_be_told_apart() {
        let texts = |range| labelled_ticks(range, 4).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts([0.0, 1.0]), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(texts([-9e6, 0.5e6]), ["−7.5e6", "−5.0e6", "−2.5e6", "0"]);
        assert_eq!(texts([0.0, 8e6]), ["0", "2e6", "4e6", "6e6", "8e6"]);
        assert_eq!(texts([-4.12e-9, -3.88e-9]), ["−4.1e−9", "−4.0e−9", "−3.9e−9"]);
        assert_eq!(texts([-4.07e-9, -3.98e-9]), ["−4.050e−9", "−4.025e−9", "−4.000e−9"]);
        for range in [[1e-300, 2e-300], [1e15, 1e15 + 10.0], [-1e300, 1e300]] {
            let texts = texts(range);
            assert!(texts.len() > 1 && texts.windows(2).all(|pair| pair[0].len() < 16), "{texts:?}");
        }
    }
}
