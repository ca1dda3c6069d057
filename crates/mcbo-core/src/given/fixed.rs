//! What the user has decided of a trial beforehand, and leaves the rest of to the strategy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{DataError, check_ranges};
use crate::{Choice, Grid, Intervention, Problem};

/// Values of actions and of nodes that are to be set, in the user's units and by name; the strategy decides what is not among
/// them.
///
/// ```
/// use mcbo_core::{Fixed, Given, Problem, Study};
/// let problem = Problem::builder("p")
///     .action("dose", [0.0, 1.0])
///     .action("heat", [0.0, 1.0])
///     .node("y", |n| n.actions(["dose", "heat"]))
///     .maximize("y")
///     .build()?;
/// let mut study = Study::new(problem, 1);
/// let fixed = Fixed { actions: [("heat".to_owned(), 0.3)].into(), ..Fixed::default() };
/// assert_eq!(study.ask_fixing(Given::NONE, &fixed)?.suggestion.intervention.actions[1], 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fixed {
    /// Values of actions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, f64>,
    /// Values of nodes that are to be set, one per component.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, Vec<f64>>,
}

impl Fixed {
    /// Nothing is fixed.
    pub const NONE: &'static Self = &Self { actions: BTreeMap::new(), targets: BTreeMap::new() };

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.targets.is_empty()
    }

    /// What is fixed as an intervention, all else neutral.
    fn alone(&self, problem: &Problem) -> Result<Intervention, DataError> {
        let unknown = |name: &String, known: String| DataError::UnknownName { name: name.clone(), known };
        let mut alone = problem.neutral_intervention();
        for (name, &value) in &self.actions {
            let known = || problem.actions().iter().map(|action| action.name.as_str()).collect::<Vec<_>>();
            let action = problem.action_index(name).ok_or_else(|| unknown(name, known().join(", ")))?;
            alone.actions[action] = value;
        }
        for (name, values) in &self.targets {
            let node = problem.node_index(name);
            let node = node.ok_or_else(|| unknown(name, problem.graph().names().join(", ")))?;
            alone.targets.push((node, values.clone()));
        }
        alone.targets.sort_by_key(|(node, _)| *node);
        Ok(alone)
    }

    /// The problem in which nothing else can be done: each fixed value is the only one its action or node can take. Ranges stay, so that
    /// models are the same.
    ///
    /// # Errors
    /// If a name is unknown, a value cannot be taken, or there are too many ways to intervene to list them.
    pub fn narrow(&self, problem: &Problem) -> Result<Problem, DataError> {
        let alone = self.alone(problem)?;
        check_ranges(problem, &alone)?;
        let all_fixed = || DataError::CannotFix { what: self.names() };
        let is_acting = |action: usize| alone.actions[action] != problem.actions()[action].neutral;
        let allows = |choice: &Choice| {
            let sets = alone.targets.iter().all(|(node, _)| choice.targets.contains(node));
            let acts = self.actions.keys().all(|name| {
                problem.action_index(name).is_none_or(|a| !is_acting(a) || choice.actions.contains(&a))
            });
            sets && acts
        };
        let mut narrowed = problem.with_choices(allows).ok_or_else(all_fixed)?;
        for (name, &value) in &self.actions {
            let action = problem.action_index(name).ok_or_else(all_fixed)?;
            let [low, high] = problem.actions()[action].range;
            narrowed.fix_action(action, Grid::single(value, high - low));
        }
        for (node, values) in &alone.targets {
            let ranges = problem.nodes()[*node].hard.as_deref().unwrap_or_default();
            let grids =
                values.iter().zip(ranges).map(|(&value, [low, high])| Grid::single(value, high - low));
            narrowed.fix_node(*node, grids.collect());
        }
        Ok(narrowed)
    }

    /// Whether an intervention does what is fixed.
    pub fn holds(&self, problem: &Problem, intervention: &Intervention) -> bool {
        let action = |(name, value): (&String, &f64)| {
            problem.action_index(name).is_some_and(|action| intervention.actions[action] == *value)
        };
        let target = |(name, values): (&String, &Vec<f64>)| {
            problem.node_index(name).and_then(|node| intervention.target(node)) == Some(values.as_slice())
        };
        self.actions.iter().all(action) && self.targets.iter().all(target)
    }

    fn names(&self) -> String {
        let set = self.targets.keys().map(|name| format!("do({name})"));
        self.actions.keys().cloned().chain(set).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Given, Noise, Observe, StrategyName, StrategyOptions, StrategySettings, Study};

    fn problem() -> Problem {
        Problem::builder("fixed")
            .action("a", [0.0, 10.0])
            .action("b", [-1.0, 1.0])
            .choice("s", ["x", "y", "z"])
            .node("m", |n| n.actions(["a", "s"]).hard([0.0, 5.0]).noise(Noise::Gaussian(0.1)))
            .node("y", |n| n.parents(["m"]).actions(["b"]).noise(Noise::Gaussian(0.1)))
            .maximize("y")
            .build()
            .expect("a problem")
    }

    fn fixed(actions: &[(&str, f64)], targets: &[(&str, f64)]) -> Fixed {
        Fixed {
            actions: actions.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
            targets: targets.iter().map(|&(name, value)| (name.to_owned(), vec![value])).collect(),
        }
    }

    /// Every strategy keeps what is fixed, in the design and after it, and decides the rest; `observe` decides nothing.
    #[test]
    fn every_strategy_keeps_what_is_fixed() {
        for name in StrategyName::ALL.into_iter().filter(|name| *name != StrategyName::Observe) {
            let options = StrategyOptions::named(name.as_str());
            let strategy = StrategySettings::try_from(&options).expect("known").build().into();
            let mut study = Study::with_strategy(problem(), strategy, 3).initial(3);
            let mut rest = Vec::new();
            for round in 0..10 {
                let fixed = match round % 3 {
                    0 => fixed(&[("a", 2.7128), ("s", 1.0)], &[]),
                    1 => fixed(&[("b", 0.25)], &[("m", 3.5)]),
                    _ => fixed(&[("b", -1.0)], &[]),
                };
                let trial = study.ask_fixing(Given::NONE, &fixed).expect("a trial").clone();
                let done = &trial.suggestion.intervention;
                assert!(fixed.holds(study.problem(), done), "{name:?} {round}: {done:?}");
                assert_eq!(trial.suggestion.fixed, fixed);
                rest.push(if round % 3 == 0 { done.actions[1] } else { done.actions[0] });
                let m = done.target(0).map_or(done.actions[0] / 3.0, |set| set[0]);
                study.tell(trial.number, vec![Some(m), Some(m - done.actions[1].powi(2))]).expect("told");
            }
            assert!(rest.iter().any(|value| *value != rest[0]), "{name:?} leaves the rest at {rest:?}");
        }
    }

    /// Under limits, costs and requirements as well, where searches begin from what was tried.
    #[test]
    fn limits_and_costs_do_not_lead_away_from_what_is_fixed() {
        let text = "maximize = \"y\"\n[nodes.m]\nactions = [\"a\", \"b\"]\nlimit = { below = 3.0 }\n[nodes.y]\nparents = [\"m\"]\n\
                    [actions.a]\nrange = [0, 4]\ncost = { fixed = 1, per_unit = 0.5 }\n[actions.b]\nrange = [0, 4]\nstep = 0.5\n\
                    [constraints]\nrequire = [\"a + b <= 5\"]\n";
        let problem = Problem::from_toml(text).expect("a problem");
        for seed in 0..3 {
            let mut study = Study::new(problem.clone(), seed).initial(3);
            for round in 0..9 {
                let fixed = match round % 3 {
                    0 => fixed(&[("a", 1.37)], &[]),
                    1 => fixed(&[("b", 2.5)], &[]),
                    _ => Fixed::default(),
                };
                let trial = study.ask_fixing(Given::NONE, &fixed).expect("a trial").clone();
                let done = &trial.suggestion.intervention;
                assert!(fixed.holds(&problem, done), "{seed} {round}: {done:?}");
                let m = done.actions[0] + 0.4 * done.actions[1];
                study.tell(trial.number, vec![Some(m), Some(m - 0.2 * m * m)]).expect("told");
            }
        }
    }

    #[test]
    fn what_cannot_be_fixed_is_refused() {
        let problem = problem();
        let refused = |fixed: Fixed| fixed.narrow(&problem).expect_err("refused").to_string();
        assert!(refused(fixed(&[("c", 1.0)], &[])).contains("\"c\""));
        assert!(refused(fixed(&[("a", 11.0)], &[])).contains("11"));
        assert!(refused(fixed(&[("s", 7.0)], &[])).contains("7"));
        assert!(refused(fixed(&[], &[("y", 1.0)])).contains('y'));
        // With the node set, what acts on it alone has nothing to do.
        assert!(refused(fixed(&[("a", 3.0)], &[("m", 1.0)])).contains("hint"));
        // Who only looks does nothing else.
        let mut looking = Study::with_strategy(problem.clone(), Arc::new(Observe), 1).initial(0);
        let error = looking.ask_fixing(Given::NONE, &fixed(&[("b", 0.5)], &[])).expect_err("refused");
        assert!(error.to_string().contains("keep what is fixed"), "{error}");
        assert!(Fixed::NONE.is_empty() && Fixed::NONE.holds(&problem, &problem.neutral_intervention()));
    }
}
