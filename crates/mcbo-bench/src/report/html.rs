//! The page.

use crate::metrics::{Curve, Metric};
use mcbo_core::StrategyName;
use mcbo_plot::draw::html_page;

use super::About;
use super::coverage::Coverage;
use super::figures::{Figures, Section};
use super::numbers::{counted, escape};
use super::paired::has_default;
use super::tables::{self, Columns, PAIRED};
use super::view::View;

const STYLE: &str = include_str!("style.css");

const READING: &str = "A line is the mean over seeds, its band one standard error (<i>s</i>/√<i>n</i>) either way. \
Rewards are exact or finely computed expectations of what was chosen, not noisy measurements; more is better. Round 0 is the \
initial design, which all methods share. A method that ends far below the others leaves its panel and is named there \
with its last value.";

const VALIDATED: &str = "“β by CV” is the width of the confidence band that does best on average over all <em>other</em> \
tasks, as the paper chooses it.";

const METRICS: [(Metric, &str, &str); 7] = [
    (Metric::Average, "Average reward", "Over the initial design and all rounds, as the paper counts it."),
    (
        Metric::Chosen,
        "Average reward over the rounds",
        "Without the initial design: what the method chose itself.",
    ),
    (Metric::Best, "Best reward", "The highest expected reward tried. No method can know which it was."),
    (
        Metric::CumulativeRegret,
        "Cumulative regret",
        "The sum over the rounds of what each fell short of the optimum.",
    ),
    (Metric::SimpleRegret, "Simple regret", "What the best intervention tried fell short of the optimum."),
    (
        Metric::RecommendedRegret,
        "Regret of the recommended intervention",
        "What the intervention that the method settles for in the end falls short of the optimum.",
    ),
    (
        Metric::Seconds,
        "Milliseconds per suggestion",
        "Methods that compute nothing are not counted as the fastest. Times depend on the machine and on what else it did.",
    ),
];

/// The whole page. It needs nothing but itself.
pub(crate) fn page(view: &View<'_>, about: &About, figures: &Figures) -> String {
    let coverage = Coverage::of(view);
    let title = match about.title.trim() {
        "" => "A comparison of causal Bayesian optimisation methods",
        title => title,
    };
    let mut body =
        format!("<header><h1>{}</h1>\n{}</header>\n", escape(title), introduction(view, about, &coverage));
    let numbered = sections(view, about, figures, &coverage);
    body.push_str("<nav><ol>");
    for (place, (head, _)) in numbered.iter().enumerate() {
        body.push_str(&format!("<li><a href=\"#s{}\">{head}</a></li>", place + 1));
    }
    body.push_str("</ol></nav>\n");
    for (place, (head, content)) in numbered.iter().enumerate() {
        let number = place + 1;
        body.push_str(&format!("<section id=\"s{number}\"><h2>{number}. {head}</h2>\n{content}</section>\n"));
    }
    html_page(title, &format!("<style>\n{STYLE}</style>"), &body)
}

fn introduction(view: &View<'_>, about: &About, coverage: &Coverage) -> String {
    let by_width = !view.field.widths.is_empty();
    let methods = view.results.methods().len();
    let mut out = format!(
        "<p class=\"lead\">{} on {}: {} of {} each, {} in all{}.</p>\n",
        counted(methods, "method"),
        counted(view.tasks().len(), "task"),
        Coverage::text(coverage.seeds, "seed"),
        Coverage::text(coverage.rounds, "round"),
        counted(coverage.runs, "run"),
        if about.date.is_empty() { String::new() } else { format!(", {}", escape(&about.date)) }
    );
    out.push_str(&format!("<p>{READING}"));
    if by_width {
        out.push_str(&format!(" {VALIDATED}"));
    }
    if has(view, "cbo-paper") {
        out.push_str(" CBO is told the expected reward of its interventions, as in the paper: an advantage that the others do not have. With noisy feedback it is told what they are.");
    }
    if view.tasks().iter().any(|task| task.is_relative()) {
        out.push_str(" On random tasks (scm) rewards are on a scale where 0 is the mean of random interventions and 1 the best that a long search found.");
    }
    out.push_str("</p>\n");
    for note in coverage.warnings.iter().chain(&about.notes) {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(note)));
    }
    if view.field.contestants.len() > 1 {
        out.push_str(&tables::glance(view));
        out.push_str("<p class=\"caption\">On how many tasks each is best, or within the standard error of the best.</p>\n");
    }
    out
}

fn has(view: &View<'_>, method: &str) -> bool {
    view.results.methods().iter().any(|other| other == method)
}

fn sections(
    view: &View<'_>,
    about: &About,
    figures: &Figures,
    coverage: &Coverage,
) -> Vec<(&'static str, String)> {
    let widths = |strategy: StrategyName| {
        let section = figures.widths.iter().find(|(other, _)| *other == strategy).map(|(_, section)| section);
        section.map_or_else(String::new, |section| {
            drawn(
                section,
                "The average reward for each fixed width β, with the paper’s settings.",
                "There are no runs with two or more fixed widths.",
            )
        })
    };
    vec![
        (
            "Average reward",
            drawn(
                &figures.average,
                "The mean expected reward of the initial design and all rounds so far: it counts what exploring costs.",
                NOTHING,
            ),
        ),
        ("Best reward", drawn(&figures.best, "The highest expected reward tried so far.", NOTHING)),
        ("The width β of MCBO", widths(StrategyName::Mcbo)),
        ("The width β of UCB", widths(StrategyName::Ucb)),
        (
            "Seconds per suggestion",
            drawn(
                &figures.seconds,
                "Mean over rounds and seeds, on a logarithmic axis; methods that compute nothing are left out.",
                "No run took any time.",
            ),
        ),
        ("Cross-validated widths", cross_validation(view)),
        ("Tables", all_tables(view, coverage)),
        ("The default against each other method", differences(view, coverage)),
        ("How it was made", making(view, about, coverage)),
    ]
}

const NOTHING: &str = "There is nothing to draw.";

fn drawn(section: &Section, caption: &str, otherwise: &str) -> String {
    if section.figures.is_empty() && section.details.is_empty() {
        return format!("<p>{otherwise}</p>\n");
    }
    let mut out = format!("<p>{caption}</p>\n");
    for figure in &section.figures {
        if section.figures.len() > 1 {
            out.push_str(&format!("<h3>{}</h3>\n", escape(&figure.title)));
        }
        out.push_str(&figure.html());
    }
    if !section.details.is_empty() {
        out.push_str("<details><summary>Random tasks one by one</summary>\n");
        for figure in &section.details {
            out.push_str(&format!("<h3>{}</h3>\n{}", escape(&figure.title), figure.html()));
        }
        out.push_str("</details>\n");
    }
    out
}

fn cross_validation(view: &View<'_>) -> String {
    let mut tables = Vec::new();
    for (by, what) in [(Curve::Average, "average reward"), (Curve::Best, "best reward")] {
        for strategy in super::series::WITH_WIDTH {
            if let Some(table) = tables::validated(view, strategy, by) {
                let name = strategy.as_str().to_uppercase();
                tables.push(format!("<div><h3>{name}, for the {what}</h3>\n{table}</div>\n"));
            }
        }
    }
    if tables.is_empty() {
        return "<p>No width could be chosen: that takes two tasks or more, and runs with fixed widths.</p>\n".into();
    }
    format!(
        "<p>For each task the score of every width on all <em>other</em> tasks: the average, or the best, reward after the last round, on a scale where 0 is the average of the initial design and 1 the optimum. The highest is chosen, in bold. As in the paper, a width is chosen for each kind of reward; everything but the best reward and the simple regret goes by the average.</p>\n<div class=\"pair\">{}</div>\n",
        tables.concat()
    )
}

/// Tables of the tasks one by one, of kinds, and of the tasks behind kinds.
fn split(view: &View<'_>, table: impl Fn(&Columns<'_>) -> String, with_kinds: bool) -> String {
    let mut out: String = view.main.iter().map(|group| table(&Columns::Tasks(group))).collect();
    if view.kinds.is_empty() {
        return out;
    }
    if with_kinds {
        out.push_str("<p class=\"caption\">Means over the random tasks of a kind (how many), of methods that ran on all:</p>\n");
        out.push_str(&table(&Columns::Kinds(&view.kinds)));
    }
    let each: String = view.kinds.iter().map(|group| table(&Columns::Tasks(group))).collect();
    out.push_str(&format!("<details><summary>Random tasks one by one</summary>\n{each}</details>\n"));
    out
}

fn all_tables(view: &View<'_>, coverage: &Coverage) -> String {
    let n = match coverage.seeds {
        [fewest, most] if fewest == most => format!("n={most} in every cell"),
        _ => "n differs and is in every cell".into(),
    };
    let mut out = format!(
        "<p>Mean ± standard error over seeds, {n}. Bold: the best mean, and all means within the standard error of the best."
    );
    if !view.field.widths.is_empty() {
        out.push_str(" Grey rows are the fixed widths: which one is best is known only afterwards, so they do not count.");
    }
    out.push_str("</p>\n");
    for (metric, title, text) in METRICS {
        let table = |columns: &Columns<'_>| tables::metric(view, coverage, columns, metric);
        out.push_str(&format!("<h3>{title}</h3>\n<p>{text}</p>\n{}", split(view, table, true)));
    }
    out
}

fn differences(view: &View<'_>, coverage: &Coverage) -> String {
    if !has_default(view) {
        return "<p>There are no runs of the default method, <code>mcbo</code>.</p>\n".into();
    }
    let mut out = String::from(
        "<p>The default minus the other method, seed by seed: both started from the same initial design and met the same noise. \
         <span class=\"win\">▲</span> the default is better by more than two standard errors, \
         <span class=\"loss\">▼</span> it is worse by more than two, ≈ neither can be said. \
         Where there is no difference, about one comparison in twenty is marked by chance.</p>\n",
    );
    out.push_str("<h3>On how many tasks</h3>\n");
    out.push_str(&tables::tally(view));
    for (metric, title) in PAIRED {
        let table = |columns: &Columns<'_>| match columns {
            Columns::Tasks(group) => tables::paired(view, coverage, group, metric),
            Columns::Kinds(_) => String::new(),
        };
        let less = if metric.higher_is_better() { "" } else { " (less is better)" };
        out.push_str(&format!("<h3>{title}{less}</h3>\n{}", split(view, table, false)));
    }
    out
}

fn making(view: &View<'_>, about: &About, coverage: &Coverage) -> String {
    let mut out = String::from("<dl>\n");
    let mut entry = |name: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("<dt>{name}</dt><dd>{value}</dd>\n"));
        }
    };
    let code =
        |text: &str| if text.is_empty() { String::new() } else { format!("<code>{}</code>", escape(text)) };
    let list = |names: Vec<&str>| names.into_iter().map(code).collect::<Vec<_>>().join(", ");
    entry("Command", code(&about.command));
    entry("Version", escape(&about.version));
    entry("Machine", about.machine.iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br>"));
    entry("Date", escape(&about.date));
    entry(
        "Runs",
        format!(
            "{}, {} per method and task, {}",
            coverage.runs,
            Coverage::text(coverage.seeds, "seed"),
            Coverage::text(coverage.rounds, "round")
        ),
    );
    entry("Tasks", list(view.tasks().iter().map(crate::Task::name).collect()));
    entry("Methods", list(view.results.methods().iter().map(String::as_str).collect()));
    out.push_str("</dl>\n<p>Beside this page: the figures as SVG and PNG in <code>figures</code>, and <code>runs.csv</code>, <code>curves.csv</code>, <code>summary.csv</code>, <code>beta.csv</code> and <code>paired.csv</code>.</p>\n");
    out
}
