//! Which part of an axis a panel shows.

use crate::metrics::Estimate;

/// A method that ends this many times further from the top than the middle one does not stretch the panel.
const OUTLIER: f64 = 3.0;
/// The optimum is left out if it would take more than this share of the panel's height.
const OPTIMUM_SHARE: f64 = 0.6;
/// The ends of the lines take up this share of the height, if that is possible without cutting more off than is allowed.
const END_SHARE: f64 = 0.28;
/// The least part of all that happens which is shown, so that a panel is not all about the last digit.
const LEAST_SHARE: f64 = 0.05;

/// The lowest and the highest value of a panel.
///
/// A few bad methods and the first rounds of all would push the lines that matter into one. So methods that end far
/// below the better half leave the panel, and the first rounds are cut off as far as it takes to tell the ends of the
/// others apart; the best method is shown from the first quarter of the rounds on in any case.
pub(crate) fn vertical(curves: &[&[Estimate]], optimum: Option<f64>) -> [f64; 2] {
    let all = || curves.iter().flat_map(|curve| curve.iter()).filter(|e| (e.mean + e.error).is_finite());
    let lowest = all().map(low).fold(f64::INFINITY, f64::min);
    let highest = all().map(|e| e.mean + e.error).fold(f64::NEG_INFINITY, f64::max);
    if lowest > highest {
        let middle = optimum.unwrap_or(0.0);
        return [middle - 1.0, middle + 1.0];
    }
    let reference = optimum.map_or(highest, |optimum| optimum.max(highest));
    let mut top = reference;
    let mut bottom = lower_end(curves, reference, top, lowest);
    if reference - highest > OPTIMUM_SHARE * (reference - bottom) {
        top = highest;
        bottom = lower_end(curves, reference, top, lowest);
    }
    bottom = bottom.min(top - LEAST_SHARE * (reference - lowest));
    let span = if top > bottom { top - bottom } else { top.abs().max(1.0) };
    [bottom - 0.06 * span, top + 0.12 * span]
}

/// The lowest value that is shown under a highest one.
fn lower_end(curves: &[&[Estimate]], reference: f64, top: f64, lowest: f64) -> f64 {
    let mut ends: Vec<&Estimate> = curves.iter().filter_map(|curve| curve.last()).collect();
    ends.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let middle = ends[(ends.len() - 1) / 2];
    let reach = OUTLIER * (reference - middle.mean);
    let near = ends.iter().filter(|end| reference - end.mean <= reach);
    let bottom = near.map(|end| low(end)).fold(ends[0].mean, f64::min);
    let spread = ends[0].mean - bottom;
    let best = curves.iter().max_by(|a, b| last(a).total_cmp(&last(b)));
    let early = best.and_then(|best| best.get(best.len() / 4)).map_or(bottom, low);
    bottom.min(early).min(top - spread / END_SHARE).max(lowest)
}

fn low(estimate: &Estimate) -> f64 {
    estimate.mean - estimate.error
}

fn last(curve: &[Estimate]) -> f64 {
    curve.last().map_or(f64::NEG_INFINITY, |end| end.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Vec<Estimate> {
        values.iter().map(|&mean| Estimate { mean, error: 0.0, count: 2 }).collect()
    }

    #[test]
    fn a_method_far_off_leaves_the_panel() {
        let good = curve(&[-1800.0, -600.0, -400.0, -250.0, -200.0]);
        let fair = curve(&[-1800.0, -900.0, -600.0, -500.0, -450.0]);
        let bad = curve(&[-1800.0; 5]);
        let [bottom, top] = vertical(&[&good, &fair, &bad], Some(0.0));
        // The ends, 250 apart, are 28 % of the height.
        assert!((-960.0..-890.0).contains(&bottom), "{bottom}");
        assert!((0.0..150.0).contains(&top), "{top}");
        let [bottom, _] = vertical(&[&good, &bad, &bad], Some(0.0));
        assert!(bottom < -1800.0, "the middle one is not far off: {bottom}");
    }

    #[test]
    fn a_far_optimum_is_left_out() {
        let [_, top] = vertical(&[&curve(&[0.0, 1.0, 2.0])], Some(100.0));
        assert!(top < 3.0, "{top}");
        let [_, top] = vertical(&[&curve(&[0.0, 1.0, 2.0])], Some(3.0));
        assert!(top > 3.0, "{top}");
    }

    #[test]
    fn there_is_always_a_range() {
        for curves in [vec![], vec![curve(&[1.0; 4])], vec![curve(&[f64::NAN])], vec![curve(&[0.0, 0.0])]] {
            let curves: Vec<&[Estimate]> = curves.iter().map(Vec::as_slice).collect();
            for optimum in [None, Some(1.0)] {
                let [bottom, top] = vertical(&curves, optimum);
                assert!(bottom < top, "{curves:?} {bottom} {top}");
            }
        }
    }
}
