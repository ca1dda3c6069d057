//! Training rows, stored by column.

use crate::GpError;

/// The rows a Gaussian process learns from, in its own scaled units.
///
/// ```
/// use mcbo_gp::Rows;
/// let mut rows = Rows::new(2);
/// rows.push(&[0.1, 0.9], 1.5)?;
/// assert_eq!(rows.len(), 1);
/// assert!(rows.push(&[0.1, f64::NAN], 1.5).is_err());
/// # Ok::<(), mcbo_gp::GpError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) output: Vec<f64>,
    pub(crate) component: Vec<usize>,
    pub(crate) noise: Vec<f64>,
}

impl Rows {
    /// No rows yet, of `dim` inputs.
    pub fn new(dim: usize) -> Self {
        Self { columns: vec![Vec::new(); dim], ..Self::default() }
    }

    /// Adds a row of a scalar output.
    ///
    /// # Errors
    /// Where a number is not finite or the number of inputs is wrong; nothing is added then.
    pub fn push(&mut self, input: &[f64], output: f64) -> Result<(), GpError> {
        self.push_full(input, output, 0, 0.0)
    }

    /// Adds a row of one component of a vector output, with its own noise variance
    /// (used only with [`Noise::PerRow`](crate::Noise::PerRow)).
    ///
    /// # Errors
    /// Where a number is not finite, the noise is negative or the number of inputs is wrong; nothing is added then.
    pub fn push_full(
        &mut self,
        input: &[f64],
        output: f64,
        component: usize,
        noise: f64,
    ) -> Result<(), GpError> {
        if input.len() != self.columns.len() {
            return Err(GpError::WrongLength {
                what: "a row's input",
                expected: self.columns.len(),
                found: input.len(),
            });
        }
        let row = self.output.len();
        let check = |what, value: f64, good: bool| {
            if good { Ok(()) } else { Err(GpError::NotFinite { what, row, value }) }
        };
        for &value in input {
            check("an input", value, value.is_finite())?;
        }
        check("the output", output, output.is_finite())?;
        check("the noise variance", noise, noise.is_finite() && noise >= 0.0)?;
        for (column, value) in self.columns.iter_mut().zip(input) {
            column.push(*value);
        }
        self.output.push(output);
        self.component.push(component);
        self.noise.push(noise);
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.output.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.output.is_empty()
    }

    /// Number of inputs.
    pub fn dim(&self) -> usize {
        self.columns.len()
    }

    /// The outputs.
    pub fn outputs(&self) -> &[f64] {
        &self.output
    }

    /// One input of all rows.
    pub fn column(&self, k: usize) -> &[f64] {
        &self.columns[k]
    }

    /// The component and the own noise variance of a row.
    pub fn tags(&self, row: usize) -> (usize, f64) {
        (self.component[row], self.noise[row])
    }

    /// Evenly spread `count` of the rows, the last among them, if there are more than that.
    pub fn thinned(&self, count: usize) -> Option<Self> {
        let n = self.len();
        (n > count && count > 0).then(|| {
            let places: Vec<usize> = (0..count).map(|i| ((i + 1) * n).div_ceil(count) - 1).collect();
            self.select(&places)
        })
    }

    /// The rows at the given places, in that order.
    pub fn select(&self, places: &[usize]) -> Self {
        let pick = |values: &[f64]| places.iter().map(|&j| values[j]).collect::<Vec<f64>>();
        Self {
            columns: self.columns.iter().map(|column| pick(column)).collect(),
            output: pick(&self.output),
            component: places.iter().map(|&j| self.component[j]).collect(),
            noise: pick(&self.noise),
        }
    }
}
