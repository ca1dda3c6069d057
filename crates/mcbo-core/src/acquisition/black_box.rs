//! What is maximised where the graph is left out: a score of the reward's mean and deviation.

use crate::network::{Batch, Network, NoiseSamples, Plan, RewardModel, SMALLEST_DEVIATION, Workspace};
use crate::{Choice, Problem};

use super::Acquisition;
use super::log_improvement::log_improvement;

/// What is made of mean `μ` and deviation `σ` of the reward.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Score {
    /// `μ + βσ`.
    Bound(f64),
    /// `ln E[max(0, y - best)]`.
    Improvement { best: f64 },
}

/// The score of the reward that one process per target set expects, the graph left out.
#[derive(Debug)]
pub(crate) struct BlackBoxReward<'a> {
    network: Option<&'a Network>,
    plan: Plan,
    noise: NoiseSamples,
    score: Score,
    prior: (f64, f64),
    scale: f64,
}

impl<'a> BlackBoxReward<'a> {
    /// For one choice.
    pub fn new(problem: &Problem, model: &'a RewardModel, choice: &Choice, score: Score) -> Self {
        let plan = RewardModel::plan(problem, choice);
        Self {
            network: model.network(&choice.targets),
            noise: NoiseSamples::silent(&plan),
            plan,
            score,
            prior: model.prior(problem),
            scale: model.scale(),
        }
    }
}

impl Acquisition for BlackBoxReward<'_> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn is_noisy(&self) -> bool {
        false
    }

    fn cost(&self) -> f64 {
        2.0 * self.network.map_or(1.0, |network| network.rollout_cost(&self.plan, 1))
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let dim = self.plan.dim();
        let Some(network) = self.network else {
            let (mean, deviation) = self.prior;
            let value = match self.score {
                Score::Bound(beta) => mean + beta * deviation,
                Score::Improvement { best } => log_improvement(mean - best, deviation).value,
            };
            values.clear();
            values.resize(points.len().checked_div(dim).unwrap_or(1), value);
            gradients.fill(0.0);
            return;
        };
        let mut rollout = |beta: f64, values: &mut Vec<f64>, gradients: &mut [f64]| {
            let batch = Batch { points, beta, noise: &self.noise };
            network.rollout(&self.plan, batch, workspace, values, gradients);
        };
        match self.score {
            Score::Bound(beta) => rollout(beta, values, gradients),
            Score::Improvement { best } => {
                // One deviation above the mean, and the mean: their difference is σ.
                let (mut above, mut by_above) = (Vec::new(), vec![0.0; gradients.len()]);
                rollout(1.0, &mut above, &mut by_above);
                rollout(0.0, values, gradients);
                for (candidate, value) in values.iter_mut().enumerate() {
                    let deviation = (above[candidate] - *value).max(SMALLEST_DEVIATION * self.scale);
                    let improvement = log_improvement(*value - best, deviation);
                    *value = improvement.value;
                    if gradients.is_empty() {
                        continue;
                    }
                    let own = candidate * dim..(candidate + 1) * dim;
                    for (slope, above) in gradients[own.clone()].iter_mut().zip(&by_above[own]) {
                        *slope = improvement.by_mean * *slope + improvement.by_deviation * (above - *slope);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Noise;
    use crate::testing::{check_gradients, settings, system};

    #[test]
    fn gradients_of_both_scores() {
        for noise in [Noise::None, Noise::Gaussian(0.1)] {
            let (problem, data) = system(noise);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let model =
                RewardModel::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
            let choices = problem.choices().expect("few choices");
            assert!(choices.iter().any(|choice| choice.targets.len() == 2));
            for choice in choices {
                for score in
                    [Score::Bound(0.7), Score::Improvement { best: 0.3 }, Score::Improvement { best: 6.0 }]
                {
                    check_gradients(&BlackBoxReward::new(&problem, &model, choice, score), 2);
                }
            }
        }
    }
}
