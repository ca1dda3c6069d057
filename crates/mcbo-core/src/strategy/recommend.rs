//! What to settle for: the intervention the model believes in most.

use rand::{Rng, RngExt};

use crate::Intervention;
use crate::acquisition::CredibleReward;
use crate::network::{Choice, Forecast, LOWER_QUANTILE, Network, quantile};
use crate::search::{Ascent, SearchSettings, SearchTask, Stages, maximize};

use super::mcbo::best_observed;
use super::{Context, Mcbo, SuggestError, Warning};

/// What a recommendation goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Criterion {
    /// The highest expected reward.
    #[default]
    Mean,
    /// The highest lower bound of the expected reward, the one that [`Forecast::lower`] is: what the model is sure of.
    Lower,
}

impl Criterion {
    /// Standard deviations that are taken off the mean while searching: the 5 % quantile of a normal distribution.
    fn caution(self) -> f64 {
        match self {
            Criterion::Mean => 0.0,
            Criterion::Lower => 1.644_853_626_951_472_2,
        }
    }

    /// The worth of draws of the expected reward.
    fn worth(self, mut draws: Vec<f64>) -> f64 {
        match self {
            Criterion::Mean => draws.iter().sum::<f64>() / draws.len() as f64,
            Criterion::Lower => quantile(&mut draws, LOWER_QUANTILE),
        }
    }
}

/// The intervention the model believes in most.
#[derive(Debug, Clone)]
pub struct Recommendation {
    /// What to do, in the user's units.
    pub intervention: Intervention,
    /// What it went by.
    pub criterion: Criterion,
    /// What the model expects of every node, the reward last, with bounds.
    pub predicted: Vec<Forecast>,
    /// What to know about the fit.
    pub warnings: Vec<Warning>,
    /// The fitted model.
    pub network: Network,
}

/// Places that the mean of the mechanisms finds best, and that were measured best, from which a recommendation starts.
const CANDIDATES: usize = 8;

impl Mcbo {
    /// The intervention of the highest expected reward, or of the highest lower bound of it, with what the model expects.
    ///
    /// # Errors
    /// If a model cannot be fitted.
    pub fn recommend(
        &self,
        context: &Context<'_>,
        criterion: Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Recommendation, SuggestError> {
        let problem = context.problem;
        let (network, _) = self.fit(&Context { pending: &[], ..*context }, rng)?;
        let seed: u64 = rng.random();
        // The search looks at the mechanisms' means; what counts is the mean, or the bound, over what they may be.
        let found = self.search(context, &network, 0.0, seed, &|_| {});
        let mut candidates: Vec<Intervention> =
            found.into_iter().map(|found| found.intervention).take(CANDIDATES).collect();
        candidates.extend(best_observed(problem, context.data, CANDIDATES));
        candidates.extend(refined(context, &network, criterion, &candidates, seed));
        let worth =
            |intervention: &Intervention| criterion.worth(network.reward_draws(problem, intervention, seed));
        let best = candidates.into_iter().map(|intervention| (worth(&intervention), intervention));
        let best = best.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let intervention =
            best.map_or_else(|| problem.neutral_intervention(), |(_, intervention)| intervention);
        Ok(Recommendation {
            predicted: network.forecast(problem, &intervention, seed),
            warnings: network.warnings().iter().cloned().map(Warning::Model).collect(),
            criterion,
            intervention,
            network,
        })
    }
}

/// Better places near the candidates, by draws of the mechanisms.
fn refined(
    context: &Context<'_>,
    network: &Network,
    criterion: Criterion,
    candidates: &[Intervention],
    seed: u64,
) -> Vec<Intervention> {
    let problem = context.problem;
    let factory = |choice: &Choice, samples: usize, seed: u64| {
        Box::new(CredibleReward::new(problem, network, choice, criterion.caution(), samples, seed)) as Box<_>
    };
    let settings = SearchSettings {
        screened: 4,
        starts: 1,
        ascent: Ascent::QuasiNewton(Stages { first: 8, finalists: 2, second: 16 }),
        samples: 8,
        screening_samples: 2,
        ranking_samples: 8,
        ..SearchSettings::default()
    };
    let task = SearchTask { problem, factory: &factory, warm: candidates, seed, on_stage: &|_| {} };
    maximize(&task, &settings).into_iter().map(|found| found.intervention).take(CANDIDATES).collect()
}
