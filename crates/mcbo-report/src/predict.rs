//! What the model expects of an intervention: what is asked, and the answer for programs.

use std::collections::BTreeMap;

use mcbo_core::{Given, Intervention, Prediction, Problem, slot_name};
use mcbo_store::Row;
use serde_json::{Value, json};

use crate::assignment::{self, Texts};
use crate::export::set_column;
use crate::{BadInput, json};

/// What is expected: `mcbo predict --json`.
pub fn document(
    study: &str,
    problem: &Problem,
    intervention: &Intervention,
    given: &Given,
    prediction: &Prediction,
) -> Value {
    let mut document = json!({
        "study": study,
        "intervention": json::intervention(problem, intervention),
        "given": json::given(problem, given),
        "limits": json::limits(&prediction.limits),
        "predicted": json::outlooks(problem, &prediction.nodes),
        "warnings": json::warnings(&prediction.warnings),
    });
    if problem.has_costs() {
        document["cost"] = problem.cost(intervention).into();
    }
    document
}

/// What is done, by names: `dose=30` is an action, `do(temperature)=31` sets a node.
///
/// # Errors
/// If a name is unknown or given twice, or a value is none.
pub fn row(problem: &Problem, named: Texts) -> Result<Row, BadInput> {
    let (mut row, mut components) = (Row::default(), BTreeMap::<usize, Vec<Option<f64>>>::new());
    for (name, texts) in named {
        let value =
            |text: &String| assignment::value(problem, &name, text, "write a number with a decimal point");
        let values = texts.iter().map(value).collect::<Result<Vec<f64>, BadInput>>()?;
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(BadInput::new(format!("{name} is {value}"), "give a finite number"));
        }
        let twice = || BadInput::new(format!("{name} is given twice"), "give every name once");
        if problem.action_index(&name).is_some() {
            let [value] = values[..] else {
                let count = values.len();
                return Err(BadInput::new(format!("{name} has {count} values"), "an action has one value"));
            };
            if row.actions.insert(name.clone(), value).is_some() {
                return Err(twice());
            }
            continue;
        }
        let inner = name.strip_prefix("do(").and_then(|rest| rest.strip_suffix(')'));
        match (inner.and_then(|inner| place(problem, inner)), &values[..]) {
            (Some((node, None)), _) => {
                if row.targets.insert(problem.nodes()[node].name.clone(), values).is_some() {
                    return Err(twice());
                }
            }
            (Some((node, Some(component))), [value]) => {
                let parts = components.entry(node).or_insert_with(|| vec![None; problem.nodes()[node].dim]);
                if parts[component].replace(*value).is_some() {
                    return Err(twice());
                }
            }
            (Some(_), _) => {
                let count = values.len();
                return Err(BadInput::new(format!("{name} has {count} values"), "a component has one value"));
            }
            (None, _) => return Err(unknown(problem, &name)),
        }
    }
    for (node, parts) in components {
        let name = &problem.nodes()[node].name;
        let Some(values) = parts.into_iter().collect::<Option<Vec<f64>>>() else {
            return Err(BadInput::new(format!("{name} is set in part"), "give all its components"));
        };
        if row.targets.insert(name.clone(), values).is_some() {
            return Err(BadInput::new(format!("{name} is given twice"), "give every name once"));
        }
    }
    Ok(row)
}

/// A node by its name, or one of its components by a name such as `leaf[1]`.
fn place(problem: &Problem, name: &str) -> Option<(usize, Option<usize>)> {
    if let Some(node) = problem.node_index(name) {
        return Some((node, None));
    }
    (0..problem.nodes().len()).find_map(|node| {
        let component = (0..problem.nodes()[node].dim).find(|&c| slot_name(problem, node, c) == name)?;
        Some((node, Some(component)))
    })
}

/// A name that nothing to choose has.
fn unknown(problem: &Problem, name: &str) -> BadInput {
    let settable = problem.settable();
    if let Some((node, _)) = place(problem, name) {
        let hint = match (settable.contains(&node), problem.nodes()[node].context) {
            (true, _) => format!("write 'do({name})=...' to set it"),
            (false, true) => format!("it is known before deciding: write `--given {name}=...`"),
            (false, false) => "it cannot be set; give it a `do` range in the problem file".into(),
        };
        return BadInput::new(format!("{name} is a node, not an action"), hint);
    }
    let mut known: Vec<String> = problem.actions().iter().map(|action| action.name.clone()).collect();
    known.extend(
        settable.iter().flat_map(|&n| (0..problem.nodes()[n].dim).map(move |c| set_column(problem, n, c))),
    );
    BadInput::new(
        format!("there is nothing to choose that is called {name:?}"),
        format!("there is {}", known.join(", ")),
    )
}
