//! Inputs that are names: closed forms, finite differences, and everything that is computed in two ways.

use mcbo_gp::{
    Gp, GpSet, GpSpec, Likelihood, Mean, Member, Noise, Prediction, Priors, Rows, Scratch, SetPaths,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Input 0 is a number, 1 and 2 are names.
const KERNELS: [&str; 6] = [
    "choice(1)",
    "choice(1, 2)",
    "se(0) * choice(1)",
    "matern52(0) + choice(1) + choice(2)",
    "linear(0) * choice(1, 2) + choice(2)",
    "se(0) * choice(1) + matern32(0) * choice(2) + cosine(0) * se(0)",
];

fn spec(kernel: &str, components: usize, noise: Noise) -> GpSpec {
    let kernel = kernel.parse().expect("a kernel");
    let mean = Mean::Uncertain(0.7);
    GpSpec { kernel, components, mean, priors: Priors::scaled(), ..GpSpec::new(3, noise) }
}

fn rows(n: usize, components: usize, rng: &mut ChaCha8Rng) -> Rows {
    let mut rows = Rows::new(3);
    for i in 0..n {
        let x = [rng.random(), f64::from(rng.random_range(0..3)), f64::from(rng.random_range(0..4))];
        let y = (4.0 * x[0]).sin() + [0.0, 1.0, -0.5][x[1] as usize] * (1.0 + x[0]) + 0.3 * x[2];
        rows.push_full(&x, y, i % components, 0.02 + 0.05 * rng.random::<f64>()).expect("a row");
    }
    rows
}

fn theta(spec: &GpSpec, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..spec.parameters()).map(|_| 1.4 * rng.random::<f64>() - 0.9).collect()
}

fn difference(step: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step)
}

/// `A⁻¹ b` by elimination.
fn solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut system: Vec<Vec<f64>> =
        a.iter().zip(b).map(|(row, b)| row.iter().copied().chain([*b]).collect()).collect();
    for i in 0..n {
        let pivot = system[i][i];
        system[i].iter_mut().for_each(|v| *v /= pivot);
        for j in (0..n).filter(|&j| j != i) {
            let (factor, source) = (system[j][i], system[i].clone());
            system[j].iter_mut().zip(source).for_each(|(v, s)| *v -= factor * s);
        }
    }
    system.into_iter().map(|row| row[n]).collect()
}

/// `2.3 exp(-(x-x')²/(2·0.4²)) ρ^[c≠c'] + 0.6 σ^[d≠d']`, written out.
#[test]
fn the_posterior_is_that_of_the_formula() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let spec =
        GpSpec { mean: Mean::Fixed(0.2), ..spec("se(0) * choice(1) + choice(2)", 1, Noise::Fixed(0.05)) };
    let theta = spec.parameters_from(&[2.3, 0.6], &[vec![0.4], vec![0.8], vec![2.5]], &[], 0.0);
    let k = |a: &[f64], b: &[f64]| {
        let apart = |k: usize, l: f64| if a[k] == b[k] { 1.0 } else { (-1.0_f64 / l).exp() };
        2.3 * (-0.5 * ((a[0] - b[0]) / 0.4).powi(2)).exp() * apart(1, 0.8) + 0.6 * apart(2, 2.5)
    };
    let rows = rows(9, 1, &mut rng);
    let known: Vec<Vec<f64>> = (0..9).map(|i| (0..3).map(|c| rows.column(c)[i]).collect()).collect();
    let matrix: Vec<Vec<f64>> = (0..9)
        .map(|i| (0..9).map(|j| k(&known[i], &known[j]) + if i == j { 0.05 } else { 0.0 }).collect())
        .collect();
    let centred: Vec<f64> = rows.outputs().iter().map(|y| y - 0.2).collect();
    let gp = Gp::condition(&spec, &theta, rows).expect("a posterior");
    let weights = solve(&matrix, &centred);
    for at in [[0.3, 0.0, 0.0], [0.9, 2.0, 1.0], [0.1, 1.0, 3.0], [0.5, 7.0, 2.0]] {
        let cross: Vec<f64> = known.iter().map(|row| k(&at, row)).collect();
        let mean = 0.2 + cross.iter().zip(&weights).map(|(k, w)| k * w).sum::<f64>();
        let explained: f64 = cross.iter().zip(solve(&matrix, &cross)).map(|(k, w)| k * w).sum();
        let mut found = Prediction::default();
        gp.predict(&at, 1, true, &mut Scratch::default(), &mut found);
        assert!((found.mean[0] - mean).abs() < 1e-9, "{} {mean}", found.mean[0]);
        assert!((found.variance[0] - (2.9 - explained)).abs() < 1e-9);
        // A name that is written with rounding is that name, and no way leads from one to another.
        let mut nearly = Prediction::default();
        gp.predict(&[at[0], at[1] + 1e-9, at[2]], 1, false, &mut Scratch::default(), &mut nearly);
        assert_eq!(nearly.mean, found.mean);
        assert_eq!((found.mean_jacobian[1], found.variance_jacobian[2]), (0.0, 0.0));
    }
}

#[test]
fn gradients_agree_with_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for kernel in KERNELS {
        for components in [1, 2] {
            let spec = spec(kernel, components, Noise::Learned);
            let (rows, theta) = (rows(14, components, &mut rng), theta(&spec, &mut rng));
            let mut likelihood = Likelihood::new(&spec, &rows);
            let mut gradient = vec![0.0; theta.len()];
            likelihood.log_posterior(&theta, &mut gradient).expect("a posterior");
            for slot in 0..theta.len() {
                let numeric = difference(1e-3, |h| {
                    let mut theta = theta.clone();
                    theta[slot] += h;
                    likelihood.log_posterior(&theta, &mut []).expect("a posterior")
                });
                let error = (gradient[slot] - numeric).abs();
                assert!(
                    error < 1e-5 * numeric.abs().max(0.1),
                    "{kernel} {slot}: {} {numeric}",
                    gradient[slot]
                );
            }
            let set = Member { kernel: spec.kernel.clone(), theta: theta.clone(), weight: 1.0 };
            let set = GpSet::condition(&spec, &rows, &[set]).expect("a posterior");
            let (mut scratch, mut at, mut moved) =
                (Scratch::default(), Prediction::default(), Prediction::default());
            let x = [0.4, 2.0, 1.0];
            set.predict(&x, 1, true, &mut scratch, &mut at);
            for c in 0..components {
                let mut along = |pick: fn(&Prediction) -> &Vec<f64>| {
                    difference(1e-4, |h| {
                        set.predict(&[x[0] + h, x[1], x[2]], 1, false, &mut scratch, &mut moved);
                        pick(&moved)[c]
                    })
                };
                let (mean, variance) = (along(|p| &p.mean), along(|p| &p.variance));
                assert!((at.mean_jacobian[c * 3] - mean).abs() < 1e-6 * mean.abs().max(1.0), "{kernel}");
                assert!((at.variance_jacobian[c * 3] - variance).abs() < 1e-6 * variance.abs().max(1.0));
            }
        }
    }
}

#[test]
fn appending_and_leaving_out_are_conditioning() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for kernel in KERNELS {
        let spec = spec(kernel, 1, Noise::PerRow);
        let (rows, theta) = (rows(12, 1, &mut rng), theta(&spec, &mut rng));
        let whole = Gp::condition(&spec, &theta, rows.clone()).expect("a posterior");
        let first: Vec<usize> = (0..9).collect();
        let mut grown = Gp::condition(&spec, &theta, rows.select(&first)).expect("a posterior");
        for j in 9..12 {
            let input: Vec<f64> = (0..3).map(|k| rows.column(k)[j]).collect();
            grown.append(&input, rows.outputs()[j], 0, rows.tags(j).1).expect("a row");
        }
        let predict = |gp: &Gp, x: &[f64]| {
            let mut at = Prediction::default();
            gp.predict(x, 1, false, &mut Scratch::default(), &mut at);
            (at.mean[0], at.variance[0])
        };
        let (a, b) = (predict(&whole, &[0.3, 1.0, 2.0]), predict(&grown, &[0.3, 1.0, 2.0]));
        assert!((a.0 - b.0).abs() < 1e-8 && (a.1 - b.1).abs() < 1e-8, "{kernel}: {a:?} {b:?}");
        let blocks: Vec<Vec<usize>> = (0..12).map(|i| vec![i]).collect();
        for (row, left_out) in whole.left_out(&blocks).iter().enumerate() {
            let others: Vec<usize> = (0..12).filter(|i| *i != row).collect();
            let other = Gp::condition(&spec, &theta, rows.select(&others)).expect("a posterior");
            let input: Vec<f64> = (0..3).map(|k| rows.column(k)[row]).collect();
            let (mean, _) = predict(&other, &input);
            assert!((left_out[0].mean - mean).abs() < 1e-8 * (1.0 + mean.abs()), "{kernel} {row}");
        }
    }
}

/// Functions that are drawn have the posterior's mean and variance, and vary together over names as it does.
#[test]
fn draws_are_of_the_posterior() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for kernel in [KERNELS[0], KERNELS[2], KERNELS[4]] {
        let spec = spec(kernel, 1, Noise::Fixed(0.05));
        let (rows, theta) = (rows(5, 1, &mut rng), theta(&spec, &mut rng));
        let member = Member { kernel: spec.kernel.clone(), theta: theta.clone(), weight: 1.0 };
        let set = GpSet::condition(&spec, &rows, &[member]).expect("a posterior");
        // Three inputs that differ in a name, as columns.
        let inputs = [0.2, 0.2, 0.7, 0.0, 1.0, 2.0, 3.0, 3.0, 0.0];
        let (mut scratch, mut exact) = (Scratch::default(), Prediction::default());
        set.predict(&inputs, 3, false, &mut scratch, &mut exact);
        let (mut draws, mut out) = (Vec::new(), Vec::new());
        for _ in 0..150 {
            let paths = SetPaths::new(&set, 64, &mut rng);
            for draw in 0..64 {
                paths.values(&set, &inputs, 3, |_| draw, &mut scratch, &mut out);
                draws.push(out.clone());
            }
        }
        let n = draws.len() as f64;
        let mean = |at: usize| draws.iter().map(|draw| draw[at]).sum::<f64>() / n;
        let together = |a: usize, b: usize| {
            draws.iter().map(|draw| (draw[a] - mean(a)) * (draw[b] - mean(b))).sum::<f64>() / n
        };
        for at in 0..3 {
            let deviation = exact.variance[at].sqrt();
            assert!((mean(at) - exact.mean[at]).abs() < 0.04 * deviation, "{kernel} {at}");
            let ratio = together(at, at) / exact.variance[at];
            assert!((ratio - 1.0).abs() < 0.08, "{kernel} {at}: {ratio}");
        }
        // Conditioning on the second without noise would change the first by this.
        let gp = &set.members()[0].1;
        let mut other = gp.clone();
        let second = [inputs[1], inputs[4], inputs[7]];
        let noise = 0.05;
        other.append(&second, exact.mean[1] + 1.0, 0, noise).expect("a row");
        let mut moved = Prediction::default();
        other.predict(&[inputs[0], inputs[3], inputs[6]], 1, false, &mut scratch, &mut moved);
        let covariance = (moved.mean[0] - exact.mean[0]) * (exact.variance[1] + noise);
        let scale = (exact.variance[0] * exact.variance[1]).sqrt();
        assert!(
            (together(0, 1) - covariance).abs() < 0.05 * scale,
            "{kernel}: {} {covariance}",
            together(0, 1)
        );
    }
}
