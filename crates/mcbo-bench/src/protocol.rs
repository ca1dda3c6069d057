//! One run of a strategy on a task, scored as in the paper.

use std::time::Instant;

use mcbo_core::{
    Context, Data, DataError, Given, Intervention, Memory, Observation, Problem, Strategy, SuggestError,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::task::Task;

/// What a strategy is told about the reward of its interventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    /// What was measured, noise and all.
    Measured,
    /// `E[Y | intervention]`, as the paper grants to CBO. Observations without intervention are still as measured.
    Expected,
}

/// One round of a run. Rewards are expectations, in the direction of improvement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The round, from 1.
    pub round: usize,
    /// What the strategy chose.
    pub intervention: Intervention,
    /// `E[Y]` of the choice.
    pub expected_reward: f64,
    /// The mean of `E[Y]` over the initial design and all rounds so far.
    pub average_reward: f64,
    /// The highest `E[Y]` of the initial design and all rounds so far.
    pub best_reward: f64,
    /// The width of the confidence band that the strategy used, if it has one.
    pub beta: Option<f64>,
    /// How long the strategy took to choose.
    pub suggest_seconds: f64,
    /// What the choice costs, where the problem says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What was known of the contexts; the expected reward is of trials in which it is so.
    #[serde(default, skip_serializing_if = "Given::is_empty")]
    pub given: Given,
}

/// What a strategy would settle for after the last round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommended {
    /// The intervention.
    pub intervention: Intervention,
    /// `E[Y]` of it.
    pub expected_reward: f64,
    /// How long the strategy took to find it.
    pub seconds: f64,
    /// How probable it is that each limit is kept, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<(String, f64)>,
}

/// One run of a strategy on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The task's name.
    pub task: String,
    /// The name of the method: the strategy with its settings.
    pub method: String,
    /// The strategy's name.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// `E[Y]` of the initial design's rows.
    pub initial: Vec<f64>,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// What the strategy recommends in the end.
    pub recommended: Recommended,
    /// All that the strategy was told, the initial design first. It is not stored.
    #[serde(skip)]
    pub data: Data,
}

impl RunResult {
    /// The mean of `E[Y]` over the initial design: round 0.
    pub fn initial_average(&self) -> f64 {
        mean(self.initial.iter().copied())
    }

    /// The highest `E[Y]` of the initial design: round 0.
    pub fn initial_best(&self) -> f64 {
        self.initial.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The paper's average reward: over the initial design and all rounds.
    pub fn average_reward(&self) -> f64 {
        self.rounds.last().map_or_else(|| self.initial_average(), |round| round.average_reward)
    }

    /// The mean of `E[Y]` over what the strategy chose, without the initial design.
    pub fn chosen_average(&self) -> f64 {
        mean(self.rounds.iter().map(|round| round.expected_reward))
    }

    /// The highest `E[Y]` of the whole run.
    pub fn best_reward(&self) -> f64 {
        self.rounds.last().map_or_else(|| self.initial_best(), |round| round.best_reward)
    }

    /// The sum over the rounds of what each fell short of the optimum.
    pub fn cumulative_regret(&self, optimum: f64) -> f64 {
        self.rounds.iter().map(|round| optimum - round.expected_reward).sum()
    }

    /// The same run with all seconds 0: what does not depend on the machine.
    #[must_use]
    pub fn without_seconds(mut self) -> Self {
        self.rounds.iter_mut().for_each(|round| round.suggest_seconds = 0.0);
        self.recommended.seconds = 0.0;
        self
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Contexts that a recommended policy is scored in.
const POLICY: usize = 8;

/// What a generator is for; each purpose and round has its own stream.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Design,
    Noise,
    Strategy,
    Recommendation,
}

/// A generator that depends only on the task, the seed, the purpose and the round.
pub(crate) fn generator(task: &Task, seed: u64, purpose: Purpose, round: usize) -> ChaCha8Rng {
    let mut rng =
        ChaCha8Rng::seed_from_u64(name_hash(task.name()) ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    rng.set_stream(4 * round as u64 + purpose as u64);
    rng
}

/// FNV-1a: the same on every machine and in every release of the compiler.
pub(crate) fn name_hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Runs a strategy for a number of rounds after the initial design.
///
/// The initial design and the noise of every round depend only on the task and the seed, so that strategies can be compared
/// in pairs. The result does not depend on the number of threads, `suggest_seconds` apart.
///
/// # Errors
/// If the strategy gives no suggestion or one that the problem does not allow.
pub fn run(task: &Task, strategy: &dyn Strategy, seed: u64, rounds: usize) -> Result<RunResult, BenchError> {
    run_told(task, strategy, Feedback::Measured, seed, rounds)
}

/// The same as [`run`], for strategies that are told other rewards than the measured ones.
///
/// # Errors
/// If the strategy gives no suggestion or one that the problem does not allow.
pub fn run_told(
    task: &Task,
    strategy: &dyn Strategy,
    feedback: Feedback,
    seed: u64,
    rounds: usize,
) -> Result<RunResult, BenchError> {
    let problem = task.problem();
    let wrong = |round: usize| {
        move |error: DataError| BenchError::Data { task: task.name().into(), seed, round, error }
    };
    let failed = |round: usize| {
        move |error: SuggestError| BenchError::Suggest { task: task.name().into(), seed, round, error }
    };
    let mut data = Data::new();
    let mut initial = Vec::new();
    for mut observation in task.initial_design(seed) {
        let expected = task.expected_reward(&observation.intervention);
        initial.push(expected);
        tell(problem, feedback, expected, &mut observation);
        data.push(problem, observation).map_err(wrong(0))?;
    }
    let mut total: f64 = initial.iter().sum();
    let mut best = initial.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut memory = Memory::default();
    let mut records = Vec::with_capacity(rounds);
    for round in 1..=rounds {
        // The design is drawn in round 0: the same streams of later rounds draw contexts.
        let given = task.contexts(&mut generator(task, seed, Purpose::Design, round));
        let context = Context::new(problem, &data, &memory).with_given(&given);
        let mut rng = generator(task, seed, Purpose::Strategy, round);
        let started = Instant::now();
        let proposal = strategy.suggest(&context, &mut rng).map_err(failed(round))?;
        let suggest_seconds = started.elapsed().as_secs_f64();
        let suggestion = proposal.suggestion;
        let intervention = suggestion.intervention;
        mcbo_core::check_intervention(problem, &intervention).map_err(wrong(round))?;
        let known = Task::knowing(&intervention, &given);
        let expected_reward = task.expected_reward(&known);
        total += expected_reward;
        best = best.max(expected_reward);
        let values = task.sample(&known, &mut generator(task, seed, Purpose::Noise, round));
        let values = values.into_iter().map(Some).collect();
        let mut observation = Observation { intervention: intervention.clone(), values };
        tell(problem, feedback, expected_reward, &mut observation);
        data.push(problem, observation).map_err(wrong(round))?;
        memory = proposal.memory;
        records.push(Round {
            round,
            expected_reward,
            average_reward: total / (initial.len() + round) as f64,
            best_reward: best,
            cost: problem.has_costs().then(|| problem.cost(&intervention)),
            intervention,
            beta: suggestion.beta,
            suggest_seconds,
            given,
        });
    }
    let started = Instant::now();
    let recommend = |given: &Given| -> Result<(Intervention, f64, Given), BenchError> {
        let context = Context::new(problem, &data, &memory).with_given(given);
        let intervention = strategy
            .recommended(&context, &mut generator(task, seed, Purpose::Recommendation, 0))
            .map_err(failed(rounds))?;
        mcbo_core::check_intervention(problem, &intervention).map_err(wrong(rounds))?;
        let reward = task.expected_reward(&Task::knowing(&intervention, given));
        Ok((intervention, reward, given.clone()))
    };
    // With contexts what is recommended is a policy, and its reward the mean over some of them.
    let mut contexts = generator(task, seed, Purpose::Recommendation, 1);
    let count = if problem.contexts().next().is_some() { POLICY } else { 1 };
    let advised: Vec<(Intervention, f64, Given)> =
        (0..count).map(|_| recommend(&task.contexts(&mut contexts))).collect::<Result<_, _>>()?;
    let seconds = started.elapsed().as_secs_f64();
    let expected_reward = mean(advised.iter().map(|(_, reward, _)| *reward));
    let (intervention, given) = advised
        .into_iter()
        .next()
        .map_or_else(|| (problem.neutral_intervention(), Given::default()), |first| (first.0, first.2));
    Ok(RunResult {
        task: task.name().into(),
        method: strategy.name().into(),
        strategy: strategy.name().into(),
        seed,
        initial,
        rounds: records,
        recommended: Recommended {
            expected_reward,
            limits: task.keeping(&Task::knowing(&intervention, &given)),
            intervention,
            seconds,
        },
        data,
    })
}

/// Replaces the measured reward of an intervention by its expectation if the feedback is that. One that was not measured
/// remains so.
fn tell(problem: &Problem, feedback: Feedback, expected: f64, observation: &mut Observation) {
    let intervened = observation.intervention != problem.neutral_intervention();
    if feedback == Feedback::Expected && intervened {
        let reward = &mut observation.values[problem.slot(problem.reward()).start];
        *reward = reward.map(|_| problem.sign() * expected);
    }
}
