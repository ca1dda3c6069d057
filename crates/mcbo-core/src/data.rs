//! What was done and what was seen: trials, and the rows each node learns from.

mod error;
mod named;

use serde::{Deserialize, Serialize};

use crate::{Grid, Intervention, Problem};

pub use error::DataError;
pub(crate) use named::slot_by_name;
pub use named::values_by_name;

/// One experiment: what was done, and the values that were measured, in the user's units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What was done.
    pub intervention: Intervention,
    /// The value of every component of every node at the place given by [`Problem::slot`]; `None` where it was
    /// not measured.
    pub values: Vec<Option<f64>>,
}

impl Observation {
    /// Whether no measured value breaks a limit.
    pub fn keeps_limits(&self, problem: &Problem) -> bool {
        keeps_limits(problem, &self.values)
    }
}

/// Whether no value breaks a limit, of those that were measured.
pub fn keeps_limits(problem: &Problem, values: &[Option<f64>]) -> bool {
    problem.limited().all(|node| {
        let limit = problem.nodes()[node].limit;
        let mut measured = values[problem.slot(node)].iter().flatten();
        measured.all(|&value| limit.is_none_or(|limit| limit.is_kept(value)))
    })
}

/// Trials in which an action, or a node that was set, had values outside the range of today.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutsideRange {
    /// The action or node.
    pub what: String,
    /// The range of today.
    pub range: [f64; 2],
    /// How many values lie outside.
    pub trials: usize,
    /// The smallest and the largest of them.
    pub seen: [f64; 2],
    /// The unit of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl std::fmt::Display for OutsideRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, range: [low, high], trials, seen, unit } = self;
        // In few digits, if these are outside too.
        let [least, most] = seen.map(|value| {
            let rounded = format!("{value:.5e}").parse().unwrap_or(value);
            if (*low..=*high).contains(&rounded) { value } else { rounded }
        });
        let unit = unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        write!(f, "{what} was {least}")?;
        if least != most {
            write!(f, " to {most}")?;
        }
        write!(
            f,
            "{unit} in {trials} trial{}, outside its range {low} to {high}{unit}",
            if *trials == 1 { "" } else { "s" }
        )
    }
}

/// The trials so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Data {
    observations: Vec<Observation>,
    /// The number of every observation's trial.
    numbers: Vec<usize>,
}

impl Data {
    /// No trial yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The trials, oldest first.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Number of trials.
    pub fn len(&self) -> usize {
        self.observations.len()
    }

    /// The number of a trial by its place: in a study the one that its user knows, else one more than the trial before it.
    pub fn number(&self, place: usize) -> usize {
        self.numbers[place]
    }

    /// The trials at some places, in their order.
    pub(crate) fn select(&self, places: &[usize]) -> Self {
        Self {
            observations: places.iter().map(|&place| self.observations[place].clone()).collect(),
            numbers: places.iter().map(|&place| self.numbers[place]).collect(),
        }
    }

    /// Whether there is no trial.
    pub fn is_empty(&self) -> bool {
        self.observations.is_empty()
    }

    /// Adds a trial after checking it; the values of hard targets are filled in.
    ///
    /// # Errors
    /// If the observation does not fit the problem; the data are as they were then.
    pub fn push(&mut self, problem: &Problem, observation: Observation) -> Result<(), DataError> {
        let number = self.numbers.last().map_or(1, |last| last + 1);
        self.insert(problem, self.len(), number, observation)
    }

    /// Puts a trial of a given number at a place among the others, after checking it as [`Self::push`] does.
    ///
    /// # Errors
    /// If the observation does not fit the problem; the data are as they were then.
    pub(crate) fn insert(
        &mut self,
        problem: &Problem,
        place: usize,
        number: usize,
        mut observation: Observation,
    ) -> Result<(), DataError> {
        check_done(problem, &observation.intervention)?;
        if observation.values.len() != problem.slots() {
            return Err(DataError::WrongLength {
                what: "the observation".into(),
                expected: problem.slots(),
                found: observation.values.len(),
            });
        }
        for (index, node) in problem.nodes().iter().enumerate() {
            for value in observation.values[problem.slot(index)].iter().flatten() {
                check_value(node, *value)?;
            }
        }
        for (node, set) in &observation.intervention.targets {
            let ranges = problem.nodes()[*node].hard.iter().flatten();
            for ((value, set), [low, high]) in
                observation.values[problem.slot(*node)].iter_mut().zip(set).zip(ranges)
            {
                // A program may report the value it was given with fewer digits.
                match value {
                    Some(found) if (*found - set).abs() > 1e-6 * (high - low) => {
                        let node = problem.nodes()[*node].name.clone();
                        let (set, found) = (problem.said(&node, *set), problem.said(&node, *found));
                        return Err(DataError::ContradictsTarget { node, set, found });
                    }
                    _ => *value = Some(*set),
                }
            }
        }
        if observation.values.iter().all(Option::is_none) {
            return Err(DataError::Nothing);
        }
        self.observations.insert(place, observation);
        self.numbers.insert(place, number);
        Ok(())
    }

    /// An observation that fits the problem, the values of hard targets filled in.
    ///
    /// # Errors
    /// If it does not fit.
    pub(crate) fn checked(problem: &Problem, observation: Observation) -> Result<Observation, DataError> {
        let mut alone = Self::new();
        alone.push(problem, observation)?;
        Ok(alone.observations.remove(0))
    }

    /// Puts an observation that was checked in the place of another one.
    pub(crate) fn replace(&mut self, place: usize, observation: Observation) {
        self.observations[place] = observation;
    }

    /// Takes a trial out.
    pub(crate) fn remove(&mut self, place: usize) {
        self.observations.remove(place);
        self.numbers.remove(place);
    }

    /// The rows that train one output of a node: inputs (parents, then actions) and the value, in the user's units.
    ///
    /// A trial counts only if the node was not a hard target in it (its own mechanism did not act then) and if the value
    /// and all parents were measured. Where a name has causes, the rows of an output are the trials in which none of the names before it
    /// came, and the value is 1 where its own did, else 0.
    pub fn training_rows<'a>(
        &'a self,
        problem: &'a Problem,
        node: usize,
        component: usize,
    ) -> impl Iterator<Item = (Vec<f64>, f64)> + 'a {
        self.placed_rows(problem, node, component).map(|(_, inputs, value)| (inputs, value))
    }

    /// The rows of [`Self::training_rows`], each with the place of its trial.
    pub(crate) fn placed_rows<'a>(
        &'a self,
        problem: &'a Problem,
        node: usize,
        component: usize,
    ) -> impl Iterator<Item = (usize, Vec<f64>, f64)> + 'a {
        self.observations.iter().enumerate().filter_map(move |(place, observation)| {
            if observation.intervention.target(node).is_some() {
                return None;
            }
            let declared = &problem.nodes()[node];
            let value = match declared.is_caused_choice() {
                true => {
                    let name = observation.values[problem.slot(node).start]
                        .filter(|name| *name >= component as f64)?;
                    f64::from(u8::from(name == component as f64))
                }
                false => observation.values[problem.slot(node).start + component]?,
            };
            let mut inputs = Vec::with_capacity(problem.input_dim(node));
            for &parent in &declared.parents {
                for slot in problem.slot(parent) {
                    inputs.push(observation.values[slot]?);
                }
            }
            inputs.extend(declared.actions.iter().map(|&a| observation.intervention.actions[a]));
            Some((place, inputs, value))
        })
    }

    /// What lies outside the ranges of today: every action and set node that does in some trial, with its range, how many trials those
    /// are, and the smallest and largest value there.
    pub fn outside(&self, problem: &Problem) -> Vec<OutsideRange> {
        let mut found: Vec<OutsideRange> = Vec::new();
        for observation in &self.observations {
            for Outside { what, value, range, unit } in outside(problem, &observation.intervention) {
                match found.iter_mut().find(|known| known.what == what) {
                    Some(known) => {
                        known.trials += 1;
                        known.seen = [known.seen[0].min(value), known.seen[1].max(value)];
                    }
                    None => {
                        let (what, unit) = (what.to_owned(), unit.map(str::to_owned));
                        found.push(OutsideRange { what, range, trials: 1, seen: [value; 2], unit });
                    }
                }
            }
        }
        found
    }

    /// The measured reward of every trial in the direction of improvement, with the trial's place.
    pub fn rewards<'a>(&'a self, problem: &'a Problem) -> impl Iterator<Item = (usize, f64)> + 'a {
        let slot = problem.slot(problem.reward()).start;
        let reward = move |o: &Observation| o.values[slot].map(|v| problem.sign() * v);
        self.observations.iter().enumerate().filter_map(move |(i, o)| reward(o).map(|r| (i, r)))
    }
}

/// Checks that the problem allows to do this.
///
/// # Errors
/// As [`check_done`], and if it leaves a range, a value lies between steps, it breaks a requirement, it sets nodes that are not
/// listed as a set, or more than may be done at once. An action may always be neutral, and to do nothing and look is always
/// allowed.
pub fn check_intervention(problem: &Problem, intervention: &Intervention) -> Result<(), DataError> {
    check_ranges(problem, intervention)?;
    if intervention.is_neutral(problem) {
        return Ok(());
    }
    check_grids(problem, intervention)?;
    for requirement in problem.requirements() {
        let excess = requirement.excess(&intervention.actions);
        if excess > 0.0 {
            let text = requirement.text().to_owned();
            return Err(match requirement.is_exclusion() {
                true => DataError::NotTogether { requirement: text },
                false => DataError::BreaksRequirement { requirement: text, excess },
            });
        }
    }
    if let Some(sets) = problem.sets() {
        let set = intervention.target_set();
        if !sets.contains(&set) {
            let named = |set: &Vec<usize>| {
                let names: Vec<&str> = set.iter().map(|&node| problem.nodes()[node].name.as_str()).collect();
                format!("{{{}}}", names.join(", "))
            };
            let known = sets.iter().map(named).collect::<Vec<_>>().join(", ");
            return Err(DataError::NotASet { found: named(&set), known });
        }
    }
    if let Some(most) = problem.max_interventions() {
        let acting = problem.actions().iter().zip(&intervention.actions);
        let found =
            intervention.targets.len() + acting.filter(|(action, value)| **value != action.neutral).count();
        if found > most {
            return Err(DataError::TooManyInterventions { found, most });
        }
    }
    Ok(())
}

/// Checks that this can be done in the ranges of today, whatever else is allowed.
///
/// # Errors
/// As [`check_done`], and if it leaves a range. An action may always be neutral.
pub fn check_ranges(problem: &Problem, intervention: &Intervention) -> Result<(), DataError> {
    check_done(problem, intervention)?;
    match outside(problem, intervention).next() {
        Some(Outside { what, value, range: [low, high], .. }) => {
            Err(DataError::OutOfRange { what: what.to_owned(), value, low, high })
        }
        None => Ok(()),
    }
}

/// Checks that this may have been done: what lies behind may be more than what is allowed from now on, and outside of the ranges of
/// today.
///
/// # Errors
/// If it has the wrong number of actions, a number that is not finite, or sets a node that cannot be set.
pub fn check_done(problem: &Problem, intervention: &Intervention) -> Result<(), DataError> {
    if intervention.actions.len() != problem.actions().len() {
        return Err(DataError::WrongLength {
            what: "the list of actions".into(),
            expected: problem.actions().len(),
            found: intervention.actions.len(),
        });
    }
    for (action, &value) in problem.actions().iter().zip(&intervention.actions) {
        check_finite(&action.name, value)?;
        if action.is_choice() && action.choice(value).is_none() {
            return Err(not_a_choice(&action.name, &value.to_string(), &action.choices));
        }
    }
    for (node, values) in &intervention.targets {
        let Some(node) = problem.nodes().get(*node) else {
            return Err(DataError::UnknownName {
                name: format!("number {node}"),
                known: problem.graph().names().join(", "),
            });
        };
        let Some(ranges) = &node.hard else {
            return Err(DataError::NotSettable { node: node.name.clone() });
        };
        if values.len() != ranges.len() {
            return Err(DataError::WrongLength {
                what: format!("the target {}", node.name),
                expected: ranges.len(),
                found: values.len(),
            });
        }
        values.iter().try_for_each(|&value| check_value(node, value))?;
    }
    Ok(())
}

/// A value that is none of the names of an action or a node.
fn not_a_choice(what: &str, found: &str, choices: &[String]) -> DataError {
    DataError::NotAChoice { what: what.to_owned(), found: found.to_owned(), known: choices.join(", ") }
}

/// Checks that a node can have a value: a number, or the place of one of its names.
pub(crate) fn check_value(node: &crate::Node, value: f64) -> Result<(), DataError> {
    check_finite(&node.name, value)?;
    match node.is_choice() && node.choice(value).is_none() {
        true => Err(not_a_choice(&node.name, &value.to_string(), &node.choices)),
        false => Ok(()),
    }
}

/// Checks that values with steps are of their grids. A neutral value may lie apart from all others.
fn check_grids(problem: &Problem, intervention: &Intervention) -> Result<(), DataError> {
    let check = |what: &str, value: f64, names: &[String], grid: Option<&Grid>| match grid {
        Some(grid) if !grid.holds(value) && !names.is_empty() => {
            let left = grid.values().filter_map(|place| names.get(place as usize)).map(String::as_str);
            let (what, known) = (what.to_owned(), left.collect::<Vec<_>>().join(", "));
            Err(DataError::Retired {
                what,
                name: names.get(value as usize).cloned().unwrap_or_default(),
                known,
            })
        }
        Some(grid) if !grid.holds(value) => {
            let nearest = grid.nearest(value);
            let other = if grid.value(nearest) > value { nearest.saturating_sub(1) } else { nearest + 1 };
            let (one, other) = (grid.value(nearest), grid.value(other));
            let (what, step) = (what.to_owned(), grid.step());
            Err(DataError::OffGrid { what, value, step, below: one.min(other), above: one.max(other) })
        }
        _ => Ok(()),
    };
    for (action, &value) in problem.actions().iter().zip(&intervention.actions) {
        if value != action.neutral {
            check(&action.name, value, &action.choices, action.grid.as_ref())?;
        }
    }
    for (node, values) in &intervention.targets {
        let node = &problem.nodes()[*node];
        for (&value, grid) in values.iter().zip(node.grid.iter().flatten()) {
            check(&node.name, value, &node.choices, Some(grid))?;
        }
    }
    Ok(())
}

/// A value that an intervention has outside of the range of today.
pub(crate) struct Outside<'a> {
    pub what: &'a str,
    pub value: f64,
    pub range: [f64; 2],
    pub unit: Option<&'a str>,
}

/// What of an intervention lies outside the ranges of today: actions that are not neutral, and nodes that are set. It must have been
/// checked by [`check_done`].
pub(crate) fn outside<'a>(
    problem: &'a Problem,
    intervention: &'a Intervention,
) -> impl Iterator<Item = Outside<'a>> {
    let actions = problem.actions().iter().zip(&intervention.actions);
    let actions = actions.filter(|(action, value)| **value != action.neutral);
    let actions = actions.map(|(action, &value)| {
        let (what, range, unit) = (action.name.as_str(), action.range, action.unit.as_deref());
        Outside { what, value, range, unit }
    });
    let targets = intervention.targets.iter().flat_map(|(node, values)| {
        let node = &problem.nodes()[*node];
        let ranges = values.iter().zip(node.hard.iter().flatten());
        let unit = node.unit.as_deref();
        ranges.map(move |(&value, &range)| Outside { what: &node.name, value, range, unit })
    });
    actions.chain(targets).filter(|Outside { value, range: [low, high], .. }| {
        // Rounding at the ends is no mistake.
        let slack = 1e-9 * (high - low);
        !(*value >= low - slack && *value <= high + slack)
    })
}

/// The largest number, with either sign, that is taken: products of a few of them are still numbers.
pub const LARGEST: f64 = 1e60;

fn check_finite(what: &str, value: f64) -> Result<(), DataError> {
    if value.is_finite() { Ok(()) } else { Err(DataError::NotFinite { what: what.to_owned(), value }) }
}

/// Refuses a number that is too large to compute with. For numbers that come in: what a study has already stays.
///
/// # Errors
/// [`DataError::TooLarge`], or [`DataError::NotFinite`].
pub fn check_size(what: &str, value: f64) -> Result<(), DataError> {
    check_finite(what, value)?;
    match value.abs() <= LARGEST {
        true => Ok(()),
        false => Err(DataError::TooLarge { what: what.to_owned(), value }),
    }
}
