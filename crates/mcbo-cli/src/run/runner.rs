//! The loop itself: a study that is asked, measured and told until its rounds are done.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::{Result, anyhow};
use mcbo_core::{Origin, Study, Trial};

use super::kept::RunStudy;
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
    /// No more than this is left to gain, which is what was asked for.
    Close(f64),
    /// The next trial costs more than this, which is left of the budget.
    Spent(f64),
    /// Ctrl-C.
    Interrupted,
    /// Too many failures in a row, with the last trial.
    GaveUp(usize),
}

/// When a run has done enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Rounds after the initial design.
    pub rounds: usize,
    /// Fewer, if no more than this can be gained by mechanisms within so many standard deviations.
    pub gap: Option<(f64, f64)>,
    /// What all trials together may cost.
    pub budget: Option<f64>,
}

/// Drives a study. The study may have trials already: what is pending is measured first, and rounds that are done count.
pub struct Runner<W> {
    run_study: RunStudy,
    world: W,
    goal: Goal,
    interrupt: Interrupt,
    failures: BTreeMap<usize, MeasureError>,
    in_a_row: usize,
}

/// Whether a trial was chosen by the strategy, and so is one of the rounds.
pub fn is_round(trial: &Trial) -> bool {
    trial.suggestion.origin() == Origin::Strategy
}

impl<W: World> Runner<W> {
    /// A run towards a goal.
    pub fn new(run_study: RunStudy, world: W, goal: Goal, interrupt: Interrupt) -> Self {
        Self { run_study, world, goal, interrupt, failures: BTreeMap::new(), in_a_row: 0 }
    }

    /// The study as it stands.
    pub fn study(&self) -> &Study {
        self.run_study.study()
    }

    /// Why trials failed, by number.
    pub fn failures(&self) -> &BTreeMap<usize, MeasureError> {
        &self.failures
    }

    /// Why a trial failed, in this run or before.
    pub fn reason(&self, number: usize) -> Option<String> {
        self.run_study.reason(number)
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
        let number = match self.run_study.pending()? {
            Some(number) => number,
            None if self.is_done() => return Ok(ControlFlow::Break(End::Done)),
            None => {
                on(Event::Choosing { number: self.study().trials().len() + 1 })?;
                if let Some(gap) = self.gap_reached()? {
                    return Ok(ControlFlow::Break(End::Close(gap)));
                }
                let number = self.study().trials().len() + 1;
                // No trial has begun yet, so that nothing is lost by stopping here.
                let given = self.world.given(number).map_err(|error| {
                    anyhow!("what is known before trial {number} could not be read: {}", error.at_length())
                })?;
                self.run_study.ask(&given)?
            }
        };
        // Choosing takes a while: do not begin an experiment that nobody waits for any more.
        if self.interrupt.asked() {
            return Ok(ControlFlow::Break(End::Interrupted));
        }
        if let Some(budget) = self.goal.budget {
            let (study, left) = (self.study(), budget - self.study().spent());
            if study.problem().cost(&study.trials()[number - 1].suggestion.intervention) > left {
                return Ok(ControlFlow::Break(End::Spent(left)));
            }
        }
        let trial = &self.run_study.study().trials()[number - 1];
        on(Event::Measuring(trial))?;
        let told = match self.world.measure(trial) {
            Err(error) => Err(error),
            Ok(values) => self.run_study.tell(number, values)?.map_err(|error| {
                let text = error.to_string();
                let (what, hint) = text.split_once("; hint: ").unwrap_or((&text, "check what is measured"));
                MeasureError::new(what, hint)
            }),
        };
        self.in_a_row = if told.is_err() { self.in_a_row + 1 } else { 0 };
        if let Err(error) = told {
            self.run_study.fail(number, &error.what)?;
            self.failures.insert(number, error);
        }
        on(Event::Ended(&self.study().trials()[number - 1], self.failures.get(&number)))?;
        if self.in_a_row == PATIENCE {
            return Ok(ControlFlow::Break(End::GaveUp(number)));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn is_done(&self) -> bool {
        let study = self.study();
        let rounds = study.trials().iter().filter(|trial| is_round(trial)).count();
        rounds >= self.goal.rounds && study.data().len() >= study.initial_trials()
    }

    /// What is left to gain, if that is little enough to stop. It is looked at once the initial design is done.
    fn gap_reached(&self) -> Result<Option<f64>> {
        let (Some((gap, width)), study) = (self.goal.gap, self.study()) else { return Ok(None) };
        if study.data().is_empty() || study.data().len() < study.initial_trials() {
            return Ok(None);
        }
        let left = study.certify(&study.recommend()?, width).gap();
        Ok((left <= gap).then_some(left))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcbo_core::{Given, Problem, Random, TrialState};

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
        go_on(RunStudy::in_memory(study, "w".into()), fails, interrupt)
    }

    fn go_on(run_study: RunStudy, fails: fn(usize) -> bool, interrupt: Interrupt) -> (End, Runner<Fake>) {
        let goal = Goal { rounds: 4, gap: None, budget: None };
        let mut runner = Runner::new(run_study, Fake(fails), goal, interrupt);
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
        let mut begun = RunStudy::in_memory(study(), "w".into());
        for _ in 1..=3 {
            let number = begun.ask(Given::NONE).unwrap();
            begun.tell(number, vec![Some(0.0)]).unwrap().unwrap();
        }
        let number = begun.ask(Given::NONE).unwrap();
        let pending = begun.study().trials()[number - 1].suggestion.intervention.clone();
        let (end, runner) = go_on(begun, |_| false, Interrupt::default());
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
