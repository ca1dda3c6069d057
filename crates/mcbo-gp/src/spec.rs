//! What a Gaussian process is before it has seen data, and how its parameters lie in one vector.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::simd::Profile;
use crate::{Kernel, Prior, Priors, Shape};

/// The variance of the measurement noise, in the units of the standardised output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Noise {
    /// A known variance.
    Fixed(f64),
    /// A variance found by the fit, under [`Priors::noise`].
    Learned,
    /// None, but for what the covariance cannot follow: a small variance found by the fit, under [`Priors::misfit`].
    Misfit,
    /// Every row of the data brings its own variance.
    PerRow,
}

/// The prior mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Mean {
    /// A known constant.
    Fixed(f64),
    /// The constant of highest likelihood given the other parameters, `c = 1ᵀK⁻¹y / 1ᵀK⁻¹1`.
    Profiled,
    /// A constant that is not known: normal about 0 with this variance, and integrated out.
    Uncertain(f64),
}

impl Mean {
    /// The variance of a constant that is not known: it is a term of the covariance.
    pub(crate) fn variance(self) -> f64 {
        match self {
            Mean::Uncertain(variance) => variance,
            Mean::Fixed(_) | Mean::Profiled => 0.0,
        }
    }

    /// The constant that is taken off the outputs; `None` where it is profiled.
    pub(crate) fn known(self) -> Option<f64> {
        match self {
            Mean::Fixed(mean) => Some(mean),
            Mean::Uncertain(_) => Some(0.0),
            Mean::Profiled => None,
        }
    }
}

/// A Gaussian process before it has seen data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpSpec {
    /// The covariance function.
    pub kernel: Kernel,
    /// Number of inputs; 0 for a root that nothing acts on.
    pub dim: usize,
    /// Number of output components that share this process through the component index (Eq. gp_mean); 1 for a
    /// scalar output. With more, the kernel is `k(x, x') B[l, l']` with a correlation matrix `B`.
    pub components: usize,
    /// Measurement noise.
    pub noise: Noise,
    /// Prior mean.
    pub mean: Mean,
    /// Priors of the hyper-parameters.
    pub priors: Priors,
    /// Where every input is zero in the user's units, for [`Shape::Proportional`]; 0 where none is given.
    #[serde(default)]
    pub origins: Vec<f64>,
}

impl GpSpec {
    /// A scalar process with the default kernel, a profiled mean and the reference's priors.
    pub fn new(dim: usize, noise: Noise) -> Self {
        Self {
            kernel: Kernel::default(),
            dim,
            components: 1,
            noise,
            mean: Mean::Profiled,
            priors: Priors::reference(),
            origins: Vec::new(),
        }
    }

    /// Number of hyper-parameters.
    pub fn parameters(&self) -> usize {
        Layout::new(self).len
    }

    /// The parameter vector made of natural values: a variance per term, then lengthscales per leaf, in
    /// the order of the kernel's text, the correlation parameters and the noise variance if it is learned, a misfit's too.
    pub fn parameters_from(
        &self,
        variances: &[f64],
        lengthscales: &[Vec<f64>],
        correlation: &[f64],
        noise: f64,
    ) -> Vec<f64> {
        let layout = Layout::new(self);
        let mut theta = vec![0.0; layout.len];
        for (term, variance) in layout.terms.iter().zip(variances) {
            theta[term.variance] = variance.ln();
        }
        for (leaf, lengthscales) in layout.leaves.iter().zip(lengthscales) {
            for (slot, l) in leaf.lengthscales.clone().zip(lengthscales) {
                theta[slot] = l.ln();
            }
        }
        theta[layout.correlation.clone()].copy_from_slice(correlation);
        if let Some(slot) = layout.noise {
            theta[slot] = noise.ln();
        }
        theta
    }

    /// For every leaf, in the order of the kernel's text, the inputs that it sees with their lengthscales.
    pub fn lengthscales(&self, theta: &[f64]) -> Vec<Vec<(usize, f64)>> {
        let in_leaf = |leaf: &LeafLayout| {
            let lengthscales = theta[leaf.lengthscales.clone()].iter().map(|l| l.exp());
            leaf.inputs.iter().copied().zip(lengthscales).collect()
        };
        Layout::new(self).leaves.iter().map(in_leaf).collect()
    }

    /// The noise variance that a parameter vector stands for; `None` where every row has its own.
    pub fn noise_variance(&self, theta: &[f64]) -> Option<f64> {
        match self.noise {
            Noise::Fixed(variance) => Some(variance),
            // It lies behind all others; asked for every row, a layout for each would cost more than the covariance.
            Noise::Learned | Noise::Misfit => theta.last().map(|noise| noise.exp()),
            Noise::PerRow => None,
        }
    }
}

/// The kind of a leaf, as the inner loops see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafKind {
    Stationary(Profile),
    Linear,
    Cosine,
    Choice,
}

#[derive(Debug, Clone)]
pub(crate) struct LeafLayout {
    pub kind: LeafKind,
    /// The inputs that it sees.
    pub inputs: Vec<usize>,
    /// Their lengthscales, if it has any.
    pub lengthscales: Range<usize>,
    /// What is taken off each of them, and what the rest is multiplied by, before it is divided by the lengthscale.
    pub shifts: Vec<(f64, f64)>,
    /// Their places among the inputs of all leaves, one leaf after the other.
    pub places: Range<usize>,
}

impl LeafLayout {
    /// The inputs that it sees, with what is taken off each and what the rest is multiplied by.
    pub fn seen(&self, theta: &[f64]) -> impl Iterator<Item = Seen> {
        let lengthscales = &theta[self.lengthscales.clone()];
        self.inputs.iter().zip(&self.shifts).enumerate().map(|(k, (&input, &(shift, unit)))| Seen {
            input,
            shift,
            factor: unit * lengthscales.get(k).map_or(1.0, |l| (-l).exp()),
        })
    }
}

/// An input as a leaf sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub input: usize,
    shift: f64,
    pub factor: f64,
}

impl Seen {
    /// The input in the leaf's units.
    pub fn apply(self, x: f64) -> f64 {
        (x - self.shift) * self.factor
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TermLayout {
    pub variance: usize,
    pub leaves: Range<usize>,
}

/// Where each hyper-parameter lies in the vector of logarithms `theta`.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub terms: Vec<TermLayout>,
    pub leaves: Vec<LeafLayout>,
    /// Free entries below the diagonal of the correlation's factor, not logarithms.
    pub correlation: Range<usize>,
    pub noise: Option<usize>,
    /// Whether that is a misfit only.
    pub misfit: bool,
    pub len: usize,
}

impl Layout {
    pub fn new(spec: &GpSpec) -> Self {
        let (mut terms, mut leaves, mut next, mut place) = (Vec::new(), Vec::new(), 0, 0);
        for term in spec.kernel.terms() {
            let (variance, first) = (next, leaves.len());
            next += 1;
            for leaf in term {
                // A process without inputs is a constant whatever its kernel.
                let inputs = leaf.seen(spec.dim);
                let kind = match leaf.shape {
                    Shape::Linear | Shape::Proportional if !inputs.is_empty() => LeafKind::Linear,
                    Shape::Cosine if !inputs.is_empty() => LeafKind::Cosine,
                    Shape::Choice if !inputs.is_empty() => LeafKind::Choice,
                    Shape::Matern32 => LeafKind::Stationary(Profile::Matern32),
                    Shape::SquaredExponential => LeafKind::Stationary(Profile::SquaredExponential),
                    _ => LeafKind::Stationary(Profile::Matern52),
                };
                // What is in proportion to one input has its slope in the term's variance.
                let free = match (leaf.shape, inputs.len()) {
                    (Shape::Proportional, 1) => 0,
                    (_, inputs) => inputs,
                };
                let (lengthscales, places) = (next..next + free, place..place + inputs.len());
                (next, place) = (lengthscales.end, places.end);
                let shifts = inputs.iter().map(|&k| match leaf.shape {
                    Shape::Proportional => {
                        let origin = spec.origins.get(k).copied().unwrap_or(0.0);
                        // Inputs lie between 0 and 1.
                        (origin, origin.abs().max((1.0 - origin).abs()).recip())
                    }
                    _ => (0.0, 1.0),
                });
                let shifts = shifts.collect();
                leaves.push(LeafLayout { kind, inputs, lengthscales, shifts, places });
            }
            terms.push(TermLayout { variance, leaves: first..leaves.len() });
        }
        let correlation = next..next + spec.components * (spec.components - 1) / 2;
        next = correlation.end;
        let misfit = spec.noise == Noise::Misfit;
        let noise = (misfit || spec.noise == Noise::Learned).then_some(next);
        Self { terms, leaves, correlation, noise, misfit, len: next + usize::from(noise.is_some()) }
    }

    /// The inputs that the leaves see, one leaf after the other, with what is taken off each and what the rest is multiplied by.
    pub fn seen(&self, theta: &[f64]) -> Vec<Seen> {
        self.leaves.iter().flat_map(|leaf| leaf.seen(theta)).collect()
    }

    /// Bounds of the parameter vector.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut lower, mut upper) = (vec![-10.0; self.len], vec![10.0; self.len]);
        for leaf in &self.leaves {
            for slot in leaf.lengthscales.clone() {
                (lower[slot], upper[slot]) = (0.005_f64.ln(), 1e3_f64.ln());
            }
        }
        for term in &self.terms {
            (lower[term.variance], upper[term.variance]) = (1e-6_f64.ln(), 1e5_f64.ln());
        }
        if let Some(slot) = self.noise {
            let least = if self.misfit { 1e-10_f64 } else { 1e-8 };
            (lower[slot], upper[slot]) = (least.ln(), 10.0_f64.ln());
        }
        (lower, upper)
    }

    /// A vector with every parameter at its prior's value given by `value`; correlations at 0.
    pub fn at_priors(&self, priors: &Priors, mut value: impl FnMut(&Prior) -> f64) -> Vec<f64> {
        let mut theta = vec![0.0; self.len];
        for (slot, prior) in self.priors(priors) {
            theta[slot] = value(&prior);
        }
        theta
    }

    /// The prior of every positive parameter with its slot: variances, lengthscales, noise.
    pub fn priors(&self, priors: &Priors) -> impl Iterator<Item = (usize, Prior)> {
        let variance = priors.variance_of(self.terms.len());
        let variances = self.terms.iter().map(move |term| (term.variance, variance));
        let lengthscales = self.leaves.iter().flat_map(move |leaf| {
            let prior = match leaf.kind {
                LeafKind::Cosine => priors.period,
                LeafKind::Choice => Priors::choice_of(leaf.inputs.len()),
                _ => priors.lengthscale_of(leaf.inputs.len()),
            };
            leaf.lengthscales.clone().map(move |slot| (slot, prior))
        });
        let noise = if self.misfit { priors.misfit } else { priors.noise };
        variances.chain(lengthscales).chain(self.noise.map(|slot| (slot, noise)))
    }
}

/// The correlation matrix of a coregionalised kernel: `B = C Cᵀ` with unit rows `C_l = (t_l, 1) / |(t_l, 1)|`.
#[derive(Debug, Clone)]
pub(crate) struct Correlation {
    pub size: usize,
    pub matrix: Vec<f64>,
    factor: Vec<f64>,
    norms: Vec<f64>,
}

impl Correlation {
    pub fn new(size: usize, free: &[f64]) -> Self {
        let (mut factor, mut norms) = (vec![0.0; size * size], vec![1.0; size]);
        let mut next = 0;
        for l in 0..size {
            let row = &mut factor[l * size..(l + 1) * size];
            for t in &mut row[..l] {
                *t = free[next];
                next += 1;
            }
            row[l] = 1.0;
            norms[l] = row.iter().map(|c| c * c).sum::<f64>().sqrt();
            row.iter_mut().for_each(|c| *c /= norms[l]);
        }
        let mut matrix = vec![0.0; size * size];
        for a in 0..size {
            for b in 0..size {
                matrix[a * size + b] = (0..size).map(|k| factor[a * size + k] * factor[b * size + k]).sum();
            }
        }
        Self { size, matrix, factor, norms }
    }

    /// Turns independent rows, one for every component, into rows with this correlation.
    pub fn mix(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let d = self.size;
        let mixed = |l: usize| {
            let entry = |at: usize| (0..=l).map(|k| self.factor[l * d + k] * rows[k][at]).sum();
            (0..rows[l].len()).map(entry).collect()
        };
        (0..d).map(mixed).collect()
    }

    pub fn get(&self, a: usize, b: usize) -> f64 {
        self.matrix[a * self.size + b]
    }

    /// Turns the derivative by the entries of `B` (full matrix, symmetric use) into the one by the free entries.
    pub fn backward(&self, by_matrix: &[f64], by_free: &mut [f64]) {
        let d = self.size;
        let mut next = 0;
        for l in 0..d {
            // By the unit row c_l, then through the normalisation: (I - c cᵀ) / norm.
            let by_row: Vec<f64> = (0..d)
                .map(|k| {
                    (0..d)
                        .map(|b| (by_matrix[l * d + b] + by_matrix[b * d + l]) * self.factor[b * d + k])
                        .sum()
                })
                .collect();
            let row = &self.factor[l * d..(l + 1) * d];
            let along: f64 = by_row.iter().zip(row).map(|(g, c)| g * c).sum();
            for k in 0..l {
                by_free[next] = (by_row[k] - along * row[k]) / self.norms[l];
                next += 1;
            }
        }
    }
}
