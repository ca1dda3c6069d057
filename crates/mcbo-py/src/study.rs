//! A study: ask, tell, and what came of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcbo_core::{Criterion, Data, Given};
use mcbo_store::{Entry, MemoryStudy, Options, Store, StoreError, StoredTrial, StrategyOptions};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::backend::{Backend, Guarded, open};
use crate::convert::{intervention, measured};
use crate::errors::{Fault, data_error};
use crate::model::{Model, Source};
use crate::problem::Problem;
use crate::strategy::{PyStrategy, StrategyRegistry, Tables, tables};
use crate::threads::{alone, together};
use crate::trial::trial_dict;
use crate::{best, convert, rows};

/// More trials than anyone asks for at once.
const MOST: usize = 10_000;

/// The settings of a study: strategy, preset, β, aim, seed, trials of the initial design.
type Settings = (String, String, Option<f64>, Option<String>, u64, usize);

/// Trials, those pending, complete, failed and voided, when the study began and changed last, and the number of its last event.
type Standing = (usize, usize, usize, usize, usize, i64, i64, i64);

/// A study, in memory or in a store.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Study {
    backend: Guarded<Backend>,
    address: Option<(String, String)>,
    strategies: StrategyRegistry,
    options: StrategyOptions,
    seed: u64,
    initial: usize,
}

/// A strategy as it is passed: a name, or an object of the user's own.
fn strategy(given: &Bound<'_, PyAny>) -> PyResult<(String, StrategyRegistry)> {
    if let Ok(name) = given.extract::<String>() {
        return Ok((name, StrategyRegistry { own: None }));
    }
    let own = PyStrategy::new(given)?;
    Ok((own.name().to_owned(), StrategyRegistry { own: Some(Arc::new(own)) }))
}

/// A worker that nobody else is.
fn somebody() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("python-{}-{:x}-{next}", std::process::id(), since.as_millis())
}

impl Study {
    /// Works with the study on all threads, or, where Python has a say in it, on this one.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Backend) -> Result<R, Fault> + Send,
    ) -> PyResult<R> {
        let work = || self.backend.with(|backend| work(self.here(backend)?));
        let done = match self.strategies.own {
            Some(_) => alone(py, work),
            None => together(py, work),
        };
        done.map_err(|error| self.strategies.own.as_ref().and_then(|own| own.raised()).unwrap_or(error))
    }

    /// The same without the threads, for what takes no time.
    fn quickly<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Backend) -> Result<R, Fault> + Send,
    ) -> PyResult<R> {
        alone(py, || self.backend.with(|backend| work(self.here(backend)?)))
    }

    /// The study as this process may use it: a connection that was opened before a fork is left alone.
    fn here<'b>(&self, backend: &'b mut Backend) -> Result<&'b mut Backend, Fault> {
        if let (Backend::Stored { process, .. }, Some((url, name))) = (&*backend, &self.address)
            && *process != std::process::id()
        {
            let study = open(url, name, self.strategies.clone())?;
            std::mem::forget(std::mem::replace(backend, Backend::stored(study)));
        }
        Ok(backend)
    }

    fn list<'py>(
        py: Python<'py>,
        problem: &mcbo_core::Problem,
        trials: &[StoredTrial],
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for trial in trials {
            list.append(trial_dict(py, problem, trial)?)?;
        }
        Ok(list)
    }
}

#[pymethods]
impl Study {
    /// A study that lasts as long as the object.
    #[staticmethod]
    #[pyo3(signature = (problem, strategy, preset, beta, aim, seed, initial))]
    #[allow(clippy::too_many_arguments)]
    fn in_memory(
        py: Python<'_>,
        problem: &str,
        #[pyo3(from_py_with = strategy)] strategy: (String, StrategyRegistry),
        preset: String,
        beta: Option<f64>,
        aim: Option<String>,
        seed: u64,
        initial: Option<usize>,
    ) -> PyResult<Self> {
        let (strategy, strategies) = strategy;
        let options = Options { strategy: StrategyOptions { strategy, preset, beta, aim }, seed, initial };
        let study = alone(py, || Ok(MemoryStudy::create(problem, &options, &strategies)?))?;
        Ok(Self::of_memory(study, options.strategy, strategies))
    }

    /// A study in memory from what happened to one.
    #[staticmethod]
    #[pyo3(signature = (entries, strategy))]
    fn restore(
        py: Python<'_>,
        entries: Vec<(i64, i64, String, String)>,
        strategy: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let own = strategy.map(|given| self::strategy(&given)).transpose()?;
        let strategies = own.map_or(StrategyRegistry { own: None }, |(_, strategies)| strategies);
        let entries: Vec<Entry> =
            entries.into_iter().map(|(seq, at, kind, payload)| Entry::new(seq, at, kind, payload)).collect();
        let (study, options) = alone(py, || {
            let study = MemoryStudy::of_entries(&entries, &strategies)?;
            // What a study is made with stands in its first event.
            let first = entries.first().and_then(|entry| serde_json::from_str(&entry.payload).ok());
            Ok((study, first.unwrap_or_default()))
        })?;
        Ok(Self::of_memory(study, options, strategies))
    }

    /// All that happened: place, time, kind and content of every event.
    fn entries(&self, py: Python<'_>) -> PyResult<Vec<(i64, i64, String, String)>> {
        let entries = self.quickly(py, Backend::entries)?;
        Ok(entries.into_iter().map(|entry| (entry.seq, entry.at, entry.kind, entry.payload)).collect())
    }

    /// A new study in a store, from the text of its problem; with `exist_ok` the one that is there.
    #[staticmethod]
    #[pyo3(signature = (url, name, problem, strategy, preset, beta, aim, seed, initial, exist_ok))]
    #[allow(clippy::too_many_arguments)]
    fn create(
        py: Python<'_>,
        url: String,
        name: String,
        problem: String,
        #[pyo3(from_py_with = strategy)] strategy: (String, StrategyRegistry),
        preset: String,
        beta: Option<f64>,
        aim: Option<String>,
        seed: u64,
        initial: Option<usize>,
        exist_ok: bool,
    ) -> PyResult<Self> {
        let (strategy, strategies) = strategy;
        let options = Options { strategy: StrategyOptions { strategy, preset, beta, aim }, seed, initial };
        let made = alone(py, || {
            let store = Store::open(&url)?.with_strategies(strategies.clone());
            match store.create(&name, &problem, &options) {
                Ok(_) => Ok(()),
                Err(StoreError::StudyExists { .. }) if exist_ok => Ok(()),
                Err(error) => Err(error.into()),
            }
        });
        made?;
        Self::open(py, url, name, strategies)
    }

    /// A study of a store.
    #[staticmethod]
    #[pyo3(name = "open", signature = (url, name, strategy))]
    fn open_named(
        py: Python<'_>,
        url: String,
        name: String,
        strategy: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let own = strategy.map(|given| self::strategy(&given)).transpose()?;
        Self::open(py, url, name, own.map_or(StrategyRegistry { own: None }, |(_, strategies)| strategies))
    }

    /// Strategy, preset, β, seed and the trials of the initial design.
    fn settings(&self) -> Settings {
        let StrategyOptions { strategy, preset, beta, aim } = self.options.clone();
        (strategy, preset, beta, aim, self.seed, self.initial)
    }

    /// The next trials; without a worker new ones, or those that nobody has.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        worker: Option<String>,
        given: &Bound<'py, PyAny>,
        fixed: (Bound<'py, PyAny>, Bound<'py, PyAny>),
        lease: Option<f64>,
    ) -> PyResult<Bound<'py, PyList>> {
        if count > MOST {
            return Err(data_error(format!("{count} trials are too many at once; hint: {MOST} at most")));
        }
        let worker = worker.unwrap_or_else(somebody);
        let problem = self.quickly(py, Backend::problem)?;
        let (given, lease) = (convert::given(&problem, given)?, lease_of(lease)?);
        let fixed = convert::fixed(&problem, &fixed.0, &fixed.1)?;
        let (problem, trials) = self.with(py, |backend| {
            let trials = backend.ask(&worker, count, &given, &fixed, lease)?;
            Ok((backend.problem()?, trials))
        })?;
        Self::list(py, &problem, &trials)
    }

    /// Takes what a trial gave.
    fn tell(
        &self,
        py: Python<'_>,
        number: usize,
        values: &Bound<'_, PyAny>,
        worker: Option<String>,
    ) -> PyResult<()> {
        let problem = self.quickly(py, |backend| backend.problem())?;
        let values = measured(&problem, "the values", values)?;
        self.quickly(py, |backend| backend.tell(number, &values, worker.as_deref()))
    }

    /// Puts values of a trial right.
    fn correct(
        &self,
        py: Python<'_>,
        number: usize,
        values: &Bound<'_, PyAny>,
        reason: &str,
    ) -> PyResult<()> {
        let problem = self.quickly(py, |backend| backend.problem())?;
        let values = measured(&problem, "the values", values)?;
        self.quickly(py, |backend| backend.correct(number, &values, reason))
    }

    /// Takes trials out, or puts them back; which of them that is new of.
    fn void(&self, py: Python<'_>, numbers: Vec<usize>, reason: &str, undo: bool) -> PyResult<Vec<usize>> {
        self.quickly(py, |backend| backend.void(&numbers, reason, undo))
    }

    /// Leaves trials to the worker that has them for longer; which of them it still has.
    fn keep(
        &self,
        py: Python<'_>,
        numbers: Vec<usize>,
        worker: &str,
        lease: Option<f64>,
    ) -> PyResult<Vec<usize>> {
        let lease = lease_of(lease)?;
        self.quickly(py, |backend| backend.keep(worker, &numbers, lease))
    }

    /// Gives trials back that are under way; which of them that is new of.
    fn release(
        &self,
        py: Python<'_>,
        numbers: Vec<usize>,
        worker: Option<String>,
        reason: &str,
        lost: bool,
    ) -> PyResult<Vec<usize>> {
        self.quickly(py, |backend| backend.release(&numbers, worker.as_deref(), reason, lost))
    }

    /// Trials under way, with who has them.
    fn pending(&self, py: Python<'_>) -> PyResult<Vec<(usize, Option<String>)>> {
        self.quickly(py, Backend::pending)
    }

    /// Writes a JSON object beside a trial, or beside the study.
    fn write_beside(&self, py: Python<'_>, number: Option<usize>, attributes: &str) -> PyResult<()> {
        let attributes = convert::from_json(attributes)?;
        self.quickly(py, |backend| backend.write_beside(number, &attributes))
    }

    /// What is written beside the study, as JSON.
    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        convert::json(&self.quickly(py, Backend::attributes)?)
    }

    /// The text of the problem it was made with; `None` in memory.
    fn first_problem(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.quickly(py, |backend| match backend {
            Backend::Stored { study, .. } => Ok(Some(study.first_problem_toml()?)),
            Backend::Memory(_) => Ok(None),
        })
    }

    /// Marks a trial as one that could not be run.
    fn fail(&self, py: Python<'_>, number: usize, reason: &str) -> PyResult<()> {
        self.quickly(py, |backend| backend.fail(number, reason))
    }

    /// Adds rows by names: actions, set nodes, measured nodes.
    fn add_rows(
        &self,
        py: Python<'_>,
        rows: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    ) -> PyResult<()> {
        let problem = self.quickly(py, Backend::problem)?;
        let row = |(actions, targets, values): &_| rows::row(&problem, actions, targets, values);
        let rows = rows.iter().map(row).collect::<PyResult<Vec<_>>>()?;
        self.quickly(py, |backend| backend.add(&rows))
    }

    /// Adds the rows of a table; NaN where there is nothing.
    fn add_table(
        &self,
        py: Python<'_>,
        columns: Vec<String>,
        array: PyReadonlyArray2<'_, f64>,
        neutral: bool,
    ) -> PyResult<()> {
        let problem = self.quickly(py, Backend::problem)?;
        let rows = rows::table(&problem, &columns, array.as_array(), neutral)?;
        self.quickly(py, |backend| backend.add(&rows))
    }

    /// Puts a trial of the caller's own choice under way.
    fn enqueue<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        worker: Option<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let problem = self.quickly(py, Backend::problem)?;
        let chosen = intervention(&problem, actions, targets)?;
        let trial = self.quickly(py, |backend| backend.enqueue(worker.as_deref(), chosen))?;
        trial_dict(py, &problem, &trial)
    }

    /// One trial.
    fn trial<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let (problem, trial) =
            self.quickly(py, |backend| Ok((backend.problem()?, backend.trial(number)?)))?;
        trial_dict(py, &problem, &trial)
    }

    /// All trials.
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (problem, trials) = self.quickly(py, |backend| Ok((backend.problem()?, backend.trials()?)))?;
        Self::list(py, &problem, &trials)
    }

    /// Trials, those pending, complete, failed and voided, when the study began and changed last, and the number of its last event.
    fn counts(&self, py: Python<'_>) -> PyResult<Standing> {
        let counts = self.quickly(py, Backend::counts)?;
        let crate::backend::Counts { trials, pending, complete, failed, voided, created, changed, version } =
            counts;
        Ok((trials, pending, complete, failed, voided, created, changed, version))
    }

    /// The problem in force, without its text.
    fn problem(&self, py: Python<'_>) -> PyResult<Problem> {
        let text = self.quickly(py, |backend| match backend {
            Backend::Stored { study, .. } => Ok(Some(study.problem_toml()?)),
            Backend::Memory(_) => Ok(None),
        })?;
        Ok(Problem { inner: self.quickly(py, Backend::problem)?, text })
    }

    /// What was measured, as arrays.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Tables<'py>> {
        let (problem, data): (_, Data) = self.quickly(py, |backend| {
            let study = backend.study()?;
            Ok((study.problem().clone(), study.data().clone()))
        })?;
        Ok(tables(py, &problem, &data))
    }

    /// What to settle for in each of these contexts, with bounds; with a width also how much better any other could still be.
    fn best<'py>(
        &self,
        py: Python<'py>,
        by: &str,
        width: Option<f64>,
        contexts: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let criterion = best::criterion(by)?;
        if let Some(width) = width.filter(|width| !width.is_finite() || *width < 0.0) {
            return Err(data_error(format!("the width is {width}; hint: a finite number, at least 0")));
        }
        let study = self.quickly(py, Backend::study)?;
        let read = |given| convert::given(study.problem(), given);
        let contexts = contexts.iter().map(read).collect::<PyResult<Vec<Given>>>()?;
        let best = together(py, || best::find(&study, criterion, width, &contexts))?;
        best.iter().map(|best| best::dict(py, &study, best)).collect()
    }

    /// Goes on with another problem, from its text.
    fn change_problem(&self, py: Python<'_>, problem: String) -> PyResult<()> {
        self.with(py, |backend| backend.change_problem(&problem))
    }

    /// Pictures: names, titles and SVG. With the model all of them, without it those that need none.
    fn pictures(&self, py: Python<'_>, model: bool) -> PyResult<Vec<(String, String, String)>> {
        let study = self.quickly(py, Backend::study)?;
        let pictures = together(py, || {
            let recommendation = if model { Some(study.recommend()?) } else { None };
            Ok(mcbo_plot::pictures(&study, recommendation.as_ref()))
        })?;
        Ok(pictures.into_iter().map(|picture| (picture.name, picture.title, picture.svg)).collect())
    }

    /// What the trials have cost that were made; `None` if nothing is said about costs.
    fn spent(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let study = self.quickly(py, Backend::study)?;
        Ok(study.problem().has_costs().then(|| study.spent()))
    }

    /// The number of the trial with the best measured reward.
    fn best_trial(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        let study = self.quickly(py, Backend::study)?;
        Ok(study.best_trial().map(|(trial, _)| trial.number))
    }

    /// The model that was fitted to what was measured, of trials in which this is given.
    fn model(&self, py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Model> {
        let study = self.quickly(py, Backend::study)?;
        let given = convert::given(study.problem(), given)?;
        let found = together(py, || Ok(study.recommend_given(Criterion::Mean, &given)?))?;
        let problem = study.problem().clone();
        Ok(Model { problem, source: Source::Study(Box::new((found, study))), given })
    }
}

/// A lease in seconds.
pub fn lease_of(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = |seconds: f64| data_error(format!("the lease is {seconds}; hint: seconds, more than 0"));
    let read = |seconds: f64| match Duration::try_from_secs_f64(seconds) {
        Ok(lease) if !lease.is_zero() => Ok(lease),
        _ => Err(wrong(seconds)),
    };
    seconds.map(read).transpose()
}

impl Study {
    fn of_memory(study: MemoryStudy, options: StrategyOptions, strategies: StrategyRegistry) -> Self {
        let (seed, initial) = (study.study().seed(), study.study().initial_trials());
        let backend = Guarded::new(Backend::Memory(Box::new(study)));
        Self { backend, address: None, strategies, options, seed, initial }
    }

    fn open(py: Python<'_>, url: String, name: String, strategies: StrategyRegistry) -> PyResult<Self> {
        let (study, (options, seed, initial)) = alone(py, || {
            let mut study = open(&url, &name, strategies.clone())?;
            let settings = Backend::settings(&mut study)?;
            Ok((study, settings))
        })?;
        let backend = Guarded::new(Backend::stored(study));
        Ok(Self { backend, address: Some((url, name)), strategies, options, seed, initial })
    }
}
