//! The logarithm of the expected improvement of a normal number, with derivatives.

use std::f64::consts::TAU;

/// The logarithm of the expected improvement, with its derivatives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogImprovement {
    pub value: f64,
    pub by_mean: f64,
    pub by_deviation: f64,
}

/// `ln E[max(0, g + σε)]` for a gain `g` of the mean and `σ > 0`: `ln σ + ln h(g/σ)` with `h(z) = φ(z) + zΦ(z)`.
///
/// `∂EI/∂g = Φ` and `∂EI/∂σ = φ`, so that the derivatives are `Φ/(σh)` and `φ/(σh)`.
pub(crate) fn log_improvement(gain: f64, deviation: f64) -> LogImprovement {
    let (log_h, cumulative, density) = log_h(gain / deviation);
    LogImprovement {
        value: deviation.ln() + log_h,
        by_mean: cumulative / deviation,
        by_deviation: density / deviation,
    }
}

/// `ln h(z)`, `Φ(z)/h(z)` and `φ(z)/h(z)`, to about 1e-14 relative for every `z` whose square is finite.
///
/// Below -1 the two parts of `h` cancel. With `t = -z` and Mills' ratio `Φ(-t)/φ(t) = 1/(t + C)`, where
/// `C = 1/(t + 2/(t + 3/(t + …)))` is Laplace's continued fraction, `h = φ C/(t + C)` has no difference left.
/// Not by `erfc` or `erfcx` of a crate: `1 - t Φ(-t)/φ(t)` is about `1/t²`, so that at `t = 1e4` half of the digits would be lost.
fn log_h(z: f64) -> (f64, f64, f64) {
    let log_density = -0.5 * z * z - 0.5 * TAU.ln();
    if z < -1.0 {
        let c = tail_fraction(-z);
        return (log_density + (c / (c - z)).ln(), 1.0 / c, (c - z) / c);
    }
    let density = log_density.exp();
    let cumulative = if z > 6.0 {
        1.0 - density / (z + tail_fraction(z))
    } else {
        // Φ(z) = 1/2 + φ(z) Σ z^(2k+1) / (1·3·…·(2k+1)), all terms of one sign.
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        0.5 + density * sum
    };
    let h = density + z * cumulative;
    (h.ln(), cumulative / h, density / h)
}

/// `1/(t + 2/(t + 3/(t + …)))` for `t ≥ 1`.
pub(super) fn tail_fraction(t: f64) -> f64 {
    const TERMS: u32 = 400;
    (1..=TERMS).rev().fold(0.0, |rest, k| f64::from(k) / (t + rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::excessive_precision, reason = "the digits as they were computed")]
    fn the_logarithm_of_h() {
        // z, ln h, Φ/h and φ/h from mpmath with 60 digits.
        for (z, log, cumulative, density) in [
            (-40.0, -808.298_568_356_619_96, 40.049_906_657_648_518, 1_602.996_266_305_940_7),
            (-20.0, -206.917_838_509_425_1, 20.099_262_811_101_282, 402.985_256_222_025_64),
            (-10.0, -55.553_122_036_122_356, 10.194_383_033_412_553, 102.943_830_334_125_53),
            (-5.0, -16.744_301_162_660_99, 5.361_816_241_288_088_5, 27.809_081_206_440_443),
            (-2.0, -4.768_783_523_917_114_2, 2.679_416_883_955_586, 6.358_833_767_911_172),
            (-1.0001, -2.485_311_456_445_883_4, 1.904_343_431_716_527_4, 2.904_533_866_059_699),
            (-1.0, -2.485_121_025_712_641_3, 1.904_271_233_329_691_8, 2.904_271_233_329_691_8),
            (-0.5, -1.620_516_264_387_319_9, 1.559_873_148_348_079_7, 1.779_936_574_174_039_8),
            (0.0, -0.918_938_533_204_672_74, 1.253_314_137_315_500_3, 1.0),
            (0.3, -0.567_817_153_677_936_9, 1.090_249_961_131_189_3, 0.672_925_011_660_643_22),
            (1.0, 0.080_026_218_849_306_94, 0.776_638_725_201_739_26, 0.223_361_274_798_260_74),
            (3.0, 1.098_739_665_327_707_8, 0.332_840_968_451_795_24, 0.001_477_094_644_614_293_3),
            (5.0, 1.609_437_923_126_431_4, 0.199_999_940_531_220_05, 2.973_438_997_675_601_2e-7),
            (8.0, 2.079_441_541_679_835_9, 0.124_999_999_999_999_92, 6.315_338_854_421_115_3e-16),
        ] {
            let found = log_h(z);
            for (found, expected) in [(found.0, log), (found.1, cumulative), (found.2, density)] {
                let error: f64 = (found - expected) / expected;
                assert!(error.abs() < 2e-14, "{z}: {found} against {expected}");
            }
        }
        // Far out ln h(z) = ln φ(z) - 2 ln|z| - 3/z² + …
        let far = log_h(-1e6);
        assert!(far.0.is_finite() && (far.1 / 1e6 - 1.0).abs() < 1e-11, "{far:?}");
    }
}
