//! `pick('none', 1, 'crack', exp(speed - 3))`: a name, drawn by weights.

use super::error::{ExprError, ExprErrorKind};
use super::lexer::Token;
use super::nearest::nearest;
use super::parser::begin;
use super::tape::{Slot, Tape};

/// The function's name. It is no reserved word: nodes may be called so.
pub(super) const PICK: &str = "pick";

/// Whether a formula draws a name.
pub(super) fn is_pick(text: &str) -> bool {
    text.trim_start().strip_prefix(PICK).is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// Compiles the draw of one of the names of `node` to a tape for every name but the last: how probable it is if it is none of those
/// before it. Names that are left out have no weight.
pub(super) fn parse(
    text: &str,
    inputs: &[(&str, usize)],
    choices: &[&[String]],
    node: &str,
    names: &[String],
) -> Result<Vec<Tape>, ExprError> {
    let mut parser = begin(text, inputs, choices, false)?;
    let whole = parser.span.clone();
    if parser.token != Token::Name(PICK) {
        let first = names.first().cloned().unwrap_or_default();
        return parser.error(0..text.len(), ExprErrorKind::NotAPick { node: node.to_owned(), first });
    }
    parser.advance()?;
    parser.expect('(', "`(`")?;
    let mut weights: Vec<Option<Slot>> = vec![None; names.len()];
    loop {
        let Token::Text(name) = parser.token else { return Err(parser.unexpected("a name in quotes")) };
        let span = parser.span.clone();
        let Some(place) = names.iter().position(|known| known == name) else {
            let kind = ExprErrorKind::NotAChoice {
                name: node.to_owned(),
                found: name.to_owned(),
                nearest: nearest(name, names.iter().map(String::as_str)).map(str::to_owned),
                known: names.to_vec(),
            };
            return parser.error(span, kind);
        };
        if weights[place].is_some() {
            return parser.error(span, ExprErrorKind::PickedTwice { name: name.to_owned() });
        }
        parser.advance()?;
        parser.expect(',', "`,` and its weight")?;
        let from = parser.span.start;
        let weight = parser.sum()?;
        if parser.tape.known(weight).is_some_and(|weight| weight < 0.0) {
            let span = from..parser.span.start;
            return parser.error(span, ExprErrorKind::NegativeWeight { name: name.to_owned() });
        }
        weights[place] = Some(weight);
        if !parser.take(',')? {
            break;
        }
    }
    let end = parser.span.end;
    parser.expect(')', "`,` or `)`")?;
    if parser.token != Token::End {
        return Err(parser.unexpected("the end of the formula"));
    }
    if weights.iter().flatten().all(|&weight| parser.tape.known(weight) == Some(0.0)) {
        return parser.error(whole.start..end, ExprErrorKind::NoWeights);
    }
    let mut tape = parser.tape;
    let weights: Vec<Slot> = weights.into_iter().map(|w| w.unwrap_or_else(|| tape.constant(0.0))).collect();
    Ok((0..names.len() - 1).map(|k| tape.stick(&weights[k..], k == 0)).collect())
}

impl Tape {
    /// The same with the share of the first of some weights among them all. Where none has any there is no share, but of names that
    /// cannot be reached any more it does not matter.
    fn stick(&self, weights: &[Slot], reached: bool) -> Self {
        let mut tape = self.clone();
        let rest = weights[2..].iter().fold(weights[1], |sum, &weight| tape.add(sum, weight));
        tape.share(weights[0], rest, reached);
        tape
    }
}
