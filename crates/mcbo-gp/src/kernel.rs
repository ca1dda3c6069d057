//! Covariance functions: sums of products of simple kernels with one lengthscale per input.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A simple kernel of unit variance with a lengthscale for every input (ARD).
///
/// With `r² = Σ_k ((x_k - x'_k) / ℓ_k)²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Leaf {
    /// `(1 + √5 r + 5/3 r²) exp(-√5 r)`: twice differentiable mechanisms, the default.
    Matern52,
    /// `(1 + √3 r) exp(-√3 r)`: once differentiable mechanisms.
    Matern32,
    /// `exp(-r²/2)`: infinitely smooth mechanisms.
    SquaredExponential,
    /// `Σ_k x_k x'_k / ℓ_k²`: linear mechanisms.
    Linear,
}

impl Leaf {
    const NAMES: [(&'static str, Leaf); 5] = [
        ("matern52", Leaf::Matern52),
        ("matern32", Leaf::Matern32),
        ("se", Leaf::SquaredExponential),
        ("rbf", Leaf::SquaredExponential),
        ("linear", Leaf::Linear),
    ];
}

/// A covariance function in its canonical form, a sum of products: `Σ_t v_t Π_f k_tf(x, x')`.
///
/// Every term has its own variance `v_t` and every leaf its own lengthscales.
/// It is written the way it is said:
///
/// ```
/// use mcbo_gp::Kernel;
/// let kernel: Kernel = "matern52 + linear * se".parse()?;
/// assert_eq!(kernel.terms().len(), 2);
/// assert_eq!(kernel.to_string(), "matern52 + linear * se");
/// # Ok::<(), mcbo_gp::KernelParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kernel {
    terms: Vec<Vec<Leaf>>,
}

impl Kernel {
    /// The kernel made of one leaf.
    pub fn leaf(leaf: Leaf) -> Self {
        Self { terms: vec![vec![leaf]] }
    }

    /// The products that the kernel sums.
    pub fn terms(&self) -> &[Vec<Leaf>] {
        &self.terms
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Self::leaf(Leaf::Matern52)
    }
}

/// Why a kernel's text is not a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a kernel; hint: join matern52, matern32, se and linear with + and *")]
pub struct KernelParseError {
    /// The words that are not a kernel.
    pub found: String,
}

impl FromStr for Kernel {
    type Err = KernelParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let leaf = |name: &str| {
            let name = name.trim();
            Leaf::NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|&(_, leaf)| leaf)
                .ok_or_else(|| KernelParseError { found: name.to_owned() })
        };
        let terms =
            text.split('+').map(|term| term.split('*').map(leaf).collect()).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |leaf: &Leaf| Leaf::NAMES.iter().find(|(_, known)| known == leaf).map_or("?", |(name, _)| name);
        let terms: Vec<String> =
            self.terms.iter().map(|term| term.iter().map(name).collect::<Vec<_>>().join(" * ")).collect();
        f.write_str(&terms.join(" + "))
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
