//! The search: strong enough, exact where the optimum is known, the same on any number of threads.

mod common;

use common::{Options, SHAPES, Shape};
use mcbo_core::{
    Acquisition, Ascent, Candidate, Choice, Context, Data, Intervention, Mcbo, Memory, ModelSettings,
    Network, Noise, Observation, Optimism, OptimisticReward, Problem, Proposal, SearchSettings, SearchTask,
    Strategy, Workspace, enumerate, maximize,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn search(
    problem: &Problem,
    network: &Network,
    beta: f64,
    settings: &SearchSettings,
    seed: u64,
) -> Vec<Candidate> {
    let factory = |choice: &Choice, samples: usize, seed: u64| {
        Box::new(OptimisticReward::new(problem, network, choice, Optimism::Constant, beta, samples, seed))
            as Box<_>
    };
    maximize(&SearchTask { problem, factory: &factory, warm: &[], seed, on_phase: &|_| {} }, settings)
}

/// The best acquisition over a few `η` at each of many random actions; their median.
fn median_of_random(problem: &Problem, network: &Network, beta: f64, rng: &mut ChaCha8Rng) -> f64 {
    let choices = enumerate(problem, 1000).expect("few choices");
    let mut values: Vec<f64> = (0..60)
        .map(|_| {
            let choice = &choices[rng.random_range(0..choices.len())];
            let acquisition =
                OptimisticReward::new(problem, network, choice, Optimism::Constant, beta, 16, 1);
            let (lower, upper) = acquisition.bounds();
            let unit: Vec<f64> = (0..acquisition.decisions()).map(|_| rng.random()).collect();
            let points: Vec<f64> = (0..12)
                .flat_map(|_| {
                    let rest = acquisition.decisions()..lower.len();
                    let eta = rest.map(|k| lower[k] + (upper[k] - lower[k]) * rng.random::<f64>());
                    unit.iter().copied().chain(eta).collect::<Vec<_>>()
                })
                .collect();
            let (mut workspace, mut values) = (Workspace::default(), Vec::new());
            acquisition.evaluate(&points, &mut workspace, &mut values, &mut []);
            values.into_iter().fold(f64::NEG_INFINITY, f64::max)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn twenty_times_the_starts_find_hardly_more() {
    let mut short = Vec::new();
    for seed in 0..50_u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options {
            shape: SHAPES[seed as usize % SHAPES.len()],
            nodes: 2 + seed as usize % 6,
            noisy: seed % 3 == 0,
            vectors: seed % 5 == 0,
            hard: seed % 4 == 1,
            formulas: seed % 7 == 0,
        };
        let problem = common::problem(&options, &mut rng);
        let data = common::data(&problem, 12 + seed as usize % 20, &mut rng);
        let network = common::network(&problem, &data, 1 + seed as usize % 3, seed);
        let settings = SearchSettings::default();
        let usual = &search(&problem, &network, 0.5, &settings, seed)[0];
        let thorough = &search(&problem, &network, 0.5, &settings.intensified(20), seed)[0];
        let range = thorough.value - median_of_random(&problem, &network, 0.5, &mut rng);
        let missing = (thorough.value - usual.value) / range.max(1e-9);
        if missing > 0.01 {
            short.push((seed, missing));
        }
    }
    assert!(short.len() <= 2, "fell short on {short:?}");
}

/// Linear mechanisms with one action per node: the best action is at a corner that the signs of the weights tell.
#[test]
fn the_optimum_of_linear_mechanisms_is_found() {
    for seed in 0..10_u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let nodes = 2 + seed as usize % 4;
        let mut builder = Problem::builder("linear");
        for i in 0..nodes {
            builder = builder.action(format!("a{i}"), [-1.0, 1.0]);
        }
        for i in 0..nodes {
            builder = builder.node(format!("x{i}"), |n| {
                let n = n.actions([format!("a{i}")]).noise(Noise::None).kernel("linear");
                if i == 0 { n } else { n.parents([format!("x{}", i - 1)]) }
            });
        }
        let problem = builder.maximize(format!("x{}", nodes - 1)).build().expect("a problem");
        let weights: Vec<(f64, f64)> = (0..nodes)
            .map(|_| {
                (
                    rng.random_range(0.5..1.5) * if rng.random() { 1.0 } else { -1.0 },
                    rng.random_range(-1.5..1.5),
                )
            })
            .collect();
        let mut data = Data::new();
        for row in 0..4 * nodes {
            let intervention = mcbo_core::design_point(&problem, row, 1);
            let mut values = Vec::new();
            for i in 0..nodes {
                let parent = if i == 0 { 0.0 } else { values[i - 1] };
                values.push(weights[i].0 * parent + weights[i].1 * intervention.actions[i]);
            }
            let values = values.into_iter().map(Some).collect();
            data.push(&problem, Observation { intervention, values }).expect("an observation");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let network = Network::fit(&problem, &data, &Default::default(), &ModelSettings::paper(), &mut rng)
            .expect("a fit");
        let found = &search(&problem, &network, 0.05, &SearchSettings::default(), seed)[0];
        for i in 0..nodes {
            let downstream: f64 = weights[i + 1..].iter().map(|w| w.0).product();
            let best = (downstream * weights[i].1).signum();
            assert_eq!(found.intervention.actions[i], best, "seed {seed}, action {i}");
        }
    }
}

#[test]
fn stochastic_ascent_and_the_network_reach_what_quasi_newton_reaches() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let options =
        Options { shape: Shape::Chain, nodes: 3, noisy: true, vectors: false, hard: false, formulas: false };
    let problem = common::problem(&options, &mut rng);
    let data = common::data(&problem, 25, &mut rng);
    let network = common::network(&problem, &data, 1, 1);
    let settings = SearchSettings::default();
    let usual = &search(&problem, &network, 0.5, &settings, 1)[0];
    let ascent = Ascent::Stochastic { steps: 150, rate: 0.05 };
    let stochastic = &search(&problem, &network, 0.5, &SearchSettings { ascent, ..settings }, 1)[0];
    let range = usual.value - median_of_random(&problem, &network, 0.5, &mut rng);
    assert!((usual.value - stochastic.value).abs() < 0.02 * range, "{} {}", usual.value, stochastic.value);
    // A function of the inputs can only be more optimistic than a constant.
    let factory = |choice: &Choice, samples: usize, seed: u64| {
        let family = Optimism::Network { hidden: 6 };
        Box::new(OptimisticReward::new(&problem, &network, choice, family, 0.5, samples, seed)) as Box<_>
    };
    let task = SearchTask { problem: &problem, factory: &factory, warm: &[], seed: 1, on_phase: &|_| {} };
    let richer = &maximize(&task, &settings.intensified(3))[0];
    assert!(richer.value > usual.value - 0.01 * range, "{} {}", usual.value, richer.value);
}

fn suggestion(threads: usize, problem: &Problem, data: &Data, strategy: &Mcbo) -> Proposal {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let memory = Memory::default();
    let context = Context::new(problem, data, &memory);
    pool.install(|| strategy.suggest(&context, &mut ChaCha8Rng::seed_from_u64(3)).expect("a suggestion"))
}

#[test]
fn one_thread_or_two_make_no_difference() {
    for (seed, strategy) in [(1, Mcbo::default()), (2, Mcbo::paper()), (3, Mcbo::default())] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options {
            shape: Shape::Diamond,
            nodes: 5,
            noisy: seed != 2,
            vectors: true,
            hard: seed == 3,
            formulas: true,
        };
        let problem = common::problem(&options, &mut rng);
        let data = common::data(&problem, 20, &mut rng);
        let one = suggestion(1, &problem, &data, &strategy);
        for threads in [1, 2, 3] {
            assert_eq!(one, suggestion(threads, &problem, &data, &strategy));
        }
    }
}

/// Additive effects, so that the best support is known: greedy growth with exchange must find it.
fn additive(actions: usize, most: usize) -> Problem {
    let mut builder = Problem::builder("additive").max_interventions(most);
    for a in 0..actions {
        builder = builder.action(format!("a{a}"), [0.0, 1.0]);
    }
    builder
        .node("x", |n| n.actions((0..actions / 2).map(|a| format!("a{a}"))).noise(Noise::None))
        .node("y", |n| {
            n.parents(["x"]).actions((actions / 2..actions).map(|a| format!("a{a}"))).noise(Noise::None)
        })
        .maximize("y")
        .build()
        .expect("a problem")
}

fn additive_data(problem: &Problem, rows: usize) -> Data {
    let actions = problem.actions().len();
    let gain = |a: usize| ((a * 7 + 3) % 11) as f64 / 11.0 - 0.2;
    let mut data = Data::new();
    for row in 0..rows {
        let Intervention { actions: values, .. } = mcbo_core::design_point(problem, row, 2);
        let x: f64 = (0..actions / 2).map(|a| gain(a) * values[a] * (1.6 - values[a])).sum();
        let y: f64 = x + (actions / 2..actions).map(|a| gain(a) * values[a] * (1.6 - values[a])).sum::<f64>();
        let intervention = Intervention { targets: Vec::new(), actions: values };
        data.push(problem, Observation { intervention, values: vec![Some(x), Some(y)] })
            .expect("an observation");
    }
    data
}

#[test]
fn greedy_growth_agrees_with_enumeration() {
    for (actions, most) in [(6, 2), (8, 3), (10, 3)] {
        let problem = additive(actions, most);
        let data = additive_data(&problem, 60);
        let network = common::network(&problem, &data, 1, 1);
        let settings = SearchSettings::default();
        let all = &search(&problem, &network, 0.5, &settings, 1)[0];
        let greedy =
            &search(&problem, &network, 0.5, &SearchSettings { enumeration_limit: 1, ..settings }, 1)[0];
        assert!(
            greedy.value >= all.value - 0.01 * all.value.abs(),
            "{actions}: {} {}",
            all.value,
            greedy.value
        );
        let used = greedy.intervention.actions.iter().filter(|a| **a != 0.0).count();
        assert!(used <= most, "{used} actions");
    }
    // Hard sets: grown one by one on random graphs.
    for seed in 0..6 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options {
            shape: Shape::Random,
            nodes: 6,
            noisy: false,
            vectors: false,
            hard: true,
            formulas: false,
        };
        let problem = common::problem(&options, &mut rng);
        let data = common::data(&problem, 30, &mut rng);
        let network = common::network(&problem, &data, 1, 1);
        let settings = SearchSettings::default();
        let all = &search(&problem, &network, 0.3, &settings, 1)[0];
        let greedy =
            &search(&problem, &network, 0.3, &SearchSettings { enumeration_limit: 0, ..settings }, 1)[0];
        let range = all.value - median_of_random(&problem, &network, 0.3, &mut rng);
        assert!(greedy.value >= all.value - 0.1 * range, "seed {seed}: {} {}", all.value, greedy.value);
    }
}

/// Twelve nodes that can be set, any of them together or just one of the sets named, four into each of three that lead to the reward.
fn many_sets(only: Option<&[usize]>) -> Problem {
    let mut builder = Problem::builder("sets");
    for node in 0..12 {
        builder = builder.node(format!("x{node}"), |n| n.hard([-2.0, 2.0]).noise(Noise::Gaussian(0.3)));
    }
    for middle in 0..3 {
        let parents: Vec<String> = (4 * middle..4 * middle + 4).map(|node| format!("x{node}")).collect();
        builder = builder.node(format!("m{middle}"), |n| n.parents(parents).noise(Noise::Gaussian(0.1)));
    }
    if let Some(set) = only {
        builder = builder.sets([set.iter().map(|node| format!("x{node}"))]);
    }
    let builder = builder.node("y", |n| n.parents(["m0", "m1", "m2"]).noise(Noise::Gaussian(0.1)));
    builder.maximize("y").build().expect("a problem")
}

/// What a world of chance made of it: waves, and products of neighbours.
fn many_sets_data(problem: &Problem, rows: usize, rng: &mut ChaCha8Rng) -> Data {
    let mut draw = |count: usize| (0..count).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect::<Vec<f64>>();
    let (gains, waves, products, last) = (draw(12), draw(12), draw(3), draw(3));
    let mut data = Data::new();
    for row in 0..rows {
        let intervention = mcbo_core::design_point(problem, row, 5);
        let noise = draw(16);
        let mut values: Vec<f64> =
            (0..12).map(|node| intervention.target(node).map_or(0.5 * noise[node], |set| set[0])).collect();
        for middle in 0..3 {
            let of = 4 * middle..4 * middle + 4;
            let wave = |node: usize| gains[node] * (2.0 * values[node] + 3.0 * waves[node]).sin();
            let product = products[middle] * values[of.start] * values[of.start + 1];
            let value = of.map(wave).sum::<f64>() + product + 0.17 * noise[12 + middle];
            values.push(value);
        }
        let reward: f64 = (0..3).map(|middle| last[middle] * values[12 + middle]).sum();
        values.push(reward + 0.17 * noise[15]);
        let values = values.into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("an observation");
    }
    data
}

/// The best of all 4,096 sets, and the median of chance over them: all are looked at at some places, and the most promising, and the
/// largest, of which some places tell little, are searched as if there were no others.
fn best_of_all_sets(problem: &Problem, network: &Network, beta: f64, rng: &mut ChaCha8Rng) -> (f64, f64) {
    let choices = enumerate(problem, 5000).expect("few enough");
    assert_eq!(choices.len(), 4096);
    let mut seen: Vec<(f64, &Choice)> = choices
        .iter()
        .map(|choice| {
            let acquisition = OptimisticReward::new(problem, network, choice, Optimism::Constant, beta, 4, 1);
            let (lower, upper) = acquisition.bounds();
            let draw = |(low, high): (&f64, &f64)| low + (high - low) * rng.random::<f64>();
            let points: Vec<f64> = (0..32).flat_map(|_| lower.iter().zip(&upper)).map(draw).collect();
            let (mut workspace, mut values) = (Workspace::default(), Vec::new());
            acquisition.evaluate(&points, &mut workspace, &mut values, &mut []);
            (values.into_iter().fold(f64::NEG_INFINITY, f64::max), choice)
        })
        .collect();
    seen.sort_by(|a, b| b.0.total_cmp(&a.0));
    let median = seen[seen.len() / 2].0;
    let alone = |(_, choice): &(f64, &Choice)| {
        let problem = many_sets(Some(&choice.targets));
        search(&problem, network, beta, &SearchSettings::default(), 1)[0].value
    };
    let (first, others) = seen.split_at(150);
    let largest = others.iter().filter(|(_, choice)| choice.targets.len() >= 10);
    (first.iter().chain(largest).map(alone).fold(f64::NEG_INFINITY, f64::max), median)
}

/// Growing a set node by node finds what looking at all 4,096 sets finds, within 1 % of what chance and the best differ by, nine times
/// of ten.
#[test]
#[ignore = "minutes; MCBO_SEEDS says of how many problems, 50 unless told otherwise"]
fn greedy_growth_is_near_the_best_of_all_sets() {
    let seeds: u64 = std::env::var("MCBO_SEEDS").map_or(50, |seeds| seeds.parse().expect("a number"));
    let problem = many_sets(None);
    let mut near = 0;
    for seed in 0..seeds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let data = many_sets_data(&problem, 60, &mut rng);
        let network = common::network(&problem, &data, 1, 1);
        let grown = &search(&problem, &network, 0.3, &SearchSettings::default(), 1)[0];
        let (all, median) = best_of_all_sets(&problem, &network, 0.3, &mut rng);
        near += u64::from(grown.value >= all - 0.01 * (all - median));
        let (size, done) = (grown.choice.targets.len(), seed + 1);
        eprintln!(
            "seed {seed}: {all:.4} of all, {:.4} grown to {size}, {median:.4} by chance; {near} of {done}",
            grown.value
        );
    }
    assert!(10 * near >= 9 * seeds, "{near} of {seeds}");
}

#[test]
fn too_many_supports_to_enumerate_still_give_a_suggestion() {
    let problem = additive(24, 6);
    assert!(enumerate(&problem, 300).is_none());
    let data = additive_data(&problem, 60);
    let memory = Memory::default();
    let context = Context::new(&problem, &data, &memory);
    let suggestion =
        Mcbo::paper().suggest(&context, &mut ChaCha8Rng::seed_from_u64(1)).expect("a suggestion");
    let used = suggestion.suggestion.intervention.actions.iter().filter(|a| **a != 0.0).count();
    assert!((1..=6).contains(&used), "{used} actions");
}

#[test]
fn choices_respect_neutral_values_outside_the_range() {
    // A dose of 0 or of 10 to 50: not acting is a choice of its own.
    let problem = Problem::builder("switch")
        .action_with_neutral("dose", [10.0, 50.0], 0.0)
        .action("water", [0.0, 1.0])
        .node("y", |n| n.actions(["dose", "water"]))
        .maximize("y")
        .build()
        .expect("a problem");
    let choices = enumerate(&problem, 10).expect("few");
    let actions: Vec<Vec<usize>> = choices.into_iter().map(|choice| choice.actions).collect();
    assert_eq!(actions, [vec![0, 1], vec![1]]);
}
