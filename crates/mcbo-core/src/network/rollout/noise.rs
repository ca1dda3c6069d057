//! The noise of a rollout.

use crate::Noise;
use crate::network::plan::{Plan, Step};
use crate::quasi::sobol;

use super::named::Naming;

/// Realisations of the noise of every noisy node, shared by all candidates (common random numbers).
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseSamples {
    /// `[noise row][sample]`, in the user's units.
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) count: usize,
    pub(super) naming: Naming,
}

/// All combinations of names that have causes are gone through while they are at most so many; further names by chance.
const COMBINATIONS: usize = 36;
/// With every combination so many realisations of the rest, if as many are asked for.
const REST: usize = 8;

impl NoiseSamples {
    /// Quasi-random realisations; one empty sample where the plan has no noise that matters. Where names have causes, each comes with
    /// all of them, and there may be more than are asked for.
    pub fn new(plan: &Plan, count: usize, seed: u64) -> Self {
        Self::realised(plan, plan.realisations(count), seed).with_names(plan, seed)
    }

    /// The same with names that are drawn.
    pub(crate) fn drawn(plan: &Plan, count: usize, seed: u64) -> Self {
        Self { naming: Naming::Drawn, ..Self::realised(plan, count, seed) }
    }

    fn realised(plan: &Plan, count: usize, seed: u64) -> Self {
        if !plan.is_noisy() {
            return Self::none(plan);
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
        Self { rows, count, naming: Naming::Weighed }
    }

    /// Quasi-random realisations in pairs that lie opposite one another, normal ones scaled to the deviation that they should have:
    /// over them whatever is linear in one noise, or a square of it, has its very expectation. An expectation whose bounds say what is
    /// not known of the mechanisms must not be off by what a few realisations happen to be.
    pub(crate) fn balanced(plan: &Plan, count: usize, seed: u64) -> Self {
        let mut samples = Self::realised(plan, plan.realisations(count), seed);
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
        samples.with_names(plan, seed)
    }

    /// Every realisation with every combination of the names that have causes.
    fn with_names(self, plan: &Plan, seed: u64) -> Self {
        let (enumerated, combinations) = plan.combinations();
        if combinations == 1 {
            return self;
        }
        let count = self.count * combinations;
        let spread = |row: &Vec<f64>| (0..count).map(|sample| row[sample / combinations]).collect();
        let mut rows: Vec<Vec<f64>> = self.rows.iter().map(spread).collect();
        let mut every = 1;
        for step in plan.steps.iter().filter(|step| step.names.is_some()) {
            let (row, names) = (step.noise_row, step.names.unwrap_or(1));
            let name = |sample: usize| (sample / every % names) as f64 + 0.5;
            rows[row] = match enumerated.contains(&row) {
                true => (0..count).map(|sample| name(sample) / names as f64).collect(),
                false => (0..count).map(|sample| sobol(sample as u32, row as u32, seed)).collect(),
            };
            every *= if enumerated.contains(&row) { names } else { 1 };
        }
        Self { rows, count, ..self }
    }

    /// One of them alone.
    pub(crate) fn only(&self, sample: usize) -> Self {
        Self { rows: self.rows.iter().map(|row| vec![row[sample]]).collect(), count: 1, naming: self.naming }
    }

    /// The noise of a step's component in every sample, if it is realised for the step's children.
    pub(crate) fn of(&self, step: &Step, component: usize) -> Option<&[f64]> {
        (step.noisy && (self.count > 1 || step.varies))
            .then(|| self.rows[step.noise_row + component].as_slice())
    }

    /// One sample in which nothing is noisy, with every combination of the names that have causes.
    pub(crate) fn silent(plan: &Plan) -> Self {
        Self::none(plan).with_names(plan, 0)
    }

    fn none(plan: &Plan) -> Self {
        let rows = plan.noise_kinds.iter().map(|_| vec![0.0]).collect();
        Self { rows, count: 1, naming: Naming::Weighed }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Plan {
    /// The noise rows of the names that are gone through in all combinations, and how many these are.
    fn combinations(&self) -> (Vec<usize>, usize) {
        let (mut rows, mut combinations) = (Vec::new(), 1);
        for step in &self.steps {
            if let Some(names) = step.names.filter(|names| combinations * names <= COMBINATIONS) {
                rows.push(step.noise_row);
                combinations *= names;
            }
        }
        (rows, combinations)
    }

    /// How many realisations of the rest it takes for so many samples.
    fn realisations(&self, count: usize) -> usize {
        match self.combinations().1 {
            1 => count,
            combinations => count.div_ceil(combinations).max(count.min(REST)),
        }
    }
}
