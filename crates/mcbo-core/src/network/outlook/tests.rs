use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::testing::settings;
use crate::{Data, Observation};

/// The 95 % quantile of the normal distribution.
const QUANTILE: f64 = 1.644_853_626_951_472_2;

fn fit(problem: &Problem, rows: &[(f64, f64)]) -> Network {
    let mut data = Data::new();
    for (action, value) in rows {
        let intervention = Intervention { targets: Vec::new(), actions: vec![*action] };
        data.push(problem, Observation { intervention, values: vec![Some(*value)] }).expect("it fits");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    Network::fit(problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit")
}

fn outlook(network: &Network, problem: &Problem, intervention: &Intervention) -> Vec<Outlook> {
    let expected = network.forecast(problem, intervention, 0);
    let (outlooks, undefined) = network.outlook(problem, intervention, &expected);
    assert_eq!(undefined, None);
    // What was given stays to the bit.
    assert!(expected.iter().all(|forecast| outlooks.iter().any(|outlook| outlook.forecast == *forecast)));
    outlooks
}

fn close(found: [f64; 2], exact: [f64; 2], slack: f64) {
    assert!(found.iter().zip(exact).all(|(f, e)| (f - e).abs() < slack), "{found:?} against {exact:?}");
}

/// Everything is known: `x = a + N(0, 0.5²)`, `y = 2 x + N(0, 1²)`, so that a single `y` is `N(2 a, 2)`.
#[test]
fn noise_adds_up_along_the_graph() {
    let problem = Problem::builder("known")
        .action("a", [-2.0, 2.0])
        .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::Gaussian(0.5)))
        .node("y", |n| n.parents(["x"]).formula("2 * x").noise(Noise::Gaussian(1.0)))
        .maximize("y")
        .build()
        .expect("a problem");
    let network = fit(&problem, &[]);
    for a in [0.0, 1.5] {
        let outlooks = outlook(&network, &problem, &Intervention { targets: Vec::new(), actions: vec![a] });
        let reach = [0.5, 2.0_f64.sqrt()].map(|deviation| QUANTILE * deviation);
        close(outlooks[0].outcome, [a - reach[0], a + reach[0]], 0.01);
        close(outlooks[1].outcome, [2.0 * a - reach[1], 2.0 * a + reach[1]], 0.03);
    }
}

/// Noise of another shape, and none.
#[test]
fn ranges_are_those_of_the_noise() {
    let problem = Problem::builder("shapes")
        .action("a", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::Uniform([-1.0, 3.0])))
        .node("y", |n| n.parents(["x"]).actions(["a"]).formula("a + 0 * x").noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let outlooks =
        outlook(&fit(&problem, &[]), &problem, &Intervention { targets: Vec::new(), actions: vec![0.5] });
    close(outlooks[0].outcome, [0.5 - 0.8, 0.5 + 2.8], 0.01);
    assert_eq!(outlooks[1].outcome, [0.5; 2]);
}

/// One learned node: a single outcome scatters by what is not known of the mechanism and by its noise, both normal.
#[test]
fn what_is_not_known_counts_too() {
    let noise = 0.3;
    let problem = Problem::builder("one")
        .action("a", [0.0, 1.0])
        .node("y", |n| n.actions(["a"]).noise(Noise::Gaussian(noise)))
        .maximize("y")
        .build()
        .expect("a problem");
    let rows = [0.0, 0.2, 0.4, 0.9].map(|a: f64| (a, (4.0 * a).sin()));
    let network = fit(&problem, &rows);
    for a in [0.1, 0.65, 1.0] {
        let (mean, deviation) = network.predict(&problem, 0, &[a], 1)[0][0];
        let outlooks = outlook(&network, &problem, &Intervention { targets: Vec::new(), actions: vec![a] });
        let scatter = deviation.hypot(noise);
        assert!(scatter > 1.1 * noise, "both matter: {deviation}");
        let [low, high] = [-1.0, 1.0].map(|sign| mean + sign * QUANTILE * scatter);
        close(outlooks[0].outcome, [low, high], 0.03 * scatter);
    }
}

/// `z` is set, so that `w` and `x = w²` no longer matter to the reward; they are what they are all the same: `E[x] = 4`, and a
/// single `x` is `4 χ²(1)`, below 0.01573 with probability 5 % and below 15.366 with 95 %.
#[test]
fn nodes_above_what_is_set_are_there() {
    let problem = Problem::builder("cut")
        .action("a", [0.0, 1.0])
        .node("w", |n| n.formula("0").noise(Noise::Gaussian(2.0)))
        .node("x", |n| n.parents(["w"]).formula("w^2").noise(Noise::None))
        .node("aside", |n| n.parents(["w"]))
        .node("z", |n| n.parents(["x"]).formula("x").noise(Noise::None).hard([0.0, 10.0]))
        .node("y", |n| n.parents(["z"]).actions(["a"]).formula("z + a").noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let intervention = Intervention { targets: vec![(3, vec![7.0])], actions: vec![0.25] };
    let outlooks = outlook(&fit(&problem, &[]), &problem, &intervention);
    let named: Vec<&str> = outlooks.iter().map(|outlook| outlook.forecast.name.as_str()).collect();
    assert_eq!(named, ["w", "x", "z", "y"], "in the order of causes, without what is not learned");
    assert!((outlooks[1].forecast.mean - 4.0).abs() < 0.05, "{:?}", outlooks[1]);
    close(outlooks[1].outcome, [0.015_73, 15.366], 0.1);
    assert_eq!((outlooks[2].forecast.mean, outlooks[2].outcome), (7.0, [7.0; 2]));
    assert_eq!((outlooks[3].forecast.mean, outlooks[3].outcome), (7.25, [7.25; 2]));
}

/// The square root of a negative number has no value, and neither has what reads it.
#[test]
fn nodes_without_a_value_are_named() {
    let problem = Problem::builder("log")
        .action("a", [-1.0, 1.0])
        .node("x", |n| n.actions(["a"]).formula("a").noise(Noise::None))
        .node("root", |n| n.parents(["x"]).formula("sqrt(x)").noise(Noise::None))
        .node("y", |n| n.parents(["root"]).formula("root + 1").noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let network = fit(&problem, &[]);
    let intervention = Intervention { targets: Vec::new(), actions: vec![-0.25] };
    let (outlooks, undefined) = network.outlook(&problem, &intervention, &[]);
    assert_eq!(outlooks.len(), 1);
    assert_eq!(undefined, Some(ModelWarning::Undefined { node: "root".into() }));
}

/// Six nodes, some of whose mechanisms bend, and so many rows.
fn six(rows: usize, noise: f64) -> (Problem, Network) {
    let problem = Problem::builder("six")
        .action("a", [0.0, 10.0])
        .action("b", [0.0, 10.0])
        .node("root", |n| n)
        .node("p", |n| n.parents(["root"]).actions(["a"]).hard([0.0, 5.0]))
        .node("q", |n| n.parents(["p"]))
        .node("r", |n| n.parents(["p"]).actions(["b"]))
        .node("s", |n| n.parents(["q", "r"]))
        .node("y", |n| n.parents(["q", "r", "s"]))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut data = Data::new();
    for _ in 0..rows {
        let actions: Vec<f64> = (0..2).map(|_| 10.0 * rng.random::<f64>()).collect();
        let mut chance = || {
            let z: f64 = StandardNormal.sample(&mut rng);
            noise * z
        };
        let root = 5.0 + 2.0 * chance();
        let p = (0.6 * actions[0]).sin() * 3.0 + 0.4 * root + chance();
        let q = 0.3 * p * p - p + 2.0 * chance();
        let r = p * (1.0 + 0.2 * actions[1]) + chance();
        let s = 3.0 * (0.3 * q).tanh() + 0.5 * r + chance();
        let y = 0.5 * q - 0.1 * (r - 4.0).powi(2) + s + chance();
        let values = [root, p, q, r, s, y].map(Some).to_vec();
        let intervention = Intervention { targets: Vec::new(), actions };
        data.push(&problem, Observation { intervention, values }).expect("it fits");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let settings = crate::ModelSettings::default();
    let network = Network::fit(&problem, &data, &Default::default(), &settings, &mut rng).expect("a fit");
    (problem, network)
}

/// Actions all over their ranges; every fifth sets a node too.
fn interventions(count: usize) -> Vec<Intervention> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut one = |k: usize| {
        let actions = (0..2).map(|_| 10.0 * rng.random::<f64>()).collect();
        let targets = if k % 5 == 4 { vec![(1, vec![5.0 * rng.random::<f64>()])] } else { Vec::new() };
        Intervention { targets, actions }
    };
    (0..count).map(&mut one).collect()
}

fn all_of(network: &Network, problem: &Problem, interventions: &[Intervention]) -> Vec<Vec<Outlook>> {
    let pairs: Vec<(&Intervention, &[Forecast])> =
        interventions.iter().map(|doing| (doing, &[][..])).collect();
    network.outlooks(problem, &pairs).into_iter().map(|(outlooks, _)| outlooks).collect()
}

/// What is to be found, by brute force: every mechanism shifted as a whole, noise added, one outcome after the other with random
/// numbers of its own. Means, the deviation of the expectation, and the ends of outcomes, by node.
fn by_brute_force(network: &Network, problem: &Problem, doing: &Intervention) -> Vec<(f64, f64, [f64; 2])> {
    const DRAWS: usize = 300;
    const NOISE: usize = 200;
    let nodes = problem.nodes().len();
    let mut rng = ChaCha8Rng::seed_from_u64(99);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    // The same noise in every draw of the mechanisms, as in [`Forecast`], but enough of it.
    let noise: Vec<Vec<f64>> = (0..nodes).map(|_| (0..NOISE).map(|_| normal()).collect()).collect();
    let shifts: Vec<Vec<f64>> = (0..nodes).map(|_| (0..DRAWS).map(|_| normal()).collect()).collect();
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); nodes];
    let mut found = Vec::new();
    for &node in problem.graph().order() {
        let declared = &problem.nodes()[node];
        let all = DRAWS * NOISE;
        if let Some(set) = doing.target(node) {
            values[node] = vec![set[0]; all];
            found.push((set[0], 0.0, [set[0]; 2]));
            continue;
        }
        let mut inputs = Vec::new();
        for k in 0..all {
            inputs.extend(declared.parents.iter().map(|&parent| values[parent][k]));
            inputs.extend(declared.actions.iter().map(|&action| doing.actions[action]));
        }
        let at = network.predict(problem, node, &inputs, all).remove(0);
        let scatter = network.noise(node)[0].deviation();
        let shifted =
            |(k, (mean, deviation)): (usize, &(f64, f64))| mean + deviation * shifts[node][k / NOISE];
        let before: Vec<f64> = at.iter().enumerate().map(shifted).collect();
        let expected: Vec<f64> =
            before.chunks_exact(NOISE).map(|draw| draw.iter().sum::<f64>() / NOISE as f64).collect();
        let mean = expected.iter().sum::<f64>() / DRAWS as f64;
        let deviation =
            (expected.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64).sqrt();
        values[node] = before.iter().enumerate().map(|(k, f)| f + scatter * noise[node][k % NOISE]).collect();
        let mut sorted = values[node].clone();
        sorted.sort_by(f64::total_cmp);
        found.push((mean, deviation, ENDS.map(|end| sorted[(end * all as f64) as usize])));
    }
    found
}

/// Hundreds at once are what brute force says of each, as closely as is promised, and what they are one at a time. With few rows
/// nearly everything is in doubt, with many nearly nothing.
#[test]
fn many_at_once_are_what_brute_force_says() {
    let outlooks_of_one = |network: &Network, problem: &Problem, doing: &Intervention| {
        network.outlook(problem, doing, &network.forecast(problem, doing, 0)).0
    };
    for (rows, noise) in [(40, 0.5), (150, 0.1)] {
        let (problem, network) = six(rows, noise);
        let some = interventions(100);
        let many = all_of(&network, &problem, &some);
        for (doing, found) in some.iter().zip(&many).take(6) {
            let exact = by_brute_force(&network, &problem, doing);
            let one = outlooks_of_one(&network, &problem, doing);
            for (node, (mean, doubt, ends)) in exact.into_iter().enumerate() {
                let scatter = (ends[1] - ends[0]) / (2.0 * QUANTILE);
                // What brute force itself is off by: 200 realisations of the noise, and 300 draws of what is in doubt.
                let own = scatter / 200.0_f64.sqrt() + doubt / 300.0_f64.sqrt();
                for (found, bound, end) in [(&found[node], 0.35, 0.2), (&one[node], 0.35, 0.05)] {
                    let Outlook { forecast: Forecast { mean: m, lower, upper, .. }, outcome, .. } = found;
                    let told = format!("{rows} rows, {doing:?}: {found:?} {mean} {doubt} {ends:?}");
                    assert!((m - mean).abs() <= 0.05 * doubt + 2.5 * own, "mean of {told}");
                    let width = (upper - lower) / (2.0 * QUANTILE);
                    assert!((width - doubt).abs() <= bound * doubt + 0.15 * doubt, "bounds of {told}");
                    for (o, e) in outcome.iter().zip(ends) {
                        assert!((o - e).abs() <= end * scatter + 3.0 * own, "ends of {told}");
                    }
                }
                let (all, one) = (&found[node].forecast, &one[node].forecast);
                assert!((all.mean - one.mean).abs() <= 0.05 * doubt + 1e-9, "one and many: {all:?} {one:?}");
            }
        }
    }
}

/// Whatever they are asked together with, and on however many threads.
#[test]
fn each_is_the_same_in_whatever_company() {
    let (problem, network) = six(40, 0.5);
    let some = interventions(90);
    let whole = all_of(&network, &problem, &some);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    assert_eq!(pool.install(|| all_of(&network, &problem, &some)), whole);
    for (from, to) in [(0, 20), (7, 41), (60, 90)] {
        let part = all_of(&network, &problem, &some[from..to]);
        for (one, other) in part.iter().flatten().zip(whole[from..to].iter().flatten()) {
            assert_eq!(one.forecast.name, other.forecast.name);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
            assert!(close(one.forecast.mean, other.forecast.mean) && close(one.outcome[1], other.outcome[1]));
        }
    }
    assert!(all_of(&network, &problem, &[]).is_empty());
    // A node that is set is what it is set to, and what is above it goes its own way.
    let set = &whole[4];
    assert_eq!(
        (set[1].forecast.mean, set[1].outcome),
        (some[4].targets[0].1[0], [some[4].targets[0].1[0]; 2])
    );
    assert!(set[0].outcome[1] > set[0].outcome[0]);
}

/// A search over many rows is one over few of them: what it sees is nearly all there is, and what it finds is as good.
#[test]
fn searches_see_few_rows_of_many() {
    let problem = Problem::builder("many")
        .action("a", [0.0, 1.0])
        .action("b", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::Gaussian(0.1)))
        .node("y", |n| n.parents(["x"]).actions(["b"]).noise(Noise::Gaussian(0.2)))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut data = Data::new();
    let mut draws = |rows: usize, rng: &mut ChaCha8Rng| {
        for _ in 0..rows {
            let (a, b): (f64, f64) = (rng.random(), rng.random());
            let mut noise = || -> f64 { StandardNormal.sample(rng) };
            let x = (4.0 * a).sin() + 0.1 * noise();
            let y = x * b - b * b + 0.2 * noise();
            let intervention = Intervention { targets: Vec::new(), actions: vec![a, b] };
            data.push(&problem, Observation { intervention, values: vec![Some(x), Some(y)] })
                .expect("it fits");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit")
    };
    let few = draws(60, &mut rng);
    assert!(matches!(few.for_searching(), Cow::Borrowed(_)));
    let many = draws(300, &mut rng);
    let quick = many.for_searching();
    let rows = |network: &Network| -> usize {
        let groups = network.nodes.iter().flatten().flat_map(NodeModel::groups);
        groups.map(|group| group.set.members()[0].1.rows().len()).sum()
    };
    assert!(matches!(quick, Cow::Owned(_)) && 2 * rows(&quick) < rows(&many), "{}", rows(&quick));
    for _ in 0..20 {
        let intervention = Intervention { targets: Vec::new(), actions: vec![rng.random(), rng.random()] };
        let [exact, found] = [&many, &*quick].map(|network| network.forecast(&problem, &intervention, 3));
        for (exact, found) in exact.iter().zip(&found) {
            let width = exact.upper - exact.lower;
            for (exact, found) in
                [(exact.mean, found.mean), (exact.lower, found.lower), (exact.upper, found.upper)]
            {
                assert!((exact - found).abs() < 0.02 * width, "{exact} {found} {width}");
            }
        }
    }
}
