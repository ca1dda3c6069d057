//! What is said of a study, for people and for programs: sentences, numbers, JSON, CSV, and the one page about all of it.
//!
//! The command line prints it and the server serves it, so that both say the same.

pub mod assignment;
pub mod check;
pub mod describe;
pub mod drawn;
pub mod effects;
pub mod export;
mod failure;
pub mod json;
pub mod log;
pub mod number;
pub mod page;
pub mod predict;
pub mod sets;
pub mod status;
mod templates;
pub mod timestamp;
pub mod values;
pub mod why;

pub use failure::{BadFile, BadInput};
pub use templates::Template;

/// With more trials than this nothing is fitted by what should answer at once.
pub const QUICK: usize = 300;

/// The share of a longer study that pages and pictures fit their model to; none of one that is not longer.
pub fn share(study: &mcbo_core::Study) -> Option<mcbo_core::Study> {
    const SHARE: usize = 200;
    (study.data().len() > QUICK).then(|| study.thinned(SHARE)).flatten()
}
