//! From the names of the command line to strategies.

use mcbo_core::{Cbo, Eifn, ExpectedImprovement, Mcbo, ModelSettings, Observe, Random, Strategy, Ucb};

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

/// The strategy of that name; all share the model of the preset.
pub fn boxed(name: StrategyName, preset: Preset, beta: Option<f64>) -> Box<dyn Strategy> {
    let model = match preset {
        Preset::Default => ModelSettings::default(),
        Preset::Paper => ModelSettings::paper(),
    };
    match name {
        StrategyName::Mcbo => Box::new(mcbo(preset, beta)),
        StrategyName::Eifn => Box::new(Eifn { model, ..Eifn::default() }),
        StrategyName::Cbo => Box::new(Cbo { model, ..Cbo::default() }),
        StrategyName::Ucb => {
            let usual = Ucb::default();
            Box::new(Ucb { model, beta: beta.unwrap_or(usual.beta), ..usual })
        }
        StrategyName::Ei => Box::new(ExpectedImprovement { model, ..ExpectedImprovement::default() }),
        StrategyName::Random => Box::new(Random),
        StrategyName::Observe => Box::new(Observe),
    }
}

/// Whether a strategy has a confidence band whose width can be fixed.
pub fn has_beta(name: StrategyName) -> bool {
    matches!(name, StrategyName::Mcbo | StrategyName::Ucb)
}
