//! Gaussian processes for the mechanisms of a causal graph: kernels, priors, fitting, posteriors with gradients for
//! batches of inputs, and updates in O(n²).
//!
//! Everything here works in scaled units (inputs about [0, 1], outputs standardised); the caller scales. Nothing here
//! reads a clock, does IO or holds global state, and every random number comes from the caller's generator.

// No IO, no clock, no global state: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types))]

mod condense;
mod data;
mod error;
mod evidence;
mod factor;
mod fit;
mod gp;
mod kernel;
mod likelihood;
mod loo;
mod many;
mod mixture;
pub mod optimize;
mod paths;
mod predict;
mod prior;
mod simd;
mod spec;

pub use data::Rows;
pub use error::GpError;
pub use evidence::Laplace;
pub use fit::{Fit, FitOptions, fit_map, slice_moves};
pub use gp::{Gp, Prediction};
pub use kernel::{Kernel, KernelParseError, Leaf, Shape};
pub use likelihood::Likelihood;
pub use loo::{LeftOut, normal_probability};
pub use mixture::{Earlier, Form, GpSet, Inference, Member, Sampling, Weighing};
pub use paths::SetPaths;
pub use predict::Scratch;
pub use prior::{Prior, Priors};
pub use simd::processor;
pub use spec::{GpSpec, Mean, Noise};
