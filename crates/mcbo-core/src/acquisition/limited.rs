//! What is maximised where outcomes have limits: the same, less a price for breaking them.

mod odds;

use crate::decision::Place;
use crate::network::{Batch, Counting, Network, NoiseSamples, Plan, Systems, Workspace, luckiest};
use crate::problem::Limit;
use crate::quasi::{normal_sobol, sobol};
use crate::{Choice, Problem};

use odds::{hinge, log_kept, log_mean};

use super::Acquisition;

/// Draws of the mechanisms, and realisations of the noise for each; half of both where an acquisition is looked at with fewer
/// samples than `FINE`.
const DRAWS: usize = 16;
const SAMPLES: usize = 4;
const FINE: usize = 16;
/// Realisations where what noise above a limited node makes there deviates by more than so many times the node's own noise, which alone is
/// integrated out.
const MANY_SAMPLES: usize = 16;
const MUCH_ABOVE: f64 = 2.0;
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
                        let deviation = SMALLEST * plan.space.variables()[variable].slope(0.0);
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
                                let decided = &self.plan.space.variables()[variable];
                                let slope = decided.slope(points[place * stride + variable]);
                                gradients[place * stride + variable] += by_value * slope;
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
mod tests;
