//! Values that are told, as JSON.

use mcbo_core::Problem;
use serde_json::Value;

use crate::BadInput;
use crate::assignment::{self, Named};
use crate::json::Pairs;

/// An object of node values; `null` is not measured.
///
/// # Errors
/// If it is something else.
pub fn from_json(problem: &Problem, text: &str) -> Result<Named, BadInput> {
    let hint = "write an object of node values, as in {\"taste\": 7.1, \"leaf\": [0.2, 1.4]}";
    let object = match serde_json::from_str::<Pairs>(text) {
        Ok(Pairs(object)) => object,
        Err(error) if error.is_data() => {
            return Err(BadInput::new(format!("the values are not a JSON object: {error}"), hint));
        }
        Err(error) => return Err(BadInput::new(format!("the values are not JSON: {error}"), hint)),
    };
    let mut values = Vec::new();
    for (name, value) in object {
        let names = problem.names_of(&name);
        let number = |value: &Value| match value {
            Value::String(text) if !names.is_empty() => assignment::choice(&name, names, text),
            // Names may look like numbers; a place in the list of names is none of them.
            Value::Number(number) if !names.is_empty() => {
                assignment::choice(&name, names, &number.to_string())
            }
            _ => {
                value.as_f64().ok_or_else(|| BadInput::new(format!("{name}: {value} is not a number"), hint))
            }
        };
        match &value {
            Value::Null => {}
            // Components that were not measured leave the others to be told by their own names.
            Value::Array(all) if all.contains(&Value::Null) => {
                for (component, value) in all.iter().enumerate().filter(|(_, value)| !value.is_null()) {
                    values.push((format!("{name}[{component}]"), vec![number(value)?]));
                }
            }
            Value::Array(all) => {
                values.push((name.clone(), all.iter().map(number).collect::<Result<Vec<f64>, BadInput>>()?));
            }
            one => values.push((name.clone(), vec![number(one)?])),
        }
    }
    Ok(values)
}
