//! The randomness of nodes: the one place where noise is drawn.

pub(crate) mod sticks;

use rand::Rng;
use rand::distr::{Distribution, StandardUniform};
use rand_distr::StandardNormal;

use crate::quasi::normal_quantile;

/// The randomness that is added to a node, independently for every node, component and trial.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(clippy::large_enum_variant, reason = "there is one of each component, and it is copied")]
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
    /// The whole value, of a node whose values are names.
    Names(Shares),
}

/// How often each of several names comes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    count: usize,
    /// The probability of each name and those before it; 1 from the last one on.
    cumulative: [f64; Self::MOST],
}

impl Shares {
    /// So many names a node can have.
    pub const MOST: usize = 32;

    /// What is to be expected after each name came so often: half a time more, so that what has not come yet still may.
    ///
    /// # Panics
    /// If there are none, or more than [`Self::MOST`].
    pub fn of_counts(counts: &[usize]) -> Self {
        assert!((1..=Self::MOST).contains(&counts.len()), "from one name to {}", Self::MOST);
        let total = counts.iter().sum::<usize>() as f64 + 0.5 * counts.len() as f64;
        let (mut cumulative, mut sum) = ([1.0; Self::MOST], 0.0);
        for (upto, &count) in cumulative.iter_mut().zip(counts).take(counts.len() - 1) {
            sum += (count as f64 + 0.5) / total;
            *upto = sum;
        }
        Self { count: counts.len(), cumulative }
    }

    /// The place of the name that a point of the unit interval stands for.
    fn place(&self, u: f64) -> usize {
        self.cumulative[..self.count].partition_point(|&upto| upto <= u).min(self.count - 1)
    }

    /// The probability of every name.
    pub fn each(&self) -> impl Iterator<Item = f64> + '_ {
        let before = |place: usize| if place == 0 { 0.0 } else { self.cumulative[place - 1] };
        (0..self.count).map(move |place| self.cumulative[place] - before(place))
    }

    /// The place of the name that comes most often, the first of equals.
    pub(crate) fn commonest(&self) -> usize {
        let shares: Vec<f64> = self.each().collect();
        (0..shares.len()).rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0)
    }

    fn mean(&self) -> f64 {
        self.each().enumerate().map(|(place, share)| place as f64 * share).sum()
    }
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
            Self::Names(shares) => shares.place(StandardUniform.sample(rng)) as f64,
        }
    }

    /// The value that it stays below with probability `u`: a draw from a point of the unit interval.
    pub fn quantile(self, u: f64) -> f64 {
        match self {
            Self::None | Self::Learn => 0.0,
            Self::Gaussian(deviation) => deviation * normal_quantile(u),
            Self::Uniform([low, high]) => low + u * (high - low),
            Self::Names(shares) => shares.place(u) as f64,
        }
    }

    /// The probability that it is at most `x`.
    pub fn cumulative(self, x: f64) -> f64 {
        match self {
            Self::None | Self::Learn => f64::from(u8::from(x >= 0.0)),
            Self::Gaussian(deviation) => mcbo_gp::normal_probability(x / deviation),
            Self::Uniform([low, high]) => ((x - low) / (high - low)).clamp(0.0, 1.0),
            Self::Names(shares) => shares
                .each()
                .enumerate()
                .filter(|(place, _)| *place as f64 <= x)
                .map(|(_, share)| share)
                .sum(),
        }
    }

    /// Its standard deviation.
    pub fn deviation(self) -> f64 {
        match self {
            Self::None | Self::Learn => 0.0,
            Self::Gaussian(deviation) => deviation,
            Self::Uniform([low, high]) => (high - low) / 12.0_f64.sqrt(),
            Self::Names(shares) => {
                let apart = |(place, share): (usize, f64)| share * (place as f64 - shares.mean()).powi(2);
                shares.each().enumerate().map(apart).sum::<f64>().sqrt()
            }
        }
    }

    /// Its mean.
    pub fn mean(self) -> f64 {
        match self {
            Self::Uniform([low, high]) => 0.5 * (low + high),
            Self::Names(shares) => shares.mean(),
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
            (Noise::Names(Shares::of_counts(&[1, 0, 2])), 5.5 / 4.5),
        ] {
            let rng = &mut ChaCha8Rng::seed_from_u64(1);
            let count = 40_000;
            let drawn: Vec<f64> = (0..count).map(|_| noise.draw(rng)).collect();
            let even: Vec<f64> =
                (0..count).map(|k| noise.quantile((f64::from(k) + 0.5) / f64::from(count))).collect();
            for values in [drawn, even] {
                let average = values.iter().sum::<f64>() / f64::from(count);
                let squares = values.iter().map(|v| (v - average).powi(2)).sum::<f64>() / f64::from(count);
                assert!((noise.mean() - mean).abs() < 1e-12, "{noise:?}");
                assert!((average - mean).abs() < 0.04, "{noise:?}: {average}");
                assert!((squares.sqrt() - noise.deviation()).abs() < 0.03, "{noise:?}: {}", squares.sqrt());
            }
        }
    }
}
