//! From the options of the command line to a strategy with its settings.

use mcbo_core::{Preset, Rule, StrategyName, StrategySettings};

use crate::cli::Width;

/// The strategy of that name with the settings of a preset, and with a width or an aim if one is given.
pub fn settings(
    name: StrategyName,
    preset: Preset,
    width: Option<Width>,
    aim: Option<Rule>,
) -> StrategySettings {
    let (beta, rule) = match width {
        Some(Width::Fixed(beta)) => (Some(beta), None),
        Some(Width::Theory) => (None, Some(Rule::Theory)),
        None => (None, aim),
    };
    let settings = StrategySettings::new(name, preset, beta);
    rule.map_or(settings, |rule| settings.with_rule(rule))
}
