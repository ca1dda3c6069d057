//! The tasks of the paper, and those with contexts, limits and costs: a file and a line each.

use crate::expectation::Expectation::{self, Noiseless, Quadrature};
use crate::task::Sampling::{self, Measured, Structural};

/// What is known about a task apart from its problem file.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) optimum: f64,
    pub(crate) expectation: Expectation,
    pub(crate) sampling: Sampling,
}

macro_rules! entry {
    ($name:literal, $optimum:expr, $expectation:expr, $sampling:expr) => {
        Entry {
            name: $name,
            file: include_str!(concat!("../tasks/", $name, ".toml")),
            optimum: $optimum,
            expectation: $expectation,
            sampling: $sampling,
        }
    };
}

/// In ToyGraph `cos(exp(-X0) + e1)` oscillates ever faster in the lower tail of `X0`; at -6 standard deviations
/// the period is 0.016.
const TOYGRAPH: Expectation = Quadrature(&[("X0", 8001), ("X1", 41)]);
const PSAGRAPH: Expectation = Quadrature(&[("age", 24), ("bmi", 41)]);
/// `cos(12 X0)` with noise of 0.1: 1.2 oscillations per standard deviation.
const DROPWAVE: Expectation = Quadrature(&[("X0", 401)]);
/// Straight lines, a quotient and a sigmoid, all of them nearly straight over uniform noise.
const HEALTH: Expectation =
    Quadrature(&[("age", 9), ("metabolism", 5), ("calories", 5), ("height", 9), ("statin", 5)]);

/// Tasks with what the paper's do not have. The optimum is of the expected reward: with contexts the mean over them of the best in each,
/// with limits the best of what keeps them; costs do not change it.
///
/// By hand: in `molasses` the sugar is best at 1.5 in every context, which leaves four times the variance 0.01 of its noise; in `thermostat` it is `4
/// E[max(0, 0.5 - w)]`; in `furnaces` the heat is best at 1.5. `toygraph-limit` and `acetate` by search over a fine grid, with the
/// probability of the limit in closed form; `health-limit` by the root of that probability, which is a sum over metabolism and height of
/// how much of the range of ages keeps the limit. `tests/practice.rs` makes them again.
pub(crate) const PRACTICE: [Entry; 7] = [
    entry!("molasses", 0.96, Quadrature(&[]), Structural),
    entry!("thermostat", 0.5, Noiseless, Structural),
    entry!("toygraph-limit", 1.855551, TOYGRAPH, Structural),
    entry!("acetate", 3.469388, Noiseless, Structural),
    entry!("health-limit", -5.550963, HEALTH, Structural),
    entry!("psagraph-costs", -5.155287, PSAGRAPH, Structural),
    entry!("furnaces", 0.9975, Quadrature(&[]), Structural),
];

/// Optima are of the expected reward. `Noiseless` holds with noise too where all nodes are linear in their parents.
pub(crate) const ENTRIES: [Entry; 10] = [
    entry!("toygraph", 2.171806, TOYGRAPH, Structural),
    entry!("psagraph", -5.155287, PSAGRAPH, Structural),
    entry!("dropwave", 1.0, Noiseless, Structural),
    entry!("alpine2", 381.149094, Noiseless, Structural),
    entry!("rosenbrock", 0.0, Noiseless, Structural),
    entry!("ackley", 0.0, Noiseless, Structural),
    entry!("dropwave-noisy", 0.742398, DROPWAVE, Structural),
    entry!("alpine2-noisy", 381.149094, Noiseless, Structural),
    entry!("rosenbrock-noisy", 0.0, Noiseless, Structural),
    entry!("dropwave-noisy-reference", 1.0, Noiseless, Measured),
];

/// Tasks of other kinds than the paper's: steps, choices and requirements, and names that have causes. Optima are from exhaustive
/// searches that `tests/kinds.rs` repeats.
pub(crate) const KINDS: [Entry; 6] = [
    entry!("ackley-mixed", 0.0, Noiseless, Structural),
    entry!("strains", 2.535, Noiseless, Structural),
    entry!("doses", 10.327216, Noiseless, Structural),
    entry!("solvents", 71.206929, Noiseless, Structural),
    entry!("defects", 0.573611, Quadrature(&[("temperature", 201)]), Structural),
    entry!("modes", 1.44, Quadrature(&[("load", 201)]), Structural),
];
