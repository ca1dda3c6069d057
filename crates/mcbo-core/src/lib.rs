//! Model-based causal Bayesian optimisation.

// No IO, no clock, no global state: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types))]

mod acquisition;
mod data;
mod expr;
mod graph;
mod intervention;
mod network;
mod optimism;
mod problem;
mod quasi;
mod search;
mod simulator;
mod strategy;
mod study;
mod suspicion;

pub use acquisition::{Acquisition, AcquisitionFactory, CredibleReward, OptimisticReward};
pub use mcbo_gp::processor;
pub use mcbo_gp::{FitOptions, Inference, Kernel, Leaf, Priors, Sampling, Shape};

pub use data::{Data, DataError, Observation, check_done, check_intervention};
pub use expr::{Expr, ExprError, ExprErrorKind};
pub use graph::{Graph, GraphError};
pub use intervention::Intervention;
pub use network::{
    Batch, Choice, FitError, Forecast, LeftOutRow, MechanismKind, ModelMemory, ModelSettings, ModelWarning,
    Network, NodeSummary, NoiseSamples, ParentScaling, Plan, PriorPreset, Workspace, expected_reward,
    input_names, slot_name,
};
pub use optimism::Optimism;
pub use problem::{
    Action, Aim, AimParseError, Components, Diagnostic, Direction, Formulas, Node, NodeBuilder, Noise,
    Problem, ProblemBuilder, ProblemError, ProblemErrors, ProblemWarning,
};
pub use search::{
    Ascent, ENUMERATION_LIMIT, Found, SearchSettings, SearchTask, Stage, Stages, enumerate, maximize,
    target_sets,
};
pub use simulator::Simulator;
pub use strategy::{
    Cbo, Certificate, Context, Criterion, Eifn, ExpectedImprovement, Exploration, Mcbo, Memory, Observe,
    OptionsError, Preset, Random, Recommendation, Rule, Strategy, StrategyName, StrategyOptions,
    StrategySettings, SuggestError, Suggestion, Ucb, Warning, design_point,
};
pub use study::{ChangeError, Origin, Study, StudyError, Trial, TrialState, default_initial, values_by_name};
pub use suspicion::{FormulaFault, Suspicion};
