//! The strategies by name, with their settings as data: what the command line, Python, stores and benchmarks choose from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Aim, ModelSettings};

use super::{Cbo, Eifn, ExpectedImprovement, Exploration, Mcbo, Observe, Random, Strategy, Ucb};

/// The strategies by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StrategyName {
    /// [`Mcbo`].
    Mcbo,
    /// [`Eifn`].
    Eifn,
    /// [`Cbo`].
    Cbo,
    /// [`Ucb`].
    Ucb,
    /// [`ExpectedImprovement`].
    Ei,
    /// [`Random`].
    Random,
    /// [`Observe`].
    Observe,
}

impl StrategyName {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Mcbo, Self::Eifn, Self::Cbo, Self::Ucb, Self::Ei, Self::Random, Self::Observe];

    /// The name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcbo => "mcbo",
            Self::Eifn => "eifn",
            Self::Cbo => "cbo",
            Self::Ucb => "ucb",
            Self::Ei => "ei",
            Self::Random => "random",
            Self::Observe => "observe",
        }
    }

    /// What it does, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Mcbo => "The model of the causal graph, optimistic where it is not sure",
            Self::Eifn => "Expected improvement over the model of the graph",
            Self::Cbo => "Causal Bayesian optimisation: one model per target set, with do-calculus priors",
            Self::Ucb => "Upper confidence bound of one model, blind to the graph",
            Self::Ei => "Expected improvement of one model, blind to the graph",
            Self::Random => "Chance, to compare with",
            Self::Observe => "Never intervenes",
        }
    }

    /// Whether there is a confidence band whose width can be fixed.
    pub fn has_beta(self) -> bool {
        matches!(self, Self::Mcbo | Self::Ucb)
    }

    /// Whether there is a model whose settings can be chosen.
    pub fn has_model(self) -> bool {
        !matches!(self, Self::Random | Self::Observe)
    }

    /// Whether the strategy needs nodes that can be set.
    pub fn needs_targets(self) -> bool {
        matches!(self, Self::Cbo | Self::Observe)
    }
}

/// Settings of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Preset {
    /// What was best over all benchmark tasks.
    #[default]
    Default,
    /// The settings of the paper's experiments.
    Paper,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Default, Self::Paper];

    /// The name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
        }
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Default => "What was best over all benchmark tasks",
            Self::Paper => "The settings of the paper's experiments",
        }
    }
}

/// How MCBO explores where no width is fixed and it is not left to the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Every trial counts.
    Earn,
    /// Only the final recommendation counts.
    Find,
    /// The width of the paper's theorem.
    Theory,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Earn, Self::Find, Self::Theory];

    /// The name in methods and stored options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Earn => "earn",
            Self::Find => "find",
            Self::Theory => "theory",
        }
    }
}

/// Why there is no such strategy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A name that no strategy has.
    #[error("no strategy is called {name:?}; hint: the strategies are {known}")]
    UnknownStrategy {
        /// The name found.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A name that no preset has.
    #[error("the preset {name:?} is unknown; hint: default or paper")]
    UnknownPreset {
        /// The name found.
        name: String,
    },
    /// A name that no aim has.
    #[error("the aim {name:?} is unknown; hint: earn, find or theory")]
    UnknownAim {
        /// The name found.
        name: String,
    },
    /// A width that is none.
    #[error("β is {beta}; hint: it is a finite number, at least 0")]
    Width {
        /// The number found.
        beta: f64,
    },
    /// An aim for a strategy that has none.
    #[error("only mcbo goes by an aim; hint: leave it out")]
    Aimless,
}

impl FromStr for StrategyName {
    type Err = OptionsError;

    fn from_str(name: &str) -> Result<Self, OptionsError> {
        Self::ALL.into_iter().find(|known| known.as_str() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            OptionsError::UnknownStrategy { name: name.to_owned(), known }
        })
    }
}

impl FromStr for Preset {
    type Err = OptionsError;

    fn from_str(name: &str) -> Result<Self, OptionsError> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == name);
        found.ok_or_else(|| OptionsError::UnknownPreset { name: name.to_owned() })
    }
}

impl FromStr for Rule {
    type Err = OptionsError;

    fn from_str(name: &str) -> Result<Self, OptionsError> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == name);
        found.ok_or_else(|| OptionsError::UnknownAim { name: name.to_owned() })
    }
}

/// A strategy and its settings, as names and numbers that can be stored. The strategy may be one of the caller's own, which is not
/// in the list.
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
        StrategySettings::default().into()
    }
}

impl StrategyOptions {
    /// A strategy with its default settings.
    pub fn named(strategy: impl Into<String>) -> Self {
        Self { strategy: strategy.into(), ..Self::default() }
    }
}

/// A strategy of the list with its settings.
///
/// Two that do the same are equal: settings that a strategy does not have are left out, and those that it has by default are
/// written out.
///
/// ```
/// use mcbo_core::{Preset, Rule, StrategyName, StrategyOptions, StrategySettings};
/// let settings = StrategySettings::new(StrategyName::Mcbo, Preset::Default, None).with_rule(Rule::Find);
/// assert_eq!(settings.build().name(), "mcbo");
/// let stored = StrategyOptions::from(settings);
/// assert_eq!(stored.aim.as_deref(), Some("find"));
/// assert_eq!(StrategySettings::try_from(&stored)?, settings);
/// # Ok::<(), mcbo_core::OptionsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrategySettings {
    name: StrategyName,
    preset: Preset,
    beta: Option<f64>,
    rule: Option<Rule>,
}

impl Default for StrategySettings {
    fn default() -> Self {
        Self::new(StrategyName::Mcbo, Preset::Default, None)
    }
}

impl StrategySettings {
    /// A strategy with the settings of a preset, and with a fixed width if one is given.
    pub fn new(name: StrategyName, preset: Preset, beta: Option<f64>) -> Self {
        let preset = if name.has_model() { preset } else { Preset::Default };
        let beta = match (name, preset) {
            (StrategyName::Mcbo, Preset::Default) => beta,
            (StrategyName::Mcbo | StrategyName::Ucb, _) => Some(beta.unwrap_or(0.5)),
            _ => None,
        };
        Self { name, preset, beta, rule: None }
    }

    /// The same with a rule of exploration instead of a width, for MCBO; others have none.
    #[must_use]
    pub fn with_rule(self, rule: Rule) -> Self {
        match self.name {
            StrategyName::Mcbo => Self { beta: None, rule: Some(rule), ..self },
            _ => self,
        }
    }

    /// The strategy's name.
    pub fn name(&self) -> StrategyName {
        self.name
    }

    /// The settings of its model.
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// The width of its confidence band, if it is fixed.
    pub fn beta(&self) -> Option<f64> {
        self.beta
    }

    /// How it explores, if that is neither a width nor left to the problem.
    pub fn rule(&self) -> Option<Rule> {
        self.rule
    }

    /// The strategy itself.
    pub fn build(&self) -> Box<dyn Strategy> {
        self.construct().0
    }

    /// All settings as text, which changes when one of them does.
    pub fn describe(&self) -> String {
        self.construct().1
    }

    /// The strategy, and its settings as text.
    fn construct(&self) -> (Box<dyn Strategy>, String) {
        fn boxed<S: Strategy + fmt::Debug + 'static>(strategy: S) -> (Box<dyn Strategy>, String) {
            let text = format!("{strategy:?}");
            (Box::new(strategy), text)
        }
        let model = match self.preset {
            Preset::Default => ModelSettings::default(),
            Preset::Paper => ModelSettings::paper(),
        };
        match self.name {
            StrategyName::Mcbo => boxed(self.mcbo()),
            StrategyName::Eifn => boxed(Eifn { model, ..Eifn::default() }),
            StrategyName::Cbo => boxed(Cbo { model, ..Cbo::default() }),
            StrategyName::Ucb => {
                let usual = Ucb::default();
                boxed(Ucb { model, beta: self.beta.unwrap_or(usual.beta), ..usual })
            }
            StrategyName::Ei => boxed(ExpectedImprovement { model, ..ExpectedImprovement::default() }),
            StrategyName::Random => boxed(Random),
            StrategyName::Observe => boxed(Observe),
        }
    }

    /// MCBO with these settings, whatever the strategy: the model behind recommendations.
    pub fn mcbo(&self) -> Mcbo {
        let mcbo = match self.preset {
            Preset::Default => Mcbo::default(),
            Preset::Paper => Mcbo::paper(),
        };
        match (self.beta, self.rule) {
            (Some(beta), _) => mcbo.with_beta(beta),
            (None, Some(Rule::Earn)) => mcbo.with_aim(Aim::Earn),
            (None, Some(Rule::Find)) => mcbo.with_aim(Aim::Find),
            (None, Some(Rule::Theory)) => Mcbo { exploration: Exploration::Theory, ..mcbo },
            (None, None) => mcbo,
        }
    }
}

impl From<StrategySettings> for StrategyOptions {
    fn from(settings: StrategySettings) -> Self {
        Self {
            strategy: settings.name.as_str().into(),
            preset: settings.preset.as_str().into(),
            beta: settings.beta,
            aim: settings.rule.map(|rule| rule.as_str().into()),
        }
    }
}

impl TryFrom<&StrategyOptions> for StrategySettings {
    type Error = OptionsError;

    fn try_from(options: &StrategyOptions) -> Result<Self, OptionsError> {
        let (name, preset) = (options.strategy.parse::<StrategyName>()?, options.preset.parse::<Preset>()?);
        if let Some(beta) = options.beta.filter(|beta| !beta.is_finite() || *beta < 0.0) {
            return Err(OptionsError::Width { beta });
        }
        let settings = Self::new(name, preset, options.beta);
        match options.aim.as_deref() {
            // A width that is fixed needs no rule.
            Some(_) if options.beta.is_some() => Ok(settings),
            Some(_) if name != StrategyName::Mcbo => Err(OptionsError::Aimless),
            Some(aim) => Ok(settings.with_rule(aim.parse()?)),
            None => Ok(settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_storing() {
        for name in StrategyName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
            assert_eq!(StrategySettings::new(name, Preset::Default, None).build().name(), name.as_str());
            for preset in Preset::ALL {
                for beta in [None, Some(0.05), Some(5.0)] {
                    let settings = StrategySettings::new(name, preset, beta);
                    assert_eq!(StrategySettings::try_from(&StrategyOptions::from(settings)), Ok(settings));
                }
            }
        }
        for rule in Rule::ALL {
            let settings = StrategySettings::default().with_rule(rule);
            assert_eq!(StrategySettings::try_from(&StrategyOptions::from(settings)), Ok(settings));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let usual = StrategyOptions::default;
        let some = |text: &str| Some(text.to_owned());
        for (options, message) in [
            (
                StrategyOptions::named("mcb"),
                "no strategy is called \"mcb\"; hint: the strategies are mcbo, eifn, cbo, ucb, ei, random, observe",
            ),
            (
                StrategyOptions { preset: "papr".into(), ..usual() },
                "the preset \"papr\" is unknown; hint: default or paper",
            ),
            (
                StrategyOptions { beta: Some(f64::NAN), ..usual() },
                "β is NaN; hint: it is a finite number, at least 0",
            ),
            (
                StrategyOptions { aim: some("fnd"), ..usual() },
                "the aim \"fnd\" is unknown; hint: earn, find or theory",
            ),
            (
                StrategyOptions { aim: some("find"), ..StrategyOptions::named("ei") },
                "only mcbo goes by an aim; hint: leave it out",
            ),
        ] {
            let error = StrategySettings::try_from(&options).expect_err("it is wrong");
            assert_eq!(error.to_string(), message);
        }
    }
}
