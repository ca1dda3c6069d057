//! One module per command: `run` does it and says with which code to end.

pub mod add;
pub mod ask;
pub mod bench;
pub mod best;
pub mod check;
pub mod completions;
pub mod copy;
pub mod correct;
pub mod delete;
pub mod doctor;
pub mod effects;
pub mod export;
pub mod init;
pub mod log;
pub mod new;
pub mod plot;
pub mod predict;
pub mod rename;
pub mod report;
pub mod run;
pub mod serve;
pub mod status;
pub mod studies;
pub mod tell;
pub mod update;
pub mod void;

use std::io::{self, Write};

use anyhow::{Context, Result};
use mcbo_report::Suspected;

/// Computes with so many threads, or with all.
///
/// # Errors
/// If the threads cannot be started, or the computation fails.
fn with_threads<T: Send>(threads: Option<usize>, compute: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    match threads {
        // On one of them: from outside every small part of the work would be handed over, and waited for.
        None => rayon::scope(|_| compute()),
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .context("the threads cannot be started")?
            .install(compute),
    }
}

/// Says which trials lie outside the ranges of today, as the model does.
fn warn_of_outside(study: &mcbo_core::Study, console: &crate::console::Console) {
    for outside in study.data().outside(study.problem()) {
        console.warning(&mcbo_core::ModelWarning::Outside(outside).to_string());
    }
}

/// Says of trials that were just told what does not fit about them. That they are kept is beyond question.
fn warn_of_odd(
    suspected: &Suspected,
    came: impl Fn(&mcbo_core::Oddity) -> bool,
    console: &crate::console::Console,
) {
    for odd in suspected.odd.iter().filter(|odd| came(odd)) {
        let (said, by) = (odd.to_string(), suspected.by());
        // Before the hint, which comes last.
        let said = said.replacen("; hint:", &format!("{by}; hint:"), 1);
        console.warning(&said);
    }
}

/// Writes a line of JSON and does not keep it back.
fn write_line(value: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
