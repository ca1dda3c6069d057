//! The command line: what can be asked for, and the help that explains it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mcbo_bench::Shard;

const ABOUT: &str = "\
Finds the next experiment for a process whose causal graph is known.

You describe the process in a problem file: what is measured, what depends on what, and what can be changed. mcbo \
learns how every part of it works from few experiments and proposes the one that is most worth doing next.";

const EXAMPLES: &str = "\
Start here:
  mcbo init                    write a problem file to begin with
  mcbo check mcbo.toml         see what mcbo makes of it
  mcbo run mcbo.toml           optimise the simulator in it

Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 130 interrupted.
Results go to stdout, everything else to stderr. NO_COLOR switches colours off.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "mcbo",
    version,
    about = "Finds the next experiment for a process whose causal graph is known"
)]
#[command(long_about = ABOUT, after_help = EXAMPLES, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// When to use colours; `auto` means in a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    #[arg(help_heading = "Global options")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes the choice known to everything that prints.
    pub fn apply(self) {
        match self {
            Color::Auto => return,
            Color::Always => anstream::ColorChoice::AlwaysAnsi,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented problem file to begin with
    Init(Init),
    /// Check a problem file and show what it says
    Check(Check),
    /// Optimise on the file's simulator, or on a program of yours
    #[command(long_about = RUN_ABOUT)]
    Run(Run),
    /// The paper's tasks: list them, evaluate interventions, run strategies on them
    Bench(Bench),
    /// Print the completion script of a shell
    Completions(Completions),
}

/// `mcbo init`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo init                             soft interventions, in mcbo.toml
  mcbo init drug.toml --template hard   nodes that can be set by force
  mcbo init -                           print the file instead of writing it")]
pub struct Init {
    /// File to write; it must not exist yet. `-` prints it
    #[arg(default_value = "mcbo.toml")]
    pub file: PathBuf,
    /// What kind of problem to begin with
    #[arg(long, value_enum, default_value_t = Template::Soft)]
    pub template: Template,
}

/// What kind of problem to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// Actions push a node, which still listens to its parents
    Soft,
    /// A node can be set by force and no longer listens to its parents
    Hard,
    /// Several knobs, each acting on several nodes
    Network,
}

/// `mcbo check`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo check mcbo.toml          the graph, the actions, the sets of nodes to set
  mcbo check mcbo.toml --json   the same for a program")]
pub struct Check {
    /// Problem file; `-` is standard input
    pub file: String,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

const RUN_ABOUT: &str = "\
Optimises on the file's simulator, or on a program of yours.

A run begins with an initial design that spreads over everything that can be chosen. Then follow the rounds, in each \
of which the strategy chooses one experiment from what was measured so far. In the end the run says what it \
recommends.

Ctrl-C ends a run after the step under way and still prints what is known; a second Ctrl-C ends it at once.";

const RUN_EXAMPLES: &str = "\
Examples:
  mcbo run mcbo.toml                                  the simulator in the file
  mcbo run mcbo.toml --exec 'python3 experiment.py'   your own program
  mcbo run mcbo.toml --json > trials.jsonl            one JSON object a line

The program of --exec is started once per trial by `sh -c`, in the current directory. It gets the suggestion as a line \
of JSON on stdin:
  {\"trial\":7,\"intervention\":{\"values\":{\"n1\":3.2},\"actions\":{\"a1\":12.5}},...}
and answers on stdout with the values of the nodes, null for what was not measured:
  {\"soil\":5.1,\"leaf\":[0.2,1.4],\"yield\":9.3}
A trial whose program fails is marked as failed and the run goes on; five failures in a row end it.";

/// `mcbo run`
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    /// Problem file; `-` is standard input
    pub file: String,
    /// Experiments the strategy chooses, after the initial design
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rounds: usize,
    /// Experiments of the initial design [default: twice the number of things to choose, plus one]
    #[arg(long, value_name = "N")]
    pub initial: Option<usize>,
    /// Measure with this shell command instead of the simulator
    #[arg(long, value_name = "CMD")]
    pub exec: Option<String>,
    /// Stop the program of --exec after this many seconds and mark the trial as failed
    #[arg(long, value_name = "SECS", requires = "exec", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Who chooses the experiments
    #[arg(long, value_enum, default_value_t = StrategyName::Mcbo)]
    pub strategy: StrategyName,
    /// Fix the width of the confidence band, in standard deviations; larger explores more
    #[arg(long, value_name = "B", value_parser = beta, allow_negative_numbers = true)]
    pub beta: Option<f64>,
    /// Settings of the model
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    pub preset: Preset,
    /// Seed of everything random; the same seed gives the same run
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print one JSON object per trial and a last one with the result
    #[arg(long)]
    pub json: bool,
    /// Show every trial of a long run
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Say nothing on stderr but errors, and what the program of --exec says
    #[arg(long, short)]
    pub quiet: bool,
}

/// Who chooses the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// The model of the causal graph, optimistic where it is not sure
    Mcbo,
    /// Expected improvement over the model of the graph
    Eifn,
    /// Causal Bayesian optimisation: one model per target set, with do-calculus priors
    Cbo,
    /// The same on single outcomes, where `mcbo bench` tells cbo their expectation as the paper does
    CboNoisy,
    /// Upper confidence bound of one model, blind to the graph
    Ucb,
    /// Expected improvement of one model, blind to the graph
    Ei,
    /// Chance, to compare with
    Random,
    /// Never intervenes
    Observe,
}

/// Settings of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// What was best over all benchmark tasks
    Default,
    /// The settings of the paper's experiments
    Paper,
}

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
    /// Tasks, joined by commas; see `mcbo bench list`. `paper` and `extra` stand for all tasks of those suites, a name that
    /// ends in .toml for a problem file of yours with a simulator
    #[arg(long, value_name = "TASKS", value_delimiter = ',', required = true)]
    pub task: Vec<String>,
    /// Strategies, joined by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mcbo")]
    pub strategy: Vec<StrategyName>,
    /// Widths of the confidence band, joined by commas; each is a run of its own
    #[arg(long, value_name = "B", value_delimiter = ',', value_parser = beta, allow_negative_numbers = true)]
    pub beta: Vec<f64>,
    /// Settings of the model
    #[arg(long, value_enum, default_value_t = Preset::Default)]
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

/// `mcbo completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo completions bash > ~/.local/share/bash-completion/completions/mcbo
  mcbo completions zsh > \"${fpath[1]}/_mcbo\"
  mcbo completions fish > ~/.config/fish/completions/mcbo.fish")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

fn seconds(text: &str) -> Result<f64, String> {
    // A year keeps the number inside what the system's clocks take.
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 366.0 * 86_400.0 => Ok(seconds),
        _ => Err("a positive number of seconds is needed".into()),
    }
}

fn beta(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(beta) if beta >= 0.0 && beta.is_finite() => Ok(beta),
        _ => Err("a number of 0 or more is needed".into()),
    }
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

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if (1..=1024).contains(&threads) => Ok(threads),
        _ => Err("a number from 1 to 1024 is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
