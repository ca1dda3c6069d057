//! What is said of a study, for people and for programs: sentences, numbers, JSON, CSV, and the one page about all of it.
//!
//! The command line prints it and the server serves it, so that both say the same.

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
pub mod words;

pub use failure::{BadFile, BadInput};
pub use templates::Template;

/// With more trials than this nothing is fitted by what should answer at once.
pub const QUICK: usize = 300;
