//! A study taken apart and put together again: what is kept of one, so that it need not be made anew from all that happened to it.

use super::{Study, StudyError, Trial, TrialState};
use crate::data::{DataError, Observation, check_done};
use crate::strategy::{Memory, Suggestion};
use crate::{Intervention, Problem};

/// A trial as it stands in a study, without its number.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Where it stands.
    pub state: TrialState,
    /// Where it stood before it was taken out, if it is.
    pub before: Option<TrialState>,
    /// Whether the model learns from it.
    pub counts: bool,
    /// What was proposed.
    pub suggestion: Suggestion,
    /// What was really done, where that is something else.
    pub done: Option<Intervention>,
    /// What was measured.
    pub values: Option<Vec<Option<f64>>>,
}

impl Study {
    /// Every trial in order, with where it stood before it was taken out, if it is, and whether the model learns from it. With what the
    /// strategy remembers that is all of a study that grows: [`Self::put_back`] makes the same of it, to the bit.
    ///
    /// ```
    /// # use mcbo_core::{Problem, Standing, Study};
    /// # let problem = std::sync::Arc::new(
    /// #     Problem::builder("p").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y").build()?);
    /// let mut study = Study::new(problem.clone(), 1);
    /// study.ask()?;
    /// study.tell(1, vec![Some(0.5)])?;
    /// let mut again = Study::new(problem, 1);
    /// for (trial, before, counts) in study.standings() {
    ///     let (suggestion, done, values) = (trial.suggestion.clone(), trial.done.clone(), trial.values.clone());
    ///     again.put_back(Standing { state: trial.state, before, counts, suggestion, done, values })?;
    /// }
    /// again.remember(study.memory().clone());
    /// assert_eq!((again.trials(), again.data()), (study.trials(), study.data()));
    /// assert_eq!(again.ask()?, study.ask()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn standings(&self) -> impl Iterator<Item = (&Trial, Option<TrialState>, bool)> {
        let standing = |(trial, place): (_, &Option<usize>)| {
            let trial: &Trial = trial;
            (trial, self.voided.get(&trial.number).copied(), place.is_some())
        };
        self.trials.iter().zip(self.places.iter()).map(standing)
    }

    /// Puts the next trial of [`Self::standings`] behind the others.
    ///
    /// # Errors
    /// If it does not fit the problem; the study is as it was then.
    pub fn put_back(&mut self, standing: Standing) -> Result<(), StudyError> {
        let Standing { state, before, counts, suggestion, done, values } = standing;
        let number = self.trials.len() + 1;
        let trial = Trial { number, state, suggestion, done, values };
        check(&self.problem, &trial)?;
        let place = match &trial.values {
            Some(values) if counts => {
                let observation =
                    Observation { intervention: trial.intervention().clone(), values: values.clone() };
                let place = self.data.len();
                self.data.insert(&self.problem, place, number, observation)?;
                Some(place)
            }
            None if counts => return Err(DataError::Nothing.into()),
            _ => None,
        };
        if let Some(before) = before {
            self.voided.insert(number, before);
        }
        self.trials.push(trial);
        self.places.push(place);
        Ok(())
    }

    /// Goes on with what the strategy of the study had remembered.
    pub fn remember(&mut self, memory: Memory) {
        self.memory = memory;
    }
}

/// Refuses a trial that does not have the shape of the problem. What is out of the study need not fit it otherwise.
fn check(problem: &Problem, trial: &Trial) -> Result<(), DataError> {
    let length = |what: &str, expected: usize, found: usize| match expected == found {
        true => Ok(()),
        false => Err(DataError::WrongLength { what: what.into(), expected, found }),
    };
    for doing in [Some(&trial.suggestion.intervention), trial.done.as_ref()].into_iter().flatten() {
        length("the list of actions", problem.actions().len(), doing.actions.len())?;
    }
    if let Some(values) = &trial.values {
        length("the observation", problem.slots(), values.len())?;
    }
    match trial.state {
        TrialState::Failed | TrialState::Voided => Ok(()),
        TrialState::Pending | TrialState::Complete => check_done(problem, trial.intervention()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        let text = "maximize = 'y'\n[nodes.x]\nactions = ['a']\ndo = [0, 1]\n[nodes.y]\nparents = ['x']\n[actions.a]\nrange = [0, 1]\n";
        Problem::from_toml(text).expect("a problem")
    }

    fn standing((trial, before, counts): (&Trial, Option<TrialState>, bool)) -> Standing {
        let Trial { state, suggestion, done, values, .. } = trial.clone();
        Standing { state, before, counts, suggestion, done, values }
    }

    fn again(study: &Study) -> Study {
        let mut again = Study::new(problem(), 1).initial(study.initial_trials());
        study.standings().for_each(|at| again.put_back(standing(at)).expect("it was there"));
        again.remember(study.memory().clone());
        again
    }

    /// Trials of every kind, put back after each step: the study is the same, and so is all that happens to it then.
    #[test]
    fn whatever_a_study_is_it_is_put_together_again() {
        let mut study = Study::new(problem(), 1).initial(3);
        type Step = fn(&mut Study) -> Result<bool, StudyError>;
        let ask: Step = |study| study.ask().map(|_| true);
        let steps: [Step; 14] = [
            ask,
            |study| study.take(1, vec![None, Some(0.5)]),
            ask,
            |study| study.take(2, vec![None, Some(0.75)]),
            ask,
            |study| study.fail(3).map(|()| true),
            ask,
            |study| study.take_named(4, &[("a", &[0.125]), ("x", &[0.5]), ("y", &[1.0])]),
            |study| study.void(2),
            |study| study.void(3),
            ask,
            |study| study.restore(2),
            |study| study.correct_named(1, &[("y", &[0.625])]),
            ask,
        ];
        for step in steps {
            let mut other = again(&study);
            let done = step(&mut study);
            assert_eq!((&done, &step(&mut other)), (&Ok(true), &done));
            assert_eq!((study.trials(), study.data()), (other.trials(), other.data()));
            assert_eq!((&study.voided, &*study.places), (&other.voided, &*other.places));
            assert_eq!(study.memory(), other.memory());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut study = Study::new(problem(), 1);
        study.ask().expect("a design");
        study.tell(1, vec![Some(0.5), Some(1.0)]).expect("it fits");
        let right = study.standings().map(standing).next().expect("there is one");
        let mut empty = Study::new(problem(), 1);
        let wrong: [fn(&mut Standing); 5] = [
            |standing| standing.values = None,
            |standing| standing.values = Some(vec![Some(1.0)]),
            |standing| standing.values = Some(vec![Some(0.5), Some(f64::NAN)]),
            |standing| standing.suggestion.intervention.actions.clear(),
            |standing| standing.done = Some(Intervention { targets: Vec::new(), actions: vec![0.0; 2] }),
        ];
        for spoil in wrong {
            let mut spoiled = right.clone();
            spoil(&mut spoiled);
            assert!(empty.put_back(spoiled.clone()).is_err(), "{spoiled:?}");
            assert!(empty.trials().is_empty() && empty.data().is_empty());
        }
        empty.put_back(right).expect("it was there");
        assert_eq!(empty.trials(), study.trials());
    }
}
