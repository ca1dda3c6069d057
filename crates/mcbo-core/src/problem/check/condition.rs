//! The names under which something is required, and names that are required or ruled out themselves.

use std::ops::Range;

use crate::expr::nearest;
use crate::problem::Action;
use crate::problem::diagnostics::RequirementFault;

/// What is required, and where the condition under which it is begins, if there is one.
pub(super) fn split(text: &str) -> (&str, Option<usize>) {
    const IF: &str = " if ";
    let mut quoted = None;
    for (at, letter) in text.char_indices() {
        match (quoted, letter) {
            (None, '\'' | '"') => quoted = Some(letter),
            (Some(quote), letter) if quote == letter => quoted = None,
            (None, ' ') if text[at..].starts_with(IF) => return (&text[..at], Some(at + IF.len())),
            _ => {}
        }
    }
    (text, None)
}

/// Whether a text compares names: numbers are not told to differ, and are not quoted.
pub(super) fn is_about_names(text: &str, actions: &[&Action]) -> bool {
    let Some(at) = operator(text) else { return false };
    let name = text[..at].trim();
    let of_choices = actions.iter().any(|action| action.is_choice() && action.name == name);
    of_choices || text[at..].starts_with('!') || text[at + 2..].trim_start().starts_with(['\'', '"'])
}

/// Where a comparison of names has its operator.
fn operator(text: &str) -> Option<usize> {
    text.find("==").into_iter().chain(text.find("!=")).min()
}

/// What is wrong with a comparison of names, and with which words of it.
pub(super) struct Mistake {
    pub fault: RequirementFault,
    pub words: Range<usize>,
}

fn mistake<T>(fault: RequirementFault, words: Range<usize>) -> Result<T, Box<Mistake>> {
    Err(Box::new(Mistake { fault, words }))
}

/// An action with the places of some of its choices.
type Names = (usize, Vec<f64>);

/// The choices that comparisons of names leave, joined by `and`. Only where all actions are `whole` their choices are known.
pub(super) fn compared(
    text: &str,
    words: Range<usize>,
    actions: &[&Action],
    whole: bool,
) -> Result<Vec<Names>, Box<Mistake>> {
    let trimmed = |range: Range<usize>| {
        let inner = &text[range.clone()];
        let start = range.start + inner.len() - inner.trim_start().len();
        start..start + inner.trim().len()
    };
    let mut found = Vec::new();
    let mut rest = words;
    loop {
        let Some(at) = operator(&text[rest.clone()]).map(|at| rest.start + at) else {
            return mistake(RequirementFault::NotNames, rest);
        };
        let name = trimmed(rest.start..at);
        let action = actions.iter().position(|action| action.name == text[name.clone()]);
        let Some(action) = action.filter(|&action| actions[action].is_choice()) else {
            let names = actions.iter().filter(|action| action.is_choice()).map(|action| action.name.as_str());
            // An action without choices is no slip of the pen.
            let near = nearest(&text[name.clone()], names).filter(|_| action.is_none());
            let fault = RequirementFault::NoSuchChoice {
                name: text[name.clone()].to_owned(),
                nearest: near.map(str::to_owned),
            };
            return mistake(fault, name);
        };
        let after = trimmed(at + 2..rest.end);
        let quote = text[after.clone()].chars().next().filter(|first| ['\'', '"'].contains(first));
        let Some((inside, length)) = quote.and_then(|quote| {
            let inside = after.start + quote.len_utf8();
            text[inside..after.end].find(quote).map(|length| (inside, length))
        }) else {
            return mistake(RequirementFault::NotNames, after);
        };
        let value = &text[inside..inside + length];
        let known = &actions[action].choices;
        let place = known.iter().position(|choice| choice == value);
        if whole && place.is_none() {
            let fault = RequirementFault::UnknownName {
                action: actions[action].name.clone(),
                found: value.to_owned(),
                nearest: nearest(value, known.iter().map(String::as_str)).map(str::to_owned),
                known: known.clone(),
            };
            return mistake(fault, inside..inside + length);
        }
        let equal = text[at..].starts_with('=');
        let names = (0..known.len()).filter(|other| (Some(*other) == place) == equal);
        found.push((action, names.map(|place| place as f64).collect()));
        let next = trimmed(inside + length + 1..rest.end);
        if next.is_empty() {
            return Ok(found);
        }
        let Some(further) = text[next.clone()].strip_prefix("and ") else {
            return mistake(RequirementFault::NotNames, next);
        };
        rest = next.end - further.len()..next.end;
    }
}
