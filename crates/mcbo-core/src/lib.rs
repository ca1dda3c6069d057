//! Model-based causal Bayesian optimisation.

// No IO, no clock, no global state: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types))]

mod acquisition;
mod data;
mod decision;
mod expr;
mod given;
mod graph;
mod intervention;
mod network;
mod noise;
mod optimism;
mod problem;
mod quasi;
mod search;
mod strategy;
mod study;
#[cfg(test)]
mod testing;

pub use acquisition::{Acquisition, AcquisitionFactory, CredibleReward, OptimisticReward};
pub use mcbo_gp::processor;
pub use mcbo_gp::{FitOptions, Inference, Kernel, Leaf, Priors, Sampling, Shape};

pub use data::{
    Data, DataError, LARGEST, Observation, OutsideRange, check_done, check_intervention, check_ranges,
    check_size, keeps_limits, values_by_name,
};
pub use decision::DecisionSpace;
pub use expr::{Expr, ExprError, ExprErrorKind, nearest};
pub use given::{Fixed, Given};
pub use graph::{Graph, GraphError};
pub use intervention::{Choice, Intervention};
pub use network::{
    Batch, Doubt, Effect, Effects, FitError, Forecast, FormulaFault, Keeping, LeftOutRow, MechanismKind,
    ModelMemory, ModelSettings, ModelWarning, Network, NodeSummary, NoiseSamples, Outlook, ParentScaling,
    Plan, PriorPreset, Suspicion, Workspace, expected_reward, input_names, share_name,
};
pub use noise::Noise;
pub use optimism::Optimism;
pub use problem::{
    Action, Aim, AimParseError, Components, Cost, Diagnostic, Direction, ENUMERATION_LIMIT, Formulas, Grid,
    Limit, Node, NodeBuilder, Problem, ProblemBuilder, ProblemError, ProblemErrors, ProblemWarning,
    Requirement, RequirementFault, Scale, Simulator, enumerate, slot_name, target_sets,
};
pub use search::{Ascent, AscentBudget, Candidate, SearchPhase, SearchSettings, SearchTask, maximize};
pub use strategy::{
    Cbo, Certificate, Context, Criterion, Eifn, ExpectedImprovement, Exploration, Luck, Mcbo, Memory,
    Observe, OptionsError, Preset, Proposal, Random, Recommendation, Rule, Strategy, StrategyName,
    StrategyOptions, StrategySettings, SuggestError, Suggestion, Ucb, Warning, design_point,
};
pub use study::{
    ChangeError, Oddity, Origin, Prediction, Standing, Study, StudyError, Trial, TrialState, Why,
    default_initial,
};
