//! The methods that are compared: a strategy with its settings, under a name.

use std::fmt;
use std::str::FromStr;

use mcbo_core::{Preset, Rule, Strategy, StrategyName, StrategySettings};

use crate::error::BenchError;
use crate::protocol::{Feedback, name_hash};

/// A strategy with its settings, as it takes part in a comparison.
///
/// Two methods that do the same are equal: settings that a strategy does not have are left out, and those that it has by
/// default are written out.
///
/// ```
/// use mcbo_bench::Method;
/// use mcbo_core::{Preset, StrategyName};
/// let method: Method = "mcbo-paper-0.5".parse()?;
/// assert_eq!(method, Method::new(StrategyName::Mcbo, Preset::Paper, None));
/// assert_eq!(method.label(), "MCBO β=0.5");
/// assert_eq!("mcbo".parse::<Method>()?.label(), "MCBO default");
/// # Ok::<(), mcbo_bench::BenchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    settings: StrategySettings,
    feedback: Feedback,
}

/// The name of `cbo` where it is told single outcomes, which it is everywhere but in a comparison.
pub const CBO_NOISY: &str = "cbo-noisy";

impl Method {
    /// A strategy with the settings of a preset, and with a fixed width if one is given. `cbo` is told `E[Y]` of its
    /// interventions, as in the paper.
    pub fn new(strategy: StrategyName, preset: Preset, beta: Option<f64>) -> Self {
        StrategySettings::new(strategy, preset, beta).into()
    }

    /// The same, told single outcomes whatever the strategy.
    #[must_use]
    pub fn measured(self) -> Self {
        Self { feedback: Feedback::Measured, ..self }
    }

    /// The strategy's name.
    pub fn strategy(&self) -> StrategyName {
        self.settings.name()
    }

    /// The settings of its model.
    pub fn preset(&self) -> Preset {
        self.settings.preset()
    }

    /// The width of its confidence band, if it is fixed.
    pub fn beta(&self) -> Option<f64> {
        self.settings.beta()
    }

    /// Its place among the methods in figures and tables.
    pub(crate) fn place(&self) -> usize {
        2 * self.strategy() as usize + usize::from(self.is_noisy_cbo())
    }

    fn is_noisy_cbo(&self) -> bool {
        self.strategy() == StrategyName::Cbo && self.feedback == Feedback::Measured
    }

    /// The name in figures and tables.
    pub fn label(&self) -> String {
        let name = match self.strategy() {
            StrategyName::Mcbo => "MCBO",
            StrategyName::Eifn => "EIFN",
            StrategyName::Cbo if self.is_noisy_cbo() => "CBO (noisy feedback)",
            StrategyName::Cbo => "CBO",
            StrategyName::Ucb => "UCB",
            StrategyName::Ei => "EI",
            StrategyName::Random => "random",
            StrategyName::Observe => "observing",
        };
        let preset = match (self.preset(), self.beta()) {
            (Preset::Default, _) if self.strategy().has_model() => " default",
            _ => "",
        };
        let beta = self.beta().map_or_else(String::new, |beta| format!(" β={beta}"));
        let rule = self.settings.rule().map_or_else(String::new, |rule| format!(", {}", rule.as_str()));
        format!("{name}{preset}{beta}{rule}")
    }

    /// The strategy itself.
    pub fn build(&self) -> Box<dyn Strategy> {
        self.settings.build()
    }

    /// Changes when a setting does: runs of other settings are not continued.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", name_hash(&self.settings.describe()))
    }

    /// What the strategy is told about its interventions.
    pub fn feedback(&self) -> Feedback {
        self.feedback
    }
}

impl From<StrategySettings> for Method {
    fn from(settings: StrategySettings) -> Self {
        let feedback = match settings.name() {
            StrategyName::Cbo => Feedback::Expected,
            _ => Feedback::Measured,
        };
        Self { settings, feedback }
    }
}

/// The name in files: `mcbo`, `mcbo-paper-0.5`, `eifn-paper`, `random`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_noisy_cbo() { CBO_NOISY } else { self.strategy().as_str() })?;
        if self.preset() == Preset::Paper {
            f.write_str("-paper")?;
        }
        self.beta().map_or(Ok(()), |beta| write!(f, "-{beta}"))?;
        self.settings.rule().map_or(Ok(()), |rule| write!(f, "-{}", rule.as_str()))
    }
}

impl FromStr for Method {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Self, BenchError> {
        let mut names = StrategyName::ALL.map(|name| (name.as_str(), name, false)).to_vec();
        names.push((CBO_NOISY, StrategyName::Cbo, true));
        // The longest first: `cbo-noisy` before `cbo`.
        names.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len()));
        let read = || {
            let prefix = |(name, strategy, noisy): &(&str, StrategyName, bool)| {
                Some((*strategy, *noisy, text.strip_prefix(name)?))
            };
            let (strategy, noisy, rest) = names.iter().find_map(prefix)?;
            let (preset, rest) = match rest.strip_prefix("-paper") {
                Some(rest) => (Preset::Paper, rest),
                None => (Preset::Default, rest),
            };
            let settings = |beta: Option<f64>| StrategySettings::new(strategy, preset, beta);
            if let Some(rule) = rest.strip_prefix('-').and_then(|rule| rule.parse::<Rule>().ok()) {
                return (strategy == StrategyName::Mcbo).then(|| settings(None).with_rule(rule).into());
            }
            let beta = match rest.strip_prefix('-') {
                Some(number) => Some(number.parse::<f64>().ok().filter(|b| *b >= 0.0 && b.is_finite())?),
                None if rest.is_empty() => None,
                None => return None,
            };
            let method = Self::from(settings(beta));
            let method = if noisy { method.measured() } else { method };
            (beta.is_none() || method.beta() == beta).then_some(method)
        };
        read().ok_or_else(|| BenchError::UnknownMethod { name: text.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for strategy in StrategyName::ALL {
            for preset in [Preset::Default, Preset::Paper] {
                for beta in [None, Some(0.05), Some(5.0)] {
                    let method = Method::new(strategy, preset, beta);
                    assert_eq!(method.to_string().parse(), Ok(method));
                    assert_eq!(method.measured().to_string().parse(), Ok(method.measured()));
                }
            }
        }
        for rule in ["mcbo-find", "mcbo-earn", "mcbo-theory", "mcbo-paper-theory"] {
            assert_eq!(rule.parse::<Method>().unwrap().to_string(), rule);
        }
        for wrong in [
            "",
            "mcb",
            "eifn-find",
            "mcbo-find-1",
            "mcbo-",
            "mcbo-x",
            "mcbo-paper-",
            "mcbo-nan",
            "mcbo--1",
            "random-1",
            "ucb5",
        ] {
            assert!(wrong.parse::<Method>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn fingerprints_tell_settings_apart() {
        let print = |name: &str| name.parse::<Method>().unwrap().fingerprint();
        let all = [
            "mcbo",
            "mcbo-find",
            "mcbo-theory",
            "mcbo-0.4",
            "mcbo-paper",
            "mcbo-paper-5",
            "eifn",
            "ucb",
            "ucb-paper",
            "ei",
            "random",
        ];
        let prints: std::collections::BTreeSet<String> = all.iter().map(|name| print(name)).collect();
        assert_eq!(prints.len(), all.len());
    }
}
