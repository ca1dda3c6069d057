//! A posterior by fewer rows: the same predictions, cheaper, for very many of them.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use crate::factor::{invert, lower_times, lower_transpose_times};
use crate::likelihood::noise_of;
use crate::simd::{self, dot};
use crate::spec::Seen;
use crate::{Gp, GpSet};

/// A process is condensed to at most this share of its rows; with more there is little to gain.
const WORTH_IT: f64 = 0.6;

/// The share of the prior variance that rounding leaves of a row about which all is said.
const ROUNDING: f64 = 1e-13;

impl Gp {
    /// The same posterior by few of the rows, or `None` where that takes most of them.
    ///
    /// Rows `U` are taken one after the other, each time the one that those before say least about, until of every row less is left to
    /// say than a share `remainder` of the variance of its noise (a pivoted Cholesky factor `G` of the covariance, with the
    /// triangle `T` in the rows `U`). Then `k(x) ≈ G T⁻¹ k_U(x)` at every input, so that the mean is
    /// `c + (T⁻ᵀGᵀα)ᵀ k_U` and the variance `k(x,x) - |Λ k_U|²` where the triangle `Λ` is that of the product `L⁻¹GT⁻¹`.
    ///
    /// It predicts, and nothing else: its rows are no longer what it was conditioned on.
    fn condensed(&self, remainder: f64) -> Option<Self> {
        let n = self.rows.len();
        let most = (WORTH_IT * n as f64) as usize;
        let (chosen, g) = self.pivots(remainder, most)?;
        let r = chosen.len();
        let mut inverse_of_t = Mat::new();
        invert(
            Mat::from_fn(r, r, |i, j| if i >= j { g[j][chosen[i]] } else { 0.0 }).as_ref(),
            &mut inverse_of_t,
        );

        let seen = Mat::from_fn(r, 1, |j, _| dot(&g[j], &self.alpha));
        let mut alpha = Mat::zeros(r, 1);
        lower_transpose_times(inverse_of_t.as_ref(), seen.as_ref(), alpha.as_mut());

        let columns = Mat::from_fn(n, r, |i, j| g[j][i]);
        let (mut through, mut product) = (Mat::zeros(n, r), Mat::zeros(n, r));
        lower_times(self.inverse.as_ref(), columns.as_ref(), through.as_mut());
        matmul(product.as_mut(), Accum::Replace, through.as_ref(), inverse_of_t.as_ref(), 1.0, Par::Seq);
        let inverse = lower_triangle_of(&mut product);

        let few = |column: &Vec<f64>| chosen.iter().map(|&row| column[row]).collect::<Vec<f64>>();
        Some(Self {
            rows: self.rows.select(&chosen),
            many: None,
            scaled: self.scaled.iter().map(|leaf| leaf.iter().map(few).collect()).collect(),
            alpha: alpha.col_as_slice(0).to_vec(),
            inverse,
            ..self.clone()
        })
    }

    /// The rows that say nearly all about the others, at most `most`, with the columns of the factor.
    fn pivots(&self, remainder: f64, most: usize) -> Option<(Vec<usize>, Vec<Vec<f64>>)> {
        let n = self.rows.len();
        let input = |row: usize| self.rows.columns.iter().map(|column| column[row]).collect::<Vec<f64>>();
        let own = |row: usize| {
            let seen = |seen: &Seen| seen.apply(self.rows.columns[seen.input][row]);
            self.prior_variance(&self.seen.iter().map(seen).collect::<Vec<f64>>())
        };
        let mut left: Vec<f64> = (0..n).map(own).collect();
        let noise = (0..n)
            .map(|row| noise_of(&self.spec, &self.theta, &self.rows, row))
            .fold(f64::INFINITY, f64::min);
        let largest = left.iter().copied().fold(0.0, f64::max);
        // What rounding leaves of a pivot says nothing.
        let enough = (remainder * noise).max(ROUNDING * largest);
        let (mut chosen, mut g): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        while let Some(next) = (0..n).max_by(|&a, &b| left[a].total_cmp(&left[b]))
            && left[next] > enough
        {
            if chosen.len() >= most {
                return None;
            }
            let mut column = self.covariance_with_rows(&input(next), self.rows.component[next], n).0;
            for before in &g {
                simd::add_scaled(-before[next], before, &mut column);
            }
            let pivot = left[next].sqrt();
            column.iter_mut().for_each(|c| *c /= pivot);
            left.iter_mut().zip(&column).for_each(|(left, c)| *left = (*left - c * c).max(0.0));
            left[next] = 0.0;
            chosen.push(next);
            g.push(column);
        }
        (!chosen.is_empty()).then_some((chosen, g))
    }
}

/// The lower triangle `Λ` with `|Λ v| = |M v|` for every `v`, by taking the columns of `M` apart from the last to the first (modified
/// Gram-Schmidt). Nothing is left of the matrix.
fn lower_triangle_of(matrix: &mut Mat<f64>) -> Mat<f64> {
    let r = matrix.ncols();
    let mut triangle = Mat::zeros(r, r);
    for i in (0..r).rev() {
        let size = dot(matrix.col_as_slice(i), matrix.col_as_slice(i)).sqrt();
        triangle[(i, i)] = size;
        if size == 0.0 {
            continue;
        }
        let direction: Vec<f64> = matrix.col_as_slice(i).iter().map(|x| x / size).collect();
        for j in 0..i {
            let along = dot(&direction, matrix.col_as_slice(j));
            triangle[(i, j)] = along;
            simd::add_scaled(-along, &direction, matrix.col_as_slice_mut(j));
        }
    }
    triangle
}

impl GpSet {
    /// The same set for very many predictions: every process by as few of its rows as say all about the others but a share
    /// `remainder` of the variance of their noise. With a remainder of 1e-5 means and deviations are off by less than a hundredth of
    /// a deviation, with one of 1e-4 by three hundredths at most. Of a process that needs most of its rows nothing changes.
    ///
    /// It is for [`Self::predict`] and nothing else.
    #[must_use]
    pub fn condensed(&self, remainder: f64) -> Self {
        self.mapped(|gp| gp.condensed(remainder).unwrap_or_else(|| gp.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GpSpec, Kernel, Noise, Prediction, Rows, Scratch};

    /// Places in the unit box, in no order.
    fn place(k: usize) -> f64 {
        let x = (k as f64 + 0.5) * 12.9898;
        (x.sin() * 43_758.545_3).rem_euclid(1.0)
    }

    fn process(kernel: &str, dim: usize, length: f64, noise: f64, rows: usize) -> Gp {
        let mut spec = GpSpec::new(dim, Noise::Fixed(noise));
        spec.kernel = kernel.parse::<Kernel>().expect("a kernel");
        let mut data = Rows::new(dim);
        for i in 0..rows {
            let x: Vec<f64> = (0..dim).map(|k| place(i * dim + k)).collect();
            data.push(&x, x.iter().map(|x| (4.0 * x).sin()).sum()).expect("a row");
        }
        let theta = spec.parameters_from(&[1.0], &[vec![length; dim]], &[], noise);
        Gp::condition(&spec, &theta, data).expect("a process")
    }

    /// How far two processes are apart at places within the box and outside of it: means in deviations, deviations as a share.
    fn apart(one: &Gp, other: &Gp, dim: usize) -> (f64, f64) {
        let columns = 400;
        let inputs: Vec<f64> = (0..dim * columns).map(|k| 1.4 * place(k + 5000) - 0.2).collect();
        let [one, other] = [one, other].map(|gp| {
            let mut at = Prediction::default();
            gp.predict(&inputs, columns, false, &mut Scratch::default(), &mut at);
            at
        });
        let both = |s: usize| {
            let deviation = one.variance[s].sqrt();
            (
                (one.mean[s] - other.mean[s]).abs() / deviation,
                (other.variance[s].sqrt() / deviation - 1.0).abs(),
            )
        };
        (0..columns).map(both).fold((0.0, 0.0), |(a, b), (c, d)| (f64::max(a, c), f64::max(b, d)))
    }

    /// Smooth processes of 300 rows need few of them, and say the same as all of them do.
    #[test]
    fn few_rows_say_what_all_say() {
        for (kernel, dim, length, most) in [
            ("se", 1, 0.2, 20),
            ("se", 1, 1.0, 10),
            ("se", 2, 0.5, 70),
            ("se", 3, 1.0, 130),
            ("matern52", 1, 1.0, 75),
            ("linear", 3, 1.0, 4),
        ] {
            for noise in [1e-4, 1e-2] {
                let gp = process(kernel, dim, length, noise, 300);
                let few = gp.condensed(1e-5).expect("fewer rows will do");
                let fewer = gp.condensed(1e-4).expect("still fewer will do");
                let (mean, deviation) = apart(&gp, &fewer, dim);
                assert!(
                    fewer.rows.len() <= few.rows.len() && mean < 0.03 && deviation < 0.03,
                    "{kernel} {dim} {length} {noise}: {mean} {deviation}"
                );
                let (mean, deviation) = apart(&gp, &few, dim);
                assert!(few.rows.len() <= most, "{kernel} {dim} {length} {noise}: {}", few.rows.len());
                assert!(
                    mean < 0.01 && deviation < 0.01,
                    "{kernel} {dim} {length} {noise}: {mean} {deviation}"
                );
            }
        }
    }

    /// A rough process, and one of rows that have nothing to do with one another, stay as they are.
    #[test]
    fn where_all_rows_are_needed_all_are_kept() {
        assert!(process("matern32", 3, 0.1, 1e-4, 100).condensed(1e-5).is_none());
        assert!(process("se", 2, 0.01, 1e-2, 60).condensed(1e-5).is_none());
        assert!(process("se", 1, 0.5, 1e-2, 0).condensed(1e-5).is_none(), "no rows at all");
    }

    /// Components that are learned together are told apart by the same few rows.
    #[test]
    fn components_that_are_correlated() {
        let mut spec = GpSpec::new(1, Noise::Fixed(1e-3));
        spec.components = 2;
        let mut data = Rows::new(1);
        for i in 0..200 {
            let x = place(i);
            let y = if i % 2 == 0 { (4.0 * x).sin() } else { (4.0 * x).cos() };
            data.push_full(&[x], y, i % 2, 0.0).expect("a row");
        }
        let theta = vec![0.1; spec.parameters()];
        let gp = Gp::condition(&spec, &theta, data).expect("a process");
        let few = gp.condensed(1e-5).expect("fewer rows will do");
        let (mean, deviation) = apart(&gp, &few, 1);
        assert!(
            few.rows.len() < 80 && mean < 0.01 && deviation < 0.01,
            "{} {mean} {deviation}",
            few.rows.len()
        );
    }
}
