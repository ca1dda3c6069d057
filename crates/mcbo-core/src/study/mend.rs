//! Putting a study right: values that were told wrong, what was really done, trials that should not count.

use super::{Origin, Study, StudyError, Trial, TrialState};
use crate::Intervention;
use crate::data::{Data, DataError, Observation, check_done, slot_by_name, values_by_name};

/// Difference, as a share of a range, below which what was done is what was asked for: programs report what they were given with
/// fewer digits.
const SAME: f64 = 1e-6;

impl Study {
    /// Puts values of a trial right that were told before; whether anything changed. The trial keeps its place among the data, and
    /// what the strategy remembers stays: from here on the study suggests what one would that was told right at once and
    /// remembers the same.
    ///
    /// # Errors
    /// If the trial has not been told, a value was never told, or the values do not fit the problem.
    pub fn correct(&mut self, number: usize, values: &[Option<f64>]) -> Result<bool, StudyError> {
        let (_, stored) = self.told(number, values.len())?;
        let mut right = stored.to_vec();
        for (index, node) in self.problem.nodes().iter().enumerate() {
            for slot in self.problem.slot(index).filter(|&slot| values[slot].is_some()) {
                if stored[slot].is_none() {
                    return Err(StudyError::NotTold { number, node: node.name.clone() });
                }
                right[slot] = values[slot];
            }
        }
        self.put(number, right)
    }

    /// The same by names: of nodes, and of what was done, as in [`Self::take_named`].
    ///
    /// # Errors
    /// As there, and as [`Self::correct`].
    pub fn correct_named(&mut self, number: usize, named: &[(&str, &[f64])]) -> Result<bool, StudyError> {
        let (values, done) = self.read(number, named)?;
        if self.trial(number)?.values.is_none() && self.trial(number)?.done.is_none() {
            return Err(StudyError::NotPending { number, state: self.trial(number)?.state });
        }
        self.redo(number, done, |study| match values.iter().any(Option::is_some) {
            true => study.correct(number, &values),
            false => Ok(false),
        })
    }

    /// Takes what is told of a trial, by names; whether there was anything new in it. Beside the values of nodes these may be the
    /// values that actions and set nodes really had: the model learns from those, and the suggestion stays on record.
    /// `do(node)` is a node that was set though that was not asked for.
    ///
    /// ```
    /// # use mcbo_core::{Problem, Study};
    /// # let problem = Problem::builder("p").action("base", [0.0, 5.0]).node("y", |n| n.actions(["base"])).maximize("y").build()?;
    /// let mut study = Study::new(problem, 1);
    /// let asked = study.ask()?.suggestion.intervention.actions[0];
    /// study.take_named(1, &[("base", &[1.9]), ("y", &[7.1])])?;
    /// assert_eq!(study.trials()[0].intervention().actions, [1.9]);
    /// assert_eq!(study.trials()[0].suggestion.intervention.actions, [asked]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such trial, a name is unknown or given twice, something does not fit the problem, or differs from what was
    /// told before.
    pub fn take_named(&mut self, number: usize, named: &[(&str, &[f64])]) -> Result<bool, StudyError> {
        let (values, done) = self.read(number, named)?;
        self.refuse_other(number, &done)?;
        let only_done = values.iter().all(Option::is_none) && !named.is_empty();
        self.redo(number, done, |study| if only_done { Ok(false) } else { study.take(number, values) })
    }

    /// Takes a trial out of the study: the model does not learn from it, and it is neither waited for nor avoided. All that was
    /// told of it stays on record. Whether that is new.
    ///
    /// # Errors
    /// If there is no such trial.
    pub fn void(&mut self, number: usize) -> Result<bool, StudyError> {
        let state = self.trial(number)?.state;
        if state == TrialState::Voided {
            return Ok(false);
        }
        let place = number - 1;
        if let Some(at) = self.places[place].take() {
            self.data.remove(at);
            self.places[place + 1..].iter_mut().flatten().for_each(|later| *later -= 1);
        }
        self.trials[place].state = TrialState::Voided;
        self.voided.insert(number, state);
        Ok(true)
    }

    /// Puts a trial back that was taken out, as it would be had it never been; whether that is new.
    ///
    /// # Errors
    /// If there is no such trial, or it does not fit the problem any more.
    pub fn restore(&mut self, number: usize) -> Result<bool, StudyError> {
        let trial = self.trial(number)?;
        let Some(&state) = self.voided.get(&number) else { return Ok(false) };
        match trial.values.clone() {
            Some(values) => self.count_in(number, values)?,
            None if state == TrialState::Failed => {}
            None => check_done(&self.problem, trial.intervention())?,
        }
        self.voided.remove(&number);
        self.trials[number - 1].state = state;
        Ok(true)
    }

    /// Keeps the first values of a trial that was taken out.
    pub(super) fn tell_voided(
        &mut self,
        number: usize,
        mut values: Vec<Option<f64>>,
    ) -> Result<(), StudyError> {
        let trial = self.trial(number)?;
        if trial.values.is_some() {
            return Err(StudyError::NotPending { number, state: trial.state });
        }
        trial.suggestion.given.fill(&self.problem, &mut values)?;
        let observation = Observation { intervention: trial.intervention().clone(), values };
        self.trials[number - 1].values = Some(Data::checked(&self.problem, observation)?.values);
        self.voided.insert(number, TrialState::Complete);
        Ok(())
    }

    /// A trial that was told, and its values, of which there must be so many.
    pub(super) fn told(&self, number: usize, count: usize) -> Result<(&Trial, &[Option<f64>]), StudyError> {
        let trial = self.trial(number)?;
        let Some(stored) = &trial.values else {
            return Err(StudyError::NotPending { number, state: trial.state });
        };
        if count != stored.len() {
            return Err(StudyError::Data(DataError::WrongLength {
                what: "the observation".into(),
                expected: stored.len(),
                found: count,
            }));
        }
        Ok((trial, stored))
    }

    /// Puts values in the place of those that a trial has; whether they are others.
    pub(super) fn put(&mut self, number: usize, values: Vec<Option<f64>>) -> Result<bool, StudyError> {
        let intervention = self.trial(number)?.intervention().clone();
        let observation = Data::checked(&self.problem, Observation { intervention, values })?;
        let values = Some(observation.values.clone());
        let new = self.trials[number - 1].values != values;
        self.trials[number - 1].values = values;
        if let Some(place) = self.places[number - 1] {
            self.data.replace(place, observation);
        }
        Ok(new)
    }

    /// What is said of a trial by names: values of nodes, and what was done in it.
    fn read(
        &self,
        number: usize,
        named: &[(&str, &[f64])],
    ) -> Result<(Vec<Option<f64>>, Intervention), StudyError> {
        let (problem, trial) = (&self.problem, self.trial(number)?);
        let asked = trial.intervention();
        let (mut done, mut values, mut set) = (asked.clone(), Vec::new(), Vec::new());
        for (place, &(name, given)) in named.iter().enumerate() {
            if named[..place].iter().any(|(other, _)| *other == name) {
                return Err(DataError::Twice { what: name.to_owned() }.into());
            }
            if let Some(action) = problem.action_index(name) {
                let &[value] = given else {
                    let (what, found) = (name.to_owned(), given.len());
                    return Err(DataError::WrongLength { what, expected: 1, found }.into());
                };
                let (declared, asked) = (&problem.actions()[action], asked.actions[action]);
                if !value.is_finite() || (value != asked && !declared.is_near(value, asked, SAME)) {
                    done.actions[action] = value;
                }
                continue;
            }
            let inner = name.strip_prefix("do(").and_then(|rest| rest.strip_suffix(')'));
            let slot = slot_by_name(problem, inner.unwrap_or(name));
            let node = slot.as_ref().and_then(|slot| {
                (0..problem.nodes().len()).find(|&node| problem.slot(node).contains(&slot.start))
            });
            match (slot, node) {
                (Some(slot), Some(node)) if inner.is_some() || asked.target(node).is_some() => {
                    set.push((name, node, slot, given));
                }
                (None, _) if inner.is_some() => {
                    let known = problem.graph().names().join(", ");
                    return Err(DataError::UnknownName { name: name.to_owned(), known }.into());
                }
                _ => values.push((name, given)),
            }
        }
        for (place, (name, node, slot, given)) in set.iter().enumerate() {
            let node = *node;
            if set[..place].iter().any(|(_, other, taken, _)| *other == node && taken.contains(&slot.start)) {
                return Err(DataError::Twice { what: (*name).to_owned() }.into());
            }
            if given.len() != slot.len() {
                let (what, expected, found) = ((*name).to_owned(), slot.len(), given.len());
                return Err(DataError::WrongLength { what, expected, found }.into());
            }
            let Some(ranges) = &problem.nodes()[node].hard else {
                return Err(DataError::NotSettable { node: problem.nodes()[node].name.clone() }.into());
            };
            if done.target(node).is_none() {
                // Components that are not named stay without a number, and are refused for it.
                done.targets.push((node, vec![f64::NAN; ranges.len()]));
                done.targets.sort_by_key(|(node, _)| *node);
            }
            let target = done.targets.iter_mut().find(|(target, _)| *target == node);
            let Some((_, target)) = target else { continue };
            let components = slot.clone().map(|at| at - problem.slot(node).start);
            let same = |(component, value): (usize, &f64)| {
                let [low, high] = ranges[component];
                (value - target[component]).abs() <= SAME * (high - low)
            };
            if components.clone().zip(*given).all(same) {
                values.push((*name, *given));
            } else {
                components.zip(*given).for_each(|(component, &value)| target[component] = value);
            }
        }
        values.retain(|(name, _)| !name.starts_with("do("));
        Ok((values_by_name(problem, values)?, done))
    }

    /// Refuses that something was done otherwise than was told before.
    fn refuse_other(&self, number: usize, done: &Intervention) -> Result<(), StudyError> {
        let trial = self.trial(number)?;
        let (suggested, told) = (&trial.suggestion.intervention, trial.intervention());
        let settled = trial.suggestion.origin() == Origin::Added;
        let conflict = |name: &str, stored: f64, told: f64| {
            let (stored, told) = (self.problem.said(name, stored), self.problem.said(name, told));
            Err(StudyError::Conflict { number, node: name.to_owned(), stored, told })
        };
        for (place, action) in self.problem.actions().iter().enumerate() {
            let (was, now) = (told.actions[place], done.actions[place]);
            if now != was && (settled || was != suggested.actions[place]) {
                return conflict(&action.name, was, now);
            }
        }
        for (node, now) in &done.targets {
            let was = told.target(*node).unwrap_or(&[]);
            if !was.is_empty() && was != now && (settled || suggested.target(*node) != Some(was)) {
                return conflict(&self.problem.nodes()[*node].name, was[0], now[0]);
            }
        }
        Ok(())
    }

    /// Notes what was really done in a trial, then goes on; whether either is new. What is refused leaves the study as it was.
    fn redo(
        &mut self,
        number: usize,
        done: Intervention,
        then: impl FnOnce(&mut Self) -> Result<bool, StudyError>,
    ) -> Result<bool, StudyError> {
        let before = self.trial(number)?.clone();
        if done == *before.intervention() {
            return then(self);
        }
        check_done(&self.problem, &done)?;
        let place = self.places[number - 1];
        let observation = match &before.values {
            Some(values) => {
                let mut values = values.clone();
                // The values of nodes that are set are what they are set to.
                for (node, _) in &before.intervention().targets {
                    values[self.problem.slot(*node)].fill(None);
                }
                let observation = Observation { intervention: done.clone(), values };
                Some(Data::checked(&self.problem, observation)?)
            }
            None => None,
        };
        let trial = &mut self.trials[number - 1];
        trial.done = (done != trial.suggestion.intervention).then_some(done);
        let old = place.map(|place| self.data.observations()[place].clone());
        if let Some(observation) = observation {
            trial.values = Some(observation.values.clone());
            if let Some(place) = place {
                self.data.replace(place, observation);
            }
        }
        let done = then(self);
        if done.is_err() {
            self.trials[number - 1] = before;
            if let (Some(place), Some(old)) = (place, old) {
                self.data.replace(place, old);
            }
        }
        done.map(|_| true)
    }
}

#[cfg(test)]
mod tests;
