//! The rows of one component of a node, and how probable models make them that read some causes and no others.

use mcbo_gp::{Gp, GpSpec, Kernel, Laplace, Leaf, LeftOut, Noise, Rows, Shape};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::network::suspicion::{correlation, mean, squares};
use crate::network::{Affine, ModelSettings};
use crate::{Data, Problem};

use super::ROUNDING;

/// Of more rows only so many are looked at, evenly over the trials.
const MOST: usize = 120;

/// Something that a node may depend on: a node, with all its components, or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Node(usize),
    Action(usize),
}

impl Cause {
    pub fn name(self, problem: &Problem) -> String {
        match self {
            Self::Node(node) => problem.nodes()[node].name.clone(),
            Self::Action(action) => problem.actions()[action].name.clone(),
        }
    }
}

/// What was known of a cause, a column per component.
#[derive(Debug, Clone)]
struct CauseColumns {
    cause: Cause,
    /// Whether its values are names: choices.
    named: bool,
    columns: Vec<Vec<f64>>,
}

/// The rows of one component of a node: what it reads by the graph, what else was known, and its value or what its formula
/// leaves over.
#[derive(Debug, Clone)]
pub(super) struct Table {
    known: Vec<CauseColumns>,
    pub values: Vec<f64>,
    /// The largest of the values themselves.
    size: f64,
}

impl Table {
    /// The rows in which the node acted by itself and all of `causes` are known.
    pub fn new(problem: &Problem, data: &Data, (node, component): (usize, usize), causes: &[Cause]) -> Self {
        let formula = problem.nodes()[node].formula.as_ref().map(|formulas| &formulas[component]);
        let empty = |&cause: &Cause| match cause {
            Cause::Node(other) => {
                let other = &problem.nodes()[other];
                CauseColumns { cause, named: other.is_choice(), columns: vec![Vec::new(); other.dim] }
            }
            Cause::Action(action) => CauseColumns {
                cause,
                named: problem.actions()[action].is_choice(),
                columns: vec![Vec::new()],
            },
        };
        let mut table = Self { known: causes.iter().map(empty).collect(), values: Vec::new(), size: 0.0 };
        for (place, inputs, value) in data.placed_rows(problem, node, component) {
            let observation = &data.observations()[place];
            let numbers = |cause: &Cause| match *cause {
                Cause::Node(other) => {
                    observation.values[problem.slot(other)].iter().copied().collect::<Option<Vec<f64>>>()
                }
                Cause::Action(action) => {
                    let value = observation.intervention.actions[action];
                    Some(vec![problem.actions()[action].curve().at(value)])
                }
            };
            let left = formula.map_or(value, |formula| value - formula.eval(&inputs));
            let row: Option<Vec<Vec<f64>>> = causes.iter().map(numbers).collect();
            if let Some(row) = row.filter(|_| left.is_finite()) {
                table.values.push(left);
                table.size = table.size.max(value.abs());
                for (known, numbers) in table.known.iter_mut().zip(row) {
                    known.columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
                }
            }
        }
        table.thinned()
    }

    /// Not more rows than can be looked at, evenly over the trials.
    fn thinned(mut self) -> Self {
        let count = self.values.len();
        if count > MOST {
            let kept: Vec<usize> = (0..MOST).map(|k| k * count / MOST).collect();
            let thin = |column: &mut Vec<f64>| *column = kept.iter().map(|&row| column[row]).collect();
            self.known.iter_mut().flat_map(|known| &mut known.columns).for_each(thin);
            thin(&mut self.values);
        }
        self
    }

    pub fn rows(&self) -> usize {
        self.values.len()
    }

    /// Whether there is anything to explain, beyond how numbers are rounded.
    pub fn varies(&self) -> bool {
        let deviation = (squares(&self.values, mean(&self.values)) / self.rows() as f64).sqrt();
        deviation > ROUNDING * self.size
    }

    /// The columns of some causes, in the table's order, scaled to unit ranges.
    pub fn scaled(&self, causes: &[Cause]) -> Vec<Vec<f64>> {
        self.inputs(causes).0
    }

    /// The same, with the places of those that are choices.
    fn inputs(&self, causes: &[Cause]) -> (Vec<Vec<f64>>, Vec<usize>) {
        let (mut columns, mut named) = (Vec::new(), Vec::new());
        for known in self.known.iter().filter(|known| causes.contains(&known.cause)) {
            for column in &known.columns {
                if known.named {
                    named.push(columns.len());
                }
                let scaling = Affine::min_max(column);
                columns.push(column.iter().map(|x| scaling.apply(*x)).collect());
            }
        }
        (columns, named)
    }

    /// How probable the values are if they depend on these causes and no others.
    pub fn weigh(&self, causes: &[Cause], seed: u64) -> Option<Weighed> {
        let (columns, named) = self.inputs(causes);
        Weighed::new(&columns, &named, &self.values, seed)
    }

    /// Logarithm of the evidence with one more cause.
    pub fn weigh_with(&self, read: &[Cause], cause: Cause, seed: u64) -> Option<f64> {
        let causes: Vec<Cause> = read.iter().copied().chain([cause]).collect();
        self.weigh(&causes, seed).map(|weighed| weighed.log_evidence)
    }

    /// The share of a cause that others foretell, of the component that they foretell least.
    pub fn foretold(&self, cause: Cause, others: &[Cause], seed: u64) -> f64 {
        let (columns, named) = self.inputs(others);
        let share = |column: Vec<f64>| {
            let all = squares(&column, mean(&column));
            let Some(weighed) = Weighed::new(&columns, &named, &column, seed) else { return 1.0 };
            let missed: f64 = weighed.apart().iter().map(|apart| apart * apart).sum();
            1.0 - missed * weighed.scale * weighed.scale / all
        };
        self.scaled(&[cause]).into_iter().map(share).fold(1.0, f64::min)
    }

    /// The same table with an imitation in the place of a cause, which stands to what the node reads as the cause does and has
    /// nothing to do with the node beyond that: what the parents foretell of it stays in every row, the rest is dealt out anew.
    pub fn imitating(&self, cause: Cause, read: &[Cause], seed: u64) -> Option<Self> {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let (columns, named) = self.inputs(read);
        let mut table = self.clone();
        let known = table.known.iter_mut().find(|known| known.cause == cause)?;
        for column in &mut known.columns {
            let dealt = match known.named || columns.is_empty() {
                true => order.iter().map(|&row| column[row]).collect(),
                false => {
                    let weighed = Weighed::new(&columns, &named, column, seed)?;
                    let apart: Vec<f64> = weighed.apart().iter().map(|apart| apart * weighed.scale).collect();
                    let each = column.iter().zip(&apart).zip(&order);
                    each.map(|((value, own), &other)| value - own + apart[other]).collect()
                }
            };
            *column = dealt;
        }
        Some(table)
    }

    /// How much what is left over follows a cause, alone or together with what the node reads already.
    pub fn follows(&self, cause: Cause, read: &[Cause], left: &[f64]) -> f64 {
        let others = self.scaled(read);
        let mut most = 0.0_f64;
        for column in self.scaled(&[cause]) {
            let middle = mean(&column);
            let centred: Vec<f64> = column.iter().map(|x| x - middle).collect();
            let square: Vec<f64> = centred.iter().map(|x| x * x).collect();
            let mut looks = vec![centred.clone(), square];
            for other in &others {
                let middle = mean(other);
                looks.push(centred.iter().zip(other).map(|(x, y)| x * (y - middle)).collect());
            }
            let found = looks.iter().filter_map(|look| correlation(look, left));
            most = found.map(f64::abs).fold(most, f64::max);
        }
        most
    }
}

/// What models say of values that may depend on some columns.
pub(super) struct Weighed {
    /// Logarithm of the evidence of all of them together.
    pub log_evidence: f64,
    /// The most probable of them.
    pub gp: Gp,
    /// Every row foretold by the others.
    pub left_out: Vec<LeftOut>,
    /// One unit of its outputs, in those of the values.
    scale: f64,
}

impl Weighed {
    fn new(columns: &[Vec<f64>], named: &[usize], values: &[f64], seed: u64) -> Option<Self> {
        let dim = columns.len();
        let scaling = Affine::standard(values);
        let mut rows = Rows::new(dim);
        for (row, value) in values.iter().enumerate() {
            let inputs: Vec<f64> = columns.iter().map(|column| column[row]).collect();
            rows.push(&inputs, scaling.apply(*value)).ok()?;
        }
        let settings = ModelSettings::default();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut found: Vec<(f64, GpSpec, Vec<f64>)> = Vec::new();
        for kernel in kernels(dim, named) {
            let spec = GpSpec {
                kernel,
                dim,
                components: 1,
                noise: Noise::Learned,
                mean: settings.mean(),
                priors: settings.priors(),
                origins: Vec::new(),
            };
            if let Ok(laplace) = Laplace::new(&spec, &rows, &mut rng) {
                found.push((laplace.log_evidence, spec, laplace.mode));
            }
        }
        let best = found.iter().filter(|(log, ..)| log.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let total: f64 = found.iter().map(|(log, ..)| (log - best.0).exp()).sum();
        let log_evidence = best.0 + (total / found.len() as f64).ln();
        let gp = Gp::condition(&best.1, &best.2, rows).ok()?;
        let left_out = left_out(&gp);
        Some(Self { log_evidence, gp, left_out, scale: scaling.scale })
    }

    /// What every row is off by what the others let expect, in the outputs' units.
    fn apart(&self) -> Vec<f64> {
        self.gp.rows().outputs().iter().zip(&self.left_out).map(|(value, left)| value - left.mean).collect()
    }

    /// The same in deviations.
    pub fn misses(&self) -> Vec<f64> {
        let deviations = self.left_out.iter().map(|left| left.variance.sqrt());
        self.apart().iter().zip(deviations).map(|(apart, deviation)| apart / deviation).collect()
    }
}

/// Every row foretold by the others.
pub(super) fn left_out(gp: &Gp) -> Vec<LeftOut> {
    let blocks: Vec<Vec<usize>> = (0..gp.rows().len()).map(|row| vec![row]).collect();
    gp.left_out(&blocks).into_iter().flatten().collect()
}

/// The forms that are weighed: a surface that may be rough or smooth, or a sum of curves. They are the same for any number of inputs, so
/// that another input cannot bring a better form with it.
fn kernels(dim: usize, named: &[usize]) -> Vec<Kernel> {
    use Shape::{Choice, Linear, Matern52, SquaredExponential as Se};
    if dim == 0 {
        return vec![Kernel::constant()];
    }
    let numbers: Vec<usize> = (0..dim).filter(|k| !named.contains(k)).collect();
    let levels = || named.iter().map(|&k| vec![Leaf::of(Choice, [k])]);
    if numbers.is_empty() {
        return vec![Kernel::sum(levels().collect())];
    }
    let surface = |shape: Shape| {
        let mut term = vec![Leaf::of(shape, numbers.iter().copied())];
        term.extend((!named.is_empty()).then(|| Leaf::of(Choice, named.iter().copied())));
        Kernel::sum(
            [vec![Leaf::of(Linear, numbers.iter().copied())], term].into_iter().chain(levels()).collect(),
        )
    };
    let curves = numbers.iter().map(|&k| vec![Leaf::of(Se, [k])]);
    vec![surface(Matern52), surface(Se), Kernel::sum(curves.chain(levels()).collect())]
}
