//! What to settle for, how much may be left to gain, and what was best so far.

use rand::RngExt;

use super::{Study, StudyError, Trial, TrialState};
use crate::data::{DataError, check_intervention, keeps_limits};
use crate::strategy::{Certificate, Context, Criterion, Recommendation};
use crate::{Given, Network};

impl Study {
    /// The intervention the model believes in most.
    ///
    /// It depends on the problem, the trials that are complete and the seed alone: told at once or one at a time, in whatever
    /// order, or exported and added to another study, they give the same recommendation, to the bit.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    pub fn recommend(&self) -> Result<Recommendation, StudyError> {
        self.recommend_by(Criterion::default())
    }

    /// The intervention the model believes in most, by the mean or by the lower bound of its expected reward.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    pub fn recommend_by(&self, criterion: Criterion) -> Result<Recommendation, StudyError> {
        self.recommend_given(criterion, Given::NONE)
    }

    /// The same where this is known of the contexts.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    pub fn recommend_given(&self, criterion: Criterion, given: &Given) -> Result<Recommendation, StudyError> {
        given.check(&self.problem)?;
        let context = Context { given, ..self.settled() };
        Ok(self.advisor.recommend(&context, criterion, &mut self.generator(u64::MAX))?)
    }

    /// The model behind [`Self::recommend_given`], without a search.
    pub(super) fn advising_network(&self, given: &Given) -> Result<Network, StudyError> {
        let context = Context { given, ..self.settled() };
        Ok(self.advisor.advising(&context, &mut self.generator(u64::MAX))?)
    }

    /// What to do in each of many contexts: what [`Self::recommend_given`] says of each, with a model that is fitted once.
    ///
    /// # Errors
    /// If no model can be fitted to the data.
    pub fn policy(
        &self,
        criterion: Criterion,
        contexts: &[Given],
    ) -> Result<Vec<Recommendation>, StudyError> {
        contexts.iter().try_for_each(|given| given.check(&self.problem))?;
        Ok(self.advisor.policy(&self.settled(), criterion, contexts, &mut self.generator(u64::MAX))?)
    }

    /// Bounds how much better than a recommended intervention any other could still be, by mechanisms within `width`
    /// standard deviations of what is expected of them. See [`Certificate`] for what it relies on.
    pub fn certify(&self, recommendation: &Recommendation, width: f64) -> Certificate {
        let seed: u64 = self.generator(u64::MAX - 1).random();
        let Recommendation { network, intervention, given, .. } = recommendation;
        let context = Context { given, ..self.settled() };
        self.advisor.certify(&context, network, intervention, width, seed)
    }

    /// What was measured, and nothing that is under way.
    pub(super) fn settled(&self) -> Context<'_> {
        Context::new(&self.problem, &self.data, &self.memory)
    }

    /// Trials under way that the problem does not allow any more, as it was changed since, and why.
    pub fn not_allowed(&self) -> Vec<(usize, DataError)> {
        let pending = self.trials.iter().filter(|trial| trial.state == TrialState::Pending);
        let fault = |trial: &Trial| {
            let error = check_intervention(&self.problem, trial.intervention()).err()?;
            Some((trial.number, error))
        };
        pending.filter_map(fault).collect()
    }

    /// The trial with the best measured reward, and that reward in the direction of improvement; of those in which no measurement
    /// broke a limit, if there are any.
    pub fn best_trial(&self) -> Option<(&Trial, f64)> {
        let slot = self.problem.slot(self.problem.reward()).start;
        let reward =
            |trial: &Trial| trial.values.as_ref().and_then(|v| v[slot]).map(|v| self.problem.sign() * v);
        let counted = || self.trials.iter().filter(|trial| trial.state != TrialState::Voided);
        let rewarded = || counted().filter_map(|trial| reward(trial).map(|r| (trial, r)));
        let keeps = |(trial, _): &(&Trial, f64)| {
            trial.values.as_ref().is_some_and(|values| keeps_limits(&self.problem, values))
        };
        let better = |best: (_, f64), next: (_, f64)| if next.1 > best.1 { next } else { best };
        rewarded().filter(keeps).reduce(better).or_else(|| rewarded().reduce(better))
    }
}
