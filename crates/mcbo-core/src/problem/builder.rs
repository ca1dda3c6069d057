//! A problem in code, a few lines long.

mod marks;

use super::draft::{At, Draft, DraftAction, DraftNode, DraftRanges, DraftValue, Field, Formulas};
use super::{Action, Aim, Components, Noise, Problem, ProblemErrors, check};

/// A problem in the making; see [`Problem::builder`].
#[derive(Debug, Clone)]
pub struct ProblemBuilder {
    draft: Draft,
}

/// A node in the making; see [`ProblemBuilder::node`].
#[derive(Debug, Clone)]
pub struct NodeBuilder {
    node: DraftNode,
}

fn given<T>(value: T) -> Field<T> {
    Field::Given(value.into())
}

fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Vec<At<String>> {
    names.into_iter().map(|name| name.into().into()).collect()
}

/// Counts that do not fit are kept too large, so that the checks refuse them.
fn count(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl ProblemBuilder {
    pub(super) fn new(name: String) -> Self {
        Self { draft: Draft { name: given(name), ..Draft::default() } }
    }

    /// Adds an action with its range; not acting is 0, or the start of the range when 0 lies outside.
    #[must_use]
    pub fn action(mut self, name: impl Into<String>, range: [f64; 2]) -> Self {
        let action = DraftAction { name: name.into().into(), range: given(range), ..DraftAction::default() };
        self.draft.actions.push(action);
        self
    }

    /// Adds an action that takes the values `low`, `low + step`, … of its range.
    #[must_use]
    pub fn action_in_steps(mut self, name: impl Into<String>, range: [f64; 2], step: f64) -> Self {
        let (name, range, step) = (name.into().into(), given(range), given(step));
        self.draft.actions.push(DraftAction { name, range, step, ..DraftAction::default() });
        self
    }

    /// Adds an action that takes these values and no others; not acting is 0, or the least of them when 0 is none.
    #[must_use]
    pub fn action_of_values(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let (name, values) = (name.into().into(), given(values.into_iter().collect::<Vec<f64>>()));
        self.draft.actions.push(DraftAction { name, values, ..DraftAction::default() });
        self
    }

    /// Adds an action that is one of several named things; the first of them means not acting.
    #[must_use]
    pub fn choice<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        choices: impl IntoIterator<Item = S>,
    ) -> Self {
        let (name, choices) = (name.into().into(), given(names(choices)));
        self.draft.actions.push(DraftAction { name, choices, ..DraftAction::default() });
        self
    }

    /// Adds an action that is one of several named things, with the one that means not acting.
    #[must_use]
    pub fn choice_with_neutral<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        choices: impl IntoIterator<Item = S>,
        neutral: impl Into<String>,
    ) -> Self {
        let (name, choices) = (name.into().into(), given(names(choices)));
        let neutral = given(DraftValue::Name(neutral.into()));
        self.draft.actions.push(DraftAction { name, choices, neutral, ..DraftAction::default() });
        self
    }

    /// Adds an action with everything that one of another problem has.
    #[must_use]
    pub fn action_like(mut self, action: &Action) -> Self {
        let neutral = action.choice(action.neutral).map(|name| DraftValue::Name(name.to_owned()));
        let neutral = given(neutral.unwrap_or(DraftValue::Number(action.neutral)));
        let name = action.name.clone().into();
        self.draft.actions.push(match action.is_choice() {
            true => DraftAction {
                name,
                neutral,
                choices: given(names(&action.choices)),
                retired: match action.retired() {
                    none if none.is_empty() => Field::Missing,
                    retired => given(names(retired)),
                },
                ..DraftAction::default()
            },
            false => {
                let scale = given(action.scale);
                let mut draft = DraftAction { name, neutral, scale, ..DraftAction::default() };
                match action.grid.as_ref().map(|grid| (grid.list(), grid.step())) {
                    Some((Some(values), _)) => draft.values = given(values.to_vec()),
                    steps => {
                        draft.range = given(action.range);
                        draft.step = steps.and_then(|(_, step)| step).map(given).unwrap_or_default();
                    }
                }
                draft
            }
        });
        self
    }

    /// Adds something that the values of actions must keep to, as in `dose1 + dose2 <= 120`.
    #[must_use]
    pub fn require(mut self, requirement: impl Into<String>) -> Self {
        self.draft.require.push(requirement.into().into());
        self
    }

    /// Adds an action with its range and the value that means not acting.
    #[must_use]
    pub fn action_with_neutral(mut self, name: impl Into<String>, range: [f64; 2], neutral: f64) -> Self {
        let (name, neutral) = (name.into().into(), given(DraftValue::Number(neutral)));
        let action = DraftAction { name, range: given(range), neutral, ..DraftAction::default() };
        self.draft.actions.push(action);
        self
    }

    /// Adds a node, described by `describe`. Parents may be added before or after their children.
    #[must_use]
    pub fn node(
        mut self,
        name: impl Into<String>,
        describe: impl FnOnce(NodeBuilder) -> NodeBuilder,
    ) -> Self {
        let node = DraftNode { name: name.into().into(), ..DraftNode::default() };
        self.draft.nodes.push(describe(NodeBuilder { node }).node);
        self
    }

    /// Makes a node the reward; large is good.
    #[must_use]
    pub fn maximize(mut self, node: impl Into<String>) -> Self {
        self.draft.maximize = given(node.into());
        self
    }

    /// Makes a node the reward; small is good.
    #[must_use]
    pub fn minimize(mut self, node: impl Into<String>) -> Self {
        self.draft.minimize = given(node.into());
        self
    }

    /// Says what the experiments are for.
    #[must_use]
    pub fn aim(mut self, aim: Aim) -> Self {
        self.draft.aim = given(aim);
        self
    }

    /// Limits the hard targets plus the actions away from neutral in one trial.
    #[must_use]
    pub fn max_interventions(mut self, limit: usize) -> Self {
        self.draft.max_interventions = given(count(limit));
        self
    }

    /// Restricts the target sets of hard interventions to these.
    #[must_use]
    pub fn sets<S: Into<String>, I: IntoIterator<Item = S>>(
        mut self,
        sets: impl IntoIterator<Item = I>,
    ) -> Self {
        self.draft.sets = given(sets.into_iter().map(|set| names(set).into()).collect());
        self
    }

    /// Considers only the target sets that can be best, instead of all minimal ones.
    #[must_use]
    pub fn possibly_optimal(mut self, only: bool) -> Self {
        self.draft.possibly_optimal = given(only);
        self
    }

    /// Gives a node its mechanism in the simulator: one formula, or an array of one per component.
    #[must_use]
    pub fn simulate(mut self, node: impl Into<String>, formulas: impl Into<Formulas>) -> Self {
        let entry = (At::from(node.into()), given(formulas.into()));
        match &mut self.draft.simulator {
            Field::Given(simulator) => simulator.value.push(entry),
            missing => *missing = given(vec![entry]),
        }
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn build(self) -> Result<Problem, ProblemErrors> {
        check::check(&self.draft, Vec::new()).map_err(|errors| ProblemErrors::new(errors, None))
    }
}

impl NodeBuilder {
    /// The nodes it reads.
    #[must_use]
    pub fn parents<S: Into<String>>(mut self, parents: impl IntoIterator<Item = S>) -> Self {
        self.node.parents = names(parents);
        self
    }

    /// The actions it reads.
    #[must_use]
    pub fn actions<S: Into<String>>(mut self, actions: impl IntoIterator<Item = S>) -> Self {
        self.node.actions = names(actions);
        self
    }

    /// The number of components; 1 unless said otherwise.
    #[must_use]
    pub fn dim(mut self, dim: usize) -> Self {
        self.node.dim = given(count(dim));
        self
    }

    /// The noise of every component; learned unless said otherwise.
    #[must_use]
    pub fn noise(mut self, noise: Noise) -> Self {
        self.node.noise = given(noise);
        self
    }

    /// Lets the node be set, every component within this range.
    #[must_use]
    pub fn hard(mut self, range: [f64; 2]) -> Self {
        self.node.hard = given(DraftRanges::One(range));
        self
    }

    /// Lets the node be set, each component within its own range.
    #[must_use]
    pub fn hard_each(mut self, ranges: impl IntoIterator<Item = [f64; 2]>) -> Self {
        self.node.hard = given(DraftRanges::Each(ranges.into_iter().map(At::from).collect()));
        self
    }

    /// Lets every component be set to one of these values.
    #[must_use]
    pub fn hard_values(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.node.hard = given(DraftRanges::Listed(values.into_iter().collect()));
        self
    }

    /// Lets every component be set to the first value of its range and every further step only.
    #[must_use]
    pub fn step(mut self, step: f64) -> Self {
        self.node.step = given(step);
        self
    }

    /// The names of its values, for a node that has no numbers: given from outside, or caused by what it reads.
    #[must_use]
    pub fn choices<S: Into<String>>(mut self, choices: impl IntoIterator<Item = S>) -> Self {
        self.node.choices = given(names(choices));
        self
    }

    /// Lets a node with names be set to any of them.
    #[must_use]
    pub fn hard_choices(mut self) -> Self {
        self.node.hard = given(DraftRanges::Names);
        self
    }

    /// A known mechanism: one formula, or an array of one per component.
    #[must_use]
    pub fn formula(mut self, formulas: impl Into<Formulas>) -> Self {
        self.node.formula = given(formulas.into());
        self
    }

    /// The covariance of the mechanism that is learned, as in `se(dose) * linear(soil)`.
    #[must_use]
    pub fn kernel(mut self, kernel: impl Into<String>) -> Self {
        self.node.kernel = given(kernel.into());
        self
    }

    /// How the components are learned.
    #[must_use]
    pub fn components(mut self, components: Components) -> Self {
        self.node.components = given(components);
        self
    }

    /// The values that are plausible for every component.
    #[must_use]
    pub fn range(mut self, range: [f64; 2]) -> Self {
        self.node.range = given(range);
        self
    }
}
