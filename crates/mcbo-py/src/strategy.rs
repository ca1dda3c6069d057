//! Strategies by name, and strategies written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use mcbo_core::{
    Context, Data, Intervention, OptionsError, Origin, Proposal, Strategy, StrategyName, StrategySettings,
    SuggestError, Suggestion, check_intervention,
};
use mcbo_store::{Strategies, StrategyOptions};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use rand::{Rng, RngExt};

use crate::convert::{intervention, known, parts};
use crate::errors::Fault;
use crate::model::Fit;
use crate::problem::Problem;

/// A strategy of the library with its settings.
pub fn settings(options: &StrategyOptions) -> Result<StrategySettings, String> {
    StrategySettings::try_from(options).map_err(|error| match error {
        OptionsError::UnknownStrategy { .. } => {
            format!("{error}; one of your own is passed as an object: strategy=...")
        }
        _ => error.to_string(),
    })
}

/// A strategy written in Python: an object with `name` and `suggest(context)`.
pub struct PyStrategy {
    name: String,
    object: Py<PyAny>,
    /// What it raised last.
    raised: Mutex<Option<PyErr>>,
}

impl PyStrategy {
    /// Takes an object that has what a strategy needs.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = object.getattr("name").and_then(|name| name.extract::<String>());
        let Ok(name) = name else {
            let text = "a strategy needs a `name`, a text, and a method `suggest(context)`".to_owned();
            return Err(Fault::Strategy(text).into());
        };
        let callable = object.getattr("suggest").is_ok_and(|suggest| suggest.is_callable());
        let taken = StrategyName::ALL.iter().any(|known| known.as_str() == name)
            || Origin::RESERVED.contains(&name.as_str());
        let unfit = name.is_empty() || name.len() > 100 || name.chars().any(char::is_control);
        if !callable || taken || unfit {
            let reason = match (callable, taken) {
                (false, _) => "it has no method `suggest(context)`",
                (_, true) => "that is the name of a strategy that is there already; hint: choose another",
                _ => "that cannot be a name; hint: 1 to 100 characters, no control characters",
            };
            return Err(Fault::Strategy(format!("strategy {name:?}: {reason}")).into());
        }
        Ok(Self { name, object: object.clone().unbind(), raised: Mutex::new(None) })
    }

    /// The name that is stored.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it raised, in the place of an error that can only quote it.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn call(&self, py: Python<'_>, context: &Context<'_>, seed: u64) -> PyResult<Intervention> {
        let inner = Arc::new(context.problem.clone());
        let fit = Bound::new(py, Fit::new(inner.clone(), context, seed))?;
        let problem = Problem::without_text(inner);
        let list = |all: &mut dyn Iterator<Item = &Intervention>| {
            all.map(|one| parts(py, context.problem, one)).collect::<PyResult<Vec<_>>>()
        };
        let pending = list(&mut context.pending.iter().map(|pending| &pending.intervention))?;
        let failed = list(&mut context.failed.iter())?;
        let data = tables(py, context.problem, context.data);
        let given = known(py, context.problem, context.given)?;
        let arguments = (&self.object, Bound::new(py, problem)?, data, pending, failed, seed, fit, given);
        let chosen = py.import("mcbo.strategy")?.call_method1("_suggest", arguments)?;
        let (actions, targets): (Bound<'_, PyAny>, Bound<'_, PyAny>) = chosen.extract()?;
        let check = || -> PyResult<Intervention> {
            let chosen = intervention(context.problem, &actions, &targets)?;
            check_intervention(context.problem, &chosen).map_err(Fault::from)?;
            Ok(chosen)
        };
        check().map_err(|error| match error.is_instance_of::<PyException>(py) {
            true => {
                let reason = error.value(py).to_string();
                let text = format!("strategy {:?} proposes what cannot be done: {reason}", self.name);
                Fault::Strategy(text).into()
            }
            false => error,
        })
    }
}

impl Strategy for PyStrategy {
    fn name(&self) -> &str {
        &self.name
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let seed: u64 = rng.random();
        let chosen = Python::attach(|py| {
            self.call(py, context, seed).map_err(|error| {
                let reason = error.to_string();
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                SuggestError::Own { name: self.name.clone(), reason }
            })
        });
        let suggestion = Suggestion::new(self.name.clone(), chosen?);
        Ok(Proposal { suggestion, memory: context.memory.clone() })
    }
}

/// All strategies that a study can have.
#[derive(Clone)]
pub struct StrategyRegistry {
    pub own: Option<Arc<PyStrategy>>,
}

impl Strategies for StrategyRegistry {
    fn strategy(&self, options: &StrategyOptions) -> Result<Arc<dyn Strategy>, String> {
        match &self.own {
            Some(own) if own.name == options.strategy => Ok(own.clone()),
            _ => Ok(Arc::from(settings(options)?.build())),
        }
    }
}

/// Actions, set values and measured values, with a row per trial and NaN where there is nothing.
pub type Tables<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// What was measured, as arrays.
pub fn tables<'py>(py: Python<'py>, problem: &mcbo_core::Problem, data: &Data) -> Tables<'py> {
    let (rows, slots) = (data.len(), problem.slots());
    let mut actions = Array2::from_elem((rows, problem.actions().len()), f64::NAN);
    let mut targets = Array2::from_elem((rows, slots), f64::NAN);
    let mut values = Array2::from_elem((rows, slots), f64::NAN);
    for (row, observation) in data.observations().iter().enumerate() {
        for (column, &value) in observation.intervention.actions.iter().enumerate() {
            actions[[row, column]] = value;
        }
        for (node, set) in &observation.intervention.targets {
            for (slot, &value) in problem.slot(*node).zip(set) {
                targets[[row, slot]] = value;
            }
        }
        for (slot, value) in observation.values.iter().enumerate() {
            values[[row, slot]] = value.unwrap_or(f64::NAN);
        }
    }
    (actions.into_pyarray(py), targets.into_pyarray(py), values.into_pyarray(py))
}
