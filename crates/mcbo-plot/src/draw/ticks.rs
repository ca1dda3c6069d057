//! Where the ticks of an axis are.

/// Round numbers in a range, about `wanted` of them, and the digits after the point that they need.
pub fn ticks([low, high]: [f64; 2], wanted: usize) -> (Vec<f64>, usize) {
    let rough = (high - low) / wanted as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = (0..12).find(|d| {
        let scaled = step * 10f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    let ticks = (low / step).ceil() as i64..=(high / step).floor() as i64;
    (ticks.map(|k| k as f64 * step).collect(), decimals.unwrap_or(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 100.0], 4), (vec![0.0, 25.0, 50.0, 75.0, 100.0], 0));
        assert_eq!(ticks([-0.06, 1.1], 5), (vec![0.0, 0.25, 0.5, 0.75, 1.0], 2));
        assert_eq!(ticks([-640.0, 50.0], 4).0, vec![-600.0, -400.0, -200.0, 0.0]);
    }
}
