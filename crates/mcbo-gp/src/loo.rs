//! What a process says of each row when it has not seen that row, in closed form.

use std::collections::BTreeMap;

use crate::factor::Weights;
use crate::many::Many;
use crate::simd::dot;
use crate::{Gp, GpSet, Mean, Prediction, Scratch};

/// The prediction of a row by all the others, hyper-parameters held.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The expected output.
    pub mean: f64,
    /// The variance of the output, its noise included.
    pub variance: f64,
    /// The probability of an output below the one that was seen, in (0, 1): uniform if the process is right.
    pub below: f64,
}

/// The rows of a block predicted together by the rows outside of it.
#[derive(Debug)]
struct Block {
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// Logarithm of the density of the block's outputs.
    log_density: f64,
}

impl Gp {
    /// Predicts the rows of every block by the rows outside of it, `[block][row of the block]`.
    ///
    /// With `Q = (K⁻¹)_II` of the rows `I` of a block, `μ_I = y_I - Q⁻¹ [K⁻¹(y - c)]_I` and `Σ_I = Q⁻¹`. A profiled mean
    /// `c` is the one of the other rows, by the same identity: `aᵀK₋ᵢ⁻¹b = aᵀK⁻¹b - (K⁻¹a)_Iᵀ Q⁻¹ (K⁻¹b)_I`. Blocks of one
    /// row are leave-one-out; rows of the same trial make a block where components are learned together.
    ///
    /// A jitter that was needed counts as noise. Of many rows each is left out by itself.
    pub fn left_out(&self, blocks: &[Vec<usize>]) -> Vec<Vec<LeftOut>> {
        let solver = Solver::new(self, blocks);
        let each = |block: &Vec<usize>| {
            let found = solver.block(block);
            let row = |k: usize| {
                let (mean, variance) = (found.mean[k], found.variance[k]);
                let apart = (self.rows().output[block[k]] - mean) / variance.sqrt();
                LeftOut { mean, variance, below: normal_probability(apart) }
            };
            (0..block.len()).map(row).collect()
        };
        blocks.iter().map(each).collect()
    }
}

impl Gp {
    /// Mean and variance of the function at rows.
    fn expected(&self, rows: impl Iterator<Item = usize>) -> BTreeMap<usize, (f64, f64)> {
        let (places, table): (Vec<usize>, _) = (rows.collect(), self.rows());
        let columns = places.len();
        let inputs: Vec<f64> =
            table.columns.iter().flat_map(|column| places.iter().map(|&row| column[row])).collect();
        let (mut scratch, mut at) = (Scratch::default(), Prediction::default());
        self.predict(&inputs, columns, false, &mut scratch, &mut at);
        let own = |(s, row): (usize, usize)| {
            let place = table.component[row] * columns + s;
            (row, (at.mean[place], at.variance[place]))
        };
        places.into_iter().enumerate().map(own).collect()
    }
}

impl GpSet {
    /// Predicts the rows of every block by the rows outside of it, as [`Gp::left_out`] does, mixed over the members.
    ///
    /// The members stand for the posterior of the hyper-parameters given all rows. Without a block that posterior has
    /// the density `p(θ | y) / p(y_I | y₋ᵢ, θ)` up to a constant, so the weight of a member is divided by the density of
    /// what was left out. No hyper-parameter moves: the set of one holds them.
    pub fn left_out(&self, blocks: &[Vec<usize>]) -> Vec<Vec<LeftOut>> {
        let solvers: Vec<(f64, Solver<'_>)> =
            self.members().iter().map(|(weight, gp)| (*weight, Solver::new(gp, blocks))).collect();
        blocks.iter().map(|block| mixed(&solvers, block)).collect()
    }
}

fn mixed(solvers: &[(f64, Solver<'_>)], rows: &[usize]) -> Vec<LeftOut> {
    let found: Vec<Block> = solvers.iter().map(|(_, solver)| solver.block(rows)).collect();
    let least = found.iter().map(|block| block.log_density).fold(f64::INFINITY, f64::min);
    let raw = solvers.iter().zip(&found).map(|((w, _), block)| w * (least - block.log_density).exp());
    let mut weights: Vec<f64> = raw.collect();
    let total: f64 = weights.iter().sum();
    if total.is_finite() && total > 0.0 {
        weights.iter_mut().for_each(|w| *w /= total);
    } else {
        weights.iter_mut().zip(solvers).for_each(|(w, (own, _))| *w = *own);
    }
    let row = |k: usize| {
        let output = solvers[0].1.gp.rows().output[rows[k]];
        let over = |f: &dyn Fn(&Block) -> f64| weights.iter().zip(&found).map(|(w, b)| w * f(b)).sum::<f64>();
        let mean = over(&|block| block.mean[k]);
        let variance = over(&|block| block.variance[k] + (block.mean[k] - mean).powi(2));
        let below = over(&|block| normal_probability((output - block.mean[k]) / block.variance[k].sqrt()));
        LeftOut { mean, variance, below }
    };
    (0..rows.len()).map(row).collect()
}

/// What all blocks of a process need.
struct Solver<'a> {
    gp: &'a Gp,
    /// `K⁻¹y` and `K⁻¹1`.
    outputs: Vec<f64>,
    ones: Vec<f64>,
    /// Where rows are many, what is expected of those that are asked for: mean and variance by row.
    expected: BTreeMap<usize, (f64, f64)>,
}

impl<'a> Solver<'a> {
    fn new(gp: &'a Gp, blocks: &[Vec<usize>]) -> Self {
        if gp.many.is_some() {
            let expected = gp.expected(blocks.iter().flatten().copied());
            return Self { gp, outputs: Vec::new(), ones: Vec::new(), expected };
        }
        let solve = |values: &[f64]| Weights::new(&gp.inverse, values, Mean::Fixed(0.0)).alpha;
        Self {
            gp,
            outputs: solve(&gp.rows.output),
            ones: solve(&vec![1.0; gp.rows.len()]),
            expected: BTreeMap::new(),
        }
    }

    /// With `σ² - o` what the others know of a row's function up to what centres leave open, `o`, and `λ` its noise with that: the
    /// entry of `Σ⁻¹` is `(1 - h)/λ` with `h = (σ² - o)/λ`.
    fn each_of(&self, many: &Many, rows: &[usize]) -> Block {
        let mut block = Block { mean: Vec::new(), variance: Vec::new(), log_density: 0.0 };
        for row in rows {
            let (expected, known) = self.expected[row];
            let (y, noise) = (many.rows.output[*row], many.noise[*row]);
            let share = ((known - many.open[*row]) / noise).clamp(0.0, 1.0 - 1e-9);
            let (apart, variance) = ((y - expected) / (1.0 - share), noise / (1.0 - share));
            block.mean.push(y - apart);
            block.variance.push(variance);
            block.log_density -= 0.5 * (apart * apart / variance + (std::f64::consts::TAU * variance).ln());
        }
        block
    }

    #[allow(non_snake_case)]
    fn block(&self, rows: &[usize]) -> Block {
        if let Some(many) = &self.gp.many {
            return self.each_of(many, rows);
        }
        let size = rows.len();
        let column = |i: usize| self.gp.inverse.col_as_slice(i);
        let Q = |a: usize, b: usize| {
            let from = rows[a].max(rows[b]);
            dot(&column(rows[a])[from..], &column(rows[b])[from..])
        };
        let factor = Factor::new(size, Q);
        let pick = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let (y, v, u) = (pick(&self.gp.rows.output), pick(&self.outputs), pick(&self.ones));
        let c = match self.gp.spec.mean.known() {
            Some(mean) => mean,
            // Nothing is left to estimate a mean from.
            None if size == self.gp.rows.len() => 0.0,
            None => {
                let solved = factor.solve(&u);
                let above = self.outputs.iter().sum::<f64>() - dot(&solved, &v);
                above / (self.ones.iter().sum::<f64>() - dot(&solved, &u))
            }
        };
        let weights: Vec<f64> = v.iter().zip(&u).map(|(v, u)| v - c * u).collect();
        let apart = factor.solve(&weights);
        let variance = (0..size).map(|k| {
            let unit: Vec<f64> = (0..size).map(|j| f64::from(u8::from(j == k))).collect();
            factor.solve(&unit)[k].max(f64::MIN_POSITIVE)
        });
        // log N(y; μ, Q⁻¹), with (y - μ)ᵀ Q (y - μ) = wᵀ Q⁻¹ w.
        let constant = (2.0 * std::f64::consts::PI).ln() * size as f64;
        let log_density = 0.5 * (factor.log_determinant() - dot(&weights, &apart) - constant);
        Block {
            mean: y.iter().zip(&apart).map(|(y, a)| y - a).collect(),
            variance: variance.collect(),
            log_density,
        }
    }
}

/// The Cholesky factor of a small matrix, by rows.
struct Factor {
    size: usize,
    lower: Vec<f64>,
}

impl Factor {
    fn new(size: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut lower = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                let known = dot(&lower[i * size..i * size + j], &lower[j * size..j * size + j]);
                let rest = entry(i, j) - known;
                lower[i * size + j] = if i == j {
                    // A principal part of K⁻¹ is positive definite; rounding is all that can say otherwise.
                    rest.max(f64::MIN_POSITIVE).sqrt()
                } else {
                    rest / lower[j * size + j]
                };
            }
        }
        Self { size, lower }
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (n, mut x) = (self.size, right.to_vec());
        for i in 0..n {
            x[i] = (x[i] - dot(&self.lower[i * n..i * n + i], &x[..i])) / self.lower[i * n + i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| self.lower[j * n + i] * x[j]).sum();
            x[i] = (x[i] - known) / self.lower[i * n + i];
        }
        x
    }

    fn log_determinant(&self) -> f64 {
        (0..self.size).map(|i| 2.0 * self.lower[i * self.size + i].ln()).sum()
    }
}

/// The probability that a standard normal number is below `x`, to the last digits also far in the tail.
pub fn normal_probability(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_the_normal_distribution() {
        // From tables with 15 digits.
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (-1.0, 0.158_655_253_931_457),
            (1.959_963_984_540_054, 0.975),
            (3.999, 0.999_968_194_659_945_8),
            (-5.0, 2.866_515_718_791_94e-7),
        ] {
            assert!((normal_probability(x) - expected).abs() < 1e-13, "{x}: {}", normal_probability(x));
        }
        assert!((normal_probability(-4.0 + 1e-12) - normal_probability(-4.0)).abs() < 1e-15);
        assert_eq!((normal_probability(60.0), normal_probability(f64::NEG_INFINITY)), (1.0, 0.0));
    }
}
