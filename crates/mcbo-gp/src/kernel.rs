//! Covariance functions: sums of products of simple kernels, each on the inputs that it names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The shape of a simple kernel of unit variance, with a lengthscale for every input that it sees (ARD).
///
/// With `r² = Σ_k ((x_k - x'_k) / ℓ_k)²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// `(1 + √5 r + 5/3 r²) exp(-√5 r)`: twice differentiable mechanisms.
    Matern52,
    /// `(1 + √3 r) exp(-√3 r)`: once differentiable mechanisms.
    Matern32,
    /// `exp(-r²/2)`: infinitely smooth mechanisms.
    SquaredExponential,
    /// `Σ_k x_k x'_k / ℓ_k²`: linear mechanisms.
    Linear,
    /// `Σ_k (x_k - o_k)(x'_k - o_k) / (ℓ_k s_k)²`, the inputs measured from where they are zero in the user's units, `o`, and in
    /// units `s` of the furthest they are from it: mechanisms in proportion to their inputs. One input alone has no lengthscale,
    /// which would only repeat the variance.
    Proportional,
    /// `cos(2π Σ_k (x_k - x'_k) / ℓ_k)`: waves, whose lengthscale is the period.
    Cosine,
    /// `exp(-Σ_k [x_k ≠ x'_k] / ℓ_k)`: inputs that are names, counted 0, 1, 2 and so on, none closer to one than to another. Two
    /// names have the correlation `exp(-1/ℓ)`.
    Choice,
}

impl Shape {
    const NAMES: [(&'static str, Shape); 8] = [
        ("matern52", Shape::Matern52),
        ("matern32", Shape::Matern32),
        ("se", Shape::SquaredExponential),
        ("rbf", Shape::SquaredExponential),
        ("linear", Shape::Linear),
        ("proportional", Shape::Proportional),
        ("cosine", Shape::Cosine),
        ("choice", Shape::Choice),
    ];

    /// The name in the text of a kernel.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("?", |(name, _)| name)
    }
}

/// A simple kernel on some of the inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// Its shape.
    pub shape: Shape,
    /// The inputs that it sees, in increasing order; `None` for all there are.
    pub inputs: Option<Vec<usize>>,
}

impl Leaf {
    /// A leaf that sees the given inputs.
    pub fn of(shape: Shape, inputs: impl IntoIterator<Item = usize>) -> Self {
        let mut inputs: Vec<usize> = inputs.into_iter().collect();
        inputs.sort_unstable();
        inputs.dedup();
        Self { shape, inputs: Some(inputs) }
    }

    /// The inputs that it sees, of `dim` there are.
    pub fn seen(&self, dim: usize) -> Vec<usize> {
        match &self.inputs {
            None => (0..dim).collect(),
            Some(inputs) => inputs.clone(),
        }
    }
}

/// A covariance function in its canonical form, a sum of products: `Σ_t v_t Π_f k_tf(x, x')`.
///
/// Every term has its own variance `v_t` and every leaf its own lengthscales, one for each input that it sees.
/// It is written the way it is said, with inputs by name; a bare name sees all inputs, and `constant` is the sum of nothing:
///
/// ```
/// use mcbo_gp::Kernel;
/// let names = ["dose", "soil"];
/// let kernel = Kernel::parse("se(dose) * linear(soil) + matern52(dose, soil)", &names)?;
/// assert_eq!(kernel.terms().len(), 2);
/// assert_eq!(kernel.to_text(&names), "se(dose) * linear(soil) + matern52(dose, soil)");
/// // Without names, inputs are counted from 0.
/// assert_eq!(kernel.to_string(), "se(0) * linear(1) + matern52(0, 1)");
/// assert_eq!(Kernel::parse("matern52", &names)?.to_string(), "matern52");
/// # Ok::<(), mcbo_gp::KernelParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kernel {
    terms: Vec<Vec<Leaf>>,
}

impl Kernel {
    /// The kernel made of one leaf that sees all inputs.
    pub fn leaf(shape: Shape) -> Self {
        Self { terms: vec![vec![Leaf { shape, inputs: None }]] }
    }

    /// The kernel of a mechanism that is the same whatever its inputs.
    pub fn constant() -> Self {
        Self { terms: Vec::new() }
    }

    /// The sum of products of leaves.
    pub fn sum(terms: Vec<Vec<Leaf>>) -> Self {
        Self { terms }
    }

    /// The products that the kernel sums.
    pub fn terms(&self) -> &[Vec<Leaf>] {
        &self.terms
    }

    /// Reads a kernel whose inputs have these names. A name of several components, `leaf` for `leaf[0]` and `leaf[1]`, means
    /// all of them.
    ///
    /// # Errors
    /// If the text is no kernel, or names an input that is not among the names.
    pub fn parse<S: AsRef<str>>(text: &str, names: &[S]) -> Result<Self, KernelParseError> {
        Self::read(text, &|name| {
            let component = |known: &str| {
                known.strip_prefix(name).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
            };
            let is = |known: &str| known == name || component(known);
            let found: Vec<usize> = (0..names.len()).filter(|&k| is(names[k].as_ref())).collect();
            let known = || names.iter().map(|known| known.as_ref().to_owned()).collect();
            if found.is_empty() {
                return Err(KernelParseError::UnknownInput { found: name.to_owned(), known: known() });
            }
            Ok(found)
        })
    }

    /// The text of the kernel, with its inputs by name.
    pub fn to_text<S: AsRef<str>>(&self, names: &[S]) -> String {
        self.write(&|k| names.get(k).map_or_else(|| k.to_string(), |name| name.as_ref().to_owned()))
    }

    fn read(
        text: &str,
        find: &dyn Fn(&str) -> Result<Vec<usize>, KernelParseError>,
    ) -> Result<Self, KernelParseError> {
        if text.trim() == "constant" {
            return Ok(Self::constant());
        }
        let leaf = |text: &str| {
            let text = text.trim();
            let (name, inputs) = match text.split_once('(') {
                None => (text, None),
                Some((name, rest)) => {
                    let inside = rest
                        .strip_suffix(')')
                        .ok_or_else(|| KernelParseError::NotAKernel { found: text.to_owned() })?;
                    let mut inputs = Vec::new();
                    for name in inside.split(',') {
                        inputs.extend(find(name.trim())?);
                    }
                    (name.trim(), Some(inputs))
                }
            };
            let shape = Shape::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, shape)| shape);
            let shape = shape.ok_or_else(|| KernelParseError::NotAKernel { found: name.to_owned() })?;
            Ok(match inputs {
                None => Leaf { shape, inputs: None },
                Some(inputs) => Leaf::of(shape, inputs),
            })
        };
        let terms =
            text.split('+').map(|term| term.split('*').map(leaf).collect()).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }

    fn write(&self, name: &dyn Fn(usize) -> String) -> String {
        if self.terms.is_empty() {
            return "constant".into();
        }
        let leaf = |leaf: &Leaf| match &leaf.inputs {
            None => leaf.shape.name().to_owned(),
            Some(inputs) => {
                let inputs: Vec<String> = inputs.iter().map(|&k| name(k)).collect();
                format!("{}({})", leaf.shape.name(), inputs.join(", "))
            }
        };
        let term = |term: &Vec<Leaf>| term.iter().map(leaf).collect::<Vec<_>>().join(" * ");
        self.terms.iter().map(term).collect::<Vec<_>>().join(" + ")
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Self::leaf(Shape::Matern52)
    }
}

/// Why a kernel's text is not a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelParseError {
    /// No such kernel.
    #[error("{found:?} is not a kernel; hint: {}", self.hint())]
    NotAKernel {
        /// The words that are not a kernel.
        found: String,
    },
    /// No such input.
    #[error("{found:?} is not an input here; hint: {}", self.hint())]
    UnknownInput {
        /// The name.
        found: String,
        /// The names there are.
        known: Vec<String>,
    },
}

impl KernelParseError {
    /// The words that are wrong.
    pub fn found(&self) -> &str {
        let (Self::NotAKernel { found } | Self::UnknownInput { found, .. }) = self;
        found
    }

    /// What to write instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NotAKernel { .. } => {
                "join matern52, matern32, se, linear and cosine with + and *, as in se(dose) * linear(soil)"
                    .into()
            }
            Self::UnknownInput { known, .. } if known.is_empty() => "there are no inputs with names".into(),
            Self::UnknownInput { known, .. } => format!("the inputs are {}", known.join(", ")),
        }
    }
}

/// With inputs counted from 0.
impl FromStr for Kernel {
    type Err = KernelParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text, &|name| {
            let unknown = || KernelParseError::UnknownInput { found: name.to_owned(), known: Vec::new() };
            name.parse::<usize>().map(|k| vec![k]).map_err(|_| unknown())
        })
    }
}

/// With inputs counted from 0.
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.write(&|k| k.to_string()))
    }
}

impl TryFrom<String> for Kernel {
    type Error = KernelParseError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Kernel> for String {
    fn from(kernel: Kernel) -> Self {
        kernel.to_string()
    }
}
