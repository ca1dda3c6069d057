//! The command line of what is learned from a study.

use clap::Args;

use super::study::GivenValues;
use super::{Storage, threads};

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
    pub given: GivenValues,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub storage: Storage,
}
