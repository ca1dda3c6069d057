//! Mechanisms as formulas: draws from Gaussian processes, and functions of a form.

use std::fmt::Write;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};

use super::draft::name_of;
use super::trials::Trials;

/// Fourier features of a mechanism, and of a curve of one input.
const FEATURES: usize = 32;
const CURVE_FEATURES: usize = 16;
/// Lengthscales. Parents have about unit variance, actions lie in [0, 1].
const PARENT_LENGTHS: [f64; 2] = [0.7, 3.0];
const ACTION_LENGTHS: [f64; 2] = [0.2, 1.0];
/// The standard deviation of a random action.
const ACTION_DEVIATION: f64 = 0.289;
/// The standard deviation of the levels of names.
const LEVEL: f64 = 0.5;

/// What is known of the shape of a model's mechanisms. All but [`Form::Free`] are scaled to unit variance by trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A draw from a Gaussian process of all inputs.
    Free,
    /// A sum of curves, one of each input.
    Additive,
    /// A curve of the actions times a linear function of the parents.
    Scaled,
    /// Linear; the reward is a hill or a smooth curve of its inputs, as it would be best at a corner otherwise.
    Linear,
    /// Positive: the exponential of a smooth curve, or a linear function that is bent upwards or saturates.
    Warped,
}

/// The inputs of a mechanism.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) parents: &'a [String],
    pub(super) actions: &'a [String],
    /// Actions that are names, with how many there are.
    pub(super) choices: &'a [(String, usize)],
}

impl<'a> Inputs<'a> {
    pub(super) fn none(self) -> bool {
        self.parents.is_empty() && self.actions.is_empty() && self.choices.is_empty()
    }

    /// All names, parents first: the order in which trials have their values.
    pub(super) fn names(self) -> impl Iterator<Item = &'a String> {
        self.parents.iter().chain(self.actions)
    }

    /// Names with random lengthscales.
    fn lengths(self, rng: &mut ChaCha8Rng) -> Vec<(&'a str, f64)> {
        let mut inputs = Vec::new();
        for (names, range) in [(self.parents, PARENT_LENGTHS), (self.actions, ACTION_LENGTHS)] {
            for name in names {
                let lengthscale = rng.random_range(range[0].ln()..range[1].ln()).exp();
                inputs.push((name.as_str(), lengthscale));
            }
        }
        inputs
    }
}

/// A mechanism without noise, as a formula.
pub(super) fn mechanism(
    form: Form,
    inputs: Inputs<'_>,
    is_reward: bool,
    trials: &Trials,
    rng: &mut ChaCha8Rng,
) -> String {
    if inputs.none() {
        return format!("{:.4}", rng.random_range(-1.0..1.0));
    }
    if !inputs.choices.is_empty() {
        return named(inputs, rng);
    }
    let standard = |formula: String| trials.standardised(&formula, inputs);
    match form {
        Form::Free => {
            let lengths = inputs.lengths(rng);
            let rough = rng.random_bool(0.5);
            process(&lengths, rough, FEATURES, rng)
        }
        Form::Additive => standard(additive(inputs, rng)),
        Form::Scaled => standard(scaled(inputs, rng)),
        Form::Linear if !is_reward => standard(linear(inputs, rng)),
        Form::Linear if rng.random_bool(0.5) => standard(hill(inputs, rng)),
        Form::Linear => standard(smooth(inputs, rng)),
        Form::Warped => trials.scaled(&warped(inputs, is_reward, trials, rng), inputs),
    }
}

/// A draw from a Gaussian process of unit variance: `sqrt(2/M) Σ cos(w·z + b)`.
///
/// `w` is normal over the lengthscale for a squared exponential, and Student-t with 5 degrees of freedom for a
/// Matern-5/2 kernel, which is rough.
fn process(inputs: &[(&str, f64)], rough: bool, features: usize, rng: &mut ChaCha8Rng) -> String {
    let mut text = format!("{:.5} * (", (2.0 / features as f64).sqrt());
    for feature in 0..features {
        let stretch = match ChiSquared::new(5.0) {
            Ok(chi) if rough => f64::sqrt(5.0 / chi.sample(rng)),
            _ => 1.0,
        };
        text.push_str(if feature == 0 { "cos(" } else { " + cos(" });
        for (name, lengthscale) in inputs {
            let z: f64 = StandardNormal.sample(rng);
            let _ = write!(text, "{:.4} * {name} + ", stretch * z / lengthscale);
        }
        let _ = write!(text, "{:.4})", rng.random_range(0.0..std::f64::consts::TAU));
    }
    text.push(')');
    text
}

/// What names do, of about unit variance: each of the first choice has a function of the numbers of its own, which shares something with those
/// of the others, and a level; the names of further choices have levels.
fn named(inputs: Inputs<'_>, rng: &mut ChaCha8Rng) -> String {
    let numbers = Inputs { choices: &[], ..inputs };
    let rough = rng.random_bool(0.5);
    let function = |rng: &mut ChaCha8Rng| match numbers.none() {
        true => "0".to_owned(),
        false => process(&numbers.lengths(rng), rough, CURVE_FEATURES, rng),
    };
    let common: f64 = rng.random_range(0.0..0.7);
    let mut text = format!("{:.4} * ({})", common.sqrt(), function(rng));
    for (place, (choice, count)) in inputs.choices.iter().enumerate() {
        for name in (0..*count).map(name_of) {
            let level: f64 = StandardNormal.sample(rng);
            let own = if place == 0 { function(rng) } else { "0".to_owned() };
            let own = format!("{:.4} + {:.4} * ({own})", LEVEL * level, (1.0 - common).sqrt());
            let _ = write!(text, " + ({choice} == '{name}') * ({own})");
        }
    }
    let variance = f64::from(u8::from(!numbers.none())) + inputs.choices.len() as f64 * LEVEL * LEVEL;
    format!("{:.4} * ({text})", variance.sqrt().recip())
}

/// A draw from a squared exponential process of all inputs.
fn smooth(inputs: Inputs<'_>, rng: &mut ChaCha8Rng) -> String {
    let lengths = inputs.lengths(rng);
    process(&lengths, false, FEATURES, rng)
}

fn additive(inputs: Inputs<'_>, rng: &mut ChaCha8Rng) -> String {
    let terms: Vec<String> = inputs
        .lengths(rng)
        .into_iter()
        .map(|input| {
            let (weight, rough) = (rng.random_range(0.5..1.5), rng.random_bool(0.5));
            format!("{weight:.4} * {}", process(&[input], rough, CURVE_FEATURES, rng))
        })
        .collect();
    terms.join(" + ")
}

fn scaled(inputs: Inputs<'_>, rng: &mut ChaCha8Rng) -> String {
    let [actions, parents] = [Inputs { parents: &[], ..inputs }, Inputs { actions: &[], ..inputs }]
        .map(|part| (!part.none()).then_some(part));
    let curve = actions.map(|part| smooth(part, rng));
    let line = parents.map(|part| linear(part, rng));
    match (curve, line) {
        (Some(curve), Some(line)) => format!("({curve}) * ({line})"),
        (curve, line) => curve.or(line).unwrap_or_default(),
    }
}

/// A constant and a term of each input, none of which is negligible.
fn linear(inputs: Inputs<'_>, rng: &mut ChaCha8Rng) -> String {
    let mut text = format!("{:.4}", rng.random_range(-1.0..1.0));
    for (name, deviation) in deviations(inputs) {
        let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
        let _ = write!(text, " + {:.4} * {name}", sign * rng.random_range(0.5..1.5) / deviation);
    }
    text
}

/// A quadratic with its top where the inputs are now and then.
fn hill(inputs: Inputs<'_>, rng: &mut ChaCha8Rng) -> String {
    let mut text = "0".to_owned();
    for (name, deviation) in deviations(inputs) {
        let (weight, off) = (rng.random_range(0.5..1.5), rng.random_range(-1.0..1.0));
        let centre = if deviation < 1.0 { 0.5 } else { 0.0 };
        let top = centre + deviation * off;
        let _ = write!(text, " - {:.4} * ({name} - {top:.4})^2", weight / (deviation * deviation));
    }
    text
}

fn warped(inputs: Inputs<'_>, is_reward: bool, trials: &Trials, rng: &mut ChaCha8Rng) -> String {
    // A reward that only grows with its inputs would be best at a corner.
    let bend = if is_reward { 0 } else { rng.random_range(0..3) };
    if bend == 0 {
        return format!("exp(0.7 * {})", smooth(inputs, rng));
    }
    let line = trials.standardised(&linear(inputs, rng), inputs);
    if bend == 1 {
        format!("log(1 + exp(1.5 * ({line})))^{:.3}", rng.random_range(0.5..2.0))
    } else {
        format!("sigmoid({:.4} * ({line}))", rng.random_range(1.0..3.0))
    }
}

/// Names with their standard deviations.
fn deviations(inputs: Inputs<'_>) -> impl Iterator<Item = (&str, f64)> {
    let parents = inputs.parents.iter().map(|name| (name.as_str(), 1.0));
    parents.chain(inputs.actions.iter().map(|name| (name.as_str(), ACTION_DEVIATION)))
}
