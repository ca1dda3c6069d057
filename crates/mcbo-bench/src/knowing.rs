//! What somebody gets who knows the mechanisms: the best response to every context.

use mcbo_core::{Choice, DecisionSpace, Given, Intervention};

use crate::optimum;
use crate::task::Task;

/// Points of every choice that are looked at, and the best of them that are climbed from.
const SCREENED: usize = 256;
const CLIMBED: usize = 3;
/// Samples and experiments behind what is compared on the way, where it takes any.
const SAMPLES: usize = 128;
/// How often all variables are gone through with steps of one length: along a ridge that has no end.
const ROUNDS: usize = 5;
/// Where steps end, relative to a range.
const SHORTEST: f64 = 1e-5;

/// Point `i` of a sequence that fills the unit box evenly: multiples of the powers of one irrational number, modulo 1.
fn evenly(i: usize, dim: usize) -> Vec<f64> {
    // The positive root of x^(dim+1) = x + 1.
    let root = (0..60).fold(2.0_f64, |x, _| (1.0 + x).powf(1.0 / (dim as f64 + 1.0)));
    (1..=dim).map(|k| ((i as f64 + 0.5) * root.powi(-(k as i32))).fract()).collect()
}

/// What a task offers in one context.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offer {
    /// The mean expected reward of interventions all over, each choice in equal parts.
    pub random: f64,
    /// The highest expected reward.
    pub best: f64,
}

impl Task {
    /// What the task offers where this is given: by looking all over every choice, then going up from the best places in smaller and
    /// smaller steps along one variable at a time. The best is the best of what keeps the limits.
    ///
    /// ```
    /// use mcbo_bench::Task;
    /// use mcbo_core::Given;
    /// let task = Task::named("furnaces")?;
    /// let offer = task.offer(&Given::default());
    /// assert!((offer.best - task.optimum()).abs() < 1e-6 && offer.random < offer.best);
    /// # Ok::<(), mcbo_bench::BenchError>(())
    /// ```
    pub fn offer(&self, given: &Given) -> Offer {
        let problem = self.problem();
        let all = problem.choices().map_or_else(|| vec![Choice::default()], <[Choice]>::to_vec);
        let (mut total, mut count, mut best) = (0.0, 0.0, f64::NEG_INFINITY);
        for choice in &all {
            let space = DecisionSpace::new(problem, choice);
            let place = |point: &[f64]| Self::knowing(&space.intervention(problem, point), given);
            let reward = |known: &Intervention| match self.method() {
                "samples" => self.sampled_reward(known, SAMPLES),
                _ => self.expected_reward(known),
            };
            let at = |point: &[f64]| {
                let known = place(point);
                optimum::unless_broken(self.shortfall(&known, SAMPLES), || reward(&known))
            };
            let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
            for i in 0..if space.dim() == 0 { 1 } else { SCREENED } {
                let mut point: Vec<f64> = evenly(i, space.dim());
                if space.allow(&mut point) {
                    found.push((at(&point), point));
                }
            }
            total += found.iter().map(|(_, point)| reward(&place(point))).sum::<f64>();
            count += found.len() as f64;
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (mut reward, mut point) in found.into_iter().take(CLIMBED) {
                let (mut step, mut rounds) = (0.25, 0);
                while step > SHORTEST {
                    let before = reward;
                    for k in 0..point.len() {
                        for by in [-step, step] {
                            let mut next = point.clone();
                            next[k] = (next[k] + by).clamp(0.0, 1.0);
                            let value = if space.allow(&mut next) { at(&next) } else { f64::NEG_INFINITY };
                            if value > reward {
                                (reward, point) = (value, next);
                            }
                        }
                    }
                    rounds += 1;
                    if reward == before || rounds == ROUNDS {
                        (step, rounds) = (0.5 * step, 0);
                    }
                }
                let kept = reward > optimum::BROKEN;
                best = best.max(if kept { self.expected_reward(&place(&point)) } else { reward });
            }
        }
        Offer { random: total / count, best }
    }

    /// The expected reward of an intervention where this is given.
    pub fn reward_in(&self, intervention: &Intervention, given: &Given) -> f64 {
        self.expected_reward(&Self::knowing(intervention, given))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// By hand: the sugar of `molasses` is best at 1.5 whatever its quality `q`, and where feeds are spread evenly over 0 to 2 the mean of
    /// `(sin 2q + f - 1.5)²` is `(s - 1.5)² + 2 (s - 1.5) + 4/3`; `thermostat` is linear in the heat.
    #[test]
    fn responses_are_those_worked_out_by_hand() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..5 {
            let task = Task::named("molasses").expect("a task");
            let given = task.contexts(&mut rng);
            let off = (2.0 * given.of(0).expect("the quality")[0]).sin() - 1.5;
            let random = 0.96 - 4.0 * (off * off + 2.0 * off + 4.0 / 3.0);
            let offer = task.offer(&given);
            assert!((offer.best - 0.96).abs() < 1e-6, "{offer:?}");
            assert!((offer.random - random).abs() < 0.02, "{offer:?} {random}");
            let task = Task::named("thermostat").expect("a task");
            let given = task.contexts(&mut rng);
            let slope = 4.0 * (0.5 - given.of(0).expect("the weather")[0]);
            let offer = task.offer(&given);
            assert!((offer.best - slope.max(0.0)).abs() < 1e-4, "{offer:?} {slope}");
            assert!((offer.random - 0.5 * slope).abs() < 0.01, "{offer:?} {slope}");
        }
    }
}
