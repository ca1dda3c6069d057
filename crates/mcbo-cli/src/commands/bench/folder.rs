//! The folder of a comparison: the runs, who made them, and the report.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use mcbo_bench::Archive;
use serde::{Deserialize, Serialize};

/// The folder of a comparison.
pub struct Folder(pub PathBuf);

/// One call of the program that made runs in the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The day it began.
    pub date: String,
    /// The program.
    pub version: String,
    /// What was typed.
    pub command: String,
    /// Where it ran.
    pub machine: String,
}

impl Folder {
    /// The finished runs.
    pub fn archive(&self) -> Archive {
        Archive::at(self.0.join("runs"))
    }

    fn calls_file(&self) -> PathBuf {
        self.0.join("calls.jsonl")
    }

    /// Where a task of one's own is kept, so that a report can be made without its file.
    pub fn task_file(&self, name: &str) -> PathBuf {
        self.0.join("tasks").join(format!("{name}.toml"))
    }

    /// Keeps the file of a task of one's own.
    pub fn keep_task(&self, name: &str, file: &str) -> Result<()> {
        let kept = self.task_file(name);
        let copy = || {
            fs::create_dir_all(self.0.join("tasks"))?;
            // From a kept file itself: nothing to do, and copying would empty it.
            if kept.canonicalize().ok() != Path::new(file).canonicalize().ok() {
                fs::copy(file, &kept)?;
            }
            io::Result::Ok(())
        };
        copy().with_context(|| format!("cannot write {}", kept.display()))
    }

    /// Notes that this program is about to make runs.
    pub fn note_call(&self) -> Result<()> {
        fs::create_dir_all(&self.0).with_context(|| format!("cannot make {}", self.0.display()))?;
        let call = Call {
            date: today(),
            version: format!("mcbo {}", env!("CARGO_PKG_VERSION")),
            command: command(),
            machine: machine(),
        };
        let path = self.calls_file();
        let append = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            writeln!(file, "{}", serde_json::to_string(&call)?)
        };
        append().with_context(|| format!("cannot write {}", path.display()))
    }

    /// The calls that made the runs, each once. Lines that are no calls are left out: they only tell, they do not count.
    pub fn calls(&self) -> Vec<Call> {
        let text = fs::read_to_string(self.calls_file()).unwrap_or_default();
        let mut calls: Vec<Call> = Vec::new();
        for call in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
        calls
    }
}

/// What was typed, the program by its name alone.
pub fn command() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    std::iter::once("mcbo".to_owned())
        .chain(std::env::args().skip(1).map(quoted))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The processor, its cores and the system.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = processor(Path::new("/proc/cpuinfo")).unwrap_or_else(|_| std::env::consts::ARCH.to_owned());
    let s = if cores == 1 { "" } else { "s" };
    format!("{model}, {cores} core{s}, {}", std::env::consts::OS)
}

fn processor(file: &Path) -> io::Result<String> {
    let text = fs::read_to_string(file)?;
    let line =
        text.lines().find_map(|line| line.strip_prefix("model name")).ok_or(io::ErrorKind::NotFound)?;
    Ok(line.trim_start_matches([' ', '\t', ':']).to_owned())
}

/// The day in UTC, as in 2026-11-15.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

/// The date so many days after 1970-01-01.
fn date(days: u64) -> String {
    let (mut year, mut left) = (1970, days);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, left + 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates() {
        for (days, text) in
            [(0, "1970-01-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01"), (20_772, "2026-11-15")]
        {
            assert_eq!(super::date(days), text);
        }
    }
}
