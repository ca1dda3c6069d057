//! Rows left out in closed form, against conditioning on the others.

use mcbo_gp::{
    Gp, GpSet, GpSpec, Kernel, Mean, Member, Noise, Prediction, Priors, Rows, Scratch, normal_probability,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn rows(n: usize, dim: usize, components: usize, rng: &mut ChaCha8Rng) -> Rows {
    let mut rows = Rows::new(dim);
    for _ in 0..n {
        let x: Vec<f64> = (0..dim).map(|_| rng.random()).collect();
        for component in 0..components {
            let sum: f64 = x.iter().enumerate().map(|(k, x)| ((k as f64 + 2.0) * x).sin()).sum();
            let y = (1.0 + 0.5 * component as f64) * sum + 0.3 * rng.random::<f64>();
            rows.push_full(&x, y, component, 0.02 + 0.05 * rng.random::<f64>()).expect("a good row");
        }
    }
    rows
}

fn theta(spec: &GpSpec, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..spec.parameters()).map(|_| 1.4 * rng.random::<f64>() - 0.9).collect()
}

/// The prediction of a row by a process that never saw the block: the mean, and the variance with noise.
fn by_the_others(gp: &Gp, block: &[usize], row: usize) -> (f64, f64) {
    let others: Vec<usize> = (0..gp.rows().len()).filter(|i| !block.contains(i)).collect();
    let other = Gp::condition(gp.spec(), gp.theta(), gp.rows().select(&others)).expect("conditions");
    let input: Vec<f64> = (0..gp.rows().dim()).map(|k| gp.rows().column(k)[row]).collect();
    let (component, own) = gp.rows().tags(row);
    let mut at = Prediction::default();
    other.predict(&input, 1, false, &mut Scratch::default(), &mut at);
    let noise = gp.spec().noise_variance(gp.theta()).unwrap_or(own);
    (at.mean[component], at.variance[component] + noise)
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-8 * (1.0 + expected.abs())
}

#[test]
fn every_row_is_predicted_as_if_it_had_not_been_there() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for kernel in [
        "matern52",
        "se",
        "matern32 + linear * matern52",
        "constant",
        "se(0) * linear(1) + cosine(1) * se(1)",
        "se(0) * proportional(1)",
    ] {
        for (dim, components) in [(1, 1), (3, 1), (2, 2), (0, 1), (2, 3)] {
            if kernel.contains('(') && dim < 2 {
                continue;
            }
            for (noise, mean) in [
                (Noise::Fixed(1e-2), Mean::Fixed(0.3)),
                (Noise::Learned, Mean::Profiled),
                (Noise::PerRow, Mean::Profiled),
                (Noise::Learned, Mean::Uncertain(1.3)),
            ] {
                let spec = GpSpec {
                    kernel: kernel.parse().expect("a kernel"),
                    components,
                    mean,
                    priors: Priors::scaled(),
                    origins: vec![0.3, -1.2],
                    ..GpSpec::new(dim, noise)
                };
                let rows = rows(14, dim, components, &mut rng);
                let theta = theta(&spec, &mut rng);
                let gp = Gp::condition(&spec, &theta, rows).expect("conditions");
                let n = gp.rows().len();
                let single: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
                let trials: Vec<Vec<usize>> =
                    (0..n / components).map(|t| (t * components..(t + 1) * components).collect()).collect();
                for blocks in [single, trials] {
                    for (block, found) in blocks.iter().zip(gp.left_out(&blocks)) {
                        for (&row, found) in block.iter().zip(found) {
                            let (mean, variance) = by_the_others(&gp, block, row);
                            assert!(close(found.mean, mean), "{kernel} {dim} {found:?} {mean}");
                            assert!(close(found.variance, variance), "{kernel} {dim} {found:?} {variance}");
                            let apart = (gp.rows().outputs()[row] - mean) / variance.sqrt();
                            assert!(close(found.below, normal_probability(apart)), "{found:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn members_are_weighed_by_what_the_other_rows_say() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let spec = GpSpec { mean: Mean::Fixed(0.0), ..GpSpec::new(2, Noise::Fixed(0.05)) };
    let rows = rows(9, 2, 1, &mut rng);
    let member = |rng: &mut ChaCha8Rng| Member {
        kernel: Kernel::default(),
        theta: theta(&spec, rng),
        weight: 1.0 / 3.0,
    };
    // Weights in proportion to the likelihood of all rows, so that those of the other rows are known as well.
    let mut members: Vec<Member> = (0..3).map(|_| member(&mut rng)).collect();
    let likelihood = |members: &[Member], rows: &Rows| {
        let of =
            |m: &Member| Gp::condition(&spec, &m.theta, rows.clone()).expect("conditions").log_marginal();
        let all: Vec<f64> = members.iter().map(of).collect();
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = all.iter().map(|l| (l - most).exp()).collect();
        let total: f64 = raw.iter().sum();
        raw.iter().map(|r| r / total).collect::<Vec<f64>>()
    };
    let weights = likelihood(&members, &rows);
    members.iter_mut().zip(weights).for_each(|(member, weight)| member.weight = weight);
    let set = GpSet::condition(&spec, &rows, &members).expect("conditions");
    let found = set.left_out(&(0..9).map(|i| vec![i]).collect::<Vec<_>>());
    for row in 0..9 {
        let others: Vec<usize> = (0..9).filter(|i| *i != row).collect();
        let weights = likelihood(&members, &rows.select(&others));
        let parts: Vec<(f64, f64)> =
            set.members().iter().map(|(_, gp)| by_the_others(gp, &[row], row)).collect();
        let mean: f64 = weights.iter().zip(&parts).map(|(w, p)| w * p.0).sum();
        let variance: f64 = weights.iter().zip(&parts).map(|(w, p)| w * (p.1 + (p.0 - mean).powi(2))).sum();
        assert!(close(found[row][0].mean, mean), "{:?} {mean}", found[row]);
        assert!(close(found[row][0].variance, variance), "{:?} {variance}", found[row]);
    }
}

#[test]
fn few_rows_are_no_trouble() {
    let spec = GpSpec { mean: Mean::Profiled, ..GpSpec::new(1, Noise::Fixed(0.1)) };
    let theta = spec.parameters_from(&[1.0], &[vec![0.5]], &[], 0.0);
    let none = Gp::condition(&spec, &theta, Rows::new(1)).expect("conditions");
    assert!(none.left_out(&[]).is_empty());
    let mut rows = Rows::new(1);
    rows.push(&[0.5], 2.0).expect("a good row");
    let found = Gp::condition(&spec, &theta, rows).expect("conditions").left_out(&[vec![0]]);
    assert!(close(found[0][0].mean, 0.0) && close(found[0][0].variance, 1.1), "{found:?}");
}
