//! The ends of what a number lies between that is off by normal luck around one of many centres.

use crate::Noise;
use crate::quasi::normal_quantile;

/// The normal distribution function from a table: what mixtures are made of, thousands at a time. Off by at most 2e-6.
#[derive(Debug)]
pub(super) struct NormalTable(Vec<f64>);

impl NormalTable {
    /// Entries for one unit, and the outermost.
    const STEPS: f64 = 128.0;
    const END: f64 = 6.0;

    pub fn new() -> Self {
        let last = (2.0 * Self::END * Self::STEPS) as usize;
        let at = |k: usize| mcbo_gp::normal_probability(k as f64 / Self::STEPS - Self::END);
        Self((0..=last + 1).map(at).collect())
    }

    /// The probability of less than `x`, and its slope there.
    fn at(&self, x: f64) -> (f64, f64) {
        let place = (x.clamp(-Self::END, Self::END) + Self::END) * Self::STEPS;
        let index = place as usize;
        let (low, high) = (self.0[index], self.0[index + 1]);
        (low + (high - low) * (place - index as f64), (high - low) * Self::STEPS)
    }
}

/// How far from the probability that is asked for an end may be.
const CLOSE: f64 = 1e-4;
/// Steps after which an end is as good as it gets.
const MOST_STEPS: usize = 60;
/// The least deviation of a part, as a share of that of all.
const STEEPEST: f64 = 1e-3;
/// Normal parts that uniform noise is made of.
const UNIFORM_PARTS: u32 = 32;

/// A number that is normal about each of many equally probable centres.
#[derive(Debug, Default)]
pub(super) struct Mixture {
    centres: Vec<f64>,
    deviations: Vec<f64>,
    /// One over each deviation.
    slopes: Vec<f64>,
}

impl Mixture {
    /// Other centres, each with its deviation.
    pub fn refill(&mut self, parts: impl Iterator<Item = (f64, f64)>) {
        self.centres.clear();
        self.deviations.clear();
        for (centre, deviation) in parts {
            self.centres.push(centre);
            self.deviations.push(deviation);
        }
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        self.centres.iter().sum::<f64>() / self.centres.len() as f64
    }

    /// The values below which it lies with these probabilities. Where nothing scatters about the centres they lie on the line
    /// through the sorted centres.
    pub fn ends<const N: usize>(&mut self, shares: [f64; N], table: &NormalTable) -> [f64; N] {
        if let ([centre], [deviation]) = (self.centres.as_slice(), self.deviations.as_slice()) {
            return shares.map(|share| centre + deviation * normal_quantile(share));
        }
        if self.deviations.iter().all(|deviation| *deviation == 0.0) {
            self.centres.sort_by(f64::total_cmp);
            return shares.map(|share| along(&self.centres, share));
        }
        let mean = self.mean();
        let variance = |(centre, deviation): (&f64, &f64)| (centre - mean).powi(2) + deviation * deviation;
        let total: f64 = self.centres.iter().zip(&self.deviations).map(variance).sum();
        let spread = (total / self.centres.len() as f64).sqrt();
        // Where one of many is known to the last digit its step is as good as a steep slope.
        self.slopes.clear();
        self.slopes.extend(self.deviations.iter().map(|deviation| 1.0 / deviation.max(STEEPEST * spread)));
        shares.map(|share| self.end(share, mean + spread * normal_quantile(share), table))
    }

    /// By Newton's method from a guess, between ends that come closer.
    fn end(&self, share: f64, guess: f64, table: &NormalTable) -> f64 {
        let parts = || self.centres.iter().zip(&self.slopes);
        let far = |sign: f64| parts().map(move |(centre, slope)| centre + sign * NormalTable::END / slope);
        let mut low = far(-1.0).fold(f64::INFINITY, f64::min);
        let mut high = far(1.0).fold(f64::NEG_INFINITY, f64::max);
        let mut at = guess.clamp(low, high);
        for _ in 0..MOST_STEPS {
            let (mut below, mut density) = (0.0, 0.0);
            for (centre, steep) in parts() {
                let (probability, slope) = table.at((at - centre) * steep);
                below += probability;
                density += slope * steep;
            }
            let count = self.centres.len() as f64;
            let missing = share - below / count;
            if missing.abs() < CLOSE {
                break;
            }
            if missing > 0.0 {
                low = at
            } else {
                high = at
            }
            let next = at + missing * count / density;
            at = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        at
    }
}

/// The value at a share of the line through sorted values, each of which stands for the middle of its own share.
fn along(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (index, part) = (place as usize, place.fract());
    let next = sorted[(index + 1).min(sorted.len() - 1)];
    if part == 0.0 { sorted[index] } else { sorted[index] + part * (next - sorted[index]) }
}

/// The deviation of two together.
fn both(one: f64, other: f64) -> f64 {
    (one * one + other * other).sqrt()
}

/// Normal deviations about a centre with noise of any kind as equally probable normal parts: one, or of uniform noise many narrow
/// ones side by side with the same variance in all.
pub(super) fn parts(centre: f64, deviation: f64, noise: Noise) -> impl Iterator<Item = (f64, f64)> {
    let (from, width, count, deviation) = match noise {
        Noise::Uniform([low, high]) => {
            let width = (high - low) / f64::from(UNIFORM_PARTS);
            (low, width, UNIFORM_PARTS, both(deviation, width / 12.0_f64.sqrt()))
        }
        other => (0.0, 0.0, 1, both(deviation, other.deviation())),
    };
    (0..count).map(move |part| (centre + from + (f64::from(part) + 0.5) * width, deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: [f64; 3] = [0.05, 0.5, 0.95];

    fn ends(all: &[(f64, f64, Noise)]) -> [f64; 3] {
        let mut mixture = Mixture::default();
        mixture.refill(all.iter().flat_map(|(centre, deviation, noise)| parts(*centre, *deviation, *noise)));
        mixture.ends(SHARES, &NormalTable::new())
    }

    fn below(all: &[(f64, f64)], x: f64) -> f64 {
        all.iter().map(|(c, d)| mcbo_gp::normal_probability((x - c) / d)).sum::<f64>() / all.len() as f64
    }

    #[test]
    fn the_table_is_the_normal_distribution() {
        let table = NormalTable::new();
        for k in -7000..=7000 {
            let x = f64::from(k) / 1000.0;
            assert!((table.at(x).0 - mcbo_gp::normal_probability(x)).abs() < 2e-6, "{x}");
        }
    }

    /// Two hills apart, and many beside one another: the exact distribution function has the probability asked for.
    #[test]
    fn ends_have_their_probabilities() {
        let many: Vec<(f64, f64)> =
            (0..50).map(|k| (f64::from(k * k % 17), 0.1 + f64::from(k % 5))).collect();
        for all in [vec![(-3.0, 0.5), (40.0, 2.0)], vec![(0.0, 1.0), (0.0, 1e-9)], many, vec![(2.0, 3.0)]] {
            let noisy: Vec<_> = all.iter().map(|&(centre, d)| (centre, d, Noise::None)).collect();
            for (end, share) in ends(&noisy).into_iter().zip(SHARES) {
                // The median of two hills is anywhere between them; a step is passed by a thousandth of the spread.
                let found = below(&all, end);
                let step = all.iter().any(|(centre, d)| *d < 1e-6 && (centre - end).abs() < 2e-3);
                assert!(step || (found - share).abs() < 2e-4, "{all:?} {share}: {end} has {found}");
            }
        }
    }

    #[test]
    fn uniform_noise_and_none() {
        let close = |found: [f64; 3], exact: [f64; 3]| {
            assert!(found.iter().zip(exact).all(|(f, e)| (f - e).abs() < 2e-3), "{found:?} {exact:?}");
        };
        close(ends(&[(1.0, 0.0, Noise::Uniform([-1.0, 1.0]))]), [0.1, 1.0, 1.9]);
        assert_eq!(ends(&[(4.0, 0.0, Noise::None); 7]), [4.0; 3]);
        let line: Vec<_> = (0..=100).map(|k| (f64::from(k), 0.0, Noise::None)).collect();
        close(ends(&line), [4.55, 50.0, 95.45]);
        // A normal deviation of three and noise of four are one of five.
        close(ends(&[(0.0, 3.0, Noise::Gaussian(4.0)); 2]), [-8.224_27, 0.0, 8.224_27]);
    }
}
