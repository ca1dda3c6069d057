//! What is compared: a line in figures, a row in tables.

use mcbo_plot::draw::{Marker, Style};

use crate::method::Method;
use crate::metrics::{Curve, Results};
use crate::task::Task;
use mcbo_core::{Preset, StrategyName};

const fn style(class: &'static str, color: &'static str, dash: &'static str, marker: Marker) -> Style {
    Style { dash, marker, ..Style::new(class, color) }
}

// The colours of Okabe and Ito, which remain different to colour-blind readers; grey instead of black and no yellow, so that
// all can be seen on light and on dark ground.
const DEFAULT: Style = Style { width: 2.6, ..style("s-default", "#d55e00", "", Marker::Circle) };
const MCBO: Style = Style { width: 2.0, ..style("s-mcbo", "#0072b2", "", Marker::Square) };
const EIFN: Style = style("s-eifn", "#cc79a7", "6 2", Marker::Diamond);
const CBO: Style = style("s-cbo", "#e69f00", "", Marker::Up);
const CBO_NOISY: Style = style("s-cbo-noisy", "#b07a00", "2 2", Marker::Down);
const UCB: Style = style("s-ucb", "#009e73", "8 2 2 2", Marker::Up);
const EI: Style = style("s-ei", "#56b4e9", "4 2", Marker::Cross);
const RANDOM: Style = style("s-random", "#8a8a8a", "1.5 2", Marker::Plus);
const OBSERVE: Style = style("s-observe", "#8a8a8a", "6 3", Marker::Square);
/// Widths, from narrow to wide: the high-contrast colours of Tol.
const WIDTHS: [Style; 3] = [
    Style { width: 2.0, ..style("s-narrow", "#ddaa33", "4 2", Marker::Up) },
    Style { width: 2.0, ..style("s-middle", "#bb5566", "", Marker::Circle) },
    Style { width: 2.0, ..style("s-wide", "#004488", "8 2 2 2", Marker::Square) },
];
/// For strategies of one's own and settings that the paper has not.
const MORE: [Style; 6] = [
    style("s-more0", "#882255", "", Marker::Diamond),
    style("s-more1", "#44aa99", "", Marker::Down),
    style("s-more2", "#999933", "", Marker::Square),
    style("s-more3", "#332288", "4 2", Marker::Circle),
    style("s-more4", "#aa4499", "4 2", Marker::Up),
    style("s-more5", "#117733", "4 2", Marker::Plus),
];

/// The runs that make up a series.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    /// Of one method on all tasks.
    Method(String),
    /// On each task of the width that cross-validation chose there.
    Validated(StrategyName),
}

/// One competitor.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// A name for files.
    pub(crate) key: String,
    /// A name for readers, not escaped.
    pub(crate) label: String,
    pub(crate) style: Style,
    source: Source,
    /// The method that stands for the series on each task, where average and where best rewards count; none where it has
    /// no runs.
    methods: [Vec<Option<String>>; 2],
}

impl Series {
    fn new(results: &Results, source: Source, label: String, style: Style) -> Self {
        let chosen = |task: &Task, by: Curve| match &source {
            Source::Method(name) => Some(name.clone()),
            Source::Validated(strategy) => results.validated_method(task, *strategy, by),
        };
        let methods = [Curve::Average, Curve::Best].map(|by| {
            let present = |task: &Task| chosen(task, by).filter(|name| !results.runs(task, name).is_empty());
            results.tasks().iter().map(present).collect()
        });
        let key = match &source {
            Source::Method(name) => name.clone(),
            Source::Validated(strategy) => format!("{}-cv", strategy.as_str()),
        };
        Self { key, label, style, source, methods }
    }

    /// The method on a task, by the task's place among the results', where this kind of reward counts.
    pub(crate) fn method(&self, task: usize, by: Curve) -> Option<&str> {
        self.methods[by as usize][task].as_deref()
    }

    /// Whether other methods stand for it on other tasks.
    pub(crate) fn is_validated(&self) -> bool {
        matches!(self.source, Source::Validated(_))
    }

    /// Whether suggestions cost anything to compute.
    pub(crate) fn computes(&self) -> bool {
        self.known().is_none_or(|method| method.strategy().has_model())
    }

    /// Whether it only watches: no competitor in figures.
    pub(crate) fn observes(&self) -> bool {
        self.known().is_some_and(|method| method.strategy() == StrategyName::Observe)
    }

    fn known(&self) -> Option<Method> {
        match &self.source {
            Source::Method(name) => name.parse().ok(),
            Source::Validated(_) => None,
        }
    }
}

/// The strategies whose width the paper chooses by cross-validation.
pub(crate) const WITH_WIDTH: [StrategyName; 2] = [StrategyName::Mcbo, StrategyName::Ucb];

/// All competitors: those that one could run, and each fixed width of those whose width is chosen by cross-validation.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) contestants: Vec<Series>,
    pub(crate) widths: Vec<Series>,
}

impl Field {
    pub(crate) fn of(results: &Results) -> Self {
        let can_validate = |strategy| {
            results.tasks().iter().any(|task| results.validated(task, strategy, Curve::Average).is_some())
        };
        let validated: Vec<StrategyName> =
            WITH_WIDTH.into_iter().filter(|&strategy| can_validate(strategy)).collect();
        let mut field = Self { contestants: Vec::new(), widths: Vec::new() };
        let mut styles = Styles::new(results);
        for name in results.methods() {
            let (label, style) = (label(name), styles.of(name));
            let series = Series::new(results, Source::Method(name.clone()), label, style);
            match fixed_width(name) {
                Some((strategy, _)) if validated.contains(&strategy) => {
                    // In the place of the first of its widths.
                    let source = Source::Validated(strategy);
                    if !field.contestants.iter().any(|other| other.source == source) {
                        let label = format!("{} (β by CV)", strategy.as_str().to_uppercase());
                        let style = if strategy == StrategyName::Ucb { UCB } else { MCBO };
                        field.contestants.push(Series::new(results, source, label, style));
                    }
                    field.widths.push(series);
                }
                _ => field.contestants.push(series),
            }
        }
        field
    }
}

/// The fixed widths of a strategy with the paper's settings.
pub(crate) fn widths(results: &Results, strategy: StrategyName) -> Vec<Series> {
    let mut styles = Styles::new(results);
    let all = results.methods().iter().map(|name| (name, styles.of(name))).collect::<Vec<_>>();
    let mine =
        all.into_iter().filter(|(name, _)| fixed_width(name).is_some_and(|(other, _)| other == strategy));
    mine.map(|(name, style)| Series::new(results, Source::Method(name.clone()), label(name), style)).collect()
}

/// The strategy and the width, of methods with the paper's settings and a fixed width.
fn fixed_width(name: &str) -> Option<(StrategyName, f64)> {
    let method: Method = name.parse().ok()?;
    (method.preset() == Preset::Paper).then_some(())?;
    Some((method.strategy(), method.beta()?))
}

/// The name for readers.
pub(crate) fn label(name: &str) -> String {
    name.parse::<Method>().map_or_else(|_| name.to_owned(), |method| method.label())
}

/// Gives styles to methods, the same ones for the same results.
struct Styles {
    widths: Vec<f64>,
    more: usize,
}

impl Styles {
    fn new(results: &Results) -> Self {
        let mut widths: Vec<f64> =
            results.methods().iter().filter_map(|name| Some(fixed_width(name)?.1)).collect();
        widths.extend(crate::suite::PAPER_BETAS);
        widths.sort_by(f64::total_cmp);
        widths.dedup();
        Self { widths, more: 0 }
    }

    fn of(&mut self, name: &str) -> Style {
        if let Some((_, beta)) = fixed_width(name) {
            let paper = crate::suite::PAPER_BETAS.iter().position(|other| *other == beta);
            let place = self.widths.iter().position(|other| *other == beta).unwrap_or(0);
            return paper.map_or_else(|| MORE[place % MORE.len()], |place| WIDTHS[place]);
        }
        match name {
            "mcbo" => DEFAULT,
            "eifn-paper" => EIFN,
            "cbo-paper" => CBO,
            "cbo-noisy-paper" => CBO_NOISY,
            "ei-paper" => EI,
            "random" => RANDOM,
            "observe" => OBSERVE,
            _ => {
                self.more += 1;
                MORE[(self.more - 1) % MORE.len()]
            }
        }
    }
}
