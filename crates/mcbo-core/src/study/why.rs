//! Why a trial: what it promises, what is known near it, what it would teach, how it differs from the best known.

use super::{Study, StudyError, Trial, TrialState};
use crate::network::{Network, expected_reward, slot_name};
use crate::{Intervention, Problem};

/// What can be said for a trial, in the direction of improvement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Why {
    /// What the model expected of its reward when it proposed it, else what it expects now: mean, lower and upper end.
    pub expected: Option<[f64; 3]>,
    /// What it hoped for when it was proposed, if what is not known turns out well.
    pub hope: Option<f64>,
    /// The measured trial that is most like it, with how far apart they are: the largest difference of anything that can be
    /// chosen, or that was known before, as a share of its range; another name is all of it. `None` where nothing like it was
    /// measured: other nodes were set.
    pub nearest: Option<(usize, f64)>,
    /// The nodes it would teach most about: the share of each in what is not known of the reward there, the largest first.
    pub teaches: Vec<(usize, f64)>,
    /// The trial with the best measured reward, that reward, and what the model expects of doing it again.
    pub best: Option<(usize, f64, Option<f64>)>,
    /// What is done or known otherwise than in that trial: the name, the value here and the value there, `None` where a node is not set.
    pub differs: Vec<(String, Option<f64>, Option<f64>)>,
}

impl Study {
    /// What can be said for a trial, by the model of [`Self::network`], where what was known of its contexts is.
    ///
    /// # Errors
    /// If there is no such trial.
    pub fn why(&self, network: &Network, number: usize) -> Result<Why, StudyError> {
        let (problem, trial) = (&*self.problem, self.trial(number)?);
        let doing = trial.intervention();
        let suggestion = &trial.suggestion;
        let known;
        let network = match suggestion.given.is_empty() {
            true => network,
            false => {
                let mut own = network.clone();
                own.given(&suggestion.given);
                known = own;
                &known
            }
        };
        let finite = |bounds: &[f64; 3]| bounds.iter().all(|value| value.is_finite());
        let then = expected_reward(problem, &suggestion.predicted).filter(finite);
        let expected = |doing: &Intervention| {
            expected_reward(problem, &network.forecast(problem, doing, self.seed)).filter(finite)
        };
        let counts = |other: &&Trial| other.number != number && other.state == TrialState::Complete;
        let measured = self.trials.iter().filter(counts);
        let contexts = self.known(trial);
        // The largest difference, and all of them together: of two trials of other names one may still be more like this one.
        let away = |other: &Trial| {
            let mut apart = distances(problem, doing, other.intervention())?;
            apart.extend(contexts.iter().map(|context| context.away(other)));
            Some((apart.iter().copied().fold(0.0, f64::max), apart.iter().sum::<f64>()))
        };
        let distances = measured.filter_map(|other| Some((other.number, away(other)?)));
        let nearest = distances.reduce(|best, next| if next.1 < best.1 { next } else { best });
        let nearest = nearest.map(|(trial, (largest, _))| (trial, largest));
        let best = self.best_trial().filter(|(best, _)| best.number != number);
        Ok(Why {
            expected: then.or_else(|| expected(doing)),
            hope: suggestion.acquisition.filter(|_| suggestion.beta.is_some() && !suggestion.excursion),
            nearest,
            teaches: network.blame(problem, doing, self.seed),
            best: best.map(|(trial, reward)| {
                (trial.number, reward, expected(trial.intervention()).map(|[mean, ..]| mean))
            }),
            differs: best.map_or_else(Vec::new, |(best, _)| {
                let chosen = differences(problem, doing, best.intervention());
                contexts.iter().filter_map(|context| context.difference(best)).chain(chosen).collect()
            }),
        })
    }

    /// What was known of the contexts when a trial was asked for, number by number.
    fn known(&self, trial: &Trial) -> Vec<KnownContext> {
        let problem = &*self.problem;
        let components = |(node, values): (usize, &[f64])| -> Vec<KnownContext> {
            let declared = &problem.nodes()[node];
            let component = |(component, slot): (usize, usize)| {
                let seen = self.trials.iter().filter_map(|trial| trial.values.as_ref()?[slot]);
                let seen = seen.chain([values[component]]);
                let [low, high] = declared.range.unwrap_or_else(|| {
                    seen.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
                        [low.min(value), high.max(value)]
                    })
                });
                // Names are no distance apart, only different.
                let width = if declared.choices.is_empty() { high - low } else { f64::MIN_POSITIVE };
                KnownContext {
                    name: slot_name(problem, node, component),
                    slot,
                    value: values[component],
                    width,
                }
            };
            problem.slot(node).enumerate().map(component).collect()
        };
        trial.suggestion.given.iter().flat_map(components).collect()
    }
}

/// A number that was known before deciding.
struct KnownContext {
    name: String,
    slot: usize,
    value: f64,
    /// A difference that is all of its range.
    width: f64,
}

impl KnownContext {
    /// What it was in another trial, if that was written down.
    fn there(&self, other: &Trial) -> Option<f64> {
        *other.values.as_ref()?.get(self.slot)?
    }

    /// How far from it another trial was made, as a share of its range; as far as can be where that is not known.
    fn away(&self, other: &Trial) -> f64 {
        match self.there(other) {
            Some(there) if there == self.value => 0.0,
            Some(there) => ((there - self.value).abs() / self.width).min(1.0),
            None => 1.0,
        }
    }

    fn difference(&self, other: &Trial) -> Option<(String, Option<f64>, Option<f64>)> {
        let there = self.there(other)?;
        (there != self.value).then(|| (self.name.clone(), Some(self.value), Some(there)))
    }
}

/// All differences, as shares of their ranges; none where other nodes are set.
fn distances(problem: &Problem, one: &Intervention, other: &Intervention) -> Option<Vec<f64>> {
    if one.target_set() != other.target_set() {
        return None;
    }
    let actions = problem.actions().iter().zip(one.actions.iter().zip(&other.actions));
    // Names are no distance apart, only different.
    let differ = |a: f64, b: f64| f64::from(u8::from(a != b));
    let actions = actions.map(|(action, (a, b))| match action.is_choice() {
        true => differ(*a, *b),
        false => (action.share(*a) - action.share(*b)).abs(),
    });
    let targets = one.targets.iter().zip(&other.targets).flat_map(|((node, a), (_, b))| {
        let node = &problem.nodes()[*node];
        let ranges = node.hard.iter().flatten().zip(a.iter().zip(b));
        ranges.map(move |([low, high], (a, b))| match node.is_choice() {
            true => differ(*a, *b),
            false => (a - b).abs() / (high - low),
        })
    });
    Some(actions.chain(targets).collect())
}

/// Everything that can be chosen and differs.
fn differences(
    problem: &Problem,
    here: &Intervention,
    there: &Intervention,
) -> Vec<(String, Option<f64>, Option<f64>)> {
    let mut found = Vec::new();
    for node in problem.settable() {
        for component in 0..problem.nodes()[node].dim {
            let [a, b] = [here, there].map(|doing| doing.target(node).map(|values| values[component]));
            if a != b {
                found.push((format!("do({})", slot_name(problem, node, component)), a, b));
            }
        }
    }
    for (action, (a, b)) in problem.actions().iter().zip(here.actions.iter().zip(&there.actions)) {
        if a != b {
            found.push((action.name.clone(), Some(*a), Some(*b)));
        }
    }
    found
}
