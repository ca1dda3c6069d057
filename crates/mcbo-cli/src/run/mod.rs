//! The closed loop: choose, measure, learn, and in the end recommend.

pub mod exec;
pub mod kept;
pub mod progress;
pub mod report;
pub mod runner;
pub mod world;
