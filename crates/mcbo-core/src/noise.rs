//! The randomness of nodes: the one place where noise is drawn.

use rand::Rng;
use rand::distr::{Distribution, StandardUniform};
use rand_distr::StandardNormal;

use crate::quasi::normal_quantile;

/// The randomness that is added to a node, independently for every node, component and trial.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Noise {
    /// The node is a fixed function of its inputs.
    None,
    /// Normal with mean zero and this standard deviation, positive and finite.
    Gaussian(f64),
    /// Uniform between two finite ends, the lower first.
    Uniform([f64; 2]),
    /// Not known: normal with a standard deviation that is learned.
    #[default]
    Learn,
}

impl Noise {
    /// A draw. Noise that is to be learned is none until it was.
    pub fn draw(self, rng: &mut dyn Rng) -> f64 {
        match self {
            Self::None | Self::Learn => 0.0,
            Self::Gaussian(deviation) => {
                let z: f64 = StandardNormal.sample(rng);
                deviation * z
            }
            Self::Uniform([low, high]) => {
                let u: f64 = StandardUniform.sample(rng);
                low + (high - low) * u
            }
        }
    }

    /// The value that it stays below with probability `u`: a draw from a point of the unit interval.
    pub fn quantile(self, u: f64) -> f64 {
        match self {
            Self::None | Self::Learn => 0.0,
            Self::Gaussian(deviation) => deviation * normal_quantile(u),
            Self::Uniform([low, high]) => low + u * (high - low),
        }
    }

    /// The probability that it is at most `x`.
    pub fn cumulative(self, x: f64) -> f64 {
        match self {
            Self::None | Self::Learn => f64::from(u8::from(x >= 0.0)),
            Self::Gaussian(deviation) => mcbo_gp::normal_probability(x / deviation),
            Self::Uniform([low, high]) => ((x - low) / (high - low)).clamp(0.0, 1.0),
        }
    }

    /// Its standard deviation.
    pub fn deviation(self) -> f64 {
        match self {
            Self::None | Self::Learn => 0.0,
            Self::Gaussian(deviation) => deviation,
            Self::Uniform([low, high]) => (high - low) / 12.0_f64.sqrt(),
        }
    }

    /// Its mean.
    pub fn mean(self) -> f64 {
        match self {
            Self::Uniform([low, high]) => 0.5 * (low + high),
            Self::None | Self::Learn | Self::Gaussian(_) => 0.0,
        }
    }

    /// The same with mean zero.
    #[must_use]
    pub fn centred(self) -> Self {
        match self {
            Self::Uniform([low, high]) => Self::Uniform([0.5 * (low - high), 0.5 * (high - low)]),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Mean and deviation of draws, of quantiles, and as they are said.
    #[test]
    fn draws_and_quantiles_have_the_deviation_that_is_said() {
        for (noise, mean) in [
            (Noise::None, 0.0),
            (Noise::Learn, 0.0),
            (Noise::Gaussian(2.0), 0.0),
            (Noise::Uniform([1.0, 4.0]), 2.5),
            (Noise::Uniform([1.0, 4.0]).centred(), 0.0),
        ] {
            let rng = &mut ChaCha8Rng::seed_from_u64(1);
            let count = 40_000;
            let drawn: Vec<f64> = (0..count).map(|_| noise.draw(rng)).collect();
            let even: Vec<f64> =
                (0..count).map(|k| noise.quantile((f64::from(k) + 0.5) / f64::from(count))).collect();
            for values in [drawn, even] {
                let average = values.iter().sum::<f64>() / f64::from(count);
                let squares = values.iter().map(|v| (v - average).powi(2)).sum::<f64>() / f64::from(count);
                assert_eq!(noise.mean(), mean, "{noise:?}");
                assert!((average - mean).abs() < 0.04, "{noise:?}: {average}");
                assert!((squares.sqrt() - noise.deviation()).abs() < 0.03, "{noise:?}: {}", squares.sqrt());
            }
        }
    }
}
