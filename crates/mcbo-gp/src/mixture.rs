//! A set of Gaussian processes with weights: hyper-parameters marginalised instead of chosen.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::fit::{FitOptions, fit_map, slice_moves};
use crate::{Gp, GpError, GpSpec, Kernel, Likelihood, Prediction, Rows, Scratch};

/// The hyper-parameters of one member of a set, as they are kept from one round to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its covariance function.
    pub kernel: Kernel,
    /// Its parameter vector.
    pub theta: Vec<f64>,
    /// Its weight; the weights of a set sum to 1.
    pub weight: f64,
}

/// How hyper-parameters are treated.
#[derive(Debug, Clone, PartialEq)]
pub enum Inference {
    /// One process at the maximum a posteriori: the set of one.
    Map(FitOptions),
    /// Samples of the posterior of the hyper-parameters, kept alive across rounds.
    Samples {
        /// How many.
        count: usize,
        /// Slice moves of each sample per round.
        moves: usize,
        /// Slice moves of each sample when there is no earlier round.
        burn_in: usize,
        /// Kernels a sample may switch to beside the one of the specification; they must have
        /// the same parameters.
        alternatives: Vec<Kernel>,
    },
}

impl Default for Inference {
    fn default() -> Self {
        Inference::Map(FitOptions::default())
    }
}

/// Rows that hyper-parameters are fitted to at the most: the cost grows with their cube.
const ROWS_FOR_FITTING: usize = 200;

/// Rows there may be at the most: memory grows with their square, time with their cube.
const MOST_ROWS: usize = 10_000;

/// Rows that samples find their first place on; the moves of this and later rounds, on more rows, take them on from there.
const ROWS_FOR_STARTING: usize = 100;

/// A weighted set of Gaussian processes over the same rows.
///
/// Its posterior has the mixture's mean `Σ w_k μ_k` and total variance `Σ w_k (σ_k² + (μ_k - μ)²)`.
#[derive(Debug, Clone)]
pub struct GpSet {
    members: Vec<(f64, Gp)>,
}

impl GpSet {
    /// Fits the set to the rows, beginning from the members of an earlier round if there are any.
    ///
    /// # Errors
    /// If no covariance is positive definite even with the largest jitter, or there are more than 10,000 rows.
    pub fn fit(
        spec: &GpSpec,
        rows: &Rows,
        earlier: &[Member],
        inference: &Inference,
        rng: &mut dyn Rng,
    ) -> Result<Self, GpError> {
        if rows.len() > MOST_ROWS {
            return Err(GpError::TooManyRows { rows: rows.len(), most: MOST_ROWS });
        }
        // Hyper-parameters of many rows are found on some of them; the posterior always sees all.
        let some = rows.thinned(ROWS_FOR_FITTING);
        let (all, rows) = (rows, some.as_ref().unwrap_or(rows));
        let members = match inference {
            Inference::Map(options) => {
                let warm = earlier.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
                let warm =
                    warm.filter(|member| member.kernel == spec.kernel).map(|member| member.theta.as_slice());
                // A fit that begins where the last one ended rarely needs other starts: they run in every fourth round.
                let fresh = warm.is_none() || all.len().is_multiple_of(4);
                let options = FitOptions { starts: if fresh { options.starts } else { 0 }, ..*options };
                let fit = fit_map(spec, rows, warm, options, rng)?;
                vec![Member { kernel: spec.kernel.clone(), theta: fit.theta, weight: 1.0 }]
            }
            Inference::Samples { count, moves, burn_in, alternatives } => {
                // The more rows, the less the samples differ, and the more each costs.
                let count = match all.len() {
                    0..=200 => *count,
                    201..=250 => (*count).min(2),
                    _ => 1,
                };
                sample_members(spec, rows, earlier, count.max(1), *moves, *burn_in, alternatives, rng)?
            }
        };
        Self::condition(spec, all, &members)
    }

    /// Conditions given members on the rows.
    ///
    /// # Errors
    /// If a covariance is not positive definite even with the largest jitter.
    pub fn condition(spec: &GpSpec, rows: &Rows, members: &[Member]) -> Result<Self, GpError> {
        let build = |member: &Member| {
            let spec = GpSpec { kernel: member.kernel.clone(), ..spec.clone() };
            Ok((member.weight, Gp::condition(&spec, &member.theta, rows.clone())?))
        };
        Ok(Self { members: members.iter().map(build).collect::<Result<_, GpError>>()? })
    }

    /// The members' hyper-parameters, to begin the next round from.
    pub fn memory(&self) -> Vec<Member> {
        let keep = |(weight, gp): &(f64, Gp)| Member {
            kernel: gp.spec().kernel.clone(),
            theta: gp.theta().to_vec(),
            weight: *weight,
        };
        self.members.iter().map(keep).collect()
    }

    /// The members with their weights.
    pub fn members(&self) -> &[(f64, Gp)] {
        &self.members
    }

    /// Number of output components.
    pub fn components(&self) -> usize {
        self.members[0].1.spec().components
    }

    /// Number of inputs.
    pub fn dim(&self) -> usize {
        self.members[0].1.spec().dim
    }

    /// The noise variance, averaged over the members.
    pub fn noise_variance(&self) -> f64 {
        self.members.iter().map(|(w, gp)| w * gp.spec().noise_variance(gp.theta()).unwrap_or(0.0)).sum()
    }

    /// The largest jitter any member needed.
    pub fn jitter(&self) -> f64 {
        self.members.iter().fold(0.0, |largest, (_, gp)| largest.max(gp.jitter()))
    }

    /// Adds a row to every member in O(n²), hyper-parameters unchanged.
    ///
    /// # Errors
    /// If a number is not finite or a length is wrong; the set is as it was then.
    pub fn append(
        &mut self,
        input: &[f64],
        output: f64,
        component: usize,
        noise: f64,
    ) -> Result<(), GpError> {
        self.members.iter_mut().try_for_each(|(_, gp)| gp.append(input, output, component, noise))
    }

    /// The mixture's mean and total variance at a batch of inputs, with Jacobians if wanted; the layout is that of
    /// [`Gp::predict`].
    pub fn predict(
        &self,
        inputs: &[f64],
        columns: usize,
        jacobian: bool,
        scratch: &mut Scratch,
        out: &mut Prediction,
    ) {
        if let [(_, only)] = self.members.as_slice() {
            return only.predict(inputs, columns, jacobian, scratch, out);
        }
        let mut parts = std::mem::take(&mut scratch.members);
        parts.resize_with(self.members.len().max(parts.len()), Prediction::default);
        let (components, dim) = (self.components(), self.dim());
        out.prepare(components, dim, columns, jacobian);
        for ((weight, gp), part) in self.members.iter().zip(&mut parts) {
            gp.predict(inputs, columns, jacobian, scratch, part);
            for (total, mean) in out.mean.iter_mut().zip(&part.mean) {
                *total += weight * mean;
            }
            for (total, slope) in out.mean_jacobian.iter_mut().zip(&part.mean_jacobian) {
                *total += weight * slope;
            }
        }
        for ((weight, _), part) in self.members.iter().zip(&parts) {
            for at in 0..components * columns {
                let apart = part.mean[at] - out.mean[at];
                out.variance[at] += weight * (part.variance[at] + apart * apart);
            }
            if jacobian {
                for at in 0..components * dim * columns {
                    // Σ w_k (μ_k - μ) = 0, so the slope of μ itself drops out.
                    let column = at / (dim * columns) * columns + at % columns;
                    let apart = part.mean[column] - out.mean[column];
                    out.variance_jacobian[at] +=
                        weight * (part.variance_jacobian[at] + 2.0 * apart * part.mean_jacobian[at]);
                }
            }
        }
        scratch.members = parts;
    }
}

#[expect(clippy::too_many_arguments, reason = "the fields of one variant of Inference")]
fn sample_members(
    spec: &GpSpec,
    rows: &Rows,
    earlier: &[Member],
    count: usize,
    moves: usize,
    burn_in: usize,
    alternatives: &[Kernel],
    rng: &mut dyn Rng,
) -> Result<Vec<Member>, GpError> {
    let with = |kernel: &Kernel| GpSpec { kernel: kernel.clone(), ..spec.clone() };
    let kernels: Vec<&Kernel> =
        std::iter::once(&spec.kernel).chain(alternatives.iter().filter(|k| **k != spec.kernel)).collect();
    let fits = |member: &&Member| {
        kernels.contains(&&member.kernel) && member.theta.len() == with(&member.kernel).parameters()
    };
    let known: Vec<&Member> = earlier.iter().filter(fits).collect();
    let mut starts: Vec<(Kernel, Vec<f64>)> = Vec::new();
    let moves = if known.is_empty() {
        let few = rows.thinned(ROWS_FOR_STARTING);
        let few = few.as_ref().unwrap_or(rows);
        let fits = kernels
            .iter()
            .map(|kernel| {
                let fit = fit_map(&with(kernel), few, None, FitOptions::default(), rng)?;
                Ok(((*kernel).clone(), fit.theta))
            })
            .collect::<Result<Vec<_>, GpError>>()?;
        starts.extend((0..count).map(|i| fits[i % fits.len()].clone()));
        if few.len() < rows.len() {
            for (kernel, theta) in &mut starts {
                slice_moves(&with(kernel), few, theta, burn_in, rng)?;
            }
            moves
        } else {
            burn_in
        }
    } else {
        starts.extend((0..count).map(|i| {
            let member = known[i % known.len()];
            (member.kernel.clone(), member.theta.clone())
        }));
        moves
    };
    if rows.is_empty() {
        let weight = 1.0 / count as f64;
        return Ok(starts.into_iter().map(|(kernel, theta)| Member { kernel, theta, weight }).collect());
    }
    let mut members = Vec::with_capacity(count);
    for (mut kernel, mut theta) in starts {
        let density = slice_moves(&with(&kernel), rows, &mut theta, moves, rng)?;
        if kernels.len() > 1 {
            // A Metropolis step to another kernel with the same parameters.
            let others: Vec<&&Kernel> = kernels.iter().filter(|other| ***other != kernel).collect();
            let other = others[rng.random_range(0..others.len())];
            let spec = with(other);
            let accept = (1.0 - rng.random::<f64>()).ln();
            if let Ok(value) = Likelihood::new(&spec, rows).log_density_of_logs(&theta)
                && accept < value - density
            {
                kernel = (*other).clone();
            }
        }
        members.push(Member { kernel, theta, weight: 1.0 / count as f64 });
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{Mean, Noise, Priors};

    #[test]
    fn more_rows_than_memory_can_hold_are_refused() {
        let mut rows = Rows::new(1);
        for row in 0..=MOST_ROWS {
            rows.push_full(&[row as f64], 0.0, 0, 0.1).unwrap();
        }
        let spec = GpSpec {
            kernel: Kernel::default(),
            dim: 1,
            components: 1,
            noise: Noise::Learned,
            mean: Mean::Profiled,
            priors: Priors::reference(),
        };
        let fit = GpSet::fit(&spec, &rows, &[], &Inference::default(), &mut ChaCha8Rng::seed_from_u64(1));
        let Err(error) = fit else { panic!("{} rows were taken", rows.len()) };
        assert_eq!(error, GpError::TooManyRows { rows: MOST_ROWS + 1, most: MOST_ROWS });
    }
}
