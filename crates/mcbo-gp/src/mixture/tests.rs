use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::Noise;

/// Rows of a straight line with a little noise, and one more at 1.2 with this value.
fn rows(count: usize, last: f64) -> Rows {
    let mut rows = Rows::new(1);
    for k in 0..count {
        let (x, noise) = (k as f64 / count as f64, 0.02 * ((7 * k) % 5) as f64 - 0.04);
        rows.push(&[x], 2.0 * x - 1.0 + noise).expect("a row");
    }
    rows.push(&[1.2], last).expect("a row");
    rows
}

/// A row that nothing speaks for has the forms weighed again, all of them; one that fits does not.
#[test]
fn forms_are_in_doubt_when_a_row_is_far_off() {
    let spec = GpSpec::new(1, Noise::Learned);
    let forms: Vec<Form> = ["linear", "se", "matern52"]
        .map(|kernel| Form { kernel: kernel.parse().expect("a kernel"), prior: 1.0 })
        .to_vec();
    let sampling = Inference::Samples(Sampling { count: 4, moves: 1, burn_in: 10 });
    let fit = |rows: &Rows, earlier: Earlier<'_>| {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        GpSet::fit(&spec, &forms, rows, earlier, &sampling, &mut rng).expect("a fit")
    };
    let count = 40;
    let before = rows(count, 0.0).select(&(0..count).collect::<Vec<_>>());
    let first = fit(&before, Earlier::default());
    let (members, weighing) = (first.memory(), first.weighing());
    for (last, rows_weighed) in [(1.4, count), (1.32, count), (-3.0, count + 1)] {
        let next = fit(&rows(count, last), Earlier { members: &members, weighing });
        let weighing = next.weighing().expect("forms are weighed");
        assert_eq!(weighing.rows, rows_weighed, "{last}");
        assert!(last > 0.0 || weighing.complete == count + 1, "all forms took part");
    }
    // By hand: the same members, the same row, four deviations off and not.
    let far = |last: f64| {
        let set = GpSet::condition(&spec, &before, &members).expect("a posterior");
        let (mut scratch, mut out) = (Scratch::default(), Prediction::default());
        let density = |(weight, gp): &(f64, Gp)| {
            gp.predict(&[1.2], 1, false, &mut scratch, &mut out);
            let variance = out.variance[0] + gp.spec().noise_variance(gp.theta()).expect("it is learned");
            weight * (-(last - out.mean[0]).powi(2) / (2.0 * variance)).exp()
        };
        set.members().iter().map(density).sum::<f64>() < (-8.0_f64).exp()
    };
    let mut both = [false; 2];
    for step in 0..60 {
        let last = 1.4 - 0.03 * f64::from(step);
        assert_eq!(is_refuted(&spec, &members, &rows(count, last), count), far(last), "{last}");
        both[usize::from(far(last))] = true;
    }
    assert_eq!(both, [true; 2]);
}

/// Columns of a member are what that member alone says of them, whichever are the same as others.
#[test]
fn members_predict_their_own_columns() {
    let spec = GpSpec::new(1, Noise::Learned);
    let forms: Vec<Form> = ["linear", "se"]
        .map(|kernel| Form { kernel: kernel.parse().expect("a kernel"), prior: 1.0 })
        .to_vec();
    let sampling = Inference::Samples(Sampling { count: 5, moves: 2, burn_in: 10 });
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let set =
        GpSet::fit(&spec, &forms, &rows(9, 0.3), Earlier::default(), &sampling, &mut rng).expect("a fit");
    let members = set.members();
    assert!(members.len() > 2);
    let of: Vec<usize> = [0, 2, 2, 2, 1, 0, 2, 1].map(|member| member % members.len()).to_vec();
    let inputs = [0.1, 0.4, 0.4, 0.9, 0.4, 0.1, 0.4, 1.3];
    let (mut scratch, mut all, mut one) = (Scratch::default(), Prediction::default(), Prediction::default());
    for _ in 0..2 {
        set.predict_by(&of, &inputs, true, &mut scratch, &mut all);
        for (s, (&member, &x)) in of.iter().zip(&inputs).enumerate() {
            members[member].1.predict(&[x], 1, true, &mut Scratch::default(), &mut one);
            for (all, one) in [
                (&all.mean, &one.mean),
                (&all.variance, &one.variance),
                (&all.mean_jacobian, &one.mean_jacobian),
                (&all.variance_jacobian, &one.variance_jacobian),
            ] {
                assert!((all[s] - one[0]).abs() < 1e-12 * (1.0 + one[0].abs()), "{s}: {} {}", all[s], one[0]);
            }
        }
    }
}
