use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::prior::standard_normal;
use crate::{Kernel, Noise, Prediction, Priors};

fn spec(kernel: &str, dim: usize, components: usize, mean: Mean) -> GpSpec {
    let names: Vec<String> = (0..dim).map(|k| format!("x{k}")).collect();
    GpSpec {
        kernel: Kernel::parse(kernel, &names).expect("a kernel"),
        dim,
        components,
        noise: Noise::Learned,
        mean,
        priors: Priors::scaled(),
        origins: vec![0.0; dim],
    }
}

/// Rows of `sin(5 x₀) + x₀ x₁ + …` with noise of this deviation.
fn rows(n: usize, dim: usize, components: usize, noise: f64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut rows = Rows::new(dim);
    for row in 0..n {
        let x: Vec<f64> = (0..dim).map(|_| rng.random()).collect();
        let component = row % components;
        let y = (5.0 * x[0]).sin() + x[0] * x[dim - 1] + 0.5 * component as f64;
        rows.push_full(&x, y + noise * standard_normal(&mut rng), component, noise * noise).expect("a row");
    }
    rows
}

fn at(gp: &Gp, inputs: &[f64], columns: usize, jacobian: bool) -> Prediction {
    let (mut scratch, mut out) = (Scratch::default(), Prediction::default());
    gp.predict(inputs, columns, jacobian, &mut scratch, &mut out);
    out
}

fn points(dim: usize, columns: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    (0..dim * columns).map(|_| rng.random()).collect()
}

/// Parameters with variance 1, lengthscales of a third, this noise, and some correlation.
fn theta(spec: &GpSpec, lengthscale: f64, noise: f64) -> Vec<f64> {
    let leaves = spec.kernel.terms().iter().flatten();
    let lengthscales: Vec<Vec<f64>> =
        leaves.map(|leaf| vec![lengthscale; leaf.seen(spec.dim).len()]).collect();
    let correlation = vec![0.4; spec.components * (spec.components - 1) / 2];
    let variances = vec![1.0; spec.kernel.terms().len()];
    spec.parameters_from(&variances, &lengthscales, &correlation, noise * noise)
}

#[test]
fn centres_at_all_rows_are_the_exact_posterior() {
    for (kernel, components, mean) in [
        ("matern52", 1, Mean::Uncertain(1.0)),
        ("matern32 + linear", 1, Mean::Profiled),
        ("se(x0) * linear(x1) + matern32", 2, Mean::Fixed(0.3)),
    ] {
        let spec = spec(kernel, 2, components, mean);
        let (table, theta) = (rows(60, 2, components, 0.1), theta(&spec, 0.3, 0.1));
        let exact = Gp::condition_exactly(&spec, &theta, table.clone()).expect("exact");
        let many = Gp::condition_on_many(&spec, &theta, table, 60).expect("many");
        let inputs = points(2, 40);
        let (a, b) = (at(&exact, &inputs, 40, true), at(&many, &inputs, 40, true));
        for (one, other) in [
            (&a.mean, &b.mean),
            (&a.variance, &b.variance),
            (&a.mean_jacobian, &b.mean_jacobian),
            (&a.variance_jacobian, &b.variance_jacobian),
        ] {
            for (a, b) in one.iter().zip(other) {
                assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{kernel}: {a} {b}");
            }
        }
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{kernel}: {a} {b}");
        close(exact.log_marginal(), many.log_marginal());
        close(exact.prior_mean(), many.prior_mean());
        let (gain, norm) = (exact.information(), many.information());
        close(gain.0, norm.0);
        if mean != Mean::Uncertain(1.0) {
            close(gain.1, norm.1);
        }
        if components == 1 && mean.known().is_some() {
            let blocks: Vec<Vec<usize>> = (0..60).map(|row| vec![row]).collect();
            for (a, b) in exact.left_out(&blocks).iter().zip(many.left_out(&blocks)) {
                close(a[0].mean, b[0].mean);
                close(a[0].variance, b[0].variance);
                close(a[0].below, b[0].below);
            }
        }
    }
}

/// Against the matrix of all rows: `Q + Λ` with `Q` what centres explain, inverted as it stands.
#[test]
fn few_centres_are_the_posterior_of_what_they_can_say() {
    let spec = spec("matern52", 2, 1, Mean::Fixed(0.2));
    let (n, table, theta) = (80, rows(80, 2, 1, 0.1), theta(&spec, 0.25, 0.1));
    let gp = Gp::condition_on_many(&spec, &theta, table.clone(), 12).expect("many");
    let kernel = |a: [f64; 2], b: [f64; 2]| {
        let s = (5.0 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).sqrt() / 0.25;
        (1.0 + s + s * s / 3.0) * (-s).exp()
    };
    let x = |row: usize| [table.column(0)[row], table.column(1)[row]];
    let centre = |j: usize| [gp.rows.column(0)[j], gp.rows.column(1)[j]];
    use faer::linalg::solvers::{DenseSolveCore, Solve};
    let inner = Mat::from_fn(12, 12, |i, j| kernel(centre(i), centre(j))).partial_piv_lu().inverse();
    let explained = |a: [f64; 2], b: [f64; 2]| {
        let pairs = (0..12).flat_map(|i| (0..12).map(move |j| (i, j)));
        pairs.map(|(i, j)| kernel(a, centre(i)) * inner[(i, j)] * kernel(centre(j), b)).sum::<f64>()
    };
    let covariance = Mat::from_fn(n, n, |i, j| match i == j {
        true => kernel(x(i), x(i)) + 0.01,
        false => explained(x(i), x(j)),
    });
    let solver = covariance.partial_piv_lu();
    let apart = Mat::from_fn(n, 1, |i, _| table.outputs()[i] - 0.2);
    let weights = solver.solve(&apart);
    for point in [[0.1, 0.2], [0.5, 0.5], [0.9, 0.3], [0.33, 0.97]] {
        let cross = Mat::from_fn(n, 1, |i, _| explained(point, x(i)));
        let mean = 0.2 + (0..n).map(|i| cross[(i, 0)] * weights[(i, 0)]).sum::<f64>();
        let solved = solver.solve(&cross);
        let variance = kernel(point, point) - (0..n).map(|i| cross[(i, 0)] * solved[(i, 0)]).sum::<f64>();
        let found = at(&gp, &point, 1, false);
        assert!((found.mean[0] - mean).abs() < 1e-6, "{} {mean}", found.mean[0]);
        assert!((found.variance[0] - variance).abs() < 1e-6, "{} {variance}", found.variance[0]);
    }
    let inverse = covariance.partial_piv_lu().inverse();
    let left = gp.left_out(&(0..n).map(|row| vec![row]).collect::<Vec<_>>());
    for row in [0, 13, 40, 79] {
        let mean = table.outputs()[row] - weights[(row, 0)] / inverse[(row, row)];
        assert!((left[row][0].mean - mean).abs() < 1e-5, "{} {mean}", left[row][0].mean);
        assert!((left[row][0].variance * inverse[(row, row)] - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_row_that_is_appended_counts_in_full() {
    let spec = spec("matern52", 2, 1, Mean::Uncertain(1.0));
    let theta = theta(&spec, 0.3, 0.1);
    let mut gp = Gp::condition_on_many(&spec, &theta, rows(400, 2, 1, 0.1), 24).expect("many");
    let before = at(&gp, &[0.31, 0.62], 1, false);
    gp.append(&[0.31, 0.62], 3.0, 0, 0.01).expect("a row");
    let after = at(&gp, &[0.31, 0.62], 1, false);
    let gain = before.variance[0] / (before.variance[0] + 0.01);
    let mean = before.mean[0] + gain * (3.0 - before.mean[0]);
    assert!((after.mean[0] - mean).abs() < 1e-9, "{} {mean}", after.mean[0]);
    let variance = before.variance[0] * (1.0 - gain);
    assert!((after.variance[0] - variance).abs() < 1e-9, "{} {variance}", after.variance[0]);
    assert_eq!((gp.rows().len(), gp.rows.len()), (401, 25));
}

#[test]
fn drawn_functions_have_the_moments_of_the_posterior() {
    let spec = spec("se", 1, 1, Mean::Uncertain(1.0));
    let theta = theta(&spec, 0.2, 0.3);
    let mut gp = Gp::condition_on_many(&spec, &theta, rows(300, 1, 1, 0.3), 20).expect("many");
    gp.append(&[0.5], 0.0, 0, 0.09).expect("a row");
    let set = crate::GpSet::of_one(gp.clone());
    // Waves stand for the prior: over many sets of them it is the prior.
    let (sets, draws) = (1000, 16);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for point in [0.1, 0.5, 0.93] {
        let (mut scratch, mut values, mut all) = (Scratch::default(), Vec::new(), Vec::new());
        for _ in 0..sets {
            let paths = crate::SetPaths::new(&set, draws, &mut rng);
            paths.values(&set, &vec![point; draws], draws, |s| s, &mut scratch, &mut values);
            all.append(&mut values);
        }
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let variance = all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        let exact = at(&gp, &[point], 1, false);
        let error = (exact.variance[0] / count).sqrt();
        assert!((mean - exact.mean[0]).abs() < 4.0 * error, "{mean} {} {error}", exact.mean[0]);
        assert!((variance / exact.variance[0] - 1.0).abs() < 0.05, "{variance} {}", exact.variance[0]);
    }
}

#[test]
fn thousands_of_rows_are_learned_from_as_well_as_by_the_exact_posterior() {
    for (dim, kernel) in [(1, "matern52"), (3, "se")] {
        let spec = spec(kernel, dim, 1, Mean::Uncertain(1.0));
        let (table, theta) = (rows(2_500, dim, 1, 0.1), theta(&spec, 0.5, 0.1));
        let exact = Gp::condition_exactly(&spec, &theta, table.clone()).expect("exact");
        let many = Gp::condition(&spec, &theta, table).expect("many");
        assert!(many.many.is_some() && many.rows().len() == 2_500);
        let inputs = points(dim, 200);
        let (a, b) = (at(&exact, &inputs, 200, false), at(&many, &inputs, 200, false));
        for s in 0..200 {
            let deviation = a.variance[s].sqrt();
            assert!((a.mean[s] - b.mean[s]).abs() < 0.2 * deviation, "{dim}: {} {}", a.mean[s], b.mean[s]);
            assert!((b.variance[s].sqrt() / deviation - 1.0).abs() < 0.1, "{dim}: {s}");
        }
    }
}
