//! Where a study stands, for programs.

use mcbo_core::{Certificate, Oddity, Recommendation, Study, Trial, TrialState};
use mcbo_store::{Status, StoredTrial, Summary};
use serde_json::{Value, json};

use crate::{Suspected, describe, json, timestamp};

/// A line of the list of studies: `mcbo studies --json`.
pub fn summary(study: &Summary) -> Value {
    json!({
        "study": study.name,
        "trials": study.trials,
        "complete": study.complete,
        "pending": study.pending,
        "failed": study.failed,
        "created": timestamp::exact(study.created),
        "changed": timestamp::exact(study.changed),
    })
}

/// Everything that is said of where a study stands.
pub struct View<'a> {
    /// Counts and settings.
    pub standing: &'a Status,
    /// The study.
    pub study: &'a Study,
    /// Its trials, or at least those that [`is_shown`].
    pub trials: &'a [StoredTrial],
    /// What the model recommends, if it was asked.
    pub advice: Option<(&'a Recommendation, &'a Certificate)>,
    /// What does not fit.
    pub suspected: &'a Suspected,
}

/// Whether something is said of a single trial: it is under way, values of it are missing, or something else was done in it.
pub fn is_shown(trial: &Trial) -> bool {
    let missing = trial.values.iter().flatten().any(Option::is_none);
    trial.state == TrialState::Pending || missing || trial.done.is_some()
}

/// What does not fit, for scripts.
fn odd(odd: &Oddity) -> Value {
    json!({ "trials": odd.trials(), "message": odd.to_string() })
}

impl View<'_> {
    /// Trials under way, and trials of which some values are missing.
    pub fn open(&self) -> (Vec<&StoredTrial>, Vec<&StoredTrial>) {
        let pending = self.trials.iter().filter(|trial| trial.trial.state == TrialState::Pending).collect();
        let partial =
            |trial: &&StoredTrial| trial.trial.state == TrialState::Complete && !trial.missing.is_empty();
        (pending, self.trials.iter().filter(partial).collect())
    }

    /// Trials in which something else was done than what was asked for.
    pub fn otherwise(&self) -> impl Iterator<Item = &StoredTrial> {
        let counts = |trial: &&StoredTrial| trial.trial.state != TrialState::Voided;
        self.trials.iter().filter(counts).filter(|trial| trial.trial.done.is_some())
    }

    /// `mcbo status --json`.
    pub fn json(&self) -> Value {
        let (standing, problem) = (self.standing, self.study.problem());
        let (pending, partial) = self.open();
        let pending: Vec<Value> = pending
            .iter()
            .map(|trial| {
                json!({
                    "trial": trial.trial.number,
                    "worker": trial.record.worker,
                    "asked": timestamp::exact(trial.record.asked),
                    "lease_until": trial.record.lease_until.map(timestamp::exact),
                })
            })
            .collect();
        let partial: Vec<Value> = partial
            .iter()
            .map(|trial| json!({ "trial": trial.trial.number, "missing": trial.missing }))
            .collect();
        let recommendation = self.advice.map(|(recommendation, _)| recommendation);
        json!({
            "study": standing.name,
            "objective": describe::objective(problem),
            "strategy": standing.strategy.strategy,
            "preset": standing.strategy.preset,
            "beta": standing.strategy.beta,
            "seed": standing.seed,
            "initial": standing.initial,
            "created": timestamp::exact(standing.created),
            "changed": timestamp::exact(standing.changed),
            "trials": standing.trials,
            "complete": standing.complete,
            "pending": standing.pending,
            "expired": standing.expired,
            "partial": standing.partial,
            "failed": standing.failed,
            "corrected": standing.corrected,
            "spent": problem.has_costs().then(|| self.study.spent()),
            "voided": standing.voided,
            "done_otherwise": self.otherwise().map(|trial| trial.trial.number).collect::<Vec<_>>(),
            "suspicions": self.suspected.odd.iter().map(odd).collect::<Vec<_>>(),
            "suspicions_by": self.suspected.of.map_or(self.study.data().len(), |(some, _)| some),
            "under_way": pending,
            "incomplete": partial,
            "best": json::best(problem, self.study.best_trial(), recommendation),
            "recommendation": recommendation.map(|r| json::recommendation(problem, r)),
            "certificate": self.advice.map(|(_, certificate)| json::certificate(problem, certificate)),
            "nodes": recommendation.map(|r| json::nodes(&r.network.summaries(problem))),
        })
    }
}
