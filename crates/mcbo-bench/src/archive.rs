//! Finished runs on disk: a file each, written in one go as the run ends.
//!
//! A run that was killed leaves nothing or a file that is not read, so what is in the archive is always whole. Several
//! processes may write to one archive, and archives are merged by reading several or by copying their files together.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fleet::Job;
use crate::protocol::RunResult;

/// The shape of the files; another is refused.
const FORMAT: u32 = 1;

/// What a file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    format: u32,
    /// The program that made it.
    version: String,
    /// The settings of the method, as a number that changes with them.
    settings: String,
    run: RunResult,
}

/// A folder of finished runs: `TASK/METHOD/SEED.json`.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

/// Why an archive cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// A file that is no run of this version.
    #[error("{path}: {reason}; hint: remove the file, and `mcbo bench` makes the run again")]
    Unreadable {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Two files hold the same run with different results.
    #[error(
        "{first} and {second} are the same run with different results; hint: they were made by different programs or settings, report them apart"
    )]
    Conflict {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let path = path.display().to_string();
    move |error| ArchiveError::Io { path, error }
}

/// What the archive has of a job.
#[derive(Debug)]
pub enum Stored {
    /// The finished run.
    Run(Box<RunResult>),
    /// Nothing.
    Missing,
    /// A file that is of no use, and why: the run has to be made again.
    Useless(String),
}

impl Archive {
    /// The archive in a folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, task: &str, method: &str, seed: u64) -> PathBuf {
        self.folder.join(task).join(method).join(format!("{seed}.json"))
    }

    /// Stores a finished run. It is there as a whole when this returns, and not at all if it fails.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, job: &Job<'_>, run: &RunResult) -> Result<(), ArchiveError> {
        let path = self.path(job.task.name(), &job.entrant.name, job.seed);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).map_err(io_error(folder))?;
        let record = Record {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            settings: settings(job),
            run: run.clone(),
        };
        // Another process may be at the same run: each writes a file of its own name.
        let draft = folder.join(format!("{}.{}.tmp", job.seed, std::process::id()));
        let write = || {
            let mut file = File::create(&draft)?;
            let text = serde_json::to_vec(&record).map_err(io::Error::other)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&draft);
            io_error(&path)(error)
        })
    }

    /// What is stored of a job. A run of other settings or of fewer or more rounds is of no use.
    pub fn find(&self, job: &Job<'_>) -> Stored {
        let path = self.path(job.task.name(), &job.entrant.name, job.seed);
        let record = match read(&path) {
            Ok(record) => record,
            Err(ArchiveError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                return Stored::Missing;
            }
            Err(error) => return Stored::Useless(error.to_string()),
        };
        let shown = path.display();
        if record.settings != settings(job) {
            return Stored::Useless(format!("{shown} was made with other settings"));
        }
        if record.run.rounds.len() != job.rounds {
            let (has, wanted) = (record.run.rounds.len(), job.rounds);
            return Stored::Useless(format!("{shown} has {has} rounds instead of {wanted}"));
        }
        Stored::Run(Box::new(record.run))
    }

    /// Whether a job is done; see [`Self::find`].
    pub fn has(&self, job: &Job<'_>) -> bool {
        matches!(self.find(job), Stored::Run(_))
    }

    /// All runs in the archive, by task, method and seed.
    ///
    /// # Errors
    /// If a file is not a run, or cannot be read.
    pub fn runs(&self) -> Result<Vec<RunResult>, ArchiveError> {
        merge(std::slice::from_ref(self))
    }

    /// The files of the archive; drafts are none.
    fn files(&self) -> Result<Vec<PathBuf>, ArchiveError> {
        let mut files = Vec::new();
        for task in entries(&self.folder)?.into_iter().filter(|path| path.is_dir()) {
            for method in entries(&task)?.into_iter().filter(|path| path.is_dir()) {
                let is_run = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
                files.extend(entries(&method)?.into_iter().filter(is_run));
            }
        }
        Ok(files)
    }
}

/// The runs of several archives together, by task, method and seed. A run that several have must be the same in all.
///
/// # Errors
/// If a file is not a run or cannot be read, or if two disagree.
pub fn merge(archives: &[Archive]) -> Result<Vec<RunResult>, ArchiveError> {
    let mut runs: BTreeMap<(String, String, u64), (PathBuf, RunResult)> = BTreeMap::new();
    for archive in archives {
        for path in archive.files()? {
            let run = read(&path)?.run;
            let key = (run.task.clone(), run.method.clone(), run.seed);
            if let Some((first, known)) = runs.get(&key) {
                if known.clone().without_seconds() != run.without_seconds() {
                    let (first, second) = (first.display().to_string(), path.display().to_string());
                    return Err(ArchiveError::Conflict { first, second });
                }
                continue;
            }
            runs.insert(key, (path, run));
        }
    }
    Ok(runs.into_values().map(|(_, run)| run).collect())
}

/// What a run depends on beside the names: the method's settings, and the problem of a task of one's own.
fn settings(job: &Job<'_>) -> String {
    match job.task.fingerprint() {
        Some(problem) => format!("{}-{problem}", job.entrant.settings),
        None => job.entrant.settings.clone(),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = list().map_err(io_error(folder))?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Record, ArchiveError> {
    let text = fs::read(path).map_err(io_error(path))?;
    let unreadable = |reason: String| ArchiveError::Unreadable { path: path.display().to_string(), reason };
    let record: Record =
        serde_json::from_slice(&text).map_err(|error| unreadable(format!("not a finished run ({error})")))?;
    if record.format != FORMAT {
        return Err(unreadable(format!("format {} is not known to this version", record.format)));
    }
    Ok(record)
}
