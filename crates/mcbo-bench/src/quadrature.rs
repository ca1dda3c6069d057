//! Rules that turn an expectation over one noise variable into a weighted sum.

use mcbo_core::Noise;

/// Standard deviations that the rule for normal noise spans on either side; what lies outside weighs less than 1e-18.
const SPAN: f64 = 9.0;

/// Points and weights of an expectation over one noise variable; the weights sum to one.
///
/// Normal noise is integrated by the trapezoidal rule, whose error for smooth functions falls faster than any power of
/// the spacing: `h` standard deviations apart it resolves frequencies (per standard deviation) well below `2π/h`.
/// Uniform noise is integrated by the Gauss-Legendre rule. Noise that is unknown counts as none.
pub(crate) fn rule(noise: Noise, points: usize) -> Vec<(f64, f64)> {
    match noise {
        Noise::None | Noise::Learn => vec![(0.0, 1.0)],
        Noise::Gaussian(std) => trapezoid(points).map(|(z, weight)| (std * z, weight)).collect(),
        Noise::Names(shares) => {
            shares.each().enumerate().map(|(place, share)| (place as f64, share)).collect()
        }
        Noise::Uniform([lo, hi]) => {
            let scaled = |(u, weight): (f64, f64)| (0.5 * (lo + hi) + 0.5 * (hi - lo) * u, 0.5 * weight);
            legendre(points).into_iter().map(scaled).collect()
        }
    }
}

fn trapezoid(points: usize) -> impl Iterator<Item = (f64, f64)> {
    let step = 2.0 * SPAN / (points.max(2) - 1) as f64;
    let at = move |k: usize| -SPAN + step * k as f64;
    let density = |z: f64| (-0.5 * z * z).exp();
    let total: f64 = (0..points.max(2)).map(|k| density(at(k))).sum();
    (0..points.max(2)).map(move |k| (at(k), density(at(k)) / total))
}

/// Points in `[-1, 1]` and weights that sum to 2; exact for polynomials of degree `2 points - 1`.
fn legendre(points: usize) -> Vec<(f64, f64)> {
    let n = points as f64;
    let point = |k: usize| {
        let mut x = (std::f64::consts::PI * (k as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut before, mut value) = (1.0, x);
            for j in 2..=points {
                let j = j as f64;
                (before, value) = (value, ((2.0 * j - 1.0) * x * value - (j - 1.0) * before) / j);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..points).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(noise: Noise, points: usize, f: impl Fn(f64) -> f64) -> f64 {
        rule(noise, points).into_iter().map(|(x, weight)| weight * f(x)).sum()
    }

    #[test]
    fn normal_expectations_have_their_closed_forms() {
        let noise = Noise::Gaussian(0.7);
        assert!((mean(noise, 81, |_| 1.0) - 1.0).abs() < 1e-14);
        assert!((mean(noise, 81, |x| x.powi(4)) - 3.0 * 0.7f64.powi(4)).abs() < 1e-12);
        // E cos(k x) = exp(-k^2 s^2 / 2)
        assert!((mean(noise, 81, |x| (5.0 * x).cos()) - (-0.5f64 * 3.5 * 3.5).exp()).abs() < 1e-12);
        assert!((mean(noise, 81, f64::exp) - (0.5f64 * 0.49).exp()).abs() < 1e-12);
    }

    #[test]
    fn uniform_expectations_have_their_closed_forms() {
        let noise = Noise::Uniform([-1.0, 3.0]);
        assert!((mean(noise, 20, |_| 1.0) - 1.0).abs() < 1e-14);
        assert!((mean(noise, 20, |x| x * x) - 28.0 / 12.0).abs() < 1e-13);
        let exact = (3f64.exp() - (-1f64).exp()) / 4.0;
        assert!((mean(noise, 20, f64::exp) - exact).abs() < 1e-12);
    }

    #[test]
    fn no_noise_is_one_point() {
        assert_eq!(rule(Noise::None, 50), vec![(0.0, 1.0)]);
    }
}
