//! The tasks of the paper, and runs on them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcbo_bench::{EXTRA_TASKS, Entrant, Feedback, Method, RunResult, applies, run_told};
use mcbo_core::{Context, Intervention, Proposal, Strategy, SuggestError};
use mcbo_store::StrategyOptions;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::convert::{intervention, observed, parts};
use crate::errors::{Fault, data_error};
use crate::problem::Problem;
use crate::strategy::{PyStrategy, Tables, settings, tables};
use crate::threads::{alone, interruptible};

/// More rounds than anyone runs.
const MOST: usize = 100_000;

/// Something to optimise whose answer is known.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Task {
    inner: Arc<mcbo_bench::Task>,
}

/// Who takes part: a method by name, or a strategy of the user's own.
enum Taker {
    Method(Method),
    Own(Arc<PyStrategy>),
}

/// A strategy that gives up once its run is to stop.
struct Stoppable<'a> {
    strategy: &'a dyn Strategy,
    stop: &'a AtomicBool,
}

impl Strategy for Stoppable<'_> {
    fn name(&self) -> &str {
        self.strategy.name()
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(SuggestError::Own { name: self.name().to_owned(), reason: "interrupted".into() });
        }
        self.strategy.suggest(context, rng)
    }

    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        self.strategy.recommended(context, rng)
    }
}

fn taker(strategy: &Bound<'_, PyAny>, preset: Option<&str>, beta: Option<f64>) -> PyResult<Taker> {
    let Ok(name) = strategy.extract::<String>() else {
        return Ok(Taker::Own(Arc::new(PyStrategy::new(strategy)?)));
    };
    if preset.is_none() && beta.is_none() {
        return Ok(Taker::Method(name.parse().map_err(Fault::Bench)?));
    }
    let preset = preset.unwrap_or("default").to_owned();
    let options = StrategyOptions { strategy: name.clone(), preset, beta, aim: None };
    let found =
        settings(&options).map_err(|reason| Fault::Strategy(format!("strategy {name:?}: {reason}")))?;
    Ok(Taker::Method(found.into()))
}

#[pymethods]
impl Task {
    /// A task by name; with a problem a task of one's own.
    #[new]
    #[pyo3(signature = (name, problem=None))]
    fn new(py: Python<'_>, name: String, problem: Option<&Problem>) -> PyResult<Self> {
        let inner = alone(py, || match problem {
            Some(problem) => Ok(mcbo_bench::Task::own(&name, (*problem.inner).clone())?),
            None => Ok(mcbo_bench::Task::named(&name)?),
        })?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The names of the paper's tasks and of those of other kinds, and of random models beside them.
    #[staticmethod]
    fn names() -> (Vec<&'static str>, Vec<&'static str>) {
        let paper = mcbo_bench::Task::names().chain(mcbo_bench::Task::kinds());
        (paper.collect(), EXTRA_TASKS.to_vec())
    }

    /// The problem, as a strategy sees it.
    #[getter]
    fn problem(&self) -> Problem {
        Problem::without_text(self.inner.problem().clone())
    }

    /// How expected rewards are computed: `exact`, `quadrature` or `samples`.
    #[getter]
    fn method(&self) -> &'static str {
        self.inner.method()
    }

    /// The highest expected reward, and whether it is known rather than found.
    fn optimum(&self, py: Python<'_>) -> PyResult<(f64, bool)> {
        let optimum = alone(py, || Ok(self.inner.optimum()))?;
        Ok((optimum, self.inner.optimum_is_known()))
    }

    /// `E[Y]` of an intervention, in the direction of improvement.
    fn expected_reward(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let chosen = intervention(self.inner.problem(), actions, targets)?;
        alone(py, || Ok(self.inner.expected_reward(&chosen)))
    }

    /// One experiment.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        seed: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let chosen = intervention(self.inner.problem(), actions, targets)?;
        let values = self.inner.sample(&chosen, &mut ChaCha8Rng::seed_from_u64(seed));
        observed(py, self.inner.problem(), &values.into_iter().map(Some).collect::<Vec<_>>())
    }

    /// The rows that every strategy starts from, as arrays: actions, set values, measured values.
    fn initial_design<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Tables<'py>> {
        let problem = self.inner.problem();
        let data = alone(py, || {
            let mut data = mcbo_core::Data::new();
            for observation in self.inner.initial_design(seed) {
                data.push(problem, observation)?;
            }
            Ok(data)
        })?;
        Ok(tables(py, problem, &data))
    }

    /// Whether a method can do anything on this task.
    fn applies(&self, strategy: &str) -> bool {
        applies(strategy, self.inner.problem())
    }

    /// One run: the initial design, then as many rounds; it ends early once the event `stop` is set.
    #[pyo3(signature = (strategy, seed, rounds, preset=None, beta=None, stop=None))]
    #[allow(clippy::too_many_arguments)]
    fn run<'py>(
        &self,
        py: Python<'py>,
        strategy: &Bound<'py, PyAny>,
        seed: u64,
        rounds: usize,
        preset: Option<&str>,
        beta: Option<f64>,
        stop: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        if rounds > MOST {
            return Err(data_error(format!("{rounds} rounds are too many; hint: {MOST} at most")));
        }
        let taker = taker(strategy, preset, beta)?;
        if let Taker::Method(method) = &taker
            && !applies(&method.to_string(), self.inner.problem())
        {
            let (method, task) = (method.to_string(), self.inner.name());
            let reason = format!(
                "strategy {method:?} needs nodes that can be set and no actions, which {task} does not offer"
            );
            return Err(Fault::Strategy(reason).into());
        }
        let done = interruptible(py, stop.as_ref(), |stop| self.play(&taker, seed, rounds, stop));
        let result = match &taker {
            Taker::Own(own) => done.map_err(|error| own.raised().unwrap_or(error))?,
            Taker::Method(_) => done?,
        };
        run_dict(py, self.inner.problem(), &result)
    }
}

impl Task {
    fn play(&self, taker: &Taker, seed: u64, rounds: usize, stop: &AtomicBool) -> Result<RunResult, Fault> {
        let task = &*self.inner;
        match taker {
            Taker::Method(method) => {
                let entrant = Entrant::from(*method);
                let strategy = Stoppable { strategy: &*entrant.strategy, stop };
                let result = run_told(task, &strategy, entrant.feedback, seed, rounds)?;
                let strategy = method.strategy().as_str().to_owned();
                Ok(RunResult { method: entrant.name, strategy, ..result })
            }
            Taker::Own(own) => {
                let strategy = Stoppable { strategy: &**own, stop };
                Ok(run_told(task, &strategy, Feedback::Measured, seed, rounds)?)
            }
        }
    }
}

fn run_dict<'py>(
    py: Python<'py>,
    problem: &mcbo_core::Problem,
    result: &RunResult,
) -> PyResult<Bound<'py, PyDict>> {
    let rounds = PyList::empty(py);
    for round in &result.rounds {
        rounds.append((
            round.round,
            parts(py, problem, &round.intervention)?,
            round.expected_reward,
            round.average_reward,
            round.best_reward,
            round.beta,
            round.suggest_seconds,
        ))?;
    }
    let dict = PyDict::new(py);
    dict.set_item("task", &result.task)?;
    dict.set_item("method", &result.method)?;
    dict.set_item("strategy", &result.strategy)?;
    dict.set_item("seed", result.seed)?;
    dict.set_item("initial", result.initial.clone())?;
    dict.set_item("rounds", rounds)?;
    let recommended = &result.recommended;
    dict.set_item(
        "recommended",
        (parts(py, problem, &recommended.intervention)?, recommended.expected_reward),
    )?;
    Ok(dict)
}
