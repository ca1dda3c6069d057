//! Tables of a page: means with the best in bold, widths by cross-validation, and differences.

use crate::method::Method;
use crate::metrics::{Curve, Estimate, Metric};
use mcbo_core::StrategyName;

use super::coverage::Coverage;
use super::numbers::{escape, fixed, mean_and_error, short, shorten};
use super::paired::{Difference, Verdict, difference, rivals};
use super::series::Series;
use super::view::{Group, View};

/// Columns of a table: a task each, or a kind of tasks each.
pub(crate) enum Columns<'a> {
    Tasks(&'a Group),
    Kinds(&'a [Group]),
}

impl Columns<'_> {
    fn heads(&self, view: &View<'_>) -> Vec<String> {
        match self {
            Self::Tasks(group) => {
                group.tasks.iter().map(|&task| view.tasks()[task].name().to_owned()).collect()
            }
            Self::Kinds(kinds) => {
                kinds.iter().map(|kind| format!("{} ({})", kind.title, kind.tasks.len())).collect()
            }
        }
    }

    fn estimates(&self, view: &View<'_>, series: &Series, metric: Metric) -> Vec<Option<Estimate>> {
        match self {
            Self::Tasks(group) => {
                group.tasks.iter().map(|&task| view.estimate(series, task, metric)).collect()
            }
            Self::Kinds(kinds) => {
                kinds.iter().map(|kind| view.group_estimate(series, kind, metric)).collect()
            }
        }
    }

    fn optima(&self, view: &View<'_>) -> Vec<f64> {
        match self {
            Self::Tasks(group) => group.tasks.iter().map(|&task| view.optimum(task)).collect(),
            Self::Kinds(kinds) => vec![1.0; kinds.len()],
        }
    }

    /// The width that stands behind a cell.
    fn width(&self, series: &Series, column: usize, metric: Metric) -> Option<f64> {
        match self {
            Self::Tasks(group) if series.is_validated() => {
                series.method(group.tasks[column], metric.curve())?.parse::<Method>().ok()?.beta()
            }
            _ => None,
        }
    }
}

/// Which are best: the best mean, and all within the standard error of the best.
pub(crate) fn best(estimates: &[Option<Estimate>], higher: bool) -> Vec<bool> {
    let sign = if higher { 1.0 } else { -1.0 };
    let finite = estimates.iter().flatten().filter(|estimate| estimate.mean.is_finite());
    let Some(top) = finite.max_by(|a, b| (sign * a.mean).total_cmp(&(sign * b.mean))) else {
        return vec![false; estimates.len()];
    };
    let enough = sign * top.mean - top.error;
    estimates.iter().map(|estimate| estimate.is_some_and(|found| sign * found.mean >= enough)).collect()
}

/// How a metric is shown: seconds as milliseconds.
fn shown(estimate: Estimate, metric: Metric) -> Estimate {
    let factor = if metric == Metric::Seconds { 1000.0 } else { 1.0 };
    Estimate { mean: factor * estimate.mean, error: factor * estimate.error, count: estimate.count }
}

fn open(heads: &[String], first: &str) -> String {
    let heads: String = heads.iter().map(|head| format!("<th scope=\"col\">{}</th>", escape(head))).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">{first}</th>{heads}</tr></thead>\n<tbody>\n"
    )
}

const CLOSE: &str = "</tbody></table></div>\n";

fn row_head(label: &str) -> String {
    format!("<th scope=\"row\">{}</th>", escape(&shorten(label)))
}

/// A metric of all methods. Only contestants can be best: a width that turns out well afterwards is no method.
pub(crate) fn metric(view: &View<'_>, coverage: &Coverage, columns: &Columns<'_>, metric: Metric) -> String {
    let contestants = &view.field.contestants;
    let estimates: Vec<Vec<Option<Estimate>>> =
        view.rows().map(|series| columns.estimates(view, series, metric)).collect();
    let counts = |series: &Series| metric != Metric::Seconds || series.computes();
    let heads = columns.heads(view);
    let winners: Vec<Vec<bool>> = (0..heads.len())
        .map(|column| {
            let entered = |(row, series): (usize, &Series)| estimates[row][column].filter(|_| counts(series));
            best(&contestants.iter().enumerate().map(entered).collect::<Vec<_>>(), metric.higher_is_better())
        })
        .collect();
    let mut out = open(&heads, "method");
    for (row, series) in view.rows().enumerate() {
        if estimates[row].iter().all(Option::is_none) {
            continue;
        }
        let class = if row < contestants.len() { "" } else { " class=\"aside\"" };
        out.push_str(&format!("<tr{class}>{}", row_head(&series.label)));
        for (column, estimate) in estimates[row].iter().enumerate() {
            let is_best = winners[column].get(row).copied().unwrap_or(false);
            let estimate = estimate.map(|estimate| shown(estimate, metric));
            out.push_str(&cell(
                estimate,
                is_best,
                coverage.is_uneven(),
                columns.width(series, column, metric),
            ));
        }
        out.push_str("</tr>\n");
    }
    if metric.higher_is_better() {
        let optima = columns.optima(view);
        let cells: String = optima.iter().map(|optimum| format!("<td>{}</td>", short(*optimum))).collect();
        out.push_str(&format!("<tr class=\"optimum\"><th scope=\"row\">optimum</th>{cells}</tr>\n"));
    }
    out.push_str(CLOSE);
    out
}

fn cell(estimate: Option<Estimate>, is_best: bool, with_count: bool, width: Option<f64>) -> String {
    let Some(estimate) = estimate else { return "<td>–</td>".into() };
    let (mean, error) = mean_and_error(&estimate);
    let mean = if is_best { format!("<b>{mean}</b>") } else { mean };
    let error = error.map_or_else(String::new, |error| format!("\u{202f}<span>±\u{202f}{error}</span>"));
    let width = width.map_or_else(String::new, |width| format!(" <small>β {width}</small>"));
    let count = if with_count { format!(" <small>n={}</small>", estimate.count) } else { String::new() };
    format!("<td>{mean}{error}{width}{count}</td>")
}

/// How often each contestant is best or joint best.
pub(crate) fn glance(view: &View<'_>) -> String {
    const METRICS: [(Metric, &str); 3] = [
        (Metric::Average, "average reward"),
        (Metric::Best, "best reward"),
        (Metric::RecommendedRegret, "recommended"),
    ];
    let mut counts = vec![[0; METRICS.len()]; view.field.contestants.len()];
    let mut entered = vec![0; view.field.contestants.len()];
    for task in 0..view.tasks().len() {
        for (place, (metric, _)) in METRICS.iter().enumerate() {
            let estimate = |series: &Series| view.estimate(series, task, *metric);
            let estimates: Vec<_> = view.field.contestants.iter().map(estimate).collect();
            for (row, is_best) in best(&estimates, metric.higher_is_better()).into_iter().enumerate() {
                counts[row][place] += usize::from(is_best);
                entered[row] += usize::from(place == 0 && estimates[row].is_some());
            }
        }
    }
    let heads: Vec<String> =
        METRICS.iter().map(|(_, name)| (*name).to_owned()).chain(["of tasks".into()]).collect();
    let mut out = open(&heads, "best or joint best in");
    for (row, series) in view.field.contestants.iter().enumerate() {
        let most = |place: usize| counts.iter().map(|count| count[place]).max() == Some(counts[row][place]);
        let one = |place: usize| {
            let count = counts[row][place];
            if most(place) { format!("<td><b>{count}</b></td>") } else { format!("<td>{count}</td>") }
        };
        let cells: String = (0..METRICS.len()).map(one).collect();
        out.push_str(&format!("<tr>{}{cells}<td>{}</td></tr>\n", row_head(&series.label), entered[row]));
    }
    out.push_str(CLOSE);
    out
}

/// The scores behind the widths that were chosen; `None` if nothing could be chosen.
pub(crate) fn validated(view: &View<'_>, strategy: StrategyName, by: Curve) -> Option<String> {
    let rows: Vec<_> = view
        .tasks()
        .iter()
        .filter_map(|task| Some((task.name(), view.results.validated(task, strategy, by)?)))
        .collect();
    let mut betas: Vec<f64> =
        rows.iter().flat_map(|(_, found)| &found.scores).map(|(beta, _)| *beta).collect();
    betas.sort_by(f64::total_cmp);
    betas.dedup();
    if betas.is_empty() {
        return None;
    }
    let heads: Vec<String> =
        betas.iter().map(|beta| format!("β = {beta}")).chain(["chosen".into()]).collect();
    let mut out = open(&heads, "task");
    for (task, found) in rows {
        let score = |beta: &f64| {
            let score = found.scores.iter().find(|(other, _)| other == beta);
            match score {
                Some((_, score)) if *beta == found.beta => format!("<td><b>{}</b></td>", fixed(*score, 3)),
                Some((_, score)) => format!("<td>{}</td>", fixed(*score, 3)),
                None => "<td>–</td>".into(),
            }
        };
        let cells: String = betas.iter().map(score).collect();
        out.push_str(&format!("<tr>{}{cells}<td>{}</td></tr>\n", row_head(task), found.beta));
    }
    out.push_str(CLOSE);
    Some(out)
}

/// The metrics by which the default is compared with each other method, with their names.
pub(crate) const PAIRED: [(Metric, &str); 4] = [
    (Metric::Average, "Average reward"),
    (Metric::Chosen, "Average reward over the rounds"),
    (Metric::Best, "Best reward"),
    (Metric::RecommendedRegret, "Regret of the recommended intervention"),
];

/// Wins, even results and losses of the default over all tasks.
pub(crate) fn tally(view: &View<'_>) -> String {
    let heads: Vec<String> = PAIRED.iter().map(|(_, name)| (*name).to_owned()).collect();
    let mut out = open(&heads, "MCBO default against");
    for rival in rivals(view) {
        out.push_str(&format!("<tr>{}", row_head(&rival.label)));
        for (metric, _) in PAIRED {
            let tasks = 0..view.tasks().len();
            let found: Vec<Difference> =
                tasks.filter_map(|task| difference(view, rival, task, metric)).collect();
            let count = |verdict: Verdict| found.iter().filter(|found| found.verdict == verdict).count();
            let part = |verdict: Verdict| match count(verdict) {
                0 if verdict == Verdict::Unknown => String::new(),
                count => format!("<span class=\"{}\">{} {count}</span> ", verdict.name(), verdict.sign()),
            };
            let parts: String =
                [Verdict::Win, Verdict::Even, Verdict::Loss, Verdict::Unknown].map(part).concat();
            out.push_str(&format!("<td>{}</td>", parts.trim_end()));
        }
        out.push_str("</tr>\n");
    }
    out.push_str(CLOSE);
    out
}

/// The default minus each other method.
pub(crate) fn paired(view: &View<'_>, coverage: &Coverage, group: &Group, metric: Metric) -> String {
    let heads = Columns::Tasks(group).heads(view);
    let mut out = open(&heads, "MCBO default minus");
    for rival in rivals(view) {
        let found: Vec<_> = group.tasks.iter().map(|&task| difference(view, rival, task, metric)).collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let cells: String = found.iter().map(|found| paired_cell(found.as_ref(), coverage)).collect();
        out.push_str(&format!("<tr>{}{cells}</tr>\n", row_head(&rival.label)));
    }
    out.push_str(CLOSE);
    out
}

fn paired_cell(found: Option<&Difference>, coverage: &Coverage) -> String {
    let Some(Difference { estimate, verdict }) = found else { return "<td>–</td>".into() };
    let (mean, error) = mean_and_error(estimate);
    let error = error.map_or_else(String::new, |error| format!("\u{202f}<span>±\u{202f}{error}</span>"));
    let uneven = coverage.is_uneven() || estimate.count != coverage.seeds[1];
    let count = if uneven { format!(" <small>n={}</small>", estimate.count) } else { String::new() };
    format!("<td class=\"{}\">{} {mean}{error}{count}</td>", verdict.name(), verdict.sign())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joint_best_are_within_the_error_of_the_best() {
        let of = |mean, error| Some(Estimate { mean, error, count: 20 });
        let all = [of(1.0, 0.1), of(0.91, 0.5), of(0.89, 0.5), None, of(f64::NAN, 0.0)];
        assert_eq!(best(&all, true), [true, true, false, false, false]);
        let all = [of(1.0, 0.1), of(0.2, 0.05), of(0.24, 0.0), of(0.26, 0.3)];
        assert_eq!(best(&all, false), [false, true, true, false]);
        assert_eq!(best(&[None, None], true), [false, false]);
    }
}
