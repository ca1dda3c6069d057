//! Finding hyper-parameters: the maximum a posteriori, and samples around it.

use rand::{Rng, RngExt};

use crate::optimize::{StopRule, minimize};
use crate::prior::standard_normal;
use crate::spec::Layout;
use crate::{GpError, GpSpec, Likelihood, Rows};

/// How much a fit may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitOptions {
    /// Starts beside the warm one: the first at the prior's typical values, the others drawn from the prior.
    pub starts: usize,
    /// Evaluations of the likelihood per start.
    pub evaluations: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { starts: 2, evaluations: 60 }
    }
}

/// The result of a fit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fit {
    /// The hyper-parameters found.
    pub theta: Vec<f64>,
    /// Their log posterior.
    pub log_posterior: f64,
    /// Evaluations of the likelihood.
    pub evaluations: usize,
}

/// Which density is climbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objective {
    /// Of the parameters themselves, as in the reference implementation.
    OfParameters,
    /// Of their logarithms, which is what samples are drawn from.
    OfLogarithms,
}

/// Where climbs to the maximum a posteriori begin: the warm start if it has the right length, then the prior's typical values,
/// then draws from the prior; never nowhere.
fn starts(spec: &GpSpec, warm: Option<&[f64]>, count: usize, rng: &mut dyn Rng) -> Vec<Vec<f64>> {
    let layout = Layout::new(spec);
    let mut starts: Vec<Vec<f64>> =
        warm.filter(|theta| theta.len() == layout.len).map(<[f64]>::to_vec).into_iter().collect();
    for start in 0..count.max(usize::from(starts.is_empty())) {
        starts.push(match start {
            0 => layout.at_priors(&spec.priors, |prior| prior.typical()),
            _ => layout.at_priors(&spec.priors, |prior| prior.draw_log(rng)),
        });
    }
    starts
}

/// Maximum a posteriori hyper-parameters by bounded quasi-Newton from several starts.
///
/// # Errors
/// If the covariance is not positive definite at any start.
pub fn fit_map(
    spec: &GpSpec,
    rows: &Rows,
    warm: Option<&[f64]>,
    options: FitOptions,
    rng: &mut dyn Rng,
) -> Result<Fit, GpError> {
    let starts = starts(spec, warm, options.starts, rng);
    let layout = Layout::new(spec);
    let mut likelihood = Likelihood::new(spec, rows);
    climb(&mut likelihood, &layout, starts, options.evaluations, Objective::OfParameters)
}

/// The highest place that climbs from the starts reach.
pub(crate) fn climb(
    likelihood: &mut Likelihood<'_>,
    layout: &Layout,
    starts: Vec<Vec<f64>>,
    evaluations: usize,
    objective: Objective,
) -> Result<Fit, GpError> {
    let rows = likelihood.rows().len();
    let (lower, upper) = layout.bounds();
    if rows == 0 {
        let theta = layout.at_priors(likelihood.priors(), |prior| prior.typical());
        return Ok(Fit { theta, log_posterior: 0.0, evaluations: 0 });
    }
    let mut value = |theta: &[f64], gradient: &mut [f64]| match objective {
        Objective::OfParameters => likelihood.log_posterior(theta, gradient),
        Objective::OfLogarithms => likelihood.log_density_of_logs(theta, gradient),
    };
    if layout.len == 0 {
        return Ok(Fit { theta: Vec::new(), log_posterior: value(&[], &mut [])?, evaluations: 1 });
    }
    // For Laplace's method a hundredth of a unit is near enough to the mode.
    let (value_tolerance, gradient_tolerance) = match objective {
        Objective::OfParameters => (1e-7, 1e-4),
        Objective::OfLogarithms => (1e-5, 1e-2),
    };
    let rule = StopRule { evaluations, value_tolerance, gradient_tolerance, first_step: 0.5 };
    let mut best: Option<(Vec<f64>, f64)> = None;
    let mut failure = None;
    for start in starts {
        let search = minimize(start, lower.clone(), upper.clone(), rule, |theta, gradient| {
            match value(theta, gradient) {
                Ok(value) => {
                    gradient.iter_mut().for_each(|g| *g = -*g);
                    -value
                }
                Err(error) => {
                    failure = Some(error);
                    f64::INFINITY
                }
            }
        });
        let (theta, value) = search.best();
        if value.is_finite() && best.as_ref().is_none_or(|(_, known)| value < *known) {
            best = Some((theta.to_vec(), value));
        }
    }
    match (best, failure) {
        (Some((theta, value)), _) => {
            Ok(Fit { theta, log_posterior: -value, evaluations: likelihood.evaluations() })
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(GpError::NotPositiveDefinite { rows, jitter: 0.0 }),
    }
}

/// Moves `theta` by `moves` steps of slice sampling along random directions, which leaves the posterior of the
/// hyper-parameters invariant (Neal 2003). Returns the log density at the place reached.
///
/// # Errors
/// If the covariance at the start is not positive definite.
pub fn slice_moves(
    spec: &GpSpec,
    rows: &Rows,
    theta: &mut [f64],
    moves: usize,
    rng: &mut dyn Rng,
) -> Result<f64, GpError> {
    /// Width of the first bracket: a standard deviation of most priors' logarithms.
    const WIDTH: f64 = 1.2;
    /// Widths that a bracket may grow to.
    const MOST: usize = 7;
    let layout = Layout::new(spec);
    let (lower, upper) = layout.bounds();
    let mut likelihood = Likelihood::new(spec, rows);
    let mut density = |theta: &[f64]| {
        let inside = theta.iter().zip(lower.iter().zip(&upper)).all(|(t, (l, u))| t >= l && t <= u);
        if inside {
            likelihood.log_density_of_logs(theta, &mut []).unwrap_or(f64::NEG_INFINITY)
        } else {
            f64::NEG_INFINITY
        }
    };
    let mut current = density(theta);
    if !current.is_finite() {
        // A sample carried over from other data may no longer be possible: begin where the prior does.
        theta.copy_from_slice(&layout.at_priors(&spec.priors, |prior| prior.typical()));
        current = density(theta);
    }
    if theta.is_empty() || !current.is_finite() {
        return if current.is_finite() || theta.is_empty() {
            Ok(current)
        } else {
            Err(GpError::NotPositiveDefinite { rows: rows.len(), jitter: 0.0 })
        };
    }
    let mut proposal = theta.to_vec();
    for _ in 0..moves {
        let mut direction: Vec<f64> = theta.iter().map(|_| standard_normal(rng)).collect();
        let norm = direction.iter().map(|d| d * d).sum::<f64>().sqrt().max(1e-300);
        direction.iter_mut().for_each(|d| *d /= norm);
        let level = current + (1.0 - rng.random::<f64>()).ln();
        let high = WIDTH * rng.random::<f64>();
        let (mut low, mut high) = (high - WIDTH, high);
        let mut at = |offset: f64| {
            for ((p, t), d) in proposal.iter_mut().zip(theta.iter()).zip(&direction) {
                *p = t + offset * d;
            }
            density(&proposal)
        };
        // The steps that are left to grow by are shared out between both sides at random: with a fixed share for each, the
        // bracket would depend on where in the slice the step began, and the posterior would not be left as it is.
        let left = rng.random_range(0..MOST);
        for _ in 0..left {
            if at(low) <= level {
                break;
            }
            low -= WIDTH;
        }
        for _ in 0..MOST - 1 - left {
            if at(high) <= level {
                break;
            }
            high += WIDTH;
        }
        for _ in 0..40 {
            let offset = low + (high - low) * rng.random::<f64>();
            let value = at(offset);
            if value > level {
                current = value;
                for (t, d) in theta.iter_mut().zip(&direction) {
                    *t += offset * d;
                }
                break;
            }
            *if offset < 0.0 { &mut low } else { &mut high } = offset;
        }
    }
    Ok(current)
}
