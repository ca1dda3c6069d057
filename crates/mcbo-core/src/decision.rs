//! Between interventions and decision vectors: every conversion from one to the other.

mod allowed;

pub(crate) use allowed::Moving;

use crate::problem::{Curve, HalfSpace};
use crate::{Choice, Grid, Intervention, Problem};

/// A number that is decided, with its range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    pub range: [f64; 2],
    pub place: Place,
    /// The values it can take, if not all of its range.
    pub grid: Option<Grid>,
    /// Whether its values are names, so that neighbours on the grid are no closer than others.
    pub named: bool,
    /// Where its values lie on its scale, and its range there.
    pub curve: Curve,
    ends: [f64; 2],
}

/// What a variable is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Target { node: usize, component: usize },
    Action(usize),
}

impl Variable {
    fn new(range: [f64; 2], place: Place, grid: Option<Grid>, named: bool, curve: Curve) -> Self {
        Self { range, place, grid, named, curve, ends: range.map(|end| curve.at(end)) }
    }

    /// The value at a point of the unit interval. At 1 it may miss the upper end by rounding.
    pub fn value(&self, unit: f64) -> f64 {
        let [low, high] = self.ends;
        self.curve.value(low + unit * (high - low))
    }

    /// The point of the unit interval that stands for a value; outside it for a value outside the range.
    pub fn unit(&self, value: f64) -> f64 {
        let [low, high] = self.ends;
        (self.curve.at(value) - low) / (high - low)
    }

    /// The derivative of [`Self::value`].
    pub fn slope(&self, unit: f64) -> f64 {
        let [low, high] = self.ends;
        match self.curve {
            Curve::Straight => high - low,
            Curve::Logarithm { .. } => (high - low) / self.curve.slope(self.value(unit)),
        }
    }

    fn of(&self, intervention: &Intervention) -> f64 {
        match self.place {
            Place::Target { node, component } => {
                intervention.target(node).map_or(0.0, |values| values[component])
            }
            Place::Action(action) => intervention.actions[action],
        }
    }
}

/// What a [`Choice`] leaves to decide: the components of its targets, then its free actions, each scaled to the unit interval.
///
/// ```
/// use mcbo_core::{Choice, DecisionSpace, Problem};
/// let problem = Problem::builder("p")
///     .action("dose", [0.0, 90.0])
///     .node("y", |n| n.actions(["dose"]))
///     .maximize("y")
///     .build()?;
/// let space = DecisionSpace::new(&problem, &Choice { targets: vec![], actions: vec![0] });
/// let intervention = space.intervention(&problem, &[0.5]);
/// assert_eq!(intervention.actions, [45.0]);
/// assert_eq!(space.point(&intervention), [0.5]);
/// # Ok::<(), mcbo_core::ProblemErrors>(())
/// ```
///
/// Not every point of the box need be allowed: variables with steps and choices have few values, and requirements cut off a part.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionSpace {
    choice: Choice,
    variables: Vec<Variable>,
    /// What points must keep to, beside the box; `None` if there is no such point.
    spaces: Option<Vec<HalfSpace>>,
}

impl DecisionSpace {
    /// The space of a choice.
    pub fn new(problem: &Problem, choice: &Choice) -> Self {
        let components = choice.targets.iter().flat_map(|&node| {
            let declared = &problem.nodes()[node];
            let grid = |component: usize| declared.grid.as_ref().map(|grids| grids[component].clone());
            let ranges = declared.hard.iter().flatten().enumerate();
            ranges.map(move |(component, &range)| {
                let place = Place::Target { node, component };
                Variable::new(range, place, grid(component), declared.is_choice(), Curve::Straight)
            })
        });
        let actions = choice.actions.iter().map(|&index| {
            let action = &problem.actions()[index];
            let (place, grid) = (Place::Action(index), action.grid.clone());
            Variable::new(action.range, place, grid, action.is_choice(), action.curve())
        });
        let variables: Vec<Variable> = components.chain(actions).collect();
        let spaces = problem.half_spaces(choice, variables.len() - choice.actions.len());
        Self { variables, choice: choice.clone(), spaces }
    }

    /// The largest space with these targets: all actions that reach the reward are free.
    pub(crate) fn of_targets(problem: &Problem, targets: Vec<usize>) -> Self {
        let actions = problem.useful_actions(&targets);
        Self::new(problem, &Choice { targets, actions })
    }

    /// The choice it belongs to.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Number of variables.
    pub fn dim(&self) -> usize {
        self.variables.len()
    }

    /// The unit box.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (vec![0.0; self.dim()], vec![1.0; self.dim()])
    }

    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variable at a place, if the choice leaves it to decide.
    pub(crate) fn position(&self, place: Place) -> Option<usize> {
        self.variables.iter().position(|variable| variable.place == place)
    }

    /// The intervention that a point stands for, in the user's units. Further numbers behind the variables do not count.
    pub fn intervention(&self, problem: &Problem, point: &[f64]) -> Intervention {
        let mut intervention = problem.neutral_intervention();
        let targets = self.choice.targets.iter();
        intervention.targets = targets.map(|&node| (node, vec![0.0; problem.nodes()[node].dim])).collect();
        for (variable, &unit) in self.variables.iter().zip(point) {
            let [low, high] = variable.range;
            let value = match &variable.grid {
                Some(grid) => grid.value(variable.nearest(grid, unit)),
                // Both ends exactly, whatever the rounding.
                None if unit >= 1.0 => high,
                None => variable.value(unit).clamp(low, high),
            };
            match variable.place {
                Place::Target { node, component } => {
                    for (_, values) in intervention.targets.iter_mut().filter(|(target, _)| *target == node) {
                        values[component] = value;
                    }
                }
                Place::Action(action) => intervention.actions[action] = value,
            }
        }
        self.round_sums(problem, &mut intervention.actions);
        intervention
    }

    /// What must be equal is: the last value of a sum that is free is what the others leave, where that is it but for rounding.
    fn round_sums(&self, problem: &Problem, actions: &mut [f64]) {
        const ROUNDING: f64 = 1e-6;
        let equalities = problem.requirements().iter().filter(|requirement| requirement.is_equality());
        let holding: Vec<_> = equalities.filter(|requirement| requirement.applies(actions)).collect();
        for requirement in holding {
            let free = |&(action, weight): &(usize, f64)| {
                let variable = self.variables.iter().find(|variable| variable.place == Place::Action(action));
                variable
                    .filter(|variable| variable.grid.is_none())
                    .map(|variable| (action, weight, variable.range))
            };
            let Some((action, weight, [low, high])) = requirement.terms().iter().rev().find_map(free) else {
                continue;
            };
            let others = requirement.terms().iter().filter(|(other, _)| *other != action);
            let left =
                (requirement.most() - others.map(|&(other, c)| c * actions[other]).sum::<f64>()) / weight;
            if (left - actions[action]).abs() <= ROUNDING * (high - low) {
                actions[action] = left.clamp(low, high);
            }
        }
    }

    /// The point that stands for an intervention of this choice; values outside their range count as its nearest end.
    pub fn point(&self, intervention: &Intervention) -> Vec<f64> {
        self.units(intervention).map(|unit| unit.clamp(0.0, 1.0)).collect()
    }

    /// The variables of an intervention relative to their ranges: an action that is neutral may lie outside.
    pub(crate) fn units(&self, intervention: &Intervention) -> impl Iterator<Item = f64> {
        self.variables.iter().map(|variable| variable.unit(variable.of(intervention)))
    }

    /// The variables of an intervention in the user's units.
    pub(crate) fn values(&self, intervention: &Intervention) -> Vec<f64> {
        self.variables.iter().map(|variable| variable.of(intervention)).collect()
    }

    /// A point of another space carried over to this one: its values where both have the variable, else the neutral value of an
    /// action and the middle of a target's range.
    pub(crate) fn carry_over(&self, problem: &Problem, from: &Self, point: &[f64]) -> Vec<f64> {
        let unit = |variable: &Variable| match (from.position(variable.place), variable.place) {
            (Some(known), _) => point[known],
            (None, Place::Target { .. }) => 0.5,
            (None, Place::Action(action)) => variable.unit(problem.actions()[action].neutral).clamp(0.0, 1.0),
        };
        self.variables.iter().map(unit).collect()
    }
}

impl Choice {
    /// The choice that an intervention belongs to: every action that is not neutral is free.
    pub fn of(problem: &Problem, intervention: &Intervention) -> Self {
        let acting = |&action: &usize| intervention.actions[action] != problem.actions()[action].neutral;
        Self {
            targets: intervention.target_set(),
            actions: (0..problem.actions().len()).filter(acting).collect(),
        }
    }

    /// Whether an intervention could have come from this choice: the same targets, free actions in their ranges and every
    /// other action neutral.
    pub fn includes(&self, problem: &Problem, intervention: &Intervention) -> bool {
        intervention.targets.iter().map(|(node, _)| *node).eq(self.targets.iter().copied())
            && problem.actions().iter().enumerate().all(|(index, action)| {
                let value = intervention.actions[index];
                if self.actions.contains(&index) {
                    value >= action.range[0] && value <= action.range[1]
                } else {
                    value == action.neutral
                }
            })
    }
}

impl Intervention {
    /// Whether nothing is done: no target is set and every action is neutral.
    pub fn is_neutral(&self, problem: &Problem) -> bool {
        *self == problem.neutral_intervention()
    }

    /// Whether two interventions are the same to a thousandth of every range.
    pub fn is_close(&self, problem: &Problem, other: &Self) -> bool {
        self.is_within(problem, other, 1e-3)
    }

    /// Whether two interventions are the same to a share of every range.
    pub fn is_within(&self, problem: &Problem, other: &Self, share: f64) -> bool {
        let close = |x: f64, y: f64, [low, high]: [f64; 2]| (x - y).abs() < share * (high - low);
        let actions = problem.actions().iter().zip(self.actions.iter().zip(&other.actions));
        self.targets.len() == other.targets.len()
            && actions.into_iter().all(|(action, (x, y))| action.is_near(*x, *y, share))
            && self.targets.iter().zip(&other.targets).all(|((node, xs), (other, ys))| {
                let ranges = problem.nodes()[*node].hard.iter().flatten();
                node == other && xs.iter().zip(ys).zip(ranges).all(|((x, y), range)| close(*x, *y, *range))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        Problem::builder("p")
            .action("a", [-1.0, 3.0])
            .action_with_neutral("switch", [1.0, 2.0], 0.0)
            .node("v", |n| n.dim(2).hard_each([[0.0, 10.0], [-0.1, 0.2]]).actions(["a"]))
            .node("z", |n| n.parents(["v"]).actions(["switch"]).hard([5.0, 6.0]))
            .node("y", |n| n.parents(["v", "z"]))
            .maximize("y")
            .build()
            .expect("a problem")
    }

    fn space(targets: &[usize], actions: &[usize]) -> DecisionSpace {
        DecisionSpace::new(&problem(), &Choice { targets: targets.to_vec(), actions: actions.to_vec() })
    }

    #[test]
    fn points_stand_for_interventions_and_back() {
        let (problem, space) = (problem(), space(&[0, 1], &[0, 1]));
        let point = [0.25, 0.5, 0.75, 0.125, 0.5];
        let intervention = space.intervention(&problem, &point);
        assert_eq!(intervention.targets[0], (0, vec![2.5, -0.1 + 0.5 * (0.2 - -0.1)]));
        assert_eq!((&intervention.targets[1], &intervention.actions), (&(1, vec![5.75]), &vec![-0.5, 1.5]));
        for (back, unit) in space.point(&intervention).into_iter().zip(point) {
            assert!((back - unit).abs() < 1e-15);
        }
        assert_eq!(Choice::of(&problem, &intervention), *space.choice());
        // Both ends are met exactly, and numbers behind the variables do not count.
        let ends = space.intervention(&problem, &[0.0, 1.0, 1.0, 0.0, 1.0, 7.0]);
        assert_eq!(ends.targets, [(0, vec![0.0, 0.2]), (1, vec![6.0])]);
        assert_eq!(ends.actions, [-1.0, 2.0]);
    }

    #[test]
    fn what_is_not_decided_is_neutral() {
        let problem = problem();
        let intervention = space(&[1], &[]).intervention(&problem, &[0.5]);
        assert_eq!(intervention.actions, problem.neutral_intervention().actions);
        // A neutral value outside the range has no place in the box, but one beside it.
        let all = DecisionSpace::of_targets(&problem, vec![]);
        assert_eq!(all.choice().actions, [0, 1]);
        assert_eq!(all.units(&problem.neutral_intervention()).collect::<Vec<_>>(), [0.25, -1.0]);
        assert_eq!(all.point(&problem.neutral_intervention()), [0.25, 0.0]);
        assert_eq!(all.values(&problem.neutral_intervention()), [0.0, 0.0]);
    }

    #[test]
    fn carried_over_values_keep_their_variables() {
        let (problem, small, large) = (problem(), space(&[1], &[1]), space(&[0, 1], &[0, 1]));
        assert_eq!(large.carry_over(&problem, &small, &[0.3, 0.9]), [0.5, 0.5, 0.3, 0.25, 0.9]);
        assert_eq!(small.carry_over(&problem, &large, &[0.1, 0.2, 0.3, 0.4, 0.6]), [0.3, 0.6]);
    }

    #[test]
    fn interventions_belong_to_choices_and_are_close_or_not() {
        let (problem, space) = (problem(), space(&[1], &[1]));
        let one = space.intervention(&problem, &[0.5, 0.5]);
        let neutral = problem.neutral_intervention();
        assert!(space.choice().includes(&problem, &one) && !space.choice().includes(&problem, &neutral));
        assert!(Choice::default().includes(&problem, &neutral) && neutral.is_neutral(&problem));
        let moved = |by: f64| space.intervention(&problem, &[0.5 + by, 0.5 - by]);
        assert!(one.is_close(&problem, &moved(0.0009)) && !one.is_close(&problem, &moved(0.0011)));
        assert!(!one.is_close(&problem, &neutral));
    }
}
