//! `mcbo run`: the closed loop on a simulator or on a program.

use std::io::Write;
use std::mem::Discriminant;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use mcbo_core::{
    Certificate, Given, Preset, Problem, Recommendation, Strategy, StrategyName, Study, SuggestError, Trial,
    TrialState, Warning,
};
use mcbo_store::{Options, StoreError, StoredStudy};
use serde_json::json;

use crate::cli::Run;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::{self, BadInput};
use crate::interrupt::Interrupt;
use crate::run::exec::{Exec, Programs};
use crate::run::kept::{self, RunStudy};
use crate::run::progress::{self, Progress};
use crate::run::report::Report;
use crate::run::runner::{End, Event, Goal, PATIENCE, Runner, is_round};
use crate::run::world::{MeasureError, Simulated, World};
use crate::{describe, json, number, problem, store, strategies, table};

/// Runs the loop and prints what came out.
pub fn run(arguments: &Run) -> Result<ExitCode> {
    let mut console = Console::new(arguments.storage.quiet);
    let run_study = run_study(arguments, &console)?;
    let (study, problem) = (run_study.study(), run_study.study().problem().clone());
    if arguments.exec.is_none() && problem.simulator().is_none() {
        let whose = arguments.file.clone().or_else(|| arguments.study.clone()).unwrap_or_default();
        return Err(BadInput::new(
            format!("{whose} has no [simulator], so there is nothing to measure"),
            "measure with a program of yours, as in --exec 'python3 experiment.py', or add a [simulator]",
        )
        .into());
    }
    if arguments.budget.is_some() && !problem.has_costs() {
        return Err(BadInput::new(
            "there is a budget, but nothing in the problem file has a cost",
            "say what costs something, as in `cost = { fixed = 3, per_unit = 0.2 }` under `[actions.dose]`",
        )
        .into());
    }
    if arguments.contexts.is_some() && problem.contexts().next().is_none() {
        return Err(BadInput::new(
            "there is a program for the contexts, but the problem has none",
            "mark nodes that are known before deciding with `context = true` in the problem file",
        )
        .into());
    }
    for warning in problem.warnings() {
        console.warning(&warning.to_string());
    }
    if let (Some(kept_as), done @ 1..) = (run_study.name(), study.trials().len()) {
        let name = describe::argument(kept_as);
        let anew = if kept::is_unnamed(kept_as) { "; --fresh begins anew" } else { "" };
        console.note(&format!("going on with study {name} after {}{anew}", describe::count(done, "trial")));
    }
    if !arguments.storage.quiet && !arguments.json {
        console = console.around(progress::bar(progress::expected_trials(study, arguments.rounds)));
    }
    let interrupt =
        Interrupt::install(&console, "stopping after this step; press Ctrl-C again to stop at once")?;
    let world = world(arguments, study, &interrupt, &console);
    let gap = arguments.until_gap.map(|gap| (gap, arguments.width));
    let goal = Goal { rounds: arguments.rounds, gap, budget: arguments.budget };
    let runner = Runner::new(run_study, world, goal, interrupt);
    super::with_threads(arguments.threads, || finish(arguments, runner, &console))
}

/// The study of the run: a new one or one to go on with, in memory or kept.
fn run_study(arguments: &Run, console: &Console) -> Result<RunStudy> {
    let options = store::options(&arguments.chooser)?;
    let file = arguments.file.as_deref().map(problem::read_text).transpose()?;
    // Trials that somebody has asked for by hand are not the run's.
    let worker =
        arguments.worker.worker.clone().unwrap_or_else(|| format!("{}/run", arguments.worker.name()));
    let keep =
        |stored: StoredStudy| RunStudy::kept(stored.with_lease(arguments.worker.lease()), worker.clone());
    match (&arguments.study, &arguments.exec, file) {
        (Some(name), _, file) => {
            let store = store::open(&arguments.storage)?;
            let text = file.map(|(text, _)| text);
            let opened = match (store.open_study(name), &text) {
                (Err(StoreError::NoStudy { .. }), Some(text)) => match store.create(name, text, &options) {
                    // Another program was faster.
                    Err(StoreError::StudyExists { .. }) => store.open_study(name),
                    created => created,
                },
                (opened, _) => opened,
            };
            keep(agreeing(opened?, arguments, text.as_ref())?)
        }
        (None, Some(command), Some((text, problem))) => {
            let name = kept::name_of(&problem, &text, command, &options);
            let stored = store::open(&arguments.storage)
                .and_then(|store| Ok(kept::unnamed(&store, &name, &text, &options, arguments.fresh)?));
            match stored {
                Ok(stored) => keep(stored),
                // Nobody asked for a store: measuring goes on without one.
                Err(error) if arguments.storage.storage.is_none() && !is_damage(&error) => {
                    console.warning(&format!("this run is not kept: {error}"));
                    Ok(RunStudy::in_memory(in_memory(arguments, problem, &options)?, worker.clone()))
                }
                Err(error) => Err(error),
            }
        }
        (None, _, Some((_, problem))) => {
            Ok(RunStudy::in_memory(in_memory(arguments, problem, &options)?, worker.clone()))
        }
        (None, _, None) => {
            Err(BadInput::new("no problem is given", "name a problem file, or a --study").into())
        }
    }
}

/// Whether what is kept already is in danger: then nothing goes on as if nothing were.
fn is_damage(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Damaged { .. } | StoreError::Empty { .. }))
}

fn in_memory(arguments: &Run, problem: Problem, options: &Options) -> Result<Study> {
    let chooser = &arguments.chooser;
    let (name, preset) =
        (chooser.strategy.unwrap_or(StrategyName::Mcbo), chooser.preset.unwrap_or(Preset::Default));
    let settings = strategies::settings(name, preset, chooser.beta, chooser.aim);
    let strategy: Arc<dyn Strategy> = settings.build().into();
    let refused =
        |error: SuggestError| StoreError::Strategy { name: strategy.name().into(), reason: error.reason() };
    strategy.check(&problem).map_err(refused)?;
    let study = Study::with_strategy(problem, strategy, options.seed).advisor(settings.mcbo());
    match options.initial {
        Some(trials) => Ok(study.initial(trials)),
        None => Ok(study),
    }
}

/// The study, unless the command says something else of it than it was made with.
fn agreeing(mut study: StoredStudy, arguments: &Run, text: Option<&String>) -> Result<StoredStudy> {
    let (status, name) = (study.status()?, describe::argument(study.name()));
    if text.is_some_and(|text| study.problem_toml().is_ok_and(|stored| stored != *text)) {
        let file = arguments.file.as_deref().unwrap_or_default();
        return Err(BadInput::new(
            format!("study {name} has another problem than {file}"),
            format!("leave out the file, or change the study first: mcbo update {name} --problem {file}"),
        )
        .into());
    }
    let chooser = &arguments.chooser;
    let asked = store::options(chooser)?;
    let differs = [
        ("--strategy", chooser.strategy.is_some() && asked.strategy.strategy != status.strategy.strategy),
        ("--preset", chooser.preset.is_some() && asked.strategy.preset != status.strategy.preset),
        ("--beta", chooser.beta.is_some() && asked.strategy.beta != status.strategy.beta),
        (
            "--aim",
            (chooser.aim.is_some() || chooser.beta.is_some()) && asked.strategy.aim != status.strategy.aim,
        ),
        ("--seed", chooser.seed.is_some_and(|seed| seed != status.seed)),
        ("--initial", chooser.initial.is_some_and(|initial| initial != status.initial)),
    ];
    match differs.iter().find(|(_, differs)| *differs) {
        Some((option, _)) => Err(BadInput::new(
            format!("study {name} was made with another {option}"),
            "leave it out, or begin a study of another name",
        )
        .into()),
        None => Ok(study),
    }
}

fn world(arguments: &Run, study: &Study, interrupt: &Interrupt, console: &Console) -> Box<dyn World + Send> {
    let problem = study.problem();
    match &arguments.exec {
        Some(command) => {
            let timeout = arguments.timeout.map(Duration::from_secs_f64);
            let programs = Programs { measure: command.clone(), contexts: arguments.contexts.clone() };
            Box::new(Exec::new(problem, programs, timeout, interrupt, console))
        }
        None => Box::new(Simulated::new(problem, study.seed())),
    }
}

impl World for Box<dyn World + Send> {
    fn given(&mut self, number: usize) -> Result<Given, MeasureError> {
        (**self).given(number)
    }

    fn measure(&mut self, trial: &Trial) -> Result<Vec<Option<f64>>, MeasureError> {
        (**self).measure(trial)
    }
}

/// Runs, prints, and says with which code to end.
fn finish(arguments: &Run, mut runner: Runner<Box<dyn World + Send>>, console: &Console) -> Result<ExitCode> {
    let (began, before) = (Instant::now(), runner.study().data().len());
    let end = drive(arguments, &mut runner, console);
    // Whatever has happened, what was measured is not lost; only a reader that went away wants none of it.
    if let Err(error) = &end
        && failure::is_broken_pipe(error)
    {
        return end.map(|_| ExitCode::SUCCESS);
    }
    let study = runner.study();
    console.bar().set_message("fitting the model for the recommendation");
    let recommendation = if study.data().is_empty() { Ok(None) } else { study.recommend().map(Some) };
    console.bar().finish_and_clear();
    let recommended = recommendation.as_ref().ok().and_then(Option::as_ref);
    // Bounds are shown to those who asked for them: the others would have to wait.
    let asked = recommended.filter(|_| arguments.until_gap.is_some());
    let certificate = asked.map(|recommended| study.certify(recommended, arguments.width));
    if arguments.json {
        super::write_line(&summary(study, recommended, certificate.as_ref(), &end))?;
    } else {
        let mut out = anstream::stdout().lock();
        let report = Report::new(study, recommended).with_certificate(certificate.as_ref());
        report.write(&mut out, table::width(), arguments.all)?;
        out.flush()?;
    }
    for warning in recommended.iter().flat_map(|r| &r.warnings) {
        console.warning(&in_a_run(warning));
    }
    if study.data().is_empty() {
        console.note("nothing was measured, so there is nothing to recommend");
    } else if !arguments.json {
        let measured = describe::count(study.data().len().saturating_sub(before), "trial");
        console.note(&format!("\n{measured} measured in {:.1} s.", began.elapsed().as_secs_f64()));
        if study.problem().has_costs() {
            console.note(&format!("Spent: {}.", number::plain(study.spent())));
        }
        if let Ok(End::Spent(left)) = &end {
            console.note(&format!(
                "Stopped: the next trial costs more than the {} that are left of the budget.",
                number::plain(*left)
            ));
        }
        if let Ok(End::Close(gap)) = &end {
            let (gap, rounds) = (number::rough(*gap), study.trials().iter().filter(|t| is_round(t)).count());
            console.note(&format!(
                "Stopped after {}: at most {gap} is left to gain, as far as a search finds.",
                describe::count(rounds, "round")
            ));
        }
    }
    recommendation?;
    match end? {
        End::Done | End::Close(_) | End::Spent(_) => Ok(ExitCode::SUCCESS),
        End::Interrupted => Ok(ExitCode::INTERRUPTED),
        End::GaveUp(last) => Err(gave_up(last, runner.failures().get(&last))),
    }
}

/// Runs, with progress, warnings and JSON lines on the way.
fn drive(arguments: &Run, runner: &mut Runner<Box<dyn World + Send>>, console: &Console) -> Result<End> {
    let problem = Arc::clone(runner.study().problem());
    let mut progress = Progress::new(console, runner.study());
    let mut missed_reward = false;
    let mut said = Vec::new();
    if arguments.json {
        // What an earlier run has done belongs to the result as well.
        for trial in runner.study().trials().iter().filter(|trial| trial.state != TrialState::Pending) {
            let reason = runner.reason(trial.number);
            super::write_line(&json::trial(&problem, trial, reason.as_deref()))?;
        }
    }
    runner.run(&mut |event| {
        progress.on(&problem, &event);
        if let Event::Measuring(trial) = event {
            warn_of_suggestion(trial, &mut said, console);
        }
        let Event::Ended(trial, failure) = event else { return Ok(()) };
        if let Some(failure) = failure {
            let (number, what, hint) = (trial.number, &failure.what, &failure.hint);
            console.warning(&format!("trial {number} failed and is left out: {what}; hint: {hint}"));
        } else if json::reward(&problem, trial).is_none() && !missed_reward {
            missed_reward = true;
            console.warning(&format!(
                "trial {} has no value for {}; the model learns from the rest of it, but it cannot be the best trial",
                trial.number,
                describe::reward_name(&problem)
            ));
        }
        if arguments.json {
            let error = failure.map(ToString::to_string);
            super::write_line(&json::trial(&problem, trial, error.as_deref()))?;
        }
        Ok(())
    })
}

/// A warning in words that help who runs trials: what is given is told by a program.
fn in_a_run(warning: &Warning) -> String {
    let text = warning.to_string();
    match warning {
        Warning::NotGiven { .. } => {
            let said = text.split("; hint").next().unwrap_or(&text);
            format!("{said}; hint: with --exec, --contexts names a program that says what is known")
        }
        _ => text,
    }
}

/// Says what a suggestion warns of, the first time that a run has such a warning. What is wrong with the model is said at the end, of
/// all the data.
fn warn_of_suggestion(trial: &Trial, said: &mut Vec<Discriminant<Warning>>, console: &Console) {
    for warning in &trial.suggestion.warnings {
        let kind = std::mem::discriminant(warning);
        if !matches!(warning, Warning::Model(_)) && !said.contains(&kind) {
            said.push(kind);
            console.warning(&format!("trial {}: {}", trial.number, in_a_run(warning)));
        }
    }
}

fn gave_up(trial: usize, failure: Option<&MeasureError>) -> anyhow::Error {
    let mut text = format!("{PATIENCE} trials in a row failed, so the run ends here");
    if let Some(failure) = failure {
        text.push_str(&format!("\ntrial {trial}: {}", failure.at_length()));
    }
    anyhow!(text)
}

/// The last line of `--json`.
fn summary(
    study: &Study,
    recommendation: Option<&Recommendation>,
    certificate: Option<&Certificate>,
    end: &Result<End>,
) -> serde_json::Value {
    let problem = study.problem();
    let nodes = recommendation.map(|r| json::nodes(&r.network.summaries(problem)));
    let mut summary = json!({
        "recommendation": recommendation.map(|r| json::recommendation(problem, r)),
        "best": json::best(problem, study.best_trial(), recommendation),
        "certificate": certificate.map(|certificate| json::certificate(problem, certificate)),
        "nodes": nodes.unwrap_or_else(|| json!([])),
        "end": match end {
            Ok(End::Done) => "done",
            Ok(End::Close(_)) => "gap",
            Ok(End::Spent(_)) => "budget",
            Ok(End::Interrupted) => "interrupted",
            Ok(End::GaveUp(_)) | Err(_) => "failed",
        },
    });
    if problem.has_costs() {
        summary["spent"] = study.spent().into();
    }
    summary
}
