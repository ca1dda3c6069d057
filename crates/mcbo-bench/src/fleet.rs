//! Many runs at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use mcbo_core::Strategy;

use crate::error::BenchError;
use crate::protocol::{RunResult, run};
use crate::task::Task;

/// One run that is to be made.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// On what.
    pub task: &'a Task,
    /// By whom.
    pub strategy: &'a dyn Strategy,
    /// The seed.
    pub seed: u64,
    /// The number of rounds after the initial design.
    pub rounds: usize,
}

/// Runs all jobs, `threads` at a time, each of them on one thread; `on_done` gets every result as it is ready, with
/// the job's place in the list.
///
/// Results do not depend on the number of threads, but the seconds per suggestion do when cores are shared.
pub fn run_all(
    jobs: &[Job<'_>],
    threads: usize,
    mut on_done: impl FnMut(usize, Result<RunResult, BenchError>),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let work = || {
                    while let Some((place, job)) = take(next, jobs) {
                        let result = run(job.task, job.strategy, job.seed, job.rounds);
                        if sender.send((place, result)).is_err() {
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
