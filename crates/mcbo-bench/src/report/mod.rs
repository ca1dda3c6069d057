//! The report of a comparison: one page to read, its figures, and tables for other programs.
//!
//! ```no_run
//! use mcbo_bench::{Archive, Results, merge, report};
//! let results = Results::new(merge(&[Archive::at("runs")])?)?;
//! let about = report::About { title: "My comparison".into(), ..Default::default() };
//! let written = report::write(&results, &about, "report".as_ref())?;
//! println!("{}", written.report.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The files depend on nothing but the arguments: the same runs give the same bytes.

mod coverage;
mod csv;
mod figure;
mod figures;
mod html;
mod limits;
mod numbers;
mod paired;
mod panel;
mod series;
mod tables;
mod timing;
mod view;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::metrics::Results;
use view::View;

/// What a report says about itself apart from the runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The heading of the page; a general one if it is empty.
    pub title: String,
    /// The command that made the runs.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The machine: processor, cores, memory, system, a line each.
    pub machine: Vec<String>,
    /// The day, as it is to be shown.
    pub date: String,
    /// What else the reader has to know, a paragraph each.
    pub notes: Vec<String>,
}

/// The files of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The page to open.
    pub report: PathBuf,
    /// All files, the page first.
    pub files: Vec<PathBuf>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is nothing to report.
    #[error("there are no runs to report; hint: make some with `mcbo bench run`, or check the folder's name")]
    NoRuns,
    /// A file or folder cannot be written.
    #[error("{path}: {error}; hint: choose a folder that can be written to")]
    Io {
        /// The file or folder.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// A figure cannot be drawn.
    #[error("figure {figure}: {reason}")]
    Figure {
        /// The figure's name.
        figure: String,
        /// What went wrong.
        reason: String,
    },
}

/// Writes the report of some runs into a folder, which is made if need be; files of an earlier report are replaced.
///
/// All is computed before anything is written.
///
/// # Errors
/// If there are no runs, or if the folder cannot be written to.
pub fn write(results: &Results, about: &About, folder: &Path) -> Result<Written, ReportError> {
    if results.all().next().is_none() {
        return Err(ReportError::NoRuns);
    }
    let view = View::new(results);
    let figures = figures::all(&view);
    let mut contents: Vec<(String, Vec<u8>)> =
        vec![("report.html".into(), html::page(&view, about, &figures).into_bytes())];
    contents.extend(csv::all(&view).into_iter().map(|(name, text)| (name.into(), text.into_bytes())));
    for figure in figures.iter() {
        let svg = figure.svg();
        let png = mcbo_plot::draw::png(&svg)
            .map_err(|reason| ReportError::Figure { figure: figure.name.clone(), reason })?;
        contents.push((format!("figures/{}.svg", figure.name), svg.into_bytes()));
        contents.push((format!("figures/{}.png", figure.name), png));
    }
    let files = store(folder, &contents)?;
    Ok(Written { report: folder.join("report.html"), files })
}

fn store(folder: &Path, contents: &[(String, Vec<u8>)]) -> Result<Vec<PathBuf>, ReportError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error| ReportError::Io { path, error }
    };
    let figures = folder.join("figures");
    fs::create_dir_all(&figures).map_err(failed(&figures))?;
    let mut files = Vec::new();
    for (name, bytes) in contents {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(failed(&path))?;
        files.push(path);
    }
    Ok(files)
}
