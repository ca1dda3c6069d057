//! Numbers and names as the reader sees them.

use crate::metrics::Estimate;

pub(crate) use mcbo_plot::draw::{counted, escape, fixed, number, short, shorten};
use mcbo_plot::draw::{decimals, scientific};

/// Below this, means are written with an exponent.
const SMALL: f64 = 1e-3;

/// A mean and its error, both to the error's second digit. The error of a single value is unknown and is `None`.
pub(crate) fn mean_and_error(estimate: &Estimate) -> (String, Option<String>) {
    let Estimate { mean, error, count } = *estimate;
    if count < 2 {
        return (number(mean), None);
    }
    if mean.abs().max(error) < SMALL && (mean != 0.0 || error != 0.0) {
        return (scientific(mean), Some(scientific(error)));
    }
    let decimals = if error > 0.0 { decimals(error, 2) } else { decimals(mean, 4) };
    (fixed(mean, decimals), Some(fixed(error, decimals)))
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
    }
}
