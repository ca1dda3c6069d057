//! The command line: what can be asked for, and the help that explains it.

mod bench;
mod insight;
mod serve;
mod study;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use mcbo_core::{OptionsError, Preset, Rule, StrategyName};
use mcbo_report::Template;

pub use bench::{
    Bench, BenchCommand, BenchDiff, BenchEval, BenchList, BenchPaper, BenchReport, BenchRun, Contender, Suite,
};
pub use insight::{Effects, Report};
pub use serve::Serve;
pub use study::{
    Add, Advice, Ask, By, Correct, Delete, Doctor, Export, ExportFormat, Log, Look, New, Plot, Predict,
    Storage, Studies, Tell, Twin, Update, Void, Worker,
};

const ABOUT: &str = "\
Finds the next experiment for a process whose causal graph is known.

You describe the process in a problem file: what is measured, what depends on what, and what can be changed. mcbo \
learns how every part of it works from few experiments and proposes the one that is most worth doing next.";

const EXAMPLES: &str = "\
Start here:
  mcbo init                    write a problem file to begin with
  mcbo check mcbo.toml         see what mcbo makes of it
  mcbo run mcbo.toml           optimise the simulator in it

With experiments of your own:
  mcbo new beer --problem mcbo.toml    a study, which keeps everything
  mcbo ask beer                        what to do next
  mcbo tell beer 1 water=6.2 mash=5.9 taste=7.1
  mcbo best beer                       what to settle for, and what may be left to gain

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
    /// Begin a study: experiments of your own, one after the other
    New(New),
    /// List the studies
    Studies(Studies),
    /// The next experiment of a study, and why
    Ask(Ask),
    /// What an experiment gave
    Tell(Tell),
    /// Put values right that were told wrong
    Correct(Correct),
    /// Take trials out of the study, or put them back
    Void(Void),
    /// Add data that exist already
    Add(Add),
    /// What to settle for, and how much better anything else could be
    #[command(after_help = study::BEST_EXAMPLES)]
    Best(Look),
    /// What to expect of an intervention of your own
    Predict(Predict),
    /// What matters: actions and arrows by what they do to the reward
    Effects(Effects),
    /// Where a study stands
    #[command(after_help = study::STATUS_EXAMPLES)]
    Status(Look),
    /// All trials of a study as CSV or JSON
    Export(Export),
    /// Pictures of a study, as SVG and PNG
    Plot(Plot),
    /// One page about a study: what to do next, what to settle for, what is known
    Report(Report),
    /// The studies in a browser
    Serve(Serve),
    /// Go on with a changed problem file
    Update(Update),
    /// Who did what, and when
    Log(Log),
    /// Copy a study, to try something else from where it stands
    #[command(after_help = study::COPY_EXAMPLES)]
    Copy(Twin),
    /// Give a study another name
    #[command(after_help = study::RENAME_EXAMPLES)]
    Rename(Twin),
    /// Delete a study for good
    Delete(Delete),
    /// The paper's tasks: list them, evaluate interventions, run strategies on them
    Bench(Bench),
    /// See whether anything is wrong with this set-up, or with the graph of a study
    Doctor(Doctor),
    /// Print the completion script of a shell
    Completions(Completions),
}

/// `mcbo init`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcbo init                             soft interventions, in mcbo.toml
  mcbo init drug.toml --template hard   nodes that can be set by force
  mcbo init --from graph.dot            the arrows of a graph that is drawn already
  mcbo init -                           print the file instead of writing it")]
pub struct Init {
    /// File to write; it must not exist yet. `-` prints it
    #[arg(default_value = "mcbo.toml")]
    pub file: PathBuf,
    /// What kind of problem to begin with
    #[arg(long, value_parser = templates(), default_value = Template::Soft.name())]
    pub template: Template,
    /// Take the arrows from a drawn graph: DOT, dagitty or GML; `-` is standard input
    #[arg(long, value_name = "GRAPH", conflicts_with = "template")]
    pub from: Option<String>,
}

/// The names of templates.
fn templates() -> impl TypedValueParser<Value = Template> {
    let names = Template::ALL.map(|template| PossibleValue::new(template.name()).help(template.about()));
    PossibleValuesParser::new(names).map(|name| {
        let named = Template::ALL.into_iter().find(|template| template.name() == name);
        named.expect("only names of templates are possible")
    })
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

Ctrl-C ends a run after the step under way and still prints what is known; a second Ctrl-C ends it at once. Every \
experiment of --exec is kept, so the same command goes on where the last one ended. A run on the simulator repeats \
itself exactly and is kept only as a --study.";

const RUN_EXAMPLES: &str = "\
Examples:
  mcbo run mcbo.toml                                  the simulator in the file
  mcbo run mcbo.toml --exec 'python3 experiment.py'   your own program
  mcbo run mcbo.toml --json > trials.jsonl            one JSON object a line
  mcbo run --study beer --exec ./brew.sh --until-gap 0.2

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
    /// Problem file; `-` is standard input. A study that exists has its own
    #[arg(required_unless_present = "study")]
    pub file: Option<String>,
    /// Keep the run as the study of this name, and go on with it if there is one
    #[arg(long, value_name = "NAME")]
    pub study: Option<String>,
    /// Experiments the strategy chooses, after the initial design
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rounds: usize,
    /// Measure with this shell command instead of the simulator
    #[arg(long, value_name = "CMD")]
    pub exec: Option<String>,
    /// Ask this shell command for the contexts before a trial is chosen: it prints a JSON object of their values
    #[arg(long, value_name = "CMD", requires = "exec")]
    pub contexts: Option<String>,
    /// Stop the program of --exec after this many seconds and mark the trial as failed
    #[arg(long, value_name = "SECS", requires = "exec", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Stop before that when no intervention can be better than the recommended one by more than this, as far as a search finds
    #[arg(long, value_name = "GAP", value_parser = positive)]
    pub until_gap: Option<f64>,
    /// Stop before a trial that would cost more than what is left of this; costs are in the problem file
    #[arg(long, value_name = "COST", value_parser = positive)]
    pub budget: Option<f64>,
    /// Width of the band that the mechanisms are trusted to lie in, for --until-gap, in standard deviations
    #[arg(long, value_name = "W", default_value_t = 2.0, value_parser = positive)]
    pub width: f64,
    #[command(flatten)]
    pub chooser: Chooser,
    /// Do not go on with an earlier run of the same command
    #[arg(long, conflicts_with = "study")]
    pub fresh: bool,
    #[command(flatten)]
    pub worker: Worker,
    #[command(flatten)]
    pub storage: Storage,
    /// Threads to compute with [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Print one JSON object per trial and a last one with the result
    #[arg(long)]
    pub json: bool,
    /// Show every trial of a long run
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
}

/// Who chooses the experiments of a study, and from what.
#[derive(Debug, Args)]
pub struct Chooser {
    /// Who chooses the experiments [default: mcbo]
    #[arg(long, value_parser = strategy())]
    pub strategy: Option<StrategyName>,
    /// What the experiments are for [default: what the problem file says, else earn]
    #[arg(long, value_parser = aim(), conflicts_with = "beta")]
    pub aim: Option<Rule>,
    /// Fix the width of the confidence band, in standard deviations; larger explores more. `theory` is that of the paper's theorem
    #[arg(long, value_name = "B", value_parser = width, allow_negative_numbers = true)]
    pub beta: Option<Width>,
    /// Settings of the model [default: default]
    #[arg(long, value_parser = preset())]
    pub preset: Option<Preset>,
    /// Experiments of the initial design [default: twice the number of things to choose, plus one]
    #[arg(long, value_name = "N")]
    pub initial: Option<usize>,
    /// Seed of everything random; the same seed gives the same experiments [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// A width of the confidence band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// The same in every round.
    Fixed(f64),
    /// Of the paper's theorem.
    Theory,
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

/// Reads one of some names, which the help lists with what each is.
fn one_of<T: std::str::FromStr<Err = OptionsError> + Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let values = names.into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<T>())
}

fn strategy() -> impl TypedValueParser<Value = StrategyName> {
    one_of(StrategyName::ALL.map(|name| (name.as_str(), name.about())))
}

fn preset() -> impl TypedValueParser<Value = Preset> {
    one_of(Preset::ALL.map(|preset| (preset.as_str(), preset.about())))
}

fn aim() -> impl TypedValueParser<Value = Rule> {
    one_of([
        (Rule::Earn.as_str(), "To earn while learning: the reward of every trial counts"),
        (Rule::Find.as_str(), "To find a good intervention: only the final recommendation counts"),
    ])
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

fn width(text: &str) -> Result<Width, String> {
    if text == "theory" { Ok(Width::Theory) } else { beta(text).map(Width::Fixed) }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a positive number is needed".into()),
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
