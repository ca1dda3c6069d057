//! Logarithms of probabilities that limits are kept, and what is paid where they are small.

use std::f64::consts::TAU;

use mcbo_gp::normal_probability;

use crate::acquisition::log_improvement::tail_fraction;
use crate::problem::Limit;

/// Log-odds below which the price grows with their square.
const ROUND: f64 = 0.2;

/// `ln Φ(z)` and `φ(z)/Φ(z)`, without underflow.
pub(super) fn log_normal(z: f64) -> (f64, f64) {
    let log_density = -0.5 * z * z - 0.5 * TAU.ln();
    if z < -3.0 {
        // Mills' ratio Φ(-t)/φ(t) = 1/(t + C).
        let ratio = tail_fraction(-z) - z;
        return (log_density - ratio.ln(), ratio);
    }
    let cumulative = normal_probability(z);
    (cumulative.ln(), log_density.exp() / cumulative)
}

/// The logarithm of the probability that a limit is kept about a value with normal noise, and its slope by the value.
pub(super) fn log_kept(limit: Limit, value: f64, deviation: f64) -> (f64, f64) {
    match (limit.above, limit.below) {
        (None, None) => (0.0, 0.0),
        (None, Some(level)) => {
            let (log, ratio) = log_normal((level - value) / deviation);
            (log, -(ratio / deviation))
        }
        (Some(level), None) => {
            let (log, ratio) = log_normal((value - level) / deviation);
            (log, ratio / deviation)
        }
        (Some(above), Some(below)) => {
            // From the side on which the window is nearer: there both tails are small numbers, not nearly 1.
            let turned = value - above < below - value;
            let (far, near) = match turned {
                true => (value - above, value - below),
                false => (below - value, above - value),
            };
            let ((log_far, ratio_far), (log_near, ratio_near)) =
                (log_normal(far / deviation), log_normal(near / deviation));
            // ln(Φ(far) - Φ(near)).
            let log = log_far + (-(log_near - log_far).exp_m1()).ln();
            let by_room = ratio_far * (log_far - log).exp() - ratio_near * (log_near - log).exp();
            (log, if turned { by_room } else { -by_room } / deviation)
        }
    }
}

/// The logarithm of the mean of numbers that are given by their logarithms.
pub(super) fn log_mean(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    let (sum, count) = logs.fold((0.0, 0.0), |(sum, count), log| (sum + (log - most).exp(), count + 1.0));
    most + (sum / count).ln()
}

/// The price of missing log-odds, and its slope.
pub(super) fn hinge(missing: f64) -> (f64, f64) {
    match missing {
        m if m <= 0.0 => (0.0, 0.0),
        m if m < ROUND => (0.5 * m * m / ROUND, m / ROUND),
        m => (m - 0.5 * ROUND, 1.0),
    }
}
