//! The log marginal likelihood of the hyper-parameters, with its gradient.

use faer::Mat;

use crate::factor::Weights;
use crate::simd::{self, dot};
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
    let seen = layout.seen(theta);
    scaled.resize_with(layout.leaves.len(), Vec::new);
    for (leaf, columns) in layout.leaves.iter().zip(scaled) {
        let seen = &seen[leaf.places.clone()];
        let waves = leaf.kind == LeafKind::Cosine;
        columns.resize_with(seen.len() + if waves { 2 } else { 0 }, Vec::new);
        for (seen, column) in seen.iter().zip(columns.iter_mut()) {
            column.clear();
            column.extend(rows.columns[seen.input].iter().map(|x| seen.apply(*x)));
        }
        if waves {
            let (inputs, behind) = columns.split_at_mut(seen.len());
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
    /// Lower triangles of the leaves' values and slopes, which gradients need; empty before the first.
    values: Vec<Mat<f64>>,
    slopes: Vec<Mat<f64>>,
    /// One column of the leaves' values, where nothing else is needed of them.
    columns: Vec<Vec<f64>>,
    squared: Vec<f64>,
    /// The inputs as the leaves see them, of the last parameters.
    scaled: Vec<Vec<Vec<f64>>>,
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
        Self {
            spec,
            rows,
            values: Vec::new(),
            slopes: Vec::new(),
            columns: layout.leaves.iter().map(|_| vec![0.0; n]).collect(),
            squared: vec![0.0; n],
            scaled: Vec::new(),
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
        self.add_gradient(theta, &solved.weights.alpha, gradient);
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
        let n = self.rows.len();
        scale_columns(&self.layout, theta, self.rows, &mut self.scaled);
        let (scaled, noise) = (&self.scaled, self.spec.noise_variance(theta));
        let correlation = Correlation::new(self.spec.components, &theta[self.layout.correlation.clone()]);
        let offset = self.spec.mean.variance();
        if with_slopes && self.values.is_empty() {
            self.values = self.layout.leaves.iter().map(|_| Mat::zeros(n, n)).collect();
            self.slopes = self.values.clone();
        }
        let mut x = Vec::new();
        let weights = choice_weights(&self.layout, theta);
        for j in 0..n {
            for (leaf, layout) in self.layout.leaves.iter().enumerate() {
                let columns = &scaled[leaf];
                x.clear();
                x.extend(columns.iter().map(|column| column[j]));
                let (value, slope): (&mut [f64], &mut [f64]) = if with_slopes {
                    let slope = self.slopes[leaf].col_as_slice_mut(j);
                    (&mut self.values[leaf].col_as_slice_mut(j)[j..], &mut slope[j..])
                } else {
                    (&mut self.columns[leaf][j..], &mut [])
                };
                match layout.kind {
                    LeafKind::Stationary(profile) => {
                        let squared = &mut self.squared[j..];
                        simd::squared_distances(&x, columns, j, squared);
                        simd::profile(profile, squared, value, slope);
                    }
                    LeafKind::Linear => simd::inner_products(&x, columns, j, value),
                    LeafKind::Cosine => wave(&x, columns, j, value, slope),
                    LeafKind::Choice => agreement(&x, columns, &weights[leaf], j, value, slope),
                }
            }
            let (values, columns) = (&self.values, &self.columns);
            let value = |leaf: usize| match with_slopes {
                true => &values[leaf].col_as_slice(j)[j..],
                false => &columns[leaf][j..],
            };
            let target = &mut self.covariance.col_as_slice_mut(j)[j..];
            let single = self.layout.leaves.len() == 1;
            if !single {
                target.fill(0.0);
            }
            for term in &self.layout.terms {
                let variance = theta[term.variance].exp();
                if single {
                    simd::scale(variance, value(0), target);
                } else if term.leaves.len() == 1 {
                    simd::add_scaled(variance, value(term.leaves.start), target);
                } else {
                    let product = &mut self.squared[j..];
                    product.fill(variance);
                    term.leaves.clone().for_each(|leaf| simd::multiply_into(value(leaf), product));
                    simd::add_scaled(1.0, product, target);
                }
            }
            if offset > 0.0 {
                target.iter_mut().for_each(|target| *target += offset);
            }
            if self.spec.components > 1 {
                let component = &self.rows.component;
                for (target, &other) in target.iter_mut().zip(&component[j..]) {
                    *target *= correlation.get(component[j], other);
                }
            }
            target[0] += noise.unwrap_or_else(|| self.rows.noise[j]);
        }
    }

    /// Adds `½ tr((ααᵀ - K⁻¹) ∂K/∂θ)`. With a profiled mean this is still exact, since the likelihood is
    /// stationary in the mean.
    fn add_gradient(&mut self, theta: &[f64], alpha: &[f64], gradient: &mut [f64]) {
        let n = self.rows.len();
        factor::gram_of_inverse(self.inverse.as_ref(), &mut self.gram);
        // Those of the covariance that was just factorised.
        let scaled = &self.scaled;
        let size = self.spec.components;
        let correlation = Correlation::new(size, &theta[self.layout.correlation.clone()]);
        let mut by_correlation = vec![0.0; size * size];
        let units = choice_weights(&self.layout, theta);
        let (mut by_covariance, mut base, mut weights) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            let rest = n - j;
            let gram = &self.gram.col_as_slice(j)[j..];
            let by_covariance = &mut by_covariance[..rest];
            for i in 0..rest {
                by_covariance[i] = alpha[j] * alpha[j + i] - gram[i];
            }
            by_covariance[0] *= 0.5; // the diagonal counts once, the rest stands for both triangles
            if let Some(slot) = self.layout.noise {
                gradient[slot] += by_covariance[0] * theta[slot].exp();
            }
            if size > 1 {
                let component = &self.rows.component;
                let base = &mut base[..rest];
                base.fill(self.spec.mean.variance());
                for term in &self.layout.terms {
                    for i in 0..rest {
                        let product: f64 = term
                            .leaves
                            .clone()
                            .map(|leaf| self.values[leaf].col_as_slice(j)[j + i])
                            .product();
                        base[i] += theta[term.variance].exp() * product;
                    }
                }
                for i in 0..rest {
                    let (a, b) = (component[j], component[j + i]);
                    by_correlation[a * size + b] += by_covariance[i] * base[i];
                    by_covariance[i] *= correlation.get(a, b);
                }
            }
            for term in &self.layout.terms {
                let variance = theta[term.variance].exp();
                let weights = &mut weights[..rest];
                for leaf in term.leaves.clone() {
                    let kind = self.layout.leaves[leaf].kind;
                    weights.copy_from_slice(by_covariance);
                    for other in term.leaves.clone().filter(|&other| other != leaf) {
                        let value = &self.values[other].col_as_slice(j)[j..];
                        simd::multiply_into(value, weights);
                    }
                    if leaf == term.leaves.start {
                        let value = &self.values[leaf].col_as_slice(j)[j..];
                        gradient[term.variance] += variance * dot(weights, value);
                    }
                    if kind != LeafKind::Linear {
                        let slope = &self.slopes[leaf].col_as_slice(j)[j..];
                        simd::multiply_into(slope, weights);
                    }
                    let all = if kind == LeafKind::Cosine { weights.iter().sum::<f64>() } else { 0.0 };
                    for (k, slot) in self.layout.leaves[leaf].lengthscales.clone().enumerate() {
                        let column = &scaled[leaf][k];
                        let by_logarithm = match kind {
                            LeafKind::Stationary(_) => {
                                2.0 * simd::weighted_square(column[j], weights, &column[j..])
                            }
                            LeafKind::Linear => 2.0 * column[j] * dot(weights, &column[j..]),
                            LeafKind::Cosine => column[j] * all - dot(weights, &column[j..]),
                            LeafKind::Choice => {
                                let unit = units[leaf][k];
                                let differs = |x: &f64| differ(*x, column[j], unit);
                                let apart = weights.iter().zip(&column[j..]).filter(|(_, x)| differs(x));
                                -unit * apart.map(|(weight, _)| weight).sum::<f64>()
                            }
                        };
                        gradient[slot] -= variance * by_logarithm;
                    }
                }
            }
        }
        if size > 1 {
            let mut by_free = vec![0.0; self.layout.correlation.len()];
            correlation.backward(&by_correlation, &mut by_free);
            for (slot, g) in self.layout.correlation.clone().zip(by_free) {
                gradient[slot] += g;
            }
        }
    }
}

/// The weights `1/ℓ` of every leaf of names, which are also the units of its scaled inputs; empty for others.
fn choice_weights(layout: &Layout, theta: &[f64]) -> Vec<Vec<f64>> {
    let of = |leaf: &crate::spec::LeafLayout| match leaf.kind {
        LeafKind::Choice => theta[leaf.lengthscales.clone()].iter().map(|l| (-l).exp()).collect(),
        _ => Vec::new(),
    };
    layout.leaves.iter().map(of).collect()
}

/// Whether two scaled inputs are different names. Names are a unit apart; what is less is rounding.
pub(crate) fn differ(x: f64, other: f64, unit: f64) -> bool {
    (x - other).abs() > 0.5 * unit
}

/// What the point `x` has in common with the rows from `from` on, in inputs that are names: `exp(-Σ_k w_k [x_k ≠ x_jk])`. `slope`,
/// unless it is empty, is the same: the derivative by a sum in the exponent.
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
pub(crate) fn wave(x: &[f64], columns: &[Vec<f64>], from: usize, value: &mut [f64], slope: &mut [f64]) {
    let behind = columns.len() - 2;
    let (x, columns) = (&x[behind..], &columns[behind..]);
    simd::inner_products(x, columns, from, value);
    if !slope.is_empty() {
        let turned = [-std::f64::consts::TAU * x[1], std::f64::consts::TAU * x[0]];
        simd::inner_products(&turned, columns, from, slope);
    }
}
