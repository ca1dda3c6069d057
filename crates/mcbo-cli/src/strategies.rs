//! From the names of the command line to methods.

use mcbo_bench::Method;

use crate::cli::{Preset, StrategyName};

/// The strategy of that name with the settings of a preset, and with a fixed width if one is given.
pub fn method(name: StrategyName, preset: Preset, beta: Option<f64>) -> Method {
    let preset = match preset {
        Preset::Default => mcbo_bench::Preset::Default,
        Preset::Paper => mcbo_bench::Preset::Paper,
    };
    Method::new(strategy(name), preset, beta)
}

/// The same name in the library's words.
pub fn strategy(name: StrategyName) -> mcbo_bench::StrategyName {
    use mcbo_bench::StrategyName as Of;
    match name {
        StrategyName::Mcbo => Of::Mcbo,
        StrategyName::Eifn => Of::Eifn,
        StrategyName::Cbo => Of::Cbo,
        StrategyName::CboNoisy => Of::CboNoisy,
        StrategyName::Ucb => Of::Ucb,
        StrategyName::Ei => Of::Ei,
        StrategyName::Random => Of::Random,
        StrategyName::Observe => Of::Observe,
    }
}
