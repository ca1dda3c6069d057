//! Trials that do not fit: what is said when they are told, and listed afterwards.
//!
//! Nothing here is refused and nothing is left out: who is warned decides. The rules are strict, as those of the model's own
//! [`Suspicion`]s are: `tests/oddities.rs` looks for false alarms.

use super::{Origin, Study, StudyError, Trial, TrialState};
use crate::network::{Forecast, LeftOutRow, MechanismKind, ModelWarning, Network, Suspicion, slot_name};
use crate::strategy::Memory;
use crate::{Intervention, Problem};

/// Rows of a node from which one of them can be told from the rest.
const ROWS: usize = 10;
/// Robust deviations that it must be off by, and deviations by its own prediction.
const ROBUST: f64 = 6.0;
const OWN: f64 = 3.0;
/// The median of the sizes of what is normal, in deviations.
const MEDIAN: f64 = 0.6745;
/// Deviations by which an outcome surprises, of what was expected when it was proposed.
const SURPRISE: f64 = 4.0;
/// Trials in a row that all miss to one side by more than so many deviations.
const MISSES: usize = 8;
const MISSED: f64 = 1.0;
/// Deviations between the ends of bounds of 90 %.
const WIDTH: f64 = 2.0 * 1.644_853_626_951_472_2;

/// A trial, or some of them, that do not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Oddity {
    /// Something that the model itself suspects: a value far off, a drift, a formula that is contradicted.
    #[error(transparent)]
    Suspicion(#[from] Suspicion),
    /// All other trials together let expect another value.
    #[error(
        "trial {trial}: {node} = {} where the other trials let expect {}, {:.0} times farther off than usual; hint: look for a slip; `mcbo correct` puts it right, `mcbo void` takes it out",
        short(*.value), short(*.expected), times
    )]
    Contradicted {
        /// The trial.
        trial: usize,
        /// The node or component.
        node: String,
        /// What was measured.
        value: f64,
        /// What the others let expect, given what its parents were.
        expected: f64,
        /// How many times farther off it is than trials are usually.
        times: f64,
    },
    /// The outcome is not what the model expected when it proposed the trial.
    #[error(
        "trial {trial}: {node} = {} surprised the model, which had expected {} ({} to {}); hint: if it is no slip, it is worth the most: the model has learned from it",
        short(*.value), short(*.expected), short(*.low), short(*.high)
    )]
    Surprise {
        /// The trial.
        trial: usize,
        /// The reward.
        node: String,
        /// What was measured.
        value: f64,
        /// What was expected.
        expected: f64,
        /// The ends between which a single outcome was to lie with a probability of 90 %.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// The last trials that the model proposed all missed what it expected, to the same side.
    #[error(
        "{node}: the last {count} trials that the model proposed ({first} to {last}) all came out {} what it expected, by {} on average; hint: something may have changed, or the graph lacks an arrow: mcbo doctor STUDY looks for one",
        if *.by > 0.0 { "above" } else { "below" }, short(.by.abs())
    )]
    Misses {
        /// The reward.
        node: String,
        /// The first of them.
        first: usize,
        /// The last.
        last: usize,
        /// How many.
        count: usize,
        /// By how much on average, in the user's units.
        by: f64,
    },
}

impl Oddity {
    /// The trials that it is about, none for what is about all of them.
    pub fn trials(&self) -> Vec<usize> {
        match self {
            Self::Suspicion(Suspicion::FarOff { trial, .. })
            | Self::Contradicted { trial, .. }
            | Self::Surprise { trial, .. } => vec![*trial],
            Self::Suspicion(Suspicion::Drift { first, last, .. }) | Self::Misses { first, last, .. } => {
                vec![*first, *last]
            }
            Self::Suspicion(_) => Vec::new(),
        }
    }

    /// Whether it came with a trial: it is about it alone, or ends with it.
    pub fn came_with(&self, trial: usize) -> bool {
        self.trials().last() == Some(&trial)
    }
}

fn short(value: f64) -> String {
    let text = format!("{value:.4e}");
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}

impl Study {
    /// The model behind [`Self::recommend`], without a search.
    ///
    /// # Errors
    /// If nothing was measured yet, or no model can be fitted.
    pub fn network(&self) -> Result<Network, StudyError> {
        if self.data.is_empty() {
            return Err(StudyError::NoData);
        }
        let memory = Memory::default();
        let context = crate::strategy::Context { memory: &memory, ..self.settled() };
        Ok(context.fit(&self.advisor.model, &mut self.generator(u64::MAX))?.0)
    }

    /// Everything about single trials that does not fit, by the model of [`Self::network`]: values far from all others, rows
    /// that the rest of the data contradicts, outcomes that surprised the model, misses in one direction.
    pub fn oddities(&self, network: &Network) -> Vec<Oddity> {
        let mut found: Vec<Oddity> = network
            .warnings()
            .iter()
            .filter_map(|warning| match warning {
                ModelWarning::Suspicious(suspicion) => Some(Oddity::Suspicion(suspicion.clone())),
                _ => None,
            })
            .collect();
        found.extend(self.contradicted(network));
        let proposed: Vec<Outcome> = self.trials.iter().filter_map(|trial| self.outcome(trial)).collect();
        let usual = self.usual_reward(network);
        found.extend(self.surprises(network, &proposed, usual));
        found.extend(self.misses(network, &proposed, usual));
        found
    }

    /// Rows of learned nodes that are far from what the others let expect, by how far rows are off usually.
    fn contradicted(&self, network: &Network) -> Vec<Oddity> {
        let mut found = Vec::new();
        for &node in self.problem.graph().order() {
            if network.kind(node) != MechanismKind::Learned {
                continue;
            }
            for (component, rows) in network.left_out(&self.problem, &self.data, node).iter().enumerate() {
                if rows.len() < ROWS {
                    continue;
                }
                let usual = usual(rows);
                for row in rows {
                    let off = (row.value - row.mean).abs();
                    let trial = self.data.number(row.place);
                    if off > ROBUST * usual && off > OWN * row.deviation && off.is_finite() && usual > 0.0 {
                        found.push(Oddity::Contradicted {
                            trial,
                            node: slot_name(&self.problem, node, component),
                            value: row.value,
                            expected: row.mean,
                            times: off / usual,
                        });
                    }
                }
            }
        }
        found
    }

    /// What came of a trial that was proposed with an expectation of its reward and done as asked.
    fn outcome(&self, trial: &Trial) -> Option<Outcome> {
        let counted = self.places[trial.number - 1].is_some();
        let counts = counted && trial.state == TrialState::Complete && trial.done.is_none();
        let (reward, slot) = (self.problem.reward(), self.problem.slot(self.problem.reward()).start);
        let value = trial.values.as_ref().and_then(|values| values[slot])?;
        let forecast = trial.suggestion.predicted.iter().find(|forecast| forecast.node == reward)?;
        (counts && trial.suggestion.origin() == Origin::Strategy).then(|| Outcome {
            trial: trial.number,
            value,
            forecast: forecast.clone(),
        })
    }

    /// By how much a trial's reward is usually off what the others let expect, where there are enough of them to say.
    fn usual_reward(&self, network: &Network) -> Option<f64> {
        let rows = network.left_out(&self.problem, &self.data, self.problem.reward()).into_iter().next()?;
        (rows.len() >= ROWS).then(|| usual(&rows)).filter(|usual| usual.is_finite())
    }

    fn surprises(&self, network: &Network, proposed: &[Outcome], usual: Option<f64>) -> Vec<Oddity> {
        let surprise = |outcome: &Outcome| {
            let Forecast { mean, lower, upper, .. } = outcome.forecast;
            let off = (outcome.value - mean).abs();
            // What scatters besides is only looked at where it could matter.
            if off <= SURPRISE * (upper - lower) / WIDTH {
                return None;
            }
            let spread =
                outcome.spread(&self.problem, network, self.trials[outcome.trial - 1].intervention(), usual);
            let reach = 0.5 * WIDTH * spread;
            (off > SURPRISE * spread && off.is_finite()).then(|| Oddity::Surprise {
                trial: outcome.trial,
                node: outcome.forecast.name.clone(),
                value: outcome.value,
                expected: mean,
                low: mean - reach,
                high: mean + reach,
            })
        };
        proposed.iter().filter_map(surprise).collect()
    }

    fn misses(&self, network: &Network, proposed: &[Outcome], usual: Option<f64>) -> Option<Oddity> {
        let last = proposed.len().checked_sub(MISSES).map(|from| &proposed[from..])?;
        let side = (last[0].value - last[0].forecast.mean).signum();
        let missed = |outcome: &&Outcome| {
            let by = side * (outcome.value - outcome.forecast.mean);
            let doing = self.trials[outcome.trial - 1].intervention();
            by > 0.0 && by > MISSED * outcome.spread(&self.problem, network, doing, usual)
        };
        if !last.iter().all(|outcome| missed(&outcome)) {
            return None;
        }
        let by =
            last.iter().map(|outcome| outcome.value - outcome.forecast.mean).sum::<f64>() / MISSES as f64;
        let (first, end) = (last.first()?.trial, last.last()?.trial);
        let node = last[0].forecast.name.clone();
        by.is_finite().then_some(Oddity::Misses { node, first, last: end, count: MISSES, by })
    }
}

/// The reward of a trial, and what was expected of it.
struct Outcome {
    trial: usize,
    value: f64,
    forecast: Forecast,
}

impl Outcome {
    /// The deviation of a single outcome: what was not known of the expectation then, and what scatters by what is known now.
    ///
    /// An outcome that is far off makes the model believe in more noise, by which it would look less far off: of the reward's own
    /// noise no more counts than half of all rows are off by.
    fn spread(&self, problem: &Problem, network: &Network, doing: &Intervention, usual: Option<f64>) -> f64 {
        let then = (self.forecast.upper - self.forecast.lower) / WIDTH;
        let (outlooks, _) = network.outlook(problem, doing, &[]);
        let now = outlooks.iter().find(|outlook| outlook.forecast.node == problem.reward());
        let scatter = now.map_or(0.0, |outlook| (outlook.outcome[1] - outlook.outcome[0]) / WIDTH);
        let noise = network.noise(problem.reward()).first().map_or(0.0, |noise| noise.deviation());
        let less = usual.map_or(0.0, |usual| (noise * noise - usual * usual).max(0.0));
        then.hypot((scatter * scatter - less).max(0.0).sqrt())
    }
}

/// By how much a row is usually off what the others let expect: the deviation that half of them would have.
fn usual(rows: &[LeftOutRow]) -> f64 {
    let mut sizes: Vec<f64> = rows.iter().map(|row| (row.value - row.mean).abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2] / MEDIAN
}
