//! The paper's tasks and its protocol: what is run, how it is scored, and many runs at once.
//!
//! ```
//! use mcbo_bench::{Task, run};
//! use mcbo_core::Random;
//! let task = Task::named("dropwave")?;
//! let result = run(&task, &Random, 0, 10)?;
//! assert_eq!(result.rounds.len(), 10);
//! assert!(result.best_reward() <= task.optimum());
//! # Ok::<(), mcbo_bench::BenchError>(())
//! ```

mod archive;
mod design;
mod error;
mod expectation;
mod fleet;
mod hidden;
mod knowing;
mod line;
mod method;
mod metrics;
mod one_hot;
mod optimum;
mod protocol;
mod quadrature;
mod registry;
pub mod report;
mod scm;
mod suite;
mod task;

pub use archive::{Archive, ArchiveError, Stored, merge};
pub use design::{Design, allowed};
pub use error::BenchError;
pub use fleet::{Entrant, Job, run_all};
pub use knowing::Offer;
pub use line::Line;
pub use method::{CBO_NOISY, Method};
pub use metrics::{Curve, Estimate, Metric, Results, Validated};
pub use one_hot::OneHot;
pub use protocol::{Feedback, Recommended, Round, RunResult, run, run_told};
pub use suite::{EXTRA_TASKS, PAPER_BETAS, PAPER_TASKS, Shard, applies, jobs, paper_methods};
pub use task::Task;

/// The blocks of the page on extending, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/extending.md")]
struct Extending;
