//! The line that shows how far a run is.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use mcbo_core::{Origin, Problem, Study};

use super::runner::Event;
use crate::console::Console;
use crate::json;
use crate::number::plain;

/// Shows the run of a study on the progress line of a console.
pub struct Progress {
    bar: ProgressBar,
    best: Option<f64>,
}

/// A progress line for so many trials; it shows nothing where stderr is not a terminal.
pub fn bar(trials: usize) -> ProgressBar {
    let bar = ProgressBar::new(trials as u64);
    let style = ProgressStyle::with_template("{spinner} {pos}/{len} [{bar:20}] {elapsed} {wide_msg}");
    bar.set_style(style.expect("the template is fixed").progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Trials a run will have if none fails.
pub fn expected_trials(study: &Study, rounds: usize) -> usize {
    study.initial_trials() + rounds
}

impl Progress {
    /// Progress on the line of a console.
    pub fn new(console: &Console, study: &Study) -> Self {
        let bar = console.bar().clone();
        bar.set_position(study.trials().len() as u64);
        Self { bar, best: study.best_trial().map(|(_, reward)| reward) }
    }

    /// Takes note of an event.
    pub fn on(&mut self, problem: &Problem, event: &Event<'_>) {
        let doing = match event {
            Event::Choosing { number } => format!("choosing trial {number}"),
            Event::Measuring(trial) => format!("measuring trial {}", trial.number),
            Event::Ended(trial, failure) => {
                if failure.is_some() {
                    // The design goes on for a trial that failed.
                    self.bar.inc_length(u64::from(trial.suggestion.origin() == Origin::Design));
                }
                self.bar.set_position(trial.number as u64);
                if let Some(reward) = json::reward(problem, trial) {
                    self.best = Some(self.best.map_or(reward, |best| best.max(reward)));
                }
                return;
            }
        };
        let best = self.best.map(|best| format!(", best reward {}", plain(best))).unwrap_or_default();
        self.bar.set_message(format!("{doing}{best}"));
    }
}
