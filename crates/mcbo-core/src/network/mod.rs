//! The fitted system: one set of Gaussian processes per node, in the user's units at its border.

mod answers;
mod causal;
mod doctor;
mod draws;
mod effects;
mod explain;
mod fit;
mod forecast;
mod form;
mod functions;
mod keeping;
mod memory;
mod mixture;
mod outlook;
mod pending;
mod plan;
mod reward_model;
mod roll;
mod rollout;
mod summary;
mod suspicion;
mod systems;

use mcbo_gp::{GpError, GpSet, Inference, Mean, Priors, Sampling};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::OutsideRange;
use crate::problem::Curve;
pub(crate) use crate::problem::slot_name;
use crate::{Data, Expr, Given, Noise, Problem};

pub(crate) use causal::Causal;
pub use doctor::Doubt;
pub(crate) use draws::{Drawn, Draws};
pub use effects::{Effect, Effects};
pub use explain::{LeftOutRow, MechanismKind, input_names};
pub use forecast::{Forecast, expected_reward};
pub(crate) use forecast::{LOWER_QUANTILE, quantile};
pub(crate) use functions::FunctionDraws;
pub use keeping::Keeping;
pub(crate) use keeping::{Counting, luckiest};
pub(crate) use memory::GroupMemory;
pub use memory::ModelMemory;
pub(crate) use outlook::FEW;
pub use outlook::Outlook;
pub use plan::Plan;
pub(crate) use reward_model::{RewardModel, SMALLEST_DEVIATION};
pub(crate) use rollout::Rollout;
pub use rollout::{Batch, NoiseSamples, Workspace};
pub use summary::NodeSummary;
pub use suspicion::{FormulaFault, Suspicion};
pub(crate) use systems::Systems;

use suspicion::suspicions;

/// Which priors the hyper-parameters have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorPreset {
    /// The authors' gamma priors.
    Reference,
    /// Log-normal priors that grow with the root of the dimension, and a mean that is integrated out.
    DimensionScaled,
}

/// How parents are scaled before a node's process sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentScaling {
    /// By the smallest and largest value seen.
    MinMax,
    /// By the declared range where there is one (`do` or `range`), else by the values seen.
    Declared,
}

/// Everything about the model that is a matter of choice.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// Hyper-parameters at their maximum a posteriori, or marginalised.
    pub inference: Inference,
    /// Priors of the hyper-parameters.
    pub priors: PriorPreset,
    /// Scaling of parents.
    pub scaling: ParentScaling,
    /// The least noise variance of a node, relative to the variance of its values.
    pub noise_floor: f64,
    /// Whether a noiseless node has less than that, as little as its form can follow its values.
    pub learn_misfit: bool,
}

impl ModelSettings {
    /// The settings of the paper's experiments: the authors' priors, MAP, min-max scaling.
    pub fn paper() -> Self {
        Self {
            inference: Inference::default(),
            priors: PriorPreset::Reference,
            scaling: ParentScaling::MinMax,
            noise_floor: 1e-6,
            learn_misfit: false,
        }
    }

    /// The priors of every process.
    pub(crate) fn priors(&self) -> Priors {
        match self.priors {
            PriorPreset::Reference => Priors::reference(),
            PriorPreset::DimensionScaled => Priors::scaled(),
        }
    }

    /// The mean of every process: the reference's is profiled.
    pub(crate) fn mean(&self) -> Mean {
        match self.priors {
            PriorPreset::Reference => Mean::Profiled,
            PriorPreset::DimensionScaled => Mean::Uncertain(1.0),
        }
    }
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            inference: Inference::Samples(Sampling { count: 4, moves: 1, burn_in: 4 }),
            priors: PriorPreset::DimensionScaled,
            scaling: ParentScaling::Declared,
            noise_floor: 1e-6,
            learn_misfit: true,
        }
    }
}

/// Something about a fit that the user should know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModelWarning {
    /// A jitter was needed to factorise a covariance.
    #[error(
        "{node}: a jitter of {jitter:e} was added to the covariance; hint: the rows may be duplicates, or the noise is declared too small"
    )]
    Jitter {
        /// The node.
        node: String,
        /// The jitter, as a fraction of the mean variance.
        jitter: f64,
    },
    /// A node has no rows to learn from.
    #[error(
        "{node}: no row to learn from yet, its prediction is the prior; hint: measure it together with its parents"
    )]
    NoRows {
        /// The node.
        node: String,
    },
    /// A formula has no value for some of what may happen.
    #[error(
        "{node}: its formula has no value for some of what may happen there; hint: guard it, as in sqrt(max(x, 0)) or log(max(x, 0.001))"
    )]
    Undefined {
        /// The node.
        node: String,
    },
    /// Trials did what lies outside the ranges of today.
    #[error("{0}; the model learns from that, and nothing outside is proposed or recommended")]
    Outside(OutsideRange),
    /// The data do not fit, among themselves or with a formula.
    #[error(transparent)]
    Suspicious(#[from] Suspicion),
    /// All values of a node are the same.
    #[error(
        "{node}: all {rows} values there are to learn from are {value}; hint: check the measurement, or drop the node"
    )]
    Constant {
        /// The node.
        node: String,
        /// How many rows.
        rows: usize,
        /// The value.
        value: f64,
    },
}

/// Why a network could not be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the model of {node} cannot be fitted: {source}")]
#[non_exhaustive]
pub struct FitError {
    /// The node.
    pub node: String,
    /// What went wrong.
    pub source: GpError,
}

impl FitError {
    fn of_node(problem: &Problem, node: usize, source: GpError) -> Self {
        Self { node: problem.nodes()[node].name.clone(), source }
    }
}

/// An affine map to a process's own units: `(value - shift) / scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Affine {
    pub shift: f64,
    pub scale: f64,
}

impl Affine {
    pub const IDENTITY: Self = Self { shift: 0.0, scale: 1.0 };

    pub fn apply(self, value: f64) -> f64 {
        (value - self.shift) / self.scale
    }

    fn of_range([low, high]: [f64; 2]) -> Self {
        let scale = high - low;
        Self { shift: low, scale: if scale > 0.0 && scale.is_finite() { scale } else { 1.0 } }
    }

    fn min_max(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::IDENTITY;
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self::of_range([low, high])
    }

    /// Of values that are 1 or 0: the log-odds of ones, each answer counted half a time more, and what log-odds differ by where causes matter.
    fn of_answers(values: &[f64]) -> Self {
        let share = (values.iter().sum::<f64>() + 0.5) / (values.len() as f64 + 1.0);
        Self { shift: (share / (1.0 - share)).ln(), scale: answers::SCALE }
    }

    fn standard(values: &[f64]) -> Self {
        let n = values.len() as f64;
        if values.is_empty() {
            return Self::IDENTITY;
        }
        let shift = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - shift) * (v - shift)).sum::<f64>() / (n - 1.0).max(1.0);
        let scale = variance.sqrt();
        // Values that are all the same say nothing of the scale but their size.
        let usable = scale.is_finite() && scale > 1e-12 * shift.abs() && scale > 0.0;
        let size = if shift != 0.0 { shift.abs() } else { 1.0 };
        Self { shift, scale: if usable { scale } else { size } }
    }
}

/// How an input is brought to a process's own units: along its scale, and from there to about the unit interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scaling {
    pub curve: Curve,
    pub affine: Affine,
}

impl From<Affine> for Scaling {
    fn from(affine: Affine) -> Self {
        Self { curve: Curve::Straight, affine }
    }
}

impl Scaling {
    pub const IDENTITY: Self = Self { curve: Curve::Straight, affine: Affine::IDENTITY };

    /// Of the values of a range, on a scale.
    fn of_range(range: [f64; 2], curve: Curve) -> Self {
        Self { curve, affine: Affine::of_range(range.map(|end| curve.at(end))) }
    }

    pub fn apply(self, value: f64) -> f64 {
        self.affine.apply(self.curve.at(value))
    }
}

/// Components of a node that share one set of processes.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub set: GpSet,
    pub first: usize,
    pub rows: usize,
    /// The variance of the noise of a further row of every component, as the processes see it.
    pub row_noise: Vec<f64>,
    /// The scales of the inputs and of the outputs, which its hyper-parameters are relative to.
    pub scales: Vec<f64>,
}

impl Group {
    /// Adds a row that was not measured, with the noise that measured ones have.
    fn append(&mut self, inputs: &[f64], output: f64, component: usize) -> Result<(), GpError> {
        self.set.append(inputs, output, component, self.row_noise[component])
    }
}

/// The model of one node.
#[derive(Debug, Clone)]
pub(crate) struct NodeModel {
    pub inputs: Vec<Scaling>,
    pub outputs: Vec<Affine>,
    /// The noise that children see, per component and in the user's units: none that is still to be learned. Of a node whose name
    /// has causes it is the point of the unit interval that decides between the names.
    pub noise: Vec<Noise>,
    pub mechanism: Mechanism,
    /// Where a name has causes: what its outputs say.
    pub sticks: Option<Sticks>,
}

impl NodeModel {
    /// The sets of processes of a learned mechanism.
    pub fn groups(&self) -> &[Group] {
        match &self.mechanism {
            Mechanism::Learned(groups) => groups,
            Mechanism::Formula(_) => &[],
        }
    }

    /// What a number that the mechanism gives stands for: itself, or where names have causes a probability.
    pub fn within(&self, value: f64) -> f64 {
        match self.sticks {
            // What has no value stays without one.
            Some(Sticks::Known) => value.clamp(0.0, 1.0) + 0.0 * value,
            Some(Sticks::Learned) => answers::probability(value),
            None => value,
        }
    }
}

/// What the outputs of a node say whose name has causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sticks {
    /// Probabilities.
    Known,
    /// Their log-odds.
    Learned,
}

#[derive(Debug, Clone)]
pub(crate) enum Mechanism {
    Formula(Vec<Expr>),
    Learned(Vec<Group>),
}

/// The fitted system.
///
/// Nodes without a path to the reward are left out.
#[derive(Debug, Clone)]
pub struct Network {
    pub(crate) nodes: Vec<Option<NodeModel>>,
    /// The trials of every node's rows, by component.
    trials: Vec<Vec<Vec<usize>>>,
    warnings: Vec<ModelWarning>,
    /// What is known of the trial that is predicted.
    given: Given,
}

impl Network {
    /// From here on all predictions are of trials in which this is known.
    pub fn given(&mut self, given: &Given) {
        self.given.clone_from(given);
    }

    /// Fits one model per node to the data, beginning from the hyper-parameters of an earlier round.
    ///
    /// # Errors
    /// If a node's covariance cannot be factorised at all.
    pub fn fit(
        problem: &Problem,
        data: &Data,
        memory: &ModelMemory,
        settings: &ModelSettings,
        rng: &mut dyn Rng,
    ) -> Result<Self, FitError> {
        let seed: u64 = rng.random();
        let relevant = problem.matters(&[]);
        let fitted = (0..problem.nodes().len())
            .into_par_iter()
            .map(|node| {
                if !relevant[node] {
                    return Ok((None, Vec::new()));
                }
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(node as u64 + 1);
                fit::fit_node(problem, data, node, &memory.groups(node), settings, &mut rng)
                    .map(|(model, warnings)| (Some(model), warnings))
                    .map_err(|source| FitError::of_node(problem, node, source))
            })
            .collect::<Result<Vec<_>, FitError>>()?;
        let (nodes, warnings): (Vec<_>, Vec<_>) = fitted.into_iter().unzip();
        let trials = (0..nodes.len()).map(|node| summary::trials(problem, data, node)).collect();
        let warnings = warnings.into_iter().flatten().collect();
        let mut network = Self { nodes, trials, warnings, given: Given::default() };
        network.warnings.extend(data.outside(problem).into_iter().map(ModelWarning::Outside));
        network.warnings.extend(suspicions(problem, data, &network).into_iter().map(ModelWarning::from));
        Ok(network)
    }

    /// A multiple of the deviation of the noise of a component, at least a share of the scale of its values.
    pub(crate) fn smoothed_noise(&self, node: usize, component: usize, multiple: f64, least: f64) -> f64 {
        self.nodes[node].as_ref().map_or(1.0, |model| {
            let deviation = multiple * model.noise[component].deviation();
            deviation.max(least * model.outputs[component].scale)
        })
    }

    /// What the user should know about the fit.
    pub fn warnings(&self) -> &[ModelWarning] {
        &self.warnings
    }

    /// The hyper-parameters, to begin the next round from.
    pub fn memory(&self) -> ModelMemory {
        ModelMemory::of(self.nodes.iter().map(|node| node.as_ref().map_or(&[][..], NodeModel::groups)))
    }
}

/// The name of one of the names of a node whose name has causes, where it is said how probable each is: `kind=crack`.
pub fn share_name(problem: &Problem, node: usize, place: usize) -> String {
    let Some(node) = problem.nodes().get(node) else { return String::new() };
    format!("{}={}", node.name, node.choices.get(place).map_or("", String::as_str))
}
