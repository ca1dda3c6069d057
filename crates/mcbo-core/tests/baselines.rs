//! The baselines: better than chance, in range, the same on any number of threads, no trial proposed twice.

mod common;

use std::sync::Arc;

use common::{Options, SHAPES};
use mcbo_core::{
    Cbo, Context, Data, Eifn, ExpectedImprovement, Intervention, Memory, ModelSettings, Noise, Observation,
    Observe, Problem, Proposal, Random, Strategy, Study, Ucb, check_intervention,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn all() -> Vec<Arc<dyn Strategy>> {
    vec![
        Arc::new(Ucb::default()),
        Arc::new(ExpectedImprovement::default()),
        Arc::new(Eifn::default()),
        Arc::new(Cbo::default()),
    ]
}

/// Two actions through two nodes; the reward is highest at (0.7, 0.3).
fn soft() -> Problem {
    Problem::builder("soft")
        .action("a", [0.0, 1.0])
        .action("b", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::None))
        .node("y", |n| n.parents(["x"]).actions(["b"]).noise(Noise::None))
        .maximize("y")
        .simulate("x", "4 * (a - 0.7)")
        .simulate("y", "-x^2 - 9 * (b - 0.3)^2")
        .build()
        .expect("a problem")
}

/// A noisy chain whose middle node is the one to set, to 1.5.
fn hard() -> Problem {
    Problem::builder("hard")
        .node("x", |n| n.hard([-2.0, 2.0]).noise(Noise::Gaussian(0.7)))
        .node("z", |n| n.parents(["x"]).hard([-3.0, 3.0]).noise(Noise::Gaussian(0.5)))
        .node("y", |n| n.parents(["z"]).noise(Noise::Gaussian(0.1)))
        .maximize("y")
        .simulate("x", "normal(0, 0.7)")
        .simulate("z", "x + normal(0, 0.5)")
        .simulate("y", "-(z - 1.5)^2 + normal(0, 0.1)")
        .build()
        .expect("a problem")
}

fn simulate(problem: &Problem, intervention: &Intervention, rng: &mut ChaCha8Rng) -> Vec<Option<f64>> {
    let simulator = problem.simulator().expect("a simulator");
    simulator.sample(problem, intervention, rng).into_iter().map(Some).collect()
}

/// The expected reward of [`hard`]'s or [`soft`]'s interventions, from their formulas.
fn expected(problem: &Problem, intervention: &Intervention) -> f64 {
    if problem.name() == "soft" {
        let [a, b] = intervention.actions[..] else { panic!("two actions") };
        return -(4.0 * (a - 0.7)).powi(2) - 9.0 * (b - 0.3).powi(2);
    }
    let (mean, variance) = match (intervention.target(0), intervention.target(1)) {
        (_, Some(z)) => (z[0], 0.0),
        (Some(x), None) => (x[0], 0.25),
        (None, None) => (0.0, 0.25 + 0.49),
    };
    -(mean - 1.5_f64).powi(2) - variance
}

/// The average expected reward of the rounds after a start of four observations and the design.
fn average(problem: &Problem, strategy: Arc<dyn Strategy>, seed: u64, rounds: usize) -> f64 {
    let study = Study::with_strategy(problem.clone(), strategy, seed);
    let start = 4 + study.initial_trials();
    let mut study = study.initial(start);
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 100);
    let mut total = 0.0;
    for trial in 0..start + rounds {
        let trial = if trial < 4 {
            study.enqueue(problem.neutral_intervention()).expect("a trial")
        } else {
            study.ask().expect("a suggestion")
        };
        let (number, intervention) = (trial.number, trial.suggestion.intervention.clone());
        check_intervention(problem, &intervention).expect("an intervention in range");
        if number > start {
            total += expected(problem, &intervention) / rounds as f64;
        }
        study.tell(number, simulate(problem, &intervention, &mut rng)).expect("a good observation");
    }
    total
}

/// Better on average over twenty seeds, and on four of five of them at least: one bold trial can spoil a run.
fn beats_random(problem: &Problem, strategy: &Arc<dyn Strategy>) {
    let runs: Vec<(f64, f64)> = (0..20)
        .map(|seed| {
            let ours = average(problem, strategy.clone(), seed, 10);
            (ours, average(problem, Arc::new(Random), seed, 10))
        })
        .collect();
    let wins = runs.iter().filter(|(ours, random)| ours > random).count();
    let gain: f64 = runs.iter().map(|(ours, random)| ours - random).sum();
    assert!(wins >= 16 && gain > 0.0, "{}, {}: {runs:?}", problem.name(), strategy.name());
}

#[test]
fn soft_problems_are_solved_better_than_by_chance() {
    for strategy in &all()[..3] {
        beats_random(&soft(), strategy);
    }
}

#[test]
fn hard_problems_are_solved_better_than_by_chance() {
    for strategy in all() {
        beats_random(&hard(), &strategy);
    }
}

#[test]
fn observing_does_nothing() {
    let problem = hard();
    let mut study = Study::with_strategy(problem.clone(), Arc::new(Observe), 1).initial(0);
    for _ in 0..3 {
        let suggestion = &study.ask().expect("a suggestion").suggestion;
        assert_eq!(suggestion.intervention, problem.neutral_intervention());
        assert_eq!(suggestion.strategy, "observe");
    }
}

fn suggestion(threads: usize, problem: &Problem, data: &Data, strategy: &dyn Strategy) -> Proposal {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let memory = Memory::default();
    let context = Context::new(problem, data, &memory);
    pool.install(|| strategy.suggest(&context, &mut ChaCha8Rng::seed_from_u64(3)).expect("a suggestion"))
}

#[test]
fn one_thread_or_two_make_no_difference() {
    for seed in 0..4 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options {
            shape: SHAPES[seed as usize],
            nodes: 4,
            noisy: seed != 1,
            vectors: seed != 0,
            hard: seed != 2,
            formulas: seed == 3,
        };
        let problem = common::problem(&options, &mut rng);
        let mut data = common::data(&problem, 14, &mut rng);
        for _ in 0..5 {
            let intervention = problem.neutral_intervention();
            let values = common::answer(&problem, &intervention, &mut rng).into_iter().map(Some).collect();
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        for strategy in all() {
            let one = suggestion(1, &problem, &data, strategy.as_ref());
            check_intervention(&problem, &one.suggestion.intervention).expect("an intervention in range");
            assert_eq!(one, suggestion(2, &problem, &data, strategy.as_ref()), "{}", strategy.name());
            assert_eq!(one.suggestion.strategy, strategy.name());
        }
    }
}

#[test]
fn pending_trials_are_not_proposed_again() {
    let memory = Memory::default();
    for problem in [soft(), hard()] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut data = Data::new();
        for trial in 0..12 {
            let intervention = match trial % 4 {
                0 => problem.neutral_intervention(),
                _ => mcbo_core::design_point(&problem, trial, 1),
            };
            let values = simulate(&problem, &intervention, &mut rng);
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        for strategy in all() {
            let mut pending = Vec::new();
            for _ in 0..4 {
                let context = Context::new(&problem, &data, &memory).with_pending(&pending);
                let next =
                    strategy.suggest(&context, &mut rng).expect("a suggestion").suggestion.intervention;
                assert!(!context.is_taken(&next), "{}: {next:?} after {pending:?}", strategy.name());
                pending.push(Observation { intervention: next, values: vec![None; problem.slots()] });
            }
        }
    }
}

#[test]
fn a_study_without_data_begins() {
    for problem in [soft(), hard()] {
        let data = Data::new();
        for strategy in all() {
            let begun = suggestion(1, &problem, &data, strategy.as_ref());
            check_intervention(&problem, &begun.suggestion.intervention).expect("an intervention in range");
        }
    }
}

#[test]
fn more_target_sets_than_can_be_listed() {
    let mut builder = Problem::builder("wide");
    for node in 0..12 {
        builder = builder.node(format!("x{node}"), |n| n.hard([-1.0, 1.0]).noise(Noise::Gaussian(0.3)));
    }
    let problem = builder
        .node("y", |n| n.parents((0..12).map(|node| format!("x{node}"))).noise(Noise::Gaussian(0.1)))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let data = common::data(&problem, 12, &mut rng);
    let model = ModelSettings::paper();
    let strategies: [Arc<dyn Strategy>; 2] = [
        Arc::new(Ucb { model: model.clone(), ..Ucb::default() }),
        Arc::new(ExpectedImprovement { model, ..ExpectedImprovement::default() }),
    ];
    for strategy in strategies {
        let found = suggestion(1, &problem, &data, strategy.as_ref());
        check_intervention(&problem, &found.suggestion.intervention).expect("an intervention in range");
    }
}
