//! Text to words.

use std::ops::Range;

use super::error::{ExprError, ExprErrorKind};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// One of `+ - * / ^ ( ) [ ] ,`.
    Symbol(char),
    /// `==` or `!=`: whether it is the first.
    Equal(bool),
    /// A text between quotes.
    Text(&'a str),
    End,
}

impl Token<'_> {
    /// How the token is named in an error.
    pub(super) fn describe(&self, text: &str, span: &Range<usize>) -> String {
        match self {
            Token::End => "the end of the formula".to_owned(),
            _ => format!("`{}`", text.get(span.clone()).unwrap_or_default()),
        }
    }
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token and the bytes it covers.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, Range<usize>), ExprError> {
        let rest = &self.text[self.at..];
        let rest = rest.trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.at = self.text.len();
            return Ok((Token::End, start..start));
        };
        let token = if first.is_ascii_alphabetic() || first == '_' {
            let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            self.at = start + len;
            Token::Name(&rest[..len])
        } else if first.is_ascii_digit() || first == '.' {
            let len = number_length(rest.as_bytes());
            self.at = start + len;
            match rest[..len].parse::<f64>() {
                Ok(value) if value.is_finite() => Token::Number(value),
                _ => {
                    let kind = ExprErrorKind::BadNumber { text: rest[..len].to_owned() };
                    return Err(ExprError { span: start..self.at, kind });
                }
            }
        } else if rest.starts_with("==") || rest.starts_with("!=") {
            self.at = start + 2;
            Token::Equal(first == '=')
        } else if let Some((quote, inner)) =
            ['\'', '"'].iter().find_map(|&q| Some((q, rest.strip_prefix(q)?)))
            && let Some(len) = inner.find(quote)
        {
            self.at = start + len + 2;
            Token::Text(&inner[..len])
        } else if "+-*/^()[],".contains(first) {
            self.at = start + first.len_utf8();
            Token::Symbol(first)
        } else {
            let span = start..start + first.len_utf8();
            return Err(ExprError { span, kind: ExprErrorKind::UnexpectedCharacter { found: first } });
        };
        Ok((token, start..self.at))
    }
}

/// Digits and points, then an exponent if one follows; `2e` is the number 2 and the name `e`.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut len = bytes.iter().take_while(|&&byte| byte.is_ascii_digit() || byte == b'.').count();
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits((len + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}
