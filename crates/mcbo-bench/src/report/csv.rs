//! Tables for other programs. Numbers are in full; an error that is not known is empty.

use std::fmt::Write;

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

/// A field, in quotes where it has to be (RFC 4180).
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Mean, error and count as three fields.
fn fields(estimate: &Estimate) -> String {
    let Estimate { mean, error, count } = estimate;
    if *count < 2 { format!("{mean},,{count}") } else { format!("{mean},{error},{count}") }
}

/// Writing to a string cannot fail.
fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
    out.push('\n');
}

fn runs(view: &View<'_>) -> String {
    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    let mut out = format!("task,method,strategy,beta,seed,rounds,{}\n", names.join(","));
    for task in view.tasks() {
        for method in view.results.methods() {
            let beta = method.parse::<Method>().ok().and_then(|method| method.beta());
            let beta = beta.map_or_else(String::new, |beta| beta.to_string());
            for run in view.results.runs(task, method) {
                let values = Metric::ALL.map(|metric| view.results.value(task, run, metric).to_string());
                line(
                    &mut out,
                    format_args!(
                        "{},{},{},{beta},{},{},{}",
                        field(task.name()),
                        field(method),
                        field(&run.strategy),
                        run.seed,
                        run.rounds.len(),
                        values.join(",")
                    ),
                );
            }
        }
    }
    out
}

fn curves(view: &View<'_>) -> String {
    let mut out = String::from("task,method,round,average_mean,average_error,best_mean,best_error,count\n");
    for task in view.tasks() {
        for method in view.results.methods() {
            let average = view.results.curve(task, method, Curve::Average);
            let best = view.results.curve(task, method, Curve::Best);
            for (round, (average, best)) in average.iter().zip(&best).enumerate() {
                let error = |estimate: &Estimate| {
                    if estimate.count < 2 { String::new() } else { estimate.error.to_string() }
                };
                let Estimate { mean, count, .. } = average;
                line(
                    &mut out,
                    format_args!(
                        "{},{},{round},{mean},{},{},{},{count}",
                        field(task.name()),
                        field(method),
                        error(average),
                        best.mean,
                        error(best)
                    ),
                );
            }
        }
    }
    out
}

fn summary(view: &View<'_>) -> String {
    let mut out = String::from("task,method,metric,mean,error,count\n");
    for task in view.tasks() {
        for method in view.results.methods() {
            for metric in Metric::ALL {
                if let Some(estimate) = view.results.estimate(task, method, metric) {
                    let (task, method) = (field(task.name()), field(method));
                    line(&mut out, format_args!("{task},{method},{},{}", metric.name(), fields(&estimate)));
                }
            }
        }
    }
    out
}

fn beta(view: &View<'_>) -> String {
    let mut out = String::from("strategy,task,by,beta,score,chosen\n");
    for strategy in WITH_WIDTH {
        let cases = view.tasks().iter().flat_map(|task| [(task, Curve::Average), (task, Curve::Best)]);
        for (task, by) in cases {
            let Some(validated) = view.results.validated(task, strategy, by) else { continue };
            let by = if by == Curve::Average { Metric::Average } else { Metric::Best }.name();
            for (beta, score) in &validated.scores {
                let chosen = *beta == validated.beta;
                let (strategy, task) = (strategy.as_str(), field(task.name()));
                line(&mut out, format_args!("{strategy},{task},{by},{beta},{score},{chosen}"));
            }
        }
    }
    out
}

fn paired(view: &View<'_>) -> String {
    let mut out = String::from("task,other,other_method,metric,mean,error,count,verdict\n");
    if !has_default(view) {
        return out;
    }
    for (task, of) in view.tasks().iter().enumerate() {
        for rival in rivals(view) {
            for metric in Metric::ALL {
                let Some(found) = difference(view, rival, task, metric) else { continue };
                line(
                    &mut out,
                    format_args!(
                        "{},{},{},{},{},{}",
                        field(of.name()),
                        field(&rival.key),
                        field(rival.method(task, metric.curve()).unwrap_or_default()),
                        metric.name(),
                        fields(&found.estimate),
                        found.verdict.name()
                    ),
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn odd_fields_are_quoted() {
        assert_eq!(super::field("a b"), "a b");
        assert_eq!(super::field("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
    }
}
