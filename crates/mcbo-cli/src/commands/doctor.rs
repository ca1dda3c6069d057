//! `mcbo doctor`: what is wrong with this set-up.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use mcbo_core::Doubt;
use mcbo_store::{Repaired, Store, StoreError};
use serde_json::{Value, json};

use crate::cli::Doctor;
use crate::console::{Console, styled};
use crate::exit::ExitCode;
use crate::store;
use crate::{describe, timestamp};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    Good,
    Odd,
    Bad,
}

/// One check.
struct Finding {
    what: &'static str,
    grade: Grade,
    text: String,
}

impl Finding {
    fn new(what: &'static str, grade: Grade, text: impl Into<String>) -> Self {
        Self { what, grade, text: text.into() }
    }
}

/// Looks at everything and prints what it found; ends with 1 if something does not work.
pub fn run(arguments: &Doctor) -> Result<ExitCode> {
    if let Some(study) = &arguments.study {
        return examine(arguments, study);
    }
    if let Some(new) = &arguments.repair {
        return repair(arguments, new);
    }
    let mut findings = vec![program(), threads(), shell()];
    findings.extend(storage(arguments));
    if arguments.json {
        let list: Vec<Value> = findings.iter().map(document).collect();
        super::write_line(&list.into())?;
    } else {
        let mut out = anstream::stdout().lock();
        for finding in &findings {
            let (sign, color) = match finding.grade {
                Grade::Good => ("ok", anstyle::AnsiColor::Green),
                Grade::Odd => ("look", anstyle::AnsiColor::Yellow),
                Grade::Bad => ("bad", anstyle::AnsiColor::Red),
            };
            let text = finding.text.replace("; hint: ", "\n      hint: ");
            writeln!(out, "{}  {}: {text}", styled(color.on_default(), &format!("{sign:<4}")), finding.what)?;
        }
        out.flush()?;
    }
    let bad = findings.iter().filter(|finding| finding.grade == Grade::Bad).count();
    if bad > 0 {
        Console::new(arguments.storage.quiet).note(&format!("{} found", describe::count(bad, "problem")));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares the graph of a study with its data and prints what they say against it.
fn examine(arguments: &Doctor, name: &str) -> Result<ExitCode> {
    let study = store::study(&arguments.storage, name)?.study()?;
    let doubts = super::with_threads(arguments.threads, || {
        let network = study.network()?;
        Ok(network.doubts(study.problem(), study.data(), study.seed()))
    })?;
    if arguments.json {
        let doubt = |doubt: &Doubt| {
            let (kind, node, from) = doubt.about();
            json!({ "kind": kind, "node": node, "from": from, "weight": doubt.weight(), "log_odds": doubt.log_odds(),
                    "message": doubt.to_string() })
        };
        let list: Vec<Value> = doubts.iter().map(doubt).collect();
        super::write_line(&json!({ "study": name, "rows": study.data().len(), "doubts": list }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = anstream::stdout().lock();
    let rows = describe::count(study.data().len(), "trial");
    if doubts.is_empty() {
        writeln!(out, "The {rows} of {} say nothing against its graph.", describe::argument(name))?;
        return Ok(ExitCode::SUCCESS);
    }
    for doubt in &doubts {
        let text = doubt.to_string();
        let (what, hint) = text.split_once("; hint: ").unwrap_or((&text, ""));
        let sign = styled(anstyle::AnsiColor::Yellow.on_default(), doubt.weight());
        crate::table::paragraph(&mut out, &format!("{sign}: {what}."), crate::table::width())?;
        crate::table::paragraph(&mut out, &format!("hint: {hint}"), crate::table::width())?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn document(finding: &Finding) -> Value {
    let state = match finding.grade {
        Grade::Good => "ok",
        Grade::Odd => "look",
        Grade::Bad => "bad",
    };
    json!({ "check": finding.what, "state": state, "message": finding.text })
}

fn program() -> Finding {
    let (version, system) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    Finding::new("program", Grade::Good, format!("mcbo {version} on {system}, {}", std::env::consts::ARCH))
}

fn threads() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let used = rayon::current_num_threads();
    let text =
        format!("{} to compute with, of {}", describe::count(used, "thread"), describe::count(cores, "core"));
    Finding::new("threads", if used > 2 * cores { Grade::Odd } else { Grade::Good }, text)
}

fn shell() -> Finding {
    match std::process::Command::new("sh").args(["-c", "exit 0"]).status() {
        Ok(status) if status.success() => Finding::new("shell", Grade::Good, "`sh` is there for --exec"),
        _ => Finding::new("shell", Grade::Odd, "there is no `sh`; hint: only `mcbo run --exec` needs one"),
    }
}

/// The store, and every study in it.
fn storage(arguments: &Doctor) -> Vec<Finding> {
    let url = match store::address(&arguments.storage) {
        Ok(url) => url,
        Err(error) => return vec![Finding::new("storage", Grade::Bad, one_line(&error.to_string()))],
    };
    let start = Instant::now();
    let opened = match Store::open_existing(&url) {
        Err(StoreError::NoStore { .. }) => Store::open(&url),
        opened => opened,
    };
    let store = match opened {
        Ok(store) => store,
        Err(error) => return vec![Finding::new("storage", Grade::Bad, error.to_string())],
    };
    let mut findings = Vec::new();
    let writable = store.check_writable();
    let opening = format!("{} opens in {:.0} ms", store.address(), 1000.0 * start.elapsed().as_secs_f64());
    findings.push(match &writable {
        Ok(()) => Finding::new("storage", Grade::Good, format!("{opening} and can be written")),
        Err(error) => Finding::new("storage", Grade::Bad, format!("{opening}, but: {error}")),
    });
    if let Err(error) = store.check() {
        findings.push(Finding::new("content", Grade::Bad, error.to_string()));
        return findings;
    }
    let studies = match store.studies() {
        Ok(studies) => studies,
        Err(error) => {
            findings.push(Finding::new("studies", Grade::Bad, error.to_string()));
            return findings;
        }
    };
    findings.push(Finding::new("studies", Grade::Good, studies.len().to_string()));
    for summary in studies {
        let read = store.open_study(&summary.name).and_then(|mut study| {
            let status = study.status()?;
            Ok((status.expired, status.changed))
        });
        let name = describe::argument(&summary.name);
        match read {
            Err(error) => findings.push(Finding::new("study", Grade::Bad, format!("{name}: {error}"))),
            Ok((0, _)) => {}
            Ok((expired, changed)) => findings.push(Finding::new(
                "study",
                Grade::Odd,
                format!(
                    "{name}: {} under way for longer than agreed, last change {}; hint: tell them, or mark them with \
                     `mcbo tell {name} TRIAL --failed`",
                    describe::count(expired, "trial"),
                    timestamp::relative(changed, timestamp::now())
                ),
            )),
        }
    }
    findings
}

/// Saves what can be read of a damaged store to a new file; ends with 1 if anything is lost.
fn repair(arguments: &Doctor, new: &Path) -> Result<ExitCode> {
    // Addresses of stores are written as such elsewhere.
    let new = match new.to_str().filter(|text| text.starts_with("sqlite:")) {
        Some(address) => address.to_owned(),
        None => store::url_of(&std::path::absolute(new)?),
    };
    let repaired = Store::repair(&store::address(&arguments.storage)?, &new)?;
    let whole = repaired.iter().all(|study| study.saved && study.lost.is_empty());
    if arguments.json {
        let study = |study: &Repaired| json!({ "study": study.name, "saved": study.saved, "trials": study.trials, "lost": study.lost });
        super::write_line(&repaired.iter().map(study).collect::<Vec<Value>>().into())?;
    } else {
        let mut out = anstream::stdout().lock();
        for study in &repaired {
            let name = describe::argument(&study.name);
            let saved = match study.saved {
                true => format!("{name}: {} saved", describe::count(study.trials, "trial")),
                false => format!("{name}: nothing could be saved"),
            };
            let lost = if study.lost.is_empty() { ", nothing lost" } else { "; lost:" };
            writeln!(out, "{saved}{lost}")?;
            for lost in &study.lost {
                writeln!(out, "  {lost}")?;
            }
        }
        out.flush()?;
    }
    Console::new(arguments.storage.quiet).note(&format!("the new store is {new}; the old file is as it was"));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one_line(text: &str) -> String {
    text.replace("\nhint: ", "; hint: ")
}
