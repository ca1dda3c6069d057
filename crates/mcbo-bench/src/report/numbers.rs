//! Numbers and names as the reader sees them.

use crate::metrics::Estimate;

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
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { minus(format!("{value:.decimals$}")) } else { "–".into() }
}

/// Digits after the point that show `digits` significant ones of a number.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits - 1 - value.abs().log10().floor() as i32).clamp(0, MOST_DECIMALS) as usize
}

/// A number alone, with four significant digits.
pub(crate) fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < SMALL {
        return minus(format!("{value:.1e}"));
    }
    fixed(value, decimals(value, 4))
}

/// A number alone without zeros at its end.
pub(crate) fn short(value: f64) -> String {
    let text = number(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A mean and its error, both to the error's second digit. The error of a single value is unknown and is `None`.
pub(crate) fn mean_and_error(estimate: &Estimate) -> (String, Option<String>) {
    let Estimate { mean, error, count } = *estimate;
    if count < 2 {
        return (number(mean), None);
    }
    if mean.abs().max(error) < SMALL && (mean != 0.0 || error != 0.0) {
        return (minus(format!("{mean:.1e}")), Some(minus(format!("{error:.1e}"))));
    }
    let decimals = if error > 0.0 { decimals(error, 2) } else { decimals(mean, 4) };
    (fixed(mean, decimals), Some(fixed(error, decimals)))
}

/// Text for HTML and SVG. Characters that XML forbids are replaced: a name with one must not spoil a figure.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A name that fits into a legend.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}

/// `1 seed`, `2 seeds`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mean: f64, error: f64, count: usize) -> String {
        match mean_and_error(&Estimate { mean, error, count }) {
            (mean, Some(error)) => format!("{mean} ± {error}"),
            (mean, None) => mean,
        }
    }

    #[test]
    fn errors_have_two_digits_and_means_as_many_decimals() {
        assert_eq!(text(0.42719, 0.0431, 20), "0.427 ± 0.043");
        assert_eq!(text(-201.4, 11.2, 20), "−201 ± 11");
        assert_eq!(text(243.3, 136.2, 2), "243 ± 136");
        assert_eq!(text(-5.155287, 0.0, 20), "−5.155 ± 0.000");
        assert_eq!(text(2.171806, 1e-9, 20), "2.1718 ± 0.0000");
        assert_eq!(text(3.24e-9, 1.1e-9, 20), "3.2e−9 ± 1.1e−9");
        assert_eq!(text(0.00012, 0.00003, 20), "1.2e−4 ± 3.0e−5");
        assert_eq!(text(0.0, 0.0, 20), "0 ± 0");
        assert_eq!(text(-0.001, 0.21, 20), "0.00 ± 0.21");
    }

    #[test]
    fn a_single_value_has_no_error() {
        assert_eq!(text(-1822.7, 0.0, 1), "−1823");
        assert_eq!(text(0.5, 0.0, 1), "0.5000");
        assert_eq!(text(f64::NAN, 0.0, 1), "–");
        assert_eq!(
            [1.0, 2.171806, -1822.7, 100.0, 3.2e-7].map(short),
            ["1", "2.172", "−1823", "100", "3.2e−7"]
        );
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a href='x'>&\"\u{1}"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}");
        assert_eq!(shorten(&"é".repeat(50)).chars().count(), 40);
    }
}
