//! Between Python's objects and the library's.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mcbo_core::{
    DataError, Fixed, Forecast, Given, Intervention, Keeping, Outlook, Problem, check_done, check_ranges,
    share_name, slot_name,
};
use mcbo_store::Row;
use pyo3::BoundObject;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFloat, PyList, PySet, PyString};

use serde_json::Value;

use crate::errors::{Fault, data_error};

/// More numbers than any node has components: what goes on longer is not read to its end.
const LONGEST: usize = 100_000;

/// What is written beside trials, as JSON.
pub fn json(attributes: &BTreeMap<String, Value>) -> PyResult<String> {
    serde_json::to_string(attributes).map_err(|error| data_error(error.to_string()))
}

/// What is to be written beside trials, from JSON.
pub fn from_json(text: &str) -> PyResult<BTreeMap<String, Value>> {
    serde_json::from_str(text).map_err(|error| data_error(format!("no JSON object: {error}")))
}

/// Values by name, each with one number per component.
pub type Named = Vec<(String, Vec<f64>)>;

/// An exception from reading a value, as one of ours that names the place. What is no mistake of the value is passed on.
fn unreadable(what: &str, value: &Bound<'_, PyAny>, cause: PyErr) -> PyErr {
    let py = value.py();
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    let kind = value.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    let error = data_error(format!(
        "{what} is of type {kind}, which is not read as a number; hint: give a number, or a list of numbers for a vector node"
    ));
    error.set_cause(py, Some(cause));
    error
}

/// A number, or a sequence of them: a list, a tuple, an array.
pub fn numbers(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let all = optional_numbers(what, value)?;
    let missing = || data_error(format!("{what} has components without a value; hint: give all of them"));
    all.into_iter().map(|value| value.ok_or_else(missing)).collect()
}

/// The same where components of a vector may be missing: `None` in a sequence.
fn optional_numbers(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Option<f64>>> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(vec![Some(number.value())]);
    }
    if value.len().is_err() {
        return value.extract::<f64>().map(|v| vec![Some(v)]).map_err(|error| unreadable(what, value, error));
    }
    let bytes = value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>();
    let unordered = value.is_instance_of::<PyDict>() || value.is_instance_of::<PySet>();
    if bytes || unordered || value.hasattr("keys")? {
        return Err(unreadable(what, value, PyTypeError::new_err("neither a number nor a sequence of them")));
    }
    let mut found = Vec::new();
    for item in value.try_iter().map_err(|error| unreadable(what, value, error))? {
        let item = item.map_err(|error| unreadable(what, value, error))?;
        found.push(match item.is_none() {
            true => None,
            false => Some(item.extract::<f64>().map_err(|error| unreadable(what, &item, error))?),
        });
        if found.len() > LONGEST {
            return Err(data_error(format!("{what} has more than {LONGEST} values")));
        }
    }
    Ok(found)
}

/// The entries of a mapping, or of anything that has `items()`: numbers, and names of choices; those that are `None` are left out.
pub fn named(problem: &Problem, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Named> {
    entries(what, value, |name, entry| match chosen(problem, name, entry)? {
        Some(place) => Ok(vec![place]),
        None => numbers(name, entry),
    })
}

/// The value that a name stands for, of something whose values are names.
fn chosen(problem: &Problem, name: &str, entry: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let names = problem.names_of(name);
    if names.is_empty() {
        return Ok(None);
    }
    let given = entry.cast::<PyString>().ok().and_then(|text| text.extract::<String>().ok());
    let place = names.iter().position(|known| Some(known) == given.as_ref());
    place.map(|place| Some(place as f64)).ok_or_else(|| {
        let found = given.map_or_else(|| entry.to_string(), |text| format!("{text:?}"));
        let choices = names.join(", ");
        data_error(format!("{name} is {found}, which is not one of its choices; hint: they are {choices}"))
    })
}

/// Measured values by name: of a vector node some components may be missing, and the others come by the names of components.
pub fn measured(problem: &Problem, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Named> {
    let whole = RefCell::new(Vec::new());
    let partial = RefCell::new(Named::new());
    let all = entries(what, value, |name, entry| {
        if let Some(place) = chosen(problem, name, entry)? {
            return Ok(vec![place]);
        }
        let values = optional_numbers(name, entry)?;
        match values.iter().copied().collect::<Option<Vec<f64>>>() {
            Some(values) => Ok(values),
            None => {
                whole.borrow_mut().push(name.to_owned());
                let given = values.into_iter().enumerate().filter_map(|(at, value)| Some((at, value?)));
                partial.borrow_mut().extend(given.map(|(at, value)| (format!("{name}[{at}]"), vec![value])));
                Ok(Vec::new())
            }
        }
    })?;
    let in_parts = whole.into_inner();
    let complete = all.into_iter().filter(|(name, _)| !in_parts.contains(name));
    Ok(complete.chain(partial.into_inner()).collect())
}

fn entries<'py>(
    what: &str,
    value: &Bound<'py, PyAny>,
    read: impl Fn(&str, &Bound<'py, PyAny>) -> PyResult<Vec<f64>>,
) -> PyResult<Named> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let py = value.py();
    let wrong = |cause: PyErr| {
        if !cause.is_instance_of::<PyException>(py) {
            return cause;
        }
        let error = data_error(format!(
            "{what} are not given by name; hint: give a mapping such as {{\"name\": 1.0}}"
        ));
        error.set_cause(py, Some(cause));
        error
    };
    let mut found = Vec::new();
    let items = value.call_method0("items").and_then(|items| items.try_iter()).map_err(wrong)?;
    for item in items {
        let (key, entry): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            item.and_then(|item| item.extract()).map_err(wrong)?;
        let name = key.cast::<PyString>().map_err(PyErr::from).and_then(|name| name.extract::<String>());
        let name = name.map_err(wrong)?;
        if !entry.is_none() {
            let values = read(&name, &entry)?;
            found.push((name, values));
        }
        if found.len() > LONGEST {
            return Err(data_error(format!("{what} are more than {LONGEST}")));
        }
    }
    Ok(found)
}

/// The values of actions by name.
pub fn named_actions(problem: &Problem, value: &Bound<'_, PyAny>) -> PyResult<Named> {
    named(problem, "the actions", value)
}

/// An intervention from its two parts: actions by name, those not named neutral, and the nodes that are set.
pub fn intervention(
    problem: &Problem,
    actions: &Bound<'_, PyAny>,
    targets: &Bound<'_, PyAny>,
) -> PyResult<Intervention> {
    let intervention = done(problem, actions, targets)?;
    check_ranges(problem, &intervention).map_err(Fault::from)?;
    Ok(intervention)
}

/// The same of something that may have been done before, outside the ranges of today.
pub fn done(
    problem: &Problem,
    actions: &Bound<'_, PyAny>,
    targets: &Bound<'_, PyAny>,
) -> PyResult<Intervention> {
    let (actions, targets) =
        (named_actions(problem, actions)?, named(problem, "the values of set nodes", targets)?);
    Ok(assemble(problem, &actions, targets)?)
}

/// What is known of the contexts, by names.
pub fn given(problem: &Problem, known: &Bound<'_, PyAny>) -> PyResult<Given> {
    Ok(Given::new(problem, named(problem, "what is given", known)?).map_err(Fault::from)?)
}

/// What is fixed of a trial, by names: actions, and nodes that are to be set.
pub fn fixed(problem: &Problem, actions: &Bound<'_, PyAny>, targets: &Bound<'_, PyAny>) -> PyResult<Fixed> {
    let mut fixed = Fixed::default();
    for (name, values) in named_actions(problem, actions)? {
        let [value] = values[..] else {
            let found = values.len();
            return Err(Fault::from(DataError::WrongLength { what: name, expected: 1, found }).into());
        };
        fixed.actions.insert(name, value);
    }
    fixed.targets = named(problem, "the values of set nodes", targets)?.into_iter().collect();
    Ok(fixed)
}

/// What was known of the contexts, by node name.
pub fn known<'py>(py: Python<'py>, problem: &Problem, given: &Given) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (node, values) in given.iter() {
        dict.set_item(&problem.nodes()[node].name, values_of(py, problem, node, values)?)?;
    }
    Ok(dict)
}

/// How probable it is that each limit is kept: (probability, wanted) by node name.
pub fn limits<'py>(py: Python<'py>, limits: &[Keeping]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for keeping in limits {
        dict.set_item(&keeping.name, (keeping.probability, keeping.wanted))?;
    }
    Ok(dict)
}

/// An intervention from names.
pub fn assemble(
    problem: &Problem,
    actions: &[(String, Vec<f64>)],
    targets: Named,
) -> Result<Intervention, Fault> {
    let mut row = Row { targets: targets.into_iter().collect(), ..Row::default() };
    for (name, values) in actions {
        let [value] = values[..] else {
            let found = values.len();
            return Err(DataError::WrongLength { what: name.clone(), expected: 1, found }.into());
        };
        row.actions.insert(name.clone(), value);
    }
    let intervention = row.intervention(problem).map_err(|fault| data_error(fault.to_string()))?;
    check_done(problem, &intervention)?;
    Ok(intervention)
}

/// The values of a node: the name that one stands for, or as [`components`] has them.
fn values_of<'py>(
    py: Python<'py>,
    problem: &Problem,
    node: usize,
    values: &[f64],
) -> PyResult<Bound<'py, PyAny>> {
    match values.first().and_then(|&value| problem.nodes()[node].choice(value)) {
        Some(name) => Ok(PyString::new(py, name).into_any()),
        None => components(py, problem, node, values),
    }
}

/// One number by itself, those of a vector node as a list.
pub fn components<'py, T: IntoPyObject<'py> + Copy>(
    py: Python<'py>,
    problem: &Problem,
    node: usize,
    values: &[T],
) -> PyResult<Bound<'py, PyAny>> {
    match values {
        [value] if problem.nodes()[node].dim == 1 => {
            Ok((*value).into_pyobject(py).map_err(Into::into)?.into_any().into_bound())
        }
        values => Ok(PyList::new(py, values.iter().copied())?.into_any()),
    }
}

/// The two parts of an intervention, by names.
pub type Parts<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>);

/// An intervention as actions and values of set nodes, by names.
pub fn parts<'py>(py: Python<'py>, problem: &Problem, intervention: &Intervention) -> PyResult<Parts<'py>> {
    let (actions, targets) = (PyDict::new(py), PyDict::new(py));
    for (action, value) in problem.actions().iter().zip(&intervention.actions) {
        match action.choice(*value) {
            Some(name) => actions.set_item(&action.name, name)?,
            None => actions.set_item(&action.name, value)?,
        }
    }
    for (node, values) in &intervention.targets {
        targets.set_item(&problem.nodes()[*node].name, values_of(py, problem, *node, values)?)?;
    }
    Ok((actions, targets))
}

/// Measured values by node name, `None` where not measured.
pub fn observed<'py>(
    py: Python<'py>,
    problem: &Problem,
    values: &[Option<f64>],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (node, declared) in problem.nodes().iter().enumerate() {
        let values = &values[problem.slot(node)];
        let named = values.first().copied().flatten().filter(|_| declared.is_choice());
        match named.and_then(|value| declared.choice(value)) {
            Some(name) => dict.set_item(&declared.name, name)?,
            None => dict.set_item(&declared.name, components(py, problem, node, values)?)?,
        }
    }
    Ok(dict)
}

/// What is said of each name of a node, by name.
fn names<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    node: &mcbo_core::Node,
    values: Vec<T>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in node.choices.iter().zip(values) {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// Forecasts by node name: (mean, lower, upper), or a list of them for a vector node, or those of every name where it has causes.
pub fn forecasts<'py>(
    py: Python<'py>,
    problem: &Problem,
    forecasts: &[Forecast],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (node, declared) in problem.nodes().iter().enumerate() {
        let here = forecasts.iter().filter(|forecast| forecast.node == node);
        let bounds: Vec<(f64, f64, f64)> = here.map(|f| (f.mean, f.lower, f.upper)).collect();
        if declared.is_caused_choice() {
            if bounds.len() == declared.choices.len() {
                dict.set_item(&declared.name, names(py, declared, bounds)?)?;
            }
        } else if bounds.len() == declared.dim {
            dict.set_item(&declared.name, components(py, problem, node, &bounds)?)?;
        }
    }
    Ok(dict)
}

/// What an intervention gives by node name: (mean, lower, upper, (low, high)), or a list of them for a vector node.
pub fn outlooks<'py>(py: Python<'py>, problem: &Problem, all: &[Outlook]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (node, declared) in problem.nodes().iter().enumerate() {
        let here = all.iter().filter(|outlook| outlook.forecast.node == node);
        let numbers_of = |Outlook { forecast: f, outcome: [low, high], .. }: &Outlook| {
            (f.mean, f.lower, f.upper, (*low, *high))
        };
        let numbers: Vec<(f64, f64, f64, (f64, f64))> = here.map(numbers_of).collect();
        if declared.is_caused_choice() {
            if numbers.len() == declared.choices.len() {
                dict.set_item(&declared.name, names(py, declared, numbers)?)?;
            }
        } else if numbers.len() == declared.dim {
            dict.set_item(&declared.name, components(py, problem, node, &numbers)?)?;
        }
    }
    Ok(dict)
}

/// Values that come by the names of components, by node name.
pub fn by_node<'py>(
    py: Python<'py>,
    problem: &Problem,
    values: &[(String, f64)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (node, declared) in problem.nodes().iter().enumerate() {
        let caused = declared.is_caused_choice();
        let value = |component: usize| {
            let name = if caused { share_name } else { slot_name }(problem, node, component);
            values.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
        };
        if caused {
            if let Some(values) = (0..declared.choices.len()).map(value).collect::<Option<Vec<f64>>>() {
                dict.set_item(&declared.name, names(py, declared, values)?)?;
            }
        } else if let Some(values) = (0..declared.dim).map(value).collect::<Option<Vec<f64>>>() {
            dict.set_item(&declared.name, components(py, problem, node, &values)?)?;
        }
    }
    Ok(dict)
}

/// The names of all components of all nodes, in order.
pub fn slot_names(problem: &Problem) -> Vec<String> {
    let components = |node: usize| (0..problem.nodes()[node].dim).map(move |component| (node, component));
    (0..problem.nodes().len())
        .flat_map(components)
        .map(|(n, component)| slot_name(problem, n, component))
        .collect()
}
