//! The loop itself: a study that is asked, measured and told until its rounds are done.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::Result;
use mcbo_core::{Study, Trial, TrialState};

use super::world::{MeasureError, World};
use crate::interrupt::Interrupt;

/// So many failures in a row end a run.
pub const PATIENCE: usize = 5;

/// What happens while a run goes on.
pub enum Event<'a> {
    /// A trial is being chosen.
    Choosing {
        /// Its number.
        number: usize,
    },
    /// A trial is being measured.
    Measuring(&'a Trial),
    /// A trial has ended; with why, if it failed.
    Ended(&'a Trial, Option<&'a MeasureError>),
}

/// How a run came to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// All rounds are done.
    Done,
    /// Ctrl-C.
    Interrupted,
    /// Too many failures in a row, with the last trial.
    GaveUp(usize),
}

/// Drives a study. The study may have trials already: what is pending is measured first, and rounds that are done count.
pub struct Runner<W> {
    study: Study,
    world: W,
    rounds: usize,
    interrupt: Interrupt,
    failures: BTreeMap<usize, MeasureError>,
}

/// Whether a trial was chosen by the strategy, and so is one of the rounds.
pub fn is_round(trial: &Trial) -> bool {
    !["design", "enqueued", "added"].contains(&trial.suggestion.strategy.as_str())
}

impl<W: World> Runner<W> {
    /// A run of so many rounds after the initial design.
    pub fn new(study: Study, world: W, rounds: usize, interrupt: Interrupt) -> Self {
        Self { study, world, rounds, interrupt, failures: BTreeMap::new() }
    }

    /// The study as it stands.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// Why trials failed, by number.
    pub fn failures(&self) -> &BTreeMap<usize, MeasureError> {
        &self.failures
    }

    /// Goes on until the rounds are done or something ends it.
    ///
    /// # Errors
    /// If no model can be fitted, or `on` fails.
    pub fn run(&mut self, on: &mut dyn FnMut(Event<'_>) -> Result<()>) -> Result<End> {
        loop {
            if let ControlFlow::Break(end) = self.step(on)? {
                return Ok(end);
            }
        }
    }

    fn step(&mut self, on: &mut dyn FnMut(Event<'_>) -> Result<()>) -> Result<ControlFlow<End>> {
        if self.interrupt.asked() {
            return Ok(ControlFlow::Break(End::Interrupted));
        }
        let pending = self.study.trials().iter().find(|trial| trial.state == TrialState::Pending);
        let number = match pending {
            Some(trial) => trial.number,
            None if self.is_done() => return Ok(ControlFlow::Break(End::Done)),
            None => {
                on(Event::Choosing { number: self.study.trials().len() + 1 })?;
                self.study.ask()?.number
            }
        };
        // Choosing takes a while: do not begin an experiment that nobody waits for any more.
        if self.interrupt.asked() {
            return Ok(ControlFlow::Break(End::Interrupted));
        }
        let trial = &self.study.trials()[number - 1];
        on(Event::Measuring(trial))?;
        let told = self.world.measure(trial).and_then(|values| {
            self.study.tell(number, values).map_err(|error| {
                let text = error.to_string();
                let (what, hint) = text.split_once("; hint: ").unwrap_or((&text, "check what is measured"));
                MeasureError::new(what, hint)
            })
        });
        if let Err(error) = told {
            self.study.fail(number)?;
            self.failures.insert(number, error);
        }
        on(Event::Ended(&self.study.trials()[number - 1], self.failures.get(&number)))?;
        let last = self.study.trials().iter().rev().take(PATIENCE);
        if last.filter(|trial| trial.state == TrialState::Failed).count() == PATIENCE {
            return Ok(ControlFlow::Break(End::GaveUp(number)));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn is_done(&self) -> bool {
        let rounds = self.study.trials().iter().filter(|trial| is_round(trial)).count();
        rounds >= self.rounds && self.study.data().len() >= self.study.initial_trials()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcbo_core::{Problem, Random};

    use super::*;

    /// Gives 1, and fails the trials it is told to.
    struct Fake(fn(usize) -> bool);

    impl World for Fake {
        fn measure(&mut self, trial: &Trial) -> Result<Vec<Option<f64>>, MeasureError> {
            if (self.0)(trial.number) {
                Err(MeasureError::new("broken", "mend it"))
            } else {
                Ok(vec![Some(1.0)])
            }
        }
    }

    fn study() -> Study {
        let problem =
            Problem::builder("p").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y");
        Study::with_strategy(problem.build().unwrap(), Arc::new(Random), 0).initial(3)
    }

    fn run(study: Study, fails: fn(usize) -> bool, interrupt: Interrupt) -> (End, Runner<Fake>) {
        let mut runner = Runner::new(study, Fake(fails), 4, interrupt);
        (runner.run(&mut |_| Ok(())).unwrap(), runner)
    }

    #[test]
    fn a_run_is_the_design_and_the_rounds() {
        let (end, runner) = run(study(), |_| false, Interrupt::default());
        assert_eq!((end, runner.study().trials().len()), (End::Done, 7));
        // A trial that fails costs a round, but the design is completed.
        let (end, runner) = run(study(), |number| number % 2 == 0, Interrupt::default());
        let rounds = runner.study().trials().iter().filter(|trial| is_round(trial)).count();
        assert_eq!((end, rounds, runner.study().trials().len()), (End::Done, 4, 9));
        assert_eq!(runner.failures().keys().copied().collect::<Vec<_>>(), [2, 4, 6, 8]);
    }

    #[test]
    fn five_failures_in_a_row_end_it() {
        let (end, runner) = run(study(), |number| number > 1, Interrupt::default());
        assert_eq!((end, runner.failures().len()), (End::GaveUp(6), 5));
    }

    #[test]
    fn a_study_that_was_begun_goes_on_with_what_is_pending() {
        let mut begun = study();
        for number in 1..=3 {
            begun.ask().unwrap();
            begun.tell(number, vec![Some(0.0)]).unwrap();
        }
        let pending = begun.ask().unwrap().suggestion.intervention.clone();
        let (end, runner) = run(begun, |_| false, Interrupt::default());
        assert_eq!((end, runner.study().trials().len()), (End::Done, 7));
        let fourth = &runner.study().trials()[3];
        assert_eq!((fourth.state, &fourth.suggestion.intervention), (TrialState::Complete, &pending));
    }

    #[test]
    fn an_interrupt_comes_before_the_next_step() {
        let interrupt = Interrupt::default();
        interrupt.ask();
        let (end, runner) = run(study(), |_| false, interrupt);
        assert_eq!((end, runner.study().trials().len()), (End::Interrupted, 0));
    }
}
