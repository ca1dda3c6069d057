//! What is maximised where outcomes have limits: the same, less a price for breaking them.

use std::f64::consts::TAU;

use mcbo_gp::normal_probability;

use crate::decision::Place;
use crate::network::{Batch, Counting, Network, NoiseSamples, Plan, Systems, Workspace, luckiest};
use crate::problem::Limit;
use crate::quasi::{normal_sobol, sobol};
use crate::{Choice, Problem};

use super::Acquisition;
use super::log_improvement::tail_fraction;

/// Draws of the mechanisms, and realisations of the noise for each; half of both where an acquisition is looked at with fewer
/// samples than `FINE`.
const DRAWS: usize = 16;
const SAMPLES: usize = 4;
const FINE: usize = 16;
/// Realisations where what noise above a limited node makes there deviates by more than so many times the node's own noise, which alone is
/// integrated out.
const MANY_SAMPLES: usize = 16;
const MUCH_ABOVE: f64 = 2.0;
/// Log-odds below which the price grows with their square.
const ROUND: f64 = 0.2;
/// A node without noise keeps its limit or not. Its deviation counts as this share of its scale, so that there is a slope.
const SMALLEST: f64 = 0.02;
/// The same for a node whose noise is all above it, as a share of the deviation that it makes there: so few realisations leave gaps of this
/// size, in which a probability would not change.
const GAPS: f64 = 0.3;

/// How much a search pays for interventions that do not keep the limits, and by which of the systems that are plausible.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Price {
    /// What one unit of missing log-odds costs, in units of the reward.
    pub weight: f64,
    /// Log-odds that a limit is to be kept by more than what is wanted: a search that ends at the edge is on the right side of it,
    /// although it looks at few draws.
    pub margin: f64,
    /// Which systems count.
    pub counting: Counting,
}

/// An acquisition less the price for breaking limits.
pub(crate) struct Limited<'a> {
    inner: Box<dyn Acquisition + 'a>,
    toll: Toll<'a>,
}

/// The price for breaking limits.
///
/// The price of a limit is `w h(ln(p/(1-p)) - ln(P/(1-P)))` for the wanted probability `p` and the probability `P` of keeping it,
/// where `h` grows from 0 with the square and then straight on. `P` is the mean over draws of the mechanisms ([`Systems`]) and realisations
/// of the noise, `Φ(room/σ)` in each, the noise of the limited node taken to be normal. The logarithm keeps a slope where `P` is as
/// good as 0.
pub(crate) struct Toll<'a> {
    network: &'a Network,
    plan: Plan,
    noise: NoiseSamples,
    systems: Systems,
    /// The multiples of the deviations, `[draw][node and component]`.
    shifts: Vec<Vec<f64>>,
    limits: Vec<Watched>,
    price: Price,
}

/// A limit, and where what it is about comes from.
struct Watched {
    limit: Limit,
    parts: Vec<Part>,
    /// The log-odds that are wanted.
    wanted: f64,
}

/// One component of a limited node.
struct Part {
    source: ValueSource,
    /// The deviation of its noise in every draw.
    deviations: Vec<f64>,
    /// That as a multiple of what the network says of it.
    multiples: Vec<f64>,
}

enum ValueSource {
    Step { step: usize, component: usize },
    Decided { variable: usize },
}

impl<'a> Limited<'a> {
    /// An acquisition with its price.
    pub fn new(inner: Box<dyn Acquisition + 'a>, toll: Toll<'a>) -> Self {
        Self { inner, toll }
    }
}

impl<'a> Toll<'a> {
    /// The price of the decisions of one choice, looked at with so many samples.
    pub fn new(
        problem: &Problem,
        network: &'a Network,
        choice: &Choice,
        price: Price,
        samples: usize,
        seed: u64,
    ) -> Self {
        let share = if samples < FINE { 2 } else { 1 };
        let plan = Plan::for_limits(problem, network, choice);
        let mechanisms = plan.dim() - plan.decisions();
        let normal = |draw: usize| (0..mechanisms).map(|k| normal_sobol(draw, k, seed)).collect();
        let draws = if mechanisms == 0 { 1 } else { DRAWS / share };
        // In dimensions of their own, so that members and multiples are spread over together.
        let systems =
            network.systems(draws, |draw, process| sobol(draw as u32, (mechanisms + process) as u32, seed));
        let watched = |node: usize| {
            let declared = &problem.nodes()[node];
            let limit = declared.limit?;
            let part = |component: usize| {
                let step = plan.steps.iter().position(|step| step.node == node);
                let variable = plan.space.position(Place::Target { node, component });
                match (step, variable) {
                    (_, Some(variable)) => {
                        let deviation = SMALLEST * plan.space.variables()[variable].width();
                        let source = ValueSource::Decided { variable };
                        Some(Part { source, deviations: vec![deviation; draws], multiples: vec![1.0; draws] })
                    }
                    (Some(step), None) => {
                        let multiples: Vec<f64> =
                            (0..draws).map(|draw| systems.noise(node, component, draw)).collect();
                        let deviation =
                            |&multiple| network.smoothed_noise(node, component, multiple, SMALLEST);
                        let deviations = multiples.iter().map(deviation).collect();
                        Some(Part { source: ValueSource::Step { step, component }, deviations, multiples })
                    }
                    (None, None) => None,
                }
            };
            let parts = (0..declared.dim).map(part).collect::<Option<Vec<Part>>>()?;
            let wanted = (limit.probability / (1.0 - limit.probability)).ln() + price.margin;
            Some(Watched { limit, parts, wanted })
        };
        let limits = problem.limited().filter_map(watched).collect();
        let mut toll = Self {
            limits,
            noise: NoiseSamples::new(&plan, MANY_SAMPLES / share, seed),
            systems,
            shifts: (0..draws).map(normal).collect(),
            network,
            plan,
            price,
        };
        if !toll.fill_gaps() {
            toll.noise = NoiseSamples::new(&toll.plan, SAMPLES / share, seed);
        }
        toll
    }

    /// Lets no node have less noise of its own than what so few realisations of the noise above leave out, seen from the middle of what can
    /// be decided. Whether the noise above any is much.
    fn fill_gaps(&mut self) -> bool {
        let (draws, samples) = (self.shifts.len(), self.noise.count());
        if self.plan.steps.is_empty() || samples == 1 {
            return false;
        }
        let mut much = false;
        let middle =
            |shift: &Vec<f64>| std::iter::repeat_n(0.5, self.plan.decisions()).chain(shift.clone()).collect();
        let points: Vec<Vec<f64>> = self.shifts.iter().map(middle).collect();
        let mut workspace = Workspace::default();
        let batch = Batch { points: &points.concat(), beta: 1.0, noise: &self.noise };
        self.network.forward_in_systems(&self.plan, &self.systems, batch, false, &mut workspace);
        for part in self.limits.iter_mut().flat_map(|watched| &mut watched.parts) {
            let ValueSource::Step { step, component } = part.source else { continue };
            let values = workspace.values(step, component);
            let own = self.noise.of(&self.plan.steps[step], component);
            for (draw, values) in values.chunks_exact(values.len() / draws).enumerate() {
                let above = |(sample, value): (usize, &f64)| {
                    value - own.map_or(0.0, |noise| part.multiples[draw] * noise[sample])
                };
                let above: Vec<f64> = values.iter().enumerate().map(above).collect();
                let mean = above.iter().sum::<f64>() / above.len() as f64;
                let variance =
                    above.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / above.len() as f64;
                much |= variance.sqrt() > MUCH_ABOVE * part.deviations[draw];
                let least = GAPS * variance.sqrt();
                if least > part.deviations[draw] {
                    part.deviations[draw] = least;
                }
            }
        }
        much
    }

    /// Multiplications that the price of one decision costs, roughly.
    fn cost(&self) -> f64 {
        self.shifts.len() as f64 * self.network.system_cost(&self.plan, self.noise.count())
    }

    /// The draws that count, given what all limits together make of each.
    fn counting(&self, of_draw: impl Fn(usize) -> f64) -> Vec<usize> {
        let draws = self.shifts.len();
        match self.price.counting {
            Counting::Plausible => luckiest(draws, draws.div_ceil(2), of_draw),
            // The unluckiest of sixteen: about what one in forty falls short of.
            Counting::Cautious => luckiest(draws, draws.div_ceil(16), |draw| -of_draw(draw)),
        }
    }

    /// Takes the prices off the values at points, and their slopes off the gradients.
    pub fn charge(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut [f64],
        gradients: &mut [f64],
    ) {
        let (dim, decisions, draws) = (self.plan.dim(), self.plan.decisions(), self.shifts.len());
        let stride = points.len().checked_div(values.len()).unwrap_or(0);
        let (slopes, candidates) = (!gradients.is_empty(), values.len() * draws);
        let mut expanded = Vec::with_capacity(values.len() * draws * dim);
        for place in 0..values.len() {
            for shift in &self.shifts {
                expanded.extend_from_slice(&points[place * stride..][..decisions]);
                expanded.extend_from_slice(shift);
            }
        }
        let batch = Batch { points: &expanded, beta: 1.0, noise: &self.noise };
        // Where nothing is decided and nothing is learned there is one point, of no numbers.
        if !self.plan.steps.is_empty() {
            self.network.forward_in_systems(&self.plan, &self.systems, batch, slopes, workspace);
            workspace.forget_slopes(&self.plan);
        }
        let mut chances: Vec<Chances> = self.limits.iter().map(|_| Chances::default()).collect();
        for place in 0..values.len() {
            let point = &points[place * stride..(place + 1) * stride];
            for (watched, chances) in self.limits.iter().zip(&mut chances) {
                self.look(watched, place, point, candidates, workspace, chances);
            }
            let of_draw = |one: &Chances, draw: usize| {
                log_mean(one.logs[draw * one.count..(draw + 1) * one.count].iter().copied())
            };
            let counting = self.counting(|draw| chances.iter().map(|one| of_draw(one, draw)).sum());
            for (watched, chances) in self.limits.iter().zip(&chances) {
                let Chances { count, logs, by_parts } = chances;
                let columns = || counting.iter().flat_map(|&draw| draw * count..(draw + 1) * count);
                let log = log_mean(columns().map(|column| logs[column]));
                let missing = (-log.exp()).ln_1p();
                let (price, slope) = hinge(watched.wanted - (log - missing));
                values[place] -= self.price.weight * price;
                if !slopes || slope == 0.0 {
                    continue;
                }
                // ∂(log-odds) = ∂ln P / (1 - P).
                let scale = self.price.weight * slope / missing.exp();
                let total = (counting.len() * count) as f64;
                for column in columns() {
                    let share = scale * (logs[column] - log).exp() / total;
                    if let Some(step) = watched.weighed_by(workspace) {
                        let at = place * draws * count + column;
                        weigh(workspace, step, at, *count, share);
                    }
                    let by_parts = &by_parts[column * watched.parts.len()..];
                    for (part, by_part) in watched.parts.iter().zip(by_parts) {
                        let by_value = share * by_part;
                        match part.source {
                            ValueSource::Step { step, component } => {
                                let slopes = workspace.slopes(step, component);
                                let per = slopes.len() / candidates;
                                let first = place * draws * per;
                                slopes[first + Self::column(column, *count, per)] += by_value;
                            }
                            ValueSource::Decided { variable } => {
                                let width = self.plan.space.variables()[variable].width();
                                gradients[place * stride + variable] += by_value * width;
                            }
                        }
                    }
                }
            }
        }
        if slopes && !self.plan.steps.is_empty() {
            let mut by = vec![0.0; expanded.len()];
            self.network.backward(&self.plan, batch, workspace, &mut by);
            for (candidate, by) in by.chunks_exact(dim.max(1)).enumerate() {
                let gradient = &mut gradients[candidate / draws * stride..][..decisions];
                gradient.iter_mut().zip(by).for_each(|(total, by)| *total += by);
            }
        }
    }

    /// The place among a component's values of one point, of which each draw has `per`, of a column that counts `count` in each draw.
    fn column(column: usize, count: usize, per: usize) -> usize {
        let (draw, sample) = (column / count, column % count);
        draw * per + if per == 1 { 0 } else { sample }
    }

    /// Finds the chances of keeping a limit at one point.
    fn look(
        &self,
        watched: &Watched,
        place: usize,
        point: &[f64],
        candidates: usize,
        workspace: &Workspace,
        chances: &mut Chances,
    ) {
        let draws = self.shifts.len();
        let columns = |part: &Part| match part.source {
            ValueSource::Step { step, component } => workspace.values(step, component).len() / candidates,
            ValueSource::Decided { .. } => 1,
        };
        let count = watched.parts.iter().map(columns).max().unwrap_or(1);
        let Chances { count: known, logs, by_parts } = chances;
        *known = count;
        logs.clear();
        by_parts.clear();
        let weights = watched.weighed_by(workspace).map_or(&[][..], |step| workspace.weights(step));
        let total = |draw: usize| {
            weights.get((place * draws + draw) * count..).map_or(1.0, |w| w[..count].iter().sum::<f64>())
        };
        for column in 0..draws * count {
            // Names that have causes make some realisations count more than others.
            let weight = weights.get(place * draws * count + column);
            let mut log = weight.map_or(0.0, |w| (w * count as f64 / total(column / count)).ln());
            for part in &watched.parts {
                let value = match part.source {
                    ValueSource::Step { step, component } => {
                        let values = workspace.values(step, component);
                        let per = values.len() / candidates;
                        let noise = self.noise.of(&self.plan.steps[step], component);
                        // The noise of the node itself is integrated out.
                        let noise =
                            noise.map_or(0.0, |noise| part.multiples[column / count] * noise[column % count]);
                        values[place * draws * per + Self::column(column, count, per)] - noise
                    }
                    ValueSource::Decided { variable } => {
                        self.plan.space.variables()[variable].value(point[variable])
                    }
                };
                let (part_log, slope) = log_kept(watched.limit, value, part.deviations[column / count]);
                log += part_log;
                by_parts.push(slope);
            }
            logs.push(log);
        }
    }
}

impl Watched {
    /// The step whose weights count, where names that have causes are above it.
    fn weighed_by(&self, workspace: &Workspace) -> Option<usize> {
        self.parts.iter().find_map(|part| match part.source {
            ValueSource::Step { step, .. } => Some(step).filter(|&step| !workspace.weights(step).is_empty()),
            ValueSource::Decided { .. } => None,
        })
    }
}

/// Adds the derivative by the logarithm of a realisation's share of the weights of its draw.
fn weigh(workspace: &mut Workspace, step: usize, at: usize, count: usize, by_log: f64) {
    let weights = workspace.weights(step);
    let draw = at / count * count..(at / count + 1) * count;
    let (weight, total) = (weights[at], weights[draw.clone()].iter().sum::<f64>());
    let slopes = workspace.weight_slopes(step);
    slopes[draw].iter_mut().for_each(|slope| *slope -= by_log / total);
    if weight > 0.0 {
        slopes[at] += by_log / weight;
    }
}

/// The chances of keeping a limit at one point, in every draw and in every realisation of the noise that matters.
#[derive(Default)]
struct Chances {
    /// Realisations in each draw.
    count: usize,
    /// The logarithms.
    logs: Vec<f64>,
    /// Their slopes by the value of every part, one column after the other.
    by_parts: Vec<f64>,
}

/// `ln Φ(z)` and `φ(z)/Φ(z)`, without underflow.
fn log_normal(z: f64) -> (f64, f64) {
    let log_density = -0.5 * z * z - 0.5 * TAU.ln();
    if z < -3.0 {
        // Mills' ratio Φ(-t)/φ(t) = 1/(t + C).
        let ratio = tail_fraction(-z) - z;
        return (log_density - ratio.ln(), ratio);
    }
    let cumulative = normal_probability(z);
    (cumulative.ln(), log_density.exp() / cumulative)
}

/// The logarithm of the probability that a limit is kept about a value with normal noise, and its slope by the value.
fn log_kept(limit: Limit, value: f64, deviation: f64) -> (f64, f64) {
    match (limit.above, limit.below) {
        (None, None) => (0.0, 0.0),
        (None, Some(level)) => {
            let (log, ratio) = log_normal((level - value) / deviation);
            (log, -(ratio / deviation))
        }
        (Some(level), None) => {
            let (log, ratio) = log_normal((value - level) / deviation);
            (log, ratio / deviation)
        }
        (Some(above), Some(below)) => {
            // From the side on which the window is nearer: there both tails are small numbers, not nearly 1.
            let turned = value - above < below - value;
            let (far, near) = match turned {
                true => (value - above, value - below),
                false => (below - value, above - value),
            };
            let ((log_far, ratio_far), (log_near, ratio_near)) =
                (log_normal(far / deviation), log_normal(near / deviation));
            // ln(Φ(far) - Φ(near)).
            let log = log_far + (-(log_near - log_far).exp_m1()).ln();
            let by_room = ratio_far * (log_far - log).exp() - ratio_near * (log_near - log).exp();
            (log, if turned { by_room } else { -by_room } / deviation)
        }
    }
}

/// The logarithm of the mean of numbers that are given by their logarithms.
fn log_mean(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    let (sum, count) = logs.fold((0.0, 0.0), |(sum, count), log| (sum + (log - most).exp(), count + 1.0));
    most + (sum / count).ln()
}

/// The price of missing log-odds, and its slope.
fn hinge(missing: f64) -> (f64, f64) {
    match missing {
        m if m <= 0.0 => (0.0, 0.0),
        m if m < ROUND => (0.5 * m * m / ROUND, m / ROUND),
        m => (m - 0.5 * ROUND, 1.0),
    }
}

impl Acquisition for Limited<'_> {
    fn plan(&self) -> &Plan {
        self.inner.plan()
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.inner.bounds()
    }

    fn is_noisy(&self) -> bool {
        self.inner.is_noisy()
    }

    fn cost(&self) -> f64 {
        self.inner.cost() + self.toll.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        self.inner.evaluate(points, workspace, values, gradients);
        self.toll.charge(points, workspace, values, gradients);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::SharedOptimism;
    use super::*;
    use crate::testing::{check_gradients, settings};
    use crate::{Data, Intervention, ModelSettings, Noise, Observation};

    /// `y(x, z, b)` is maximised; `z(x, b)` on the way, a vector `s(x, a)` beside it, and `x` that can be set have limits.
    fn system(noise: Noise) -> (Problem, Data) {
        let problem = Problem::builder("limits")
            .action("a", [0.0, 1.0])
            .action("b", [-1.0, 1.0])
            .node("x", |n| n.actions(["a"]).noise(noise).hard([0.0, 2.0]).limit(Limit::below(1.2, 0.8)))
            .node("z", |n| n.parents(["x"]).actions(["b"]).noise(noise).limit(Limit::above(0.3, 0.9)))
            .node("s", |n| {
                n.dim(2).parents(["x"]).actions(["a"]).noise(noise).limit(Limit::between([-0.1, 0.5], 0.95))
            })
            .node("y", |n| n.parents(["x", "z"]).noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = Data::new();
        for i in 0..9 {
            let (a, b) = (0.125 * f64::from(i), (1.3 * f64::from(i)).sin());
            let x = 1.5 * (2.0 * a).sin();
            let (z, s) = (x * b, [a + 0.3 * x, 0.5 * x]);
            let values = [x, z, s[0], s[1], x + z * z].map(Some).to_vec();
            let intervention = Intervention { targets: vec![], actions: vec![a, b] };
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        (problem, data)
    }

    #[test]
    fn prices_have_the_right_gradients() {
        let several = mcbo_gp::Inference::Samples(mcbo_gp::Sampling { count: 6, moves: 2, burn_in: 5 });
        let models = [
            (Noise::None, settings()),
            (Noise::Gaussian(0.15), settings()),
            // Members that differ in what they say of the noise too.
            (Noise::Learn, ModelSettings { inference: several, ..settings() }),
        ];
        for (noise, settings) in models {
            let (problem, data) = system(noise);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let network =
                Network::fit(&problem, &data, &Default::default(), &settings, &mut rng).expect("a fit");
            for choice in problem.choices().expect("few choices") {
                for counting in [Counting::Cautious, Counting::Plausible] {
                    let inner = Box::new(SharedOptimism::new(&problem, &network, choice, 0.7, 4, 3));
                    let price = Price { weight: 0.6, margin: 0.1, counting };
                    let toll = Toll::new(&problem, &network, choice, price, FINE, 3);
                    let limited = Limited::new(inner, toll);
                    assert_eq!(limited.toll.limits.len(), 3);
                    check_gradients(&limited, 3);
                }
            }
        }
    }

    /// The probability of a window is the difference of two, by an independent sum, and its logarithm lives on where it has none.
    #[test]
    fn windows_are_kept_between_their_ends() {
        let (limit, deviation) = (Limit::between([-0.4, 0.8], 0.9), 0.5);
        for value in [-1.5, -0.4, 0.0, 0.2, 0.5, 0.8, 2.0] {
            let step = 1.2 / 20_000.0;
            let density =
                |x: f64| (-0.5 * ((x - value) / deviation).powi(2)).exp() / (TAU.sqrt() * deviation);
            let sum = (0..20_000).map(|i| density(-0.4 + (f64::from(i) + 0.5) * step) * step).sum::<f64>();
            let (log, slope) = log_kept(limit, value, deviation);
            assert!((log.exp() - sum).abs() < 1e-8, "{value}: {} {sum}", log.exp());
            let near = |shift: f64| log_kept(limit, value + shift, deviation).0;
            let difference = (near(1e-6) - near(-1e-6)) / 2e-6;
            assert!((slope - difference).abs() < 1e-6 * (1.0 + slope.abs()), "{value}: {slope} {difference}");
        }
        // Far away on either side it is as far as the nearer end, and leads back.
        for (value, one) in [(-60.0, Limit::above(-0.4, 0.9)), (60.0, Limit::below(0.8, 0.9))] {
            let ((log, slope), (of_one, slope_of_one)) =
                (log_kept(limit, value, deviation), log_kept(one, value, deviation));
            assert!((log - of_one).abs() < 1e-9 * of_one.abs(), "{value}: {log} {of_one}");
            assert!((slope - slope_of_one).abs() < 1e-6 * slope.abs() && slope * value < 0.0);
        }
    }

    /// Where a name that has causes is above what is limited, realisations have weights, and these have slopes.
    #[test]
    fn prices_below_names_have_the_right_gradients() {
        let problem = Problem::builder("named limits")
            .action("a", [0.0, 1.0])
            .node("x", |n| n.actions(["a"]).noise(Noise::Gaussian(0.1)))
            .node("kind", |n| n.parents(["x"]).actions(["a"]).choices(["p", "q", "r"]))
            .node("z", |n| n.parents(["kind", "x"]).noise(Noise::Gaussian(0.2)).limit(Limit::below(0.5, 0.8)))
            .node("y", |n| n.parents(["x"]).noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = Data::new();
        for i in 0..24 {
            let a = f64::from(i) / 23.0;
            let (x, kind) = (2.0 * a, f64::from((i * 7 % 5 + i / 4) % 3));
            let values = [x, kind, x - kind, x * x].map(Some).to_vec();
            let intervention = Intervention { targets: vec![], actions: vec![a] };
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let choice = Choice { targets: vec![], actions: vec![0] };
        for counting in [Counting::Cautious, Counting::Plausible] {
            let inner = Box::new(SharedOptimism::new(&problem, &network, &choice, 0.7, 4, 3));
            let price = Price { weight: 0.6, margin: 0.1, counting };
            let toll = Toll::new(&problem, &network, &choice, price, FINE, 3);
            assert!(!toll.plan.steps.iter().all(|step| step.named.is_empty()));
            check_gradients(&Limited::new(inner, toll), 3);
        }
    }

    /// The probability that the price goes by is the one that is counted exactly.
    #[test]
    fn prices_go_by_the_probability() {
        let (problem, data) = system(Noise::Gaussian(0.15));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let choice = Choice { targets: vec![], actions: vec![0, 1] };
        let inner = || Box::new(SharedOptimism::new(&problem, &network, &choice, 0.7, 4, 3));
        let price = Price { weight: 1.0, margin: 0.1, counting: Counting::Plausible };
        let limited = Limited::new(inner(), Toll::new(&problem, &network, &choice, price, FINE, 3));
        let mut paid = 0;
        for (a, b) in [(0.25, 1.0), (0.3, 1.0), (0.35, 0.9), (0.6, 0.8), (0.9, 0.2)] {
            let mut point = vec![a, b];
            point.resize(limited.plan().dim(), 0.0);
            let (mut workspace, mut with, mut without) = (Workspace::default(), Vec::new(), Vec::new());
            limited.evaluate(&point, &mut workspace, &mut with, &mut []);
            limited.inner.evaluate(&point, &mut workspace, &mut without, &mut []);
            let intervention = limited.space().intervention(&problem, &point);
            let odds = |p: f64| (p / (1.0 - p)).ln();
            let exact: f64 = network
                .keeping(&problem, &intervention)
                .iter()
                .map(|k| hinge(odds(k.wanted) + 0.1 - odds(k.plausible.clamp(1e-9, 1.0 - 1e-9))).0)
                .sum();
            let found = without[0] - with[0];
            // Few draws against many: probabilities far out differ by a part of themselves.
            assert!((found - exact).abs() < 0.3 + 0.35 * exact, "{a} {b}: {found} {exact}");
            paid += usize::from(found > 0.5);
        }
        assert!(paid >= 1, "some break the limits");
    }

    #[test]
    fn logarithms_of_the_normal_distribution() {
        // From Python's math.erfc: log(erfc(-z/√2)/2), and the density divided by that.
        for (z, log, ratio) in [
            (-20.0, -203.917_155_371_097_24, 20.049_753_068_527_14),
            (-3.5, -8.366_065_308_344_092, 3.751_391_264_857_7),
            (-2.999_999, -6.607_722_938_412_158_5, 3.283_097_725_489_639),
            (0.0, -std::f64::consts::LN_2, 0.797_884_560_802_865_4),
            (2.0, -0.023_012_909_328_963_49, 0.055_247_862_678_989_97),
        ] {
            let found = log_normal(z);
            assert!(
                (found.0 / log - 1.0).abs() < 1e-12 && (found.1 / ratio - 1.0).abs() < 1e-12,
                "{z}: {found:?}"
            );
        }
        // Continuous where the formula changes.
        let (one, other) = (log_normal(-3.0 + 1e-9), log_normal(-3.0 - 1e-9));
        assert!((one.0 - other.0).abs() < 1e-7 && (one.1 - other.1).abs() < 1e-7);
    }
}
