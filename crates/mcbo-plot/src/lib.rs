//! Pictures of a study, and what figures are made of.

pub mod draw;
