//! The noise of a rollout.

use crate::Noise;
use crate::network::plan::{Plan, Step};
use crate::quasi::sobol;

/// Realisations of the noise of every noisy node, shared by all candidates (common random numbers).
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseSamples {
    /// `[noise row][sample]`, in the user's units.
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) count: usize,
}

impl NoiseSamples {
    /// Quasi-random realisations; one empty sample where the plan has no noise that matters.
    pub fn new(plan: &Plan, count: usize, seed: u64) -> Self {
        if !plan.is_noisy() {
            return Self::silent(plan);
        }
        let rows = plan
            .noise_kinds
            .iter()
            .enumerate()
            .map(|(row, kind)| {
                let value = |sample: usize| kind.quantile(sobol(sample as u32, row as u32, seed));
                (0..count).map(value).collect()
            })
            .collect();
        Self { rows, count }
    }

    /// Quasi-random realisations in pairs that lie opposite one another, normal ones scaled to the deviation that they should have:
    /// over them whatever is linear in one noise, or a square of it, has its very expectation. An expectation whose bounds say what is
    /// not known of the mechanisms must not be off by what a few realisations happen to be.
    pub(crate) fn balanced(plan: &Plan, count: usize, seed: u64) -> Self {
        let mut samples = Self::new(plan, count, seed);
        for (row, (kind, values)) in plan.noise_kinds.iter().zip(&mut samples.rows).enumerate() {
            for (pair, values) in values.chunks_exact_mut(2).enumerate() {
                let u = sobol(pair as u32, row as u32, seed);
                (values[0], values[1]) = (kind.quantile(u), kind.quantile(1.0 - u));
            }
            let square = values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
            if matches!(kind, Noise::Gaussian(_)) && samples.count > 1 && square > 0.0 {
                let scale = kind.deviation() / square.sqrt();
                values.iter_mut().for_each(|value| *value *= scale);
            }
        }
        samples
    }

    /// One of them alone.
    pub(crate) fn only(&self, sample: usize) -> Self {
        Self { rows: self.rows.iter().map(|row| vec![row[sample]]).collect(), count: 1 }
    }

    /// The noise of a step's component in every sample, if it is realised for the step's children.
    pub(crate) fn of(&self, step: &Step, component: usize) -> Option<&[f64]> {
        (step.noisy && (self.count > 1 || step.varies))
            .then(|| self.rows[step.noise_row + component].as_slice())
    }

    /// One sample in which nothing is noisy.
    pub(crate) fn silent(plan: &Plan) -> Self {
        Self { rows: plan.noise_kinds.iter().map(|_| vec![0.0]).collect(), count: 1 }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.count
    }
}
