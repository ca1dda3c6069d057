//! What can go wrong, as values.

/// Why a Gaussian process could not be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpError {
    /// A number that is NaN or infinite.
    #[error("{what} of row {row} is {value}; hint: drop the row or mend the measurement")]
    NotFinite {
        /// Which quantity: an input, the output or the noise.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The number found.
        value: f64,
    },
    /// A row, a parameter vector or a batch of the wrong length.
    #[error("{what} has {found} entries where {expected} are expected")]
    WrongLength {
        /// What has the wrong length.
        what: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// The covariance matrix has no Cholesky factor even with the largest jitter.
    #[error(
        "the covariance of {rows} rows is not positive definite even with a jitter of {jitter:e}; \
         hint: raise the noise or drop duplicated rows"
    )]
    NotPositiveDefinite {
        /// Number of rows.
        rows: usize,
        /// The largest jitter tried, as a fraction of the mean variance.
        jitter: f64,
    },
}
