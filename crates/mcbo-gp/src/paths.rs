//! Functions drawn from the posterior of a process, each as a whole.
//!
//! A posterior with mean and variance says how far a mechanism may be off at each input by itself. What differs between two
//! interventions is known better than either where both are off together; only functions that are drawn as wholes tell.

use faer::Mat;
use rand::{Rng, RngExt};

use crate::likelihood::noise_of;
use crate::prior::standard_normal;
use crate::simd::{self, Profile, dot, lanes};
use crate::spec::LeafKind;
use crate::{Gp, GpSet, Scratch, factor};

/// Waves that stand for one term of the covariance.
const WAVES: usize = 96;

/// One term of the covariance as a sum of functions with independent normal weights, `Σ_m w_m φ_m(x)`.
#[derive(Debug, Clone)]
struct Features {
    /// Frequencies `[place among the inputs that leaves see][wave]`; empty where the term has no waves.
    frequencies: Vec<Vec<f64>>,
    phases: Vec<f64>,
    /// The inputs, as places, that every function is multiplied by.
    factors: Vec<Vec<usize>>,
    /// Inputs that are names: every function has a sign of its own for each name, or the same for all.
    names: Vec<Signs>,
    /// What every function is multiplied by.
    scale: f64,
}

/// The signs that functions are multiplied by, by the name that an input is.
///
/// A function has one sign for all names with the probability `ρ` of their correlation, else one at random for each: on average two
/// different names agree by `ρ`, and a name with itself by 1.
#[derive(Debug, Clone)]
struct Signs {
    place: usize,
    /// The unit of the input as the leaf sees it.
    unit: f64,
    /// Of every function, what its signs are drawn by; none where it has one for all.
    seeds: Vec<Option<u64>>,
}

impl Signs {
    fn apply(&self, point: &[f64], out: &mut [f64]) {
        let name = (point[self.place] / self.unit).round() as u64;
        for (value, seed) in out.iter_mut().zip(&self.seeds) {
            if seed.is_some_and(|seed| mixed(seed.wrapping_add(name)) & 1 == 1) {
                *value = -*value;
            }
        }
    }
}

/// A number whose bits depend on all bits of another (the end of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Functions drawn from the posterior of a process.
///
/// By Matheron's rule (Wilson et al. 2020) a draw is one of the prior, as a sum of random waves (Rahimi & Recht 2007), moved by the
/// kernel's functions about the rows to where the rows are: `f(x) + k(x, X) K⁻¹ (y - f(X) - ε)`. Evaluating one costs as much as
/// a posterior mean, whatever the number of inputs they are compared at.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    terms: Vec<Features>,
    functions: usize,
    /// Of every draw and component, the weights of all functions, and of the constant.
    weights: Vec<Vec<Vec<f64>>>,
    /// Of every draw, what multiplies the covariance with every row.
    corrections: Vec<Vec<f64>>,
}

impl Features {
    fn new(gp: &Gp, term: usize, rng: &mut dyn Rng) -> Self {
        let layout = &gp.layout.terms[term];
        let leaves = &gp.layout.leaves[layout.leaves.clone()];
        let linear: Vec<_> = leaves.iter().filter(|leaf| leaf.kind == LeafKind::Linear).collect();
        let named: Vec<_> = leaves.iter().filter(|leaf| leaf.kind == LeafKind::Choice).collect();
        let waves = linear.len() + named.len() < leaves.len();
        // A product of linear leaves is a sum over one input of each.
        let combinations: usize = linear.iter().map(|leaf| leaf.places.len()).product();
        let random = waves || !named.is_empty();
        let count = if random { WAVES.next_multiple_of(combinations) } else { combinations };
        let mut frequencies = vec![vec![0.0; count]; if waves { gp.seen.len() } else { 0 }];
        let is_wave = |kind: LeafKind| !matches!(kind, LeafKind::Linear | LeafKind::Choice);
        for leaf in leaves.iter().filter(|leaf| is_wave(leaf.kind)) {
            for m in 0..count {
                // The spectrum of a Matérn kernel is Student's distribution with 2ν degrees of freedom.
                let spread = |degrees: usize, rng: &mut dyn Rng| {
                    let squares: f64 = (0..degrees).map(|_| standard_normal(rng).powi(2)).sum();
                    (degrees as f64 / squares.max(1e-12)).sqrt()
                };
                let width = match leaf.kind {
                    LeafKind::Stationary(Profile::Matern52) => spread(5, rng),
                    LeafKind::Stationary(Profile::Matern32) => spread(3, rng),
                    _ => 1.0,
                };
                let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                for place in leaf.places.clone() {
                    frequencies[place][m] += match leaf.kind {
                        LeafKind::Cosine => sign * std::f64::consts::TAU,
                        _ => width * standard_normal(rng),
                    };
                }
            }
        }
        let phases = (0..if waves { count } else { 0 }).map(|_| std::f64::consts::TAU * rng.random::<f64>());
        let phases = phases.collect();
        let factors = (0..count).map(|m| {
            let mut rest = m % combinations;
            let mut pick = |places: &std::ops::Range<usize>| {
                let place = places.start + rest % places.len();
                rest /= places.len();
                place
            };
            linear.iter().map(|leaf| pick(&leaf.places)).collect()
        });
        let factors = factors.collect();
        let names = named.iter().flat_map(|leaf| leaf.places.clone()).map(|place| {
            let unit = gp.seen[place].factor;
            let seeds = (0..count).map(|_| {
                let (u, seed): (f64, u64) = (rng.random(), rng.random());
                (u >= (-unit).exp()).then_some(seed)
            });
            Signs { place, unit, seeds: seeds.collect() }
        });
        let names = names.collect();
        // A cosine has half of its square on average.
        let shares = combinations as f64 / count as f64 * if waves { 2.0 } else { 1.0 };
        Self { frequencies, phases, factors, names, scale: (gp.variances[term] * shares).sqrt() }
    }

    /// The functions at a point as the leaves see it.
    #[inline(always)]
    fn at(&self, point: &[f64], out: &mut [f64]) {
        if self.phases.is_empty() {
            out.fill(self.scale);
        } else {
            out.copy_from_slice(&self.phases);
            for (x, frequencies) in point.iter().zip(&self.frequencies) {
                lanes::add_scaled(*x, frequencies, out);
            }
            lanes::cosines(self.scale, out);
        }
        // Most terms have none, and then all of them have none.
        if self.factors.first().is_some_and(|factors| !factors.is_empty()) {
            for (value, factors) in out.iter_mut().zip(&self.factors) {
                *value *= factors.iter().map(|&place| point[place]).product::<f64>();
            }
        }
        self.names.iter().for_each(|signs| signs.apply(point, out));
    }
}

impl Paths {
    /// Draws functions.
    pub fn new(gp: &Gp, count: usize, rng: &mut dyn Rng) -> Self {
        let terms: Vec<Features> =
            (0..gp.layout.terms.len()).map(|term| Features::new(gp, term, rng)).collect();
        let functions = terms.iter().map(|term| term.factors.len()).sum::<usize>();
        let (n, components) = (gp.rows.len(), gp.spec.components);
        let draw = |rng: &mut dyn Rng| -> Vec<Vec<f64>> {
            (0..components).map(|_| (0..=functions).map(|_| standard_normal(rng)).collect()).collect()
        };
        let mut paths = Self {
            terms,
            functions,
            weights: (0..count).map(|_| gp.correlation.mix(&draw(rng))).collect(),
            corrections: Vec::new(),
        };
        // What the prior's functions miss of every row, `[row][draw]`.
        let mut missed = Mat::<f64>::zeros(n, count);
        let mut normal = Mat::<f64>::zeros(n, count);
        let (mut point, mut values) = (Vec::new(), vec![0.0; functions + 1]);
        for row in 0..n {
            point.clear();
            point.extend(gp.seen.iter().map(|seen| seen.apply(gp.rows.columns[seen.input][row])));
            paths.functions_at(gp, &point, &mut values);
            let noise = noise_of(&gp.spec, &gp.theta, &gp.rows, row).sqrt();
            for draw in 0..count {
                let prior = dot(&paths.weights[draw][gp.rows.component[row]], &values);
                normal[(row, draw)] = standard_normal(rng);
                missed[(row, draw)] = match gp.many {
                    None => gp.rows.output[row] - gp.mean - prior - noise * normal[(row, draw)],
                    Some(_) => -prior,
                };
            }
        }
        let (mut half, mut solved) = (Mat::<f64>::zeros(n, count), Mat::<f64>::zeros(n, count));
        factor::lower_times(gp.inverse.as_ref(), missed.as_ref(), half.as_mut());
        // Of many rows the centres have no outputs of their own: weights and noise of all rows are in their place.
        gp.noise_through_centres(&normal, &mut half);
        factor::lower_transpose_times(gp.inverse.as_ref(), half.as_ref(), solved.as_mut());
        if gp.many.is_some() {
            (0..count).for_each(|draw| simd::add_scaled(1.0, &gp.alpha, solved.col_as_slice_mut(draw)));
        }
        paths.corrections = (0..count).map(|draw| solved.col_as_slice(draw).to_vec()).collect();
        paths
    }

    /// The functions of all terms at a point as the leaves see it, and the constant's.
    fn functions_at(&self, gp: &Gp, point: &[f64], out: &mut [f64]) {
        functions_at(&self.terms, point, out);
        out[self.functions] = gp.spec.mean.variance().sqrt();
    }

    /// Writes the values of one draw at an input to `out`, one for every component.
    fn value(&self, gp: &Gp, draw: usize, memory: &Memory, out: &mut dyn FnMut(usize, f64)) {
        for component in 0..gp.spec.components {
            let prior = dot(&self.weights[draw][component], &memory.functions[..=self.functions]);
            let corrections = &self.corrections[draw];
            let moved = if gp.spec.components == 1 {
                dot(corrections, &memory.covariance)
            } else {
                let pairs = corrections.iter().zip(&memory.covariance).zip(&gp.rows.component);
                pairs.map(|((c, k), &other)| c * k * gp.correlation.get(component, other)).sum()
            };
            out(component, gp.mean + prior + moved);
        }
    }
}

simd::vectorized! {
    /// The functions of the terms at a point as the leaves see it, one term after the other.
    fn functions_at(terms: &[Features], point: &[f64], out: &mut [f64]) {
        let mut from = 0;
        for term in terms {
            let until = from + term.factors.len();
            term.at(point, &mut out[from..until]);
            from = until;
        }
    }
}

/// What the draws of one process share at an input.
#[derive(Debug, Default)]
struct Memory {
    functions: Vec<f64>,
    covariance: Vec<f64>,
}

/// Functions drawn from a weighted set of processes: each is of one member, as often as its weight says.
#[derive(Debug, Clone)]
pub struct SetPaths {
    /// The draws of every member.
    members: Vec<Paths>,
    /// The member of every draw, and its place among the draws of that member.
    draws: Vec<(usize, usize)>,
}

impl SetPaths {
    /// Draws `count` functions from the posterior of a set.
    pub fn new(set: &GpSet, count: usize, rng: &mut dyn Rng) -> Self {
        // Systematic resampling, in an order that has nothing to do with that of another set.
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let offset = rng.random::<f64>();
        let mut counts = vec![0; set.members().len()];
        let mut draws = vec![(0, 0); count];
        let (mut member, mut until) = (0, set.members()[0].0);
        for (k, &draw) in order.iter().enumerate() {
            while (k as f64 + offset) / count as f64 >= until && member + 1 < counts.len() {
                member += 1;
                until += set.members()[member].0;
            }
            draws[draw] = (member, counts[member]);
            counts[member] += 1;
        }
        let members = set.members().iter().zip(counts);
        Self { members: members.map(|((_, gp), count)| Paths::new(gp, count, rng)).collect(), draws }
    }

    /// Number of draws.
    pub fn count(&self) -> usize {
        self.draws.len()
    }

    /// The values of draw `draw(s)` at every column `s` of a batch, `[component][column]`; `inputs` has input `k` of column `s`
    /// at `k * columns + s`. The set must be the one they were drawn from. Neighbours with the same inputs cost one.
    pub fn values(
        &self,
        set: &GpSet,
        inputs: &[f64],
        columns: usize,
        draw: impl Fn(usize) -> usize,
        scratch: &mut Scratch,
        out: &mut Vec<f64>,
    ) {
        let dim = set.dim();
        out.clear();
        out.resize(set.components() * columns, 0.0);
        let mut memories: Vec<Memory> = self.members.iter().map(|_| Memory::default()).collect();
        let mut known = vec![false; memories.len()];
        let mut input = vec![f64::NAN; dim];
        for s in 0..columns {
            let at = |k: usize| inputs[k * columns + s];
            if (0..dim).any(|k| input[k] != at(k)) || s == 0 {
                known.fill(false);
                (0..dim).for_each(|k| input[k] = at(k));
            }
            let (member, place) = self.draws[draw(s)];
            let (gp, paths, memory) =
                (&set.members()[member].1, &self.members[member], &mut memories[member]);
            if !std::mem::replace(&mut known[member], true) {
                gp.covariance_at(&input, scratch, &mut memory.covariance);
                memory.functions.resize(paths.functions + 1, 0.0);
                paths.functions_at(gp, scratch.point(), &mut memory.functions);
            }
            paths.value(gp, place, memory, &mut |component, value| out[component * columns + s] = value);
        }
    }
}
