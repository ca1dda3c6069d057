//! What the model expects of any intervention.

use rayon::prelude::*;

use super::{Study, StudyError};
use crate::data::{check_intervention, check_ranges};
use crate::network::{FEW, Forecast, Keeping, Network, Outlook};
use crate::strategy::{self, Recommendation, Warning, about_contexts};
use crate::{Given, Intervention};

/// What is to be expected of an intervention, on average and in a single trial.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Every component of every node, in the order of causes; nodes without a path to the reward are not learned and left out.
    pub nodes: Vec<Outlook>,
    /// How probable it is that each limit is kept.
    pub limits: Vec<Keeping>,
    /// What the user should know about the fit and about this intervention.
    pub warnings: Vec<Warning>,
}

impl Study {
    /// What the model behind a recommendation expects of any intervention. Of the recommended one it is, to the bit, what the
    /// recommendation says.
    ///
    /// It need not be one that the study would propose: more may be done at once than the constraints allow, and what was done
    /// in a trial may lie outside the ranges of today.
    ///
    /// ```
    /// # use mcbo_core::{Intervention, Noise, Problem, Study};
    /// # let problem = Problem::builder("p").action("a", [0.0, 1.0])
    /// #     .node("y", |n| n.actions(["a"]).noise(Noise::Gaussian(0.1))).maximize("y").build()?;
    /// let mut study = Study::new(problem, 1);
    /// for _ in 0..4 {
    ///     let number = study.ask()?.number;
    ///     let a = study.trials()[number - 1].suggestion.intervention.actions[0];
    ///     study.tell(number, vec![Some(2.0 * a)])?;
    /// }
    /// let recommendation = study.recommend()?;
    /// let intervention = Intervention { targets: vec![], actions: vec![0.5] };
    /// let y = &study.predict(&recommendation, &intervention)?.nodes[0];
    /// assert!(y.outcome[0] < y.forecast.lower && y.forecast.upper < y.outcome[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the intervention cannot be done, or nothing was measured yet.
    pub fn predict(
        &self,
        recommendation: &Recommendation,
        intervention: &Intervention,
    ) -> Result<Prediction, StudyError> {
        self.can_be_foretold(std::slice::from_ref(intervention))?;
        Ok(self.foretold(&recommendation.network, &recommendation.given, intervention))
    }

    /// The same where this is known of the contexts, without a search for what to recommend; and the model behind it.
    ///
    /// # Errors
    /// If the intervention cannot be done, or nothing was measured yet.
    pub fn predict_given(
        &self,
        intervention: &Intervention,
        given: &Given,
    ) -> Result<(Prediction, Network), StudyError> {
        given.check(&self.problem)?;
        self.can_be_foretold(std::slice::from_ref(intervention))?;
        let network = self.advising_network(given)?;
        Ok((self.foretold(&network, given, intervention), network))
    }

    fn foretold(&self, network: &Network, given: &Given, intervention: &Intervention) -> Prediction {
        let problem = &self.problem;
        let expected = strategy::expects(problem, network, intervention);
        let (nodes, undefined) =
            network.outlooks(problem, &[(intervention, expected.as_slice())]).pop().unwrap_or_default();
        let limits = network.keeping(problem, intervention);
        let warnings = network.warnings().iter().cloned().chain(undefined).map(Warning::Model);
        let refused = check_intervention(problem, intervention).err();
        let refused = refused.map(|fault| Warning::NotProposed { fault: fault.without_hint() });
        let warnings = refused.into_iter().chain(warnings);
        let warnings = warnings.chain(about_contexts(problem, &self.data, given)).collect();
        Prediction { nodes, limits, warnings }
    }

    /// What [`Self::predict`] says of every node, of many interventions at once.
    ///
    /// Of up to 16 interventions it is the same to the bit. More are predicted by 64 outcomes each instead of 2048, all under the same
    /// luck, so that they can be compared with one another:
    ///
    /// - expected values are off by about a fiftieth of the deviation of what is not known of them, where mechanisms bend no more
    ///   than parabolas not at all;
    /// - their bounds are those of a normal distribution, off by up to a third of that deviation;
    /// - the ends of single outcomes are off by about a twentieth of the deviation of an outcome, a fifth at most.
    ///
    /// # Errors
    /// If one of them cannot be done, or nothing was measured yet.
    pub fn predict_many(
        &self,
        recommendation: &Recommendation,
        interventions: &[Intervention],
    ) -> Result<Vec<Vec<Outlook>>, StudyError> {
        self.can_be_foretold(interventions)?;
        let (problem, network) = (&self.problem, &recommendation.network);
        let few = interventions.len() <= FEW;
        let expected: Vec<Vec<Forecast>> = interventions
            .par_iter()
            .map(|intervention| match few || *intervention == recommendation.intervention {
                true => recommendation.expects(problem, intervention),
                false => Vec::new(),
            })
            .collect();
        let pairs = interventions.iter().zip(&expected).map(|(doing, known)| (doing, known.as_slice()));
        let told = network.outlooks(problem, &pairs.collect::<Vec<_>>());
        Ok(told.into_iter().map(|(outlooks, _)| outlooks).collect())
    }

    /// Refuses what cannot be done, and everything while nothing was measured.
    fn can_be_foretold(&self, interventions: &[Intervention]) -> Result<(), StudyError> {
        for intervention in interventions {
            let was_done =
                || self.data.observations().iter().any(|trial| trial.intervention == *intervention);
            // What was done may lie outside the ranges of today.
            if let Err(outside) = check_ranges(&self.problem, intervention)
                && !was_done()
            {
                return Err(outside.into());
            }
        }
        if self.data.is_empty() {
            return Err(StudyError::NoData);
        }
        Ok(())
    }
}
