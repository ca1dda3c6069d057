//! A set of Gaussian processes with weights: hyper-parameters marginalised instead of chosen.

use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::evidence::{Climb, FreshStarts};
use crate::fit::{FitOptions, fit_map, slice_moves};
use crate::{Gp, GpError, GpSpec, Kernel, Laplace, Likelihood, Prediction, Rows, Scratch};

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
    /// Forms weighed by their evidence, and samples of the posterior of the hyper-parameters of each.
    Samples(Sampling),
}

/// How samples of hyper-parameters are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// How many, over all forms.
    pub count: usize,
    /// Slice moves of each sample per round.
    pub moves: usize,
    /// Slice moves of each sample after forms were weighed.
    pub burn_in: usize,
}

impl Default for Inference {
    fn default() -> Self {
        Inference::Map(FitOptions::default())
    }
}

/// A form that a mechanism may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Its covariance function.
    pub kernel: Kernel,
    /// How plausible it is before any row, relative to the others.
    pub prior: f64,
}

/// The forms of a set as they were last weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weighing {
    /// How many rows there were.
    pub rows: usize,
    /// How many there were when all forms took part, those that had no chance before among them.
    pub complete: usize,
    /// The forms that have a chance with their posterior probabilities, most probable first.
    pub forms: Vec<(Kernel, f64)>,
    /// The most probable parameters of each of them, where the next climb begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Vec<f64>>,
}

impl Weighing {
    /// Whether so many rows are enough more, or other, than those that forms were weighed on.
    fn is_stale(&self, rows: usize) -> bool {
        rows < self.rows || rows as f64 >= (GROWTH * self.rows as f64).max(self.rows as f64 + 0.5)
    }

    /// The most probable parameters of a form when it was last weighed.
    fn mode(&self, kernel: &Kernel) -> Option<&[f64]> {
        let place = self.forms.iter().position(|(known, _)| known == kernel)?;
        self.modes.get(place).map(Vec::as_slice)
    }

    /// Whether a form takes part again: evidence grows with the rows, so one that had no chance gets one only now and then.
    fn has_chance(&self, kernel: &Kernel, rows: usize) -> bool {
        rows >= 2 * self.complete || rows < self.rows || self.forms.iter().any(|(known, _)| known == kernel)
    }
}

/// What a set remembers from one round to the next.
#[derive(Debug, Clone, Copy, Default)]
pub struct Earlier<'a> {
    /// Its members.
    pub members: &'a [Member],
    /// How its forms were weighed; `None` has them weighed anew.
    pub weighing: Option<&'a Weighing>,
}

/// Forms are weighed again when the rows have grown by this factor.
const GROWTH: f64 = 1.05;

/// A row that is so many deviations from what is expected of it has all forms weighed anew.
const REFUTED: f64 = 4.0;

/// Below this probability a form has no chance.
const NO_CHANCE: f64 = 1e-5;

/// Probability of all forms together that a set may leave out.
const NEGLIGIBLE: f64 = 0.03;

/// Rows that hyper-parameters are fitted to at the most: the cost grows with their cube.
const ROWS_FOR_FITTING: usize = 200;

/// Rows that samples find their first place on; the moves of this and later rounds, on more rows, take them on from there.
const ROWS_FOR_STARTING: usize = 150;

/// Draws of hyper-parameters whose log density is this far below that of the mode are no draws from the posterior.
const FAR_BELOW: f64 = 12.0;

/// With fewer rows than this the posterior of hyper-parameters has several modes and is not normal, and the likelihood is cheap.
const FEW_ROWS: usize = 40;

/// A weighted set of Gaussian processes over the same rows.
///
/// Its posterior has the mixture's mean `Σ w_k μ_k` and total variance `Σ w_k (σ_k² + (μ_k - μ)²)`.
#[derive(Debug, Clone)]
pub struct GpSet {
    members: Vec<(f64, Gp)>,
    weighing: Option<Weighing>,
}

impl GpSet {
    /// Fits the set to the rows, beginning from an earlier round if there was one.
    ///
    /// Samples are of the given forms, or of the specification's kernel where none are given; the maximum a posteriori is
    /// always of the latter.
    ///
    /// # Errors
    /// If no covariance is positive definite even with the largest jitter.
    pub fn fit(
        spec: &GpSpec,
        forms: &[Form],
        rows: &Rows,
        earlier: Earlier<'_>,
        inference: &Inference,
        rng: &mut dyn Rng,
    ) -> Result<Self, GpError> {
        // Hyper-parameters of many rows are found on some of them; the posterior always sees all.
        let some = rows.thinned(ROWS_FOR_FITTING);
        let (all, rows) = (rows, some.as_ref().unwrap_or(rows));
        let (members, weighing) = match inference {
            Inference::Map(options) => {
                let warm = earlier.members.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
                let warm =
                    warm.filter(|member| member.kernel == spec.kernel).map(|member| member.theta.as_slice());
                // A fit that begins where the last one ended rarely needs other starts: they run in every fourth round.
                let fresh = warm.is_none() || all.len().is_multiple_of(4);
                let options = FitOptions { starts: if fresh { options.starts } else { 0 }, ..*options };
                let fit = fit_map(spec, rows, warm, options, rng)?;
                (vec![Member { kernel: spec.kernel.clone(), theta: fit.theta, weight: 1.0 }], None)
            }
            Inference::Samples(sampling) => {
                // The more rows, the less the samples differ, and the more each costs.
                let count = match all.len() {
                    0..=200 => sampling.count.max(1),
                    201..=250 => sampling.count.clamp(1, 2),
                    _ => 1,
                };
                let own = [Form { kernel: spec.kernel.clone(), prior: 1.0 }];
                let forms = if forms.is_empty() { &own } else { forms };
                sample_members(spec, forms, rows, all, earlier, count, sampling, rng)?
            }
        };
        Ok(Self { weighing, ..Self::condition(spec, all, &members)? })
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
        Ok(Self { members: members.iter().map(build).collect::<Result<_, GpError>>()?, weighing: None })
    }

    /// The same with forms that were weighed so.
    #[must_use]
    pub fn weighed(self, weighing: Option<Weighing>) -> Self {
        Self { weighing, ..self }
    }

    #[cfg(test)]
    pub(crate) fn of_one(gp: Gp) -> Self {
        Self { members: vec![(1.0, gp)], weighing: None }
    }

    /// How the forms of its members were last weighed.
    pub fn weighing(&self) -> Option<&Weighing> {
        self.weighing.as_ref()
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

    /// The set with every process put in the place of another, weights as they are.
    pub(crate) fn mapped(&self, process: impl Fn(&Gp) -> Gp) -> Self {
        let member = |(weight, gp): &(f64, Gp)| (*weight, process(gp));
        Self { members: self.members.iter().map(member).collect(), weighing: self.weighing.clone() }
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

    /// The posterior of one member at every column: `of[s]` is its place among [`Self::members`]. The layout is that of [`Gp::predict`].
    /// Columns of one member that are the same as the one before them are predicted once.
    pub fn predict_by(
        &self,
        of: &[usize],
        inputs: &[f64],
        jacobian: bool,
        scratch: &mut Scratch,
        out: &mut Prediction,
    ) {
        let (columns, components, dim) = (of.len(), self.components(), self.dim());
        out.prepare(components, dim, columns, jacobian);
        let mut own = std::mem::take(&mut scratch.own);
        let input = |k: usize, s: usize| inputs[k * columns + s];
        for (member, (_, gp)) in self.members.iter().enumerate() {
            let Own { firsts, places, inputs, part } = &mut own;
            firsts.clear();
            places.clear();
            for s in (0..columns).filter(|&s| of[s] == member) {
                let repeats = |&first: &usize| (0..dim).all(|k| input(k, s) == input(k, first));
                if !firsts.last().is_some_and(repeats) {
                    firsts.push(s);
                }
                places.push((s, firsts.len() - 1));
            }
            if firsts.is_empty() {
                continue;
            }
            inputs.clear();
            inputs.extend((0..dim).flat_map(|k| firsts.iter().map(move |&s| input(k, s))));
            gp.predict(inputs, firsts.len(), jacobian, scratch, part);
            for (from, to) in [
                (&part.mean, &mut out.mean),
                (&part.variance, &mut out.variance),
                (&part.mean_jacobian, &mut out.mean_jacobian),
                (&part.variance_jacobian, &mut out.variance_jacobian),
            ] {
                for (from, to) in from.chunks_exact(firsts.len()).zip(to.chunks_exact_mut(columns)) {
                    places.iter().for_each(|&(s, place)| to[s] = from[place]);
                }
            }
        }
        scratch.own = own;
    }
}

/// Memory for the columns of one member.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// Columns that are not the same as the one before.
    firsts: Vec<usize>,
    /// Every column with its place among those.
    places: Vec<(usize, usize)>,
    inputs: Vec<f64>,
    part: Prediction,
}

fn with_kernel(spec: &GpSpec, kernel: &Kernel) -> GpSpec {
    GpSpec { kernel: kernel.clone(), ..spec.clone() }
}

/// Members with their forms weighed anew where that is due, else moved on from where they were.
#[expect(clippy::too_many_arguments, reason = "what GpSet::fit is given, and what it found")]
fn sample_members(
    spec: &GpSpec,
    forms: &[Form],
    rows: &Rows,
    all: &Rows,
    earlier: Earlier<'_>,
    count: usize,
    sampling: &Sampling,
    rng: &mut dyn Rng,
) -> Result<(Vec<Member>, Option<Weighing>), GpError> {
    let all_rows = all.len();
    let fits = |member: &Member| {
        forms.iter().any(|form| form.kernel == member.kernel)
            && member.theta.len() == with_kernel(spec, &member.kernel).parameters()
    };
    let usable = !earlier.members.is_empty() && earlier.members.iter().all(fits);
    let surprised = usable
        && earlier.weighing.is_some_and(|weighing| {
            !weighing.is_stale(all.len()) && is_refuted(spec, earlier.members, all, weighing.rows)
        });
    let earlier = if surprised { Earlier::default() } else { earlier };
    match earlier.weighing.filter(|weighing| usable && !weighing.is_stale(all_rows)) {
        Some(weighing) => {
            let mut members = earlier.members.to_vec();
            if members.len() > count {
                members.sort_by(|a, b| b.weight.total_cmp(&a.weight));
                members.truncate(count);
            }
            for member in &mut members {
                let spec = with_kernel(spec, &member.kernel);
                slice_moves(&spec, rows, &mut member.theta, sampling.moves, rng)?;
            }
            Ok((normalised(members), Some(weighing.clone())))
        }
        None => {
            let few = rows.thinned(ROWS_FOR_STARTING);
            let few = few.as_ref().unwrap_or(rows);
            let warm = if usable { earlier } else { Earlier::default() };
            let chance = |form: &&Form| warm.weighing.is_none_or(|w| w.has_chance(&form.kernel, all_rows));
            let taking_part: Vec<&Form> = forms.iter().filter(chance).collect();
            let complete = match warm.weighing {
                Some(weighing) if taking_part.len() < forms.len() => weighing.complete,
                _ => all_rows,
            };
            let weighed = weigh(spec, &taking_part, few, warm, rng)?;
            let mut members = Vec::with_capacity(count);
            for (index, share, places) in share_out(&weighed, count) {
                let (form, laplace, _) = &weighed[index];
                let spec = with_kernel(spec, &form.kernel);
                for _ in 0..places {
                    let mut theta = laplace.draw(&spec, rng);
                    // Where the posterior is narrow and bent a normal draw can miss it by far: then the mode is the place to
                    // begin from.
                    let mut likelihood = Likelihood::new(&spec, rows);
                    let density = |theta: &[f64]| likelihood.log_density_of_logs(theta, &mut []);
                    let [drawn, mode] = [&theta, &laplace.mode].map(|at| at.as_slice()).map(density);
                    if mode.is_ok_and(|mode| drawn.map_or(true, |drawn| drawn < mode - FAR_BELOW)) {
                        theta.copy_from_slice(&laplace.mode);
                    }
                    slice_moves(&spec, rows, &mut theta, sampling.burn_in, rng)?;
                    let weight = share / places as f64;
                    members.push(Member { kernel: form.kernel.clone(), theta, weight });
                }
            }
            let mut told: Vec<&(&Form, Laplace, f64)> =
                weighed.iter().filter(|(_, _, probability)| *probability >= NO_CHANCE).collect();
            told.sort_by(|a, b| b.2.total_cmp(&a.2));
            let forms =
                told.iter().map(|(form, _, probability)| (form.kernel.clone(), *probability)).collect();
            let modes = told.iter().map(|(_, laplace, _)| laplace.mode.clone()).collect();
            Ok((normalised(members), Some(Weighing { rows: all_rows, complete, forms, modes })))
        }
    }
}

/// Whether a row since the last weighing is so far from what the members expect of it that their forms are in doubt.
fn is_refuted(spec: &GpSpec, members: &[Member], all: &Rows, weighed: usize) -> bool {
    let places: Vec<usize> = (0..weighed).collect();
    let before = all.select(&places);
    let before = before.thinned(ROWS_FOR_STARTING).unwrap_or(before);
    let Ok(set) = GpSet::condition(spec, &before, members) else { return false };
    let (mut scratch, mut out) = (Scratch::default(), Prediction::default());
    (weighed..all.len()).any(|row| {
        let input: Vec<f64> = (0..all.dim()).map(|k| all.column(k)[row]).collect();
        let (component, own_noise) = all.tags(row);
        let likely = |(weight, gp): &(f64, Gp), scratch: &mut Scratch, out: &mut Prediction| {
            gp.predict(&input, 1, false, scratch, out);
            let noise = gp.spec().noise_variance(gp.theta()).unwrap_or(own_noise);
            let miss = all.outputs()[row] - out.mean[component];
            weight * (-0.5 * miss * miss / (out.variance[component] + noise)).exp()
        };
        let likely: f64 = set.members.iter().map(|member| likely(member, &mut scratch, &mut out)).sum();
        likely.ln() < -0.5 * REFUTED * REFUTED
    })
}

fn normalised(mut members: Vec<Member>) -> Vec<Member> {
    let total: f64 = members.iter().map(|member| member.weight).sum();
    members.iter_mut().for_each(|member| member.weight /= total);
    members
}

/// The posterior probabilities of forms, each with the distribution of its hyper-parameters.
fn weigh<'a>(
    spec: &GpSpec,
    forms: &[&'a Form],
    rows: &Rows,
    warm: Earlier<'_>,
    rng: &mut dyn Rng,
) -> Result<Vec<(&'a Form, Laplace, f64)>, GpError> {
    /// A form whose highest density is that far below the best has no chance, whatever its width.
    const HOPELESS: f64 = 12.0;
    /// With fewer rows a form takes less time than it takes to share them out.
    const ROWS_TO_SHARE: usize = 32;
    let least = if rows.len() < ROWS_TO_SHARE { forms.len().max(1) } else { 1 };
    // Chance is drawn in the order of the forms, whoever then climbs.
    let climb = |&form: &&'a Form| {
        let own = with_kernel(spec, &form.kernel);
        let known = warm.weighing.and_then(|weighing| weighing.mode(&form.kernel));
        // Where rows are few, modes are many, and each row may make another the highest: besides the last mode one other place is
        // tried, in turns. With no mode to begin from all of them are, and the way is longer.
        let starts = match known {
            None => FreshStarts::All,
            Some(_) if rows.len() < FEW_ROWS => FreshStarts::One(rows.len()),
            Some(_) => FreshStarts::None,
        };
        let climb = Climb::new(&own, known, starts, rng);
        (form, own, climb)
    };
    let climbs: Vec<(&Form, GpSpec, Climb)> = forms.iter().map(climb).collect();
    let mode = |(form, own, climb): (&'a Form, GpSpec, Climb)| Ok((form, climb.mode(&own, rows)?, 0.0));
    let modes: Vec<Result<_, GpError>> = climbs.into_par_iter().with_min_len(least).map(mode).collect();
    let mut weighed: Vec<(&Form, Laplace, f64)> = Vec::with_capacity(forms.len());
    let mut failure = None;
    for mode in modes {
        match mode {
            Ok(mode) => weighed.push(mode),
            Err(error) => failure = Some(error),
        }
    }
    let highest = weighed.iter().map(|(_, laplace, _)| laplace.log_density).fold(f64::NEG_INFINITY, f64::max);
    weighed.retain(|(_, laplace, _)| laplace.log_density >= highest - HOPELESS);
    if let (true, Some(error)) = (weighed.is_empty(), failure) {
        return Err(error);
    }
    weighed.par_iter_mut().with_min_len(least).for_each(|(form, laplace, _)| {
        laplace.measure(&with_kernel(spec, &form.kernel), rows);
    });
    for (form, laplace, log) in &mut weighed {
        if rows.len() < FEW_ROWS {
            laplace.sharpen(&with_kernel(spec, &form.kernel), rows, rng);
        }
        *log = laplace.log_evidence + form.prior.ln();
    }
    let highest = weighed.iter().map(|(_, _, log)| *log).fold(f64::NEG_INFINITY, f64::max);
    weighed.iter_mut().for_each(|(_, _, log)| *log = (*log - highest).exp());
    let total: f64 = weighed.iter().map(|(_, _, weight)| *weight).sum();
    weighed.iter_mut().for_each(|(_, _, weight)| *weight /= total);
    Ok(weighed)
}

/// Which forms get members, with their share of the weight and how many: the most probable that together leave out little, one
/// each, then one by one to where a member stands for the most.
fn share_out(weighed: &[(&Form, Laplace, f64)], count: usize) -> Vec<(usize, f64, usize)> {
    let mut order: Vec<usize> = (0..weighed.len()).collect();
    order.sort_by(|&a, &b| weighed[b].2.total_cmp(&weighed[a].2).then(a.cmp(&b)));
    let mut shares: Vec<(usize, f64, usize)> = Vec::new();
    let mut covered = 0.0;
    for index in order {
        if shares.len() == count || (covered >= 1.0 - NEGLIGIBLE && !shares.is_empty()) {
            break;
        }
        covered += weighed[index].2;
        shares.push((index, weighed[index].2, 1));
    }
    for _ in shares.len()..count {
        let most = |a: &(usize, f64, usize), b: &(usize, f64, usize)| {
            (a.1 / a.2 as f64).total_cmp(&(b.1 / b.2 as f64))
        };
        if let Some(share) = shares.iter_mut().max_by(|a, b| most(a, b)) {
            share.2 += 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests;
