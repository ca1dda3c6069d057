//! From the names of the command line to methods.

use mcbo_bench::{Method, Rule};

use crate::cli::{AimName, Preset, StrategyName, Width};

/// The strategy of that name with the settings of a preset, and with a width or an aim if one is given.
pub fn method(name: StrategyName, preset: Preset, width: Option<Width>, aim: Option<AimName>) -> Method {
    let preset = match preset {
        Preset::Default => mcbo_bench::Preset::Default,
        Preset::Paper => mcbo_bench::Preset::Paper,
    };
    let method = |beta: Option<f64>| Method::new(strategy(name), preset, beta);
    match (width, aim) {
        (Some(Width::Fixed(beta)), _) => method(Some(beta)),
        (Some(Width::Theory), _) => method(None).with_rule(Rule::Theory),
        (None, Some(AimName::Earn)) => method(None).with_rule(Rule::Earn),
        (None, Some(AimName::Find)) => method(None).with_rule(Rule::Find),
        (None, None) => method(None),
    }
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
