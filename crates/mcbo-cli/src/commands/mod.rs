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
pub mod export;
pub mod init;
pub mod log;
pub mod new;
pub mod plot;
pub mod predict;
pub mod rename;
pub mod run;
pub mod status;
pub mod studies;
pub mod tell;
pub mod update;

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Computes with so many threads, or with all.
///
/// # Errors
/// If the threads cannot be started, or the computation fails.
fn with_threads<T: Send>(threads: Option<usize>, compute: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    match threads {
        None => compute(),
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .context("the threads cannot be started")?
            .install(compute),
    }
}

/// Writes a line of JSON and does not keep it back.
fn write_line(value: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
