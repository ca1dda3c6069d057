//! The closed loop: choose, measure, learn, and in the end recommend.

pub mod exec;
pub mod progress;
pub mod report;
pub mod runner;
pub mod world;
