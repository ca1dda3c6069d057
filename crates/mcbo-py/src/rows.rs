//! Rows that were measured outside a study.

use std::collections::BTreeMap;

use mcbo_core::{Problem, slot_name};
use mcbo_store::Row;
use numpy::ndarray::ArrayView2;
use pyo3::prelude::*;

use crate::convert::{Named, measured, named, named_actions};
use crate::errors::data_error;

/// What a column of a table holds.
enum Column {
    Action(String),
    /// A component of a node, set by force.
    Target(usize, usize),
    /// A component of a node, measured.
    Value(usize, usize),
}

/// A node and a component from `name` or `name[component]`.
fn component(problem: &Problem, text: &str) -> Option<(usize, usize)> {
    if let Some(node) = problem.node_index(text) {
        return (problem.nodes()[node].dim == 1).then_some((node, 0));
    }
    let (name, rest) = text.split_once('[')?;
    let (node, at) = (problem.node_index(name)?, rest.strip_suffix(']')?.parse::<usize>().ok()?);
    (at < problem.nodes()[node].dim).then_some((node, at))
}

fn column(problem: &Problem, name: &str) -> PyResult<Column> {
    if problem.action_index(name).is_some() {
        return Ok(Column::Action(name.to_owned()));
    }
    let set = name.strip_prefix("do(").and_then(|rest| rest.strip_suffix(')'));
    let found = match set {
        Some(inside) => component(problem, inside).map(|(node, at)| Column::Target(node, at)),
        None => component(problem, name).map(|(node, at)| Column::Value(node, at)),
    };
    found.ok_or_else(|| {
        let actions = problem.actions().iter().map(|action| action.name.clone());
        let nodes = crate::convert::slot_names(problem).into_iter();
        let all: Vec<String> = actions.chain(nodes).collect();
        data_error(format!(
            "there is no column {name:?}; hint: the columns are {}, and do(NODE) for a node that was set",
            all.join(", ")
        ))
    })
}

/// The rows of a table with a column per action, component or set component; NaN where there is nothing.
///
/// An action without a value is refused unless it is said to be `neutral`.
pub fn table(
    problem: &Problem,
    columns: &[String],
    array: ArrayView2<'_, f64>,
    neutral: bool,
) -> PyResult<Vec<Row>> {
    if array.ncols() != columns.len() {
        return Err(data_error(format!(
            "the table has {} columns and {} names for them",
            array.ncols(),
            columns.len()
        )));
    }
    if let Some(name) = columns.iter().enumerate().find_map(|(at, n)| columns[..at].contains(n).then_some(n))
    {
        return Err(data_error(format!("the column {name:?} is there twice")));
    }
    let columns: Vec<Column> = columns.iter().map(|name| column(problem, name)).collect::<PyResult<_>>()?;
    let put = |into: &mut BTreeMap<String, Vec<f64>>, node: usize, at: usize, value: f64| {
        let node = &problem.nodes()[node];
        into.entry(node.name.clone()).or_insert_with(|| vec![f64::NAN; node.dim])[at] = value;
    };
    let mut rows = Vec::with_capacity(array.nrows());
    for (place, numbers) in array.rows().into_iter().enumerate() {
        let mut row = Row::default();
        for (column, &value) in columns.iter().zip(numbers) {
            match column {
                Column::Action(name) if value.is_nan() && !neutral => {
                    return Err(data_error(format!(
                        "row {place}: {name} has no value, and what is not known is not neutral; hint: give what was done, or \
                         missing=\"neutral\" if nothing was"
                    )));
                }
                _ if value.is_nan() => {}
                Column::Action(name) => {
                    row.actions.insert(name.clone(), value);
                }
                Column::Target(node, at) => put(&mut row.targets, *node, *at, value),
                // By components: some of a vector may not have been measured.
                Column::Value(node, at) => {
                    row.values.insert(slot_name(problem, *node, *at), vec![value]);
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// A row from its three parts, by names.
pub fn row(
    problem: &Problem,
    actions: &Bound<'_, PyAny>,
    targets: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
) -> PyResult<Row> {
    let map = |named: Named| named.into_iter().collect::<BTreeMap<_, _>>();
    let mut single = BTreeMap::new();
    for (name, values) in named_actions(problem, actions)? {
        let [value] = values[..] else {
            return Err(data_error(format!("{name} has {} values where an action has one", values.len())));
        };
        single.insert(name, value);
    }
    Ok(Row {
        actions: single,
        targets: map(named(problem, "the values of set nodes", targets)?),
        values: map(measured(problem, "the values", values)?),
    })
}
