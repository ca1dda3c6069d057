//! From the names of the command line to strategies.

use mcbo_core::{Mcbo, Random, Strategy};

use crate::cli::{Preset, StrategyName};

/// MCBO with the settings of a preset, and with a fixed width if one is given.
pub fn mcbo(preset: Preset, beta: Option<f64>) -> Mcbo {
    let mcbo = match preset {
        Preset::Default => Mcbo::default(),
        Preset::Paper => Mcbo::paper(),
    };
    match beta {
        Some(beta) => mcbo.with_beta(beta),
        None => mcbo,
    }
}

/// The strategy of that name.
pub fn boxed(name: StrategyName, preset: Preset, beta: Option<f64>) -> Box<dyn Strategy> {
    match name {
        StrategyName::Mcbo => Box::new(mcbo(preset, beta)),
        StrategyName::Random => Box::new(Random),
    }
}

/// Whether a strategy has a confidence band whose width can be fixed.
pub fn has_beta(name: StrategyName) -> bool {
    match name {
        StrategyName::Mcbo => true,
        StrategyName::Random => false,
    }
}
