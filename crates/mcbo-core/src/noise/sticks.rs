//! Names that have causes: one question after the other.
//!
//! Of `K` names the first comes with probability `q₀`, the second with `q₁` if it is not the first, and so on; the last is what remains.
//! So there is one probability for every name but the last, each between 0 and 1 whatever the others are, and together they are a
//! distribution without being made one.

/// The place of the name that a point of the unit interval stands for; NaN where a probability is none.
pub(crate) fn place(sticks: &[f64], mut u: f64) -> f64 {
    if !sticks.iter().all(|q| (0.0..=1.0).contains(q)) {
        return f64::NAN;
    }
    for (place, &q) in sticks.iter().enumerate() {
        if u < q {
            return place as f64;
        }
        u = (u - q) / (1.0 - q);
    }
    sticks.len() as f64
}

/// The probability of every name, one more than there are sticks.
pub(crate) fn shares(sticks: &[f64]) -> Vec<f64> {
    (0..=sticks.len()).map(|place| share(sticks, place)).collect()
}

/// The probability of the name at a place.
pub(crate) fn share(sticks: &[f64], place: usize) -> f64 {
    let none_before: f64 = sticks[..place].iter().map(|q| 1.0 - q).product();
    none_before * sticks.get(place).copied().unwrap_or(1.0)
}

/// The derivative of the probability of the name at a place by the stick at another.
pub(crate) fn slope(sticks: &[f64], place: usize, by: usize) -> f64 {
    if by > place {
        return 0.0;
    }
    let others = sticks[..place].iter().enumerate().filter(|(k, _)| *k != by);
    let none_before: f64 = others.map(|(_, q)| 1.0 - q).product();
    if by == place { none_before } else { -none_before * sticks.get(place).copied().unwrap_or(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticks_are_a_distribution_and_are_drawn_by_it() {
        let sticks = [0.2, 0.5, 0.25];
        let shares = shares(&sticks);
        for (found, exact) in shares.iter().zip([0.2, 0.4, 0.1, 0.3]) {
            assert!((found - exact).abs() < 1e-15, "{shares:?}");
        }
        let count = 10_000;
        let mut drawn = [0.0; 4];
        for k in 0..count {
            drawn[place(&sticks, (f64::from(k) + 0.5) / f64::from(count)) as usize] += 1.0 / f64::from(count);
        }
        assert!(drawn.iter().zip(&shares).all(|(a, b)| (a - b).abs() < 2e-4), "{drawn:?}");
        assert_eq!((place(&[1.0, 0.0], 0.999), place(&[0.0, 0.0], 0.0)), (0.0, 2.0));
        assert!(place(&[0.5, f64::NAN], 0.1).is_nan() && place(&[1.5], 0.1).is_nan());
    }

    #[test]
    fn slopes_are_those_of_the_shares() {
        let sticks = [0.3, 0.6, 0.45];
        for (name, by) in (0..4).flat_map(|name| (0..3).map(move |by| (name, by))) {
            let at = |step: f64| {
                let mut moved = sticks;
                moved[by] += step;
                share(&moved, name)
            };
            let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope(&sticks, name, by) - numeric).abs() < 1e-9, "{name} {by}");
        }
        assert_eq!(slope(&[1.0, 0.5], 1, 0), -0.5);
    }
}
