//! Gradients against finite differences, updates against recomputation, and data that is not nice.

use mcbo_gp::{
    Earlier, FitOptions, Form, Gp, GpError, GpSet, GpSpec, Inference, Likelihood, Mean, Member, Noise,
    Prediction, Prior, Priors, Rows, Sampling, Scratch, fit_map, slice_moves,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const KERNELS: [&str; 12] = [
    "matern52",
    "matern32",
    "se",
    "linear",
    "se + linear",
    "matern52 * se",
    "matern32 + linear * matern52",
    "constant",
    // Those that name inputs; they need two.
    "se(0) + matern52(1)",
    "linear(1) * se(0) + matern32(0, 1)",
    "se(1) * cosine(1) + linear(0)",
    "se(1) * proportional(0) + proportional(0, 1)",
];

fn spec(kernel: &str, dim: usize, components: usize, noise: Noise) -> GpSpec {
    // One that names inputs which are not there sees all there are.
    let kernel = if dim < 2 { kernel.split('(').next().unwrap_or(kernel) } else { kernel };
    GpSpec {
        kernel: kernel.parse().expect("a kernel"),
        components,
        // Both kinds of mean that the models use.
        mean: if kernel.contains('(') { Mean::Uncertain(0.8) } else { Mean::Profiled },
        priors: Priors::scaled(),
        origins: vec![-0.7, 1.8],
        ..GpSpec::new(dim, noise)
    }
}

fn random_rows(n: usize, dim: usize, components: usize, rng: &mut ChaCha8Rng) -> Rows {
    let mut rows = Rows::new(dim);
    for i in 0..n {
        let x: Vec<f64> = (0..dim).map(|_| rng.random()).collect();
        let y = x.iter().enumerate().map(|(k, x)| ((k as f64 + 2.0) * x).sin()).sum::<f64>()
            + 0.1 * rng.random::<f64>();
        rows.push_full(&x, y, i % components, 0.01 + 0.05 * rng.random::<f64>()).expect("good row");
    }
    rows
}

fn random_theta(spec: &GpSpec, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..spec.parameters()).map(|_| 1.4 * rng.random::<f64>() - 0.9).collect()
}

fn agree(analytic: f64, numeric: f64, scale: f64) -> bool {
    (analytic - numeric).abs() <= 1e-5 * numeric.abs().max(scale)
}

/// A central difference of fourth order.
fn difference(step: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn posterior_gradients(seed: u64, kernel in 0..KERNELS.len(), dim in 1_usize..5, n in 0_usize..30,
                           components in 1_usize..3, members in 1_usize..4) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let spec = spec(KERNELS[kernel], dim, components, Noise::Fixed(1e-3));
        let rows = random_rows(n, dim, components, &mut rng);
        let members: Vec<Member> = (0..members)
            .map(|_| Member { kernel: spec.kernel.clone(), theta: random_theta(&spec, &mut rng), weight: 1.0 / members as f64 })
            .collect();
        let set = GpSet::condition(&spec, &rows, &members).expect("a set");
        let columns = 3;
        let x: Vec<f64> = (0..dim * columns).map(|_| rng.random()).collect();
        let (mut scratch, mut at, mut moved) = (Scratch::default(), Prediction::default(), Prediction::default());
        set.predict(&x, columns, true, &mut scratch, &mut at);
        for k in 0..dim {
            for s in 0..columns {
                for c in 0..components {
                    let mut along = |step: f64, pick: &dyn Fn(&Prediction) -> f64| difference(step, |h| {
                        let mut x = x.clone();
                        x[k * columns + s] += h;
                        set.predict(&x, columns, false, &mut scratch, &mut moved);
                        pick(&moved)
                    });
                    let place = (c * dim + k) * columns + s;
                    // Across a row the second derivative of a rough kernel has a kink, which only a shorter step comes close to.
                    let mut agrees = |analytic: f64, pick: &dyn Fn(&Prediction) -> f64| {
                        [1e-4, 1e-5].iter().any(|&step| agree(analytic, along(step, pick), 1e-2))
                    };
                    let (mean, variance) = (at.mean_jacobian[place], at.variance_jacobian[place]);
                    prop_assert!(agrees(mean, &|p| p.mean[c * columns + s]), "mean {mean}");
                    prop_assert!(agrees(variance, &|p| p.variance[c * columns + s]), "variance {variance}");
                }
            }
        }
    }

    #[test]
    fn likelihood_gradients(seed: u64, kernel in 0..KERNELS.len(), dim in 0_usize..5, n in 1_usize..25,
                            components in 1_usize..4, noise in 0..4) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let noise = [Noise::Fixed(0.01), Noise::Learned, Noise::Misfit, Noise::PerRow][noise as usize];
        let spec = spec(KERNELS[kernel], dim, components, noise);
        let rows = random_rows(n, dim, components, &mut rng);
        let theta = random_theta(&spec, &mut rng);
        let mut likelihood = Likelihood::new(&spec, &rows);
        let mut gradient = vec![0.0; theta.len()];
        for of_logs in [false, true] {
            let mut value = |theta: &[f64], gradient: &mut [f64]| match of_logs {
                false => likelihood.log_posterior(theta, gradient).expect("a posterior"),
                true => likelihood.log_density_of_logs(theta, gradient).expect("a density"),
            };
            value(&theta, &mut gradient);
            for slot in 0..theta.len() {
                let numeric = difference(1e-3, |h| {
                    let mut theta = theta.clone();
                    theta[slot] += h;
                    value(&theta, &mut [])
                });
                prop_assert!(agree(gradient[slot], numeric, 1e-1), "parameter {slot}: {} {numeric}", gradient[slot]);
            }
        }
    }

    #[test]
    fn appending_is_conditioning(seed: u64, kernel in 0..KERNELS.len(), dim in 0_usize..4, n in 0_usize..20, components in 1_usize..3) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let spec = spec(KERNELS[kernel], dim, components, Noise::PerRow);
        let theta = random_theta(&spec, &mut rng);
        let rows = random_rows(n + 3, dim, components, &mut rng);
        let whole = Gp::condition(&spec, &theta, rows.clone()).expect("a posterior");
        let mut grown = Gp::condition(&spec, &theta, rows.select(&(0..n).collect::<Vec<_>>())).expect("a posterior");
        for j in n..n + 3 {
            let input: Vec<f64> = (0..dim).map(|k| rows.column(k)[j]).collect();
            let (component, noise) = rows.tags(j);
            grown.append(&input, rows.outputs()[j], component, noise).expect("a good row");
        }
        let x: Vec<f64> = (0..dim * 4).map(|_| rng.random()).collect();
        let (mut scratch, mut a, mut b) = (Scratch::default(), Prediction::default(), Prediction::default());
        whole.predict(&x, 4, false, &mut scratch, &mut a);
        grown.predict(&x, 4, false, &mut scratch, &mut b);
        for (a, b) in a.mean.iter().chain(&a.variance).zip(b.mean.iter().chain(&b.variance)) {
            prop_assert!((a - b).abs() < 1e-8 * a.abs().max(1.0), "{a} {b}");
        }
    }
}

fn form(kernel: &str) -> Form {
    Form { kernel: kernel.parse().expect("a kernel"), prior: 1.0 }
}

fn check_usable(name: &str, rows: &Rows, noise: Noise) {
    for inference in [
        Inference::Map(FitOptions::default()),
        Inference::Samples(Sampling { count: 3, moves: 2, burn_in: 4 }),
    ] {
        let spec = spec("matern52", rows.dim(), 1, noise);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let forms = ["se", "constant", "linear + matern52"].map(form);
        let set = match GpSet::fit(&spec, &forms, rows, Earlier::default(), &inference, &mut rng) {
            Ok(set) => set,
            Err(GpError::NotPositiveDefinite { .. }) => continue,
            Err(other) => panic!("{name}: {other}"),
        };
        let columns = 5;
        let x: Vec<f64> = (0..rows.dim() * columns).map(|i| (i as f64 * 0.37).fract() * 3.0 - 1.0).collect();
        let (mut scratch, mut at) = (Scratch::default(), Prediction::default());
        set.predict(&x, columns, true, &mut scratch, &mut at);
        for value in at.mean.iter().chain(&at.variance).chain(&at.mean_jacobian).chain(&at.variance_jacobian)
        {
            assert!(value.is_finite(), "{name}: {value}");
        }
        assert!(at.variance.iter().all(|v| *v >= 0.0), "{name}");
    }
}

#[test]
fn degenerate_data_gives_a_usable_posterior() {
    for noise in [Noise::Learned, Noise::Misfit, Noise::Fixed(1e-8), Noise::Fixed(0.0)] {
        for n in 0..3 {
            let mut rows = Rows::new(2);
            for i in 0..n {
                rows.push(&[i as f64, 0.5], i as f64).expect("good row");
            }
            check_usable(&format!("{n} rows"), &rows, noise);
        }
        let made = |name: &str, row: &dyn Fn(usize) -> ([f64; 2], f64)| {
            let mut rows = Rows::new(2);
            for i in 0..24 {
                let (x, y) = row(i);
                rows.push(&x, y).expect("good row");
            }
            check_usable(name, &rows, noise);
        };
        let unit = |i: usize| (i as f64 * 0.618).fract();
        made("constant output", &|i| ([unit(i), unit(i * 7)], 3.0));
        made("constant input", &|i| ([unit(i), 0.25], unit(i * 3)));
        made("all inputs constant", &|i| ([0.25, 0.25], unit(i)));
        made("duplicates", &|i| ([unit(i % 4), 0.1], unit(i % 4)));
        made("contradicting duplicates", &|i| ([unit(i % 4), 0.1], unit(i)));
        made("pairs 1e-12 apart", &|i| ([unit(i / 2) + 1e-12 * (i % 2) as f64, 0.1], unit(i / 2)));
        for scale in [1e-12, 1e-6, 1e6, 1e12] {
            made(&format!("inputs of {scale:e}"), &|i| ([unit(i) * scale, unit(3 * i)], unit(5 * i)));
            made(&format!("outputs of {scale:e}"), &|i| ([unit(i), unit(3 * i)], unit(5 * i) * scale));
        }
    }
}

/// With no rows and no inputs there is the prior, in memory that was never used before.
#[test]
fn nothing_at_all_is_the_prior() {
    let spec = GpSpec::new(0, Noise::Fixed(0.1));
    let theta = vec![0.0; spec.parameters()];
    let gp = Gp::condition(&spec, &theta, Rows::new(0)).expect("a posterior");
    let mut out = Prediction::default();
    gp.predict(&[], 3, true, &mut Scratch::default(), &mut out);
    assert_eq!((out.mean, out.variance), (vec![0.0; 3], vec![1.0; 3]));
}

#[test]
fn numbers_that_are_not_finite_are_refused_and_leave_no_trace() {
    let mut rows = Rows::new(1);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(rows.push(&[bad], 1.0), Err(GpError::NotFinite { what: "an input", row: 0, .. })));
        assert!(matches!(rows.push(&[1.0], bad), Err(GpError::NotFinite { what: "the output", .. })));
    }
    assert!(matches!(rows.push(&[1.0, 2.0], 1.0), Err(GpError::WrongLength { expected: 1, found: 2, .. })));
    assert!(rows.push_full(&[1.0], 1.0, 0, -1.0).is_err());
    assert!(rows.is_empty());
    rows.push(&[0.5], 1.0).expect("a good row");
    let spec = GpSpec::new(1, Noise::Fixed(0.1));
    let theta = spec.parameters_from(&[1.0], &[vec![1.0]], &[], 0.0);
    let mut gp = Gp::condition(&spec, &theta, rows).expect("a posterior");
    assert!(gp.append(&[f64::NAN], 1.0, 0, 0.0).is_err());
    assert_eq!(gp.rows().len(), 1);
    assert_eq!(
        GpError::NotFinite { what: "the output", row: 3, value: f64::NAN }.to_string(),
        "the output of row 3 is NaN; hint: drop the row or mend the measurement"
    );
}

#[test]
fn the_jitter_ladder_says_what_it_did() {
    let spec = GpSpec { mean: Mean::Fixed(0.0), ..spec("se", 1, 1, Noise::Fixed(0.0)) };
    let mut rows = Rows::new(1);
    for i in 0..30 {
        rows.push(&[i as f64 / 30.0], 0.1).expect("good row");
    }
    let theta = spec.parameters_from(&[1.0], &[vec![5.0]], &[], 0.0);
    let gp = Gp::condition(&spec, &theta, rows).expect("the ladder helps");
    assert!(gp.jitter() > 0.0 && gp.jitter() <= 1e-6, "{}", gp.jitter());
}

#[test]
fn fitting_finds_the_parameters_that_made_the_data() {
    // A draw from a process with one short and one long lengthscale: the fit must tell them apart.
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let spec = spec("se", 2, 1, Noise::Learned);
    let mut rows = Rows::new(2);
    for _ in 0..80 {
        let x: [f64; 2] = [rng.random(), rng.random()];
        rows.push(&x, (9.0 * x[0]).sin() + 0.3 * x[1] + 0.05 * (rng.random::<f64>() - 0.5))
            .expect("good row");
    }
    let fit = fit_map(&spec, &rows, None, FitOptions::default(), &mut rng).expect("a fit");
    let lengthscales = spec.lengthscales(&fit.theta);
    let lengthscales = &lengthscales[0];
    assert!(lengthscales[0].1 < 0.4 && lengthscales[1].1 > 1.0, "{lengthscales:?}");
    let noise = spec.noise_variance(&fit.theta).expect("one noise").sqrt();
    assert!((0.008..0.025).contains(&noise), "{noise}"); // uniform of width 0.05 has std 0.0144
    // A warm start from the optimum stays there at the cost of a few evaluations.
    let again = fit_map(&spec, &rows, Some(&fit.theta), FitOptions { starts: 0, evaluations: 60 }, &mut rng)
        .expect("a fit");
    assert!(again.evaluations <= 8, "{} evaluations after {}", again.evaluations, fit.evaluations);
    assert!(again.log_posterior >= fit.log_posterior - 1e-9);
}

/// With no rows the posterior is the prior. One that is wider than the bracket may grow shows an error of the steps' law.
#[test]
fn slice_sampling_has_the_posterior_as_its_law() {
    let wide = Prior::LogNormal { location: -1.0, scale: 2.5 };
    let spec = GpSpec {
        priors: Priors { variance: wide, ..Priors::scaled() },
        ..spec("matern52", 1, 1, Noise::Fixed(1.0))
    };
    let rows = Rows::new(1);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut theta = vec![0.0; 2];
    let (draws, mut squares, mut sums, mut tails) = (1_000_000, [0.0; 2], [0.0; 2], [0.0; 2]);
    for _ in 0..draws / 100 {
        for _ in 0..100 {
            slice_moves(&spec, &rows, &mut theta, 1, &mut rng).expect("a move");
            let standard = [(theta[0] + 1.0) / 2.5, theta[1] - 0.4_f64.ln()];
            for (k, z) in standard.into_iter().enumerate() {
                sums[k] += z;
                squares[k] += z * z;
                tails[k] += f64::from(u8::from(z > 2.5));
            }
        }
    }
    let n = f64::from(draws);
    for k in 0..2 {
        let (mean, deviation) = (sums[k] / n, (squares[k] / n - (sums[k] / n).powi(2)).sqrt());
        assert!(mean.abs() < 0.02, "mean {mean} of {k}");
        assert!((deviation - 1.0).abs() < 0.01, "deviation {deviation} of {k}");
        // P(z > 2.5) = 0.62 %.
        assert!((tails[k] / n / 0.006_209_7 - 1.0).abs() < 0.08, "tail {} of {k}", tails[k] / n);
    }
}

#[test]
fn forms_are_found_and_stay_deterministic() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut rows = Rows::new(2);
    for _ in 0..25 {
        let x: [f64; 2] = [rng.random(), rng.random()];
        rows.push(&x, (4.0 * x[0]).sin() + x[1] * x[1]).expect("good row");
    }
    let spec = GpSpec { mean: Mean::Uncertain(1.0), ..spec("matern52", 2, 1, Noise::Fixed(1e-6)) };
    let forms = ["matern52", "se", "constant", "se(0) + se(1)", "linear"].map(form);
    let inference = Inference::Samples(Sampling { count: 4, moves: 2, burn_in: 6 });
    let run = || {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let first =
            GpSet::fit(&spec, &forms, &rows, Earlier::default(), &inference, &mut rng).expect("a set");
        let earlier = Earlier { members: &first.memory(), weighing: first.weighing() };
        let second = GpSet::fit(&spec, &forms, &rows, earlier, &inference, &mut rng).expect("a set");
        // Nothing new: the forms are not weighed again, the members move on.
        assert_eq!(first.weighing(), second.weighing());
        assert_ne!(first.memory(), second.memory());
        (second.memory(), second.weighing().cloned().expect("forms were weighed"))
    };
    let (members, weighing) = run();
    assert_eq!((members.clone(), weighing.clone()), run());
    assert_eq!(members.len(), 4);
    assert!((members.iter().map(|m| m.weight).sum::<f64>() - 1.0).abs() < 1e-12);
    // The mechanism is a sum of two curves.
    assert_eq!(weighing.forms[0].0, forms[3].kernel);
    assert!(weighing.forms[0].1 > 0.95, "{weighing:?}");
}

/// Of outputs that are all 0 the likelihood is the determinant alone; of one row everything is a fraction.
#[test]
fn information_agrees_with_its_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let spec = GpSpec { mean: Mean::Fixed(0.0), ..spec("se(0) + matern52(1)", 2, 1, Noise::Fixed(0.2)) };
    let theta = random_theta(&spec, &mut rng);
    let mut rows = Rows::new(2);
    for _ in 0..9 {
        rows.push(&[rng.random(), rng.random()], 0.0).expect("a row");
    }
    let gp = Gp::condition(&spec, &theta, rows).expect("a posterior");
    let (gain, norm) = gp.information();
    let expected = -gp.log_marginal() - 4.5 * (std::f64::consts::TAU * 0.2).ln();
    assert!((gain - expected).abs() < 1e-10 && norm == 0.0, "{gain} {expected} {norm}");
    let mut rows = Rows::new(2);
    rows.push(&[0.1, 0.4], 1.5).expect("a row");
    let gp = Gp::condition(&spec, &theta, rows).expect("a posterior");
    let variance = theta[0].exp() + theta[2].exp();
    let (gain, norm) = gp.information();
    assert!((gain - 0.5 * (1.0 + variance / 0.2).ln()).abs() < 1e-12, "{gain}");
    assert!((norm - variance.sqrt() * 1.5 / (variance + 0.2)).abs() < 1e-12, "{norm}");
}
