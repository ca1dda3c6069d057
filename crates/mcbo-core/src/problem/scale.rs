//! Scales: on which differences, or ratios, of values mean as much.

/// The scale of an action's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Differences count: from 1 to 2 is as far as from 9 to 10.
    #[default]
    Linear,
    /// Ratios count: from 0.1 to 1 is as far as from 1 to 10.
    Log,
}

impl Scale {
    /// The name in problem files.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
        }
    }
}

/// Where values lie on a scale: a smooth increasing function of all numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Curve {
    #[default]
    Straight,
    /// The logarithm down to `least`, and its tangent there from then on: what is none at all, as a dose of 0, is a little further away
    /// than a tenth of the smallest dose.
    Logarithm { least: f64 },
}

/// From this share of the lower end of a range on ratios count no more.
const LEAST: f64 = 0.1;

impl Curve {
    pub fn new(scale: Scale, [low, _]: [f64; 2]) -> Self {
        match scale {
            Scale::Linear => Curve::Straight,
            Scale::Log => Curve::Logarithm { least: LEAST * low },
        }
    }

    /// Where a value lies.
    #[inline]
    pub fn at(self, value: f64) -> f64 {
        match self {
            Curve::Straight => value,
            Curve::Logarithm { least } => logarithm::at(least, value),
        }
    }

    /// The value that lies there.
    #[inline]
    pub fn value(self, at: f64) -> f64 {
        match self {
            Curve::Straight => at,
            Curve::Logarithm { least } => logarithm::value(least, at),
        }
    }

    /// The derivative of [`Self::at`].
    pub fn slope(self, value: f64) -> f64 {
        match self {
            Curve::Straight => 1.0,
            Curve::Logarithm { least } => 1.0 / value.max(least),
        }
    }
}

/// Not inlined: where nothing is on such a scale, logarithms would be computed all the same, ahead of the question.
mod logarithm {
    #[inline(never)]
    pub fn at(least: f64, value: f64) -> f64 {
        if value >= least { value.ln() } else { least.ln() + value / least - 1.0 }
    }

    #[inline(never)]
    pub fn value(least: f64, at: f64) -> f64 {
        let beyond = at - least.ln();
        if beyond >= 0.0 { at.exp() } else { least * (1.0 + beyond) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_and_a_slope() {
        let curve = Curve::new(Scale::Log, [0.01, 100.0]);
        for value in [-3.0, 0.0, 1e-4, 9.9e-4, 1.1e-3, 0.01, 0.7, 100.0, 1e6] {
            assert!((curve.value(curve.at(value)) - value).abs() <= 1e-12 * value.abs().max(1e-3), "{value}");
            let step = 1e-6 * value.abs().max(1e-4);
            let slope = (curve.at(value + step) - curve.at(value - step)) / (2.0 * step);
            assert!((curve.slope(value) / slope - 1.0).abs() < 1e-6, "{value}");
        }
        // Ratios count within the range and a little beyond it.
        let step = |a: f64, b: f64| curve.at(b) - curve.at(a);
        assert!((step(0.01, 0.1) - step(10.0, 100.0)).abs() < 1e-12);
        assert!((step(0.002, 0.02) - 10_f64.ln()).abs() < 1e-12);
        // No dose lies an e-fold below a tenth of the least.
        assert!((step(0.0, 0.001) - 1.0).abs() < 1e-12);
        assert_eq!(Curve::new(Scale::Linear, [0.0, 1.0]).at(0.3), 0.3);
    }
}
