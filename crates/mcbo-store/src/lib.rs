//! Studies that last: an append-only log of events on SQLite, or on PostgreSQL when it is shared.
//!
//! A study is the fold of its events. Nothing is ever overwritten, so every suggestion can be computed again from what
//! was known when it was made ([`StoredStudy::recompute`]), and a study that was interrupted goes on exactly as one that
//! was not.
//!
//! ```
//! use mcbo_store::{Options, Store, StrategyOptions};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("studies.sqlite").display().to_string();
//! let problem = r#"
//!     maximize = "growth"
//!     [nodes.moisture]
//!     actions = ["water"]
//!     [nodes.growth]
//!     parents = ["moisture"]
//!     [actions.water]
//!     range = [0.0, 10.0]
//! "#;
//! let store = Store::open(&format!("sqlite://{file}"))?;
//! store.create("greenhouse", problem, &Options { seed: 1, ..Options::default() })?;
//!
//! // Later, in another program:
//! let mut study = store.open_study("greenhouse")?;
//! let trial = study.ask("bench 3", 1)?.remove(0).trial;
//! let water = trial.suggestion.intervention.actions[0];
//! study.tell(trial.number, &[("moisture", vec![0.3 + 0.05 * water])], None)?;
//! study.tell(trial.number, &[("growth", vec![0.8])], None)?; // what is measured later
//! assert_eq!(study.status()?.complete, 1);
//! assert_eq!(study.recompute(trial.number)?.outcome, mcbo_store::Outcome::Same);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The helpers of the tests outside speak of the crate by its name.
#[cfg(test)]
extern crate self as mcbo_store;

mod address;
mod changes;
mod database;
mod digest;
mod error;
mod event;
#[cfg(test)]
mod faults;
mod fold;
mod history;
mod ledger;
mod log;
mod memory;
mod repair;
mod schema;
mod shelf;
mod snapshot;
mod store;
mod strategies;
mod study;
mod table;
mod turn;
mod view;

pub use address::without_password;
pub use error::{RowError, RowFault, StoreError};
pub use event::Row;
pub use history::{Deed, Happening};
pub use ledger::{Duplicates, LEASE, Record};
pub use mcbo_core::StrategyOptions;
pub use memory::MemoryStudy;
pub use repair::Repaired;
pub use store::{Options, Store, Summary};
pub use strategies::{Library, Strategies};
pub use study::StoredStudy;
pub use table::Table;
pub use view::{Entry, Outcome, Recomputed, Status, StoredTrial};
