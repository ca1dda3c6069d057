//! `NAME=VALUE` on the command line.

use mcbo_core::Problem;

use crate::BadInput;

/// Values by name, one per component.
pub type Named = Vec<(String, Vec<f64>)>;

/// Texts by name, one per component.
pub type Texts = Vec<(String, Vec<String>)>;

/// What is known of the contexts, from `quality=0.8`.
///
/// # Errors
/// If a word is something else, or names no context.
pub fn given(problem: &Problem, words: &[String]) -> Result<mcbo_core::Given, BadInput> {
    let named = read(problem, words, "quality=0.8", "write a number with a decimal point")?;
    Ok(mcbo_core::Given::new(problem, named)?)
}

/// Reads `name=1.5`, `name=1.5,2.5` and `strain=wild` where the problem has choices; an `example` and a `hint` for what is not a
/// number are shown to who writes something else.
///
/// # Errors
/// If a word is something else.
pub fn read(problem: &Problem, words: &[String], example: &str, hint: &str) -> Result<Named, BadInput> {
    let numbers = |(name, texts): (String, Vec<String>)| {
        let value = |text: &String| value(problem, &name, text, hint);
        let values = texts.iter().map(value).collect::<Result<Vec<f64>, BadInput>>()?;
        let is_vector = problem.node_index(&name).is_some_and(|node| problem.nodes()[node].dim > 1);
        if let ([whole, part], false) = (&*texts, is_vector) {
            return Err(BadInput::new(
                format!("{name} has 2 values where the problem has 1"),
                format!("numbers have a decimal point, as in {name}={whole}.{part}"),
            ));
        }
        Ok((name, values))
    };
    texts(words, example)?.into_iter().map(numbers).collect()
}

/// Reads `name=1.5` and `name=wild`, whatever stands behind the `=`.
///
/// # Errors
/// If a word is something else.
pub fn texts(words: &[String], example: &str) -> Result<Texts, BadInput> {
    let parse = |word: &String| {
        let (name, values) = word.split_once('=').ok_or_else(|| {
            BadInput::new(format!("{word:?} is not NAME=VALUE"), format!("write it as in {example}"))
        })?;
        Ok((name.trim().to_owned(), values.split(',').map(|text| text.trim().to_owned()).collect()))
    };
    words.iter().map(parse).collect()
}

/// The value of a node or an action: a number, or what the name of a choice stands for.
///
/// # Errors
/// If it is neither.
pub fn value(problem: &Problem, name: &str, text: &str, hint: &str) -> Result<f64, BadInput> {
    match problem.names_of(name) {
        [] => number(name, text, hint),
        names => choice(name, names, text),
    }
}

/// A number in words.
///
/// # Errors
/// If it is none; then with the hint.
pub fn number(name: &str, text: &str, hint: &str) -> Result<f64, BadInput> {
    text.parse().map_err(|_| BadInput::new(format!("{name}: {text:?} is not a number"), hint))
}

/// The value that the name of a choice stands for.
///
/// # Errors
/// If it is none of its names.
pub fn choice(name: &str, names: &[String], text: &str) -> Result<f64, BadInput> {
    let place = names.iter().position(|choice| choice == text);
    place.map(|place| place as f64).ok_or_else(|| {
        BadInput::new(
            format!("{name} is {text:?}, which is not one of its choices"),
            match mcbo_core::nearest(text, names.iter().map(String::as_str)) {
                Some(meant) => format!("they are {}; did you mean {meant:?}?", names.join(", ")),
                None => format!("they are {}", names.join(", ")),
            },
        )
    })
}
