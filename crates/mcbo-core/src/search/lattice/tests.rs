use super::*;
use crate::network::Plan;
use crate::search::climb::raw_points;
use crate::{Choice, Problem, check_intervention};

/// Hills that lie askew to all variables, so that the best point of the grid is often not the one next to the best of the box.
struct Hills {
    plan: Plan,
    /// Of every name of the named variables together, where its hill is and how high.
    seed: usize,
    named: Vec<usize>,
}

fn noise(i: usize, k: usize) -> f64 {
    (((i * 17 + k * 29 + 3) as f64) * 0.618_033_988_7).fract()
}

impl Hills {
    fn new(problem: &Problem, seed: usize) -> Self {
        let choice = Choice { targets: vec![], actions: (0..problem.actions().len()).collect() };
        let named = (0..problem.actions().len()).filter(|&k| problem.actions()[k].is_choice()).collect();
        Self { plan: Plan::direct(problem, &choice), seed, named }
    }

    fn height(&self, point: &[f64]) -> f64 {
        let name = self.named.iter().fold(0, |all, &k| {
            let variable = &self.plan.space().variables()[k];
            5 * all + variable.value(point[k]).round() as usize
        });
        let of = |k: usize| noise(self.seed * 101 + name, k);
        let free: Vec<usize> = (0..point.len()).filter(|k| !self.named.contains(k)).collect();
        let from: Vec<f64> = free.iter().enumerate().map(|(i, &k)| point[k] - of(i)).collect();
        let sum: f64 = from.iter().sum();
        // Steep across, flat along a diagonal, with ripples.
        let askew: f64 = from.iter().enumerate().map(|(i, d)| if i % 2 == 0 { *d } else { -d }).sum();
        let ripples: f64 = from.iter().map(|d| (9.0 * d).cos()).sum();
        of(20) - 3.0 * askew * askew - 0.4 * sum * sum + 0.05 * ripples
    }
}

impl Acquisition for Hills {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn cost(&self) -> f64 {
        1.0
    }

    fn evaluate(&self, points: &[f64], _: &mut Workspace, values: &mut Vec<f64>, gradients: &mut [f64]) {
        let dim = self.plan.dim();
        values.clear();
        values.extend(points.chunks_exact(dim).map(|point| self.height(point)));
        for (i, gradient) in gradients.iter_mut().enumerate() {
            if self.named.contains(&(i % dim)) {
                *gradient = 0.0;
                continue;
            }
            let at = |by: f64| {
                let mut point = points[i / dim * dim..][..dim].to_vec();
                point[i % dim] += by;
                self.height(&point)
            };
            *gradient = (at(1e-5) - at(-1e-5)) / 2e-5;
        }
    }
}

/// The best of all values with steps and names, and of so many even ones of every other variable, that keep to what is required.
fn by_brute_force(problem: &Problem, hills: &Hills, even: usize) -> f64 {
    let axis = |action: &crate::Action| -> Vec<f64> {
        let [low, high] = action.range;
        match &action.grid {
            Some(grid) => grid.values().collect(),
            None => (0..=even).map(|i| low + (high - low) * i as f64 / even as f64).collect(),
        }
    };
    let axes: Vec<Vec<f64>> = problem.actions().iter().map(axis).collect();
    let mut best = f64::NEG_INFINITY;
    let mut places = vec![0; axes.len()];
    loop {
        let values: Vec<f64> = places.iter().zip(&axes).map(|(&place, axis)| axis[place]).collect();
        if problem.requirements().iter().all(|one| one.excess(&values) <= 0.0) {
            let unit = |(action, value): (&crate::Action, &f64)| {
                (value - action.range[0]) / (action.range[1] - action.range[0])
            };
            let point: Vec<f64> = problem.actions().iter().zip(&values).map(unit).collect();
            best = best.max(hills.height(&point));
        }
        let Some(next) = (0..axes.len()).find(|&k| places[k] + 1 < axes[k].len()) else { return best };
        places[..next].fill(0);
        places[next] += 1;
    }
}

const STAGES: AscentBudget = AscentBudget { first: 12, finalists: 3, second: 40 };

/// How often the search misses the best of brute force, over so many landscapes.
fn misses(problem: &Problem, even: usize, slack: f64, landscapes: usize) -> usize {
    let mut missed = 0;
    for seed in 0..landscapes {
        let hills = Hills::new(problem, seed);
        let starts = score(&hills, raw_points(&hills, 160, &[], seed as u64));
        let starts = crate::search::climb::spread_out(starts, hills.decisions(), 15);
        let reached = climb(&hills, None, starts, STAGES);
        assert!(reached.is_sorted_by(|a, b| a.value >= b.value));
        for place in &reached {
            let done = hills.space().intervention(problem, &place.point);
            check_intervention(problem, &done).expect("it is allowed");
            assert!((hills.height(&hills.space().point(&done)) - place.value).abs() < 1e-6);
        }
        let best = by_brute_force(problem, &hills, even);
        missed += usize::from(reached[0].value < best - slack);
    }
    missed
}

fn reward(builder: crate::ProblemBuilder, actions: &[&str]) -> Problem {
    let names = actions.to_vec();
    builder.node("y", |n| n.actions(names)).maximize("y").build().expect("a problem")
}

#[test]
fn few_combinations_are_all_tried() {
    let builder = Problem::builder("few").action_in_steps("a", [0.0, 1.0], 0.25).choice("s", ["x", "y", "z"]);
    let problem = reward(builder.action("b", [-1.0, 2.0]), &["a", "s", "b"]);
    assert_eq!(misses(&problem, 2000, 1e-5, 25), 0);
}

#[test]
fn grids_alone_are_searched_exactly_where_they_are_few() {
    let builder =
        Problem::builder("grid").action_in_steps("a", [0.0, 7.0], 1.0).choice("s", ["x", "y", "z", "u"]);
    assert_eq!(misses(&reward(builder, &["a", "s"]), 1, 1e-12, 40), 0);
}

/// Values of a list lie at uneven distances.
#[test]
fn lists_are_searched_like_steps() {
    let builder = Problem::builder("lists")
        .action_of_values("a", [0.0, 0.1, 0.2, 0.5, 0.55, 1.0])
        .action_of_values("b", [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0])
        .action("c", [0.0, 1.0])
        .require("20 * a + b <= 60");
    assert_eq!(misses(&reward(builder, &["a", "b", "c"]), 2000, 1e-5, 20), 0);
}

#[test]
fn many_combinations_are_found_by_exchange() {
    let builder = Problem::builder("many")
        .action_in_steps("a", [0.0, 1.0], 0.1)
        .action_in_steps("b", [0.0, 30.0], 2.0)
        .choice("s", ["x", "y", "z", "u"])
        .choice("t", ["p", "q", "r"]);
    // 11 · 16 · 12 combinations; a landscape of names that have nothing in common is the hardest there is.
    let problem = reward(builder, &["a", "b", "s", "t"]);
    let missed = misses(&problem, 1, 1e-9, 40);
    assert!(missed <= 2, "{missed} of 40");
}

#[test]
fn what_is_required_is_kept_and_the_best_of_it_found() {
    let builder =
        Problem::builder("required").action("a", [0.0, 2.0]).action("b", [0.0, 1.0]).action("c", [-1.0, 1.0]);
    let problem = reward(
        builder.require("a + b <= 1.1").require("c <= 0.5 * a").require("b - c >= -0.3"),
        &["a", "b", "c"],
    );
    let missed = misses(&problem, 60, 1e-4, 30);
    assert!(missed <= 1, "{missed} of 30");
}

#[test]
fn requirements_couple_steps() {
    let builder = Problem::builder("both")
        .action_in_steps("a", [0.0, 90.0], 5.0)
        .action_in_steps("b", [0.0, 90.0], 5.0)
        .action("c", [0.0, 50.0]);
    let problem = reward(builder.require("a + b + c <= 100").require("a >= b - 20"), &["a", "b", "c"]);
    let missed = misses(&problem, 50, 1e-4, 30);
    assert!(missed <= 1, "{missed} of 30");
}
