//! Many runs with a progress line: what is stored is not repeated, what ends is stored.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use mcbo_bench::{Archive, Job, RunResult, Stored, run_all};

use crate::console::Console;
use crate::describe;
use crate::interrupt::Interrupt;

/// What became of a list of jobs.
pub struct Outcome {
    /// The finished runs, at the places of their jobs.
    pub runs: Vec<Option<RunResult>>,
    /// Whether Ctrl-C ended it early.
    pub interrupted: bool,
}

/// Does all jobs that the archive does not have; `on_next` gets the runs in the order of the jobs.
///
/// # Errors
/// If a run cannot be made or saved: at the end, when all others are.
pub fn sweep(
    jobs: &[Job<'_>],
    archive: Option<&Archive>,
    threads: usize,
    console: &Console,
    mut on_next: impl FnMut(&Job<'_>, &RunResult) -> Result<()>,
) -> Result<Outcome> {
    let mut runs: Vec<Option<RunResult>> = jobs.iter().map(|_| None).collect();
    let mut useless = Vec::new();
    for (job, run) in jobs.iter().zip(&mut runs) {
        match archive.map_or(Stored::Missing, |archive| archive.find(job)) {
            Stored::Run(stored) => *run = Some(*stored),
            Stored::Missing => {}
            Stored::Useless(why) => useless.push(why),
        }
    }
    if let Some(first) = useless.first() {
        let more =
            if useless.len() > 1 { format!(", and {} more", useless.len() - 1) } else { String::new() };
        console.warning(&format!("made again: {first}{more}"));
    }
    let places: Vec<usize> = (0..jobs.len()).filter(|&place| runs[place].is_none()).collect();
    let missing: Vec<Job<'_>> = places.iter().map(|&place| jobs[place]).collect();
    if places.len() < jobs.len() {
        let (stored, all) = (jobs.len() - places.len(), describe::count(jobs.len(), "run"));
        console.note(&format!("{stored} of {all} are there already"));
    }
    let interrupt = Interrupt::install(
        console,
        "stopping after the runs under way; press Ctrl-C again to stop at once and lose them",
    )?;
    let mut clock = Clock::new(jobs, &runs, threads, console.bar().clone());
    let mut told = 0;
    let mut trouble: Vec<anyhow::Error> = Vec::new();
    let mut tell = |runs: &[Option<RunResult>], trouble: &mut Vec<anyhow::Error>| {
        while let Some(Some(run)) = runs.get(told) {
            if let Err(error) = on_next(&jobs[told], run) {
                // Nobody listens: the rest is made and saved all the same if there is an archive.
                trouble.push(error);
            }
            told += 1;
        }
    };
    tell(&runs, &mut trouble);
    let stop = || interrupt.asked();
    run_all(&missing, threads, &stop, |place, result| {
        let (job, place) = (&missing[place], places[place]);
        let saved = result.map_err(anyhow::Error::from).and_then(|run| {
            archive.map_or(Ok(()), |archive| archive.save(job, &run))?;
            Ok(run)
        });
        match saved {
            Ok(run) => {
                clock.ended(job, &run);
                runs[place] = Some(run);
            }
            Err(error) => trouble.push(error),
        }
        tell(&runs, &mut trouble);
    });
    console.bar().finish_and_clear();
    match trouble.len() {
        0 => Ok(Outcome { interrupted: interrupt.asked(), runs }),
        1 => Err(trouble.remove(0)),
        count => {
            let first = trouble.remove(0);
            let more = describe::count(count - 1, "more failure");
            Err(if first.is::<std::io::Error>() { first } else { anyhow!("{first:#} (and {more})") })
        }
    }
}

/// A progress line for runs; it shows nothing where stderr is not a terminal.
pub fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{spinner} {pos}/{len} runs [{bar:20}] {elapsed} {wide_msg}");
    bar.set_style(style.expect("the template is fixed").progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Estimates the time left from what runs of each task and method took.
struct Clock {
    bar: ProgressBar,
    threads: usize,
    began: Instant,
    /// Per task and method: runs that ended, their seconds, runs that are left.
    cells: BTreeMap<(String, String), (usize, f64, usize)>,
}

fn cell(job: &Job<'_>) -> (String, String) {
    (job.task.name().to_owned(), job.entrant.name.clone())
}

fn seconds(run: &RunResult) -> f64 {
    run.rounds.iter().map(|round| round.suggest_seconds).sum::<f64>() + run.recommended.seconds
}

impl Clock {
    fn new(jobs: &[Job<'_>], runs: &[Option<RunResult>], threads: usize, bar: ProgressBar) -> Self {
        let mut cells: BTreeMap<_, (usize, f64, usize)> = BTreeMap::new();
        for (job, run) in jobs.iter().zip(runs) {
            let (ended, spent, left) = cells.entry(cell(job)).or_default();
            match run {
                Some(run) => {
                    *ended += 1;
                    *spent += seconds(run);
                }
                None => *left += 1,
            }
        }
        bar.set_length(jobs.len() as u64);
        bar.set_position(runs.iter().flatten().count() as u64);
        bar.reset_eta();
        let clock = Self { bar, threads, began: Instant::now(), cells };
        clock.show("");
        clock
    }

    fn ended(&mut self, job: &Job<'_>, run: &RunResult) {
        if let Some((ended, spent, left)) = self.cells.get_mut(&cell(job)) {
            *ended += 1;
            *spent += seconds(run);
            *left = left.saturating_sub(1);
        }
        self.bar.inc(1);
        self.show(&format!(", last {} on {}", job.entrant.label, job.task.name()));
    }

    /// Seconds until the last run ends. Cells of which no run has ended are taken to be like the mean of the others.
    fn left(&self) -> Option<f64> {
        let known = || self.cells.values().filter(|(ended, ..)| *ended > 0);
        let mean_of = |(ended, spent, _): &(usize, f64, usize)| spent / *ended as f64;
        let usual = known().map(mean_of).sum::<f64>() / known().count() as f64;
        let left =
            |cell: &(usize, f64, usize)| cell.2 as f64 * if cell.0 > 0 { mean_of(cell) } else { usual };
        let work: f64 = self.cells.values().map(left).sum();
        (known().count() > 0).then_some(work / self.threads as f64)
    }

    fn show(&self, last: &str) {
        let left = match self.left() {
            Some(left) if self.began.elapsed().as_secs() > 1 || left > 0.0 => {
                format!("about {} left", describe::duration(left))
            }
            _ => "estimating the time".to_owned(),
        };
        self.bar.set_message(format!("{left}{last}"));
    }
}
