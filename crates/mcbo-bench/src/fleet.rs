//! Many runs at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use mcbo_core::Strategy;

use crate::error::BenchError;
use crate::method::Method;
use crate::protocol::{Feedback, RunResult, run_told};
use crate::task::Task;

/// Someone who takes part in a comparison.
pub struct Entrant {
    /// The name in files; unique in a comparison.
    pub name: String,
    /// The name in figures and tables.
    pub label: String,
    /// Who decides.
    pub strategy: Box<dyn Strategy>,
    /// What it is told.
    pub feedback: Feedback,
    /// Changes when a setting does: stored runs of other settings are not taken for this one's.
    pub settings: String,
}

impl Entrant {
    /// A strategy of one's own.
    pub fn own(name: impl Into<String>, strategy: Box<dyn Strategy>) -> Self {
        let name = name.into();
        Self { label: name.clone(), name, strategy, feedback: Feedback::Measured, settings: String::new() }
    }
}

impl From<Method> for Entrant {
    fn from(method: Method) -> Self {
        Self {
            name: method.to_string(),
            label: method.label(),
            strategy: method.build(),
            feedback: method.feedback(),
            settings: method.fingerprint(),
        }
    }
}

/// One run that is to be made.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// On what.
    pub task: &'a Task,
    /// By whom.
    pub entrant: &'a Entrant,
    /// The seed.
    pub seed: u64,
    /// The number of rounds after the initial design.
    pub rounds: usize,
}

impl Job<'_> {
    /// Does it.
    ///
    /// # Errors
    /// If the strategy gives no suggestion or one that the problem does not allow.
    pub fn run(&self) -> Result<RunResult, BenchError> {
        let entrant = self.entrant;
        let result = run_told(self.task, &*entrant.strategy, entrant.feedback, self.seed, self.rounds)?;
        let strategy = match entrant.name.parse::<Method>() {
            Ok(method) => method.strategy().as_str().to_owned(),
            Err(_) => result.strategy.clone(),
        };
        Ok(RunResult { method: entrant.name.clone(), strategy, ..result })
    }
}

/// Runs all jobs, `threads` at a time, each of them on one thread; `on_done` gets every result as it is ready, with
/// the job's place in the list. Once `stop` says so, no job is begun.
///
/// Results do not depend on the number of threads, but the seconds per suggestion do when cores are shared.
pub fn run_all(
    jobs: &[Job<'_>],
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    mut on_done: impl FnMut(usize, Result<RunResult, BenchError>),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let work = || {
                    while !stop()
                        && let Some((place, job)) = take(next, jobs)
                    {
                        if sender.send((place, job.run())).is_err() {
                            return;
                        }
                    }
                };
                // A pool of one thread keeps what a strategy does in parallel on this thread.
                match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
                    Ok(pool) => pool.install(work),
                    Err(_) => work(),
                }
            });
        }
        drop(sender);
        for (place, result) in receiver {
            on_done(place, result);
        }
    });
}

fn take<'j, 'a>(next: &AtomicUsize, jobs: &'j [Job<'a>]) -> Option<(usize, &'j Job<'a>)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(place).map(|job| (place, job))
}
