//! Functions drawn from a posterior, against its closed form.

use mcbo_gp::{GpSet, GpSpec, Kernel, Mean, Member, Noise, Prediction, Priors, Rows, Scratch, SetPaths};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const SETS: usize = 300;
const DRAWS: usize = 64;

fn spec(kernel: &str, dim: usize, components: usize) -> GpSpec {
    GpSpec {
        kernel: kernel.parse::<Kernel>().expect("a kernel"),
        dim,
        components,
        noise: Noise::Fixed(0.05),
        mean: Mean::Uncertain(0.5),
        priors: Priors::scaled(),
        origins: vec![0.3; dim],
    }
}

fn rows(dim: usize, components: usize) -> Rows {
    let mut rows = Rows::new(dim);
    for i in 0..7 {
        let x: Vec<f64> = (0..dim).map(|k| (0.37 * (i * (k + 1)) as f64 + 0.11).fract()).collect();
        let y = (5.0 * x[0]).sin() + x.iter().sum::<f64>() - 1.0;
        rows.push_full(&x, y, i % components, 0.05).expect("a row");
    }
    rows
}

/// A vector of parameters that are not all the same.
fn theta(spec: &GpSpec) -> Vec<f64> {
    (0..spec.parameters()).map(|k| -0.9 + 0.35 * (k % 4) as f64).collect()
}

/// Values of many draws at the inputs, `[draw][component * inputs + input]`; every few draws have waves of their own.
fn drawn(set: &GpSet, inputs: &[f64], columns: usize) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut scratch, mut out, mut all) = (Scratch::default(), Vec::new(), Vec::new());
    for _ in 0..SETS {
        let paths = SetPaths::new(set, DRAWS, &mut rng);
        for draw in 0..DRAWS {
            paths.values(set, inputs, columns, |_| draw, &mut scratch, &mut out);
            all.push(out.clone());
        }
    }
    all
}

fn moments(draws: &[Vec<f64>], at: usize) -> (f64, f64) {
    let n = draws.len() as f64;
    let mean = draws.iter().map(|draw| draw[at]).sum::<f64>() / n;
    (mean, draws.iter().map(|draw| (draw[at] - mean).powi(2)).sum::<f64>() / n)
}

#[test]
fn draws_have_the_mean_and_variance_of_the_posterior() {
    for (kernel, dim, components) in [
        ("se", 2, 1),
        ("matern52", 2, 1),
        ("matern32(0) + se(1)", 2, 1),
        ("linear", 2, 1),
        ("se(0) * linear(1, 2)", 3, 1),
        ("linear(0) * linear(1) + se(0)", 2, 1),
        ("se(0) + se(0) * cosine(0)", 1, 1),
        ("proportional(1) + proportional(1) * se(0)", 2, 1),
        ("constant", 1, 1),
        ("se", 1, 2),
        ("linear(0) + matern52(1)", 2, 3),
    ] {
        let (spec, rows) = (spec(kernel, dim, components), rows(dim, components));
        let member = Member { kernel: spec.kernel.clone(), theta: theta(&spec), weight: 1.0 };
        let set = GpSet::condition(&spec, &rows, &[member]).expect("a posterior");
        let columns = 3;
        let inputs: Vec<f64> = (0..dim * columns).map(|i| (0.29 * i as f64 + 0.05).fract() * 1.4).collect();
        let (mut scratch, mut exact) = (Scratch::default(), Prediction::default());
        set.predict(&inputs, columns, false, &mut scratch, &mut exact);
        let draws = drawn(&set, &inputs, columns);
        for at in 0..components * columns {
            let (mean, variance) = moments(&draws, at);
            let deviation = exact.variance[at].sqrt();
            // Standard errors of 19,200 draws are 0.7 % of the deviation and 1 % of the variance; waves add as much again.
            assert!(
                (mean - exact.mean[at]).abs() < 0.04 * deviation,
                "{kernel} {at}: {mean} {}",
                exact.mean[at]
            );
            let ratio = variance / exact.variance[at];
            assert!(
                (ratio - 1.0).abs() < 0.08,
                "{kernel} {at}: the variance is {ratio} of what it should be"
            );
        }
    }
}

/// What draws are for: how two inputs vary together. The posterior covariance of a squared exponential, worked out by
/// elimination.
#[test]
fn draws_vary_together_as_the_posterior_does() {
    let spec = GpSpec { mean: Mean::Fixed(0.0), ..spec("se", 1, 1) };
    let rows = rows(1, 1);
    let theta = spec.parameters_from(&[1.7], &[vec![0.35]], &[], 0.0);
    let member = Member { kernel: spec.kernel.clone(), theta, weight: 1.0 };
    let set = GpSet::condition(&spec, &rows, &[member]).expect("a posterior");
    let inputs = [0.02, 1.1, 1.3];
    let known: Vec<f64> = (0..7).map(|i| (0.37 * i as f64 + 0.11).fract()).collect();
    let k = |a: f64, b: f64| 1.7 * (-0.5 * ((a - b) / 0.35).powi(2)).exp();
    let covariance = |a: f64, b: f64| {
        // K w = k(X, b) by Gauss and Jordan.
        let n = known.len();
        let mut system: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let row = (0..n).map(|j| k(known[i], known[j]) + if i == j { 0.05 } else { 0.0 });
                row.chain([k(known[i], b)]).collect()
            })
            .collect();
        for i in 0..n {
            let pivot = system[i][i];
            system[i].iter_mut().for_each(|v| *v /= pivot);
            for j in (0..n).filter(|&j| j != i) {
                let (factor, source) = (system[j][i], system[i].clone());
                system[j].iter_mut().zip(source).for_each(|(v, s)| *v -= factor * s);
            }
        }
        k(a, b) - (0..n).map(|i| k(a, known[i]) * system[i][n]).sum::<f64>()
    };
    let draws = drawn(&set, &inputs, 3);
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let (mean_a, variance_a) = moments(&draws, a);
        let (mean_b, variance_b) = moments(&draws, b);
        let together = draws.iter().map(|draw| (draw[a] - mean_a) * (draw[b] - mean_b)).sum::<f64>();
        let correlation = together / draws.len() as f64 / (variance_a * variance_b).sqrt();
        let (x, y) = (inputs[a], inputs[b]);
        let exact = covariance(x, y) / (covariance(x, x) * covariance(y, y)).sqrt();
        assert!((correlation - exact).abs() < 0.03, "{a} and {b}: {correlation} where {exact} is right");
    }
    let far = covariance(1.1, 1.3) / (covariance(1.1, 1.1) * covariance(1.3, 1.3)).sqrt();
    assert!(far.abs() > 0.1, "the test says nothing where everything is apart: {far}");
}

#[test]
fn members_are_drawn_by_their_weights() {
    let spec = GpSpec { noise: Noise::Fixed(1e-4), ..spec("constant", 1, 1) };
    let member = |kernel: &str, weight: f64| {
        let own = GpSpec { kernel: kernel.parse().expect("a kernel"), ..spec.clone() };
        Member { theta: theta(&own), kernel: own.kernel, weight }
    };
    let set = GpSet::condition(&spec, &rows(1, 1), &[member("constant", 0.25), member("linear", 0.75)])
        .expect("a posterior");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let paths = SetPaths::new(&set, 40, &mut rng);
    let (mut scratch, mut out, mut flat) = (Scratch::default(), Vec::new(), 0);
    for draw in 0..paths.count() {
        paths.values(&set, &[0.0, 1.0], 2, |_| draw, &mut scratch, &mut out);
        flat += usize::from(out[0] == out[1]);
    }
    assert_eq!(flat, 10);
}
