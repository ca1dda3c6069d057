//! Ask and tell: the state of an optimisation, in memory.

mod advice;
mod effects;
mod error;
mod kept;
mod mend;
mod oddity;
mod predict;
mod resume;
mod shared;
mod thin;
mod trial;
mod why;

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::data::{Data, DataError, Observation, check_intervention, check_size, values_by_name};
use crate::strategy::{
    Context, Mcbo, Memory, Proposal, Strategy, SuggestError, Suggestion, about_contexts, design_point,
};
use crate::{Fixed, Given, Intervention, Problem};

pub use error::StudyError;
pub use kept::Standing;
pub use oddity::Oddity;
pub use predict::Prediction;
pub use resume::ChangeError;
use shared::Shared;
pub use trial::{Origin, Trial, TrialState};
pub use why::Why;

/// An optimisation under way: ask for the next intervention, do it, tell what came out.
///
/// ```
/// use mcbo_core::{Noise, Problem, Study};
/// let problem = Problem::builder("greenhouse")
///     .action("water", [0.0, 10.0])
///     .node("moisture", |n| n.actions(["water"]).noise(Noise::None))
///     .node("growth", |n| n.parents(["moisture"]).noise(Noise::None))
///     .maximize("growth")
///     .build()?;
/// let mut study = Study::new(problem, 1);
/// for _ in 0..12 {
///     let trial = study.ask()?;
///     let (number, water) = (trial.number, trial.suggestion.intervention.actions[0]);
///     let moisture = 0.3 + 0.05 * water;
///     study.tell_named(number, &[("moisture", vec![moisture]), ("growth", vec![1.0 - (moisture - 0.6).powi(2)])])?;
/// }
/// let water = study.recommend()?.intervention.actions[0];
/// assert!((water - 6.0).abs() < 0.5, "{water}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Study {
    /// What it is called, if not as its problem.
    name: Option<Arc<str>>,
    problem: Arc<Problem>,
    strategy: Arc<dyn Strategy>,
    advisor: Mcbo,
    seed: u64,
    initial: usize,
    trials: Shared<Vec<Trial>>,
    /// The place of every trial's observation in the data, once it has one; places grow with the trials.
    places: Shared<Vec<Option<usize>>>,
    /// The states that trials had before they were taken out.
    voided: BTreeMap<usize, TrialState>,
    data: Shared<Data>,
    memory: Memory,
}

impl Study {
    /// A study with the default strategy and an initial design of [`default_initial`] trials.
    pub fn new(problem: impl Into<Arc<Problem>>, seed: u64) -> Self {
        Self::with_strategy(problem, Arc::new(Mcbo::default()), seed)
    }

    /// A study with another strategy.
    pub fn with_strategy(problem: impl Into<Arc<Problem>>, strategy: Arc<dyn Strategy>, seed: u64) -> Self {
        let problem = problem.into();
        let initial = default_initial(&problem);
        Self {
            name: None,
            problem,
            strategy,
            advisor: Mcbo::default(),
            seed,
            initial,
            trials: Shared::default(),
            places: Shared::default(),
            voided: BTreeMap::new(),
            data: Shared::default(),
            memory: Memory::default(),
        }
    }

    /// The same study with another number of trials before the strategy decides.
    pub fn initial(self, trials: usize) -> Self {
        Self { initial: trials, ..self }
    }

    /// The same study with a name of its own, for titles.
    pub fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// What it is called: its own name, else that of its problem, which may be empty.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.problem.name())
    }

    /// The same study with another model behind [`Self::recommend`].
    pub fn advisor(self, advisor: Mcbo) -> Self {
        Self { advisor, ..self }
    }

    /// The problem.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// All trials, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// What was measured so far, in the order of the trials.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// What the strategy remembers since the last proposal.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The seed of its random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Number of trials of the initial design.
    pub fn initial_trials(&self) -> usize {
        self.initial
    }

    fn generator(&self, stream: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(stream);
        rng
    }

    /// Whether a trial is still waited for: nothing was told of it, or all but its reward. Rows from outside with gaps are not.
    fn is_under_way(&self, trial: &Trial) -> bool {
        let reward = self.problem.slot(self.problem.reward()).start;
        match (trial.state, &trial.values) {
            (TrialState::Pending, _) => true,
            (TrialState::Complete, Some(values)) => {
                values[reward].is_none() && trial.suggestion.origin() != Origin::Added
            }
            _ => false,
        }
    }

    /// The trials that are still waited for, with what was told of them.
    fn under_way(&self) -> Vec<Observation> {
        let observation = |trial: &Trial| {
            let mut values = trial.values.clone().unwrap_or_else(|| vec![None; self.problem.slots()]);
            // What was told was checked against it.
            let _ = trial.suggestion.given.fill(&self.problem, &mut values);
            Observation { intervention: trial.intervention().clone(), values }
        };
        self.trials.iter().filter(|trial| self.is_under_way(trial)).map(observation).collect()
    }

    /// The next trial. Several may be pending at once; none of them is proposed twice.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    pub fn ask(&mut self) -> Result<&Trial, StudyError> {
        self.ask_given(Given::NONE)
    }

    /// The next trial where this is known of the contexts. Told values must agree with it.
    ///
    /// # Errors
    /// If no model can be fitted to the data, or the strategy cannot use what is known.
    pub fn ask_given(&mut self, given: &Given) -> Result<&Trial, StudyError> {
        self.ask_fixing(given, Fixed::NONE)
    }

    /// The next trial of those in which this is done, the rest being left to the strategy.
    ///
    /// # Errors
    /// As [`Self::ask_given`], and if what is fixed cannot be done or the strategy cannot keep to it.
    pub fn ask_fixing(&mut self, given: &Given, fixed: &Fixed) -> Result<&Trial, StudyError> {
        let proposal = self.propose(given, fixed)?;
        Ok(self.put_under_way(proposal))
    }

    /// What [`Self::ask_fixing`] would put under way; [`Self::resume`] does that later, here or in a copy.
    ///
    /// # Errors
    /// As [`Self::ask_fixing`].
    pub fn propose(&self, given: &Given, fixed: &Fixed) -> Result<Proposal, StudyError> {
        let mut proposed = None;
        self.propose_beside(given, fixed, &mut |proposal| {
            proposed = proposal;
            None
        })?;
        // A strategy of somebody's own may have given nothing.
        let nothing = || SuggestError::Own { name: self.strategy.name().into(), reason: "nothing".into() };
        Ok(proposed.ok_or_else(nothing)?)
    }

    /// The same where others may put trials under way meanwhile: `put` takes the proposal, and gives back the suggestions of all trials that
    /// were put under way since, if there are any. Then it is found again beside them, which takes a small part of the time, until `put` gives
    /// back nothing. It may be asked with nothing before there is a proposal. That depends on the study and on what it is found beside, not
    /// on how often that was. Trials of the initial design are not found again.
    ///
    /// # Errors
    /// As [`Self::ask_fixing`].
    pub fn propose_beside(
        &self,
        given: &Given,
        fixed: &Fixed,
        put: &mut dyn FnMut(Option<Proposal>) -> Option<Vec<Suggestion>>,
    ) -> Result<(), StudyError> {
        let narrowed = if fixed.is_empty() { None } else { Some(fixed.narrow(&self.problem)?) };
        let problem = narrowed.as_ref().unwrap_or(&self.problem);
        let number = self.trials.len() + 1;
        let pending = self.under_way();
        let failed: Vec<Intervention> = self
            .trials
            .iter()
            .filter(|trial| trial.state == TrialState::Failed)
            .map(|trial| trial.intervention().clone())
            .collect();
        let silent = self.trials.iter().filter(|trial| trial.state == TrialState::Pending).count();
        given.check(&self.problem)?;
        let context = Context {
            given,
            problem,
            data: &self.data,
            pending: &pending,
            failed: &failed,
            memory: &self.memory,
            near: &[],
        };
        // Trials that failed gave nothing: the design goes on until enough have been measured or are under way.
        if self.data.len() + silent < self.initial {
            let mut index = number - 1;
            let mut intervention = design_point(problem, index, self.seed);
            for _ in 0..64 {
                if !context.is_taken(&intervention) {
                    break;
                }
                index += 1;
                intervention = design_point(problem, index, self.seed);
            }
            put(Some(self.checked(self.without_strategy(intervention, Origin::Design), given, fixed)?));
            return Ok(());
        }
        let mut wrong = None;
        let mut take = |mut proposal: Option<Proposal>| {
            if let Some(found) = &mut proposal {
                found.suggestion.warnings.extend(about_contexts(&self.problem, &self.data, given));
            }
            let checked =
                |found: Proposal| self.checked_own(&found).and_then(|()| self.checked(found, given, fixed));
            match proposal.map(checked).transpose() {
                Ok(proposal) => {
                    put(proposal).map(|others| others.iter().map(|at| self.just_put(at)).collect())
                }
                Err(error) => {
                    wrong = Some(error);
                    None
                }
            }
        };
        self.strategy.suggest_beside(&context, &mut self.generator(number as u64), &mut take)?;
        wrong.map_or(Ok(()), Err)
    }

    /// Refuses what a strategy proposes and cannot be done.
    fn checked_own(&self, proposal: &Proposal) -> Result<(), StudyError> {
        check_intervention(&self.problem, &proposal.suggestion.intervention).map_err(|error| {
            SuggestError::Own { name: self.strategy.name().to_owned(), reason: error.to_string() }.into()
        })
    }

    /// A proposal with what it was made for, if it does what is fixed.
    fn checked(&self, mut proposal: Proposal, given: &Given, fixed: &Fixed) -> Result<Proposal, StudyError> {
        let proposed = &proposal.suggestion.intervention;
        if !fixed.holds(&self.problem, proposed) || check_intervention(&self.problem, proposed).is_err() {
            let hint = "fix less, or put the whole intervention in the queue";
            let name = proposal.suggestion.strategy;
            return Err(SuggestError::Cannot { name, what: "keep what is fixed", hint }.into());
        }
        proposal.suggestion.given.clone_from(given);
        proposal.suggestion.fixed.clone_from(fixed);
        Ok(proposal)
    }

    /// What is known of a trial that was just put under way.
    fn just_put(&self, suggestion: &Suggestion) -> Observation {
        let mut values = vec![None; self.problem.slots()];
        // It was checked against the same problem.
        let _ = suggestion.given.fill(&self.problem, &mut values);
        Observation { intervention: suggestion.intervention.clone(), values }
    }

    /// Puts a trial of the caller's own choice under way.
    ///
    /// # Errors
    /// If the intervention does not fit the problem.
    pub fn enqueue(&mut self, intervention: Intervention) -> Result<&Trial, StudyError> {
        check_intervention(&self.problem, &intervention)?;
        let proposal = self.without_strategy(intervention, Origin::Enqueued);
        Ok(self.put_under_way(proposal))
    }

    /// What no strategy proposed; it leaves what the strategy remembers as it is.
    fn without_strategy(&self, intervention: Intervention, origin: Origin) -> Proposal {
        Proposal { suggestion: Suggestion::new(origin.name(), intervention), memory: self.memory.clone() }
    }

    fn put_under_way(&mut self, Proposal { suggestion, memory }: Proposal) -> &Trial {
        self.memory = memory;
        let number = self.trials.len() + 1;
        self.trials.push(Trial { number, state: TrialState::Pending, suggestion, done: None, values: None });
        self.places.push(None);
        &self.trials[number - 1]
    }

    /// Takes what a trial gave: the values at the places of [`Problem::slot`], `None` where not measured. A trial that was
    /// marked as failed counts if it gave something after all; one that was taken out keeps its values and stays out.
    ///
    /// # Errors
    /// If there is no such trial, it has values already, or the values do not fit the problem.
    pub fn tell(&mut self, number: usize, mut values: Vec<Option<f64>>) -> Result<(), StudyError> {
        let trial = self.trial(number)?;
        let place = number - 1;
        match trial.state {
            TrialState::Complete => return Err(StudyError::NotPending { number, state: trial.state }),
            TrialState::Failed if self.places[place].is_some() => {
                self.amend(number, &values)?;
                self.trials[place].state = TrialState::Complete;
                return Ok(());
            }
            TrialState::Voided => return self.tell_voided(number, values),
            TrialState::Pending | TrialState::Failed => {}
        }
        if values.iter().any(Option::is_some) {
            self.trials[place].suggestion.given.fill(&self.problem, &mut values)?;
        }
        self.count_in(number, values)?;
        self.trials[place].state = TrialState::Complete;
        Ok(())
    }

    /// Puts a trial with these values among the data.
    fn count_in(&mut self, number: usize, values: Vec<Option<f64>>) -> Result<(), DataError> {
        let place = number - 1;
        let intervention = self.trials[place].intervention().clone();
        // The data are in the order of the trials, however late one is told.
        let at = self.places[..place].iter().rev().flatten().next().map_or(0, |before| before + 1);
        self.data.insert(&self.problem, at, number, Observation { intervention, values })?;
        self.places[place + 1..].iter_mut().flatten().for_each(|later| *later += 1);
        self.places[place] = Some(at);
        self.trials[place].values = Some(self.data.observations()[at].values.clone());
        Ok(())
    }

    /// Takes what a pending trial gave, by the names of the nodes.
    ///
    /// # Errors
    /// As [`Self::tell`], and if a name is unknown.
    pub fn tell_named(&mut self, number: usize, values: &[(&str, Vec<f64>)]) -> Result<(), StudyError> {
        for (name, values) in values {
            values.iter().try_for_each(|&value| check_size(name, value))?;
        }
        let values =
            values_by_name(&self.problem, values.iter().map(|(name, values)| (*name, values.as_slice())))?;
        self.tell(number, values)
    }

    /// Takes values of a trial, its first or further ones; whether there was anything new in them.
    ///
    /// # Errors
    /// As [`Self::tell`] and [`Self::amend`].
    pub fn take(&mut self, number: usize, values: Vec<Option<f64>>) -> Result<bool, StudyError> {
        match self.trial(number)?.state {
            TrialState::Complete => self.amend(number, &values),
            TrialState::Voided if self.trial(number)?.values.is_some() => self.amend(number, &values),
            TrialState::Pending | TrialState::Failed | TrialState::Voided => {
                self.tell(number, values).map(|()| true)
            }
        }
    }

    /// Marks a trial as one that could not be run, or whose reward will not come. It is not proposed again; what was told of it
    /// stays.
    ///
    /// # Errors
    /// If there is no such trial, or it is not waited for.
    pub fn fail(&mut self, number: usize) -> Result<(), StudyError> {
        let trial = self.trial(number)?;
        if !self.is_under_way(trial) {
            return Err(StudyError::NotPending { number, state: trial.state });
        }
        self.trials[number - 1].state = TrialState::Failed;
        Ok(())
    }

    /// Adds a trial that was made outside the study: observational or interventional data that exist already.
    ///
    /// # Errors
    /// If the observation does not fit the problem.
    pub fn add(&mut self, observation: Observation) -> Result<(), StudyError> {
        let (number, place) = (self.trials.len() + 1, self.data.len());
        self.data.insert(&self.problem, place, number, observation.clone())?;
        let values = self.data.observations().last().map(|observation| observation.values.clone());
        let suggestion = Suggestion::new(Origin::Added.name(), observation.intervention);
        self.trials.push(Trial { number, state: TrialState::Complete, suggestion, done: None, values });
        self.places.push(Some(place));
        Ok(())
    }

    /// What the trials have cost that were made: those that are complete, and those that failed on the way. Rows from outside cost
    /// nothing here.
    pub fn spent(&self) -> f64 {
        // What was taken out before anything came of it was not made.
        let made = |trial: &&Trial| {
            let over = matches!(trial.state, TrialState::Complete | TrialState::Failed);
            let taken_out = trial.state == TrialState::Voided && trial.values.is_some();
            (over || taken_out) && trial.suggestion.origin() != Origin::Added
        };
        let spent: f64 =
            self.trials.iter().filter(made).map(|trial| self.problem.cost(trial.intervention())).sum();
        // What adding leaves at the end of a number is no money: 39.9 and not 39.90000000000001.
        format!("{spent:.12e}").parse().unwrap_or(spent)
    }

    fn trial(&self, number: usize) -> Result<&Trial, StudyError> {
        let trial = number.checked_sub(1).and_then(|place| self.trials.get(place));
        trial.ok_or(StudyError::UnknownTrial { number, last: self.trials.len() })
    }
}

/// Trials of the initial design: twice the number of things that can be decided or are known before deciding, and one; at least one
/// for every choice of targets while those are few.
pub fn default_initial(problem: &Problem) -> usize {
    let settable: usize = problem.settable().iter().map(|&node| problem.nodes()[node].dim).sum();
    let decisions = problem.actions().len() + settable + problem.context_dim();
    let choices = problem.choices().map_or(0, <[_]>::len);
    (2 * decisions + 1).max(if choices <= 10 { choices } else { 0 })
}
