//! Which figures a report has.

use crate::metrics::Curve;
use mcbo_core::StrategyName;

use super::figure::{Chart, Figure};
use super::panel::{self, Line, Panel};
use super::series::{Series, WITH_WIDTH, widths};
use super::timing;
use super::view::{Group, MOST_PANELS, View};

/// The figures of one section: those that everyone should see, and the single tasks behind an average.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) figures: Vec<Figure>,
    pub(crate) details: Vec<Figure>,
}

/// The figures of a report by section.
pub(crate) struct Figures {
    pub(crate) average: Section,
    pub(crate) best: Section,
    pub(crate) widths: Vec<(StrategyName, Section)>,
    pub(crate) seconds: Section,
}

impl Figures {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Figure> {
        let sections = [&self.average, &self.best, &self.seconds];
        let sections = sections.into_iter().chain(self.widths.iter().map(|(_, section)| section));
        sections.flat_map(|section| section.figures.iter().chain(&section.details))
    }
}

/// Draws them all.
pub(crate) fn all(view: &View<'_>) -> Figures {
    let drawn = view.drawn();
    let of_width = |strategy: StrategyName| {
        let series = widths(view.results, strategy);
        // One width alone is no comparison.
        let section = if series.len() < 2 { Section::default() } else { ablation(view, strategy, &series) };
        (strategy, section)
    };
    let seconds = timing::chart(view).map(|(chart, series)| Figure {
        name: "seconds".into(),
        title: "Seconds per suggestion".into(),
        charts: vec![chart],
        series,
    });
    Figures {
        average: curves(view, &drawn, Curve::Average, "average-reward", "Average reward"),
        best: curves(view, &drawn, Curve::Best, "best-reward", "Best reward"),
        widths: WITH_WIDTH.into_iter().map(of_width).collect(),
        seconds: Section { figures: seconds.into_iter().collect(), details: Vec::new() },
    }
}

fn ablation(view: &View<'_>, strategy: StrategyName, series: &[Series]) -> Section {
    let name = format!("beta-{}", strategy.as_str());
    let title = format!("Average reward of {} by β", strategy.as_str().to_uppercase());
    curves(view, series, Curve::Average, &name, &title)
}

/// Curves of all tasks; of many tasks also their averages by kind.
fn curves(view: &View<'_>, series: &[Series], curve: Curve, name: &str, title: &str) -> Section {
    let mut section = Section::default();
    for group in &view.main {
        section.figures.extend(one_by_one(view, series, curve, group, name, title));
    }
    if !view.kinds.is_empty() {
        let panels = view.kinds.iter().map(|group| averaged(view, series, curve, group)).collect();
        let title = format!("{title}, random tasks by kind");
        section.figures.extend(figure(format!("{name}-random"), title, panels, series));
    }
    for group in &view.kinds {
        section.details.extend(one_by_one(view, series, curve, group, name, title));
    }
    section
}

/// A panel per task, in as many figures as it takes.
fn one_by_one(
    view: &View<'_>,
    series: &[Series],
    curve: Curve,
    group: &Group,
    name: &str,
    title: &str,
) -> Vec<Figure> {
    let parts = group.tasks.chunks(MOST_PANELS).enumerate();
    let part = |(place, tasks): (usize, &[usize])| {
        let number = if place == 0 { String::new() } else { format!("-{}", place + 1) };
        let (key, title) = match group.key.as_str() {
            "all" => (String::new(), title.to_owned()),
            key => (format!("-{key}"), format!("{title}, {}", group.title)),
        };
        let panels = tasks.iter().map(|&task| single(view, series, curve, task)).collect();
        figure(format!("{name}{key}{number}"), title, panels, series)
    };
    parts.filter_map(part).collect()
}

fn single(view: &View<'_>, series: &[Series], curve: Curve, task: usize) -> Panel {
    Panel {
        title: view.tasks()[task].name().to_owned(),
        axis: axis(curve),
        optimum: Some(view.optimum(task)),
        lines: lines(series, |series| view.curve(series, task, curve)),
    }
}

fn averaged(view: &View<'_>, series: &[Series], curve: Curve, group: &Group) -> Panel {
    Panel {
        title: format!("{}, mean of {}", group.title, super::numbers::counted(group.tasks.len(), "task")),
        axis: axis(curve),
        // Random tasks are on a scale where the optimum is 1.
        optimum: Some(1.0),
        lines: lines(series, |series| view.group_curve(series, group, curve)),
    }
}

fn axis(curve: Curve) -> &'static str {
    match curve {
        Curve::Average => "average reward",
        Curve::Best => "best reward",
    }
}

fn lines(series: &[Series], values: impl Fn(&Series) -> Vec<crate::metrics::Estimate>) -> Vec<Line> {
    let line =
        |series: &Series| Line { label: series.label.clone(), style: series.style, values: values(series) };
    series.iter().map(line).filter(|line| !line.values.is_empty()).collect()
}

/// A figure of the panels that show anything, with those in the legend that are in a panel.
fn figure(name: String, title: String, panels: Vec<Panel>, series: &[Series]) -> Option<Figure> {
    let panels: Vec<Panel> = panels.into_iter().filter(|panel| !panel.lines.is_empty()).collect();
    let drawn = |series: &&Series| {
        panels.iter().flat_map(|panel| &panel.lines).any(|line| line.label == series.label)
    };
    let series = series.iter().filter(drawn).cloned().collect();
    let chart = |panel: &Panel| Chart { width: panel::WIDTH, height: panel::HEIGHT, body: panel.draw() };
    let charts: Vec<Chart> = panels.iter().map(chart).collect();
    (!charts.is_empty()).then_some(Figure { name, title, charts, series })
}
