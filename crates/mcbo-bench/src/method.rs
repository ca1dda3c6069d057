//! The methods that are compared: a strategy with its settings, under a name.

use std::fmt;
use std::str::FromStr;

use mcbo_core::{
    Aim, Cbo, Eifn, ExpectedImprovement, Exploration, Mcbo, ModelSettings, Observe, Random, Strategy, Ucb,
};

use crate::error::BenchError;
use crate::protocol::{Feedback, name_hash};

/// The strategies by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StrategyName {
    /// Model-based causal Bayesian optimisation.
    Mcbo,
    /// Expected improvement over the network.
    Eifn,
    /// Causal Bayesian optimisation by do-calculus, told `E[Y]` of its interventions as in the paper.
    Cbo,
    /// The same, told single outcomes like everyone else.
    CboNoisy,
    /// Upper confidence bound of one process per target set.
    Ucb,
    /// Expected improvement of one process per target set.
    Ei,
    /// Uniformly random interventions.
    Random,
    /// Never intervenes.
    Observe,
}

impl StrategyName {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Mcbo, Self::Eifn, Self::Cbo, Self::CboNoisy, Self::Ucb, Self::Ei, Self::Random, Self::Observe];

    /// The name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcbo => "mcbo",
            Self::Eifn => "eifn",
            Self::Cbo => "cbo",
            Self::CboNoisy => "cbo-noisy",
            Self::Ucb => "ucb",
            Self::Ei => "ei",
            Self::Random => "random",
            Self::Observe => "observe",
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
        matches!(self, Self::Cbo | Self::CboNoisy | Self::Observe)
    }
}

/// Settings of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Preset {
    /// What was best over all benchmark tasks.
    Default,
    /// The settings of the paper's experiments.
    Paper,
}

/// A strategy with its settings, as it takes part in a comparison.
///
/// Two methods that do the same are equal: settings that a strategy does not have are left out, and those that it has by
/// default are written out.
///
/// ```
/// use mcbo_bench::{Method, Preset, StrategyName};
/// let method: Method = "mcbo-paper-0.5".parse()?;
/// assert_eq!(method, Method::new(StrategyName::Mcbo, Preset::Paper, None));
/// assert_eq!(method.label(), "MCBO β=0.5");
/// assert_eq!("mcbo".parse::<Method>()?.label(), "MCBO default");
/// # Ok::<(), mcbo_bench::BenchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    strategy: StrategyName,
    preset: Preset,
    beta: Option<f64>,
    rule: Option<Rule>,
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

    /// The rule of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }
}

impl Method {
    /// A strategy with the settings of a preset, and with a fixed width if one is given.
    pub fn new(strategy: StrategyName, preset: Preset, beta: Option<f64>) -> Self {
        let preset = if strategy.has_model() { preset } else { Preset::Default };
        let beta = match (strategy, preset) {
            (StrategyName::Mcbo, Preset::Default) => beta,
            (StrategyName::Mcbo | StrategyName::Ucb, _) => Some(beta.unwrap_or(0.5)),
            _ => None,
        };
        Self { strategy, preset, beta, rule: None }
    }

    /// The same with a rule of exploration instead of a width, for MCBO; others have none.
    #[must_use]
    pub fn with_rule(self, rule: Rule) -> Self {
        match self.strategy {
            StrategyName::Mcbo => Self { beta: None, rule: Some(rule), ..self },
            _ => self,
        }
    }

    /// The strategy's name.
    pub fn strategy(&self) -> StrategyName {
        self.strategy
    }

    /// The settings of its model.
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// The width of its confidence band, if it is fixed.
    pub fn beta(&self) -> Option<f64> {
        self.beta
    }

    /// The name in figures and tables.
    pub fn label(&self) -> String {
        let name = match self.strategy {
            StrategyName::Mcbo => "MCBO",
            StrategyName::Eifn => "EIFN",
            StrategyName::Cbo => "CBO",
            StrategyName::CboNoisy => "CBO (noisy feedback)",
            StrategyName::Ucb => "UCB",
            StrategyName::Ei => "EI",
            StrategyName::Random => "random",
            StrategyName::Observe => "observing",
        };
        let preset = match (self.preset, self.beta) {
            (Preset::Default, _) if self.strategy.has_model() => " default",
            _ => "",
        };
        let beta = self.beta.map_or_else(String::new, |beta| format!(" β={beta}"));
        let rule = self.rule.map_or_else(String::new, |rule| format!(", {}", rule.as_str()));
        format!("{name}{preset}{beta}{rule}")
    }

    /// The strategy itself.
    pub fn build(&self) -> Box<dyn Strategy> {
        self.construct().0
    }

    /// Changes when a setting does: runs of other settings are not continued.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", name_hash(&self.construct().1))
    }

    /// What the strategy is told about its interventions.
    pub fn feedback(&self) -> Feedback {
        match self.strategy {
            StrategyName::Cbo => Feedback::Expected,
            _ => Feedback::Measured,
        }
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
        match self.strategy {
            StrategyName::Mcbo => boxed(self.mcbo()),
            StrategyName::Eifn => boxed(Eifn { model, ..Eifn::default() }),
            StrategyName::Cbo | StrategyName::CboNoisy => boxed(Cbo { model, ..Cbo::default() }),
            StrategyName::Ucb => {
                let usual = Ucb::default();
                boxed(Ucb { model, beta: self.beta.unwrap_or(usual.beta), ..usual })
            }
            StrategyName::Ei => boxed(ExpectedImprovement { model, ..ExpectedImprovement::default() }),
            StrategyName::Random => boxed(Random),
            StrategyName::Observe => boxed(Observe),
        }
    }

    /// MCBO with the settings of this method, whatever its strategy: the model behind recommendations.
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

/// The name in files: `mcbo`, `mcbo-paper-0.5`, `eifn-paper`, `random`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.strategy.as_str())?;
        if self.preset == Preset::Paper {
            f.write_str("-paper")?;
        }
        self.beta.map_or(Ok(()), |beta| write!(f, "-{beta}"))?;
        self.rule.map_or(Ok(()), |rule| write!(f, "-{}", rule.as_str()))
    }
}

impl FromStr for Method {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Self, BenchError> {
        let mut names = StrategyName::ALL;
        // The longest first: `cbo-noisy` before `cbo`.
        names.sort_by_key(|name| std::cmp::Reverse(name.as_str().len()));
        let read = || {
            let (strategy, rest) =
                names.iter().find_map(|name| Some((*name, text.strip_prefix(name.as_str())?)))?;
            let (preset, rest) = match rest.strip_prefix("-paper") {
                Some(rest) => (Preset::Paper, rest),
                None => (Preset::Default, rest),
            };
            if let Some(rule) = rest.strip_prefix('-').and_then(Rule::named) {
                return (strategy == StrategyName::Mcbo)
                    .then(|| Self::new(strategy, preset, None).with_rule(rule));
            }
            let beta = match rest.strip_prefix('-') {
                Some(number) => Some(number.parse::<f64>().ok().filter(|b| *b >= 0.0 && b.is_finite())?),
                None if rest.is_empty() => None,
                None => return None,
            };
            let method = Self::new(strategy, preset, beta);
            (beta.is_none() || method.beta == beta).then_some(method)
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
