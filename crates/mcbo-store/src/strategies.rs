//! From the strategy's name in the log to the strategy.

use std::str::FromStr;
use std::sync::Arc;

use mcbo_core::{
    Context, Mcbo, Proposal, Strategy, StrategyName, StrategyOptions, StrategySettings, SuggestError,
};
use rand::Rng;

/// Who knows strategies by name. The store knows those of the library; whoever opens it may bring others along.
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
        // Behind a strategy of the caller's own stands MCBO as it is by default.
        let known = StrategyName::from_str(&options.strategy).is_ok();
        let name = if known { &options.strategy } else { StrategyName::Mcbo.as_str() };
        let options = StrategyOptions { strategy: name.to_owned(), ..options.clone() };
        Ok(StrategySettings::try_from(&options).map_err(|error| error.to_string())?.mcbo())
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

/// The strategies of the library, which a store knows before it is told more.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library;

impl Strategies for Library {
    fn strategy(&self, options: &StrategyOptions) -> Result<Arc<dyn Strategy>, String> {
        Ok(StrategySettings::try_from(options).map_err(|error| error.to_string())?.build().into())
    }
}

/// Stands for a strategy that whoever opened the store did not bring along: a study can be read and told without it, not asked.
pub(crate) struct Missing {
    name: String,
    reason: String,
}

impl Missing {
    /// The strategy of this name that is missing, and why.
    pub fn strategy(name: &str, reason: String) -> Arc<dyn Strategy> {
        Arc::new(Self { name: name.to_owned(), reason })
    }
}

impl Strategy for Missing {
    fn name(&self) -> &str {
        &self.name
    }

    fn suggest(&self, _: &Context<'_>, _: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        Err(SuggestError::Own { name: self.name.clone(), reason: self.reason.clone() })
    }
}
