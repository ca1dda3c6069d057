//! How the optimistic model chooses inside the confidence band: parameterisations of `η` (Eq. reparametrization).

use std::ops::Range;

/// The family of functions `η_i(z, a)` that the acquisition maximises over, one per learned node and component.
///
/// The reward's own `η` is not part of it: the best value there is always +1 (-1 when minimising).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optimism {
    /// One number in [-1, 1] per component. Exact without noise, where the inputs of `η` are fixed by
    /// the action; with noise the best constant, found as good as the network in trials and far cheaper.
    #[default]
    Constant,
    /// `tanh(w·x + b)` of the node's scaled inputs.
    Affine,
    /// The paper's two-layer network with ReLU units, squashed into [-1, 1].
    Network {
        /// Number of hidden units.
        hidden: usize,
    },
    /// One number in [-1, 1] per component and noise sample, as if `η` could see the noise: what no function of the
    /// node's inputs can surpass. It belongs to fixed samples, so it is good for bounds and for nothing else.
    Clairvoyant {
        /// Number of noise samples.
        samples: usize,
    },
}

/// The node's scaled inputs for a batch: input `k` of column `s` at `k * columns + s`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub values: &'a [f64],
    pub dim: usize,
    pub columns: usize,
}

impl Inputs<'_> {
    fn at(&self, k: usize, s: usize) -> f64 {
        self.values[k * self.columns + s]
    }
}

impl Optimism {
    /// Number of parameters for a node with `dim` inputs and `components` outputs.
    pub fn parameters(self, dim: usize, components: usize) -> usize {
        match self {
            Optimism::Constant => components,
            Optimism::Affine => components * (dim + 1),
            Optimism::Network { hidden } => hidden * (dim + 1) + components * (hidden + 1),
            Optimism::Clairvoyant { samples } => components * samples,
        }
    }

    /// The box of every parameter.
    pub fn bound(self) -> f64 {
        match self {
            Optimism::Constant | Optimism::Clairvoyant { .. } => 1.0,
            Optimism::Affine | Optimism::Network { .. } => 4.0,
        }
    }

    /// Writes `η` of component `c` and column `s` to `eta[c * columns + s]` for the columns of one candidate, its `own`.
    pub(crate) fn forward(
        self,
        parameters: &[f64],
        inputs: Inputs<'_>,
        own: Range<usize>,
        components: usize,
        eta: &mut [f64],
    ) {
        let columns = inputs.columns;
        match self {
            Optimism::Constant => {
                for c in 0..components {
                    eta[c * columns..][own.clone()].fill(parameters[c]);
                }
            }
            Optimism::Clairvoyant { samples } => {
                for c in 0..components {
                    let values = &parameters[c * samples..][..own.len()];
                    eta[c * columns..][own.clone()].copy_from_slice(values);
                }
            }
            Optimism::Affine => {
                for c in 0..components {
                    let w = &parameters[c * (inputs.dim + 1)..(c + 1) * (inputs.dim + 1)];
                    for s in own.clone() {
                        let sum: f64 = (0..inputs.dim).map(|k| w[k] * inputs.at(k, s)).sum();
                        eta[c * columns + s] = (sum + w[inputs.dim]).tanh();
                    }
                }
            }
            Optimism::Network { hidden } => {
                let mut units = vec![0.0; hidden];
                for s in own {
                    let outer = hidden_units(parameters, inputs, s, &mut units);
                    for c in 0..components {
                        let w = &outer[c * (hidden + 1)..(c + 1) * (hidden + 1)];
                        let sum: f64 = units.iter().zip(w).map(|(u, w)| u.max(0.0) * w).sum();
                        eta[c * columns + s] = (sum + w[hidden]).tanh();
                    }
                }
            }
        }
    }

    /// Turns derivatives by `η` into derivatives by the parameters and the inputs, both added to.
    #[expect(clippy::too_many_arguments, reason = "the mirror of forward, with its results")]
    pub(crate) fn backward(
        self,
        parameters: &[f64],
        inputs: Inputs<'_>,
        own: Range<usize>,
        components: usize,
        eta: &[f64],
        by_eta: &[f64],
        by_parameters: &mut [f64],
        by_inputs: &mut [f64],
    ) {
        let columns = inputs.columns;
        match self {
            Optimism::Constant => {
                for c in 0..components {
                    by_parameters[c] += by_eta[c * columns..][own.clone()].iter().sum::<f64>();
                }
            }
            Optimism::Clairvoyant { samples } => {
                for c in 0..components {
                    let totals = &mut by_parameters[c * samples..][..own.len()];
                    let by = &by_eta[c * columns..][own.clone()];
                    totals.iter_mut().zip(by).for_each(|(total, by)| *total += by);
                }
            }
            Optimism::Affine => {
                let width = inputs.dim + 1;
                for c in 0..components {
                    for s in own.clone() {
                        let e = eta[c * columns + s];
                        let g = by_eta[c * columns + s] * (1.0 - e * e);
                        for k in 0..inputs.dim {
                            by_parameters[c * width + k] += g * inputs.at(k, s);
                            by_inputs[k * columns + s] += g * parameters[c * width + k];
                        }
                        by_parameters[c * width + inputs.dim] += g;
                    }
                }
            }
            Optimism::Network { hidden } => {
                let (dim, first) = (inputs.dim, hidden * (inputs.dim + 1));
                let (mut units, mut by_units) = (vec![0.0; hidden], vec![0.0; hidden]);
                for s in own {
                    let outer = hidden_units(parameters, inputs, s, &mut units);
                    by_units.fill(0.0);
                    for c in 0..components {
                        let e = eta[c * columns + s];
                        let g = by_eta[c * columns + s] * (1.0 - e * e);
                        for h in 0..hidden {
                            by_parameters[first + c * (hidden + 1) + h] += g * units[h].max(0.0);
                            by_units[h] += g * outer[c * (hidden + 1) + h];
                        }
                        by_parameters[first + c * (hidden + 1) + hidden] += g;
                    }
                    for h in (0..hidden).filter(|&h| units[h] > 0.0) {
                        for k in 0..dim {
                            by_parameters[h * (dim + 1) + k] += by_units[h] * inputs.at(k, s);
                            by_inputs[k * columns + s] += by_units[h] * parameters[h * (dim + 1) + k];
                        }
                        by_parameters[h * (dim + 1) + dim] += by_units[h];
                    }
                }
            }
        }
    }
}

/// Pre-activations of the hidden layer; returns the parameters of the outer layer.
fn hidden_units<'a>(parameters: &'a [f64], inputs: Inputs<'_>, s: usize, units: &mut [f64]) -> &'a [f64] {
    let width = inputs.dim + 1;
    for (h, unit) in units.iter_mut().enumerate() {
        let w = &parameters[h * width..(h + 1) * width];
        *unit = (0..inputs.dim).map(|k| w[k] * inputs.at(k, s)).sum::<f64>() + w[inputs.dim];
    }
    &parameters[units.len() * width..]
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const FAMILIES: [Optimism; 4] = [
        Optimism::Constant,
        Optimism::Affine,
        Optimism::Network { hidden: 3 },
        Optimism::Clairvoyant { samples: 3 },
    ];
    /// Two inputs, two components, and columns of two candidates with three each.
    const DIM: usize = 2;
    const COMPONENTS: usize = 2;
    const COLUMNS: usize = 6;
    const OWN: Range<usize> = 3..6;

    fn eta(family: Optimism, parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
        let mut eta = vec![f64::NAN; COMPONENTS * COLUMNS];
        let inputs = Inputs { values: inputs, dim: DIM, columns: COLUMNS };
        family.forward(parameters, inputs, OWN, COMPONENTS, &mut eta);
        eta
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        for (seed, family) in (1..).zip(FAMILIES) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut numbers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| rng.random_range(-1.0..1.0)).collect() };
            let parameters = numbers(family.parameters(DIM, COMPONENTS));
            let (inputs, by_eta) = (numbers(DIM * COLUMNS), numbers(COMPONENTS * COLUMNS));
            // What is differentiated: the sum of the candidate's own η, weighted.
            let total = |parameters: &[f64], inputs: &[f64]| -> f64 {
                let eta = eta(family, parameters, inputs);
                let own = (0..COMPONENTS).flat_map(|c| OWN.map(move |s| c * COLUMNS + s));
                own.map(|at| by_eta[at] * eta[at]).sum()
            };
            let at = eta(family, &parameters, &inputs);
            let (mut by_parameters, mut by_inputs) = (vec![0.0; parameters.len()], vec![0.0; inputs.len()]);
            let read = Inputs { values: &inputs, dim: DIM, columns: COLUMNS };
            family.backward(
                &parameters,
                read,
                OWN,
                COMPONENTS,
                &at,
                &by_eta,
                &mut by_parameters,
                &mut by_inputs,
            );
            let step = 1e-6;
            let moved = |numbers: &[f64], k: usize, by: f64| {
                let mut moved = numbers.to_vec();
                moved[k] += by;
                moved
            };
            for (k, found) in by_parameters.iter().enumerate() {
                let up = total(&moved(&parameters, k, step), &inputs);
                let down = total(&moved(&parameters, k, -step), &inputs);
                let numeric = (up - down) / (2.0 * step);
                assert!((found - numeric).abs() < 1e-7, "{family:?}, parameter {k}: {found} {numeric}");
            }
            for (k, found) in by_inputs.iter().enumerate() {
                let up = total(&parameters, &moved(&inputs, k, step));
                let down = total(&parameters, &moved(&inputs, k, -step));
                let numeric = (up - down) / (2.0 * step);
                assert!((found - numeric).abs() < 1e-7, "{family:?}, input {k}: {found} {numeric}");
            }
        }
    }

    #[test]
    fn luck_stays_within_the_band_and_among_the_own_columns() {
        for family in FAMILIES {
            // As far as the box of the parameters goes.
            let parameters = vec![family.bound(); family.parameters(DIM, COMPONENTS)];
            let eta = eta(family, &parameters, &[1.0; DIM * COLUMNS]);
            for (at, eta) in eta.iter().enumerate() {
                match OWN.contains(&(at % COLUMNS)) {
                    true => assert!((0.9..=1.0).contains(eta), "{family:?}: {eta}"),
                    false => assert!(eta.is_nan(), "{family:?} wrote column {at} of another candidate"),
                }
            }
        }
    }

    /// `tanh(w·x + b)`, and one hidden unit that is switched off on one side.
    #[test]
    fn values_are_those_of_the_formulas() {
        let inputs: Vec<f64> = [0.3; COLUMNS].into_iter().chain([-0.7; COLUMNS]).collect();
        let affine = eta(Optimism::Affine, &[0.5, 2.0, 0.1, -1.0, 0.0, 0.4], &inputs);
        assert!((affine[3] - (0.5 * 0.3 - 2.0 * 0.7 + 0.1_f64).tanh()).abs() < 1e-15);
        assert!((affine[COLUMNS + 5] - (-0.3 + 0.4_f64).tanh()).abs() < 1e-15);
        let one = Optimism::Network { hidden: 1 };
        let on = eta(one, &[1.0, 0.0, 0.2, 3.0, -0.5, 0.0, 0.25], &inputs);
        assert!((on[3] - (3.0 * 0.5 - 0.5_f64).tanh()).abs() < 1e-15);
        assert!((on[COLUMNS + 3] - 0.25_f64.tanh()).abs() < 1e-15);
        let off = eta(one, &[-1.0, 0.0, 0.2, 3.0, -0.5, 0.0, 0.25], &inputs);
        assert!((off[3] - (-0.5_f64).tanh()).abs() < 1e-15);
    }
}
