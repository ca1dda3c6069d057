//! Noise that is not the same everywhere.

use mcbo_gp::{Gp, Prediction, Rows, Scratch, normal_probability};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::Noise;
use crate::network::suspicion::{correlation, mean, squares};

use super::table::{Weighed, left_out};

/// Rows that are needed.
const FEWEST: usize = 24;
/// Rows say something about noise where this share of what they may miss by is noise, by the model; the rest is what is not known
/// of the mechanism.
const NOISE_SHARE: f64 = 0.5;
/// The share of the values' variance from which noise is worth a word. What a mechanism without noise does and no model of ours can
/// follow is taken for noise too, and it is never even; it is below this.
const LEAST_NOISE: f64 = 0.01;
/// Studies with even noise that the statistic is compared with.
const SIMULATED: usize = 100;

/// The input whose values the sizes of misses follow most, with their rank correlation, if that has a probability below `chance`
/// where the noise is even.
///
/// What is likely there is simulated: values about the fitted mechanism with the fitted noise, every row foretold by the others
/// again, so that how misses depend on one another counts.
pub(super) fn most(weighed: &Weighed, columns: &[Vec<f64>], chance: f64, seed: u64) -> Option<(usize, f64)> {
    let gp = &weighed.gp;
    let noise = gp.spec().noise_variance(gp.theta())?;
    if noise < LEAST_NOISE {
        return None;
    }
    let counted: Vec<usize> = weighed
        .left_out
        .iter()
        .enumerate()
        .filter(|(_, left)| noise >= NOISE_SHARE * left.variance)
        .map(|(row, _)| row)
        .collect();
    if counted.len() < FEWEST {
        return None;
    }
    let pick = |values: &[f64]| ranks(counted.iter().map(|&row| values[row]));
    let columns: Vec<Vec<f64>> = columns.iter().map(|column| pick(column)).collect();
    let follows = |misses: &[f64]| {
        let sizes = pick(&misses.iter().map(|miss| miss.abs()).collect::<Vec<f64>>());
        columns.iter().map(|column| correlation(column, &sizes)).collect::<Vec<Option<f64>>>()
    };
    let found = follows(&weighed.misses());
    let at = (0..found.len()).filter(|&k| found[k].is_some()).max_by(|&a, &b| {
        let size = |k: usize| found[k].map_or(0.0, f64::abs);
        size(a).total_cmp(&size(b))
    })?;
    let errors = |correlation: f64| {
        correlation.clamp(-0.999_999, 0.999_999).atanh() * (counted.len() as f64 - 3.0).sqrt()
    };
    // By the plain error of a correlation it is far from what is asked for.
    let seen = errors(found[at]?);
    if normal_probability(-seen.abs()) > 10.0 * chance {
        return None;
    }
    let simulated: Vec<f64> =
        even(gp, noise, seed).filter_map(|misses| follows(&misses)[at].map(errors)).collect();
    let middle = mean(&simulated);
    let deviation = (squares(&simulated, middle) / (simulated.len() as f64 - 1.0)).sqrt();
    let probability = 2.0 * normal_probability(-(seen - middle).abs() / deviation.max(1.0));
    (probability < chance).then_some((at, found[at]?))
}

/// The misses of studies with even noise.
fn even(gp: &Gp, noise: f64, seed: u64) -> impl Iterator<Item = Vec<f64>> {
    let rows = gp.rows();
    let inputs: Vec<f64> = (0..rows.dim()).flat_map(|k| rows.column(k).iter().copied()).collect();
    let mut fitted = Prediction::default();
    gp.predict(&inputs, rows.len(), false, &mut Scratch::default(), &mut fitted);
    let (mut rng, chance) = (ChaCha8Rng::seed_from_u64(seed), Noise::Gaussian(noise.sqrt()));
    (0..SIMULATED).filter_map(move |_| {
        let mut drawn = Rows::new(rows.dim());
        for row in 0..rows.len() {
            let input: Vec<f64> = (0..rows.dim()).map(|k| rows.column(k)[row]).collect();
            drawn.push(&input, fitted.mean[row] + chance.draw(&mut rng)).ok()?;
        }
        let drawn = Gp::condition(gp.spec(), gp.theta(), drawn).ok()?;
        let left = left_out(&drawn);
        let each = drawn.rows().outputs().iter().zip(left);
        Some(each.map(|(value, left)| (value - left.mean) / left.variance.sqrt()).collect())
    })
}

/// The rank of every value among all; those that are the same share theirs.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let first = order.partition_point(|&row| values[row].total_cmp(&values[same[0]]).is_lt());
        let shared = first as f64 + 0.5 * (same.len() as f64 - 1.0);
        same.iter().for_each(|&row| ranks[row] = shared);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks([3.0, 1.0, 3.0, 2.0, 3.0].into_iter()), [3.0, 0.0, 3.0, 1.0, 3.0]);
        assert_eq!(ranks([].into_iter()), [] as [f64; 0]);
    }
}
