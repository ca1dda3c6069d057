//! Model-based causal Bayesian optimisation.

mod intervention;

pub use intervention::Intervention;
