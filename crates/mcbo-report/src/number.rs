//! Numbers for people: as many digits as matter, the same number of decimals down a column.

/// A number of decimals that suits a set of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    decimals: usize,
}

/// Beyond these magnitudes numbers are written with an exponent.
const LARGE: f64 = 1e7;
const SMALL: f64 = 1e-5;

impl Format {
    /// For values in a range: resolves between a thousandth and a ten-thousandth of its width.
    pub fn of_range([low, high]: [f64; 2]) -> Self {
        Self { decimals: Self::decimals(high - low) }
    }

    /// For values that were measured: by the spread of the middle half, so that a few wild ones do not hide the rest.
    pub fn of_values(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let Some(last) = values.len().checked_sub(1) else { return Self { decimals: 3 } };
        let spread = values[last * 3 / 4] - values[last / 4];
        let size = values[last].abs().max(values[0].abs());
        let middle = values[last / 2].abs();
        // A hundredth of the spread, and at least four digits of what is usual.
        let coarse = if spread > 1e-9 * size { Self::decimals(10.0 * spread) } else { 0 };
        let usual = if middle > 0.0 { Self::decimals(middle) } else { Self::decimals(size) };
        Self { decimals: coarse.max(usual) }
    }

    fn decimals(width: f64) -> usize {
        if !width.is_finite() || width <= 0.0 {
            return 3;
        }
        (3 - width.log10().floor() as i32).clamp(0, 9) as usize
    }

    /// The number with these decimals.
    pub fn show(self, value: f64) -> String {
        if value != 0.0 && !(SMALL..LARGE).contains(&value.abs()) && self.is_far(value) {
            return exponent(value);
        }
        unsigned_zero(format!("{value:.*}", self.decimals))
    }

    /// Whether the fixed decimals do not suit the number: it is huge, or would be all zeros though tiny values matter.
    fn is_far(self, value: f64) -> bool {
        value.abs() >= LARGE || self.decimals == 9
    }
}

/// One number by itself, with up to five digits and no trailing zeros.
pub fn plain(value: f64) -> String {
    digits(value, 5)
}

/// One number of many sizes: up to four digits, as many as tell values on a scale of ratios apart.
pub fn sized(value: f64) -> String {
    digits(value, 4)
}

/// One number by itself where its size is all that matters: up to three digits.
pub fn rough(value: f64) -> String {
    digits(value, 3)
}

fn digits(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    if !(SMALL..LARGE).contains(&value.abs()) {
        return exponent(value);
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    unsigned_zero(text.to_owned())
}

/// `low to high`.
pub fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", plain(low), plain(high))
}

fn exponent(value: f64) -> String {
    if value.is_finite() { format!("{value:.3e}") } else { value.to_string() }
}

/// `-0.00` is `0.00`.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_give_decimals() {
        assert_eq!(Format::of_range([0.0, 50.0]).show(12.3456), "12.35");
        assert_eq!(Format::of_range([0.0, 1.0]).show(0.123456), "0.123");
        assert_eq!(Format::of_range([1000.0, 1001.0]).show(1000.5), "1000.500");
        assert_eq!(Format::of_range([0.0, 1e6]).show(123_456.7), "123457");
        assert_eq!(Format::of_range([0.0, 1e9]).show(123_456_789.0), "1.235e8");
        assert_eq!(Format::of_range([0.0, 1e-9]).show(1.234e-10), "1.234e-10");
    }

    #[test]
    fn rounding_noise_is_not_shown() {
        assert_eq!(Format::of_range([0.0, 1.0]).show(-1e-17), "0.000");
        assert_eq!(Format::of_range([0.0, 1.0]).show(1.0 - 1e-16), "1.000");
        assert_eq!(plain(0.1 + 0.2), "0.3");
        assert_eq!(plain(-0.0), "0");
    }

    #[test]
    fn one_wild_value_does_not_hide_the_others() {
        let format = Format::of_values([5.1, 5.3, 5.2, 6.0, -1e9]);
        assert_eq!((format.show(5.1234), format.show(-1e9)), ("5.123".into(), "-1.000e9".into()));
        assert_eq!(Format::of_values([88.0]).show(88.0), "88.00");
        assert_eq!(Format::of_values([0.0, 0.0]).show(0.0), "0.000");
        assert_eq!(Format::of_values([]).show(1.0), "1.000");
    }

    #[test]
    fn single_numbers_have_up_to_five_digits() {
        let shown = [90.0, 0.25, 1234.567, 1.0 / 3.0, 123_456.0, 1e-7, 2.5e12, -40.0].map(plain);
        assert_eq!(shown, ["90", "0.25", "1234.6", "0.33333", "123456", "1.000e-7", "2.500e12", "-40"]);
        assert_eq!([0.000_141_72, 0.552, 12.345, 1234.5].map(rough), ["0.000142", "0.552", "12.3", "1234"]);
    }
}
