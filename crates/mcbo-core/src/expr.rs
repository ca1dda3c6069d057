//! Formulas as users write them in problem files, compiled once and evaluated often.

mod error;
mod lexer;
mod nearest;
mod parser;
mod pick;
mod tape;
#[cfg(test)]
mod tests;

pub use error::{ExprError, ExprErrorKind};
pub use nearest::nearest;
pub(crate) use parser::is_reserved;

use tape::Tape;

/// A formula, compiled to a flat list of operations.
///
/// | written | means |
/// |---|---|
/// | `+ - * / ^`, `( )` | arithmetic; `^` binds tightest and to the right, so `-x^2` is `-(x^2)` |
/// | `1`, `2.5`, `1e-3` | numbers |
/// | `pi`, `e` | constants |
/// | `x`, `v[0]`, `v[1]` | inputs; the components of a vector count from 0 |
/// | `sin cos tan exp log sqrt abs tanh sigmoid floor` | functions of one argument; `log` is natural |
/// | `min(a, b, ...)`, `max(a, b, ...)` | the smallest and the largest argument |
/// | `strain == 'wild'`, `strain != 'wild'` | 1 where a choice is the one that is named, else 0; and the other way round |
/// | `normal(mean, std)`, `uniform(lo, hi)` | random numbers, where randomness is allowed |
/// | `pick('none', 1, 'crack', exp(x))` | a name, drawn by weights: the whole formula of a node with names ([`Expr::parse_pick`]) |
///
/// ```
/// use mcbo_core::Expr;
/// let expr = Expr::parse("2 * x + v[1]^2", &[("x", 1), ("v", 2)], false)?;
/// assert_eq!(expr.eval(&[1.0, 0.0, 3.0]), 11.0);
/// let mut gradient = [0.0; 3];
/// expr.eval_with_gradient(&[1.0, 0.0, 3.0], &mut gradient);
/// assert_eq!(gradient, [2.0, 0.0, 6.0]);
/// # Ok::<(), mcbo_core::ExprError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    text: String,
    tape: Tape,
}

impl Expr {
    /// Compiles a formula over named inputs, each given with its number of components.
    ///
    /// The evaluating functions take the inputs' components one after the other in this order. `random` says
    /// whether `normal` and `uniform` may be used.
    ///
    /// # Errors
    /// An [`ExprError`] that points at the words that are wrong.
    pub fn parse(text: &str, inputs: &[(&str, usize)], random: bool) -> Result<Self, ExprError> {
        Ok(Self { text: text.to_owned(), tape: parser::parse(text, inputs, &[], random)? })
    }

    /// The same where some inputs are choices: `choices` has the names of every input's values in their order, none for numbers.
    /// Such an input has the place of a name as its value, and is compared: `strain == 'wild'`.
    ///
    /// # Errors
    /// As [`Self::parse`], and if a choice is not compared or not with one of its names.
    pub fn parse_with_choices(
        text: &str,
        inputs: &[(&str, usize)],
        choices: &[&[String]],
        random: bool,
    ) -> Result<Self, ExprError> {
        Ok(Self { text: text.to_owned(), tape: parser::parse(text, inputs, choices, random)? })
    }

    /// Whether a formula draws a name: `pick('none', 1, 'crack', exp(speed - 3))`.
    pub fn is_pick(text: &str) -> bool {
        pick::is_pick(text)
    }

    /// Compiles such a formula of a node with these names: for every name but the last how probable it is if it is none of those
    /// before it, by the weights of all. Names that are left out have no weight. Where a weight is negative, or all are 0, the values
    /// are no numbers.
    ///
    /// ```
    /// use mcbo_core::Expr;
    /// let names = ["none", "crack", "chip"].map(str::to_owned);
    /// let text = "pick('crack', x, 'none', 3, 'chip', 1)";
    /// let exprs = Expr::parse_pick(text, &[("x", 1)], &[], "kind", &names)?;
    /// assert_eq!((exprs[0].eval(&[2.0]), exprs[1].eval(&[1.0])), (0.5, 0.5));
    /// # Ok::<(), mcbo_core::ExprError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::parse_with_choices`] for every weight, and if a name is none of the node's or comes twice, or a weight can be none.
    pub fn parse_pick(
        text: &str,
        inputs: &[(&str, usize)],
        choices: &[&[String]],
        node: &str,
        names: &[String],
    ) -> Result<Vec<Self>, ExprError> {
        let tapes = pick::parse(text, inputs, choices, node, names)?;
        Ok(tapes.into_iter().map(|tape| Self { text: text.to_owned(), tape }).collect())
    }

    /// The formula `0`, which reads nothing.
    pub(crate) fn zero() -> Self {
        let mut tape = Tape::new(0);
        tape.constant(0.0);
        Self { text: "0".to_owned(), tape }
    }

    /// The value of the formula; random numbers are replaced by their means.
    ///
    /// # Panics
    /// When `inputs` is shorter than the inputs given to [`parse`](Self::parse).
    pub fn eval(&self, inputs: &[f64]) -> f64 {
        self.tape.eval(inputs)
    }

    /// The value, and its derivative in every input, which overwrites `gradient`.
    ///
    /// At kinks (`abs` at 0, ties of `min` and `max`) it is the derivative of one side, or 0 for `abs`; `floor`
    /// counts as flat.
    ///
    /// # Panics
    /// When `inputs` or `gradient` is shorter than the inputs given to [`parse`](Self::parse).
    pub fn eval_with_gradient(&self, inputs: &[f64], gradient: &mut [f64]) -> f64 {
        self.tape.eval_with_gradient(inputs, gradient)
    }

    /// The value with every `normal` and `uniform` drawn from `rng`, in the order they are written.
    ///
    /// # Panics
    /// When `inputs` is shorter than the inputs given to [`parse`](Self::parse).
    pub fn sample(&self, inputs: &[f64], rng: &mut dyn rand::Rng) -> f64 {
        self.tape.sample(inputs, rng)
    }

    /// Whether the formula draws random numbers.
    pub fn is_random(&self) -> bool {
        self.tape.is_random()
    }

    /// Whether the formula reads the input at this position.
    pub fn reads(&self, input: usize) -> bool {
        self.tape.reads(input)
    }

    /// The formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
