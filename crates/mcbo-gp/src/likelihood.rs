//! The log marginal likelihood of the hyper-parameters, with its gradient.

use faer::Mat;

use crate::factor::Weights;
use crate::simd::{self, lanes};
use crate::spec::{Correlation, Layout, LeafKind};
use crate::{GpError, GpSpec, Prior, Priors, Rows, factor};

/// Inputs divided by the lengthscales of each leaf: `[leaf][input][row]`. Waves have the cosine and the sine of their phase
/// behind the inputs.
pub(crate) fn scaled_columns(layout: &Layout, theta: &[f64], rows: &Rows) -> Vec<Vec<Vec<f64>>> {
    let mut scaled = Vec::new();
    scale_columns(layout, theta, rows, &mut scaled);
    scaled
}

/// Writes them where those of earlier parameters were.
fn scale_columns(layout: &Layout, theta: &[f64], rows: &Rows, scaled: &mut Vec<Vec<Vec<f64>>>) {
    scaled.resize_with(layout.leaves.len(), Vec::new);
    for (leaf, columns) in layout.leaves.iter().zip(scaled) {
        let inputs = leaf.inputs.len();
        let waves = leaf.kind == LeafKind::Cosine;
        columns.resize_with(inputs + if waves { 2 } else { 0 }, Vec::new);
        for (seen, column) in leaf.seen(theta).zip(columns.iter_mut()) {
            column.clear();
            column.extend(rows.columns[seen.input].iter().map(|x| seen.apply(*x)));
        }
        if waves {
            let (inputs, behind) = columns.split_at_mut(inputs);
            behind.iter_mut().for_each(Vec::clear);
            for j in 0..rows.len() {
                let phase = phase(inputs.iter().map(|column| column[j]));
                behind[0].push(phase.cos());
                behind[1].push(phase.sin());
            }
        }
    }
}

/// The phase of a wave at inputs divided by its periods.
pub(crate) fn phase(scaled: impl Iterator<Item = f64>) -> f64 {
    std::f64::consts::TAU * scaled.sum::<f64>()
}

/// The noise variance of every row.
pub(crate) fn noise_of(spec: &GpSpec, theta: &[f64], rows: &Rows, row: usize) -> f64 {
    spec.noise_variance(theta).unwrap_or_else(|| rows.noise[row])
}

/// Evaluates `log p(y | X, θ)` and the log posterior of `θ` again and again without allocating anew.
#[derive(Debug)]
pub struct Likelihood<'a> {
    spec: &'a GpSpec,
    rows: &'a Rows,
    layout: Layout,
    /// The columns of the covariance in blocks that are computed together.
    blocks: Vec<Block>,
    /// Of every leaf the values, and the slopes which gradients need, of all blocks one after the other. Without slopes a block's are
    /// where those of the block before it were.
    values: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
    /// Of one block: squared distances, then products of leaves; and their sum.
    squared: Vec<f64>,
    sum: Vec<f64>,
    /// The inputs as the leaves see them, and the variances of the terms, of the last parameters.
    scaled: Vec<Vec<Vec<f64>>>,
    variances: Vec<f64>,
    covariance: Mat<f64>,
    /// Where the covariance is factorised, then `L⁻¹`.
    inverse: Mat<f64>,
    /// `K⁻¹`, for gradients.
    gram: Mat<f64>,
    evaluations: usize,
}

/// The pieces of a factorised covariance that a posterior needs.
pub(crate) struct Solved {
    pub value: f64,
    pub weights: Weights,
    pub jitter: f64,
}

impl<'a> Likelihood<'a> {
    /// Prepares the evaluation for these rows.
    pub fn new(spec: &'a GpSpec, rows: &'a Rows) -> Self {
        let layout = Layout::new(spec);
        let n = rows.len();
        let blocks = Block::all(n);
        let largest = blocks.iter().map(Block::len).max().unwrap_or(0);
        Self {
            spec,
            rows,
            values: layout.leaves.iter().map(|_| vec![0.0; largest]).collect(),
            slopes: Vec::new(),
            squared: vec![0.0; largest],
            sum: vec![0.0; largest],
            blocks,
            scaled: Vec::new(),
            variances: Vec::new(),
            covariance: Mat::zeros(n, n),
            inverse: Mat::zeros(n, n),
            gram: Mat::zeros(0, 0),
            layout,
            evaluations: 0,
        }
    }

    pub(crate) fn rows(&self) -> &'a Rows {
        self.rows
    }

    pub(crate) fn priors(&self) -> &'a Priors {
        &self.spec.priors
    }

    /// How often the likelihood was evaluated.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// `log N(y; c, K + σ²I)`; the gradient by `theta` is added to `gradient` unless that is empty.
    ///
    /// # Errors
    /// If the covariance is not positive definite even with the largest jitter.
    pub fn log_marginal(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64, GpError> {
        if gradient.is_empty() {
            self.factorize(theta, false)?;
            return Ok(self.value(factor::quadratic(&self.covariance, &self.rows.output, self.spec.mean)));
        }
        let solved = self.solve(theta, true)?;
        factor::gram_of_inverse(self.inverse.as_ref(), &mut self.gram);
        add_gradient(self, theta, &solved.weights.alpha, gradient);
        Ok(solved.value)
    }

    /// The log posterior that maximum a posteriori fitting maximises: the likelihood plus the log density of the
    /// parameters themselves. `gradient` is overwritten unless it is empty.
    ///
    /// # Errors
    /// As [`Self::log_marginal`].
    pub fn log_posterior(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64, GpError> {
        self.with_priors(theta, gradient, Prior::log_density)
    }

    /// The log posterior density of the logarithms, which sampling needs. `gradient` is overwritten unless it is empty.
    ///
    /// # Errors
    /// As [`Self::log_marginal`].
    pub fn log_density_of_logs(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64, GpError> {
        self.with_priors(theta, gradient, Prior::log_density_of_log)
    }

    fn with_priors(
        &mut self,
        theta: &[f64],
        gradient: &mut [f64],
        density: impl Fn(&Prior, f64) -> (f64, f64),
    ) -> Result<f64, GpError> {
        gradient.fill(0.0);
        let mut value = self.log_marginal(theta, gradient)?;
        for (slot, prior) in self.layout.priors(&self.spec.priors) {
            let (density, slope) = density(&prior, theta[slot]);
            value += density;
            if !gradient.is_empty() {
                gradient[slot] += slope;
            }
        }
        for slot in self.layout.correlation.clone() {
            value -= 0.5 * theta[slot] * theta[slot];
            if !gradient.is_empty() {
                gradient[slot] -= theta[slot];
            }
        }
        Ok(value)
    }

    /// Hands over `L⁻¹` of the last successful evaluation.
    pub(crate) fn into_inverse(self) -> Mat<f64> {
        self.inverse
    }

    pub(crate) fn solve(&mut self, theta: &[f64], slopes: bool) -> Result<Solved, GpError> {
        let jitter = self.factorize(theta, slopes)?;
        factor::invert(self.covariance.as_ref(), &mut self.inverse);
        let weights = Weights::new(&self.inverse, &self.rows.output, self.spec.mean);
        Ok(Solved { value: self.value(weights.quadratic), weights, jitter })
    }

    /// Leaves the Cholesky factor in place of the covariance; returns the jitter it needed.
    fn factorize(&mut self, theta: &[f64], slopes: bool) -> Result<f64, GpError> {
        if theta.len() != self.layout.len {
            return Err(GpError::WrongLength {
                what: "the parameter vector",
                expected: self.layout.len,
                found: theta.len(),
            });
        }
        self.evaluations += 1;
        self.build(theta, slopes);
        factor::cholesky(&mut self.covariance, &mut self.inverse)
    }

    /// The log likelihood, given `(y - c)ᵀ K⁻¹ (y - c)` and the factor.
    fn value(&self, quadratic: f64) -> f64 {
        let n = self.rows.len();
        let log_det: f64 = 2.0 * (0..n).map(|i| self.covariance[(i, i)].ln()).sum::<f64>();
        -0.5 * quadratic - 0.5 * log_det - 0.5 * n as f64 * std::f64::consts::TAU.ln()
    }

    /// Fills the leaves' matrices and the lower triangle of the covariance with noise.
    fn build(&mut self, theta: &[f64], with_slopes: bool) {
        scale_columns(&self.layout, theta, self.rows, &mut self.scaled);
        self.variances.clear();
        self.variances.extend(self.layout.terms.iter().map(|term| theta[term.variance].exp()));
        if with_slopes && self.slopes.is_empty() {
            let all = self.blocks.iter().map(Block::len).sum();
            self.values.iter_mut().for_each(|values| values.resize(all, 0.0));
            self.slopes = self.values.clone();
        }
        fill(self, theta, with_slopes);
    }

    fn correlation(&self, theta: &[f64]) -> Option<Correlation> {
        let size = self.spec.components;
        (size > 1).then(|| Correlation::new(size, &theta[self.layout.correlation.clone()]))
    }
}

/// Columns of a lower triangle, from the diagonal down, one after the other.
///
/// With few rows a column has a handful of entries: what is done to each by itself is done to a block of them at once.
#[derive(Debug, Clone)]
struct Block {
    columns: std::ops::Range<usize>,
    /// Where they begin among those of the whole triangle.
    place: usize,
    rows: usize,
}

impl Block {
    /// Entries that are worth a block, few enough to stay in the nearest cache.
    const ENTRIES: usize = 256;

    fn all(rows: usize) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::new();
        let mut place = 0;
        for j in 0..rows {
            match blocks.last_mut().filter(|block| block.len() + rows - j <= Self::ENTRIES) {
                Some(block) => block.columns.end = j + 1,
                None => blocks.push(Self { columns: j..j + 1, place, rows }),
            }
            place += rows - j;
        }
        blocks
    }

    fn len(&self) -> usize {
        self.columns.clone().map(|j| self.rows - j).sum()
    }

    /// Its place in the triangle.
    fn range(&self) -> std::ops::Range<usize> {
        self.place..self.place + self.len()
    }

    /// Its columns, each with the place of its entries in the block.
    fn columns(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let (rows, mut from) = (self.rows, 0);
        self.columns.clone().map(move |j| {
            let range = from..from + rows - j;
            from = range.end;
            (j, range)
        })
    }
}

simd::vectorized! {
    /// The leaves' values, with slopes where they are wanted, and the lower triangle of the covariance.
    fn fill(likelihood: &mut Likelihood<'_>, theta: &[f64], with_slopes: bool) {
        let correlation = likelihood.correlation(theta);
        let Likelihood { spec, rows, layout, blocks, values, slopes, squared, sum, .. } = likelihood;
        let (scaled, variances, covariance) =
            (&likelihood.scaled, &likelihood.variances, &mut likelihood.covariance);
        let (noise, offset) = (spec.noise_variance(theta), spec.mean.variance());
        let weights = choice_weights(layout, theta);
        let single = layout.leaves.len() == 1;
        let mut x = Vec::new();
        for block in blocks.iter() {
            let range = if with_slopes { block.range() } else { 0..block.len() };
            let (squared, sum) = (&mut squared[..range.len()], &mut sum[..range.len()]);
            for (leaf, layout) in layout.leaves.iter().enumerate() {
                let scaled = &scaled[leaf];
                let value = &mut values[leaf][range.clone()];
                let slope: &mut [f64] = if with_slopes { &mut slopes[leaf][range.clone()] } else { &mut [] };
                for (j, part) in block.columns() {
                    x.clear();
                    x.extend(scaled.iter().map(|column| column[j]));
                    let value = &mut value[part.clone()];
                    let slope = if with_slopes { &mut slope[part.clone()] } else { &mut [] };
                    match layout.kind {
                        LeafKind::Stationary(_) => lanes::squared_distances(&x, scaled, j, &mut squared[part]),
                        LeafKind::Linear => lanes::inner_products(&x, scaled, j, value),
                        LeafKind::Cosine => wave(&x, scaled, j, value, slope),
                        LeafKind::Choice => agreement(&x, scaled, &weights[leaf], j, value, slope),
                    }
                }
                if let LeafKind::Stationary(profile) = layout.kind {
                    lanes::profile(profile, squared, value, slope);
                }
            }
            let value = |leaf: usize| &values[leaf][range.clone()];
            if !single {
                sum.fill(0.0);
            }
            for (term, &variance) in layout.terms.iter().zip(variances) {
                if single {
                    lanes::scale(variance, value(0), sum);
                } else if term.leaves.len() == 1 {
                    lanes::add_scaled(variance, value(term.leaves.start), sum);
                } else {
                    squared.fill(variance);
                    term.leaves.clone().for_each(|leaf| lanes::multiply_into(value(leaf), squared));
                    lanes::add_scaled(1.0, squared, sum);
                }
            }
            if offset > 0.0 {
                sum.iter_mut().for_each(|entry| *entry += offset);
            }
            for (j, part) in block.columns() {
                let target = &mut covariance.col_as_slice_mut(j)[j..];
                target.copy_from_slice(&sum[part]);
                if let Some(correlation) = &correlation {
                    for (target, &other) in target.iter_mut().zip(&rows.component[j..]) {
                        *target *= correlation.get(rows.component[j], other);
                    }
                }
                target[0] += noise.unwrap_or_else(|| rows.noise[j]);
            }
        }
    }

    /// Adds `½ tr((ααᵀ - K⁻¹) ∂K/∂θ)`, given `K⁻¹` and what the last covariance was made of. With a profiled mean this is still
    /// exact, since the likelihood is stationary in the mean.
    fn add_gradient(likelihood: &mut Likelihood<'_>, theta: &[f64], alpha: &[f64], gradient: &mut [f64]) {
        let correlation = likelihood.correlation(theta);
        let Likelihood { spec, rows, layout, blocks, values, slopes, squared, sum, .. } = likelihood;
        let (scaled, variances, gram) = (&likelihood.scaled, &likelihood.variances, &likelihood.gram);
        let size = spec.components;
        let mut by_correlation = vec![0.0; if correlation.is_some() { size * size } else { 0 }];
        let units = choice_weights(layout, theta);
        let noise = layout.noise.map(|slot| (slot, theta[slot].exp()));
        for block in blocks.iter() {
            let range = block.range();
            let value = |leaf: usize| &values[leaf][range.clone()];
            let (by_covariance, weights) = (&mut sum[..range.len()], &mut squared[..range.len()]);
            for (j, part) in block.columns() {
                let gram = &gram.col_as_slice(j)[j..];
                let by_covariance = &mut by_covariance[part.clone()];
                let (following, at) = (&alpha[j..], alpha[j]);
                for ((by_covariance, gram), following) in by_covariance.iter_mut().zip(gram).zip(following) {
                    *by_covariance = at * following - gram;
                }
                by_covariance[0] *= 0.5; // the diagonal counts once, the rest stands for both triangles
                if let Some((slot, noise)) = noise {
                    gradient[slot] += by_covariance[0] * noise;
                }
                if let Some(correlation) = &correlation {
                    for (i, by_covariance) in by_covariance.iter_mut().enumerate() {
                        let product = |term: &crate::spec::TermLayout| {
                            term.leaves.clone().map(|leaf| value(leaf)[part.start + i]).product::<f64>()
                        };
                        let terms = layout.terms.iter().zip(variances);
                        let base = terms.fold(spec.mean.variance(), |base, (t, v)| base + v * product(t));
                        let (a, b) = (rows.component[j], rows.component[j + i]);
                        by_correlation[a * size + b] += *by_covariance * base;
                        *by_covariance *= correlation.get(a, b);
                    }
                }
            }
            for (term, &variance) in layout.terms.iter().zip(variances) {
                for leaf in term.leaves.clone() {
                    let kind = layout.leaves[leaf].kind;
                    weights.copy_from_slice(by_covariance);
                    for other in term.leaves.clone().filter(|&other| other != leaf) {
                        lanes::multiply_into(value(other), weights);
                    }
                    if leaf == term.leaves.start {
                        for (_, part) in block.columns() {
                            gradient[term.variance] +=
                                variance * lanes::dot(&weights[part.clone()], &value(leaf)[part]);
                        }
                    }
                    if kind != LeafKind::Linear {
                        lanes::multiply_into(&slopes[leaf][range.clone()], weights);
                    }
                    for (j, part) in block.columns() {
                        let weights = &weights[part];
                        let all = if kind == LeafKind::Cosine { weights.iter().sum::<f64>() } else { 0.0 };
                        for (k, slot) in layout.leaves[leaf].lengthscales.clone().enumerate() {
                            let (at, column) = (scaled[leaf][k][j], &scaled[leaf][k][j..]);
                            let by_logarithm = match kind {
                                LeafKind::Stationary(_) => 2.0 * lanes::weighted_square(at, weights, column),
                                LeafKind::Linear => 2.0 * at * lanes::dot(weights, column),
                                LeafKind::Cosine => at * all - lanes::dot(weights, column),
                                LeafKind::Choice => {
                                    let unit = units[leaf][k];
                                    let apart = weights.iter().zip(column).filter(|(_, x)| differ(**x, at, unit));
                                    -unit * apart.map(|(weight, _)| weight).sum::<f64>()
                                }
                            };
                            gradient[slot] -= variance * by_logarithm;
                        }
                    }
                }
            }
        }
        if let Some(correlation) = &correlation {
            let mut by_free = vec![0.0; layout.correlation.len()];
            correlation.backward(&by_correlation, &mut by_free);
            for (slot, g) in layout.correlation.clone().zip(by_free) {
                gradient[slot] += g;
            }
        }
    }
}

/// The weights `1/ℓ` of every leaf of names, which are also the units of its scaled inputs; empty for others.
fn choice_weights(layout: &Layout, theta: &[f64]) -> Vec<Vec<f64>> {
    let in_leaf = |leaf: &crate::spec::LeafLayout| match leaf.kind {
        LeafKind::Choice => theta[leaf.lengthscales.clone()].iter().map(|l| (-l).exp()).collect(),
        _ => Vec::new(),
    };
    layout.leaves.iter().map(in_leaf).collect()
}

/// Whether two scaled inputs are different names. Names are a unit apart; what is less is rounding.
pub(crate) fn differ(x: f64, other: f64, unit: f64) -> bool {
    (x - other).abs() > 0.5 * unit
}

/// What the point `x` has in common with the rows from `from` on, in inputs that are names: `exp(-Σ_k w_k [x_k ≠ x_jk])`. `slope`,
/// unless it is empty, is the same: the derivative by a sum in the exponent.
#[inline(always)]
pub(crate) fn agreement(
    x: &[f64],
    columns: &[Vec<f64>],
    weights: &[f64],
    from: usize,
    value: &mut [f64],
    slope: &mut [f64],
) {
    for (i, value) in value.iter_mut().enumerate() {
        let apart = (0..x.len()).filter(|&k| differ(x[k], columns[k][from + i], weights[k]));
        *value = (-apart.map(|k| weights[k]).sum::<f64>()).exp();
    }
    if !slope.is_empty() {
        slope.copy_from_slice(value);
    }
}

/// A wave between the point `x` and the rows from `from` on: `cos(φ - φ_j)`, and unless `slope` is empty its derivative by the
/// sum of the scaled inputs, `-2π sin(φ - φ_j)`. Both are sums of products of cosines and sines, which are behind the inputs.
#[inline(always)]
pub(crate) fn wave(x: &[f64], columns: &[Vec<f64>], from: usize, value: &mut [f64], slope: &mut [f64]) {
    let behind = columns.len() - 2;
    let (x, columns) = (&x[behind..], &columns[behind..]);
    lanes::inner_products(x, columns, from, value);
    if !slope.is_empty() {
        let turned = [-std::f64::consts::TAU * x[1], std::f64::consts::TAU * x[0]];
        lanes::inner_products(&turned, columns, from, slope);
    }
}
