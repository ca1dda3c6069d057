//! Gaussian processes for the mechanisms of a causal graph.

mod kernel;

pub use kernel::{Kernel, KernelParseError, Leaf};
