//! What the values of actions must keep to together: linear inequalities, always or under some names only, and the nearest point that
//! keeps to them.

use super::Curve;

/// Numbers that a weighted sum may not exceed: `Σ_k c_k x_k ≤ most`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HalfSpace {
    /// Places with their weights, none of them 0.
    pub terms: Vec<(usize, f64)>,
    pub most: f64,
    /// Whether all points that keep to it lie on its border: one side of an equality.
    pub border: bool,
    /// The coordinates that stand for names, each with those values of it under which this holds; always, if there are none.
    pub when: Vec<(usize, Vec<f64>)>,
}

/// Coordinates this close stand for the same name.
const SAME_NAME: f64 = 1e-6;

impl HalfSpace {
    /// Whether it holds under the names of a point.
    pub fn applies(&self, x: &[f64]) -> bool {
        self.when.iter().all(|(k, names)| names.iter().any(|name| (name - x[*k]).abs() < SAME_NAME))
    }

    /// By how much a point exceeds it; negative where there is room.
    pub fn excess(&self, x: &[f64]) -> f64 {
        self.terms.iter().map(|&(k, c)| c * x[k]).sum::<f64>() - self.most
    }

    /// The least excess in a box.
    pub fn least(&self, lower: &[f64], upper: &[f64]) -> f64 {
        let least = |&(k, c): &(usize, f64)| (c * lower[k]).min(c * upper[k]);
        self.terms.iter().map(least).sum::<f64>() - self.most
    }

    /// The multiple `t ≥ 0` of the weights that must be taken off `y`, within the box, so that nothing is exceeded; `None` if the
    /// box has no such point.
    fn multiple(&self, y: &[f64], lower: &[f64], upper: &[f64]) -> Option<f64> {
        let at = |t: f64| {
            let part = |&(k, c): &(usize, f64)| c * (y[k] - c * t).clamp(lower[k], upper[k]);
            self.terms.iter().map(part).sum::<f64>() - self.most
        };
        let mut before = (0.0, at(0.0));
        if before.1 <= ROUNDING {
            return Some(0.0);
        }
        let least = self.least(lower, upper);
        if least > ROUNDING {
            return None;
        }
        // A little inside, so that rounding does not lead out again.
        let aim = if least < -INSIDE { -INSIDE } else { least };
        let ends = self.terms.iter().flat_map(|&(k, c)| [(y[k] - lower[k]) / c, (y[k] - upper[k]) / c]);
        let mut breaks: Vec<f64> = ends.filter(|t| *t > 0.0).collect();
        breaks.sort_by(f64::total_cmp);
        for t in breaks {
            let now = (t, at(t));
            if now.1 <= aim {
                let share = (before.1 - aim) / (before.1 - now.1);
                return Some(before.0 + share * (now.0 - before.0));
            }
            before = now;
        }
        Some(before.0)
    }
}

/// An excess of this size is rounding; weights have size 1.
const ROUNDING: f64 = 1e-10;
/// How far inside a projected point lies.
const INSIDE: f64 = 1e-9;
/// Rounds over all half-spaces before a box is taken to have no point of theirs.
const ROUNDS: usize = 2000;

/// How a point was moved to where it keeps to half-spaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Projection {
    /// The half-spaces that it was moved to the border of.
    active: Vec<usize>,
    /// Coordinates that were stopped by the box.
    stopped: Vec<bool>,
}

/// Moves a point of a box to the nearest one of it that keeps to all half-spaces that hold under its names, which the box must not let
/// move; `None` if there is none. The weights of every half-space have size 1.
///
/// By Hildreth's method: the multiples of the weights are found in turn, each exactly, until none changes. One half-space
/// takes one round.
pub(crate) fn project(
    spaces: &[HalfSpace],
    lower: &[f64],
    upper: &[f64],
    point: &mut [f64],
) -> Option<Projection> {
    let holding: Vec<usize> = (0..spaces.len()).filter(|&i| spaces[i].applies(point)).collect();
    let within = |x: &[f64], slack: f64| holding.iter().all(|&i| spaces[i].excess(x) <= slack);
    let borders = |active: &dyn Fn(usize) -> bool| {
        holding.iter().copied().filter(|&i| spaces[i].border || active(i)).collect::<Vec<usize>>()
    };
    if within(point, ROUNDING) {
        return Some(Projection { active: borders(&|_| false), stopped: vec![false; point.len()] });
    }
    let mut y = point.to_vec();
    let mut multiples = vec![0.0; spaces.len()];
    for _ in 0..ROUNDS {
        let mut change = 0.0_f64;
        for &i in &holding {
            let (space, multiple) = (&spaces[i], &mut multiples[i]);
            space.terms.iter().for_each(|&(k, c)| y[k] += c * *multiple);
            let next = space.multiple(&y, lower, upper)?;
            space.terms.iter().for_each(|&(k, c)| y[k] -= c * next);
            change = change.max((next - *multiple).abs());
            *multiple = next;
        }
        if change < 1e-13 {
            break;
        }
    }
    let moved: Vec<f64> = (0..y.len()).map(|k| y[k].clamp(lower[k], upper[k])).collect();
    if !within(&moved, 10.0 * ROUNDING) {
        return None;
    }
    let stopped = (0..y.len()).map(|k| y[k] < lower[k] || y[k] > upper[k]).collect();
    point.copy_from_slice(&moved);
    Some(Projection { active: borders(&|i| multiples[i] > 0.0), stopped })
}

impl Projection {
    /// Turns the derivative at the projected point into that by the point before: what leads out of the borders is taken off.
    pub fn pull_back(&self, spaces: &[HalfSpace], gradient: &mut [f64]) {
        if self.active.is_empty() {
            return;
        }
        for (g, stopped) in gradient.iter_mut().zip(&self.stopped) {
            if *stopped {
                *g = 0.0;
            }
        }
        // Gram and Schmidt over the borders: few, and those that depend on others are left out.
        let mut directions: Vec<Vec<f64>> = Vec::new();
        for &active in &self.active {
            let mut direction = vec![0.0; gradient.len()];
            for &(k, c) in spaces[active].terms.iter().filter(|(k, _)| !self.stopped[*k]) {
                direction[k] = c;
            }
            let size = norm(&direction);
            for other in &directions {
                let along = dot(&direction, other);
                direction.iter_mut().zip(other).for_each(|(d, o)| *d -= along * o);
            }
            let left = norm(&direction);
            if left > 1e-9 * size {
                direction.iter_mut().for_each(|d| *d /= left);
                directions.push(direction);
            }
        }
        for direction in directions {
            let along = dot(gradient, &direction);
            gradient.iter_mut().zip(&direction).for_each(|(g, d)| *g -= along * d);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Something that the values of actions must keep to: a weighted sum of them that may not exceed a number, or must be that number;
/// always, or under some names only. Names that rule each other out are a sum of nothing that may not exceed less than nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    text: String,
    when: Vec<(usize, Vec<f64>)>,
    terms: Vec<(usize, f64)>,
    most: f64,
    equality: bool,
    /// What counts as rounding.
    slack: f64,
}

impl Requirement {
    /// `sizes` is how large each action can be.
    pub(super) fn new(
        text: String,
        terms: Vec<(usize, f64)>,
        most: f64,
        equality: bool,
        sizes: &[f64],
    ) -> Self {
        let size = terms.iter().map(|&(action, c)| c.abs() * sizes[action]).sum::<f64>();
        Self { text, when: Vec::new(), terms, most, equality, slack: 1e-8 * size.max(most.abs()) }
    }

    /// The same of one action on a scale of ratios, where rounding is relative to the number itself.
    pub(super) fn of_ratios(self) -> Self {
        Self { slack: 1e-8 * self.most.abs(), ..self }
    }

    /// That some names do not go together.
    pub(super) fn excluding(text: String, when: Vec<(usize, Vec<f64>)>) -> Self {
        Self { text, when, terms: Vec::new(), most: -1.0, equality: false, slack: 0.0 }
    }

    /// The same under some names only: of every action that is named the places of its choices.
    pub(super) fn when(self, when: Vec<(usize, Vec<f64>)>) -> Self {
        Self { when, ..self }
    }

    /// The choices under which it holds: of every action that is named the places in the list of its choices. It always holds if there
    /// are none.
    pub fn conditions(&self) -> &[(usize, Vec<f64>)] {
        &self.when
    }

    /// Whether it is about names alone, which do not go together.
    pub fn is_exclusion(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it holds under the names among the values of all actions.
    pub(crate) fn applies(&self, actions: &[f64]) -> bool {
        self.when.iter().all(|(action, names)| names.contains(&actions[*action]))
    }

    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The actions it names with their weights: the weighted sum may not exceed [`Self::most`].
    pub fn terms(&self) -> &[(usize, f64)] {
        &self.terms
    }

    /// What the weighted sum may not exceed.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// Whether the sum must be just that, no less.
    pub fn is_equality(&self) -> bool {
        self.equality
    }

    /// By how much the values of all actions exceed it, or miss it; 0 where they keep to it, rounding aside.
    pub fn excess(&self, actions: &[f64]) -> f64 {
        if !self.applies(actions) {
            return 0.0;
        }
        self.beyond(self.terms.iter().map(|&(action, c)| c * actions[action]).sum::<f64>() - self.most)
    }

    /// What counts of an excess.
    fn beyond(&self, excess: f64) -> f64 {
        let excess = if self.equality { excess.abs() } else { excess };
        if excess <= self.slack { 0.0 } else { excess }
    }

    /// The half-spaces of some of the values, each `low + unit * width` on its scale, where the others are given: weights of size 1. An equality
    /// has two, a little further apart than projected points lie inside. `None` if the given values break it, whatever the others are.
    pub(crate) fn scaled(
        &self,
        given: &[f64],
        place: impl Fn(usize) -> Option<(usize, [f64; 2], Curve)>,
    ) -> Option<Vec<HalfSpace>> {
        let mut when = Vec::new();
        for (action, names) in &self.when {
            match place(*action) {
                Some((k, [low, high], _)) => {
                    when.push((k, names.iter().map(|name| (name - low) / (high - low)).collect()));
                }
                None if names.contains(&given[*action]) => {}
                None => return Some(Vec::new()),
            }
        }
        let (mut terms, mut most) = (Vec::new(), self.most);
        for &(action, c) in &self.terms {
            match place(action) {
                Some((k, [low, high], Curve::Straight)) => {
                    terms.push((k, c * (high - low)));
                    most -= c * low;
                }
                // An end of what a single one may be is one on any scale; sums have none of these.
                Some((k, ends, curve)) => {
                    let [low, high] = ends.map(|end| curve.at(end));
                    terms.push((k, c.signum() * (high - low)));
                    most = c.signum() * (curve.at(self.most / c) - low);
                }
                None => most -= c * given[action],
            }
        }
        let size = terms.iter().map(|(_, c)| c * c).sum::<f64>().sqrt();
        if terms.is_empty() {
            return match self.beyond(-most) > 0.0 {
                false => Some(Vec::new()),
                true if when.is_empty() => None,
                // Under these names nothing keeps to it.
                true => Some(vec![HalfSpace { terms, most: -1.0, border: false, when }]),
            };
        }
        terms.iter_mut().for_each(|(_, c)| *c /= size);
        let most = most / size;
        if !self.equality {
            return Some(vec![HalfSpace { terms, most, border: false, when }]);
        }
        let other = terms.iter().map(|&(k, c)| (k, -c)).collect();
        Some(vec![
            HalfSpace { terms, most: most + 2.0 * INSIDE, border: true, when: when.clone() },
            HalfSpace { terms: other, most: 2.0 * INSIDE - most, border: false, when },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(weights: &[f64], most: f64) -> HalfSpace {
        let size = norm(weights);
        let terms = weights.iter().enumerate().filter(|(_, c)| **c != 0.0).map(|(k, c)| (k, c / size));
        HalfSpace { terms: terms.collect(), most: most / size, border: false, when: Vec::new() }
    }

    fn noise(i: usize, k: usize) -> f64 {
        (((i * 7 + k * 13 + 1) as f64) * 0.618_033_988_7).fract()
    }

    /// Against every point of a fine grid: none that keeps to the half-spaces is nearer.
    #[test]
    fn projected_points_are_the_nearest() {
        let spaces = [unit(&[1.0, 1.0], 1.1), unit(&[1.0, -2.0], 0.3), unit(&[-1.0, -0.2], -0.15)];
        let (lower, upper) = ([0.0, 0.0], [1.0, 1.0]);
        for i in 0..40 {
            let from = [noise(i, 0), noise(i, 1)];
            let mut point = from.to_vec();
            project(&spaces, &lower, &upper, &mut point).expect("there are such points");
            assert!(spaces.iter().all(|space| space.excess(&point) <= 1e-9), "{point:?}");
            let distance = |x: &[f64]| (x[0] - from[0]).hypot(x[1] - from[1]);
            let mut nearest = f64::INFINITY;
            for a in 0..=400 {
                for b in 0..=400 {
                    let x = [f64::from(a) / 400.0, f64::from(b) / 400.0];
                    if spaces.iter().all(|space| space.excess(&x) <= 0.0) {
                        nearest = nearest.min(distance(&x));
                    }
                }
            }
            assert!(distance(&point) <= nearest + 1e-8, "{from:?} {point:?} {nearest}");
            assert!(distance(&point) >= nearest - 0.01, "{from:?} {point:?} {nearest}");
        }
    }

    /// The derivative of `g·P(p)` by `p`, against finite differences.
    #[test]
    fn derivatives_go_along_the_borders() {
        let spaces = [unit(&[1.0, 1.0, 0.5], 0.9), unit(&[0.0, 1.0, -1.0], 0.1)];
        let (lower, upper) = ([0.0; 3], [1.0; 3]);
        let weights = [0.3, -1.2, 0.8];
        let (mut moved, h) = (0, 1e-6);
        for i in 0..60 {
            let from = [noise(i, 2), noise(i, 3), noise(i, 4)];
            let value = |at: [f64; 3]| {
                let mut point = at.to_vec();
                project(&spaces, &lower, &upper, &mut point).expect("there are such points");
                dot(&point, &weights)
            };
            let mut point = from.to_vec();
            let projection = project(&spaces, &lower, &upper, &mut point).expect("there are such points");
            moved += usize::from(point != from);
            let mut gradient = weights.to_vec();
            projection.pull_back(&spaces, &mut gradient);
            for k in 0..3 {
                let shifted = |by: f64| {
                    let mut at = from;
                    at[k] += by;
                    value(at)
                };
                let numeric = (shifted(h) - shifted(-h)) / (2.0 * h);
                assert!((numeric - gradient[k]).abs() < 1e-5, "{from:?} {k}: {} {numeric}", gradient[k]);
            }
        }
        assert!(moved > 20);
    }

    /// Shares of a mixture: the nearest point of the plane within the box, and derivatives along it alone, on the plane and off it.
    #[test]
    fn equalities_are_planes() {
        let sum = Requirement::new(
            "a + b + c = 1".into(),
            vec![(0, 1.0), (1, 1.0), (2, 1.0)],
            1.0,
            true,
            &[1.0; 3],
        );
        let mut spaces =
            sum.scaled(&[0.0; 3], |k| Some((k, [0.0, 1.0], Curve::Straight))).expect("two sides");
        spaces.push(unit(&[1.0, 0.0, 0.0], 0.6));
        let (lower, upper) = ([0.0; 3], [1.0; 3]);
        for i in 0..60 {
            let from = [noise(i, 5), noise(i, 6), noise(i, 7)];
            let mut point = from.to_vec();
            project(&spaces, &lower, &upper, &mut point).expect("there are such points");
            assert_eq!(sum.excess(&point), 0.0, "{point:?}");
            let distance = |x: &[f64]| (0..3).map(|k| (x[k] - from[k]).powi(2)).sum::<f64>().sqrt();
            let mut nearest = f64::INFINITY;
            for a in 0..=120 {
                for b in 0..=200 - a {
                    let (a, b) = (f64::from(a) / 200.0, f64::from(b) / 200.0);
                    nearest = nearest.min(distance(&[a, b, 1.0 - a - b]));
                }
            }
            assert!(distance(&point) <= nearest + 1e-8, "{from:?} {point:?} {nearest}");
            assert!(distance(&point) >= nearest - 0.01, "{from:?} {point:?} {nearest}");
            // Once on it, it stays, and nothing leads out of it.
            let on = point.clone();
            let projection = project(&spaces, &lower, &upper, &mut point).expect("it is one");
            assert_eq!(point, on);
            let mut gradient = vec![0.3, -1.2, 0.8];
            projection.pull_back(&spaces, &mut gradient);
            assert!(gradient.iter().sum::<f64>().abs() < 1e-12, "{gradient:?}");
        }
        assert!(
            (sum.excess(&[0.5, 0.5, 0.1]) - 0.1).abs() < 1e-12
                && (sum.excess(&[0.2, 0.2, 0.2]) - 0.4).abs() < 1e-12
        );
        assert!(sum.is_equality());
        // All of it given.
        assert_eq!(sum.scaled(&[0.2, 0.3, 0.5], |_| None), Some(Vec::new()));
        assert_eq!(sum.scaled(&[0.2, 0.3, 0.4], |_| None), None);
    }

    /// Under one name a sum is bounded, under another it is not, and under a third nothing is allowed.
    #[test]
    fn names_decide_what_holds() {
        let spaces = [
            HalfSpace { when: vec![(2, vec![0.5])], ..unit(&[1.0, 1.0], 0.8) },
            HalfSpace { terms: Vec::new(), most: -1.0, border: false, when: vec![(2, vec![1.0])] },
        ];
        let held = |name: f64| {
            let (lower, upper) = ([0.0, 0.0, name], [1.0, 1.0, name]);
            let mut point = vec![0.9, 0.7, name];
            project(&spaces, &lower, &upper, &mut point).map(|_| point)
        };
        assert_eq!(held(0.0), Some(vec![0.9, 0.7, 0.0]));
        let moved = held(0.5).expect("there is one");
        assert!((moved[0] - 0.5).abs() < 1e-8 && (moved[1] - 0.3).abs() < 1e-8, "{moved:?}");
        assert_eq!(held(1.0), None);
    }

    #[test]
    fn what_nothing_keeps_to_is_found() {
        let (lower, upper) = ([0.0, 0.0], [1.0, 1.0]);
        let mut point = vec![0.5, 0.5];
        assert!(project(&[unit(&[1.0, 1.0], -0.1)], &lower, &upper, &mut point).is_none());
        // Each alone can be kept to, both together cannot.
        let both = [unit(&[1.0, 1.0], 0.5), unit(&[-1.0, -1.0], -0.6)];
        assert!(project(&both, &lower, &upper, &mut point).is_none());
        assert_eq!(point, [0.5, 0.5]);
        // A single point is left.
        let touching = [unit(&[1.0, 1.0], 0.5), unit(&[-1.0, -1.0], -0.5)];
        assert!(project(&touching, &lower, &upper, &mut point).is_some());
        assert!((point[0] + point[1] - 0.5).abs() < 1e-8);
    }
}
