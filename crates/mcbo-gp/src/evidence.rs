//! How well a form of the covariance explains the rows: its evidence, by Laplace's method about its most probable
//! hyper-parameters.

use faer::{Mat, Side};
use rand::{Rng, RngExt};

use crate::fit::{Objective, climb};
use crate::prior::standard_normal;
use crate::spec::{Layout, LeafKind};
use crate::{GpError, GpSpec, Likelihood, Rows};

/// How much shorter than typical the lengthscales of one start are, in logarithms.
const SHORTER: f64 = 1.6;
/// Step of the differences that the curvature is made of, in the logarithms of the parameters.
const STEP: f64 = 1e-3;
/// The least curvature: no prior is wider than this, so less is a saddle or the edge of what is allowed.
const LEAST_CURVATURE: f64 = 0.1;

/// The posterior of the hyper-parameters as a normal distribution about its mode, in their logarithms.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Laplace {
    /// The most probable parameters.
    pub mode: Vec<f64>,
    /// Logarithm of the density of rows and parameters at the mode.
    pub log_density: f64,
    /// Logarithm of the evidence: of the density of the rows, the parameters integrated out.
    pub log_evidence: f64,
    /// Directions of the normal distribution, each as long as its deviation.
    axes: Vec<Vec<f64>>,
    /// Draws with their share of the evidence, where it was sharpened.
    cloud: Vec<(f64, Vec<f64>)>,
}

/// Draws that sharpen an evidence, from a normal distribution this much wider than Laplace's, and how many of them must count for
/// the result to be trusted more than his.
const DRAWS: usize = 32;
const WIDER: f64 = 1.3;
const COUNTING: f64 = 6.0;

/// Where the climb to a mode begins, besides the place that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FreshStarts {
    /// Nowhere else.
    None,
    /// At one of the others, by this number in turns.
    One(usize),
    /// At the prior's typical values, at a draw from it, and where lengthscales are short: wiggles and noise explain the same
    /// rows, so that one start is on the side of the wiggles.
    All,
}

impl FreshStarts {
    fn places(self, spec: &GpSpec, layout: &Layout, rng: &mut dyn Rng) -> Vec<Vec<f64>> {
        let place = |which: usize, rng: &mut dyn Rng| match which {
            0 => layout.at_priors(&spec.priors, |prior| prior.typical()),
            1 => layout.at_priors(&spec.priors, |prior| prior.draw_log(rng)),
            _ => {
                let mut short = layout.at_priors(&spec.priors, |prior| prior.typical());
                for leaf in &layout.leaves {
                    short[leaf.lengthscales.clone()].iter_mut().for_each(|l| *l -= SHORTER);
                }
                short
            }
        };
        match self {
            Self::None => Vec::new(),
            Self::One(turn) => vec![place(turn % 3, rng)],
            Self::All => (0..3).map(|which| place(which, rng)).collect(),
        }
    }

    /// Evaluations of the likelihood per start: without a place to begin from the way is long.
    fn evaluations(self) -> usize {
        match self {
            Self::None | Self::One(_) => 30,
            Self::All => 80,
        }
    }
}

/// The way to a mode, from one or several places. All of its chance is in where it begins.
pub(crate) struct Climb {
    starts: Vec<Vec<f64>>,
    fresh: FreshStarts,
}

impl Climb {
    /// From `warm` if it has the right length, and from other starts.
    pub fn new(spec: &GpSpec, warm: Option<&[f64]>, fresh: FreshStarts, rng: &mut dyn Rng) -> Self {
        let layout = Layout::new(spec);
        let warm = warm.filter(|theta| theta.len() == layout.len).map(<[f64]>::to_vec);
        let fresh = if warm.is_none() { FreshStarts::All } else { fresh };
        Self { starts: warm.into_iter().chain(fresh.places(spec, &layout, rng)).collect(), fresh }
    }

    /// The mode only: its evidence is that of a point until [`Laplace::measure`] is called.
    pub fn mode(self, spec: &GpSpec, rows: &Rows) -> Result<Laplace, GpError> {
        let Self { mut starts, fresh } = self;
        let (layout, mut likelihood) = (Layout::new(spec), Likelihood::new(spec, rows));
        if fresh != FreshStarts::None && layout.leaves.iter().any(|leaf| leaf.kind == LeafKind::Cosine) {
            starts.extend(best_periods(&layout, &starts, &mut likelihood));
        }
        let fit = climb(&mut likelihood, &layout, starts, fresh.evaluations(), Objective::OfLogarithms)?;
        let (mode, log_density) = (fit.theta, fit.log_posterior);
        Ok(Laplace { mode, log_density, log_evidence: log_density, axes: Vec::new(), cloud: Vec::new() })
    }
}

impl Laplace {
    /// Finds the mode from several starts and measures the evidence about it.
    ///
    /// # Errors
    /// If the covariance is not positive definite at any start.
    pub fn new(spec: &GpSpec, rows: &Rows, rng: &mut dyn Rng) -> Result<Self, GpError> {
        let mut mode = Climb::new(spec, None, FreshStarts::All, rng).mode(spec, rows)?;
        mode.measure(spec, rows);
        mode.sharpen(spec, rows, rng);
        Ok(mode)
    }

    /// Measures the curvature at the mode, by differences of the gradient, and with it the evidence.
    pub(crate) fn measure(&mut self, spec: &GpSpec, rows: &Rows) {
        let d = self.mode.len();
        if d == 0 || rows.is_empty() {
            // Without rows the posterior is the prior, whose densities integrate to one.
            self.log_evidence = if rows.is_empty() { 0.0 } else { self.log_density };
            return;
        }
        let mut likelihood = Likelihood::new(spec, rows);
        let (lower, upper) = Layout::new(spec).bounds();
        let mut curvature = Mat::<f64>::zeros(d, d);
        let (mut ahead, mut behind) = (vec![0.0; d], vec![0.0; d]);
        for i in 0..d {
            let mut at = self.mode.clone();
            at[i] = (self.mode[i] + STEP).min(upper[i]);
            let high = at[i];
            let forward = likelihood.log_density_of_logs(&at, &mut ahead).is_ok();
            at[i] = (self.mode[i] - STEP).max(lower[i]);
            let width = high - at[i];
            let backward = likelihood.log_density_of_logs(&at, &mut behind).is_ok();
            for j in 0..d {
                let slope = if forward && backward { (behind[j] - ahead[j]) / width } else { 0.0 };
                curvature[(i, j)] += 0.5 * slope;
                curvature[(j, i)] += 0.5 * slope;
            }
        }
        let Ok(eigen) = curvature.self_adjoint_eigen(Side::Lower) else { return };
        let (values, vectors) = (eigen.S(), eigen.U());
        let mut log_volume = 0.5 * d as f64 * std::f64::consts::TAU.ln();
        self.axes.clear();
        for k in 0..d {
            let deviation = values[k].max(LEAST_CURVATURE).recip().sqrt();
            log_volume += deviation.ln();
            self.axes.push((0..d).map(|i| deviation * vectors[(i, k)]).collect());
        }
        self.log_evidence = self.log_density + log_volume;
    }

    /// Corrects the evidence by importance sampling: where rows are few the posterior is lopsided and has longer tails than
    /// a normal distribution. Where too few draws count, Laplace's value stays.
    pub(crate) fn sharpen(&mut self, spec: &GpSpec, rows: &Rows, rng: &mut dyn Rng) {
        let d = self.axes.len();
        if d == 0 || rows.is_empty() {
            return;
        }
        let (lower, upper) = Layout::new(spec).bounds();
        let inside =
            |theta: &[f64]| theta.iter().zip(lower.iter().zip(&upper)).all(|(t, (l, u))| t >= l && t <= u);
        let mut likelihood = Likelihood::new(spec, rows);
        // The logarithm of the normal density, relative to Laplace's evidence.
        let volume = self.log_evidence - self.log_density + d as f64 * WIDER.ln();
        let mut drawn: Vec<(f64, Vec<f64>)> = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            let (mut theta, mut squared) = (self.mode.clone(), 0.0);
            for axis in &self.axes {
                let z = standard_normal(rng);
                squared += z * z;
                theta.iter_mut().zip(axis).for_each(|(t, a)| *t += WIDER * z * a);
            }
            let density =
                if inside(&theta) { likelihood.log_density_of_logs(&theta, &mut []).ok() } else { None };
            if let Some(density) = density.filter(|density| density.is_finite()) {
                drawn.push((density + volume + 0.5 * squared, theta));
            }
        }
        let most = drawn.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
        drawn.iter_mut().for_each(|(log, _)| *log = (*log - most).exp());
        let (sum, squares) = drawn.iter().fold((0.0, 0.0), |(s, q), (w, _)| (s + w, q + w * w));
        if sum * sum >= COUNTING * squares && sum > 0.0 {
            self.log_evidence = most + (sum / DRAWS as f64).ln();
            drawn.iter_mut().for_each(|(weight, _)| *weight /= sum);
            self.cloud = drawn;
        }
    }

    /// Draws hyper-parameters: one of the draws that sharpened the evidence, by its share of it, or else from the normal
    /// distribution, within their bounds.
    pub fn draw(&self, spec: &GpSpec, rng: &mut dyn Rng) -> Vec<f64> {
        let mut left = rng.random::<f64>();
        for (share, theta) in &self.cloud {
            left -= share;
            if left <= 0.0 {
                return theta.clone();
            }
        }
        let (lower, upper) = Layout::new(spec).bounds();
        let mut theta = self.mode.clone();
        for axis in &self.axes {
            let z = standard_normal(rng);
            theta.iter_mut().zip(axis).for_each(|(t, a)| *t += z * a);
        }
        theta.iter_mut().zip(lower.iter().zip(&upper)).for_each(|(t, (l, u))| *t = t.clamp(*l, *u));
        theta
    }
}

/// The likelihood has a peak at every period that nearly fits: the best of a grid is one more start.
fn best_periods(layout: &Layout, starts: &[Vec<f64>], likelihood: &mut Likelihood<'_>) -> Option<Vec<f64>> {
    /// Periods, as shares of the range of an input.
    const PERIODS: [f64; 8] = [0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.45, 0.7];
    let start = starts.last()?;
    let mut best: Option<(f64, Vec<f64>)> = None;
    for period in PERIODS {
        let mut theta = start.clone();
        for leaf in layout.leaves.iter().filter(|leaf| leaf.kind == LeafKind::Cosine) {
            theta[leaf.lengthscales.clone()].fill(period.ln());
        }
        let Ok(value) = likelihood.log_density_of_logs(&theta, &mut []) else { continue };
        if best.as_ref().is_none_or(|(known, _)| value > *known) {
            best = Some((value, theta));
        }
    }
    best.map(|(_, theta)| theta)
}
