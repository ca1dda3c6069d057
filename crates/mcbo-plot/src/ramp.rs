//! Colours for numbers: from pale to dark, evenly in lightness, so that order shows without hue as well.

/// From the least to the most, evenly spaced: the most is darkest, for it lies on top of a light ground.
const STOPS: [[f64; 3]; 6] = [
    [240.0, 214.0, 150.0],
    [240.0, 164.0, 108.0],
    [219.0, 104.0, 101.0],
    [168.0, 58.0, 117.0],
    [104.0, 30.0, 112.0],
    [38.0, 14.0, 72.0],
];

/// The colour at a share of the ramp, 0 to 1.
pub(crate) fn color(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let place = (at as usize).min(STOPS.len() - 2);
    let rest = at - place as f64;
    let mix = |k: usize| (STOPS[place][k] + rest * (STOPS[place + 1][k] - STOPS[place][k])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// About how light a colour is, 0 to 1.
    fn lightness(color: &str) -> f64 {
        let part = |k: usize| f64::from(u8::from_str_radix(&color[k..k + 2], 16).unwrap()) / 255.0;
        let y = 0.2126 * part(1).powf(2.2) + 0.7152 * part(3).powf(2.2) + 0.0722 * part(5).powf(2.2);
        y.cbrt()
    }

    #[test]
    fn more_is_darker_in_even_steps() {
        let all: Vec<f64> = (0..=10).map(|k| lightness(&color(f64::from(k) / 10.0))).collect();
        for pair in all.windows(2) {
            let step = pair[0] - pair[1];
            assert!((0.02..0.14).contains(&step), "{all:?}");
        }
    }
}
