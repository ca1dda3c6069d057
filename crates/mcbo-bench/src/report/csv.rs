//! Tables for other programs. Numbers are in full; an error that is not known is empty.

use std::fmt::Display;

use csv::Writer;

use crate::method::Method;
use crate::metrics::{Curve, Estimate, Metric};

use super::paired::{difference, has_default, rivals};
use super::series::WITH_WIDTH;
use super::view::View;

/// All tables with their names.
pub(crate) fn all(view: &View<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("runs.csv", runs(view)),
        ("curves.csv", curves(view)),
        ("summary.csv", summary(view)),
        ("beta.csv", beta(view)),
        ("paired.csv", paired(view)),
    ]
}

/// A table in memory: writing to it cannot fail.
struct Table(Writer<Vec<u8>>);

impl Table {
    fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self(Writer::from_writer(Vec::new()));
        table.0.write_record(names).expect("memory takes every record");
        table
    }

    fn row(&mut self, fields: &[&dyn Display]) {
        let fields = fields.iter().map(ToString::to_string);
        self.0.write_record(fields).expect("a row has as many fields as the first");
    }

    fn text(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes every record");
        String::from_utf8(bytes).expect("fields are text")
    }
}

/// The standard error; nothing where one number has none.
fn error(estimate: &Estimate) -> String {
    if estimate.count < 2 { String::new() } else { estimate.error.to_string() }
}

fn runs(view: &View<'_>) -> String {
    let metrics = Metric::ALL.iter().map(|metric| metric.name());
    let mut table =
        Table::new(["task", "method", "strategy", "beta", "seed", "rounds"].into_iter().chain(metrics));
    for task in view.tasks() {
        for method in view.results.methods() {
            let beta = method.parse::<Method>().ok().and_then(|method| method.beta());
            let beta = beta.map_or_else(String::new, |beta| beta.to_string());
            for run in view.results.runs(task, method) {
                let (task_name, rounds) = (task.name(), run.rounds.len());
                let mut row: Vec<&dyn Display> =
                    vec![&task_name, &method, &run.strategy, &beta, &run.seed, &rounds];
                let values = Metric::ALL.map(|metric| view.results.value(task, run, metric));
                row.extend(values.iter().map(|value| value as &dyn Display));
                table.row(&row);
            }
        }
    }
    table.text()
}

fn curves(view: &View<'_>) -> String {
    let mut table = Table::new([
        "task",
        "method",
        "round",
        "average_mean",
        "average_error",
        "best_mean",
        "best_error",
        "count",
    ]);
    for task in view.tasks() {
        for method in view.results.methods() {
            let average = view.results.curve(task, method, Curve::Average);
            let best = view.results.curve(task, method, Curve::Best);
            for (round, (average, best)) in average.iter().zip(&best).enumerate() {
                table.row(&[
                    &task.name(),
                    &method,
                    &round,
                    &average.mean,
                    &error(average),
                    &best.mean,
                    &error(best),
                    &average.count,
                ]);
            }
        }
    }
    table.text()
}

fn summary(view: &View<'_>) -> String {
    let mut table = Table::new(["task", "method", "metric", "mean", "error", "count"]);
    for task in view.tasks() {
        for method in view.results.methods() {
            for metric in Metric::ALL {
                if let Some(found) = view.results.estimate(task, method, metric) {
                    let (task, metric) = (task.name(), metric.name());
                    table.row(&[&task, &method, &metric, &found.mean, &error(&found), &found.count]);
                }
            }
        }
    }
    table.text()
}

fn beta(view: &View<'_>) -> String {
    let mut table = Table::new(["strategy", "task", "by", "beta", "score", "chosen"]);
    for strategy in WITH_WIDTH {
        let cases = view.tasks().iter().flat_map(|task| [(task, Curve::Average), (task, Curve::Best)]);
        for (task, by) in cases {
            let Some(validated) = view.results.validated(task, strategy, by) else { continue };
            let by = if by == Curve::Average { Metric::Average } else { Metric::Best }.name();
            for (beta, score) in &validated.scores {
                let chosen = *beta == validated.beta;
                table.row(&[&strategy.as_str(), &task.name(), &by, beta, score, &chosen]);
            }
        }
    }
    table.text()
}

fn paired(view: &View<'_>) -> String {
    let mut table =
        Table::new(["task", "other", "other_method", "metric", "mean", "error", "count", "verdict"]);
    if !has_default(view) {
        return table.text();
    }
    for (index, task) in view.tasks().iter().enumerate() {
        for rival in rivals(view) {
            for metric in Metric::ALL {
                let Some(found) = difference(view, rival, index, metric) else { continue };
                let method = rival.method(index, metric.curve()).unwrap_or_default();
                let Estimate { mean, count, .. } = &found.estimate;
                table.row(&[
                    &task.name(),
                    &rival.key,
                    &method,
                    &metric.name(),
                    mean,
                    &error(&found.estimate),
                    count,
                    &found.verdict.name(),
                ]);
            }
        }
    }
    table.text()
}
