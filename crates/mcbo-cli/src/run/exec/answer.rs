//! The answer of a program: a JSON object of node values.

use mcbo_core::{Problem, slot_name};
use serde_json::Value;

use crate::json::Pairs;
use crate::run::world::MeasureError;

/// Reads an answer; nodes that are not named, and `null`, are not measured.
///
/// # Errors
/// If it is not one JSON object, or names or numbers in it do not fit the problem.
pub fn read(problem: &Problem, stdout: &[u8]) -> Result<Vec<Option<f64>>, MeasureError> {
    let object = match serde_json::from_slice(stdout) {
        Ok(Value::Object(_)) => match serde_json::from_slice::<Pairs>(stdout) {
            Ok(Pairs(object)) => object,
            Err(error) => {
                return Err(MeasureError::new(
                    format!("its answer makes no sense ({error}): {}", excerpt(stdout)),
                    "name every node once",
                ));
            }
        },
        Ok(other) => {
            return Err(MeasureError::new(
                format!("its answer is {}, not a JSON object: {}", kind(&other), excerpt(stdout)),
                "print one object of node values, as in {\"yield\": 9.3}",
            ));
        }
        Err(error) => return Err(not_json(stdout, &error)),
    };
    let mut values = vec![None; problem.slots()];
    for (name, value) in &object {
        let Some(node) = problem.node_index(name) else {
            let hint = match problem.action_index(name) {
                Some(_) => "it is an action; answer with the values of nodes only".into(),
                None => format!("the nodes are {}", problem.graph().names().join(", ")),
            };
            return Err(MeasureError::new(format!("its answer names `{name}`, which is not a node"), hint));
        };
        let slot = problem.slot(node);
        let given = match value {
            Value::Null => continue,
            Value::Array(given) if given.len() == slot.len() => given.as_slice(),
            single if slot.len() == 1 && !single.is_array() => std::slice::from_ref(single),
            other => {
                return Err(MeasureError::new(
                    format!(
                        "its answer gives `{name}` {}, but it has {} component(s)",
                        kind(other),
                        slot.len()
                    ),
                    "give a number for a plain node, and an array with one number per component for a vector",
                ));
            }
        };
        for (component, (at, value)) in slot.zip(given).enumerate() {
            values[at] = match value {
                Value::Null => None,
                // An exponent such as 1e999 is refused by the reader already: what is left is finite.
                Value::Number(number) => number.as_f64(),
                Value::String(name) if problem.nodes()[node].is_choice() => {
                    let declared = &problem.nodes()[node];
                    let hint = || format!("they are {}", declared.choices.join(", "));
                    let text = || {
                        format!(
                            "its answer gives `{}` {name:?}, which is not one of its choices",
                            declared.name
                        )
                    };
                    Some(declared.value_of(name).ok_or_else(|| MeasureError::new(text(), hint()))?)
                }
                other => {
                    return Err(MeasureError::new(
                        format!(
                            "its answer gives `{}` {}, not a number",
                            slot_name(problem, node, component),
                            kind(other)
                        ),
                        "give a number, or null for what was not measured",
                    ));
                }
            };
        }
    }
    Ok(values)
}

fn not_json(stdout: &[u8], error: &serde_json::Error) -> MeasureError {
    let text = String::from_utf8_lossy(stdout);
    if text.trim().is_empty() {
        return MeasureError::new(
            "the program printed nothing on stdout",
            "it must print one JSON object of node values, as in {\"yield\": 9.3}",
        );
    }
    let hint = if ["NaN", "Infinity", "nan", "inf"].iter().any(|word| text.contains(word)) {
        "JSON has no NaN and no infinity; write null for what was not measured"
    } else {
        "print the JSON object and nothing else on stdout; messages belong on stderr"
    };
    MeasureError::new(format!("its answer is not JSON ({error}): {}", excerpt(stdout)), hint)
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("{value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {text:?}"),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".into(),
    }
}

/// The beginning of an answer, in one line.
fn excerpt(stdout: &[u8]) -> String {
    const LENGTH: usize = 60;
    let text = String::from_utf8_lossy(stdout);
    let mut shown: String = text.trim().chars().take(LENGTH).collect();
    if text.trim().chars().count() > LENGTH {
        shown.push_str("...");
    }
    format!("`{}`", shown.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        Problem::builder("p")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]))
            .node("leaf", |n| n.parents(["x"]).dim(2))
            .node("y", |n| n.parents(["leaf"]))
            .maximize("y")
            .build()
            .unwrap()
    }

    fn wrong(answer: &str) -> String {
        let error = read(&problem(), answer.as_bytes()).unwrap_err();
        format!("{}; hint: {}", error.what, error.hint)
    }

    #[test]
    fn values_go_where_they_belong() {
        let values = read(&problem(), br#"{"y": null, "leaf": [null, -2e1], "x": [3]}"#);
        assert_eq!(values, Ok(vec![Some(3.0), None, Some(-20.0), None]));
        assert_eq!(read(&problem(), b"{}"), Ok(vec![None; 4]));
        assert_eq!(read(&problem(), br#"{"leaf": null}"#), Ok(vec![None; 4]));
    }

    #[test]
    fn mistakes_are_answered_with_what_to_do() {
        assert_eq!(
            wrong(r#"{"z": 1}"#),
            "its answer names `z`, which is not a node; hint: the nodes are x, leaf, y"
        );
        assert_eq!(
            wrong(r#"{"a": 1}"#),
            "its answer names `a`, which is not a node; hint: it is an action; answer with the values of nodes only"
        );
        assert_eq!(
            wrong(r#"{"x": "1"}"#),
            "its answer gives `x` the text \"1\", not a number; hint: give a number, or null for what was not measured"
        );
        assert!(wrong(r#"{"leaf": [1, true]}"#).starts_with("its answer gives `leaf[1]` true, not a number"));
        assert!(
            wrong(r#"{"leaf": 1}"#)
                .starts_with("its answer gives `leaf` the number 1, but it has 2 component")
        );
        assert!(
            wrong(r#"{"x": [1, 2]}"#)
                .starts_with("its answer gives `x` an array of 2, but it has 1 component")
        );
        assert!(
            wrong("[1]")
                .starts_with("its answer is an array of 1, not a JSON object: `[1]`; hint: print one")
        );
        assert!(wrong(" \n").starts_with("the program printed nothing on stdout"));
        assert!(wrong(r#"{"x": NaN}"#).ends_with("write null for what was not measured"));
        assert!(wrong(r#"{"x": 1e999}"#).contains("number out of range"));
        assert!(
            wrong("starting\n{\"x\": 1}")
                .contains("`starting\\n{\"x\": 1}`; hint: print the JSON object and nothing")
        );
    }
}
