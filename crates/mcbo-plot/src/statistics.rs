//! The few statistics that pictures need.

/// The value that a share of the sorted values is not above, between neighbours where it falls between.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let place = (at as usize).min(last);
    let next = (place + 1).min(last);
    sorted[place] + (at - place as f64) * (sorted[next] - sorted[place])
}

/// The finite values in increasing order.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The middle of some values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    quantile(&sorted(values), 0.5)
}

/// The shares of `count` tries that succeed with this probability, from its 2.5 % to its 97.5 % quantile.
pub(crate) fn binomial_band(count: usize, probability: f64) -> [f64; 2] {
    let n = count as f64;
    if count == 0 || probability <= 0.0 || probability >= 1.0 {
        return [probability, probability];
    }
    let (mut low, mut high) = (None, None);
    let (odds, mut log, mut below) =
        ((probability / (1.0 - probability)).ln(), n * (-probability).ln_1p(), 0.0);
    for k in 0..=count {
        below += log.exp();
        low = low.or((below >= 0.025).then_some(k));
        high = high.or((below >= 0.975).then_some(k));
        log += odds + ((count - k) as f64 / (k + 1) as f64).ln();
    }
    [low.unwrap_or(0) as f64 / n, high.unwrap_or(count) as f64 / n]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_fall_between_neighbours() {
        assert_eq!(median([3.0, f64::NAN, 1.0, 2.0]), 2.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
        assert!(median([]).is_nan());
    }

    #[test]
    fn bands_are_those_of_tables() {
        // Of 20 fair tries 6 to 14 in 95 of 100 cases.
        assert_eq!(binomial_band(20, 0.5), [0.3, 0.7]);
        assert_eq!(binomial_band(10, 0.9), [0.7, 1.0]);
        assert_eq!(binomial_band(1, 1.0), [1.0, 1.0]);
        let [low, high] = binomial_band(5000, 0.5);
        assert!((low - 0.486).abs() < 1e-3 && (high - 0.514).abs() < 1e-3, "{low} {high}");
    }
}
