//! The command line of what keeps the book of a study right.

use clap::Args;

use super::study::Known;
use super::{Storage, threads};

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

/// `mcbo effects`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo effects beer
  mcbo effects beer --json | jq '.actions[0].name'
  mcbo effects beer --given quality=0.8    where that is known of a context

About the recommended intervention: one thing is moved at a time, the rest stays as recommended.")]
pub struct Effects {
    /// The study
    pub study: String,
    #[command(flatten)]
    pub given: Known,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: Storage,
}

/// `mcbo report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo report beer --out beer.html
  mcbo report beer --out today.html --given quality=0.8    for what is known of a context

The page needs nothing but itself: send it, or print it. The study is only looked at, no experiment is asked for.")]
pub struct Report {
    /// The study
    pub study: String,
    /// File to write; one that is there is replaced. `-` prints the page
    #[arg(long, value_name = "FILE")]
    pub out: String,
    #[command(flatten)]
    pub given: Known,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub storage: Storage,
}
