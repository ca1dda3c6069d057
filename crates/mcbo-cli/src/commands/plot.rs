//! `mcbo plot`: pictures of a study.

use anyhow::Result;

use crate::cli::Plot;
use crate::exit::ExitCode;

/// Draws the pictures.
pub fn run(_arguments: &Plot) -> Result<ExitCode> {
    anyhow::bail!("not yet")
}
