//! Conditioning on more rows than a matrix of their covariances has room or time for.
//!
//! The posterior is written in functions about a few of the rows, the *centres*, and sees all of them: what a function that is
//! known at the centres leaves open at a row counts as noise of that row (the fully independent training conditional of
//! Snelson & Ghahramani 2006). It costs `O(n m²)` for `n` rows and `m` centres, and afterwards as much as `m` rows do. Where
//! the centres say all there is to say it is the exact posterior, and where they do not it is wider, not narrower.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};

use crate::factor::{self, Weights};
use crate::likelihood::{noise_of, scaled_columns};
use crate::predict::TILE;
use crate::simd::{add_scaled, dot};
use crate::{Gp, GpError, GpSpec, Mean, Rows, Scratch};

/// Rows that a posterior is exact for.
pub(crate) const EXACT_ROWS: usize = 2_000;
/// Centres of the posterior of more.
pub(crate) const CENTRES: usize = 512;
/// Rows that centres are chosen from, the latest among them: there an optimisation is.
const CANDIDATES: usize = 3_072;
const LATEST: usize = 1_024;

/// What is kept of rows that are not centres.
#[derive(Debug, Clone)]
pub(crate) struct Many {
    /// All rows, those that were appended later at their end.
    pub rows: Rows,
    /// How many centres there are; rows that were appended later follow them.
    pub centres: usize,
    /// Of every row, the variance that the centres leave open, and the same with its noise.
    pub open: Vec<f64>,
    pub noise: Vec<f64>,
    /// The information gain of the rows, in nats.
    pub gain: f64,
    /// The factor of `I - SSᵀ`, see [`Gp::condition_on_many`].
    spread: Mat<f64>,
}

impl Gp {
    /// Conditions on all rows by means of centres among them.
    ///
    /// With `K` the covariance of the centres, `L` its factor, `V = L⁻¹ k(centres, rows) Λ^-½` and `B = I + VVᵀ`, where `Λ` is what
    /// the centres leave open of every row and its noise: the mean at `x` is `k(x)ᵀ L⁻ᵀ B⁻¹ V Λ^-½ (y - c)` and its variance
    /// `k(x, x) - |S L⁻¹ k(x)|²` with `SᵀS = I - B⁻¹`. A lower triangular `S` makes `S L⁻¹` what `L⁻¹` is of few rows.
    pub(crate) fn condition_on_many(
        spec: &GpSpec,
        theta: &[f64],
        all: Rows,
        centres: usize,
    ) -> Result<Self, GpError> {
        let places = choose(spec, theta, &all, centres)?;
        // The exact posterior of the centres has everything that belongs to them.
        let mut gp = Self::condition_exactly(spec, theta, all.select(&places))?;
        let (n, m) = (all.len(), places.len());
        let mut scratch = Scratch::default();
        let (mut columns, mut own) = (Mat::zeros(m, TILE), Vec::new());
        let mut covariance = Mat::zeros(m, m);
        for first in (0..m).step_by(TILE) {
            let width = TILE.min(m - first);
            let tile: Vec<usize> = places[first..first + width].to_vec();
            gp.covariances_of(&all, &tile, &mut scratch, &mut columns, &mut own);
            for s in 0..width {
                covariance.col_as_slice_mut(first + s).copy_from_slice(columns.col_as_slice(s));
            }
        }
        let mut inverse = Mat::zeros(m, m);
        let jitter = factor::cholesky(&mut covariance, &mut inverse)?;
        factor::invert(covariance.as_ref(), &mut inverse);
        let (mut open, mut noise) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut b = Mat::<f64>::identity(m, m);
        let mut seen = Mat::<f64>::zeros(m, TILE);
        // V Λ^-½ y and V Λ^-½ 1, and the same products of y and 1 with themselves.
        let (mut outputs, mut ones) = (vec![0.0; m], vec![0.0; m]);
        let (mut squares, mut crosses, mut units, mut log_noise, mut gain) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for first in (0..n).step_by(TILE) {
            let tile: Vec<usize> = (first..n.min(first + TILE)).collect();
            gp.covariances_of(&all, &tile, &mut scratch, &mut columns, &mut own);
            let width = tile.len();
            factor::lower_times(
                inverse.as_ref(),
                columns.as_ref().subcols(0, width),
                seen.as_mut().subcols_mut(0, width),
            );
            for (s, &row) in tile.iter().enumerate() {
                let column = seen.col_as_slice_mut(s);
                let left = (own[s] - dot(column, column)).max(0.0);
                let own_noise = noise_of(spec, theta, &all, row).max(1e-12 * own[s]);
                let variance = left + own_noise;
                open.push(left);
                noise.push(variance);
                log_noise += variance.ln();
                gain += 0.5 * (variance / own_noise).ln();
                let scale = variance.sqrt().recip();
                column.iter_mut().for_each(|v| *v *= scale);
                let y = scale * all.output[row];
                add_scaled(y, column, &mut outputs);
                add_scaled(scale, column, &mut ones);
                (squares, crosses, units) = (squares + y * y, crosses + y * scale, units + scale * scale);
            }
            let seen = seen.as_ref().subcols(0, width);
            triangular::matmul(
                b.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Add,
                seen,
                BlockStructure::Rectangular,
                seen.transpose(),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        let mut of_b = Mat::zeros(m, m);
        factor::cholesky(&mut b, &mut of_b)?;
        let log_det: f64 = 2.0 * (0..m).map(|i| b[(i, i)].ln()).sum::<f64>();
        factor::invert(b.as_ref(), &mut of_b);
        // What B⁻¹ makes of a vector, and two vectors under it.
        let half = |right: &[f64]| Weights::new(&of_b, right, Mean::Fixed(0.0));
        let (of_outputs, of_ones) = (half(&outputs), half(&ones));
        let between = dot(&of_outputs.alpha, &ones);
        gp.mean = match spec.mean.known() {
            Some(mean) => mean,
            None => (crosses - between) / (units - of_ones.quadratic),
        };
        let c = gp.mean;
        let quadratic = (squares - of_outputs.quadratic) - 2.0 * c * (crosses - between)
            + c * c * (units - of_ones.quadratic);
        gp.log_marginal = -0.5 * (quadratic + log_det + log_noise + n as f64 * std::f64::consts::TAU.ln());
        let middle: Vec<f64> =
            of_outputs.alpha.iter().zip(&of_ones.alpha).map(|(y, one)| y - c * one).collect();
        gp.alpha = (0..m).map(|j| dot(&inverse.col_as_slice(j)[j..], &middle[j..])).collect();
        let mut trust = Mat::zeros(0, 0);
        factor::gram_of_inverse(of_b.as_ref(), &mut trust);
        upper_lower(&mut trust)?;
        gp.inverse = Mat::zeros(m, m);
        triangular::matmul(
            gp.inverse.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Replace,
            trust.as_ref(),
            BlockStructure::TriangularLower,
            inverse.as_ref(),
            BlockStructure::TriangularLower,
            1.0,
            Par::Seq,
        );
        // The mean is that of all rows from now on.
        gp.spec.mean = if spec.mean.known().is_some() { spec.mean } else { Mean::Fixed(c) };
        gp.jitter = jitter;
        gain += 0.5 * log_det;
        let spread = spread(&trust)?;
        gp.many = Some(Many { rows: all, centres: m, open, noise, gain: gain.max(0.0), spread });
        Ok(gp)
    }

    /// Covariances of rows of a table with those of the process, one column each, and their own prior variances.
    fn covariances_of(
        &self,
        table: &Rows,
        rows: &[usize],
        scratch: &mut Scratch,
        columns: &mut Mat<f64>,
        own: &mut Vec<f64>,
    ) {
        own.clear();
        let (mut input, mut column) = (vec![0.0; table.dim()], Vec::new());
        for (s, &row) in rows.iter().enumerate() {
            input.iter_mut().zip(&table.columns).for_each(|(x, column)| *x = column[row]);
            self.covariance_at(&input, scratch, &mut column);
            own.push(self.prior_variance(scratch.point()));
            let components = column.iter().zip(&self.rows.component);
            let target = columns.col_as_slice_mut(s);
            for (target, (value, &other)) in target.iter_mut().zip(components) {
                *target = value * self.correlation.get(table.component[row], other);
            }
        }
    }

    /// Adds to draws what the noise of the rows does to them, `T ε` with the `T` that is [`Self::inverse`], of draws `[row][draw]`
    /// of standard normal numbers: for centres it has the covariance `I - SSᵀ`.
    pub(crate) fn noise_through_centres(&self, normal: &Mat<f64>, half: &mut Mat<f64>) {
        let Some(many) = &self.many else { return };
        let (m, draws) = (many.centres, normal.ncols());
        let mut noise = Mat::<f64>::zeros(self.rows.len(), draws);
        factor::lower_times(
            many.spread.as_ref(),
            normal.as_ref().subrows(0, m),
            noise.as_mut().subrows_mut(0, m),
        );
        // A row that was appended: (ε - lᵀ T ε) / d with l = T k and 1/d on the diagonal.
        for row in m..self.rows.len() {
            let input: Vec<f64> = self.rows.columns.iter().map(|column| column[row]).collect();
            let (covariance, _) = self.covariance_with_rows(&input, self.rows.component[row], row);
            let mut l = vec![0.0; row];
            for j in 0..row {
                add_scaled(covariance[j], &self.inverse.col_as_slice(j)[j..row], &mut l[j..]);
            }
            let deviation = noise_of(&self.spec, &self.theta, &self.rows, row).sqrt();
            for draw in 0..draws {
                let before = dot(&l, &noise.col_as_slice(draw)[..row]);
                noise[(row, draw)] = (deviation * normal[(row, draw)] - before) * self.inverse[(row, row)];
            }
        }
        for draw in 0..draws {
            add_scaled(1.0, noise.col_as_slice(draw), half.col_as_slice_mut(draw));
        }
    }
}

/// Replaces the lower triangle of `G` by that of `S` with `SᵀS = I - G`: the factor from the last row to the first.
fn upper_lower(matrix: &mut Mat<f64>) -> Result<(), GpError> {
    let m = matrix.nrows();
    let (mut turned, mut spare) = (Mat::zeros(m, m), Mat::zeros(m, m));
    for j in 0..m {
        for i in j..m {
            let unit = if i == j { 1.0 } else { 0.0 };
            turned[(m - 1 - j, m - 1 - i)] = unit - matrix[(i, j)];
        }
    }
    factor::cholesky(&mut turned, &mut spare)?;
    for j in 0..m {
        for i in 0..m {
            // Turned again and transposed.
            matrix[(i, j)] = if i >= j { turned[(m - 1 - j, m - 1 - i)] } else { 0.0 };
        }
    }
    Ok(())
}

/// The factor of `I - SSᵀ`.
fn spread(trust: &Mat<f64>) -> Result<Mat<f64>, GpError> {
    let m = trust.nrows();
    let mut spread = Mat::<f64>::identity(m, m);
    triangular::matmul(
        spread.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        trust.as_ref(),
        BlockStructure::TriangularLower,
        trust.as_ref().transpose(),
        BlockStructure::TriangularUpper,
        -1.0,
        Par::Seq,
    );
    factor::cholesky(&mut spread, &mut Mat::zeros(m, m))?;
    for j in 1..m {
        spread.col_as_slice_mut(j)[..j].fill(0.0);
    }
    Ok(spread)
}

/// Rows that a function is known best by: one after the other the one of which those before it leave most open (a pivoted
/// Cholesky factor), first of candidates evenly spread and of the latest.
fn choose(spec: &GpSpec, theta: &[f64], all: &Rows, count: usize) -> Result<Vec<usize>, GpError> {
    let n = all.len();
    let latest = LATEST.min(n);
    let spread = (CANDIDATES - LATEST).min(n - latest);
    let mut candidates: Vec<usize> = (0..spread).map(|i| (i + 1) * (n - latest) / spread - 1).collect();
    candidates.extend(n - latest..n);
    let table = all.select(&candidates);
    // One row is enough to ask for covariances with it.
    let mut one = Gp::condition_exactly(spec, theta, table.select(&[0]))?;
    let (mut scratch, mut column, mut own) = (Scratch::default(), Mat::zeros(1, TILE), Vec::new());
    let mut left = Vec::with_capacity(table.len());
    for row in 0..table.len() {
        one.covariances_of(&table, &[row], &mut scratch, &mut column, &mut own);
        left.push(own[0]);
    }
    let mut chosen: Vec<usize> = Vec::with_capacity(count);
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(count);
    let largest = left.iter().copied().fold(0.0, f64::max);
    // A process over all candidates gives a whole column of covariances at once.
    one.rows = table.clone();
    one.scaled = scaled_columns(&one.layout, theta, &table);
    let (mut input, mut covariance) = (vec![0.0; table.dim()], Vec::new());
    while chosen.len() < count.min(table.len()) {
        let place = (0..left.len()).reduce(|best, next| if left[next] > left[best] { next } else { best });
        let Some(place) = place.filter(|&place| left[place] > 1e-10 * largest) else { break };
        input.iter_mut().zip(&table.columns).for_each(|(x, column)| *x = column[place]);
        one.covariance_at(&input, &mut scratch, &mut covariance);
        for (value, &other) in covariance.iter_mut().zip(&table.component) {
            *value *= one.correlation.get(table.component[place], other);
        }
        for column in &factor {
            add_scaled(-column[place], column, &mut covariance);
        }
        let pivot = left[place].sqrt().recip();
        covariance.iter_mut().for_each(|value| *value *= pivot);
        for (left, value) in left.iter_mut().zip(&covariance) {
            *left = (*left - value * value).max(0.0);
        }
        left[place] = 0.0;
        factor.push(covariance.clone());
        chosen.push(place);
    }
    let mut chosen: Vec<usize> = chosen.into_iter().map(|place| candidates[place]).collect();
    chosen.sort_unstable();
    Ok(chosen)
}

#[cfg(test)]
mod tests;
