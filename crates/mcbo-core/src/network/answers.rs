//! Answers, 1 or 0: the log-odds of ones are a Gaussian process, and what is not known of them follows by Laplace's method.
//!
//! The posterior of log-odds `f` has its mode where `f` is the posterior mean of pseudo-measurements `z = f + (y - p) / w` with noise
//! variance `1 / w`, where `p` is the probability at `f`: every step towards it is a regression. With `w = p (1 - p)` that is Newton's
//! method, and at the mode the regression has the posterior's curvature. Where one answer is rare it overshoots, so the way there goes by
//! a bound (Jaakkola and Jordan) that touches the likelihood at `f`, and only the last steps by the curvature.

use mcbo_gp::{Earlier, Form, GpError, GpSet, GpSpec, Inference, Prediction, Rows, Scratch};
use rand_chacha::ChaCha8Rng;

use super::Affine;

/// What log-odds differ by where causes matter.
pub(super) const SCALE: f64 = 2.0;
/// Steps to the mode at the most.
const STEPS: usize = 12;
/// The same by the curvature, from where the bound has led.
const LAST_STEPS: usize = 4;
/// Log-odds that move by less have settled.
const CLOSE: f64 = 0.05;
/// Rows that a first model is made of.
const ROWS_AT_FIRST: usize = 500;
/// Log-odds beyond these are taken to be these while the mode is sought.
const EXTREME: f64 = 6.0;

/// The probability that has these log-odds.
pub(super) fn probability(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// The means of `q` and `q²` where `q` is a function of a normal variable: Gauss and Hermite's rule.
pub(super) fn moments(q: impl Fn(f64) -> f64, mean: f64, deviation: f64) -> [f64; 2] {
    /// Places on one side and their weights.
    const RULE: [(f64, f64); 5] = [
        (0.0, 0.720_235_215_606_051),
        (0.723_551_018_752_837_6, 0.432_651_559_002_555_8),
        (1.468_553_289_216_668, 0.088_474_527_394_376_57),
        (2.266_580_584_531_843, 0.004_943_624_275_536_947),
        (3.190_993_201_781_528, 0.000_039_606_977_263_264_38),
    ];
    let mut sums = [0.0; 3];
    let sides = |(x, weight): (f64, f64)| [(x, weight), (-x, if x == 0.0 { 0.0 } else { weight })];
    for (x, weight) in RULE.into_iter().flat_map(sides) {
        let q = q(mean + std::f64::consts::SQRT_2 * deviation * x);
        sums.iter_mut().zip([q, q * q, 1.0]).for_each(|(sum, value)| *sum += weight * value);
    }
    [sums[0] / sums[2], sums[1] / sums[2]]
}

/// What is not known of a probability, and how much answers scatter that have it, on average where these means and variances of its
/// log-odds are.
pub(super) fn spread(at: &[(f64, f64)], output: Affine) -> (f64, f64) {
    let (mut unknown, mut scatter) = (0.0, 0.0);
    for (mean, variance) in at {
        let odds = output.shift + output.scale * mean;
        let [p, square] = moments(probability, odds, output.scale * variance.sqrt());
        unknown += (square - p * p).max(0.0).sqrt() / at.len() as f64;
        scatter += (p - p * p) / at.len() as f64;
    }
    (unknown, scatter.sqrt())
}

/// The answer that a pseudo-measurement stands for, and the probability that was foretold of a one: of ones it is `f + 1 + exp(-f)`, which is
/// 2 or more, of zeros -2 or less.
pub(super) fn answer_and_probability((measured, foretold): (f64, f64), output: Affine) -> (f64, f64) {
    let odds = |scaled: f64| output.shift + output.scale * scaled;
    (f64::from(u8::from(odds(measured) > 0.0)), probability(odds(foretold)))
}

/// The variance of a pseudo-measurement, in scaled units, where an answer is as probable as on average.
pub(super) fn noise(output: Affine) -> f64 {
    variance(output.shift, output)
}

fn variance(odds: f64, output: Affine) -> f64 {
    let p = probability(odds.clamp(-EXTREME, EXTREME));
    1.0 / (p * (1.0 - p) * output.scale * output.scale)
}

/// How the likelihood of an answer is made a normal one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// By its curvature, `p (1 - p)`: Newton and Laplace.
    Curvature,
    /// By the bound of Jaakkola and Jordan, `tanh(f / 2) / 2 f`, that touches it there and is nowhere above it: every step is one upwards.
    Bound,
}

/// Pseudo-measurements of the log-odds, linearised at these.
fn linearised(answers: &Rows, at: &[f64], weight: Weight, output: Affine) -> Result<Rows, GpError> {
    let mut rows = Rows::new(answers.dim());
    let mut input = vec![0.0; answers.dim()];
    for (row, &odds) in at.iter().enumerate() {
        input.iter_mut().enumerate().for_each(|(k, x)| *x = answers.column(k)[row]);
        let odds = odds.clamp(-EXTREME, EXTREME);
        let p = probability(odds);
        let w = match weight {
            Weight::Curvature => p * (1.0 - p),
            Weight::Bound if odds.abs() < 1e-3 => 0.25,
            Weight::Bound => (0.5 * odds).tanh() / (2.0 * odds),
        };
        let z = odds + (answers.outputs()[row] - p) / w;
        rows.push_full(&input, output.apply(z), 0, 1.0 / (w * output.scale * output.scale))?;
    }
    Ok(rows)
}

/// The log-odds that a set expects at the rows.
fn expected(set: &GpSet, rows: &Rows, output: Affine) -> Vec<f64> {
    let n = rows.len();
    let inputs: Vec<f64> = (0..rows.dim()).flat_map(|k| rows.column(k).iter().copied()).collect();
    let mut at = Prediction::default();
    set.predict(&inputs, n, false, &mut Scratch::default(), &mut at);
    at.mean[..n].iter().map(|m| output.shift + output.scale * m).collect()
}

/// Steps to the mode, with these hyper-parameters.
fn settle(spec: &GpSpec, answers: &Rows, mut set: GpSet, output: Affine) -> Result<GpSet, GpError> {
    let members = set.memory();
    let weighing = set.weighing().cloned();
    let mut at = expected(&set, answers, output);
    for (weight, steps) in [(Weight::Bound, STEPS), (Weight::Curvature, LAST_STEPS)] {
        let mut before = f64::INFINITY;
        for _ in 0..steps {
            let stepped = GpSet::condition(spec, &linearised(answers, &at, weight, output)?, &members)?;
            let next = expected(&stepped, answers, output);
            let moved = next.iter().zip(&at).map(|(next, at)| (next - at).abs()).fold(0.0, f64::max);
            // Steps that grow lead away; that is never so with the bound.
            if moved > before {
                break;
            }
            (set, at, before) = (stepped, next, moved);
            if moved < CLOSE {
                break;
            }
        }
    }
    Ok(set.weighed(weighing))
}

/// Fits the log-odds of answers.
pub(super) fn fit(
    spec: &GpSpec,
    forms: &[Form],
    answers: &Rows,
    output: Affine,
    earlier: Earlier<'_>,
    inference: &Inference,
    rng: &mut ChaCha8Rng,
) -> Result<GpSet, GpError> {
    // The way to the mode is long at first: of many rows it is gone with some of them.
    let some = answers.thinned(ROWS_AT_FIRST);
    let few = some.as_ref().unwrap_or(answers);
    let first = linearised(few, &vec![output.shift; few.len()], Weight::Bound, output)?;
    let set = GpSet::fit(spec, forms, &first, earlier, inference, rng)?;
    let at = expected(&settle(spec, few, set, output)?, answers, output);
    let rows = linearised(answers, &at, Weight::Curvature, output)?;
    settle(spec, answers, GpSet::fit(spec, forms, &rows, earlier, inference, rng)?, output)
}

#[cfg(test)]
mod tests {
    use mcbo_gp::{Mean, Member, Noise};

    use super::*;

    /// What is believed after these answers, `(input, answer)`, with hyper-parameters held.
    fn after(answers: &[(f64, f64)], output: Affine) -> (GpSet, Rows) {
        let spec = GpSpec { mean: Mean::Fixed(0.0), ..GpSpec::new(1, Noise::PerRow) };
        let theta = spec.parameters_from(&[1.0], &[vec![0.5]], &[], 0.0);
        let member = Member { kernel: spec.kernel.clone(), theta, weight: 1.0 };
        let mut rows = Rows::new(1);
        answers.iter().for_each(|(x, y)| rows.push(&[*x], *y).unwrap());
        let first = linearised(&rows, &vec![output.shift; rows.len()], Weight::Bound, output).unwrap();
        let set = GpSet::condition(&spec, &first, &[member]).unwrap();
        (settle(&spec, &rows, set, output).unwrap(), rows)
    }

    /// At one place the posterior has one variable: its mode and curvature by bisection of its slope.
    #[test]
    fn the_mode_and_its_width_are_those_of_the_posterior() {
        for (ones, zeros, shift) in [(7, 3, 0.0), (0, 12, 0.0), (30, 1, 1.0), (1, 0, -2.0), (3, 200, -3.0)] {
            let output = Affine { shift, scale: SCALE };
            let answers: Vec<(f64, f64)> =
                (0..ones + zeros).map(|k| (0.5, if k < ones { 1.0 } else { 0.0 })).collect();
            let (set, rows) = after(&answers, output);
            let (n, prior) = (f64::from(ones + zeros), SCALE * SCALE);
            let slope = |f: f64| f64::from(ones) - n * probability(f) - (f - shift) / prior;
            let (mut low, mut high) = (-20.0, 20.0);
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if slope(middle) > 0.0 { low = middle } else { high = middle }
            }
            let found = expected(&set, &rows, output)[0];
            assert!((found - low).abs() < 0.01, "{ones} of {n}: {found} instead of {low}");
            let p = probability(low);
            let exact = (n * p * (1.0 - p) + 1.0 / prior).recip().sqrt();
            let mut at = Prediction::default();
            set.predict(&[0.5], 1, false, &mut Scratch::default(), &mut at);
            let width = SCALE * at.variance[0].sqrt();
            assert!((width / exact - 1.0).abs() < 0.02, "{ones} of {n}: {width} instead of {exact}");
        }
    }

    /// At the mode `f - m = K (y - p)`: what any place believes follows from the answers alone.
    #[test]
    fn many_places_and_few_ones_settle() {
        let output = Affine { shift: -2.5, scale: SCALE };
        let answers: Vec<(f64, f64)> =
            (0..256).map(|k| (f64::from(k) / 255.0, f64::from(u8::from(k > 230 && k % 2 == 0)))).collect();
        let (set, rows) = after(&answers, output);
        let found = expected(&set, &rows, output);
        let (_, gp) = &set.members()[0];
        let mut row = Prediction::default();
        for place in [0, 100, 225, 240, 255] {
            // The covariance with every row, from processes of that row alone without noise.
            let by_answers: f64 = (0..rows.len())
                .map(|other| {
                    let mut one = Rows::new(1);
                    one.push_full(&[answers[other].0], 1.0, 0, 1e-9).unwrap();
                    let alone = mcbo_gp::Gp::condition(gp.spec(), gp.theta(), one).unwrap();
                    alone.predict(&[answers[place].0], 1, false, &mut Scratch::default(), &mut row);
                    SCALE * SCALE * row.mean[0] * (answers[other].1 - probability(found[other]))
                })
                .sum();
            let off = found[place] - output.shift - by_answers;
            assert!(off.abs() < 0.1, "place {place}: {} and {by_answers}", found[place] - output.shift);
        }
    }

    #[test]
    fn moments_are_those_of_a_fine_sum() {
        for (mean, deviation) in [(0.0, 0.0), (0.3, 0.5), (-2.0, 1.5), (4.0, 2.0)] {
            let [q, square] = moments(probability, mean, deviation);
            let (mut sums, step) = ([0.0; 3], 0.001);
            for k in -8000..=8000 {
                let x = f64::from(k) * step;
                let p = probability(mean + deviation * x);
                let weight = (-0.5 * x * x).exp();
                sums.iter_mut().zip([p, p * p, 1.0]).for_each(|(sum, value)| *sum += weight * value);
            }
            let [exact, exact_square] = [sums[0] / sums[2], sums[1] / sums[2]];
            let off = (q - exact).abs().max((square - exact_square).abs());
            assert!(off < 1e-3, "{mean} {deviation}: {off}");
        }
    }

    #[test]
    fn answers_are_told_from_what_stands_for_them() {
        let output = Affine { shift: -1.0, scale: SCALE };
        let at = [-9.0, -1.0, 0.0, 0.5, 9.0];
        for answer in [0.0, 1.0] {
            let mut rows = Rows::new(1);
            at.iter().for_each(|x| rows.push(&[*x], answer).unwrap());
            let made = linearised(&rows, &at, Weight::Curvature, output).unwrap();
            for &z in made.outputs() {
                assert_eq!(answer_and_probability((z, 0.5), output), (answer, 0.5));
            }
        }
    }
}
