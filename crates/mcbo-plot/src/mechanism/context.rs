//! A node without inputs: the values that were seen, and how the model takes them to be spread.

use mcbo_core::{Network, Noise, Study, slot_name};

use crate::Picture;
use crate::draw::{Anchor, Axes, Canvas, Style, short, shorten, span, ticks};
use crate::page::{DESIGN, Key, MODEL, Sheet, Swatch, titled};

const INNER: [f64; 2] = [300.0, 180.0];
const BELOW: f64 = 44.0;
const COMPONENTS: usize = 4;
const POINTS: usize = 121;
const SEEN: Style = Style { color: "#8a8a8a", ..DESIGN };

/// How the model takes values to be spread around their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spread {
    Normal { mean: f64, deviation: f64 },
    Uniform([f64; 2]),
}

impl Spread {
    fn density(self, value: f64) -> f64 {
        match self {
            Self::Normal { mean, deviation } => {
                let z = (value - mean) / deviation;
                (-0.5 * z * z).exp() / (deviation * (2.0 * std::f64::consts::PI).sqrt())
            }
            Self::Uniform([low, high]) if (low..=high).contains(&value) => 1.0 / (high - low),
            Self::Uniform(_) => 0.0,
        }
    }

    fn reach(self) -> [f64; 2] {
        match self {
            Self::Normal { mean, deviation } => [mean - 3.0 * deviation, mean + 3.0 * deviation],
            Self::Uniform([low, high]) => [low, high],
        }
    }
}

pub(super) fn context(study: &Study, network: &Network, node: usize) -> Picture {
    let problem = study.problem();
    let declared = &problem.nodes()[node];
    let (found, noise) = (network.predict(problem, node, &[], 1), network.noise(node));
    let components = found.len().min(COMPONENTS);
    let mut canvas = Canvas::default();
    let mut text = String::new();
    for component in 0..components {
        let (mean, unsure) = found[component][0];
        let values: Vec<f64> =
            study.data().training_rows(problem, node, component).map(|(_, value)| value).collect();
        let deviation = noise[component].deviation().hypot(unsure);
        let spread = match declared.noise {
            _ if deviation <= 0.0 || !mean.is_finite() => None,
            Noise::Uniform([low, high]) => {
                let half = 0.5 * (high - low);
                Some(Spread::Uniform([mean - half, mean + half]))
            }
            _ => Some(Spread::Normal { mean, deviation }),
        };
        let name = slot_name(problem, node, component);
        let place = component as f64 * (INNER[0] + 70.0);
        panel(&mut canvas, 64.0 + place, &values, spread, &name);
        text.push_str(&format!(
            "{name}: mean {}, known to ± {}, noise {}. ",
            short(mean),
            short(unsure),
            short(noise[component].deviation())
        ));
    }
    text.push_str(
        "The node has no inputs: nothing is learned of it but its mean and, where it is not given, its noise.",
    );
    if found.len() > COMPONENTS {
        text.push_str(&format!(" {} more components are not drawn.", found.len() - COMPONENTS));
    }
    Sheet {
        name: format!("mechanism-{}", declared.name),
        title: titled(study.name(), &format!("values of {}", shorten(&declared.name))),
        keys: vec![
            Key::new(Swatch::Band, SEEN, "trials"),
            Key::new(Swatch::Line, MODEL, "as the model takes them to be spread"),
        ],
        body: canvas,
        size: [components.max(1) as f64 * (INNER[0] + 70.0), INNER[1] + BELOW + 4.0],
        caption: text,
    }
    .picture()
}

fn panel(canvas: &mut Canvas, left: f64, values: &[f64], spread: Option<Spread>, name: &str) {
    let x = span(values.iter().copied().chain(spread.into_iter().flat_map(Spread::reach)), 0.04);
    let seen = span(values.iter().copied(), 0.0);
    let bins = ((values.len() as f64).sqrt().ceil() as usize).clamp(1, 24);
    let width = (seen[1] - seen[0]) / bins as f64;
    let mut counts = vec![0_usize; bins];
    for value in values {
        let bin = ((value - seen[0]) / width) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    // The density as the number of trials that are to be expected in a bin.
    let expected =
        |value: f64| spread.map_or(0.0, |spread| spread.density(value)) * width * values.len().max(1) as f64;
    let at = |s: usize| x[0] + (x[1] - x[0]) * s as f64 / (POINTS - 1) as f64;
    let highest = (0..POINTS).map(|s| expected(at(s))).fold(0.0, f64::max);
    let most = counts.iter().copied().max().unwrap_or(0) as f64;
    let axes = Axes { corner: [left, 4.0], size: INNER, x, y: [0.0, 1.1 * most.max(highest).max(1e-9)] };
    // Trials are counted: whole numbers.
    let wanted = [4, 5, 3, 6, 2].into_iter().find(|&wanted| ticks(axes.y, wanted).1 == 0).unwrap_or(1);
    axes.horizontal_grid(canvas, wanted);
    axes.ticks(canvas, 5);
    canvas.open(left, 4.0, INNER[0], INNER[1]);
    canvas.open_style(&SEEN);
    for (bin, &count) in counts.iter().enumerate().filter(|_| !values.is_empty()) {
        let from = axes.at(seen[0] + bin as f64 * width, count as f64);
        let to = axes.at(seen[0] + (bin + 1) as f64 * width, 0.0);
        canvas.block(from, [(to[0] - from[0] - 1.0).max(1.0), to[1] - from[1]], 0.35);
    }
    canvas.close_group();
    if spread.is_some() {
        let line: Vec<[f64; 2]> = (0..POINTS).map(|s| axes.at(at(s), expected(at(s)))).collect();
        canvas.open_style(&MODEL);
        canvas.curve(&line, &MODEL);
        canvas.close_group();
    }
    canvas.close();
    canvas.frame(left, 4.0, INNER[0], INNER[1]);
    canvas.text([left + INNER[0] / 2.0, INNER[1] + 34.0], Anchor::Middle, 11.0, &shorten(name));
    canvas.text_up([left - Axes::label_room(axes.y, wanted) - 8.0, 4.0 + INNER[1] / 2.0], 11.0, "trials");
}
