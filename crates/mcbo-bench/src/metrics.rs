//! From runs to figures: means over seeds, differences seed by seed, and the width that cross-validation chooses.

use std::collections::BTreeMap;

use crate::error::BenchError;
use crate::method::Method;
use crate::protocol::RunResult;
use crate::task::Task;
use mcbo_core::{Preset, StrategyName};

/// A mean with its standard error, `s/√n`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean; 0 for a single value.
    pub error: f64,
    /// How many values there are.
    pub count: usize,
}

impl Estimate {
    /// Of some values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = if count > 1 { (spread / (count - 1) as f64 / count as f64).sqrt() } else { 0.0 };
        Some(Self { mean, error, count })
    }
}

/// A number that a run is judged by. Rewards and regrets are in the task's units, or, for random tasks, in units where 0
/// is the mean of random interventions and 1 the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The mean of `E[Y]` over the initial design and all rounds: the paper's average reward.
    Average,
    /// The mean of `E[Y]` over the rounds alone.
    Chosen,
    /// The highest `E[Y]`: the paper's best reward.
    Best,
    /// The sum over the rounds of what each fell short of the optimum.
    CumulativeRegret,
    /// What the best choice fell short of the optimum.
    SimpleRegret,
    /// What the intervention that is recommended in the end falls short of the optimum.
    RecommendedRegret,
    /// Seconds per suggestion, the mean over the rounds.
    Seconds,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Average,
        Self::Chosen,
        Self::Best,
        Self::CumulativeRegret,
        Self::SimpleRegret,
        Self::RecommendedRegret,
        Self::Seconds,
    ];

    /// The name of a column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Average => "average_reward",
            Self::Chosen => "average_reward_rounds",
            Self::Best => "best_reward",
            Self::CumulativeRegret => "cumulative_regret",
            Self::SimpleRegret => "simple_regret",
            Self::RecommendedRegret => "recommended_regret",
            Self::Seconds => "seconds_per_suggestion",
        }
    }

    /// What the width of a confidence band is chosen by where this counts.
    pub fn curve(self) -> Curve {
        match self {
            Self::Best | Self::SimpleRegret => Curve::Best,
            _ => Curve::Average,
        }
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Average | Self::Chosen | Self::Best)
    }

    fn of(self, task: &Task, run: &RunResult) -> f64 {
        let optimum = task.reported(task.optimum());
        match self {
            Self::Average => task.reported(run.average_reward()),
            Self::Chosen => task.reported(run.chosen_average()),
            Self::Best => task.reported(run.best_reward()),
            Self::CumulativeRegret => {
                run.rounds.iter().map(|round| optimum - task.reported(round.expected_reward)).sum()
            }
            Self::SimpleRegret => optimum - task.reported(run.best_reward()),
            Self::RecommendedRegret => optimum - task.reported(run.recommended.expected_reward),
            Self::Seconds => {
                let total: f64 = run.rounds.iter().map(|round| round.suggest_seconds).sum();
                total / run.rounds.len().max(1) as f64
            }
        }
    }
}

/// What is drawn over the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// The average reward so far.
    Average,
    /// The best reward so far.
    Best,
}

/// How cross-validation chose a width for a task.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Validated {
    /// The width chosen.
    pub beta: f64,
    /// Every width with its score: the average or best reward on all other tasks, on a scale where 0 is the average of the
    /// initial design and 1 the optimum.
    pub scores: Vec<(f64, f64)>,
}

/// The runs of a comparison.
#[derive(Debug)]
pub struct Results {
    tasks: Vec<Task>,
    methods: Vec<String>,
    cells: BTreeMap<(String, String), Vec<RunResult>>,
}

impl Results {
    /// Sorts runs by task and method: tasks in the order of the paper, then random ones; methods in the order of
    /// [`StrategyName`], then strategies of one's own.
    ///
    /// # Errors
    /// If a run is of a task that does not exist.
    pub fn new(runs: Vec<RunResult>) -> Result<Self, BenchError> {
        Self::with(runs, Task::named)
    }

    /// The same for tasks that `find` knows by name.
    ///
    /// # Errors
    /// If it does not know one.
    pub fn with<E>(runs: Vec<RunResult>, find: impl Fn(&str) -> Result<Task, E>) -> Result<Self, E> {
        let mut cells: BTreeMap<(String, String), Vec<RunResult>> = BTreeMap::new();
        for run in runs {
            cells.entry((run.task.clone(), run.method.clone())).or_default().push(run);
        }
        cells.values_mut().for_each(|runs| runs.sort_by_key(|run| run.seed));
        let mut tasks: Vec<String> = cells.keys().map(|(task, _)| task.clone()).collect();
        tasks.sort_by_key(|task| task_order(task));
        tasks.dedup();
        let mut methods: Vec<String> = cells.keys().map(|(_, method)| method.clone()).collect();
        methods.sort_by(|a, b| method_order(a).partial_cmp(&method_order(b)).expect("widths are finite"));
        methods.dedup();
        let tasks = tasks.iter().map(|task| find(task)).collect::<Result<_, _>>()?;
        Ok(Self { tasks, methods, cells })
    }

    /// The tasks.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The methods that some task was run with.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// The runs of a method on a task, by seed; none if there is none.
    pub fn runs(&self, task: &Task, method: &str) -> &[RunResult] {
        self.cells.get(&(task.name().to_owned(), method.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// All runs.
    pub fn all(&self) -> impl Iterator<Item = &RunResult> {
        self.cells.values().flatten()
    }

    /// A figure of a run.
    pub fn value(&self, task: &Task, run: &RunResult, metric: Metric) -> f64 {
        metric.of(task, run)
    }

    /// A figure over the seeds; `None` where there is no run.
    pub fn estimate(&self, task: &Task, method: &str, metric: Metric) -> Option<Estimate> {
        Estimate::of(self.runs(task, method).iter().map(|run| metric.of(task, run)))
    }

    /// A figure of one method minus that of another, seed by seed, over the seeds that both have.
    pub fn paired(&self, task: &Task, method: &str, other: &str, metric: Metric) -> Option<Estimate> {
        let others = self.runs(task, other);
        Estimate::of(self.runs(task, method).iter().filter_map(|run| {
            let partner = others.iter().find(|other| other.seed == run.seed)?;
            Some(metric.of(task, run) - metric.of(task, partner))
        }))
    }

    /// A curve over rounds 0 (the initial design) to the last that all seeds have.
    pub fn curve(&self, task: &Task, method: &str, curve: Curve) -> Vec<Estimate> {
        let runs = self.runs(task, method);
        let rounds = runs.iter().map(|run| run.rounds.len()).min().unwrap_or(0);
        let at = |run: &RunResult, round: usize| {
            let reward = match (curve, round.checked_sub(1).map(|k| &run.rounds[k])) {
                (Curve::Average, Some(round)) => round.average_reward,
                (Curve::Average, None) => run.initial_average(),
                (Curve::Best, Some(round)) => round.best_reward,
                (Curve::Best, None) => run.initial_best(),
            };
            task.reported(reward)
        };
        (0..=rounds).filter_map(|round| Estimate::of(runs.iter().map(|run| at(run, round)))).collect()
    }

    /// The method's average or best reward on a scale where 0 is the average of the initial design and 1 the optimum.
    pub fn share(&self, task: &Task, method: &str, by: Curve) -> Option<f64> {
        let runs = self.runs(task, method);
        let reward = match by {
            Curve::Average => RunResult::average_reward,
            Curve::Best => RunResult::best_reward,
        };
        let average = Estimate::of(runs.iter().map(reward))?.mean;
        let initial = Estimate::of(runs.iter().map(RunResult::initial_average))?.mean;
        Some((average - initial) / (task.optimum() - initial))
    }

    /// The width for a task that does best on average over all *other* tasks, as in the paper, which chooses one for
    /// average rewards and one for best rewards; `None` if there is one task only, or no run of the strategy with the
    /// paper's settings and a fixed width.
    pub fn validated(&self, task: &Task, strategy: StrategyName, by: Curve) -> Option<Validated> {
        let mut scores = Vec::new();
        for method in self.methods.iter().filter_map(|name| name.parse::<Method>().ok()) {
            let (true, Preset::Paper, Some(beta)) =
                (method.strategy() == strategy, method.preset(), method.beta())
            else {
                continue;
            };
            let others = self.tasks.iter().filter(|other| other.name() != task.name());
            let shares = others.filter_map(|other| self.share(other, &method.to_string(), by));
            if let Some(score) = Estimate::of(shares) {
                scores.push((beta, score.mean));
            }
        }
        let beta = scores.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })?.0;
        Some(Validated { beta, scores })
    }

    /// The name of the method that cross-validation chose for a task, with the paper's settings.
    pub fn validated_method(&self, task: &Task, strategy: StrategyName, by: Curve) -> Option<String> {
        let beta = self.validated(task, strategy, by)?.beta;
        Some(Method::new(strategy, Preset::Paper, Some(beta)).to_string())
    }
}

/// The paper's tasks in its order, then others by name and number.
fn task_order(name: &str) -> (usize, String, u64) {
    let place = Task::names().position(|other| other == name).unwrap_or(usize::MAX);
    let (stem, number) = name.rsplit_once('-').unwrap_or((name, ""));
    (place, stem.to_owned(), number.parse().unwrap_or(0))
}

fn method_order(name: &str) -> (usize, Preset, f64, &str) {
    match name.parse::<Method>() {
        Ok(method) => (method.place(), method.preset(), method.beta().unwrap_or(-1.0), name),
        Err(_) => (usize::MAX, Preset::Default, 0.0, name),
    }
}
