//! What is run on what: the paper's comparison and the random models beside it.

use mcbo_core::Problem;

use crate::fleet::{Entrant, Job};
use mcbo_core::{Preset, StrategyName};

use crate::method::Method;
use crate::task::Task;

/// The nine settings of the paper.
pub const PAPER_TASKS: [&str; 9] = [
    "toygraph",
    "psagraph",
    "dropwave",
    "alpine2",
    "rosenbrock",
    "ackley",
    "dropwave-noisy",
    "alpine2-noisy",
    "rosenbrock-noisy",
];

/// Random models that nobody tuned to: five of each kind with 3 to 10 nodes, larger ones, and three of each kind whose
/// mechanisms have a form or whose studies begin from past rows.
pub const EXTRA_TASKS: [&str; 34] = [
    "scm-soft-0",
    "scm-soft-1",
    "scm-soft-2",
    "scm-soft-3",
    "scm-soft-4",
    "scm-hard-0",
    "scm-hard-1",
    "scm-hard-2",
    "scm-hard-3",
    "scm-hard-4",
    "scm-mixed-0",
    "scm-mixed-1",
    "scm-mixed-2",
    "scm-mixed-3",
    "scm-mixed-4",
    "scm20-soft-0",
    "scm20-soft-1",
    "scm50-soft-0",
    "scm50-soft-1",
    "scm-additive-0",
    "scm-additive-1",
    "scm-additive-2",
    "scm-scaled-0",
    "scm-scaled-1",
    "scm-scaled-2",
    "scm-linear-0",
    "scm-linear-1",
    "scm-linear-2",
    "scm-warped-0",
    "scm-warped-1",
    "scm-warped-2",
    "scm-past-0",
    "scm-past-1",
    "scm-past-2",
];

/// The widths of the confidence band that the paper compares.
pub const PAPER_BETAS: [f64; 3] = [0.05, 0.5, 5.0];

/// The paper's methods with its settings, and the default.
pub fn paper_methods() -> Vec<Method> {
    let mut methods = vec![Method::new(StrategyName::Mcbo, Preset::Default, None)];
    for strategy in [StrategyName::Mcbo, StrategyName::Ucb] {
        methods.extend(PAPER_BETAS.map(|beta| Method::new(strategy, Preset::Paper, Some(beta))));
    }
    for strategy in
        [StrategyName::Eifn, StrategyName::Cbo, StrategyName::Ei, StrategyName::Random, StrategyName::Observe]
    {
        let method = Method::new(strategy, Preset::Paper, None);
        methods.push(method);
        // Where it is told more than the others, also without that.
        if method.measured() != method {
            methods.push(method.measured());
        }
    }
    methods
}

/// Whether a method can do anything on a problem: do-calculus and observing need nodes that can be set.
pub fn applies(name: &str, problem: &Problem) -> bool {
    let needs_targets = name.parse::<Method>().is_ok_and(|method| method.strategy().needs_targets());
    !needs_targets || (!problem.settable().is_empty() && problem.actions().is_empty())
}

/// One part of a job list that is divided among machines: `index` of `count`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub index: usize,
    /// How many parts there are.
    pub count: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Self { index: 1, count: 1 }
    }
}

/// All jobs of a comparison that belong to a shard, seed by seed, so that all methods are equally far at any time.
///
/// The shards are disjoint and together are the whole; each gets its share of every task and method.
pub fn jobs<'a>(
    tasks: &'a [Task],
    entrants: &'a [Entrant],
    seeds: std::ops::Range<u64>,
    rounds: usize,
    shard: Shard,
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for (turn, seed) in seeds.enumerate() {
        let cells = tasks.iter().flat_map(|task| entrants.iter().map(move |entrant| (task, entrant)));
        let cells = cells.filter(|(task, entrant)| applies(&entrant.name, task.problem()));
        for (place, (task, entrant)) in cells.enumerate() {
            if (place + turn) % shard.count == shard.index - 1 {
                jobs.push(Job { task, entrant, seed, rounds });
            }
        }
    }
    jobs
}
