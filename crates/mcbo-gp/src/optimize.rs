//! Minimisation inside a box by a limited-memory quasi-Newton method, driven from outside.
//!
//! [`Minimizer`] never calls the function: it names the next point, and is told the value and gradient
//! there. Many of them run in lock-step this way, and their points are evaluated as one batch of matrix products,
//! which is where the speed of the acquisition search comes from.

/// When a minimisation stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Evaluations of the function at the most.
    pub evaluations: usize,
    /// Stop when an iteration lowers the value by less than this fraction of its size.
    pub value_tolerance: f64,
    /// Stop when no entry of the projected gradient is larger.
    pub gradient_tolerance: f64,
    /// Length of the first step, as the largest change of any variable.
    pub first_step: f64,
}

impl Default for StopRule {
    fn default() -> Self {
        Self { evaluations: 200, value_tolerance: 1e-9, gradient_tolerance: 1e-6, first_step: 0.1 }
    }
}

/// Curvature pairs that are remembered.
const MEMORY: usize = 8;
/// Sufficient decrease (Armijo).
const DECREASE: f64 = 1e-4;
/// Sufficient loss of slope (weak Wolfe).
const CURVATURE: f64 = 0.9;
/// Evaluations of one line search.
const LINE_EVALUATIONS: usize = 14;

/// A bounded quasi-Newton minimisation (projected L-BFGS with a weak-Wolfe line search), as a state machine.
///
/// ```
/// use mcbo_gp::optimize::{Minimizer, StopRule};
/// let mut search = Minimizer::new(vec![0.0, 0.0], vec![-2.0, -2.0], vec![2.0, 0.5], StopRule::default());
/// while !search.is_done() {
///     let x = search.query();
///     let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
///     let gradient = [-2.0 * a - 400.0 * x[0] * b, 200.0 * b];
///     search.tell(a * a + 100.0 * b * b, &gradient);
/// }
/// let (x, value) = search.best();
/// assert!((x[1] - 0.5).abs() < 1e-9, "the bound is active");
/// assert!(value < 0.09);
/// ```
#[derive(Debug, Clone)]
pub struct Minimizer {
    lower: Vec<f64>,
    upper: Vec<f64>,
    rule: StopRule,
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    bracket: (f64, f64),
    /// The best point of the running line search that satisfies the decrease condition.
    kept: Option<(Vec<f64>, f64, Vec<f64>)>,
    pairs: std::collections::VecDeque<(Vec<f64>, Vec<f64>)>,
    line_evaluations: usize,
    evaluations: usize,
    started: bool,
    done: bool,
}

impl Minimizer {
    /// Starts at `start`, moved into the box if it is outside.
    pub fn new(start: Vec<f64>, lower: Vec<f64>, upper: Vec<f64>, rule: StopRule) -> Self {
        let n = start.len();
        assert!(lower.len() == n && upper.len() == n, "bounds must have the length of the start");
        let start: Vec<f64> =
            start.iter().zip(lower.iter().zip(&upper)).map(|(x, (l, u))| x.max(*l).min(*u)).collect();
        Self {
            lower,
            upper,
            rule,
            trial: start.clone(),
            x: start,
            value: f64::INFINITY,
            gradient: vec![0.0; n],
            direction: vec![0.0; n],
            slope: 0.0,
            step: 0.0,
            bracket: (0.0, f64::INFINITY),
            kept: None,
            pairs: std::collections::VecDeque::with_capacity(MEMORY),
            line_evaluations: 0,
            evaluations: 0,
            started: false,
            done: false,
        }
    }

    /// Whether there is nothing more to ask.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The point where the function is wanted next.
    pub fn query(&self) -> &[f64] {
        &self.trial
    }

    /// The best point so far and its value.
    pub fn best(&self) -> (&[f64], f64) {
        (&self.x, self.value)
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Gives the search more evaluations, which revives it if it had run out of them.
    pub fn extend(&mut self, evaluations: usize) {
        if self.done && self.evaluations >= self.rule.evaluations && self.started && self.value.is_finite() {
            self.done = false;
            self.rule.evaluations = self.evaluations + evaluations;
            self.begin_line();
        } else {
            self.rule.evaluations = self.evaluations + evaluations;
        }
    }

    /// Takes the value and gradient at [`Self::query`]. A value that is not finite counts as infinitely bad.
    pub fn tell(&mut self, value: f64, gradient: &[f64]) {
        if self.done {
            return;
        }
        self.evaluations += 1;
        let usable = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        if !self.started {
            if !usable {
                self.done = true;
                return;
            }
            self.started = true;
            self.value = value;
            self.gradient.copy_from_slice(gradient);
            self.begin_line();
        } else {
            self.line_evaluations += 1;
            self.advance_line(value, gradient, usable);
        }
        if self.evaluations >= self.rule.evaluations && !self.done {
            if let Some(kept) = self.kept.take() {
                (self.x, self.value, self.gradient) = kept;
            }
            self.done = true;
        }
    }

    fn advance_line(&mut self, value: f64, gradient: &[f64], usable: bool) {
        let predicted: f64 =
            self.gradient.iter().zip(self.trial.iter().zip(&self.x)).map(|(g, (t, x))| g * (t - x)).sum();
        let decreases = usable && value <= self.value + DECREASE * predicted && predicted < 0.0;
        if decreases {
            // The slope along the projected path: variables that hit their bound no longer move.
            let slope: f64 = (0..gradient.len())
                .filter(|&i| self.trial[i] > self.lower[i] && self.trial[i] < self.upper[i])
                .map(|i| gradient[i] * self.direction[i])
                .sum();
            let better = self.kept.as_ref().is_none_or(|kept| value < kept.1);
            if better {
                self.kept = Some((self.trial.clone(), value, gradient.to_vec()));
            }
            if slope >= CURVATURE * self.slope || self.line_evaluations >= LINE_EVALUATIONS || !better {
                return self.accept();
            }
            self.bracket.0 = self.step;
            self.step = if self.bracket.1.is_finite() {
                0.5 * (self.bracket.0 + self.bracket.1)
            } else {
                3.0 * self.step
            };
        } else {
            if self.line_evaluations >= LINE_EVALUATIONS {
                return if self.kept.is_some() { self.accept() } else { self.done = true };
            }
            self.bracket.1 = self.step;
            self.step = if self.bracket.0 > 0.0 {
                0.5 * (self.bracket.0 + self.bracket.1)
            } else if usable {
                // The minimum of the parabola through value, slope and the new value.
                let curvature = value - self.value - self.slope * self.step;
                let ratio = (-0.5 * self.slope * self.step / curvature).clamp(0.1, 0.5);
                self.step * if ratio.is_finite() { ratio } else { 0.5 }
            } else {
                0.1 * self.step
            };
        }
        self.place_trial();
    }

    /// Moves to the kept point of the line search and begins the next one.
    fn accept(&mut self) {
        let Some((x, value, gradient)) = self.kept.take() else {
            self.done = true;
            return;
        };
        let s: Vec<f64> = x.iter().zip(&self.x).map(|(new, old)| new - old).collect();
        let y: Vec<f64> = gradient.iter().zip(&self.gradient).map(|(new, old)| new - old).collect();
        let gain = self.value - value;
        if dot(&s, &y) > 1e-12 * (dot(&s, &s) * dot(&y, &y)).sqrt() {
            if self.pairs.len() == MEMORY {
                self.pairs.pop_front();
            }
            self.pairs.push_back((s, y));
        }
        let small = gain <= self.rule.value_tolerance * self.value.abs().max(value.abs()).max(1e-300);
        (self.x, self.value, self.gradient) = (x, value, gradient);
        if small {
            self.done = true;
        } else {
            self.begin_line();
        }
    }

    fn begin_line(&mut self) {
        let n = self.x.len();
        // A variable at its bound whose descent points outside is held there.
        let free: Vec<bool> = (0..n)
            .map(|i| {
                !(self.x[i] <= self.lower[i] && self.gradient[i] > 0.0
                    || self.x[i] >= self.upper[i] && self.gradient[i] < 0.0)
            })
            .collect();
        let largest = (0..n).filter(|&i| free[i]).fold(0.0_f64, |m, i| m.max(self.gradient[i].abs()));
        if largest <= self.rule.gradient_tolerance {
            self.done = true;
            return;
        }
        self.two_loop(&free);
        self.slope = dot(&self.direction, &self.gradient);
        self.step = 1.0;
        if self.pairs.is_empty() || self.slope >= 0.0 {
            self.pairs.clear();
            for i in 0..n {
                self.direction[i] = if free[i] { -self.gradient[i] } else { 0.0 };
            }
            self.slope = dot(&self.direction, &self.gradient);
            self.step = self.rule.first_step / largest;
        }
        self.bracket = (0.0, f64::INFINITY);
        self.kept = None;
        self.line_evaluations = 0;
        self.place_trial();
    }

    /// The two-loop recursion on the free variables.
    fn two_loop(&mut self, free: &[bool]) {
        let n = self.x.len();
        let masked = |a: &[f64], b: &[f64]| -> f64 { (0..n).filter(|&i| free[i]).map(|i| a[i] * b[i]).sum() };
        let q = &mut self.direction;
        for i in 0..n {
            q[i] = if free[i] { -self.gradient[i] } else { 0.0 };
        }
        let mut coefficients = Vec::with_capacity(self.pairs.len());
        let mut scale = None;
        for (s, y) in self.pairs.iter().rev() {
            let sy = masked(s, y);
            if sy <= 1e-14 * (masked(s, s) * masked(y, y)).sqrt() {
                coefficients.push(None);
                continue;
            }
            scale.get_or_insert_with(|| sy / masked(y, y));
            let a = masked(s, q) / sy;
            for i in 0..n {
                if free[i] {
                    q[i] -= a * y[i];
                }
            }
            coefficients.push(Some((a, sy)));
        }
        let scale = scale.unwrap_or(1.0);
        q.iter_mut().for_each(|q| *q *= scale);
        for ((s, y), coefficient) in self.pairs.iter().zip(coefficients.iter().rev()) {
            if let Some((a, sy)) = coefficient {
                let b = masked(y, q) / sy;
                for i in 0..n {
                    if free[i] {
                        q[i] += (a - b) * s[i];
                    }
                }
            }
        }
    }

    /// Puts the trial point on the projected path; a step that moves nothing ends the search.
    fn place_trial(&mut self) {
        let mut moved = false;
        for i in 0..self.x.len() {
            self.trial[i] = (self.x[i] + self.step * self.direction[i]).max(self.lower[i]).min(self.upper[i]);
            moved |= self.trial[i] != self.x[i];
        }
        if !moved || !self.step.is_finite() {
            if self.kept.is_some() {
                self.accept();
            } else {
                self.done = true;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Minimises `function` from `start` in one call; it writes the gradient and returns the value.
pub fn minimize(
    start: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    rule: StopRule,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Minimizer {
    let mut gradient = vec![0.0; start.len()];
    let mut search = Minimizer::new(start, lower, upper, rule);
    while !search.is_done() {
        let value = function(search.query(), &mut gradient);
        search.tell(value, &gradient);
    }
    search
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64], g: &mut [f64]) -> f64 {
        g.fill(0.0);
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            g[i] += -2.0 * a - 400.0 * x[i] * b;
            g[i + 1] += 200.0 * b;
        }
        value
    }

    #[test]
    fn rosenbrock_in_ten_dimensions() {
        let rule = StopRule { evaluations: 500, value_tolerance: 1e-14, ..StopRule::default() };
        let search = minimize(vec![-1.2; 10], vec![-2.0; 10], vec![2.0; 10], rule, rosenbrock);
        assert!(search.best().1 < 1e-9, "{:?}", search.best());
        assert!(search.evaluations() < 200, "{} evaluations", search.evaluations());
    }

    #[test]
    fn a_quadratic_with_active_bounds_meets_its_optimality_conditions() {
        // min ½ xᵀAx - bᵀx in [0,1]^n, A tridiagonal and positive definite.
        let n = 30;
        let b: Vec<f64> = (0..n).map(|i| 2.0 * (i as f64 * 1.7).sin()).collect();
        let rule = StopRule {
            evaluations: 400,
            value_tolerance: 0.0,
            gradient_tolerance: 1e-9,
            ..StopRule::default()
        };
        let gradient_at = |x: &[f64], g: &mut [f64]| {
            let mut value = 0.0;
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < n { x[i + 1] } else { 0.0 };
                g[i] = 2.5 * x[i] - left - right - b[i];
                value += 0.5 * x[i] * (2.5 * x[i] - left - right) - b[i] * x[i];
            }
            value
        };
        let search = minimize(vec![0.5; n], vec![0.0; n], vec![1.0; n], rule, gradient_at);
        let (x, _) = search.best();
        let mut g = vec![0.0; n];
        gradient_at(x, &mut g);
        for i in 0..n {
            match x[i] {
                0.0 => assert!(g[i] > -1e-7),
                1.0 => assert!(g[i] < 1e-7),
                _ => assert!(g[i].abs() < 1e-6, "entry {i}: x {} gradient {}", x[i], g[i]),
            }
        }
    }

    #[test]
    fn infinite_values_are_backed_away_from() {
        let barrier = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / x[0];
            if x[0] <= 0.0 { f64::NAN } else { x[0] - x[0].ln() }
        };
        let rule = StopRule { first_step: 50.0, ..StopRule::default() };
        let search = minimize(vec![5.0], vec![-100.0], vec![100.0], rule, barrier);
        assert!((search.best().0[0] - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_kink_does_not_stall_it_far_away() {
        let kink = |x: &[f64], g: &mut [f64]| {
            g[0] = (x[0] - 0.3).signum() + 0.2 * x[0];
            g[1] = 2.0 * (x[1] - 0.5);
            (x[0] - 0.3).abs() + 0.1 * x[0] * x[0] + (x[1] - 0.5) * (x[1] - 0.5)
        };
        let search = minimize(vec![-0.9, -0.9], vec![-1.0; 2], vec![1.0; 2], StopRule::default(), kink);
        assert!((search.best().1 - 0.009).abs() < 2e-3, "{:?}", search.best());
    }
}
