//! `mcbo ask`: the next experiments, and why.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Direction, Origin, Problem, StrategyName, Study, Suggestion, expected_reward};
use mcbo_store::StoredTrial;
use serde_json::Value;

use crate::cli::Ask;
use crate::console::{BOLD, Console, styled};
use crate::exit::ExitCode;
use crate::number::{Format, plain};
use crate::table::{self, paragraph};
use crate::{describe, json, show, store, timestamp, words};

/// Hands out experiments and prints them.
pub fn run(arguments: &Ask) -> Result<ExitCode> {
    let worker = arguments.worker.name();
    let mut study = store::study(&arguments.storage, &arguments.study)?.with_lease(arguments.worker.lease());
    let before = study.trials()?;
    let given = words::given(&*study.problem()?, &arguments.given.given)?;
    let mut trials =
        super::with_threads(arguments.threads, || Ok(study.ask_given(&worker, arguments.count, &given)?))?;
    trials.sort_by_key(|trial| trial.trial.number);
    let console = Console::new(arguments.storage.quiet);
    let state = study.study()?;
    let problem = state.problem();
    for trial in &trials {
        let suggestion = &trial.trial.suggestion;
        if arguments.json {
            let object = json::suggestion(problem, trial.trial.number, suggestion);
            super::write_line(&Value::Object(object))?;
        } else {
            let mut out = anstream::stdout().lock();
            write(&mut out, &state, study.name(), trial)?;
            out.flush()?;
        }
        let number = trial.trial.number;
        if let Some(earlier) = before.get(number - 1) {
            let since = timestamp::relative(earlier.record.asked, timestamp::now());
            console.note(&match &earlier.record.worker {
                Some(other) if *other != worker => {
                    format!("trial {number} was under way at {other} since {since}, who did not tell it in time")
                }
                _ => format!(
                    "trial {number} is under way already, asked for {since}; `mcbo ask --count` gives more at once"
                ),
            });
        }
        for warning in &suggestion.warnings {
            console.warning(&warning.to_string());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What to do, what to expect, why, and how to go on.
fn write(out: &mut impl Write, study: &Study, name: &str, trial: &StoredTrial) -> io::Result<()> {
    let (problem, suggestion, width) = (study.problem(), &trial.trial.suggestion, table::width());
    let number = trial.trial.number;
    writeln!(out, "{}", styled(BOLD, &format!("Trial {number} of {name}")))?;
    show::given(out, problem, &suggestion.given)?;
    show::levers(out, &describe::levers(problem), &suggestion.intervention)?;
    if problem.has_costs() {
        writeln!(out, "  cost  {}", plain(problem.cost(&suggestion.intervention)))?;
    }
    writeln!(out)?;
    if !suggestion.predicted.is_empty() {
        show::forecasts(out, problem, &suggestion.predicted, width)?;
        writeln!(out)?;
    }
    show::limits(out, problem, &suggestion.limits, width)?;
    paragraph(out, &reason(study, suggestion), width)?;
    let values: Vec<String> = problem
        .nodes()
        .iter()
        .enumerate()
        .filter(|(node, _)| suggestion.intervention.target(*node).is_none())
        .filter(|(node, _)| suggestion.given.of(*node).is_none())
        .map(|(_, node)| format!("{}={}", node.name, vec!["…"; node.dim].join(",")))
        .collect();
    writeln!(out, "\nMeasured? mcbo tell {} {number} {}", describe::argument(name), values.join(" "))
}

/// Why this experiment.
fn reason(study: &Study, suggestion: &Suggestion) -> String {
    let problem: &Problem = study.problem();
    match suggestion.origin() {
        Origin::Design => {
            let (done, all) = (study.data().len(), study.initial_trials());
            return format!(
                "Why: it belongs to the initial design, {all} trials that spread over everything that can be chosen \
                 ({done} measured so far). After that the model decides."
            );
        }
        Origin::Enqueued => return "Why: it was asked for by hand.".into(),
        Origin::Strategy | Origin::Added => {}
    }
    let node = describe::reward_name(problem);
    let best = study.best_trial();
    let rewards = study.data().rewards(problem).map(|(_, reward)| reward);
    let format = Format::of_values(rewards);
    let value = |reward: f64| format.show(problem.sign() * reward);
    let Some(expected) = expected_reward(problem, &suggestion.predicted) else {
        return format!("Why: chosen by {}, which has no model of what happens.", suggestion.strategy);
    };
    let mut text = format!("Why: the model expects {node} = {}", value(expected[0]));
    let by_mcbo = suggestion.strategy == StrategyName::Mcbo.as_str();
    match (suggestion.acquisition, suggestion.beta) {
        (Some(acquisition), Some(_)) if by_mcbo && acquisition > expected[0] => {
            let reach = match problem.direction() {
                Direction::Maximize => "as much as",
                Direction::Minimize => "as little as",
            };
            text.push_str(&format!(
                " here, and {reach} {} if what is not known yet turns out well: no other intervention promises more.",
                value(acquisition)
            ));
        }
        (Some(gain), None) if suggestion.excursion => text.push_str(&format!(
            " here, which may be less than what is known. It is tried for what it may teach: by what is plausible it betters the best \
             tried so far by {} on average, in this trial and all that follow.",
            format.show(gain)
        )),
        (Some(gain), None) if by_mcbo && gain > 0.0 && problem.has_costs() => {
            text.push_str(" here. Of all interventions it promises to gain the most for what it costs.");
        }
        (Some(gain), None) if by_mcbo && gain > 0.0 => text.push_str(&format!(
            " here. Of all interventions it promises to better what would be recommended now the most, by {} on average.",
            format.show(gain)
        )),
        _ => text.push_str(&format!(" here, and {} finds nothing more worth trying.", suggestion.strategy)),
    }
    if let Some((trial, reward)) = best {
        text.push_str(&format!(" The best measured so far is {}, in trial {}.", value(reward), trial.number));
    }
    text
}
