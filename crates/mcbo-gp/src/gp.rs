//! A Gaussian process conditioned on data: its posterior, with gradients, for batches of inputs.

use faer::Mat;

use crate::factor::Weights;
use crate::likelihood::{Likelihood, noise_of, scaled_columns};
use crate::simd::{self, dot};
use crate::spec::{Correlation, Layout, LeafKind, TermLayout};
use crate::{GpError, GpSpec, Rows, factor};

/// Columns that are predicted together: enough for the matrix products, few enough for the cache.
const TILE: usize = 64;

/// The posterior at a batch of inputs: `[component][column]`, with Jacobians `[component][input][column]`.
#[derive(Debug, Clone, Default)]
pub struct Prediction {
    /// Posterior mean of the function.
    pub mean: Vec<f64>,
    /// Posterior variance of the function, without measurement noise.
    pub variance: Vec<f64>,
    /// Derivatives of the mean by the inputs.
    pub mean_jacobian: Vec<f64>,
    /// Derivatives of the variance by the inputs.
    pub variance_jacobian: Vec<f64>,
}

impl Prediction {
    pub(crate) fn prepare(&mut self, components: usize, dim: usize, columns: usize, jacobian: bool) {
        let (n, m) = (components * columns, if jacobian { components * dim * columns } else { 0 });
        for (buffer, len) in [
            (&mut self.mean, n),
            (&mut self.variance, n),
            (&mut self.mean_jacobian, m),
            (&mut self.variance_jacobian, m),
        ] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
    }
}

/// Memory that predictions reuse; one per thread.
#[derive(Debug)]
pub struct Scratch {
    values: Vec<Mat<f64>>,
    slopes: Vec<Mat<f64>>,
    covariance: Mat<f64>,
    solved: Mat<f64>,
    weights: Mat<f64>,
    squared: Vec<f64>,
    by_mean: Vec<f64>,
    by_variance: Vec<f64>,
    coefficient: Vec<f64>,
    pub(crate) members: Vec<Prediction>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            slopes: Vec::new(),
            covariance: Mat::new(),
            solved: Mat::new(),
            weights: Mat::new(),
            squared: Vec::new(),
            by_mean: Vec::new(),
            by_variance: Vec::new(),
            coefficient: Vec::new(),
            members: Vec::new(),
        }
    }
}

fn reserve(matrix: &mut Mat<f64>, rows: usize) {
    if matrix.nrows() < rows || matrix.ncols() < TILE {
        *matrix = Mat::zeros(rows.next_multiple_of(32), TILE);
    }
}

/// A Gaussian process with given hyper-parameters, conditioned on rows (Eq. gp_mean and Eq. gp_var).
///
/// The posterior goes through the inverse of the triangular factor, `σ² = k(x,x) - |L⁻¹k|²`, because the shorter way
/// through `K⁻¹` cancels where a noiseless node is well known.
///
/// ```
/// use mcbo_gp::{Gp, GpSpec, Noise, Prediction, Rows, Scratch};
/// let spec = GpSpec::new(1, Noise::Fixed(1e-6));
/// let mut rows = Rows::new(1);
/// for x in [0.0, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0_f64] {
///     rows.push(&[x], (3.0 * x).sin())?;
/// }
/// let theta = spec.parameters_from(&[1.0], &[vec![0.5]], &[], 0.0);
/// let gp = Gp::condition(&spec, &theta, rows)?;
/// let (mut scratch, mut at) = (Scratch::default(), Prediction::default());
/// gp.predict(&[0.3, 0.5], 2, true, &mut scratch, &mut at);
/// assert!((at.mean[0] - 0.9_f64.sin()).abs() < 1e-3 && at.variance[0] < 1e-5);
/// assert!((at.mean[1] - 1.5_f64.sin()).abs() < 0.02 && at.variance[1] > at.variance[0]);
/// # Ok::<(), mcbo_gp::GpError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gp {
    spec: GpSpec,
    layout: Layout,
    theta: Vec<f64>,
    rows: Rows,
    scaled: Vec<Vec<Vec<f64>>>,
    /// Variance of every term.
    variances: Vec<f64>,
    /// Inverse lengthscales, `[leaf][input]`.
    factors: Vec<f64>,
    correlation: Correlation,
    inverse: Mat<f64>,
    alpha: Vec<f64>,
    mean: f64,
    jitter: f64,
    log_marginal: f64,
}

impl Gp {
    /// Conditions the process on `rows` with hyper-parameters `theta` (see [`GpSpec::parameters_from`]).
    ///
    /// # Errors
    /// If the covariance is not positive definite even with the largest jitter, or a length is wrong.
    pub fn condition(spec: &GpSpec, theta: &[f64], rows: Rows) -> Result<Self, GpError> {
        if rows.dim() != spec.dim {
            return Err(GpError::WrongLength {
                what: "a row's input",
                expected: spec.dim,
                found: rows.dim(),
            });
        }
        let layout = Layout::new(spec);
        let mut likelihood = Likelihood::new(spec, &rows);
        let solved = likelihood.solve(theta, false)?;
        let inverse = likelihood.into_inverse();
        Ok(Self {
            spec: spec.clone(),
            scaled: scaled_columns(&layout, theta, &rows),
            variances: layout.terms.iter().map(|term| theta[term.variance].exp()).collect(),
            factors: layout
                .leaves
                .iter()
                .flat_map(|leaf| &theta[leaf.lengthscales.clone()])
                .map(|l| (-l).exp())
                .collect(),
            correlation: Correlation::new(spec.components, &theta[layout.correlation.clone()]),
            layout,
            theta: theta.to_vec(),
            inverse,
            alpha: solved.weights.alpha,
            mean: solved.weights.mean,
            jitter: solved.jitter,
            log_marginal: solved.value,
            rows,
        })
    }

    /// The process before data.
    pub fn spec(&self) -> &GpSpec {
        &self.spec
    }

    /// The hyper-parameters.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// The rows it is conditioned on.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The jitter that was needed, as a fraction of the mean variance; 0 normally.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The prior mean in use.
    pub fn prior_mean(&self) -> f64 {
        self.mean
    }

    /// Log marginal likelihood of the rows it was conditioned on with [`Self::condition`].
    pub fn log_marginal(&self) -> f64 {
        self.log_marginal
    }

    /// Adds a row in O(n²), hyper-parameters unchanged: the new row of `L⁻¹` is `(-lᵀL⁻¹, 1)/d` with `l = L⁻¹k` and
    /// `d² = k(x,x) + σ² - |l|²`.
    ///
    /// # Errors
    /// If a number is not finite or a length is wrong; the process is as it was then.
    pub fn append(
        &mut self,
        input: &[f64],
        output: f64,
        component: usize,
        noise: f64,
    ) -> Result<(), GpError> {
        let n = self.rows.len();
        self.rows.push_full(input, output, component, noise)?;
        for (leaf, layout) in self.scaled.iter_mut().zip(&self.layout.leaves) {
            for ((column, slot), x) in leaf.iter_mut().zip(layout.lengthscales.clone()).zip(input) {
                column.push(x * (-self.theta[slot]).exp());
            }
        }
        let mut scratch = Scratch::default();
        self.covariances(&mut scratch, n, 0, false, |leaf, k| self.scaled[leaf][k][n]);
        let mut l = vec![0.0; n];
        for j in 0..n {
            let k = scratch.covariance.col_as_slice(0)[j]
                * self.correlation.get(component, self.rows.component[j]);
            simd::add_scaled(k, &self.inverse.col_as_slice(j)[j..], &mut l[j..]);
        }
        let own = self.prior_variance(|leaf, k| self.scaled[leaf][k][n]);
        let noise = noise_of(&self.spec, &self.theta, &self.rows, n);
        // Rounding can leave nothing of the pivot where the row repeats a known one; the first rung of the ladder.
        let floor = 1e-12 * own.max(f64::MIN_POSITIVE);
        let pivot = own + noise - dot(&l, &l);
        if pivot < floor {
            self.jitter = self.jitter.max(1e-12);
        }
        let d = pivot.max(floor).sqrt();
        let row: Vec<f64> = (0..n).map(|j| -dot(&self.inverse.col_as_slice(j)[j..], &l[j..]) / d).collect();
        self.inverse.resize_with(n + 1, n + 1, |i, j| match (i == n, j == n) {
            (true, true) => 1.0 / d,
            (true, false) => row[j],
            _ => 0.0,
        });
        let weights = Weights::new(&self.inverse, &self.rows.output, self.spec.mean);
        (self.alpha, self.mean) = (weights.alpha, weights.mean);
        Ok(())
    }

    /// Mean and variance of the function at a batch of inputs, with Jacobians if wanted.
    ///
    /// `inputs` holds input `k` of column `s` at `k * columns + s`. Vector outputs are predicted for every component.
    pub fn predict(
        &self,
        inputs: &[f64],
        columns: usize,
        jacobian: bool,
        scratch: &mut Scratch,
        out: &mut Prediction,
    ) {
        let dim = self.spec.dim;
        assert_eq!(inputs.len(), dim * columns, "the batch must have {dim} inputs for every column");
        out.prepare(self.spec.components, dim, columns, jacobian);
        for first in (0..columns).step_by(TILE) {
            let width = TILE.min(columns - first);
            self.predict_tile(inputs, columns, first, width, jacobian, scratch, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one inner step of predict")]
    fn predict_tile(
        &self,
        inputs: &[f64],
        columns: usize,
        first: usize,
        width: usize,
        jacobian: bool,
        scratch: &mut Scratch,
        out: &mut Prediction,
    ) {
        let (n, dim) = (self.rows.len(), self.spec.dim);
        let scaled =
            |leaf: usize, k: usize, s: usize| inputs[k * columns + first + s] * self.factors[leaf * dim + k];
        for s in 0..width {
            self.covariances(scratch, n, s, jacobian, |leaf, k| scaled(leaf, k, s));
        }
        let components = self.spec.components;
        for component in 0..components {
            // The correlation with this component scales the rows of the covariance.
            if components > 1 {
                let ratio = |j: usize| self.correlation.get(component, self.rows.component[j]);
                for s in 0..width {
                    self.combine(scratch, n, s);
                    for (j, c) in scratch.covariance.col_as_slice_mut(s)[..n].iter_mut().enumerate() {
                        *c *= ratio(j);
                    }
                }
            }
            let covariance = scratch.covariance.as_ref().submatrix(0, 0, n, width);
            factor::lower_times(
                self.inverse.as_ref(),
                covariance,
                scratch.solved.as_mut().submatrix_mut(0, 0, n, width),
            );
            if jacobian {
                factor::lower_transpose_times(
                    self.inverse.as_ref(),
                    scratch.solved.as_ref().submatrix(0, 0, n, width),
                    scratch.weights.as_mut().submatrix_mut(0, 0, n, width),
                );
            }
            for s in 0..width {
                let at = component * columns + first + s;
                out.mean[at] = self.mean + dot(&self.alpha, &scratch.covariance.col_as_slice(s)[..n]);
                let solved = &scratch.solved.col_as_slice(s)[..n];
                let own = self.prior_variance(|leaf, k| scaled(leaf, k, s));
                out.variance[at] = (own - dot(solved, solved)).max(0.0);
                if jacobian {
                    let base = component * dim * columns + first + s;
                    self.jacobian(
                        scratch,
                        component,
                        s,
                        |leaf, k| scaled(leaf, k, s),
                        |k, mean, variance| {
                            out.mean_jacobian[base + k * columns] += mean;
                            out.variance_jacobian[base + k * columns] += variance;
                        },
                    );
                }
            }
        }
    }

    /// Fills column `s` of the leaves' matrices and of the covariance with the training rows (components apart).
    fn covariances(
        &self,
        scratch: &mut Scratch,
        n: usize,
        s: usize,
        slopes: bool,
        x: impl Fn(usize, usize) -> f64,
    ) {
        let leaves = self.layout.leaves.len();
        if scratch.values.len() < leaves {
            scratch.values.resize_with(leaves, Mat::new);
            scratch.slopes.resize_with(leaves, Mat::new);
        }
        for matrix in scratch.values[..leaves].iter_mut().chain(&mut scratch.slopes[..leaves]) {
            reserve(matrix, n);
        }
        for matrix in [&mut scratch.covariance, &mut scratch.solved, &mut scratch.weights] {
            reserve(matrix, n);
        }
        for buffer in
            [&mut scratch.squared, &mut scratch.by_mean, &mut scratch.by_variance, &mut scratch.coefficient]
        {
            if buffer.len() < n {
                buffer.resize(n.next_multiple_of(32), 0.0);
            }
        }
        for (leaf, layout) in self.layout.leaves.iter().enumerate() {
            let value = &mut scratch.values[leaf].col_as_slice_mut(s)[..n];
            match layout.kind {
                LeafKind::Stationary(profile) => {
                    let squared = &mut scratch.squared[..n];
                    simd::squared_distances(|k| x(leaf, k), &self.scaled[leaf], 0, squared);
                    let slope: &mut [f64] =
                        if slopes { &mut scratch.slopes[leaf].col_as_slice_mut(s)[..n] } else { &mut [] };
                    simd::profile(profile, squared, value, slope);
                }
                LeafKind::Linear => simd::inner_products(|k| x(leaf, k), &self.scaled[leaf], 0, value),
            }
        }
        self.combine(scratch, n, s);
    }

    /// Column `s` of the covariance from the leaves' values.
    fn combine(&self, scratch: &mut Scratch, n: usize, s: usize) {
        let target = &mut scratch.covariance.col_as_slice_mut(s)[..n];
        target.fill(0.0);
        for (term, &variance) in self.layout.terms.iter().zip(&self.variances) {
            if term.leaves.len() == 1 {
                simd::add_scaled(variance, &scratch.values[term.leaves.start].col_as_slice(s)[..n], target);
            } else {
                let product = &mut scratch.squared[..n];
                product.fill(variance);
                for leaf in term.leaves.clone() {
                    let value = &scratch.values[leaf].col_as_slice(s)[..n];
                    product.iter_mut().zip(value).for_each(|(p, v)| *p *= v);
                }
                simd::add_scaled(1.0, product, target);
            }
        }
    }

    /// `k(x, x)`.
    fn prior_variance(&self, x: impl Fn(usize, usize) -> f64) -> f64 {
        let term = |(term, variance): (&TermLayout, &f64)| {
            variance * term.leaves.clone().map(|leaf| self.leaf_at_itself(leaf, &x)).product::<f64>()
        };
        self.layout.terms.iter().zip(&self.variances).map(term).sum()
    }

    fn leaf_at_itself(&self, leaf: usize, x: impl Fn(usize, usize) -> f64) -> f64 {
        match self.layout.leaves[leaf].kind {
            LeafKind::Stationary(_) => 1.0,
            LeafKind::Linear => (0..self.spec.dim).map(|k| x(leaf, k) * x(leaf, k)).sum(),
        }
    }

    /// Adds the derivatives by every input at column `s`: `∂μ = Σ_j α_j ∂k_j`, `∂σ² = ∂k(x,x) - 2 Σ_j w_j ∂k_j` with
    /// `w = K⁻¹k`.
    fn jacobian(
        &self,
        scratch: &mut Scratch,
        component: usize,
        s: usize,
        x: impl Fn(usize, usize) -> f64,
        mut add: impl FnMut(usize, f64, f64),
    ) {
        let (n, dim) = (self.rows.len(), self.spec.dim);
        let Scratch { values, slopes, weights, by_mean, by_variance, coefficient, .. } = scratch;
        let (by_mean, by_variance) = (&mut by_mean[..n], &mut by_variance[..n]);
        let weights = &weights.col_as_slice(s)[..n];
        for (term, &variance) in self.layout.terms.iter().zip(&self.variances) {
            for leaf in term.leaves.clone() {
                let coefficient = &mut coefficient[..n];
                let linear = self.layout.leaves[leaf].kind == LeafKind::Linear;
                coefficient.fill(variance);
                for other in term.leaves.clone().filter(|&other| other != leaf) {
                    let value = &values[other].col_as_slice(s)[..n];
                    coefficient.iter_mut().zip(value).for_each(|(c, v)| *c *= v);
                }
                if !linear {
                    let slope = &slopes[leaf].col_as_slice(s)[..n];
                    coefficient.iter_mut().zip(slope).for_each(|(c, v)| *c *= v);
                }
                if self.spec.components > 1 {
                    for (c, &other) in coefficient.iter_mut().zip(&self.rows.component) {
                        *c *= self.correlation.get(component, other);
                    }
                }
                simd::multiply(&self.alpha, coefficient, by_mean);
                simd::multiply(weights, coefficient, by_variance);
                let rest = || term.leaves.clone().filter(|&other| other != leaf);
                let others = variance * rest().map(|other| self.leaf_at_itself(other, &x)).product::<f64>();
                for k in 0..dim {
                    let (factor, column, x) =
                        (self.factors[leaf * dim + k], &self.scaled[leaf][k], x(leaf, k));
                    if linear {
                        let (mean, cross) = (dot(by_mean, column), dot(by_variance, column));
                        add(k, factor * mean, factor * (2.0 * others * x - 2.0 * cross));
                    } else {
                        let mean = 2.0 * simd::weighted_difference(x, by_mean, column);
                        let cross = 2.0 * simd::weighted_difference(x, by_variance, column);
                        add(k, factor * mean, -2.0 * factor * cross);
                    }
                }
            }
        }
    }
}
