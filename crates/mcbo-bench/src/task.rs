//! A task: a problem with a simulator, the expected reward of every intervention, and the optimum.

use std::sync::{Arc, OnceLock};

use mcbo_core::{Given, Intervention, Noise, Observation, Problem, Simulator};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::design::{self, Design};
use crate::error::BenchError;
use crate::expectation::{Expectation, NoiseTable, noiseless, quadrature};
use crate::hidden::{self, Hidden};
use crate::registry::{ENTRIES, Entry, KINDS, PRACTICE};
use crate::{optimum, protocol, scm};

/// How an experiment comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// Children read the realised values of their parents.
    Structural,
    /// Children read their parents without noise; the noise is added to what is reported.
    Measured,
}

/// Experiments behind an expected reward of a task that brings nothing but a simulator, and the seed of their noise.
const OWN_SAMPLES: usize = 100_000;
const OWN_SEED: u64 = 0x5eed;

/// What rewards a task offers: the mean of random interventions, and the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) random: f64,
    pub(crate) optimum: f64,
}

/// Something to optimise whose answer is known.
///
/// Rewards are in the direction of improvement: the negated node where the problem minimises.
#[derive(Debug)]
pub struct Task {
    name: String,
    problem: Arc<Problem>,
    /// The problem with the noise that there is, whatever the other says of it.
    world: Arc<Problem>,
    simulator: Simulator,
    design: Design,
    expectation: Expectation,
    sampling: Sampling,
    known_optimum: Option<f64>,
    /// Whether rewards are reported in units of the span.
    relative: bool,
    span: OnceLock<Span>,
    table: NoiseTable,
    /// The expected reward of doing nothing: the most expensive and the most often asked for.
    observing: OnceLock<f64>,
}

impl Task {
    /// The names of the paper's tasks.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ENTRIES.iter().map(|entry| entry.name)
    }

    /// The names of tasks with contexts, limits and costs.
    pub fn practice_names() -> impl Iterator<Item = &'static str> {
        PRACTICE.iter().map(|entry| entry.name)
    }

    /// The names of tasks of other kinds: with steps, choices and requirements.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|entry| entry.name)
    }

    /// A task of the paper, one of [`Self::practice_names`] or [`Self::kinds`], or a random one named `scm-soft-K`, `scm-hard-K` or `scm-mixed-K`, with 20 or 50 nodes
    /// as in `scm20-soft-K`, or with mechanisms of a form: `scm-additive-K`, `scm-scaled-K`, `scm-linear-K` or
    /// `scm-warped-K`. The noise of `scm-past-K` has to be learned, and its study begins from past rows. In `scm-choices-K` actions are
    /// names or go in steps; `scm-limits-K`, `scm-contexts-K` and `scm-costs-K` have what their names say.
    ///
    /// # Errors
    /// If there is no such task.
    pub fn named(name: &str) -> Result<Self, BenchError> {
        if let Some(entry) = ENTRIES.iter().chain(&PRACTICE).chain(&KINDS).find(|entry| entry.name == name) {
            return Self::from_entry(entry);
        }
        match scm::problem(name) {
            Some(built) => {
                let problem = built.map_err(|errors| BenchError::Problem { task: name.into(), errors })?;
                let expectation = Expectation::Samples(scm::SAMPLES);
                let task = Self::new(name, problem, None, expectation, Sampling::Structural)?;
                let task = Self { relative: true, ..task };
                match scm::past(name) {
                    Some(design) => Self { design, ..task }.with_learned_noise(),
                    None => Ok(task),
                }
            }
            None => Err(BenchError::UnknownTask {
                name: name.into(),
                known: Self::names()
                    .chain(Self::practice_names())
                    .chain(Self::kinds())
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    /// A task of one's own: a problem with a simulator, under a name that no other task has.
    ///
    /// Expected rewards are the means of 100,000 experiments with fixed random numbers, or of one if nothing is random; the
    /// optimum is the best that a long search finds when it is first asked for.
    ///
    /// # Errors
    /// If the name is that of another task or not fit for a file, or if the problem has no simulator.
    pub fn own(name: &str, problem: Problem) -> Result<Self, BenchError> {
        let fit = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(fit) {
            return Err(BenchError::UnfitName { name: name.into() });
        }
        if Self::named(name).is_ok() {
            return Err(BenchError::TakenName { name: name.into() });
        }
        let random = |simulator: &Simulator| (0..problem.nodes().len()).any(|node| simulator.is_random(node));
        let samples = if problem.simulator().is_some_and(random) { OWN_SAMPLES } else { 1 };
        Self::new(name, problem, None, Expectation::Simulated(samples), Sampling::Structural)
    }

    fn from_entry(entry: &Entry) -> Result<Self, BenchError> {
        let problem = Problem::from_toml(entry.file)
            .map_err(|errors| BenchError::Problem { task: entry.name.into(), errors })?;
        Self::new(entry.name, problem, Some(entry.optimum), entry.expectation, entry.sampling)
    }

    fn new(
        name: &str,
        problem: Problem,
        known_optimum: Option<f64>,
        expectation: Expectation,
        sampling: Sampling,
    ) -> Result<Self, BenchError> {
        let simulator =
            problem.simulator().cloned().ok_or_else(|| BenchError::NoSimulator { task: name.into() })?;
        let problem = Arc::new(problem);
        Ok(Self {
            name: name.into(),
            world: problem.clone(),
            problem,
            simulator,
            design: Design::Protocol,
            expectation,
            sampling,
            known_optimum,
            relative: false,
            span: OnceLock::new(),
            table: NoiseTable::default(),
            observing: OnceLock::new(),
        })
    }

    /// The same task, in which a strategy is not told the noise of any node and has to learn it. Expected rewards, the
    /// optimum and what experiments give are as before, and so is the name.
    ///
    /// # Errors
    /// If the problem cannot be built so.
    pub fn with_learned_noise(self) -> Result<Self, BenchError> {
        self.hiding(Hidden::Noise)
    }

    /// The same task, in which a strategy is not told what anything costs.
    ///
    /// # Errors
    /// If the problem cannot be built so.
    pub fn blind_to_costs(self) -> Result<Self, BenchError> {
        self.hiding(Hidden::Costs)
    }

    fn hiding(self, hidden: Hidden) -> Result<Self, BenchError> {
        let problem = hidden::without(&self.problem, hidden)
            .map_err(|errors| BenchError::Problem { task: self.name.clone(), errors })?;
        Ok(Self { problem: Arc::new(problem), ..self })
    }

    /// The task's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Of a task of one's own: changes when its problem does. Others never change.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let own = matches!(self.expectation, Expectation::Simulated(_));
        own.then(|| format!("{:016x}", protocol::name_hash(&format!("{:?}", self.problem))))
    }

    /// The problem, as a strategy sees it.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The noise that a node has, whatever the problem says of it. Of a task of one's own whose noise is to be learned it is
    /// not known: [`Noise::Learn`].
    pub fn noise(&self, node: usize) -> Noise {
        self.world.nodes()[node].noise
    }

    /// The highest expected reward of what keeps the limits, with contexts the mean over them. Of random tasks and of those of one's own it is
    /// found by a long search when first asked for.
    pub fn optimum(&self) -> f64 {
        self.known_optimum.unwrap_or_else(|| self.span().optimum)
    }

    /// Whether [`Self::optimum`] is known rather than found by search.
    pub fn optimum_is_known(&self) -> bool {
        self.known_optimum.is_some()
    }

    /// Whether rewards are reported relative to what the task offers; see [`Self::reported`].
    pub fn is_relative(&self) -> bool {
        self.relative
    }

    /// A reward as it is reported: of random tasks 0 is the mean of random interventions and 1 the optimum, so that they can
    /// be averaged; others keep their units. The map is affine: means and running maxima may be mapped as well.
    pub fn reported(&self, reward: f64) -> f64 {
        if !self.relative {
            return reward;
        }
        let span = self.span();
        (reward - span.random) / (span.optimum - span.random)
    }

    fn span(&self) -> &Span {
        self.span.get_or_init(|| scm::known_span(&self.name).unwrap_or_else(|| optimum::span(self, 0)))
    }

    /// How the expected reward is computed: `exact`, `quadrature` or `samples`.
    pub fn method(&self) -> &'static str {
        self.expectation.method()
    }

    /// `E[Y | intervention]` in the direction of improvement, to about 1e-9, or with fixed samples for random tasks.
    ///
    /// # Panics
    /// When the intervention is not one of the problem; see [`mcbo_core::check_intervention`].
    pub fn expected_reward(&self, intervention: &Intervention) -> f64 {
        let observing = intervention.targets.is_empty() && self.problem.actions().is_empty();
        if observing {
            return *self.observing.get_or_init(|| self.compute(intervention));
        }
        self.compute(intervention)
    }

    fn compute(&self, intervention: &Intervention) -> f64 {
        match self.expectation {
            Expectation::Noiseless => noiseless(&self.world, &self.simulator, intervention),
            Expectation::Quadrature(points) => quadrature(&self.world, &self.simulator, intervention, points),
            Expectation::Samples(size) | Expectation::Simulated(size) => {
                self.sampled_reward(intervention, size)
            }
        }
    }

    /// What is known of the contexts before a trial, drawn with the simulator.
    pub fn contexts(&self, rng: &mut dyn Rng) -> Given {
        Given::draw(&self.problem, &self.simulator, rng)
    }

    /// An intervention where contexts have the values that are given. Contexts are roots: to be and to be set is the same of them.
    pub(crate) fn knowing(intervention: &Intervention, given: &Given) -> Intervention {
        let mut known = intervention.clone();
        known.targets.extend(given.iter().map(|(node, values)| (node, values.to_vec())));
        known.targets.sort_by_key(|(node, _)| *node);
        known
    }

    /// How probable it is that a single outcome of an intervention keeps each limit, by name: the share of 20,000 experiments with fixed
    /// random numbers.
    pub fn keeping(&self, intervention: &Intervention) -> Vec<(String, f64)> {
        const EXPERIMENTS: usize = 20_000;
        let named = |(node, share): (usize, f64)| (self.problem.nodes()[node].name.clone(), share);
        self.kept(intervention, EXPERIMENTS).into_iter().map(named).collect()
    }

    /// The share of so many experiments, always with the same random numbers, in which each limited node keeps its limit.
    fn kept(&self, intervention: &Intervention, experiments: usize) -> Vec<(usize, f64)> {
        let mut kept: Vec<(usize, usize)> = self.problem.limited().map(|node| (node, 0)).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(OWN_SEED);
        for _ in 0..if kept.is_empty() { 0 } else { experiments } {
            let values = self.sample(intervention, &mut rng);
            for (node, kept) in &mut kept {
                let limit = self.problem.nodes()[*node].limit;
                let keeps = |at: usize| limit.is_some_and(|limit| limit.is_kept(values[at]));
                *kept += usize::from(self.problem.slot(*node).all(keeps));
            }
        }
        kept.into_iter().map(|(node, kept)| (node, kept as f64 / experiments as f64)).collect()
    }

    /// Whether an intervention keeps every limit as probably as is wanted, by 2,000 experiments.
    pub fn keeps_limits(&self, intervention: &Intervention) -> bool {
        const EXPERIMENTS: usize = 2_000;
        self.shortfall(intervention, EXPERIMENTS) == 0.0
    }

    /// What an intervention falls short of what is wanted of its limits, all together, by so many experiments: 0 where it keeps them.
    pub(crate) fn shortfall(&self, intervention: &Intervention, experiments: usize) -> f64 {
        let missing = |(node, share): (usize, f64)| {
            let wanted = self.problem.nodes()[node].limit.map_or(0.0, |limit| limit.probability);
            f64::max(wanted - share, 0.0)
        };
        self.kept(intervention, experiments).into_iter().map(missing).sum()
    }

    /// The expected reward from fewer samples than [`Self::expected_reward`] uses.
    pub(crate) fn sampled_reward(&self, intervention: &Intervention, count: usize) -> f64 {
        let size = match self.expectation {
            Expectation::Samples(size) => size,
            Expectation::Simulated(size) => return self.simulated_reward(intervention, count.min(size)),
            _ => count,
        };
        self.table.expectation(&self.world, &self.simulator, intervention, size, count)
    }

    /// The mean reward of so many experiments, always with the same random numbers.
    fn simulated_reward(&self, intervention: &Intervention, count: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(OWN_SEED);
        let reward = self.problem.slot(self.problem.reward()).start;
        let total: f64 = (0..count).map(|_| self.sample(intervention, &mut rng)[reward]).sum();
        self.problem.sign() * total / count as f64
    }

    /// Runs one experiment: the values of all nodes at the places of [`Problem::slot`].
    ///
    /// The same random numbers are drawn whatever the intervention, so that equal generators give equal noise to
    /// whatever is done. Nodes that are set draw theirs too and do not use it.
    ///
    /// # Panics
    /// When the intervention is not one of the problem; see [`mcbo_core::check_intervention`].
    pub fn sample(&self, intervention: &Intervention, rng: &mut dyn Rng) -> Vec<f64> {
        let problem = &*self.problem;
        let mut values = vec![0.0; problem.slots()];
        let mut noise = vec![0.0; problem.slots()];
        let mut inputs = Vec::new();
        for &node in problem.graph().order() {
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            for (component, at) in problem.slot(node).enumerate() {
                match self.sampling {
                    Sampling::Structural => values[at] = self.simulator.draw(node, component, &inputs, rng),
                    Sampling::Measured => {
                        values[at] = self.simulator.formulas(node)[component].eval(&inputs);
                        noise[at] = self.noise(node).draw(rng);
                    }
                }
            }
            if let Some(set) = intervention.target(node) {
                values[problem.slot(node)].copy_from_slice(set);
                noise[problem.slot(node)].fill(0.0);
            }
        }
        for (value, noise) in values.iter_mut().zip(noise) {
            *value += noise;
        }
        values
    }

    /// The rows that every strategy starts from, for one seed: those of [`Design::Protocol`], or 40 past rows with 12 % of
    /// the values missing.
    pub fn initial_design(&self, seed: u64) -> Vec<Observation> {
        self.rows(self.design, seed)
    }

    /// The rows of a design, for one seed. What is done and the noise in it depend on the task's name and the seed alone.
    ///
    /// ```
    /// use mcbo_bench::{Design, Task};
    /// let task = Task::named("dropwave")?;
    /// let rows = task.rows(Design::Past { rows: 40, missing: 0.1 }, 1);
    /// assert_eq!(rows.len(), 40);
    /// assert!(rows.iter().any(|row| row.values.contains(&None)));
    /// # Ok::<(), mcbo_bench::BenchError>(())
    /// ```
    pub fn rows(&self, design: Design, seed: u64) -> Vec<Observation> {
        design::rows(self, design, seed)
    }
}
