//! `mcbo export`: all trials, for other programs.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_report::export::{self, Reader};

use crate::cli::{Export, ExportFormat};
use crate::exit::ExitCode;
use crate::store;

/// Prints all trials.
pub fn run(arguments: &Export) -> Result<ExitCode> {
    let mut study = store::study(&arguments.storage, &arguments.study)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match arguments.format {
        ExportFormat::Csv => export::csv(&mut out, &study.study()?, &study.trials()?, Reader::Program)?,
        ExportFormat::Json => writeln!(out, "{}", document(&mut study)?)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn document(study: &mut mcbo_store::StoredStudy) -> Result<serde_json::Value> {
    let (status, problem) = (study.status()?, study.problem_toml()?);
    Ok(export::document(&status, &problem, &study.study()?, &study.trials()?))
}
