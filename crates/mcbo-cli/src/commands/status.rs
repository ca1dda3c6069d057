//! `mcbo status`: where a study stands.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Certificate, Oddity, Preset, Recommendation, StrategyOptions, Study, TrialState};
use mcbo_store::{Status as Standing, StoredTrial};
use serde_json::{Value, json};

use crate::cli::Look;
use crate::console::{BOLD, Console, DIM, styled};
use crate::exit::ExitCode;
use crate::number::{Format, plain};
use crate::table::{self, Align, Table};
use crate::{describe, json, store, timestamp, words};

/// Everything that is shown.
struct View<'a> {
    standing: &'a Standing,
    study: &'a Study,
    trials: &'a [StoredTrial],
    advice: Option<(Recommendation, Certificate)>,
    odd: Vec<Oddity>,
}

/// Prints where a study stands.
pub fn run(arguments: &Look) -> Result<ExitCode> {
    let mut stored = store::study(&arguments.storage, &arguments.study)?;
    let (standing, study, trials) = (stored.status()?, stored.study()?, stored.trials()?);
    let quick = !study.data().is_empty() && study.data().len() <= super::QUICK;
    let advice = if quick {
        let given = words::given(study.problem(), &arguments.given.given)?;
        let advise = || super::best::advise(&study, &arguments.advice, &given);
        Some(super::with_threads(arguments.threads, advise)?)
    } else {
        None
    };
    let console = Console::new(arguments.storage.quiet);
    for warning in advice.iter().flat_map(|(recommendation, _)| &recommendation.warnings) {
        console.warning(&warning.to_string());
    }
    let odd =
        advice.as_ref().map_or_else(Vec::new, |(recommendation, _)| study.oddities(&recommendation.network));
    let view = View { standing: &standing, study: &study, trials: &trials, advice, odd };
    if arguments.json {
        super::write_line(&view.json())?;
    } else {
        let mut out = anstream::stdout().lock();
        view.write(&mut out, table::width())?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What does not fit, for scripts.
fn odd(odd: &Oddity) -> Value {
    json!({ "trials": odd.trials(), "message": odd.to_string() })
}

impl View<'_> {
    /// Trials under way, and trials of which some values are missing.
    fn open(&self) -> (Vec<&StoredTrial>, Vec<&StoredTrial>) {
        let pending = self.trials.iter().filter(|trial| trial.trial.state == TrialState::Pending).collect();
        let partial =
            |trial: &&StoredTrial| trial.trial.state == TrialState::Complete && !trial.missing.is_empty();
        (pending, self.trials.iter().filter(partial).collect())
    }

    /// Trials in which something else was done than what was asked for.
    fn otherwise(&self) -> impl Iterator<Item = &StoredTrial> {
        let counts = |trial: &&StoredTrial| trial.trial.state != TrialState::Voided;
        self.trials.iter().filter(counts).filter(|trial| trial.trial.done.is_some())
    }

    fn json(&self) -> Value {
        let (standing, problem) = (self.standing, self.study.problem());
        let (pending, partial) = self.open();
        let pending: Vec<Value> = pending
            .iter()
            .map(|trial| {
                json!({
                    "trial": trial.trial.number,
                    "worker": trial.record.worker,
                    "asked": timestamp::exact(trial.record.asked),
                    "lease_until": trial.record.lease_until.map(timestamp::exact),
                })
            })
            .collect();
        let partial: Vec<Value> = partial
            .iter()
            .map(|trial| json!({ "trial": trial.trial.number, "missing": trial.missing }))
            .collect();
        let recommendation = self.advice.as_ref().map(|(recommendation, _)| recommendation);
        json!({
            "study": standing.name,
            "objective": describe::objective(problem),
            "strategy": standing.strategy.strategy,
            "preset": standing.strategy.preset,
            "beta": standing.strategy.beta,
            "seed": standing.seed,
            "initial": standing.initial,
            "created": timestamp::exact(standing.created),
            "changed": timestamp::exact(standing.changed),
            "trials": standing.trials,
            "complete": standing.complete,
            "pending": standing.pending,
            "expired": standing.expired,
            "partial": standing.partial,
            "failed": standing.failed,
            "corrected": standing.corrected,
            "spent": problem.has_costs().then(|| self.study.spent()),
            "voided": standing.voided,
            "done_otherwise": self.otherwise().map(|trial| trial.trial.number).collect::<Vec<_>>(),
            "suspicions": self.odd.iter().map(odd).collect::<Vec<_>>(),
            "under_way": pending,
            "incomplete": partial,
            "best": json::best(problem, self.study.best_trial(), recommendation),
            "recommendation": recommendation.map(|r| json::recommendation(problem, r)),
            "certificate": self.advice.as_ref().map(|(_, certificate)| json::certificate(problem, certificate)),
            "nodes": recommendation.map(|r| json::nodes(&r.network.summaries(problem))),
        })
    }

    fn write(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let (standing, study, problem) = (self.standing, self.study, self.study.problem());
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
            (self.otherwise().count(), "done otherwise than asked"),
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
        let value = |reward: f64| format.show(problem.sign() * reward);
        if let Some((trial, reward)) = study.best_trial() {
            let did = describe::intervention(&levers, trial.intervention());
            label(
                out,
                "best measured",
                &format!("{node} = {} in trial {}: {did}", value(reward), trial.number),
            )?;
        }
        match &self.advice {
            Some((recommendation, certificate)) => {
                let did = describe::intervention(&levers, &recommendation.intervention);
                let expected = recommendation.reward(problem);
                let expects =
                    expected.map_or_else(String::new, |[mean, ..]| format!("{node} = {}", value(mean)));
                label(out, "recommended", &format!("{expects} expected: {did}"))?;
                if let Some(expected) = expected {
                    let [low, high] = describe::ends(problem, expected).map(|end| format.show(end));
                    label(out, "its bounds", &format!("{low} to {high} (90 %, of the expected value)"))?;
                }
                let gap = match certificate.gap() {
                    gap if gap.is_finite() => format!("at most {}", format.show(gap)),
                    _ => "nobody knows".into(),
                };
                label(out, "left to gain", &format!("{gap}; `mcbo best` says when that holds"))?;
            }
            None if study.data().is_empty() => {}
            None => {
                label(out, "recommended", "`mcbo best` computes it, which takes a while with so many trials")?
            }
        }
        self.write_open(out, width, now)?;
        // What the model itself suspects is a warning of every command already.
        let new: Vec<String> = self
            .odd
            .iter()
            .filter(|odd| !matches!(odd, Oddity::Suspicion(_)))
            .map(ToString::to_string)
            .collect();
        if !new.is_empty() {
            writeln!(out, "\ndoes not fit")?;
        }
        for text in new {
            table::paragraph(out, &text.replace("; hint: ", ". Hint: "), width)?;
        }
        let name = describe::argument(&standing.name);
        writeln!(out, "\nnext: mcbo ask {name}")
    }

    fn write_open(&self, out: &mut impl Write, width: usize, now: i64) -> io::Result<()> {
        let (pending, partial) = self.open();
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
}
