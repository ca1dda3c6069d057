//! The results arranged for a reader: who competes, and which tasks are shown together.

use crate::metrics::{Curve, Estimate, Metric, Results};
use crate::task::Task;

use super::series::{Field, Series};

/// More tasks than this are shown in groups.
pub(crate) const MOST_PANELS: usize = 12;

/// Tasks that are shown together.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// A name for files.
    pub(crate) key: String,
    pub(crate) title: String,
    /// Places among the results' tasks.
    pub(crate) tasks: Vec<usize>,
}

/// The results, arranged.
pub(crate) struct View<'a> {
    pub(crate) results: &'a Results,
    pub(crate) field: Field,
    /// The tasks that are shown one by one in the first place.
    pub(crate) main: Vec<Group>,
    /// Kinds of random tasks that are shown as averages, if there are too many tasks to show each.
    pub(crate) kinds: Vec<Group>,
}

impl<'a> View<'a> {
    pub(crate) fn new(results: &'a Results) -> Self {
        let (main, kinds) = groups(results.tasks());
        Self { results, field: Field::of(results), main, kinds }
    }

    pub(crate) fn tasks(&self) -> &'a [Task] {
        self.results.tasks()
    }

    /// Contestants that are drawn.
    pub(crate) fn drawn(&self) -> Vec<Series> {
        self.field.contestants.iter().filter(|series| !series.observes()).cloned().collect()
    }

    /// All rows of tables: contestants, then fixed widths.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Series> {
        self.field.contestants.iter().chain(&self.field.widths)
    }

    pub(crate) fn estimate(&self, series: &Series, task: usize, metric: Metric) -> Option<Estimate> {
        self.results.estimate(&self.tasks()[task], series.method(task, metric.curve())?, metric)
    }

    /// The mean over the tasks of a group, if the series has runs on all of them.
    ///
    /// The error is that of the seeds; the tasks are taken as they are.
    pub(crate) fn group_estimate(&self, series: &Series, group: &Group, metric: Metric) -> Option<Estimate> {
        let all: Option<Vec<Estimate>> =
            group.tasks.iter().map(|&task| self.estimate(series, task, metric)).collect();
        mean_of(&all?)
    }

    pub(crate) fn curve(&self, series: &Series, task: usize, curve: Curve) -> Vec<Estimate> {
        series
            .method(task, curve)
            .map_or_else(Vec::new, |method| self.results.curve(&self.tasks()[task], method, curve))
    }

    /// The mean of the curves over the tasks of a group; empty if one is missing.
    pub(crate) fn group_curve(&self, series: &Series, group: &Group, curve: Curve) -> Vec<Estimate> {
        let curves: Vec<Vec<Estimate>> =
            group.tasks.iter().map(|&task| self.curve(series, task, curve)).collect();
        let rounds = curves.iter().map(Vec::len).min().unwrap_or(0);
        (0..rounds)
            .filter_map(|round| mean_of(&curves.iter().map(|curve| curve[round]).collect::<Vec<_>>()))
            .collect()
    }

    /// The optimum as it is reported.
    pub(crate) fn optimum(&self, task: usize) -> f64 {
        let task = &self.tasks()[task];
        task.reported(task.optimum())
    }
}

/// The mean of independent estimates; it counts as many seeds as the one with the fewest.
fn mean_of(estimates: &[Estimate]) -> Option<Estimate> {
    let count = estimates.iter().map(|estimate| estimate.count).min()?;
    let n = estimates.len() as f64;
    let mean = estimates.iter().map(|estimate| estimate.mean).sum::<f64>() / n;
    let error = estimates.iter().map(|estimate| estimate.error.powi(2)).sum::<f64>().sqrt() / n;
    Some(Estimate { mean, error, count })
}

/// Tasks that are shown one by one, and kinds of random tasks that are averaged.
fn groups(tasks: &[Task]) -> (Vec<Group>, Vec<Group>) {
    if tasks.len() <= MOST_PANELS {
        let all = Group { key: "all".into(), title: "all tasks".into(), tasks: (0..tasks.len()).collect() };
        return (vec![all], Vec::new());
    }
    let (known, random): (Vec<usize>, Vec<usize>) =
        (0..tasks.len()).partition(|&task| !tasks[task].is_relative());
    let mut kinds: Vec<Group> = Vec::new();
    for task in random {
        let name = tasks[task].name();
        let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
        match kinds.iter_mut().find(|kind| kind.key == stem) {
            Some(kind) => kind.tasks.push(task),
            None => kinds.push(Group { key: stem.into(), title: stem.into(), tasks: vec![task] }),
        }
    }
    let main = if known.is_empty() {
        Vec::new()
    } else {
        vec![Group { key: "paper".into(), title: "the paper’s tasks".into(), tasks: known }]
    };
    (main, kinds)
}
