//! Whether the graph is right, by what the data say: for every node, models with and without an arrow are compared by their
//! evidence, the probability that each gave to the values that were measured.

use mcbo_gp::{GpSpec, Kernel, Laplace, Leaf, Noise as GpNoise, Rows, Shape};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::{Data, Problem};

use super::suspicion::{correlation, mean, squares};
use super::{Affine, ModelSettings, Network, Suspicion, input_names, slot_name};

/// Fewer rows say nothing about a graph, and of more only so many are looked at, evenly over the trials.
const FEWEST: usize = 12;
const MOST: usize = 120;
/// Candidates of every node that are compared by their evidence: those that what its parents leave over follows most.
const COMPARED: usize = 3;
/// How many times more probable the data must be with an arrow, for every arrow that is looked for.
const ARROW_ODDS: f64 = 12.0;
/// How many times more probable they must be without one.
const IDLE_ODDS: f64 = 60.0;
/// How many times more probable they must be if a formula is wrong.
const FORMULA_ODDS: f64 = 100.0;
/// Standard errors of a rank correlation of sizes of misses with an input: by chance one input of 370 has more.
const UNEVEN_ERRORS: f64 = 3.0;

/// Something that the data say against the graph or a formula.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// A node would be foretold better if it knew something that it does not depend on by the graph.
    #[error(
        "{node} is foretold better by {from} beside its parents: its {rows} values are {} more probable with that arrow; hint: draw an arrow from {from} to {node}, or look for something that acts on both and measure it",
        times(*.log_odds)
    )]
    MissingArrow {
        /// The node.
        node: String,
        /// What would help: a node or an action.
        from: String,
        /// How many rows say so.
        rows: usize,
        /// Logarithm of how much more probable they are.
        log_odds: f64,
    },
    /// An input does not help to foretell a node.
    #[error(
        "{input} does not help to foretell {node}: its {rows} values are {} more probable without that arrow; hint: leave the arrow if you know that it is there; without it there is less to learn",
        times(*.log_odds)
    )]
    IdleArrow {
        /// The node.
        node: String,
        /// The parent or the action.
        input: String,
        /// How many rows say so.
        rows: usize,
        /// Logarithm of how much more probable they are.
        log_odds: f64,
    },
    /// The values of a node contradict its formula.
    #[error(
        "the formula of {node} is refuted: its {rows} values are {} more probable if something depends on its inputs that is not in the formula; hint: check the formula and the units, or leave it out and let it be learned",
        times(*.log_odds)
    )]
    Formula {
        /// The node.
        node: String,
        /// How many rows say so.
        rows: usize,
        /// Logarithm of how much more probable they are.
        log_odds: f64,
    },
    /// A formula that does not fit in a way that has a name, or a value that does not fit.
    #[error(transparent)]
    Data(#[from] Suspicion),
    /// The noise of a node is not the same everywhere.
    #[error(
        "the noise of {node} {} with {input} (rank correlation {correlation:.2} over {rows} rows); hint: bounds are too wide where there is little noise and too narrow where there is much; the logarithm of {node} may be a better thing to measure",
        if *.correlation > 0.0 { "grows" } else { "shrinks" }
    )]
    UnevenNoise {
        /// The node.
        node: String,
        /// The input.
        input: String,
        /// How many rows say so.
        rows: usize,
        /// The rank correlation of the sizes of misses with it.
        correlation: f64,
    },
}

impl Doubt {
    /// What kind it is of, in a word, the node that it is about, and the other end of the arrow, or the input, where there is one.
    pub fn about(&self) -> (&'static str, &str, Option<&str>) {
        match self {
            Self::MissingArrow { node, from, .. } => ("missing-arrow", node, Some(from)),
            Self::IdleArrow { node, input, .. } => ("idle-arrow", node, Some(input)),
            Self::Formula { node, .. } => ("formula", node, None),
            Self::Data(Suspicion::Formula { node, .. }) => ("formula", node, None),
            Self::Data(Suspicion::Drift { node, .. }) => ("drift", node, None),
            Self::Data(Suspicion::FarOff { node, .. }) => ("far-off", node, None),
            Self::UnevenNoise { node, input, .. } => ("uneven-noise", node, Some(input)),
        }
    }

    /// Logarithm of how much more probable the data are if it is right, where that was computed.
    pub fn log_odds(&self) -> Option<f64> {
        match self {
            Self::MissingArrow { log_odds, .. }
            | Self::IdleArrow { log_odds, .. }
            | Self::Formula { log_odds, .. } => Some(*log_odds),
            Self::Data(_) | Self::UnevenNoise { .. } => None,
        }
    }

    /// How strong it is, in a word.
    pub fn weight(&self) -> &'static str {
        match self {
            Self::MissingArrow { log_odds, .. }
            | Self::IdleArrow { log_odds, .. }
            | Self::Formula { log_odds, .. } => match log_odds / std::f64::consts::LN_10 {
                odds if odds > 6.0 => "beyond doubt",
                odds if odds > 3.0 => "strong",
                _ => "fair",
            },
            Self::Data(_) | Self::UnevenNoise { .. } => "strong",
        }
    }
}

/// `340 times`, `a million times`.
fn times(log_odds: f64) -> String {
    match log_odds / std::f64::consts::LN_10 {
        odds if odds > 6.0 => "more than a million times".into(),
        odds if odds > 3.0 => format!("{} thousand times", (log_odds.exp() / 1e3).round()),
        _ => format!("{:.0} times", log_odds.exp()),
    }
}

/// Something that a node may depend on: a node, with all its components, or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Node(usize),
    Action(usize),
}

impl Cause {
    fn name(self, problem: &Problem) -> String {
        match self {
            Self::Node(node) => problem.nodes()[node].name.clone(),
            Self::Action(action) => problem.actions()[action].name.clone(),
        }
    }
}

/// The rows of one component of a node: what it reads by the graph, what else was known, and its value or what its formula
/// leaves over.
struct Table {
    /// By cause, one column per component.
    columns: Vec<(Cause, Vec<Vec<f64>>)>,
    values: Vec<f64>,
}

impl Table {
    /// The rows in which the node acted by itself and all of `causes` are known.
    fn new(problem: &Problem, data: &Data, node: usize, component: usize, causes: &[Cause]) -> Self {
        let formula = problem.nodes()[node].formula.as_ref().map(|formulas| &formulas[component]);
        let mut columns: Vec<(Cause, Vec<Vec<f64>>)> = causes
            .iter()
            .map(|&cause| match cause {
                Cause::Node(other) => (cause, vec![Vec::new(); problem.nodes()[other].dim]),
                Cause::Action(_) => (cause, vec![Vec::new()]),
            })
            .collect();
        let mut values = Vec::new();
        for (place, inputs, value) in data.placed_rows(problem, node, component) {
            let observation = &data.observations()[place];
            let known = |cause: &Cause| match *cause {
                Cause::Node(other) => {
                    observation.values[problem.slot(other)].iter().copied().collect::<Option<Vec<f64>>>()
                }
                Cause::Action(action) => Some(vec![observation.intervention.actions[action]]),
            };
            let value = formula.map_or(value, |formula| value - formula.eval(&inputs));
            let row: Option<Vec<Vec<f64>>> = causes.iter().map(known).collect();
            if let Some(row) = row.filter(|_| value.is_finite()) {
                values.push(value);
                for ((_, columns), numbers) in columns.iter_mut().zip(row) {
                    columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
                }
            }
        }
        let table = Self { columns, values };
        table.thinned()
    }

    /// Not more rows than can be looked at, evenly over the trials.
    fn thinned(mut self) -> Self {
        let count = self.values.len();
        if count > MOST {
            let kept: Vec<usize> = (0..MOST).map(|k| k * count / MOST).collect();
            let thin = |column: &mut Vec<f64>| *column = kept.iter().map(|&row| column[row]).collect();
            self.columns.iter_mut().flat_map(|(_, columns)| columns).for_each(thin);
            thin(&mut self.values);
        }
        self
    }

    /// The columns of some causes, scaled to unit ranges.
    fn scaled(&self, causes: &[Cause]) -> Vec<Vec<f64>> {
        let chosen = self.columns.iter().filter(|(cause, _)| causes.contains(cause));
        let scale = |column: &Vec<f64>| {
            let scaling = Affine::min_max(column);
            column.iter().map(|x| scaling.apply(*x)).collect()
        };
        chosen.flat_map(|(_, columns)| columns.iter().map(scale)).collect()
    }

    /// Logarithm of the evidence that the values depend on these causes and no others, with what is left over by the most
    /// probable of these models, each value foretold by the others.
    fn evidence(&self, causes: &[Cause], seed: u64) -> Option<(f64, Vec<f64>)> {
        let columns = self.scaled(causes);
        let dim = columns.len();
        let scaling = Affine::standard(&self.values);
        let mut rows = Rows::new(dim);
        for (row, value) in self.values.iter().enumerate() {
            let inputs: Vec<f64> = columns.iter().map(|column| column[row]).collect();
            rows.push(&inputs, scaling.apply(*value)).ok()?;
        }
        let settings = ModelSettings::default();
        let all = |shape: Shape| vec![Leaf { shape, inputs: None }];
        let kernels = match dim {
            0 => vec![Kernel::constant()],
            1 => vec![Kernel::sum(vec![all(Shape::Linear), all(Shape::Matern52)])],
            _ => {
                let curve = |k: usize| vec![Leaf::of(Shape::SquaredExponential, [k])];
                vec![
                    Kernel::sum(vec![all(Shape::Linear), all(Shape::Matern52)]),
                    Kernel::sum((0..dim).map(curve).collect()),
                ]
            }
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut found: Vec<(f64, GpSpec, Vec<f64>)> = Vec::new();
        for kernel in kernels {
            let spec = GpSpec {
                kernel,
                dim,
                components: 1,
                noise: GpNoise::Learned,
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
        let evidence = best.0 + (total / found.len() as f64).ln();
        let gp = mcbo_gp::Gp::condition(&best.1, &best.2, rows).ok()?;
        let blocks: Vec<Vec<usize>> = (0..self.values.len()).map(|row| vec![row]).collect();
        let apart = gp.left_out(&blocks).into_iter().flatten().zip(gp.rows().outputs());
        let left =
            apart.map(|(left_out, value)| (value - left_out.mean) / left_out.variance.sqrt()).collect();
        Some((evidence, left))
    }

    /// How much what is left over follows a cause, alone or together with what the node reads already.
    fn follows(&self, cause: Cause, read: &[Cause], left: &[f64]) -> f64 {
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

impl Network {
    /// Everything that the data say against the graph and its formulas, the weightiest first; single values that do not fit
    /// come last. Random numbers come from `seed`.
    pub fn doubts(&self, problem: &Problem, data: &Data, seed: u64) -> Vec<Doubt> {
        let components: Vec<(usize, usize)> = (0..problem.nodes().len())
            .flat_map(|node| (0..problem.nodes()[node].dim).map(move |component| (node, component)))
            .collect();
        let pairs: usize = components.iter().map(|&(node, _)| candidates(problem, node).len()).sum();
        let found: Vec<Vec<Doubt>> = components
            .par_iter()
            .map(|&(node, component)| of_component(problem, data, node, component, pairs, seed))
            .collect();
        let mut found: Vec<Doubt> = found.into_iter().flatten().collect();
        let odds = |doubt: &Doubt| match doubt {
            Doubt::MissingArrow { log_odds, .. } | Doubt::Formula { log_odds, .. } => *log_odds,
            Doubt::IdleArrow { log_odds, .. } => log_odds - 1e3,
            Doubt::Data(_) | Doubt::UnevenNoise { .. } => -1e6,
        };
        found.sort_by(|a, b| odds(b).total_cmp(&odds(a)));
        let data = self.warnings().iter().filter_map(|warning| match warning {
            super::ModelWarning::Suspicious(suspicion) => Some(Doubt::Data(suspicion.clone())),
            _ => None,
        });
        found.extend(data);
        found
    }
}

/// What a node reads by the graph.
fn read(problem: &Problem, node: usize) -> Vec<Cause> {
    let declared = &problem.nodes()[node];
    let parents = declared.parents.iter().map(|&parent| Cause::Node(parent));
    parents.chain(declared.actions.iter().map(|&action| Cause::Action(action))).collect()
}

/// What it could read besides: everything that does not depend on it.
fn candidates(problem: &Problem, node: usize) -> Vec<Cause> {
    let read = read(problem, node);
    let depends = |other: usize| problem.graph().ancestors(other)[node];
    let nodes = (0..problem.nodes().len()).filter(|&other| !depends(other)).map(Cause::Node);
    let actions = (0..problem.actions().len()).map(Cause::Action);
    nodes.chain(actions).filter(|cause| !read.contains(cause)).collect()
}

fn of_component(
    problem: &Problem,
    data: &Data,
    node: usize,
    component: usize,
    pairs: usize,
    seed: u64,
) -> Vec<Doubt> {
    let (name, read) = (slot_name(problem, node, component), read(problem, node));
    let is_formula = problem.nodes()[node].formula.is_some();
    let base = Table::new(problem, data, node, component, &read);
    let rows = base.values.len();
    let varies = squares(&base.values, mean(&base.values)) > 0.0;
    if rows < FEWEST || !varies {
        return Vec::new();
    }
    let mut found = Vec::new();
    let Some((with_all, left)) = base.evidence(&read, seed) else { return found };
    if is_formula {
        if let Some((nothing, _)) = base.evidence(&[], seed)
            && with_all - nothing > FORMULA_ODDS.ln()
        {
            found.push(Doubt::Formula { node: name, rows, log_odds: with_all - nothing });
        }
        return found;
    }
    found.extend(missing_arrow(problem, data, (node, component), &read, pairs, seed));
    for &cause in &read {
        let others: Vec<Cause> = read.iter().copied().filter(|other| *other != cause).collect();
        if let Some((without, _)) = base.evidence(&others, seed)
            && without - with_all > IDLE_ODDS.ln()
        {
            let (input, node) = (cause.name(problem), name.clone());
            found.push(Doubt::IdleArrow { node, input, rows, log_odds: without - with_all });
        }
    }
    found.extend(uneven(problem, node, &name, &base, &read, &left));
    found
}

/// The one thing that would help most to foretell a component, if it helps enough.
fn missing_arrow(
    problem: &Problem,
    data: &Data,
    (node, component): (usize, usize),
    read: &[Cause],
    pairs: usize,
    seed: u64,
) -> Option<Doubt> {
    // Rows differ where a candidate was not measured, so each is compared on rows of its own.
    let mut tables: Vec<(Cause, Table, f64, f64)> = Vec::new();
    // The evidence without another cause, and what is left over, by the values of the table.
    let mut known: Vec<(Vec<f64>, Weighed)> = Vec::new();
    for cause in candidates(problem, node) {
        let causes: Vec<Cause> = read.iter().copied().chain([cause]).collect();
        let table = Table::new(problem, data, node, component, &causes);
        if table.values.len() < FEWEST {
            continue;
        }
        let (without, left) = match known.iter().find(|(values, _)| *values == table.values) {
            Some((_, found)) => found.clone(),
            None => {
                let found = table.evidence(read, seed)?;
                known.push((table.values.clone(), found.clone()));
                found
            }
        };
        let follows = table.follows(cause, read, &left);
        tables.push((cause, table, without, follows));
    }
    tables.sort_by(|a, b| b.3.total_cmp(&a.3));
    let compared = tables.into_iter().take(COMPARED).filter_map(|(cause, table, without, _)| {
        let causes: Vec<Cause> = read.iter().copied().chain([cause]).collect();
        let (with, _) = table.evidence(&causes, seed)?;
        Some((cause, table.values.len(), with - without))
    });
    let (cause, rows, log_odds) = compared.reduce(|best, next| if next.2 > best.2 { next } else { best })?;
    let enough = (ARROW_ODDS * pairs as f64).ln();
    (log_odds > enough).then(|| Doubt::MissingArrow {
        node: slot_name(problem, node, component),
        from: cause.name(problem),
        rows,
        log_odds,
    })
}

/// The logarithm of an evidence, and what every row misses by.
type Weighed = (f64, Vec<f64>);

/// Whether misses are larger where an input is.
fn uneven(
    problem: &Problem,
    node: usize,
    name: &str,
    table: &Table,
    read: &[Cause],
    left: &[f64],
) -> Option<Doubt> {
    let rows = left.len();
    if rows < 2 * FEWEST {
        return None;
    }
    let sizes = ranks(&left.iter().map(|apart| apart.abs()).collect::<Vec<_>>());
    let names = input_names(problem, node);
    let columns = table.scaled(read);
    let tested = names.into_iter().zip(columns).filter_map(|(input, column)| {
        let correlation = correlation(&ranks(&column), &sizes)?;
        let errors = correlation.abs().atanh() * (rows as f64 - 3.0).sqrt();
        (errors > UNEVEN_ERRORS).then_some((input, correlation))
    });
    let most = tested.reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best });
    most.map(|(input, correlation)| Doubt::UnevenNoise { node: name.to_owned(), input, rows, correlation })
}

/// The rank of every value among all.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    order.iter().enumerate().for_each(|(rank, &row)| ranks[row] = rank as f64);
    ranks
}
