//! `mcbo status`: where a study stands.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Oddity, Preset, StrategyOptions};
use mcbo_report::Suspected;
use mcbo_report::status::View;

use crate::cli::Look;
use crate::console::{BOLD, Console, DIM, styled};
use crate::exit::ExitCode;
use crate::number::{Format, plain};
use crate::table::{self, Align, Table};
use crate::{assignment, describe, store, timestamp};

/// Prints where a study stands.
pub fn run(arguments: &Look) -> Result<ExitCode> {
    let mut stored = store::study(&arguments.storage, &arguments.study)?;
    let (standing, study) = (stored.status()?, stored.study()?);
    let trials = stored.trials_that(mcbo_report::status::is_shown)?;
    let quick = !study.data().is_empty() && mcbo_report::is_quick(&study);
    let advice = if quick {
        let given = assignment::given(study.problem(), &arguments.given.given)?;
        let advise = || super::best::advise(&study, &arguments.advice, &given);
        Some(super::with_threads(arguments.threads, advise)?)
    } else {
        None
    };
    let console = Console::new(arguments.storage.quiet);
    for warning in advice.iter().flat_map(|(recommendation, _)| &recommendation.warnings) {
        console.warning(&warning.to_string());
    }
    let suspected = match &advice {
        Some((recommendation, _)) => Suspected { odd: study.oddities(&recommendation.network), of: None },
        None if study.data().is_empty() => Suspected::default(),
        None => super::with_threads(arguments.threads, || Ok(Suspected::of(&study)))?,
    };
    let advice = advice.as_ref().map(|(recommendation, certificate)| (recommendation, certificate));
    let view = View { standing: &standing, study: &study, trials: &trials, advice, suspected: &suspected };
    if arguments.json {
        super::write_line(&view.json())?;
    } else {
        let mut out = anstream::stdout().lock();
        write(&view, &mut out, table::width())?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The same for people.
fn write(view: &View<'_>, out: &mut impl Write, width: usize) -> io::Result<()> {
    let (standing, study, problem) = (view.standing, view.study, view.study.problem());
    let now = timestamp::now();
    let StrategyOptions { strategy, preset, .. } = &standing.strategy;
    let by = match preset.parse() {
        Ok(Preset::Default) => strategy.clone(),
        _ => format!("{strategy} with the settings of the {preset}"),
    };
    let name = styled(BOLD, &standing.name);
    writeln!(out, "{name}: {}, proposed by {by}, seed {}", describe::objective(problem), standing.seed)?;
    let (made, changed) =
        (timestamp::relative(standing.created, now), timestamp::relative(standing.changed, now));
    writeln!(out, "{}\n", styled(DIM, &format!("begun {made}, changed {changed}")))?;

    let label = |out: &mut dyn Write, label: &str, text: &str| writeln!(out, "{label:<13} {text}");
    let mut counts = vec![format!("{} complete", standing.complete)];
    for (count, what) in [
        (standing.pending, "under way"),
        (standing.failed, "failed"),
        (standing.voided, "taken out"),
        (standing.corrected, "corrected"),
        (view.otherwise().count(), "done otherwise than asked"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    label(out, "trials", &format!("{} ({})", standing.trials, counts.join(", ")))?;
    if problem.has_costs() {
        label(out, "spent", &plain(study.spent()))?;
    }
    let format = Format::of_values(study.data().rewards(problem).map(|(_, reward)| reward));
    let (node, levers) = (describe::reward_name(problem), describe::levers(problem));
    let shown = |amount: f64| describe::of_reward(problem, format.show(amount));
    let value = |reward: f64| shown(problem.sign() * reward);
    if let Some((trial, reward)) = study.best_trial() {
        let did = describe::intervention(&levers, trial.intervention());
        label(out, "best measured", &format!("{node} = {} in trial {}: {did}", value(reward), trial.number))?;
        if let Err(fault) = mcbo_core::check_intervention(problem, trial.intervention()) {
            label(out, "", &format!("it would not be proposed: {}", fault.without_hint()))?;
        }
    }
    match view.advice {
        Some((recommendation, certificate)) => {
            let did = describe::intervention(&levers, &recommendation.intervention);
            let expected = recommendation.reward(problem);
            let expects = expected.map_or_else(String::new, |[mean, ..]| format!("{node} = {}", value(mean)));
            label(out, "recommended", &format!("{expects} expected: {did}"))?;
            if let Some(expected) = expected {
                let [low, high] = describe::ends(problem, expected);
                let (low, high) = (format.show(low), shown(high));
                label(out, "its bounds", &format!("{low} to {high} (90 %, of the expected value)"))?;
            }
            for keeping in &recommendation.limits {
                label(out, "its limit", &describe::kept(problem, keeping))?;
            }
            if problem.has_costs() {
                label(out, "its cost", &plain(problem.cost(&recommendation.intervention)))?;
            }
            let gap = match certificate.gap() {
                gap if gap.is_finite() => format!("at most {}", shown(gap)),
                _ => "nobody knows".into(),
            };
            label(out, "left to gain", &format!("{gap}; `mcbo best` says when that holds"))?;
        }
        None if study.data().is_empty() => {}
        None => label(
            out,
            "recommended",
            "`mcbo best` computes it, which takes a while with so many trials or nodes",
        )?,
    }
    write_open(view, out, width, now)?;
    // What the model itself suspects is a warning of every recommendation already.
    let new = |odd: &&Oddity| view.advice.is_none() || !matches!(odd, Oddity::Suspicion(_));
    let new: Vec<String> = view.suspected.odd.iter().filter(new).map(ToString::to_string).collect();
    if !new.is_empty() {
        writeln!(out, "\ndoes not fit{}", view.suspected.by())?;
    }
    for text in new {
        table::paragraph(out, &text.replace("; hint: ", ". Hint: "), width)?;
    }
    let name = describe::argument(&standing.name);
    writeln!(out, "\nnext: mcbo ask {name}")
}

fn write_open(view: &View<'_>, out: &mut impl Write, width: usize, now: i64) -> io::Result<()> {
    let (pending, partial) = view.open();
    if !pending.is_empty() {
        use Align::{Left, Right};
        let mut table =
            Table::new([("under way", Right), ("worker", Left), ("asked", Left), ("theirs until", Left)]);
        for trial in pending {
            let record = &trial.record;
            let until = match record.lease_until {
                Some(until) if until > now => timestamp::relative(until, now),
                _ => "over, goes to the next who asks".into(),
            };
            table.row([
                format!("trial {}", trial.trial.number),
                record.worker.clone().unwrap_or_default(),
                timestamp::relative(record.asked, now),
                until,
            ]);
        }
        writeln!(out)?;
        table.write(out, width)?;
    }
    if !partial.is_empty() {
        const SHOWN: usize = 10;
        let mut table = Table::new([("not all told", Align::Right), ("missing", Align::Left)]);
        for trial in partial.iter().take(SHOWN) {
            table.row([format!("trial {}", trial.trial.number), trial.missing.join(", ")]);
        }
        writeln!(out)?;
        table.write(out, width)?;
        if partial.len() > SHOWN {
            writeln!(out, "{}", styled(DIM, &format!("and {} more", partial.len() - SHOWN)))?;
        }
    }
    Ok(())
}
