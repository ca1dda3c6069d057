//! The continuous part of the search: screening, multistart quasi-Newton in lock-step, stochastic ascent.

use mcbo_gp::optimize::{Minimizer, StopRule};
use rayon::prelude::*;

use crate::acquisition::Acquisition;
use crate::network::Workspace;
use crate::quasi::{normal_quantile, sobol};

use super::lattice;

/// Points evaluated in one batch of a screening.
const SCREEN_BLOCK: usize = 64;
/// Starts that climb in lock-step. Fixed, so that results do not depend on the number of threads.
const CLIMB_BLOCK: usize = 8;

/// A decision vector with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scored {
    pub point: Vec<f64>,
    pub value: f64,
}

pub(crate) fn by_value(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.value.total_cmp(&a.value)
}

/// Values of many points, forward only.
pub(crate) fn score(acquisition: &dyn Acquisition, points: Vec<Vec<f64>>) -> Vec<Scored> {
    let blocks: Vec<Vec<f64>> = points
        .par_chunks(SCREEN_BLOCK)
        .map_init(Workspace::default, |workspace, block| {
            let mut values = Vec::new();
            acquisition.evaluate(&block.concat(), workspace, &mut values, &mut []);
            values
        })
        .collect();
    let values = blocks.into_iter().flatten();
    let usable = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
    points.into_iter().zip(values).map(|(point, value)| Scored { point, value: usable(value) }).collect()
}

/// Quasi-random decision vectors: the variables in the unit box, auxiliary variables across theirs; a share of them
/// close to known good places.
pub(crate) fn raw_points(
    acquisition: &dyn Acquisition,
    count: usize,
    around: &[Vec<f64>],
    seed: u64,
) -> Vec<Vec<f64>> {
    let (lower, upper) = acquisition.bounds();
    let decisions = acquisition.decisions();
    let near = if around.is_empty() { 0 } else { count / 4 };
    let (space, everywhere) = (acquisition.space(), acquisition.space().is_box());
    let allow = |mut point: Vec<f64>| space.allow(&mut point).then_some(point);
    let mut points: Vec<Vec<f64>> = (0..count - near)
        .map(|i| {
            (0..lower.len())
                .map(|k| lower[k] + (upper[k] - lower[k]) * sobol(i as u32, k as u32, seed))
                .collect()
        })
        .collect();
    if !everywhere {
        let across =
            points.into_iter().filter_map(|point| space.spread(point.clone()).or_else(|| allow(point)));
        points = across.collect();
    }
    for i in 0..near {
        let center = &around[i % around.len()];
        // Scales from a tenth of the range down to a thousandth.
        let scale = 0.1 * 0.1_f64.powf(2.0 * (i / around.len()) as f64 / (near / around.len()).max(1) as f64);
        let coordinate = |k: usize| {
            let u = sobol(i as u32, k as u32, seed ^ 0xa5a5_5a5a);
            if k < decisions {
                (center[k] + scale * normal_quantile(u)).clamp(0.0, 1.0)
            } else {
                lower[k] + (upper[k] - lower[k]) * u
            }
        };
        let point = (0..lower.len()).map(coordinate).collect();
        points.extend(if everywhere { Some(point) } else { allow(point) });
    }
    points
}

/// The best points that are not close to a better one, so that starts do not crowd one peak.
pub(crate) fn spread_out(mut scored: Vec<Scored>, decisions: usize, count: usize) -> Vec<Scored> {
    scored.sort_by(by_value);
    let distance = |a: &Scored, b: &Scored| {
        (0..decisions).fold(0.0_f64, |largest, k| largest.max((a.point[k] - b.point[k]).abs()))
    };
    let mut chosen: Vec<Scored> = Vec::with_capacity(count);
    let mut spare: Vec<Scored> = Vec::new();
    for candidate in scored {
        if chosen.len() == count {
            break;
        }
        if chosen.iter().all(|other| distance(&candidate, other) > 0.08) {
            chosen.push(candidate);
        } else {
            spare.push(candidate);
        }
    }
    let missing = count - chosen.len();
    chosen.extend(spare.into_iter().take(missing));
    chosen
}

/// Two stages of quasi-Newton: a few evaluations for every start, many for the best of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AscentBudget {
    /// Evaluations of every start.
    pub first: usize,
    /// Starts that go on.
    pub finalists: usize,
    /// Further evaluations of each of those.
    pub second: usize,
}

/// Climbs from every start on fixed noise samples: first on the few samples of `coarse`, then, the finalists alone, on
/// the many of `fine`. Returns the finalists, best first.
pub(crate) fn climb(
    coarse: &dyn Acquisition,
    fine: Option<&dyn Acquisition>,
    starts: Vec<Scored>,
    stages: AscentBudget,
) -> Vec<Scored> {
    if !coarse.space().is_box() {
        return lattice::climb(coarse, fine, starts, stages);
    }
    let (lower, upper) = coarse.bounds();
    if lower.is_empty() {
        return starts;
    }
    let begin = |point: &[f64], evaluations: usize| {
        let rule = StopRule { evaluations, value_tolerance: 1e-8, gradient_tolerance: 0.0, first_step: 0.05 };
        Minimizer::new(point.to_vec(), lower.clone(), upper.clone(), rule)
    };
    let mut searches: Vec<Minimizer> = starts.iter().map(|start| begin(&start.point, stages.first)).collect();
    lock_step(coarse, &mut searches);
    searches.sort_by(|a, b| a.best().1.total_cmp(&b.best().1));
    searches.truncate(stages.finalists);
    match fine {
        Some(fine) => {
            searches = searches.iter().map(|search| begin(search.best().0, stages.second)).collect();
            lock_step(fine, &mut searches);
        }
        None => {
            searches.iter_mut().for_each(|search| search.extend(stages.second));
            lock_step(coarse, &mut searches);
        }
    }
    let score = |search: &Minimizer| {
        let (point, value) = search.best();
        Scored { point: point.to_vec(), value: if value.is_finite() { -value } else { f64::NEG_INFINITY } }
    };
    let mut reached: Vec<Scored> = searches.iter().map(score).collect();
    reached.sort_by(by_value);
    reached
}

pub(super) fn lock_step(acquisition: &dyn Acquisition, searches: &mut [Minimizer]) {
    searches.par_chunks_mut(CLIMB_BLOCK).for_each_init(Workspace::default, |workspace, block| {
        let (mut points, mut gradients, mut values) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            points.clear();
            let running: Vec<usize> = (0..block.len()).filter(|&i| !block[i].is_done()).collect();
            if running.is_empty() {
                break;
            }
            for &i in &running {
                points.extend_from_slice(block[i].query());
            }
            gradients.clear();
            gradients.resize(points.len(), 0.0);
            acquisition.evaluate(&points, workspace, &mut values, &mut gradients);
            gradients.iter_mut().for_each(|g| *g = -*g);
            let dim = points.len() / running.len();
            for (row, &i) in running.iter().enumerate() {
                block[i].tell(-values[row], &gradients[row * dim..(row + 1) * dim]);
            }
        }
    });
}

/// Stochastic ascent (Adam) with fresh noise samples in every step, from every start.
pub(crate) fn ascend<'a>(
    fresh: &(dyn Fn(u64) -> Box<dyn Acquisition + 'a> + Sync),
    starts: &[Scored],
    steps: usize,
    rate: f64,
) -> Vec<Vec<f64>> {
    let blocks: Vec<Vec<Vec<f64>>> = starts
        .par_chunks(CLIMB_BLOCK)
        .map_init(Workspace::default, |workspace, block| {
            let mut points: Vec<f64> = block.iter().flat_map(|start| start.point.clone()).collect();
            let (mut first, mut second) = (vec![0.0_f64; points.len()], vec![0.0_f64; points.len()]);
            let (mut gradients, mut values) = (vec![0.0_f64; points.len()], Vec::new());
            let dim = points.len() / block.len();
            for step in 0..steps {
                let acquisition = fresh(step as u64);
                let (lower, upper) = acquisition.bounds();
                acquisition.evaluate(&points, workspace, &mut values, &mut gradients);
                // The gradient is brought to unit size, since the reward's units are arbitrary.
                let t = (step + 1) as i32;
                let rate = rate * (1.0 - step as f64 / steps as f64).max(0.05);
                for i in 0..points.len() {
                    let g = if gradients[i].is_finite() { gradients[i] } else { 0.0 };
                    first[i] = 0.9 * first[i] + 0.1 * g;
                    second[i] = 0.99 * second[i] + 0.01 * g * g;
                    let (m, v) = (first[i] / (1.0 - 0.9_f64.powi(t)), second[i] / (1.0 - 0.99_f64.powi(t)));
                    let width = upper[i % dim] - lower[i % dim];
                    let moved = points[i] + rate * width * m / (v.sqrt() + 1e-300);
                    points[i] = moved.clamp(lower[i % dim], upper[i % dim]);
                }
            }
            points.chunks_exact(dim).map(<[f64]>::to_vec).collect()
        })
        .collect();
    blocks.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Plan;
    use crate::{Choice, Problem};

    /// A bowl upside down: `-Σ (x_k - c_k)²`, with the highest point at `c`.
    struct Bowl {
        plan: Plan,
        center: Vec<f64>,
    }

    impl Bowl {
        fn new(center: &[f64]) -> Self {
            let names: Vec<String> = (0..center.len()).map(|k| format!("a{k}")).collect();
            let builder = names.iter().fold(Problem::builder("bowl"), |b, name| b.action(name, [0.0, 1.0]));
            let problem = builder.node("y", |n| n.actions(names.clone())).maximize("y").build();
            let choice = Choice { targets: vec![], actions: (0..center.len()).collect() };
            let plan = Plan::direct(&problem.expect("a problem"), &choice);
            Self { plan, center: center.to_vec() }
        }
    }

    impl Acquisition for Bowl {
        fn plan(&self) -> &Plan {
            &self.plan
        }

        fn cost(&self) -> f64 {
            1.0
        }

        fn evaluate(&self, points: &[f64], _: &mut Workspace, values: &mut Vec<f64>, gradients: &mut [f64]) {
            let dim = self.center.len();
            values.clear();
            for point in points.chunks_exact(dim) {
                // Half of the box of the first variable has no value where the centre is at zero.
                let height = -point.iter().zip(&self.center).map(|(x, c)| (x - c).powi(2)).sum::<f64>();
                values.push(if self.center[0] == 0.0 && point[0] > 0.5 { f64::NAN } else { height });
            }
            for (i, gradient) in gradients.iter_mut().enumerate() {
                *gradient = -2.0 * (points[i] - self.center[i % dim]);
            }
        }
    }

    fn starts(bowl: &Bowl, count: usize) -> Vec<Scored> {
        score(bowl, raw_points(bowl, count, &[], 1))
    }

    const BUDGET: AscentBudget = AscentBudget { first: 6, finalists: 3, second: 30 };

    #[test]
    fn climbs_end_at_the_highest_point_of_the_box() {
        for center in [[0.3, 0.8], [1.4, 0.6], [-0.2, 1.1]] {
            let bowl = Bowl::new(&center);
            let reached = climb(&bowl, None, starts(&bowl, 10), BUDGET);
            assert_eq!(reached.len(), 3);
            assert!(reached.is_sorted_by(|a, b| a.value >= b.value));
            for (x, c) in reached[0].point.iter().zip(center) {
                assert!((x - c.clamp(0.0, 1.0)).abs() < 1e-4, "{:?} {center:?}", reached[0].point);
            }
            let beyond: f64 = center.iter().map(|c| (c - c.clamp(0.0, 1.0)).powi(2)).sum();
            assert!((reached[0].value + beyond).abs() < 1e-7);
            // Finalists that go on with another acquisition end at its highest point.
            let other = Bowl::new(&[0.5, 0.25]);
            let reached = climb(&bowl, Some(&other), starts(&bowl, 10), BUDGET);
            let error = (reached[0].point[0] - 0.5).abs().max((reached[0].point[1] - 0.25).abs());
            assert!(error < 1e-4, "{:?}", reached[0].point);
        }
    }

    #[test]
    fn stochastic_ascent_comes_close_and_stays_in_the_box() {
        for center in [[0.3, 0.8], [1.4, -0.6]] {
            let bowl = Bowl::new(&center);
            // The samples change from step to step; their mean is the bowl.
            let fresh = |step: u64| {
                let shift = if step.is_multiple_of(2) { 0.05 } else { -0.05 };
                Box::new(Bowl::new(&center.map(|c| c + shift))) as Box<dyn Acquisition>
            };
            for point in ascend(&fresh, &starts(&bowl, 9), 200, 0.05) {
                for (x, c) in point.iter().zip(center) {
                    assert!((x - c.clamp(0.0, 1.0)).abs() < 0.03, "{point:?} {center:?}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_value_is_worth_least() {
        let bowl = Bowl::new(&[0.0, 0.5]);
        let scored = score(&bowl, vec![vec![0.9, 0.5], vec![0.25, 0.5]]);
        assert_eq!(scored[0].value, f64::NEG_INFINITY);
        assert!((scored[1].value + 0.0625).abs() < 1e-15);
    }

    #[test]
    fn raw_points_fill_the_box_and_a_quarter_is_close_to_known_places() {
        let (bowl, known) = (Bowl::new(&[0.3, 0.8]), vec![0.02, 0.97]);
        let points = raw_points(&bowl, 64, std::slice::from_ref(&known), 3);
        assert_eq!(points.len(), 64);
        assert!(points.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
        let close = |point: &&Vec<f64>| point.iter().zip(&known).all(|(x, k)| (x - k).abs() < 0.4);
        assert_eq!(points[48..].iter().filter(close).count(), 16);
        // Every eighth of the first variable has its share of the other 48.
        for eighth in 0..8 {
            let within = |point: &&Vec<f64>| (point[0] * 8.0) as usize == eighth;
            assert!((4..=8).contains(&points[..48].iter().filter(within).count()));
        }
    }

    #[test]
    fn starts_do_not_crowd_one_peak() {
        let at = |x: f64, value: f64| Scored { point: vec![x], value };
        let scored = vec![at(0.50, 5.0), at(0.53, 4.0), at(0.9, 1.0), at(0.46, 4.5), at(0.2, 2.0)];
        let chosen = |count: usize| -> Vec<f64> {
            spread_out(scored.clone(), 1, count).iter().map(|scored| scored.point[0]).collect()
        };
        assert_eq!(chosen(3), [0.5, 0.2, 0.9]);
        // Where there are too few apart, the best of the others fill the places.
        assert_eq!(chosen(4), [0.5, 0.2, 0.9, 0.46]);
        assert_eq!(chosen(9).len(), 5);
    }
}
