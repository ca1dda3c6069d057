//! The command line of `mcbo bench`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use mcbo_bench::{CBO_NOISY, Shard};
use mcbo_core::{OptionsError, Preset, Rule, StrategyName};

use super::{Width, aim, preset, threads, width};

/// `mcbo bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// What to do.
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// The commands of `mcbo bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// List the tasks with their optima
    List(BenchList),
    /// Run strategies on tasks, many seeds at once
    Run(BenchRun),
    /// The paper's whole experiment: nine settings, every method, 20 seeds, and the report
    #[command(long_about = PAPER_ABOUT)]
    Paper(BenchPaper),
    /// Figures and tables of runs that were saved
    Report(BenchReport),
    /// What a change of the program did to saved runs, seed by seed
    Diff(BenchDiff),
    /// The exact expected reward of an intervention
    Eval(BenchEval),
}

/// `mcbo bench list`
#[derive(Debug, Args)]
pub struct BenchList {
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `mcbo bench run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo bench run --task dropwave --seeds 0..5 --rounds 30
  mcbo bench run --task dropwave,ackley --strategy mcbo,random --beta 0.05,0.5,5 --json > runs.jsonl
  mcbo bench run --task extra --strategy mcbo,ucb --out extra    saved as they end; the same again continues

Initial design and noise depend on the task and the seed alone, so strategies can be compared seed by seed.")]
pub struct BenchRun {
    /// Tasks, joined by commas; see `mcbo bench list`. `paper`, `extra` and `kinds` stand for all tasks of those suites, a name that
    /// ends in .toml for a problem file of yours with a simulator
    #[arg(long, value_name = "TASKS", value_delimiter = ',', required = true)]
    pub task: Vec<String>,
    /// Strategies, joined by commas
    #[arg(long, value_parser = contender(), value_delimiter = ',', default_value = "mcbo")]
    pub strategy: Vec<Contender>,
    /// What the experiments are for [default: what the task says, else earn]
    #[arg(long, value_parser = aim(), conflicts_with = "beta")]
    pub aim: Option<Rule>,
    /// Widths of the confidence band, joined by commas; each is a run of its own. `theory` is that of the paper's theorem
    #[arg(long, value_name = "B", value_delimiter = ',', value_parser = width, allow_negative_numbers = true)]
    pub beta: Vec<Width>,
    /// Settings of the model
    #[arg(long, value_parser = preset(), default_value = "default")]
    pub preset: Preset,
    /// Rounds after the initial design
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub rounds: usize,
    /// Seeds, as in 0..20
    #[arg(long, value_name = "FROM..TO", default_value = "0..20", value_parser = seeds)]
    pub seeds: std::ops::Range<u64>,
    /// Runs at a time [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Save every run in this folder as it ends, and do not repeat those that are there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Do the I-th of N parts, as in 1/4, for as many machines or jobs
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Print one JSON object per round instead of a table
    #[arg(long)]
    pub json: bool,
    /// Say nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

const PAPER_ABOUT: &str = "\
The paper's whole experiment: nine settings, every method, 20 seeds, and the report.

Every run is saved as it ends. Started again, with the same folder, the command does what is missing; killed at any \
moment, it loses no more than the runs under way. At the end stands DIR/report.html, with the figures and all numbers \
as CSV beside it.";

/// `mcbo bench paper`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo bench paper --quick              a first look: 5 seeds, 30 rounds, about two minutes on two cores
  mcbo bench paper --out results        everything
  mcbo bench paper --shard 3/16         one of 16 jobs; when all are done, `mcbo bench report` joins them
  mcbo bench paper --suite extra        the same methods on random models of 3 to 50 nodes")]
pub struct BenchPaper {
    /// 5 seeds and 30 rounds instead of 20 and 100
    #[arg(long)]
    pub quick: bool,
    /// Which tasks
    #[arg(long, value_enum, default_value_t = Suite::Paper)]
    pub suite: Suite,
    /// Folder of the runs and the report [default: mcbo-SUITE, or mcbo-SUITE-quick]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Rounds after the initial design [default: 100]
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,
    /// Seeds, as in 0..20 [default: 0..20]
    #[arg(long, value_name = "FROM..TO", value_parser = seeds)]
    pub seeds: Option<std::ops::Range<u64>>,
    /// Do the I-th of N parts, as in 1/4, for as many machines or jobs
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Runs at a time [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Say nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The nine settings of the paper
    Paper,
    /// Random models that nobody tuned to
    Extra,
}

/// `mcbo bench report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo bench report mcbo-paper                    what is there so far
  mcbo bench report part1 part2 --out together    runs of several machines")]
pub struct BenchReport {
    /// Folders that `mcbo bench paper` or `mcbo bench run --out` wrote
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Where to write the report [default: the first folder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// `mcbo bench diff`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mcbo bench run --task paper --out before     with one version of the program
  mcbo bench run --task paper --out after      with another
  mcbo bench diff before after")]
pub struct BenchDiff {
    /// Folder of the earlier runs
    pub before: PathBuf,
    /// Folder of the later runs
    pub after: PathBuf,
}

/// `mcbo bench eval`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo bench eval --task dropwave --actions 0.5,0.5
  mcbo bench eval --task psagraph --targets aspirin,statin --actions aspirin=0,statin=1 --json
  mcbo bench eval --task toygraph        observing, since nothing is set")]
pub struct BenchEval {
    /// The task
    #[arg(long)]
    pub task: String,
    /// The nodes that are set, joined by commas
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// Actions in order, or values by name
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_hyphen_values = true)]
    pub actions: Vec<String>,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

fn seeds(text: &str) -> Result<std::ops::Range<u64>, String> {
    let range = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    match range {
        Some(range) if range.start < range.end => Ok(range),
        _ => Err("a range such as 0..20 is needed".into()),
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
        _ => Err("two numbers such as 1/4 are needed, the first from 1 to the second".into()),
    }
}

/// A strategy that takes part in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    /// Which.
    pub name: StrategyName,
    /// Whether it is told single outcomes even if the paper tells it more.
    pub measured: bool,
}

fn contender() -> impl TypedValueParser<Value = Contender> {
    let mut values = Vec::new();
    for name in StrategyName::ALL {
        values.push(PossibleValue::new(name.as_str()).help(name.about()));
        if name == StrategyName::Cbo {
            let about = "The same on single outcomes, where `mcbo bench` tells cbo their expectation as the paper does";
            values.push(PossibleValue::new(CBO_NOISY).help(about));
        }
    }
    PossibleValuesParser::new(values).try_map(|text| -> Result<Contender, OptionsError> {
        let measured = text == CBO_NOISY;
        let name = if measured { StrategyName::Cbo } else { text.parse()? };
        Ok(Contender { name, measured })
    })
}
