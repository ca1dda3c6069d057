//! What a problem file says, or what is wrong with it, for programs.

use std::collections::BTreeMap;

use mcbo_core::{Grid, Node, Problem, Scale};
use serde_json::{Value, json};

use crate::sets::{self, Sets};
use crate::{BadFile, describe, json};

/// How a node comes by its values when it is not set.
pub fn kind(node: &Node) -> &'static str {
    if node.formula.is_some() {
        "formula"
    } else if node.parents.is_empty() && node.actions.is_empty() {
        "context"
    } else {
        "learned"
    }
}

/// With the values that are listed and the names that are retired, where there are any; other objects have no such keys.
fn with_values(mut object: Value, grid: Option<&Grid>, names: &[String], retired: &[&str]) -> Value {
    if let Some(values) = grid.and_then(|grid| grid.list()).filter(|_| names.is_empty()) {
        object["values"] = values.into();
    }
    if !retired.is_empty() {
        object["retired"] = json!(retired);
    }
    object
}

/// The names of these.
pub fn names<'a>(indices: &[usize], name: impl Fn(usize) -> &'a str) -> Vec<&'a str> {
    indices.iter().map(|&index| name(index)).collect()
}

/// What a problem file says: `mcbo check --json`.
pub fn document(problem: &Problem) -> Value {
    let nodes = problem.nodes();
    let node_name = |index: usize| nodes[index].name.as_str();
    let action_name = |index: usize| problem.actions()[index].name.as_str();
    let described = nodes.iter().enumerate().map(|(index, node)| {
        let object = json!({
            "name": node.name,
            "parents": names(&node.parents, node_name),
            "actions": names(&node.actions, action_name),
            "dim": node.dim,
            "kind": kind(node),
            "reward": index == problem.reward(),
            "noise": json::noise(node.noise),
            "do": match (&node.hard, node.dim) {
                (Some(_), _) if node.is_choice() => json!(true),
                (Some(ranges), 1) => json!(ranges[0]),
                (ranges, _) => json!(ranges),
            },
            "choices": node.is_choice().then_some(&node.choices),
            "step": node.grid.as_ref().filter(|_| !node.is_choice()).and_then(|grids| grids.first()).and_then(|grid| grid.step()),
            "range": node.range,
            "unit": node.unit,
            "context": node.context,
            "limit": node.limit.map(|limit| limit.levels().chain([("probability", limit.probability)]).collect::<BTreeMap<_, _>>()),
            "cost": node.cost.map(|cost| json!({ "fixed": cost.fixed })),
        });
        let grid = node.grid.as_ref().and_then(|grids| grids.first());
        with_values(object, grid, &node.choices, &node.retired())
    });
    let actions = problem.actions().iter().enumerate().map(|(index, action)| {
        let object = json!({
            "name": action.name,
            "range": (!action.is_choice()).then_some(action.range),
            "step": action.grid.as_ref().filter(|_| !action.is_choice()).and_then(|grid| grid.step()),
            "choices": action.is_choice().then_some(&action.choices),
            "neutral": json::value(problem, &action.name, action.neutral),
            "unit": action.unit,
            "cost": action.cost.map(|cost| json!({ "fixed": cost.fixed, "per_unit": cost.per_unit })),
            "nodes": names(&readers(problem, index), node_name),
        });
        let mut object = with_values(object, action.grid.as_ref(), &action.choices, &action.retired());
        if action.scale == Scale::Log {
            object["scale"] = action.scale.name().into();
        }
        object
    });
    let sets = Sets::of(problem, usize::MAX);
    let set = |set: &sets::TargetSet| json!({ "targets": names(&set.targets, node_name), "minimal": set.minimal, "used": set.used });
    json!({
        "name": problem.name(),
        "objective": { "node": describe::reward_name(problem), "minimize": problem.sign() < 0.0 },
        "nodes": described.collect::<Vec<_>>(),
        "actions": actions.collect::<Vec<_>>(),
        "sets": sets.listed.iter().map(set).collect::<Vec<_>>(),
        "sets_left_out": sets.left_out.as_ref().map(|left_out| left_out.sentence()),
        "max_interventions": problem.max_interventions(),
        "require": problem.requirements().iter().map(|one| one.text()).collect::<Vec<_>>(),
        "choices": problem.choices().map(<[_]>::len),
        "simulator": problem.simulator().is_some(),
        "warnings": problem.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// The nodes that an action feeds.
pub fn readers(problem: &Problem, action: usize) -> Vec<usize> {
    let reads = |&node: &usize| problem.nodes()[node].actions.contains(&action);
    (0..problem.nodes().len()).filter(reads).collect()
}

/// The mistakes of a file for a program, such as an editor.
pub fn mistakes(bad: &BadFile) -> Value {
    let errors = bad.errors.errors().iter().map(|error| {
        let place = bad.place(error);
        json!({
            "message": error.message(),
            "line": place.map(|(line, _)| line),
            "column": place.map(|(_, column)| column),
            "hint": error.hint(),
        })
    });
    json!({ "file": bad.file, "errors": errors.collect::<Vec<_>>() })
}
