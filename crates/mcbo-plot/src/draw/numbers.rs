//! Numbers and names as the reader sees them.

/// Digits after the point at most.
const MOST_DECIMALS: i32 = 4;
/// Below this, numbers are written with an exponent.
const SMALL: f64 = 1e-3;

/// A number with a real minus sign.
fn minus(text: String) -> String {
    // "-0.00" is zero.
    let digits = text.strip_prefix('-').filter(|rest| rest.chars().all(|c| c == '0' || c == '.'));
    digits.map_or_else(|| text.replace('-', "−"), str::to_owned)
}

/// With a fixed number of digits after the point.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { minus(format!("{value:.decimals$}")) } else { "–".into() }
}

/// Digits after the point, four at most, that show `digits` significant ones of a number.
pub fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits - 1 - value.abs().log10().floor() as i32).clamp(0, MOST_DECIMALS) as usize
}

/// With an exponent.
pub fn scientific(value: f64) -> String {
    with_exponent(value, 1)
}

/// With an exponent and so many digits after the point.
pub(super) fn with_exponent(value: f64, digits: usize) -> String {
    minus(format!("{value:.digits$e}"))
}

/// A number alone, with four significant digits.
pub fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < SMALL {
        return scientific(value);
    }
    fixed(value, decimals(value, 4))
}

/// A number alone without zeros at its end.
pub fn short(value: f64) -> String {
    let text = number(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A round number of any size, as a tick on a scale of ratios has it.
pub fn sized(value: f64) -> String {
    match value != 0.0 && (value.abs() < SMALL || value.abs() >= 1e6) {
        true => minus(format!("{value:e}")),
        false => short(value),
    }
}

/// A name that fits into a legend.
pub fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}

/// `1 seed`, `2 seeds`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_by_letters() {
        assert_eq!(shorten(&"é".repeat(50)).chars().count(), 40);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([f64::NAN, -0.0001 * 0.0, 0.5].map(number), ["–", "0", "0.5000"]);
        assert_eq!(
            [1.0, 2.171806, -1822.7, 100.0, 3.2e-7].map(short),
            ["1", "2.172", "−1823", "100", "3.2e−7"]
        );
    }
}
