//! `mcbo run`: the closed loop on a simulator or on a program.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use mcbo_core::{Problem, Recommendation, Strategy, Study, StudyError, Trial};
use serde_json::json;

use crate::cli::{Run, StrategyName};
use crate::failure::BadInput;
use crate::interrupt::{self, Interrupt};
use crate::run::exec::Exec;
use crate::run::progress::{self, Progress};
use crate::run::report::Report;
use crate::run::runner::{End, Event, PATIENCE, Runner};
use crate::run::world::{MeasureError, Simulated, World};
use crate::talk::Talk;
use crate::{json, problem, strategies, table, words};

/// Runs the loop and prints what came out.
pub fn run(arguments: &Run) -> Result<ExitCode> {
    let problem = Arc::new(problem::read(&arguments.file)?);
    check(arguments, &problem)?;
    let study = study(arguments, &problem);
    let mut talk = Talk::new(arguments.quiet);
    for warning in problem.warnings() {
        talk.warning(&warning.to_string());
    }
    if !arguments.quiet && !arguments.json {
        talk = talk.around(progress::bar(progress::expected_trials(&study, arguments.rounds)));
    }
    let interrupt =
        Interrupt::install(&talk, "stopping after this step; press Ctrl-C again to stop at once")?;
    let world = world(arguments, &problem, &interrupt, &talk);
    let runner = Runner::new(study, world, arguments.rounds, interrupt);
    match arguments.threads {
        None => finish(arguments, runner, &talk),
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .context("the threads cannot be started")?
            .install(|| finish(arguments, runner, &talk)),
    }
}

/// What the options and the problem do not allow together.
fn check(arguments: &Run, problem: &Problem) -> Result<(), BadInput> {
    if arguments.beta.is_some() && !strategies::strategy(arguments.strategy).has_beta() {
        return Err(BadInput::new(
            "--beta means nothing to this strategy",
            "leave out --beta; only mcbo and ucb have a confidence band",
        ));
    }
    if arguments.strategy == StrategyName::CboNoisy {
        return Err(BadInput::new(
            "cbo-noisy is a variant for `mcbo bench`",
            "take cbo: outside the benchmark it learns from what is measured anyway",
        ));
    }
    if arguments.exec.is_none() && problem.simulator().is_none() {
        return Err(BadInput::new(
            format!("{} has no [simulator], so there is nothing to measure", arguments.file),
            "measure with a program of yours, as in --exec 'python3 experiment.py', or add a [simulator]",
        ));
    }
    Ok(())
}

fn study(arguments: &Run, problem: &Arc<Problem>) -> Study {
    let method = strategies::method(arguments.strategy, arguments.preset, arguments.beta);
    let strategy: Arc<dyn Strategy> = method.build().into();
    let study = Study::with_strategy(Arc::clone(problem), strategy, arguments.seed).advisor(method.mcbo());
    match arguments.initial {
        Some(trials) => study.initial(trials),
        None => study,
    }
}

fn world(
    arguments: &Run,
    problem: &Arc<Problem>,
    interrupt: &Interrupt,
    talk: &Talk,
) -> Box<dyn World + Send> {
    match &arguments.exec {
        Some(command) => {
            let timeout = arguments.timeout.map(Duration::from_secs_f64);
            Box::new(Exec::new(problem, command, timeout, interrupt, talk))
        }
        None => Box::new(Simulated::new(problem, arguments.seed)),
    }
}

impl World for Box<dyn World + Send> {
    fn measure(&mut self, trial: &Trial) -> Result<Vec<Option<f64>>, MeasureError> {
        (**self).measure(trial)
    }
}

/// Runs, prints, and says with which code to end.
fn finish(arguments: &Run, mut runner: Runner<Box<dyn World + Send>>, talk: &Talk) -> Result<ExitCode> {
    let began = Instant::now();
    let end = drive(arguments, &mut runner, talk);
    // Whatever has happened, what was measured is not lost; only a reader that went away wants none of it.
    if let Err(error) = &end
        && !error.is::<StudyError>()
    {
        return end.map(|_| ExitCode::SUCCESS);
    }
    let study = runner.study();
    talk.bar().set_message("fitting the model for the recommendation");
    let recommendation = if study.data().is_empty() { Ok(None) } else { study.recommend().map(Some) };
    talk.bar().finish_and_clear();
    let recommended = recommendation.as_ref().ok().and_then(Option::as_ref);
    if arguments.json {
        write_line(&summary(study, recommended, &end))?;
    } else {
        let mut out = anstream::stdout().lock();
        Report::new(study, recommended).write(&mut out, table::width(), arguments.all)?;
        out.flush()?;
    }
    for warning in recommended.iter().flat_map(|r| &r.warnings) {
        talk.warning(&warning.to_string());
    }
    if study.data().is_empty() {
        talk.note("nothing was measured, so there is nothing to recommend");
    } else if !arguments.json {
        let (measured, time) = (words::count(study.data().len(), "trial"), began.elapsed().as_secs_f64());
        talk.note(&format!("\n{measured} measured in {time:.1} s."));
    }
    recommendation?;
    match end? {
        End::Done => Ok(ExitCode::SUCCESS),
        End::Interrupted => Ok(ExitCode::from(interrupt::EXIT)),
        End::GaveUp(last) => Err(gave_up(last, runner.failures().get(&last))),
    }
}

/// Runs, with progress, warnings and JSON lines on the way.
fn drive(arguments: &Run, runner: &mut Runner<Box<dyn World + Send>>, talk: &Talk) -> Result<End> {
    let problem = Arc::clone(runner.study().problem());
    let mut progress = Progress::new(talk);
    let mut missed_reward = false;
    runner.run(&mut |event| {
        progress.on(&problem, &event);
        let Event::Ended(trial, failure) = event else { return Ok(()) };
        if let Some(failure) = failure {
            let (number, what, hint) = (trial.number, &failure.what, &failure.hint);
            talk.warning(&format!("trial {number} failed and is left out: {what}; hint: {hint}"));
        } else if json::reward(&problem, trial).is_none() && !missed_reward {
            missed_reward = true;
            talk.warning(&format!(
                "trial {} has no value for {}; the model learns from the rest of it, but it cannot be the best trial",
                trial.number,
                words::reward_name(&problem)
            ));
        }
        if arguments.json {
            let error = failure.map(ToString::to_string);
            write_line(&json::trial(&problem, trial, error.as_deref()))?;
        }
        Ok(())
    })
}

fn gave_up(trial: usize, failure: Option<&MeasureError>) -> anyhow::Error {
    let mut text = format!("{PATIENCE} trials in a row failed, so the run ends here");
    if let Some(failure) = failure {
        text.push_str(&format!("\ntrial {trial}: {}", failure.what));
        if !failure.said.is_empty() {
            text.push_str("\nthe last it wrote to stderr:");
            for line in failure.said.lines() {
                text.push_str(&format!("\n  {line}"));
            }
        }
        text.push_str(&format!("\nhint: {}", failure.hint));
    }
    anyhow!(text)
}

/// The last line of `--json`.
fn summary(study: &Study, recommendation: Option<&Recommendation>, end: &Result<End>) -> serde_json::Value {
    let problem = study.problem();
    let nodes = recommendation.map(|r| json::nodes(&r.network.summaries(problem)));
    json!({
        "recommendation": recommendation.map(|r| json::recommendation(problem, r)),
        "best": json::best(problem, study.best_trial(), recommendation),
        "nodes": nodes.unwrap_or_else(|| json!([])),
        "end": match end {
            Ok(End::Done) => "done",
            Ok(End::Interrupted) => "interrupted",
            Ok(End::GaveUp(_)) | Err(_) => "failed",
        },
    })
}

/// Writes a line of JSON and does not keep it back.
fn write_line(value: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
