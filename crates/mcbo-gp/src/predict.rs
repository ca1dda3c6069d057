//! The posterior at batches of inputs, with Jacobians.

use faer::Mat;

use crate::likelihood::{agreement, phase, wave};
use crate::mixture::Own;
use crate::simd::{self, lanes};
use crate::spec::{LeafKind, Seen, TermLayout};
use crate::{Gp, Prediction, factor};

/// Columns that are predicted together: enough for the matrix products, few enough for the cache.
pub(crate) const TILE: usize = 64;

/// Memory that predictions reuse; one per thread.
#[derive(Debug)]
pub struct Scratch {
    /// How many leaves and rows there is room for.
    room: (usize, usize),
    /// Of every leaf, `[row][column]`.
    values: Vec<Mat<f64>>,
    slopes: Vec<Mat<f64>>,
    covariance: Mat<f64>,
    solved: Mat<f64>,
    weights: Mat<f64>,
    row: Vec<f64>,
    /// The tile's points divided by the lengthscales, `[column][leaf][input that it sees]`.
    points: Vec<f64>,
    /// A point as a wave sees it, with the cosine and the sine of its phase; the weights of names.
    wave: Vec<f64>,
    pub(crate) members: Vec<Prediction>,
    pub(crate) own: Own,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            room: (0, 0),
            values: Vec::new(),
            slopes: Vec::new(),
            covariance: Mat::new(),
            solved: Mat::new(),
            weights: Mat::new(),
            row: Vec::new(),
            points: Vec::new(),
            wave: Vec::new(),
            members: Vec::new(),
            own: Own::default(),
        }
    }
}

impl Scratch {
    /// The one point of the last call, as the leaves see it.
    pub(crate) fn point(&self) -> &[f64] {
        &self.points
    }

    fn reserve(&mut self, leaves: usize, rows: usize) {
        // A constant before any row has neither leaves nor rows, and columns all the same.
        let rows = rows.max(1);
        if leaves <= self.room.0 && rows <= self.room.1 {
            return;
        }
        let leaves = leaves.max(self.room.0);
        let rows = rows.max(self.room.1).next_multiple_of(32);
        self.values.resize_with(leaves, Mat::new);
        self.slopes.resize_with(leaves, Mat::new);
        let of_leaves = self.values.iter_mut().chain(&mut self.slopes);
        for matrix in of_leaves.chain([&mut self.covariance, &mut self.solved, &mut self.weights]) {
            if matrix.nrows() < rows || matrix.ncols() < TILE {
                *matrix = Mat::zeros(rows, TILE);
            }
        }
        self.row.resize(rows, 0.0);
        self.room = (leaves, rows);
    }
}

/// A part of a batch.
struct Tile<'a> {
    inputs: &'a [f64],
    columns: usize,
    first: usize,
    width: usize,
}

impl Gp {
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
        scratch.reserve(self.layout.leaves.len(), self.rows.len());
        for first in (0..columns).step_by(TILE) {
            let width = TILE.min(columns - first);
            self.predict_tile(&Tile { inputs, columns, first, width }, jacobian, scratch, out);
        }
    }

    fn predict_tile(&self, tile: &Tile<'_>, jacobian: bool, scratch: &mut Scratch, out: &mut Prediction) {
        let n = self.rows.len();
        let &Tile { inputs, columns, first, width } = tile;
        scratch.points.clear();
        for s in 0..width {
            let input = |seen: &Seen| seen.apply(inputs[seen.input * columns + first + s]);
            scratch.points.extend(self.seen.iter().map(input));
        }
        covariances(self, scratch, width, jacobian);
        let components = self.spec.components;
        for component in 0..components {
            if components > 1 {
                // The correlation with this component scales the rows of the covariance.
                for s in 0..width {
                    self.combine(scratch, s);
                    let column = &mut scratch.covariance.col_as_slice_mut(s)[..n];
                    for (c, &other) in column.iter_mut().zip(&self.rows.component) {
                        *c *= self.correlation.get(component, other);
                    }
                }
            }
            let covariance = scratch.covariance.as_ref().submatrix(0, 0, n, width);
            let solved = scratch.solved.as_mut().submatrix_mut(0, 0, n, width);
            factor::lower_times(self.inverse.as_ref(), covariance, solved);
            if jacobian {
                let solved = scratch.solved.as_ref().submatrix(0, 0, n, width);
                let weights = scratch.weights.as_mut().submatrix_mut(0, 0, n, width);
                factor::lower_transpose_times(self.inverse.as_ref(), solved, weights);
            }
            moments(self, tile, component, jacobian, scratch, out);
        }
    }

    /// The leaves' values, and slopes if wanted, between the rows and column `s` of the tile.
    #[inline(always)]
    fn leaves_at(&self, scratch: &mut Scratch, s: usize, slopes: bool) {
        let n = self.rows.len();
        for (leaf, layout) in self.layout.leaves.iter().enumerate() {
            let point = &scratch.points[s * self.seen.len()..][layout.places.clone()];
            let value = &mut scratch.values[leaf].col_as_slice_mut(s)[..n];
            let slope: &mut [f64] =
                if slopes { &mut scratch.slopes[leaf].col_as_slice_mut(s)[..n] } else { &mut [] };
            match layout.kind {
                LeafKind::Stationary(profile) => {
                    let squared = &mut scratch.row[..n];
                    lanes::squared_distances(point, &self.scaled[leaf], 0, squared);
                    lanes::profile(profile, squared, value, slope);
                }
                LeafKind::Linear => lanes::inner_products(point, &self.scaled[leaf], 0, value),
                LeafKind::Cosine => {
                    let phase = phase(point.iter().copied());
                    scratch.wave.clear();
                    scratch.wave.extend(point.iter().copied().chain([phase.cos(), phase.sin()]));
                    wave(&scratch.wave, &self.scaled[leaf], 0, value, slope);
                }
                LeafKind::Choice => {
                    scratch.wave.clear();
                    scratch.wave.extend(self.seen[layout.places.clone()].iter().map(|seen| seen.factor));
                    agreement(point, &self.scaled[leaf], &scratch.wave, 0, value, slope);
                }
            }
        }
    }

    /// Column `s` of the covariance from the leaves' values, components apart.
    #[inline(always)]
    fn combine(&self, scratch: &mut Scratch, s: usize) {
        let n = self.rows.len();
        let target = &mut scratch.covariance.col_as_slice_mut(s)[..n];
        let value = |leaf: usize| &scratch.values[leaf].col_as_slice(s)[..n];
        if self.layout.leaves.len() == 1 && self.spec.mean.variance() == 0.0 {
            return lanes::scale(self.variances[0], value(0), target);
        }
        target.fill(self.spec.mean.variance());
        for (term, &variance) in self.layout.terms.iter().zip(&self.variances) {
            let product = &mut scratch.row[..n];
            product.fill(variance);
            for leaf in term.leaves.clone() {
                lanes::multiply_into(value(leaf), product);
            }
            lanes::add_scaled(1.0, product, target);
        }
    }

    /// `k(x, x)` at a point divided by the lengthscales.
    pub(crate) fn prior_variance(&self, point: &[f64]) -> f64 {
        let term = |(term, variance): (&TermLayout, &f64)| {
            variance * term.leaves.clone().map(|leaf| self.leaf_at_itself(leaf, point)).product::<f64>()
        };
        self.spec.mean.variance() + self.layout.terms.iter().zip(&self.variances).map(term).sum::<f64>()
    }

    fn leaf_at_itself(&self, leaf: usize, point: &[f64]) -> f64 {
        let layout = &self.layout.leaves[leaf];
        match layout.kind {
            LeafKind::Stationary(_) | LeafKind::Cosine | LeafKind::Choice => 1.0,
            LeafKind::Linear => point[layout.places.clone()].iter().map(|x| x * x).sum(),
        }
    }

    /// Adds the derivatives by every input at column `s`: `∂μ = Σ_j α_j ∂k_j`, `∂σ² = ∂k(x,x) - 2 Σ_j w_j ∂k_j` with
    /// `w = K⁻¹k`.
    #[inline(always)]
    fn jacobian(
        &self,
        scratch: &mut Scratch,
        component: usize,
        s: usize,
        mut add: impl FnMut(usize, f64, f64),
    ) {
        let n = self.rows.len();
        let Scratch { values, slopes, weights, row, points, .. } = scratch;
        let point = &points[s * self.seen.len()..(s + 1) * self.seen.len()];
        let weights = &weights.col_as_slice(s)[..n];
        for (term, &variance) in self.layout.terms.iter().zip(&self.variances) {
            for leaf in term.leaves.clone() {
                let layout = &self.layout.leaves[leaf];
                // From one name to another there is no way that a derivative could go along.
                if layout.kind == LeafKind::Choice {
                    continue;
                }
                let linear = layout.kind == LeafKind::Linear;
                let others = || term.leaves.clone().filter(|&other| other != leaf);
                // What multiplies the leaf's own derivative.
                let coefficient = &mut row[..n];
                if linear {
                    coefficient.fill(variance);
                } else {
                    lanes::scale(variance, &slopes[leaf].col_as_slice(s)[..n], coefficient);
                }
                for other in others() {
                    lanes::multiply_into(&values[other].col_as_slice(s)[..n], coefficient);
                }
                if self.spec.components > 1 {
                    for (c, &other) in coefficient.iter_mut().zip(&self.rows.component) {
                        *c *= self.correlation.get(component, other);
                    }
                }
                let own = variance * others().map(|other| self.leaf_at_itself(other, point)).product::<f64>();
                if layout.kind == LeafKind::Cosine {
                    let (mean, cross) =
                        (lanes::dot(&self.alpha, coefficient), lanes::dot(weights, coefficient));
                    for (&k, place) in layout.inputs.iter().zip(layout.places.clone()) {
                        add(k, self.seen[place].factor * mean, -2.0 * self.seen[place].factor * cross);
                    }
                    continue;
                }
                for ((&k, place), column) in
                    layout.inputs.iter().zip(layout.places.clone()).zip(&self.scaled[leaf])
                {
                    let (factor, x) = (self.seen[place].factor, point[place]);
                    // Sums of α_j c_j (x - x_j) and w_j c_j (x - x_j); a linear leaf has -x_j alone.
                    let from = if linear { 0.0 } else { x };
                    let (mean, cross) =
                        lanes::two_weighted_differences(from, &self.alpha, weights, coefficient, column);
                    if linear {
                        add(k, -factor * mean, factor * 2.0 * (own * x + cross));
                    } else {
                        add(k, 2.0 * factor * mean, -4.0 * factor * cross);
                    }
                }
            }
        }
    }

    /// Covariances of an input with all rows, components apart. The input as the leaves see it is left in the scratch.
    pub(crate) fn covariance_at(&self, input: &[f64], scratch: &mut Scratch, covariance: &mut Vec<f64>) {
        scratch.reserve(self.layout.leaves.len(), self.rows.len());
        scratch.points.clear();
        scratch.points.extend(self.seen.iter().map(|seen| seen.apply(input[seen.input])));
        covariances(self, scratch, 1, false);
        covariance.clear();
        covariance.extend_from_slice(&scratch.covariance.col_as_slice(0)[..self.rows.len()]);
    }

    /// Covariances of a new input with the first `rows` rows, and its own prior variance.
    pub(crate) fn covariance_with_rows(
        &self,
        input: &[f64],
        component: usize,
        rows: usize,
    ) -> (Vec<f64>, f64) {
        let (mut scratch, mut column) = (Scratch::default(), Vec::new());
        self.covariance_at(input, &mut scratch, &mut column);
        let column = &column[..rows];
        let correlated = |(c, &other): (&f64, &usize)| c * self.correlation.get(component, other);
        let own = self.prior_variance(scratch.point());
        (column.iter().zip(&self.rows.component).map(correlated).collect(), own)
    }
}

simd::vectorized! {
    /// The first columns of the covariance, components apart, and with slopes if wanted, what it is made of.
    fn covariances(gp: &Gp, scratch: &mut Scratch, width: usize, slopes: bool) {
        for s in 0..width {
            gp.leaves_at(scratch, s, slopes);
            gp.combine(scratch, s);
        }
    }

    /// Mean, variance and Jacobians of one component at a tile, from the products with its covariance.
    fn moments(gp: &Gp, tile: &Tile<'_>, component: usize, jacobian: bool, scratch: &mut Scratch, out: &mut Prediction) {
        let (n, dim) = (gp.rows.len(), gp.spec.dim);
        let &Tile { columns, first, width, .. } = tile;
        for s in 0..width {
            let at = component * columns + first + s;
            out.mean[at] = gp.mean + lanes::dot(&gp.alpha, &scratch.covariance.col_as_slice(s)[..n]);
            let solved = &scratch.solved.col_as_slice(s)[..n];
            let point = &scratch.points[s * gp.seen.len()..(s + 1) * gp.seen.len()];
            out.variance[at] = (gp.prior_variance(point) - lanes::dot(solved, solved)).max(0.0);
            if jacobian {
                let base = component * dim * columns + first + s;
                gp.jacobian(scratch, component, s, |k, mean, variance| {
                    out.mean_jacobian[base + k * columns] += mean;
                    out.variance_jacobian[base + k * columns] += variance;
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GpSpec, Kernel, Noise, Rows};

    /// With neither leaves nor rows the prior is all there is, in fresh memory too.
    #[test]
    fn a_constant_before_any_row() {
        let mut spec = GpSpec::new(0, Noise::Fixed(0.1));
        spec.kernel = Kernel::constant();
        let gp = Gp::condition(&spec, &vec![0.0; spec.parameters()], Rows::new(0)).expect("a process");
        let mut at = Prediction::default();
        gp.predict(&[], 70, true, &mut Scratch::default(), &mut at);
        assert_eq!((at.mean.len(), at.mean[69]), (70, gp.prior_mean()));
        assert!(at.variance.iter().all(|variance| *variance == at.variance[0] && *variance >= 0.0));
    }
}
