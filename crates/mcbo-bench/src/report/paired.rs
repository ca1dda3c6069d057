//! The default against each of the others, seed by seed.

use crate::metrics::{Estimate, Metric};

use super::series::Series;
use super::view::View;

/// The method that is compared with the others: the project's default.
pub(crate) const DEFAULT: &str = "mcbo";
/// Standard errors that a difference has to exceed.
const BEYOND: f64 = 2.0;

/// How a comparison ended for the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Win,
    Loss,
    /// Within two standard errors.
    Even,
    /// A single seed.
    Unknown,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Loss => "loss",
            Self::Even => "even",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Win => "▲",
            Self::Loss => "▼",
            Self::Even => "≈",
            Self::Unknown => "?",
        }
    }

    fn of(difference: &Estimate, metric: Metric) -> Self {
        let better = if metric.higher_is_better() { difference.mean } else { -difference.mean };
        match difference.count {
            0 | 1 => Self::Unknown,
            _ if better > BEYOND * difference.error => Self::Win,
            _ if -better > BEYOND * difference.error => Self::Loss,
            _ => Self::Even,
        }
    }
}

/// The default minus another on a task.
pub(crate) struct Difference {
    pub(crate) estimate: Estimate,
    pub(crate) verdict: Verdict,
}

/// Whether the default is among the methods at all.
pub(crate) fn has_default(view: &View<'_>) -> bool {
    view.results.methods().iter().any(|method| method == DEFAULT)
}

/// Those that the default is compared with.
pub(crate) fn rivals<'a>(view: &'a View<'_>) -> impl Iterator<Item = &'a Series> {
    view.field.contestants.iter().filter(|series| series.key != DEFAULT)
}

/// The default minus a rival, over the seeds that both have.
pub(crate) fn difference(view: &View<'_>, rival: &Series, task: usize, metric: Metric) -> Option<Difference> {
    let other = rival.method(task, metric.curve())?;
    let estimate = view.results.paired(&view.tasks()[task], DEFAULT, other, metric)?;
    Some(Difference { estimate, verdict: Verdict::of(&estimate, metric) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_need_two_standard_errors() {
        let of = |mean, error, count, metric| Verdict::of(&Estimate { mean, error, count }, metric);
        assert_eq!(of(2.1, 1.0, 9, Metric::Average), Verdict::Win);
        assert_eq!(of(1.9, 1.0, 9, Metric::Average), Verdict::Even);
        assert_eq!(of(-2.1, 1.0, 9, Metric::Average), Verdict::Loss);
        assert_eq!(of(-2.1, 1.0, 9, Metric::SimpleRegret), Verdict::Win);
        assert_eq!(of(0.0, 0.0, 9, Metric::Best), Verdict::Even);
        assert_eq!(of(5.0, 0.0, 1, Metric::Best), Verdict::Unknown);
    }
}
