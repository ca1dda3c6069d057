//! The Cholesky factor of a covariance matrix, kept as its inverse.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::simd::{self, lanes};
use crate::{GpError, Mean};

/// Below this size a plain product with the zeros of the triangle is faster than a triangular one.
const DENSE_BELOW: usize = 48;

/// Fractions of the mean variance added to the diagonal, one after the other, until the matrix factorises.
const LADDER: [f64; 6] = [0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4];

/// Factorises `matrix` (its lower triangle) in place into `L`, climbing the jitter ladder when a pivot
/// is not positive. Returns the jitter that was added, as a fraction of the mean of the diagonal.
pub(crate) fn cholesky(matrix: &mut Mat<f64>, spare: &mut Mat<f64>) -> Result<f64, GpError> {
    let n = matrix.nrows();
    if n == 0 {
        return Ok(0.0);
    }
    let mean = (0..n).map(|i| matrix[(i, i)]).sum::<f64>() / n as f64;
    let mut stack = MemBuffer::new(llt::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
    spare.resize_with(n, n, |_, _| 0.0);
    for jitter in LADDER {
        for j in 0..n {
            spare.col_as_slice_mut(j)[j..].copy_from_slice(&matrix.col_as_slice(j)[j..]);
        }
        for i in 0..n {
            spare[(i, i)] += jitter * mean;
        }
        let stack = MemStack::new(&mut stack);
        let done =
            llt::cholesky_in_place(spare.as_mut(), Default::default(), Par::Seq, stack, Default::default());
        if done.is_ok() && (0..n).all(|i| spare[(i, i)].is_finite() && spare[(i, i)] > 0.0) {
            std::mem::swap(matrix, spare);
            return Ok(jitter);
        }
    }
    Err(GpError::NotPositiveDefinite { rows: n, jitter: LADDER[LADDER.len() - 1] })
}

/// Writes `L⁻¹` into the lower triangle of `inverse`, zeros above.
pub(crate) fn invert(factor: MatRef<'_, f64>, inverse: &mut Mat<f64>) {
    let n = factor.nrows();
    inverse.resize_with(n, n, |_, _| 0.0);
    inverse.as_mut().fill(0.0);
    invert_lower_triangular(inverse.as_mut(), factor, Par::Seq);
}

/// `target = T source` for a lower triangular `T` whose upper part is zero.
pub(crate) fn lower_times(triangle: MatRef<'_, f64>, source: MatRef<'_, f64>, target: MatMut<'_, f64>) {
    times(triangle, BlockStructure::TriangularLower, source, target);
}

/// `target = Tᵀ source` for a lower triangular `T` whose upper part is zero.
pub(crate) fn lower_transpose_times(
    triangle: MatRef<'_, f64>,
    source: MatRef<'_, f64>,
    target: MatMut<'_, f64>,
) {
    times(triangle.transpose(), BlockStructure::TriangularUpper, source, target);
}

fn times(triangle: MatRef<'_, f64>, shape: BlockStructure, source: MatRef<'_, f64>, target: MatMut<'_, f64>) {
    if triangle.nrows() < DENSE_BELOW {
        matmul(target, Accum::Replace, triangle, source, 1.0, Par::Seq);
    } else {
        let all = BlockStructure::Rectangular;
        triangular::matmul(target, all, Accum::Replace, triangle, shape, source, all, 1.0, Par::Seq);
    }
}

/// Writes the lower triangle of `K⁻¹ = L⁻ᵀ L⁻¹`.
pub(crate) fn gram_of_inverse(inverse: MatRef<'_, f64>, target: &mut Mat<f64>) {
    let n = inverse.nrows();
    target.resize_with(n, n, |_, _| 0.0);
    triangular::matmul(
        target.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        inverse.transpose(),
        BlockStructure::TriangularUpper,
        inverse,
        BlockStructure::TriangularLower,
        1.0,
        Par::Seq,
    );
}

simd::vectorized! {
    /// `(y - c)ᵀ K⁻¹ (y - c)` by forward substitution, for when nothing but the likelihood is wanted.
    pub(crate) fn quadratic(factor: &Mat<f64>, output: &[f64], mean: Mean) -> f64 {
        let solve = |mut right: Vec<f64>| {
            for j in 0..right.len() {
                let (done, rest) = right.split_at_mut(j + 1);
                let column = factor.col_as_slice(j);
                done[j] /= column[j];
                lanes::add_scaled(-done[j], &column[j + 1..], rest);
            }
            right
        };
        let z = match mean.known() {
            Some(mean) => solve(output.iter().map(|y| y - mean).collect()),
            None => {
                let (mut z, ones) = (solve(output.to_vec()), solve(vec![1.0; output.len()]));
                let mean = if z.is_empty() { 0.0 } else { lanes::dot(&ones, &z) / lanes::dot(&ones, &ones) };
                lanes::add_scaled(-mean, &ones, &mut z);
                z
            }
        };
        lanes::dot(&z, &z)
    }

    /// In O(n²): with `z = L⁻¹y` and `o = L⁻¹1` the profiled mean is `oᵀz / oᵀo`, and `α = L⁻ᵀ(z - c o)`.
    fn weigh(inverse: &Mat<f64>, output: &[f64], mean: Mean) -> Weights {
        let n = output.len();
        let apply = |source: &dyn Fn(usize) -> f64| {
            let mut target = vec![0.0; n];
            for j in 0..n {
                lanes::add_scaled(source(j), &inverse.col_as_slice(j)[j..], &mut target[j..]);
            }
            target
        };
        let mut z = apply(&|j| output[j]);
        let ones = apply(&|_| 1.0);
        let mean = match mean.known() {
            Some(mean) => mean,
            None if n == 0 => 0.0,
            None => lanes::dot(&ones, &z) / lanes::dot(&ones, &ones),
        };
        lanes::add_scaled(-mean, &ones, &mut z);
        let alpha = (0..n).map(|j| lanes::dot(&inverse.col_as_slice(j)[j..], &z[j..])).collect();
        Weights { alpha, mean, quadratic: lanes::dot(&z, &z) }
    }
}

/// The outputs seen through the factor.
pub(crate) struct Weights {
    /// `α = K⁻¹(y - c)`.
    pub alpha: Vec<f64>,
    /// The prior mean `c`.
    pub mean: f64,
    /// `(y - c)ᵀ K⁻¹ (y - c)`.
    pub quadratic: f64,
}

impl Weights {
    /// What the inverse of the factor makes of the outputs.
    pub fn new(inverse: &Mat<f64>, output: &[f64], mean: Mean) -> Self {
        weigh(inverse, output, mean)
    }
}
