//! Expected improvement over the network of processes.

use crate::network::{Drawn, Draws, Plan, Workspace};

use super::Acquisition;

/// The average of `max(0, y - best)` over the draws, where `best` is one number or the reward of one intervention in each draw.
///
/// Where no draw improves, that is 0 and flat. There the value is `max(y - best)` instead, the shortfall of the best
/// draw: negative, continuous with the improvement, and with a slope that leads out of the plain.
#[derive(Debug)]
pub(crate) struct NetworkImprovement<'a> {
    pub draws: Draws<'a>,
    pub best: Best,
}

/// What is to be improved on.
#[derive(Debug, Clone)]
pub(crate) enum Best {
    /// The same in all draws.
    Known(f64),
    /// What an intervention gives in each of them: of itself it is no improvement, however little is known of it.
    InDraws(Vec<f64>),
}

impl From<f64> for Best {
    fn from(best: f64) -> Self {
        Self::Known(best)
    }
}

impl Best {
    fn in_draw(&self, draw: usize) -> f64 {
        match self {
            Self::Known(best) => *best,
            Self::InDraws(rewards) => rewards[draw],
        }
    }
}

impl Acquisition for NetworkImprovement<'_> {
    fn plan(&self) -> &Plan {
        self.draws.plan()
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.space().bounds()
    }

    fn is_noisy(&self) -> bool {
        self.draws.count() > 1
    }

    fn cost(&self) -> f64 {
        self.draws.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let (count, dim) = (self.draws.count(), self.decisions());
        let mut drawn = Drawn::default();
        self.draws.evaluate(points, false, workspace, &mut drawn);
        // The draws that count at each point: those that improve, or the highest.
        let mut counting: Vec<(usize, usize)> = Vec::new();
        let mut weights = Vec::new();
        values.clear();
        for (point, rewards) in drawn.rewards.chunks_exact(count).enumerate() {
            let gains = || rewards.iter().enumerate().map(|(draw, y)| (draw, y - self.best.in_draw(draw)));
            let (highest, gain) =
                gains().fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
            if gain > 0.0 {
                let improving = || gains().filter(|(_, gain)| *gain > 0.0);
                values.push(improving().map(|(_, gain)| gain).sum::<f64>() / count as f64);
                counting.extend(improving().map(|(draw, _)| (point, draw)));
                weights.resize(counting.len(), 1.0 / count as f64);
            } else {
                values.push(gain);
                counting.push((point, highest));
                weights.push(1.0);
            }
        }
        if gradients.is_empty() || dim == 0 {
            return;
        }
        // Derivatives cost several times the values: only of the draws that count.
        self.draws.evaluate_some(points, counting.iter().copied(), true, workspace, &mut drawn);
        gradients.fill(0.0);
        for (((point, _), weight), slopes) in counting.iter().zip(weights).zip(drawn.slopes.chunks_exact(dim))
        {
            let by = &mut gradients[point * dim..(point + 1) * dim];
            by.iter_mut().zip(slopes).for_each(|(by, slope)| *by += weight * slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::log_improvement::log_improvement;
    use super::*;
    use crate::network::Network;
    use crate::testing::{check_gradients, settings, system};
    use crate::{Choice, Intervention, Noise, Problem};

    #[test]
    fn gradients_where_draws_improve_and_where_none_does() {
        for noise in [Noise::None, Noise::Gaussian(0.1)] {
            let (problem, data) = system(noise);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let network =
                Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
            for choice in problem.choices().expect("few choices") {
                let improvement = |best: f64| NetworkImprovement {
                    draws: Draws::noiseless(&problem, &network, choice, 16, 3),
                    best: best.into(),
                };
                let values = check_gradients(&improvement(-1e3), 2);
                assert!(values.iter().all(|value| *value > 0.0));
                let values = check_gradients(&improvement(1e3), 2);
                assert!(values.iter().all(|value| *value < 0.0));
                // Over what an intervention gives in the same draws: of itself it is none.
                let draws = Draws::noiseless(&problem, &network, choice, 16, 3);
                let known = vec![0.4; draws.plan().decisions()];
                let (mut workspace, mut drawn, mut values) =
                    (Workspace::default(), Drawn::default(), Vec::new());
                draws.evaluate(&known, false, &mut workspace, &mut drawn);
                let over = NetworkImprovement { draws, best: Best::InDraws(drawn.rewards) };
                check_gradients(&over, 2);
                over.evaluate(&known, &mut workspace, &mut values, &mut []);
                assert_eq!(values, [0.0]);
            }
        }
    }

    /// One node: the draws are those of a normal distribution, whose expected improvement has a closed form.
    #[test]
    fn one_node_gives_the_closed_form() {
        let problem = Problem::builder("one")
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["a"]).noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = crate::Data::new();
        for a in [0.0_f64, 0.3, 0.9] {
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            let values = vec![Some((3.0 * a).sin())];
            data.push(&problem, crate::Observation { intervention, values }).expect("a good observation");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let choice = Choice { targets: Vec::new(), actions: vec![0] };
        let (mut workspace, mut drawn, mut values) = (Workspace::default(), Drawn::default(), Vec::new());
        // The mean, and one deviation above it.
        let mut draws = Draws::mean(&problem, &network, &choice);
        draws.evaluate(&[0.6], false, &mut workspace, &mut drawn);
        let mean = drawn.rewards[0];
        draws.shift_all(1.0);
        draws.evaluate(&[0.6], false, &mut workspace, &mut drawn);
        let deviation = drawn.rewards[0] - mean;
        let best = mean + 0.5 * deviation;
        let draws = Draws::noiseless(&problem, &network, &choice, 4096, 3);
        NetworkImprovement { draws, best: best.into() }.evaluate(
            &[0.6],
            &mut workspace,
            &mut values,
            &mut [],
        );
        let exact = log_improvement(mean - best, deviation).value.exp();
        assert!((values[0] / exact - 1.0).abs() < 5e-3, "{} against {exact}", values[0]);
    }
}
