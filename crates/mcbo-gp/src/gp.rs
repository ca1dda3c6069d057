//! A Gaussian process conditioned on data: its posterior, with gradients, for batches of inputs.

use faer::Mat;

use crate::factor::Weights;
use crate::likelihood::{Likelihood, noise_of, phase, scaled_columns};
use crate::many::{CENTRES, EXACT_ROWS, Many};
use crate::simd::{self, dot};
use crate::spec::{Correlation, Layout, LeafKind, Seen};
use crate::{GpError, GpSpec, Rows};

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
    /// Writes a prediction of more columns to `out`: column `s` of it is column `place[s]` of these `columns`.
    pub fn spread(&self, columns: usize, place: &[usize], out: &mut Self) {
        for (from, to) in [
            (&self.mean, &mut out.mean),
            (&self.variance, &mut out.variance),
            (&self.mean_jacobian, &mut out.mean_jacobian),
            (&self.variance_jacobian, &mut out.variance_jacobian),
        ] {
            to.clear();
            for row in from.chunks_exact(columns.max(1)) {
                to.extend(place.iter().map(|&s| row[s]));
            }
        }
    }

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
    pub(crate) spec: GpSpec,
    pub(crate) layout: Layout,
    pub(crate) theta: Vec<f64>,
    /// The rows that the posterior is written in: all, or of many those that were chosen.
    pub(crate) rows: Rows,
    pub(crate) many: Option<Many>,
    pub(crate) scaled: Vec<Vec<Vec<f64>>>,
    /// Variance of every term.
    pub(crate) variances: Vec<f64>,
    /// The inputs as the leaves see them, `[leaf][input that it sees]`.
    pub(crate) seen: Vec<Seen>,
    pub(crate) correlation: Correlation,
    pub(crate) inverse: Mat<f64>,
    pub(crate) alpha: Vec<f64>,
    pub(crate) mean: f64,
    pub(crate) jitter: f64,
    pub(crate) log_marginal: f64,
}

impl Gp {
    /// Conditions the process on `rows` with hyper-parameters `theta` (see [`GpSpec::parameters_from`]).
    ///
    /// Up to 2,000 rows the posterior is exact. More are seen by functions about 512 of them, and what these leave open of a
    /// row counts as its noise.
    ///
    /// # Errors
    /// If the covariance is not positive definite even with the largest jitter, or a length is wrong.
    pub fn condition(spec: &GpSpec, theta: &[f64], rows: Rows) -> Result<Self, GpError> {
        match rows.len() > EXACT_ROWS && rows.dim() == spec.dim {
            true => Self::condition_on_many(spec, theta, rows, CENTRES),
            false => Self::condition_exactly(spec, theta, rows),
        }
    }

    pub(crate) fn condition_exactly(spec: &GpSpec, theta: &[f64], rows: Rows) -> Result<Self, GpError> {
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
            seen: layout.seen(theta),
            correlation: Correlation::new(spec.components, &theta[layout.correlation.clone()]),
            layout,
            theta: theta.to_vec(),
            inverse,
            alpha: solved.weights.alpha,
            mean: solved.weights.mean,
            jitter: solved.jitter,
            log_marginal: solved.value,
            rows,
            many: None,
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
        self.many.as_ref().map_or(&self.rows, |many| &many.rows)
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

    /// What the rows say about the function: the information gain `½ ln det(I + N⁻¹K)` with the noise `N`, in nats, and the
    /// norm of the posterior mean in the kernel's space, `(αᵀKα)^½`.
    pub fn information(&self) -> (f64, f64) {
        if let Some(many) = &self.many {
            // (αᵀKα)^½ of functions about the centres; α is theirs.
            let own = |row: usize| {
                let input: Vec<f64> = self.rows.columns.iter().map(|column| column[row]).collect();
                let all = self.rows.len();
                let (covariance, _) = self.covariance_with_rows(&input, self.rows.component[row], all);
                self.alpha[row] * dot(&covariance, &self.alpha)
            };
            let squared: f64 = (0..self.rows.len()).map(own).sum();
            return (many.gain, squared.max(0.0).sqrt());
        }
        let (mut gain, mut squared) = (0.0, 0.0);
        for row in 0..self.rows.len() {
            let noise = noise_of(&self.spec, &self.theta, &self.rows, row);
            // The diagonal of L⁻¹ is the inverse of that of L.
            gain -= self.inverse[(row, row)].ln() + 0.5 * noise.ln();
            squared += self.alpha[row] * (self.rows.output[row] - self.mean - noise * self.alpha[row]);
        }
        (gain.max(0.0), squared.max(0.0).sqrt())
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
            let seen = &self.seen[layout.places.clone()];
            let mut scaled: Vec<f64> = seen.iter().map(|seen| seen.apply(input[seen.input])).collect();
            if layout.kind == LeafKind::Cosine {
                let phase = phase(scaled.iter().copied());
                scaled.extend([phase.cos(), phase.sin()]);
            }
            leaf.iter_mut().zip(scaled).for_each(|(column, x)| column.push(x));
        }
        let (covariance, own) = self.covariance_with_rows(input, component, n);
        let mut l = vec![0.0; n];
        for j in 0..n {
            simd::add_scaled(covariance[j], &self.inverse.col_as_slice(j)[j..], &mut l[j..]);
        }
        let (many_noise, noise) = (noise, noise_of(&self.spec, &self.theta, &self.rows, n));
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
        match &mut self.many {
            None => {
                let weights = Weights::new(&self.inverse, &self.rows.output, self.spec.mean);
                (self.alpha, self.mean) = (weights.alpha, weights.mean);
            }
            // What all rows say of the centres is in their weights: the new one moves them by what it misses.
            Some(many) => {
                let missed = (output - self.mean - dot(&self.alpha, &covariance)) / (d * d);
                simd::add_scaled(missed * d, &row, &mut self.alpha);
                self.alpha.push(missed);
                many.rows.push_full(input, output, component, many_noise)?;
                many.open.push(0.0);
                many.noise.push(noise);
            }
        }
        Ok(())
    }
}
