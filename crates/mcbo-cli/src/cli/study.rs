//! The command line of studies that are kept.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Chooser, positive, threads};

/// Where studies are kept, and how much is said about it.
#[derive(Debug, Args)]
pub struct Storage {
    /// Where studies are kept: sqlite:///folder/file or postgresql://user@host/database [default: a file in your data
    /// directory]
    #[arg(long, value_name = "URL", env = "MCBO_STORAGE", hide_env_values = true)]
    pub storage: Option<String>,
    /// Say nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// What a recommendation and its certificate go by.
#[derive(Debug, Args)]
pub struct Advice {
    /// Recommend what promises most on average, or the best of what is sure
    #[arg(long, value_enum, default_value_t = By::Mean)]
    pub by: By,
    /// Width of the band that the mechanisms are trusted to lie in, in standard deviations; it decides what may still be
    /// gained
    #[arg(long, value_name = "W", default_value_t = 2.0, value_parser = positive)]
    pub width: f64,
}

/// How to use `mcbo best`.
pub const BEST_EXAMPLES: &str = "\
Examples:
  mcbo best beer
  mcbo best beer --by lower    rather sure than high
  mcbo best beer --given quality=0.8    for what is known of a context";

/// How to use `mcbo status`.
pub const STATUS_EXAMPLES: &str = "\
Examples:
  mcbo status beer
  mcbo status beer --json | jq .certificate.gap";

/// What a recommendation goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The highest expected reward
    Mean,
    /// The highest lower bound of the expected reward
    Lower,
}

/// The problem file of a study. With `--problem`; what stands behind the study's name can be nothing else.
#[derive(Debug, Args)]
pub struct ProblemFile {
    /// Problem file; `-` is standard input. The study keeps a copy
    #[arg(long, value_name = "FILE", required_unless_present = "file")]
    problem: Option<String>,
    #[arg(value_name = "FILE", conflicts_with = "problem", hide = true)]
    file: Option<String>,
}

impl ProblemFile {
    /// Its path.
    pub fn path(&self) -> &str {
        self.problem.as_ref().or(self.file.as_ref()).map_or("-", String::as_str)
    }
}

/// `mcbo new`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo new beer --problem mcbo.toml
  mcbo new beer --problem mcbo.toml --storage postgresql://lab@server/mcbo    shared by a team")]
pub struct New {
    /// The study's name
    pub study: String,
    #[command(flatten)]
    pub problem: ProblemFile,
    #[command(flatten)]
    pub chooser: Chooser,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo studies`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo studies
  mcbo studies --storage postgresql://lab@server/mcbo")]
pub struct Studies {
    /// Also those that `mcbo run --exec` made without a name
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo ask`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo ask beer              the next experiment; asked again, the same until it is told
  mcbo ask beer --count 4    four experiments to do side by side
  mcbo ask beer --given quality=0.8    the experiment for what is known of a context
  mcbo ask beer --why        all that can be said for it
  mcbo ask beer --json       one JSON object a line")]
pub struct Ask {
    /// The study
    pub study: String,
    /// Say all that can be said for it: what it promises, what is known of it, what it would teach, how it differs from the best
    #[arg(long)]
    pub why: bool,
    /// Experiments under way at once
    #[arg(long, value_name = "Q", default_value_t = 1, value_parser = count)]
    pub count: usize,
    #[command(flatten)]
    pub given: GivenValues,
    #[command(flatten)]
    pub worker: Worker,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print one JSON object per experiment
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// What is known of the contexts.
#[derive(Debug, Args)]
pub struct GivenValues {
    /// What is known before deciding: a node that the problem file marks with `context = true`. May be said of several
    #[arg(long, value_name = "NAME=VALUE")]
    pub given: Vec<String>,
}

/// Who an experiment belongs to, and for how long.
#[derive(Debug, Args)]
pub struct Worker {
    /// Whose experiments they are: whoever asks again under the same name gets the same ones [default: user@host]
    #[arg(long, value_name = "NAME", env = "MCBO_WORKER", hide_env = true)]
    pub worker: Option<String>,
    /// Hours until an experiment that was not told goes to the next who asks
    #[arg(long, value_name = "HOURS", default_value_t = 24.0, value_parser = positive)]
    pub lease: f64,
}

/// `mcbo tell`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo tell beer 7 water=6.2 mash=5.9 taste=7.1
  mcbo tell beer 7 mash=5.9             some values now, the others later
  mcbo tell beer 7 leaf=0.2,1.4         a vector
  mcbo tell beer 7 --json result.json   {\"water\": 6.2, \"leaf\": [0.2, 1.4]}
  mcbo tell beer 7 --failed 'the pump broke'

The same values again are no mistake; others are, and change nothing.")]
pub struct Tell {
    /// The study
    pub study: String,
    /// The trial's number, from `mcbo ask`
    pub trial: usize,
    /// Values of nodes
    #[arg(value_name = "NAME=VALUE")]
    pub values: Vec<String>,
    /// Take the values from a JSON object in this file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "values")]
    pub json: Option<String>,
    /// The trial could not be run; with a word on why, if there is one
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["values", "json"])]
    pub failed: Option<String>,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo void`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo void beer 7 --reason 'the wrong bottle'
  mcbo void beer 3 4 5                 rows that were added as well
  mcbo void beer 7 --undo              puts it back

The model does not learn from what is taken out, and an experiment under way is not waited for any more. All that was told \
of it stays on record: `mcbo log` shows it, and --undo puts it back.")]
pub struct Void {
    /// The study
    pub study: String,
    /// Numbers of trials
    #[arg(value_name = "TRIAL", required = true)]
    pub trials: Vec<usize>,
    /// Why, for the log
    #[arg(long, value_name = "REASON", default_value = "", hide_default_value = true)]
    pub reason: String,
    /// Put them back
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo correct`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo correct beer 7 taste=7.4
  mcbo correct beer 7 taste=7.4 --reason 'read from the wrong line'

Only what was told can be corrected, in trials and in rows that were added. `mcbo log` shows what stood there before.")]
pub struct Correct {
    /// The study
    pub study: String,
    /// The trial's number
    pub trial: usize,
    /// The right values of nodes
    #[arg(value_name = "NAME=VALUE", required = true)]
    pub values: Vec<String>,
    /// Why they were wrong, for the log
    #[arg(long, value_name = "REASON", default_value = "", hide_default_value = true)]
    pub reason: String,
    #[command(flatten)]
    pub storage: Storage,
}

/// The file with past data. With `--csv`; what stands behind the study's name can be nothing else.
#[derive(Debug, Args)]
pub struct CsvFile {
    /// CSV file; `-` is standard input
    #[arg(long, value_name = "FILE", required_unless_present = "file")]
    csv: Option<String>,
    #[arg(value_name = "FILE", conflicts_with = "csv", hide = true)]
    file: Option<String>,
}

impl CsvFile {
    /// Its path.
    pub fn path(&self) -> &str {
        self.csv.as_ref().or(self.file.as_ref()).map_or("-", String::as_str)
    }
}

/// `mcbo add`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mcbo add beer --csv past.csv

The first line names the columns: nodes, actions, and do(NODE) for a node that was set. The components of a vector are \
leaf[0], leaf[1]. An empty cell means not measured or not set; actions must have values \
unless --missing neutral is given. Columns of `mcbo export` that are none of these \
are skipped. If a row is bad, every bad row is shown and none of the file is taken.")]
pub struct Add {
    /// The study
    pub study: String,
    #[command(flatten)]
    pub csv: CsvFile,
    /// Take the good rows and leave out the bad ones
    #[arg(long)]
    pub skip_bad: bool,
    /// Leave out rows that the study has already
    #[arg(long)]
    pub only_new: bool,
    /// What the empty cell of an action means: that it was `neutral`. Without this it is refused
    #[arg(long, value_name = "MEANING", value_parser = ["neutral"])]
    pub missing: Option<String>,
    /// Take rows that the study has already once more
    #[arg(long, conflicts_with = "only_new")]
    pub again: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo best` and `mcbo status`
#[derive(Debug, Args)]
pub struct Look {
    /// The study
    pub study: String,
    #[command(flatten)]
    pub given: GivenValues,
    #[command(flatten)]
    pub advice: Advice,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo predict`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo predict beer sugar=4 hops=12
  mcbo predict beer                      if nothing is done
  mcbo predict farm dose=30 'do(temperature)=31'

Actions that are not named are neutral. The model is the one behind `mcbo best`, and so are its numbers.")]
pub struct Predict {
    /// The study
    pub study: String,
    /// Values of actions, and do(NODE)=VALUE for a node that is set
    #[arg(value_name = "NAME=VALUE")]
    pub doing: Vec<String>,
    #[command(flatten)]
    pub given: GivenValues,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo export`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo export beer > beer.csv
  mcbo export beer --format json | jq '.trials[-1]'")]
pub struct Export {
    /// The study
    pub study: String,
    /// How to write the trials
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    #[command(flatten)]
    pub storage: Storage,
}

/// How to write trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A line per trial, for spreadsheets; `mcbo add` reads it
    Csv,
    /// Everything that is known of every trial
    Json,
}

/// `mcbo plot`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo plot beer --out pictures")]
pub struct Plot {
    /// The study
    pub study: String,
    /// Folder for the pictures; it is made if need be
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo update`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mcbo update beer --problem mcbo.toml

Arrows, ranges, noise and formulas can change, nodes and actions be added; none can go. Trials outside new ranges stay and are \
learned from. The study remembers the problem it had before.")]
pub struct Update {
    /// The study
    pub study: String,
    #[command(flatten)]
    pub problem: ProblemFile,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo log`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo log beer
  mcbo log beer --json | jq 'select(.kind == \"told\")'

Who: the worker a trial was handed to, else who gave the command (MCBO_WORKER, or user@host).")]
pub struct Log {
    /// The study
    pub study: String,
    /// Print one JSON object per event
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// How to use `mcbo copy`.
pub const COPY_EXAMPLES: &str = "\
Example:
  mcbo copy beer beer2

The copy has all trials of the study and proposes next what the study would. From there on they go their own ways.";

/// How to use `mcbo rename`.
pub const RENAME_EXAMPLES: &str = "\
Example:
  mcbo rename beer ale";

/// `mcbo copy` and `mcbo rename`
#[derive(Debug, Args)]
pub struct Twin {
    /// The study
    pub study: String,
    /// The new name, which no study has yet
    pub new: String,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo delete`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo delete beer          asks first
  mcbo delete beer --yes    does not ask, for scripts")]
pub struct Delete {
    /// The study
    pub study: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo doctor`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo doctor                  is anything wrong with this set-up?
  mcbo doctor beer             is the graph of this study right, by what was measured?
  mcbo doctor --repair saved.sqlite    what can be read of a damaged store, to a new file
  mcbo doctor --storage postgresql://lab@server/mcbo")]
pub struct Doctor {
    /// A study whose graph, formulas and values are compared with its data
    pub study: Option<String>,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads, requires = "study")]
    pub threads: Option<usize>,
    /// Save what can be read of a damaged file to this new one, and say what is lost
    #[arg(long, value_name = "NEW", conflicts_with = "study")]
    pub repair: Option<std::path::PathBuf>,
    /// Print a JSON array instead of a list
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=1000).contains(&count) => Ok(count),
        _ => Err("a number from 1 to 1000 is needed".into()),
    }
}
