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

mod error;
mod expectation;
mod fleet;
mod line;
mod optimum;
mod protocol;
mod quadrature;
mod registry;
mod scm;
mod task;

pub use error::BenchError;
pub use fleet::{Job, run_all};
pub use line::Line;
pub use protocol::{Round, RunResult, run};
pub use task::Task;
