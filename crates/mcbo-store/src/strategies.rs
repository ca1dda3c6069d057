//! From the strategy's name in the log to the strategy.

use std::sync::Arc;

use mcbo_core::{Aim, Exploration, Mcbo, Random, Strategy};
use serde::{Deserialize, Serialize};

/// A strategy and its settings, as names and numbers that can be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyOptions {
    /// The strategy's name, as on the command line.
    pub strategy: String,
    /// The name of the settings of its model: `default` or `paper`.
    pub preset: String,
    /// The width of its confidence band, if it is fixed.
    pub beta: Option<f64>,
    /// What MCBO goes by where no width is fixed, if it is not the problem's aim: `earn`, `find` or `theory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<String>,
}

impl Default for StrategyOptions {
    /// MCBO as it is by default.
    fn default() -> Self {
        Self { strategy: "mcbo".into(), preset: "default".into(), beta: None, aim: None }
    }
}

impl StrategyOptions {
    /// A strategy with its default settings.
    pub fn named(strategy: impl Into<String>) -> Self {
        Self { strategy: strategy.into(), ..Self::default() }
    }
}

/// Who knows strategies by name. The store knows none of its own: whoever opens it brings them along.
pub trait Strategies: Send + Sync {
    /// The strategy.
    ///
    /// # Errors
    /// What is wrong with the name or the settings, with a hint.
    fn strategy(&self, options: &StrategyOptions) -> Result<Arc<dyn Strategy>, String>;

    /// The model behind recommendations.
    ///
    /// # Errors
    /// What is wrong with the settings, with a hint.
    fn advisor(&self, options: &StrategyOptions) -> Result<Mcbo, String> {
        mcbo(options)
    }
}

/// A function does as well.
impl<F> Strategies for F
where
    F: Fn(&StrategyOptions) -> Result<Arc<dyn Strategy>, String> + Send + Sync,
{
    fn strategy(&self, options: &StrategyOptions) -> Result<Arc<dyn Strategy>, String> {
        self(options)
    }
}

/// What a store knows before it is told more: `mcbo` and `random`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Basic;

impl Strategies for Basic {
    fn strategy(&self, options: &StrategyOptions) -> Result<Arc<dyn Strategy>, String> {
        match options.strategy.as_str() {
            "mcbo" => Ok(Arc::new(mcbo(options)?)),
            "random" => Ok(Arc::new(Random)),
            _ => Err("it is unknown here; hint: mcbo and random are known".into()),
        }
    }
}

fn mcbo(options: &StrategyOptions) -> Result<Mcbo, String> {
    let mcbo = match options.preset.as_str() {
        "default" => Mcbo::default(),
        "paper" => Mcbo::paper(),
        other => return Err(format!("the preset {other:?} is unknown; hint: default or paper")),
    };
    match (options.beta, options.aim.as_deref()) {
        (Some(beta), _) if !beta.is_finite() || beta < 0.0 => {
            Err(format!("β is {beta}; hint: it is a finite number, at least 0"))
        }
        (Some(beta), _) => Ok(mcbo.with_beta(beta)),
        (None, Some("theory")) => Ok(Mcbo { exploration: Exploration::Theory, ..mcbo }),
        (None, Some(aim)) => {
            aim.parse::<Aim>().map(|aim| mcbo.with_aim(aim)).map_err(|error| error.to_string())
        }
        (None, None) => Ok(mcbo),
    }
}
