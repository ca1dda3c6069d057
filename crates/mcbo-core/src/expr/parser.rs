//! Words to a tape, by recursive descent.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = sign (("*" | "/") sign)*
//! sign    = ("-" | "+") sign | power
//! power   = atom ("^" sign)?
//! atom    = number | name | name "[" number "]" | name "(" sum ("," sum)* ")" | "(" sum ")"
//!         | name ("==" | "!=") text
//! ```

use std::ops::Range;

use super::error::{ExprError, ExprErrorKind};
use super::lexer::{Lexer, Token};
use super::nearest::nearest;
use super::pick::PICK;
use super::tape::{Binary, Slot, Tape, Unary};

const MAX_DEPTH: usize = 200;
const MAX_LENGTH: usize = 100_000;

const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

#[derive(Clone, Copy)]
enum Function {
    One(Unary),
    /// A function of two or more arguments that is applied from left to right.
    Many(Binary),
    Random(Binary),
}

const FUNCTIONS: [(&str, Function); 14] = [
    ("sin", Function::One(Unary::Sin)),
    ("cos", Function::One(Unary::Cos)),
    ("tan", Function::One(Unary::Tan)),
    ("exp", Function::One(Unary::Exp)),
    ("log", Function::One(Unary::Log)),
    ("sqrt", Function::One(Unary::Sqrt)),
    ("abs", Function::One(Unary::Abs)),
    ("tanh", Function::One(Unary::Tanh)),
    ("sigmoid", Function::One(Unary::Sigmoid)),
    ("floor", Function::One(Unary::Floor)),
    ("min", Function::Many(Binary::Min)),
    ("max", Function::Many(Binary::Max)),
    ("normal", Function::Random(Binary::Normal)),
    ("uniform", Function::Random(Binary::Uniform)),
];

/// What functions are called elsewhere.
const ALIASES: [(&str, &str); 7] = [
    ("ln", "log"),
    ("pow", "^"),
    ("gaussian", "normal"),
    ("gauss", "normal"),
    ("logistic", "sigmoid"),
    ("fabs", "abs"),
    ("expit", "sigmoid"),
];

/// Whether a name already means something in formulas, so that no node or action can have it.
pub(crate) fn is_reserved(name: &str) -> bool {
    CONSTANTS.iter().any(|(known, _)| *known == name) || FUNCTIONS.iter().any(|(known, _)| *known == name)
}

pub(super) fn function_names() -> String {
    FUNCTIONS.map(|(name, _)| name).join(", ")
}

/// `choices` are the names of the values of every input; none for one of numbers, and for all where there are fewer.
pub(super) fn parse(
    text: &str,
    inputs: &[(&str, usize)],
    choices: &[&[String]],
    random: bool,
) -> Result<Tape, ExprError> {
    let mut parser = begin(text, inputs, choices, random)?;
    parser.sum()?;
    match parser.token {
        Token::End => Ok(parser.tape),
        _ => Err(parser.unexpected("an operator")),
    }
}

/// A parser that has read the first word.
pub(super) fn begin<'a>(
    text: &'a str,
    inputs: &'a [(&'a str, usize)],
    choices: &'a [&'a [String]],
    random: bool,
) -> Result<Parser<'a>, ExprError> {
    let whole = 0..text.len();
    if text.len() > MAX_LENGTH {
        let kind = ExprErrorKind::TooLong { len: text.len(), limit: MAX_LENGTH };
        return Err(ExprError { span: whole, kind });
    }
    if text.trim().is_empty() {
        return Err(ExprError { span: whole, kind: ExprErrorKind::Empty });
    }
    let mut lexer = Lexer::new(text);
    let (token, span) = lexer.next()?;
    let width = inputs.iter().map(|(_, width)| width).sum();
    let tape = Tape::new(width);
    Ok(Parser { text, inputs, choices, random, lexer, token, span, depth: 0, tape })
}

pub(super) struct Parser<'a> {
    text: &'a str,
    inputs: &'a [(&'a str, usize)],
    choices: &'a [&'a [String]],
    random: bool,
    lexer: Lexer<'a>,
    pub(super) token: Token<'a>,
    pub(super) span: Range<usize>,
    depth: usize,
    pub(super) tape: Tape,
}

impl<'a> Parser<'a> {
    pub(super) fn error<T>(&self, span: Range<usize>, kind: ExprErrorKind) -> Result<T, ExprError> {
        Err(ExprError { span, kind })
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> ExprError {
        let found = self.token.describe(self.text, &self.span);
        ExprError { span: self.span.clone(), kind: ExprErrorKind::Unexpected { expected, found } }
    }

    pub(super) fn advance(&mut self) -> Result<(), ExprError> {
        (self.token, self.span) = self.lexer.next()?;
        Ok(())
    }

    /// Takes the symbol if it is next.
    pub(super) fn take(&mut self, symbol: char) -> Result<bool, ExprError> {
        let found = self.token == Token::Symbol(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, symbol: char, expected: &'static str) -> Result<(), ExprError> {
        if self.take(symbol)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub(super) fn sum(&mut self) -> Result<Slot, ExprError> {
        let mut left = self.product()?;
        loop {
            let op = match self.token {
                Token::Symbol('+') => Binary::Add,
                Token::Symbol('-') => Binary::Sub,
                _ => return Ok(left),
            };
            self.advance()?;
            let right = self.product()?;
            left = self.tape.binary(op, left, right);
        }
    }

    fn product(&mut self) -> Result<Slot, ExprError> {
        let mut left = self.sign()?;
        loop {
            let op = match self.token {
                Token::Symbol('*') => Binary::Mul,
                Token::Symbol('/') => Binary::Div,
                _ => return Ok(left),
            };
            self.advance()?;
            let right = self.sign()?;
            left = self.tape.binary(op, left, right);
        }
    }

    /// Every recursion passes through here, so this is where its depth is counted.
    fn sign(&mut self) -> Result<Slot, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error(self.span.clone(), ExprErrorKind::TooDeep { limit: MAX_DEPTH });
        }
        let slot = if self.take('-')? {
            let argument = self.sign()?;
            self.tape.unary(Unary::Neg, argument)
        } else if self.take('+')? {
            self.sign()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(slot)
    }

    fn power(&mut self) -> Result<Slot, ExprError> {
        let base = self.atom()?;
        if !self.take('^')? {
            return Ok(base);
        }
        let exponent = self.sign()?;
        Ok(self.tape.binary(Binary::Pow, base, exponent))
    }

    fn atom(&mut self) -> Result<Slot, ExprError> {
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                Ok(self.tape.constant(value))
            }
            Token::Name(name) => {
                let span = self.span.clone();
                self.advance()?;
                if self.take('(')? {
                    self.call(name, span)
                } else if self.take('[')? {
                    self.component(name, span)
                } else if let Some(choices) = self.choices_of(name) {
                    self.comparison(name, choices, span)
                } else {
                    self.name(name, span)
                }
            }
            Token::Symbol('(') => {
                self.advance()?;
                let slot = self.sum()?;
                self.expect(')', "`)`")?;
                Ok(slot)
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    /// Where the components of an input start, and how many it has.
    fn input(&self, name: &str, span: Range<usize>) -> Result<(usize, usize), ExprError> {
        let mut start = 0;
        for &(known, width) in self.inputs {
            if known == name {
                return Ok((start, width));
            }
            start += width;
        }
        if FUNCTIONS.iter().any(|(known, _)| *known == name) {
            return self.error(span, ExprErrorKind::FunctionWithoutCall { name: name.to_owned() });
        }
        let known: Vec<String> = self.inputs.iter().map(|(name, _)| (*name).to_owned()).collect();
        let near = nearest(name, self.inputs.iter().map(|(name, _)| *name).chain(["pi"])).map(str::to_owned);
        self.error(span, ExprErrorKind::UnknownName { name: name.to_owned(), nearest: near, known })
    }

    /// The names of an input's values, if it is no number.
    fn choices_of(&self, name: &str) -> Option<&'a [String]> {
        let place = self.inputs.iter().position(|(known, _)| *known == name)?;
        self.choices.get(place).copied().filter(|choices| !choices.is_empty())
    }

    /// `strain == 'wild'`: 1 where it is, else 0.
    fn comparison(&mut self, name: &str, choices: &[String], span: Range<usize>) -> Result<Slot, ExprError> {
        let Token::Equal(equal) = self.token else {
            let first = choices.first().cloned().unwrap_or_default();
            return self.error(span, ExprErrorKind::NeedsComparison { name: name.to_owned(), first });
        };
        self.advance()?;
        let Token::Text(text) = self.token else { return Err(self.unexpected("a choice in quotes")) };
        let Some(place) = choices.iter().position(|choice| choice == text) else {
            let kind = ExprErrorKind::NotAChoice {
                name: name.to_owned(),
                found: text.to_owned(),
                nearest: nearest(text, choices.iter().map(String::as_str)).map(str::to_owned),
                known: choices.to_vec(),
            };
            return self.error(self.span.clone(), kind);
        };
        self.advance()?;
        let (start, _) = self.input(name, span)?;
        let input = self.tape.input(start);
        let is = self.tape.unary(Unary::Is(place as u32), input);
        if equal {
            return Ok(is);
        }
        let negated = self.tape.unary(Unary::Neg, is);
        let one = self.tape.constant(1.0);
        Ok(self.tape.binary(Binary::Add, negated, one))
    }

    fn name(&mut self, name: &str, span: Range<usize>) -> Result<Slot, ExprError> {
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(self.tape.constant(*value));
        }
        match self.input(name, span.clone())? {
            (start, 1) => Ok(self.tape.input(start)),
            (_, width) => self.error(span, ExprErrorKind::NeedsIndex { name: name.to_owned(), width }),
        }
    }

    fn component(&mut self, name: &str, span: Range<usize>) -> Result<Slot, ExprError> {
        let (start, width) = self.input(name, span.clone())?;
        let Token::Number(value) = self.token else {
            return Err(self.unexpected("the number of a component"));
        };
        let index = self.text[self.span.clone()].to_owned();
        self.advance()?;
        let end = self.span.end;
        self.expect(']', "`]`")?;
        if value.fract() != 0.0 || value >= width as f64 {
            let kind = ExprErrorKind::NoSuchComponent { name: name.to_owned(), index, width };
            return self.error(span.start..end, kind);
        }
        Ok(self.tape.input(start + value as usize))
    }

    fn call(&mut self, name: &'a str, span: Range<usize>) -> Result<Slot, ExprError> {
        let Some(&(name, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            return self.unknown_function(name, span);
        };
        let (takes, least, most) = match function {
            Function::One(_) => ("one argument", 1, 1),
            Function::Many(_) => ("two or more arguments", 2, usize::MAX),
            Function::Random(_) => ("two arguments", 2, 2),
        };
        if matches!(function, Function::Random(_)) && !self.random {
            return self.error(span, ExprErrorKind::RandomNotAllowed { function: name });
        }
        let mut count = 0;
        let mut result: Option<Slot> = None;
        if self.token != Token::Symbol(')') {
            loop {
                let argument = self.sum()?;
                count += 1;
                result = Some(match (function, result) {
                    // Too many arguments are counted here and reported below.
                    (Function::Many(op), Some(left)) => self.tape.binary(op, left, argument),
                    (Function::Random(op), Some(left)) if count == 2 => self.tape.binary(op, left, argument),
                    _ => argument,
                });
                if !self.take(',')? {
                    break;
                }
            }
        }
        let end = self.span.end;
        self.expect(')', "`,` or `)`")?;
        match (function, result) {
            (_, Some(slot)) if (least..=most).contains(&count) => match function {
                Function::One(op) => Ok(self.tape.unary(op, slot)),
                _ => Ok(slot),
            },
            _ => {
                let kind = ExprErrorKind::ArgumentCount { function: name, expected: takes, found: count };
                self.error(span.start..end, kind)
            }
        }
    }

    fn unknown_function<T>(&self, name: &str, span: Range<usize>) -> Result<T, ExprError> {
        if self.inputs.iter().any(|(known, _)| *known == name) {
            return Err(ExprError {
                span: span.end..self.span.start,
                kind: ExprErrorKind::Unexpected { expected: "an operator", found: "`(`".to_owned() },
            });
        }
        if name == PICK {
            return self.error(span, ExprErrorKind::PickNotAlone);
        }
        let alias = ALIASES.iter().find(|(known, _)| *known == name).map(|(_, meant)| *meant);
        let near = alias.or_else(|| nearest(name, FUNCTIONS.iter().map(|(name, _)| *name)));
        let kind = ExprErrorKind::UnknownFunction { name: name.to_owned(), nearest: near.map(str::to_owned) };
        self.error(span, kind)
    }
}
