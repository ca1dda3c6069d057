//! How values lie along an axis.

use mcbo_core::{Action, Node, Scale};

use crate::draw::{labelled_ticks, shorten, sized};

/// How the values of an input or a column lie along its axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Along {
    /// Where they are.
    Numbers,
    /// At 0, 1, 2 and so on.
    Names(Vec<String>),
    /// By their ratios: 0 and 1 are the ends of the action's range.
    Ratios(Box<Action>),
}

impl Along {
    pub(crate) fn of_action(action: &Action) -> Self {
        match action.scale {
            Scale::Log => Self::Ratios(Box::new(action.clone())),
            Scale::Linear => Self::of_names(&action.choices),
        }
    }

    pub(crate) fn of_node(node: &Node) -> Self {
        Self::of_names(&node.choices)
    }

    fn of_names(names: &[String]) -> Self {
        if names.is_empty() { Self::Numbers } else { Self::Names(names.to_vec()) }
    }

    /// The names; none for numbers.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Names(names) => names,
            _ => &[],
        }
    }

    pub(crate) fn is_named(&self) -> bool {
        !self.names().is_empty()
    }

    /// The place of a value.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self {
            Self::Numbers | Self::Names(_) => value,
            Self::Ratios(action) => action.share(value),
        }
    }

    /// The value at a place; between two names there is none, and the nearer one is meant.
    pub(crate) fn value(&self, place: f64) -> f64 {
        match self {
            Self::Numbers => place,
            Self::Names(names) => place.round().clamp(0.0, (names.len() - 1) as f64),
            Self::Ratios(action) => action.at_share(place),
        }
    }

    /// About so many places with their values in words.
    pub(crate) fn ticks(&self, shown: [f64; 2], wanted: usize) -> Vec<(f64, String)> {
        match self {
            Self::Numbers => labelled_ticks(shown, wanted),
            Self::Names(names) => {
                names.iter().enumerate().map(|(place, name)| (place as f64, shorten(name))).collect()
            }
            Self::Ratios(action) => ratio_ticks(action, shown, wanted),
        }
    }
}

/// Powers of ten, or every few of them where they are many, with what lies between where they are few; and what means not acting.
fn ratio_ticks(action: &Action, shown: [f64; 2], wanted: usize) -> Vec<(f64, String)> {
    let neutral = action.share(action.neutral);
    let apart = !(0.0..=1.0).contains(&neutral) && (shown[0]..=shown[1]).contains(&neutral);
    // Between the range and what lies apart from it there is nothing.
    let [least, most] = if apart { [-1e-9, 1.0 + 1e-9] } else { shown };
    let is_shown = |value: &f64| (least..=most).contains(&action.share(*value));
    let [low, high] = action.range.map(f64::log10);
    // What lies a little beyond the range may be shown too.
    let powers = low.floor() as i32 - 1..=high.ceil() as i32;
    let of = |mantissas: &[f64], every: i32| -> Vec<f64> {
        let powers = powers.clone().filter(|power| power.rem_euclid(every) == 0);
        // As text, so that they are round.
        let value = |mantissa: &f64, power: i32| format!("{mantissa}e{power}").parse().unwrap_or(f64::NAN);
        powers
            .flat_map(|power| mantissas.iter().map(move |mantissa| value(mantissa, power)))
            .filter(is_shown)
            .collect()
    };
    let all = of(&[1.0], 1).len().max(1);
    let mut values = match all {
        0..=1 => of(&[1.0, 2.0, 5.0], 1),
        2 => of(&[1.0, 3.0], 1),
        _ => of(&[1.0], all.div_ceil(wanted + 1) as i32),
    };
    if values.len() < 2 {
        values = action.range.to_vec();
    }
    if apart {
        values.insert(if neutral < 0.0 { 0 } else { values.len() }, action.neutral);
    }
    values.into_iter().map(|value| (action.share(value), sized(value))).collect()
}

#[cfg(test)]
mod tests {
    use mcbo_core::Problem;

    use super::*;

    fn ratios(range: [f64; 2], neutral: f64) -> Along {
        let problem = Problem::builder("doses")
            .action_with_neutral("dose", range, neutral)
            .action_scale("dose", Scale::Log)
            .node("y", |n| n.actions(["dose"]))
            .maximize("y")
            .build()
            .expect("a problem");
        Along::of_action(&problem.actions()[0])
    }

    #[test]
    fn ticks_of_ratios_are_round_and_few() {
        let texts = |range: [f64; 2], neutral: f64| -> Vec<String> {
            let along = ratios(range, neutral);
            let shown = [along.place(neutral).min(-0.03), 1.03];
            let ticks = along.ticks(shown, 4);
            for (place, text) in &ticks {
                let value: f64 = text.replace('−', "-").parse().expect("a number");
                assert!((along.place(value) - place).abs() < 1e-9 && (shown[0]..=shown[1]).contains(place));
            }
            ticks.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts([0.01, 100.0], 0.01), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(texts([1e-4, 10.0], 0.0), ["0", "1e−4", "0.01", "1"]);
        assert_eq!(texts([1.0, 30.0], 1.0), ["1", "3", "10", "30"]);
        assert_eq!(texts([2.0, 9.0], 2.0), ["2", "5"]);
        assert_eq!(texts([3.0, 4.0], 3.0), ["3", "4"]);
        assert_eq!(texts([1e-9, 1.0], 1e-9), ["1e−8", "1e−6", "1e−4", "0.01", "1"]);
    }

    #[test]
    fn values_and_places_belong_together() {
        for along in [Along::Numbers, Along::of_names(&["a".into(), "b".into()]), ratios([0.01, 10.0], 0.0)] {
            for value in [0.0, 1.0] {
                assert!((along.value(along.place(value)) - value).abs() < 1e-12);
            }
        }
        assert_eq!(Along::of_names(&["a".into(), "b".into()]).value(0.7), 1.0);
    }
}
