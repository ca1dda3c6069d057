//! From the strategy's name in the log to the strategy.

use std::str::FromStr;
use std::sync::Arc;

use mcbo_core::{Mcbo, Strategy, StrategyName, StrategyOptions, StrategySettings};

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
