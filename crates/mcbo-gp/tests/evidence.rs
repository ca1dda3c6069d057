//! The evidence of a form by Laplace's method, against the average of the likelihood over draws from the prior: the same
//! number from its definition, with nothing in common but the likelihood.

use mcbo_gp::{GpSpec, Laplace, Likelihood, Mean, Noise, Prior, Priors, Rows, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Logarithm of the mean of the likelihood over the prior, and its standard error.
fn by_definition(spec: &GpSpec, rows: &Rows, draws: usize, rng: &mut ChaCha8Rng) -> (f64, f64) {
    let Prior::LogNormal { location, scale } = spec.priors.noise else { panic!("log-normal priors") };
    let mut likelihood = Likelihood::new(spec, rows);
    let terms = spec.kernel.terms();
    let values: Vec<f64> = (0..draws)
        .filter_map(|_| {
            // The order of the vector: per term its variance, then the lengthscales of its leaves; the noise last.
            let mut theta = Vec::new();
            for term in terms {
                theta.push(spec.priors.variance_of(terms.len()).draw_log(rng));
                for leaf in term {
                    let seen = leaf.seen(spec.dim).len();
                    // What is in proportion to one input has no lengthscale.
                    let free = if leaf.shape == Shape::Proportional && seen == 1 { 0 } else { seen };
                    theta.extend((0..free).map(|_| spec.priors.lengthscale_of(seen).draw_log(rng)));
                }
            }
            if spec.noise == Noise::Learned {
                theta.push(Prior::LogNormal { location, scale }.draw_log(rng));
            }
            likelihood.log_marginal(&theta, &mut []).ok()
        })
        .collect();
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = values.iter().map(|v| (v - most).exp()).collect();
    let mean = weights.iter().sum::<f64>() / draws as f64;
    let variance = weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / draws as f64;
    (most + mean.ln(), (variance / draws as f64).sqrt() / mean)
}

#[test]
fn evidence_agrees_with_its_definition() {
    let mut apart: Vec<f64> = Vec::new();
    for (kernel, noise, n) in [
        ("constant", Noise::Learned, 12),
        ("linear", Noise::Learned, 10),
        ("se", Noise::Fixed(0.05), 6),
        ("se", Noise::Learned, 12),
        ("matern52", Noise::Learned, 15),
        ("se(0) + se(1)", Noise::Learned, 12),
        ("linear(0) + se(1)", Noise::Fixed(0.01), 10),
        ("se(1) + se(1) * linear(0)", Noise::Learned, 14),
        ("se(1) * proportional(0)", Noise::Learned, 12),
    ] {
        for seed in 0..3 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let spec = GpSpec {
                kernel: kernel.parse().expect("a kernel"),
                mean: Mean::Uncertain(1.0),
                priors: Priors::scaled(),
                origins: vec![-0.4, 0.0],
                ..GpSpec::new(2, noise)
            };
            let mut rows = Rows::new(2);
            for _ in 0..n {
                let x: [f64; 2] = [rng.random(), rng.random()];
                let wiggle = if seed == 2 { 0.0 } else { (3.0 * x[1]).sin() + x[0] };
                rows.push(&x, wiggle + 0.6 * (rng.random::<f64>() - 0.5) - 0.8).expect("a row");
            }
            let laplace = Laplace::new(&spec, &rows, &mut rng).expect("a mode");
            let (exact, error) = by_definition(&spec, &rows, 60_000, &mut rng);
            println!("{kernel} {n} rows: {:.3} against {exact:.3} ± {error:.3}", laplace.log_evidence);
            assert!(error < 0.1, "{kernel}: the definition is not sure enough: {error}");
            apart.push((laplace.log_evidence - exact).abs());
        }
    }
    // Forms that matter differ by several units within a few rows. Where the posterior has two modes, as in one of these cases,
    // the one that is not climbed is missing.
    apart.sort_by(f64::total_cmp);
    assert!(apart[apart.len() / 2] < 0.1, "median: {apart:?}");
    assert!(apart[apart.len() * 9 / 10] < 0.3, "nine of ten: {apart:?}");
    assert!(apart[apart.len() - 1] < 1.0, "all: {apart:?}");
}

#[test]
fn without_rows_every_form_is_as_good_as_any() {
    for kernel in ["constant", "se", "linear(0) + se(1)"] {
        let spec = GpSpec { kernel: kernel.parse().expect("a kernel"), ..GpSpec::new(2, Noise::Learned) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let laplace = Laplace::new(&spec, &Rows::new(2), &mut rng).expect("a mode");
        assert_eq!(laplace.log_evidence, 0.0);
    }
}
