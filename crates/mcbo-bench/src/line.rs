//! What is written about a round: one JSON object per line.

use serde::Serialize;

use crate::protocol::RunResult;
use crate::task::Task;

/// One round of a run, as it is printed and stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The task's name.
    pub task: String,
    /// The strategy's name.
    pub strategy: String,
    /// The width of the confidence band that was used, if there is one.
    pub beta: Option<f64>,
    /// The seed of the run.
    pub seed: u64,
    /// The round; 0 is the initial design, of which only the average and the best are told.
    pub round: usize,
    /// The values of all actions in order, then those of the targets.
    pub actions: Vec<f64>,
    /// The names of the nodes that were set.
    pub targets: Vec<String>,
    /// `E[Y]` of what was done.
    pub expected_reward: Option<f64>,
    /// The mean of `E[Y]` over the initial design and all rounds so far.
    pub average_reward: f64,
    /// The highest `E[Y]` so far.
    pub best_reward: f64,
    /// How long the strategy took to choose.
    pub suggest_seconds: Option<f64>,
}

impl RunResult {
    /// The initial design as round 0, then all rounds. Rewards are in the task's own units.
    ///
    /// # Panics
    /// When `task` is not the task of the run.
    pub fn lines(&self, task: &Task) -> Vec<Line> {
        assert_eq!(task.name(), self.task, "the task of the run");
        let nodes = task.problem().nodes();
        let line = Line {
            task: self.task.clone(),
            strategy: self.strategy.clone(),
            beta: self.rounds.first().and_then(|round| round.beta),
            seed: self.seed,
            round: 0,
            actions: Vec::new(),
            targets: Vec::new(),
            expected_reward: None,
            average_reward: self.initial_average(),
            best_reward: self.initial_best(),
            suggest_seconds: None,
        };
        let rounds = self.rounds.iter().map(|round| {
            let targets = &round.intervention.targets;
            let set = targets.iter().flat_map(|(_, values)| values);
            Line {
                beta: round.beta,
                round: round.round,
                actions: round.intervention.actions.iter().chain(set).copied().collect(),
                targets: targets.iter().map(|(node, _)| nodes[*node].name.clone()).collect(),
                expected_reward: Some(round.expected_reward),
                average_reward: round.average_reward,
                best_reward: round.best_reward,
                suggest_seconds: Some(round.suggest_seconds),
                ..line.clone()
            }
        });
        std::iter::once(line.clone()).chain(rounds).collect()
    }
}
