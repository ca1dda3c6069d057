//! Whether the graph is right, by what the data say: for every node, models with and without an arrow are compared by their
//! evidence, the probability that each gave to the values that were measured.

mod table;
mod uneven;

use rayon::prelude::*;

use crate::{Data, Problem};

use super::{Network, Suspicion, input_names, slot_name};

use table::{Cause, Table, Weighed};

/// Fewer rows say nothing about a graph.
const FEWEST: usize = 12;
/// Candidates of every node that are compared by their evidence: those that what its parents leave over follows most.
const COMPARED: usize = 3;
/// The probability that something is said against a graph that is right, for each kind of thing that may be said: missing arrows,
/// idle ones, formulas, uneven noise. It is shared out over all questions of that kind that are asked of a study.
///
/// Data that come from one model are `k` times more probable under another with a probability of at most `1/k` (Markov's inequality), so
/// evidence counts from `questions / FALSE_ALARM` times on.
const FALSE_ALARM: f64 = 0.02;
/// Imitations of a cause that it must do better than.
const IMITATIONS: usize = 2;
/// The share of an input that the other inputs may foretell for the data to say whether it acts beside them.
const FORETOLD: f64 = 0.9;
/// What is left over by a formula, relative to the values, that is rounding.
const ROUNDING: f64 = 1e-9;

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

/// How many questions of each kind are asked of a study.
#[derive(Debug, Clone, Copy, Default)]
struct Questions {
    missing: usize,
    idle: usize,
    formulas: usize,
    inputs: usize,
}

impl Questions {
    fn of(problem: &Problem, components: &[(usize, usize)]) -> Self {
        let mut asked = Self::default();
        for &(node, _) in components {
            if problem.nodes()[node].formula.is_some() {
                asked.formulas += 1;
            } else {
                asked.missing += candidates(problem, node).len();
                asked.idle += read(problem, node).len();
                asked.inputs += problem.input_dim(node);
            }
        }
        asked
    }
}

/// The logarithm of how many times more probable data must be for one of so many questions.
fn enough(questions: usize) -> f64 {
    (questions as f64 / FALSE_ALARM).ln()
}

impl Network {
    /// Everything that the data say against the graph and its formulas, the weightiest first; single values that do not fit
    /// come last. Random numbers come from `seed`.
    pub fn doubts(&self, problem: &Problem, data: &Data, seed: u64) -> Vec<Doubt> {
        // What has names has no causes here.
        let components: Vec<(usize, usize)> = (0..problem.nodes().len())
            .filter(|&node| !problem.nodes()[node].is_choice())
            .flat_map(|node| (0..problem.nodes()[node].dim).map(move |component| (node, component)))
            .collect();
        let asked = Questions::of(problem, &components);
        let found: Vec<Vec<Doubt>> =
            components.par_iter().map(|&at| Examined { problem, data, at, asked, seed }.doubts()).collect();
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

/// One component of a node that is looked at.
struct Examined<'a> {
    problem: &'a Problem,
    data: &'a Data,
    at: (usize, usize),
    asked: Questions,
    seed: u64,
}

impl Examined<'_> {
    fn name(&self) -> String {
        slot_name(self.problem, self.at.0, self.at.1)
    }

    fn table(&self, causes: &[Cause]) -> Option<Table> {
        let table = Table::new(self.problem, self.data, self.at, causes);
        (table.rows() >= FEWEST && table.varies()).then_some(table)
    }

    fn doubts(&self) -> Vec<Doubt> {
        let (problem, read) = (self.problem, read(self.problem, self.at.0));
        let Some(base) = self.table(&read) else { return Vec::new() };
        let Some(by_graph) = base.weigh(&read, self.seed) else { return Vec::new() };
        if problem.nodes()[self.at.0].formula.is_some() {
            return self.refuted(&base, &by_graph).into_iter().collect();
        }
        let mut found: Vec<Doubt> = self.missing(&read).into_iter().collect();
        found.extend(read.iter().filter_map(|&cause| self.idle(&base, &by_graph, &read, cause)));
        found.extend(self.uneven(&base, &by_graph, &read));
        found
    }

    /// Whether what a formula leaves over depends on its inputs.
    fn refuted(&self, base: &Table, by_inputs: &Weighed) -> Option<Doubt> {
        let log_odds = by_inputs.log_evidence - base.weigh(&[], self.seed)?.log_evidence;
        let doubt = || Doubt::Formula { node: self.name(), rows: base.rows(), log_odds };
        (log_odds > enough(self.asked.formulas)).then(doubt)
    }

    /// Whether a node is foretold better without something it reads.
    fn idle(&self, base: &Table, by_graph: &Weighed, read: &[Cause], cause: Cause) -> Option<Doubt> {
        let others: Vec<Cause> = read.iter().copied().filter(|other| *other != cause).collect();
        let log_odds = base.weigh(&others, self.seed)?.log_evidence - by_graph.log_evidence;
        // What follows from the other inputs is not needed beside them, whether it acts or not.
        if log_odds <= enough(self.asked.idle) || base.foretold(cause, &others, self.seed) > FORETOLD {
            return None;
        }
        let (node, input) = (self.name(), cause.name(self.problem));
        Some(Doubt::IdleArrow { node, input, rows: base.rows(), log_odds })
    }

    /// The one thing that would help most to foretell a component, if it helps enough.
    fn missing(&self, read: &[Cause]) -> Option<Doubt> {
        // Rows differ where a candidate was not measured, so each is compared on rows of its own.
        let mut tables: Vec<(Cause, Table, f64, f64)> = Vec::new();
        // The model without another cause, by the values of the table.
        let mut known: Vec<(Vec<f64>, f64, Vec<f64>)> = Vec::new();
        for cause in candidates(self.problem, self.at.0) {
            let causes: Vec<Cause> = read.iter().copied().chain([cause]).collect();
            let Some(table) = self.table(&causes) else { continue };
            let place = match known.iter().position(|(values, ..)| *values == table.values) {
                Some(place) => place,
                None => {
                    let found = table.weigh(read, self.seed)?;
                    known.push((table.values.clone(), found.log_evidence, found.misses()));
                    known.len() - 1
                }
            };
            let (_, without, misses) = &known[place];
            let follows = table.follows(cause, read, misses);
            tables.push((cause, table, *without, follows));
        }
        tables.sort_by(|a, b| b.3.total_cmp(&a.3));
        let compared = tables.into_iter().take(COMPARED).filter_map(|(cause, table, without, _)| {
            let log_odds = table.weigh_with(read, cause, self.seed)? - without;
            Some((cause, table, without, log_odds))
        });
        let best = compared.reduce(|best, next| if next.3 > best.3 { next } else { best })?;
        let (cause, table, without, mut log_odds) = best;
        // More inputs may help whatever they are, where no model of ours is quite right. So a cause counts by what it does better
        // than imitations that stand to the parents as it does.
        let helps = log_odds;
        for seed in (1..=IMITATIONS as u64).map(|k| self.seed.wrapping_add(k)) {
            if log_odds <= enough(self.asked.missing) {
                return None;
            }
            let imitation = table.imitating(cause, read, seed)?;
            let imitated = imitation.weigh_with(read, cause, self.seed)? - without;
            log_odds = log_odds.min(helps - imitated);
        }
        let (node, from, rows) = (self.name(), cause.name(self.problem), table.rows());
        (log_odds > enough(self.asked.missing)).then_some(Doubt::MissingArrow { node, from, rows, log_odds })
    }

    /// Whether misses are larger where an input is.
    fn uneven(&self, base: &Table, by_graph: &Weighed, read: &[Cause]) -> Option<Doubt> {
        let chance = FALSE_ALARM / self.asked.inputs as f64;
        let (input, correlation) = uneven::most(by_graph, &base.scaled(read), chance, self.seed)?;
        let input = input_names(self.problem, self.at.0).swap_remove(input);
        Some(Doubt::UnevenNoise { node: self.name(), input, rows: base.rows(), correlation })
    }
}
