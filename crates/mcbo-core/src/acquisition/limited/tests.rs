use std::f64::consts::TAU;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::SharedOptimism;
use super::odds::log_normal;
use super::*;
use crate::testing::{check_gradients, settings};
use crate::{Data, Intervention, ModelSettings, Noise, Observation};

/// `y(x, z, b)` is maximised; `z(x, b)` on the way, a vector `s(x, a)` beside it, and `x` that can be set have limits.
fn system(noise: Noise) -> (Problem, Data) {
    let problem = Problem::builder("limits")
        .action("a", [0.0, 1.0])
        .action("b", [-1.0, 1.0])
        .node("x", |n| n.actions(["a"]).noise(noise).hard([0.0, 2.0]).limit(Limit::below(1.2, 0.8)))
        .node("z", |n| n.parents(["x"]).actions(["b"]).noise(noise).limit(Limit::above(0.3, 0.9)))
        .node("s", |n| {
            n.dim(2).parents(["x"]).actions(["a"]).noise(noise).limit(Limit::between([-0.1, 0.5], 0.95))
        })
        .node("y", |n| n.parents(["x", "z"]).noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut data = Data::new();
    for i in 0..9 {
        let (a, b) = (0.125 * f64::from(i), (1.3 * f64::from(i)).sin());
        let x = 1.5 * (2.0 * a).sin();
        let (z, s) = (x * b, [a + 0.3 * x, 0.5 * x]);
        let values = [x, z, s[0], s[1], x + z * z].map(Some).to_vec();
        let intervention = Intervention { targets: vec![], actions: vec![a, b] };
        data.push(&problem, Observation { intervention, values }).expect("a good observation");
    }
    (problem, data)
}

#[test]
fn prices_have_the_right_gradients() {
    let several = mcbo_gp::Inference::Samples(mcbo_gp::Sampling { count: 6, moves: 2, burn_in: 5 });
    let models = [
        (Noise::None, settings()),
        (Noise::Gaussian(0.15), settings()),
        // Members that differ in what they say of the noise too.
        (Noise::Learn, ModelSettings { inference: several, ..settings() }),
    ];
    for (noise, settings) in models {
        let (problem, data) = system(noise);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network = Network::fit(&problem, &data, &Default::default(), &settings, &mut rng).expect("a fit");
        for choice in problem.choices().expect("few choices") {
            for counting in [Counting::Cautious, Counting::Plausible] {
                let inner = Box::new(SharedOptimism::new(&problem, &network, choice, 0.7, 4, 3));
                let price = Price { weight: 0.6, margin: 0.1, counting };
                let toll = Toll::new(&problem, &network, choice, price, FINE, 3);
                let limited = Limited::new(inner, toll);
                assert_eq!(limited.toll.limits.len(), 3);
                check_gradients(&limited, 3);
            }
        }
    }
}

/// The probability of a window is the difference of two, by an independent sum, and its logarithm lives on where it has none.
#[test]
fn windows_are_kept_between_their_ends() {
    let (limit, deviation) = (Limit::between([-0.4, 0.8], 0.9), 0.5);
    for value in [-1.5, -0.4, 0.0, 0.2, 0.5, 0.8, 2.0] {
        let step = 1.2 / 20_000.0;
        let density = |x: f64| (-0.5 * ((x - value) / deviation).powi(2)).exp() / (TAU.sqrt() * deviation);
        let sum = (0..20_000).map(|i| density(-0.4 + (f64::from(i) + 0.5) * step) * step).sum::<f64>();
        let (log, slope) = log_kept(limit, value, deviation);
        assert!((log.exp() - sum).abs() < 1e-8, "{value}: {} {sum}", log.exp());
        let near = |shift: f64| log_kept(limit, value + shift, deviation).0;
        let difference = (near(1e-6) - near(-1e-6)) / 2e-6;
        assert!((slope - difference).abs() < 1e-6 * (1.0 + slope.abs()), "{value}: {slope} {difference}");
    }
    // Far away on either side it is as far as the nearer end, and leads back.
    for (value, one) in [(-60.0, Limit::above(-0.4, 0.9)), (60.0, Limit::below(0.8, 0.9))] {
        let ((log, slope), (of_one, slope_of_one)) =
            (log_kept(limit, value, deviation), log_kept(one, value, deviation));
        assert!((log - of_one).abs() < 1e-9 * of_one.abs(), "{value}: {log} {of_one}");
        assert!((slope - slope_of_one).abs() < 1e-6 * slope.abs() && slope * value < 0.0);
    }
}

/// Where a name that has causes is above what is limited, realisations have weights, and these have slopes.
#[test]
fn prices_below_names_have_the_right_gradients() {
    let problem = Problem::builder("named limits")
        .action("a", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::Gaussian(0.1)))
        .node("kind", |n| n.parents(["x"]).actions(["a"]).choices(["p", "q", "r"]))
        .node("z", |n| n.parents(["kind", "x"]).noise(Noise::Gaussian(0.2)).limit(Limit::below(0.5, 0.8)))
        .node("y", |n| n.parents(["x"]).noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut data = Data::new();
    for i in 0..24 {
        let a = f64::from(i) / 23.0;
        let (x, kind) = (2.0 * a, f64::from((i * 7 % 5 + i / 4) % 3));
        let values = [x, kind, x - kind, x * x].map(Some).to_vec();
        let intervention = Intervention { targets: vec![], actions: vec![a] };
        data.push(&problem, Observation { intervention, values }).expect("a good observation");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let network = Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
    let choice = Choice { targets: vec![], actions: vec![0] };
    for counting in [Counting::Cautious, Counting::Plausible] {
        let inner = Box::new(SharedOptimism::new(&problem, &network, &choice, 0.7, 4, 3));
        let price = Price { weight: 0.6, margin: 0.1, counting };
        let toll = Toll::new(&problem, &network, &choice, price, FINE, 3);
        assert!(!toll.plan.steps.iter().all(|step| step.named.is_empty()));
        check_gradients(&Limited::new(inner, toll), 3);
    }
}

/// The probability that the price goes by is the one that is counted exactly.
#[test]
fn prices_go_by_the_probability() {
    let (problem, data) = system(Noise::Gaussian(0.15));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let network = Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
    let choice = Choice { targets: vec![], actions: vec![0, 1] };
    let inner = || Box::new(SharedOptimism::new(&problem, &network, &choice, 0.7, 4, 3));
    let price = Price { weight: 1.0, margin: 0.1, counting: Counting::Plausible };
    let limited = Limited::new(inner(), Toll::new(&problem, &network, &choice, price, FINE, 3));
    let mut paid = 0;
    for (a, b) in [(0.25, 1.0), (0.3, 1.0), (0.35, 0.9), (0.6, 0.8), (0.9, 0.2)] {
        let mut point = vec![a, b];
        point.resize(limited.plan().dim(), 0.0);
        let (mut workspace, mut with, mut without) = (Workspace::default(), Vec::new(), Vec::new());
        limited.evaluate(&point, &mut workspace, &mut with, &mut []);
        limited.inner.evaluate(&point, &mut workspace, &mut without, &mut []);
        let intervention = limited.space().intervention(&problem, &point);
        let odds = |p: f64| (p / (1.0 - p)).ln();
        let exact: f64 = network
            .keeping(&problem, &intervention)
            .iter()
            .map(|k| hinge(odds(k.wanted) + 0.1 - odds(k.plausible.clamp(1e-9, 1.0 - 1e-9))).0)
            .sum();
        let found = without[0] - with[0];
        // Few draws against many: probabilities far out differ by a part of themselves.
        assert!((found - exact).abs() < 0.3 + 0.35 * exact, "{a} {b}: {found} {exact}");
        paid += usize::from(found > 0.5);
    }
    assert!(paid >= 1, "some break the limits");
}

#[test]
fn logarithms_of_the_normal_distribution() {
    // From Python's math.erfc: log(erfc(-z/√2)/2), and the density divided by that.
    for (z, log, ratio) in [
        (-20.0, -203.917_155_371_097_24, 20.049_753_068_527_14),
        (-3.5, -8.366_065_308_344_092, 3.751_391_264_857_7),
        (-2.999_999, -6.607_722_938_412_158_5, 3.283_097_725_489_639),
        (0.0, -std::f64::consts::LN_2, 0.797_884_560_802_865_4),
        (2.0, -0.023_012_909_328_963_49, 0.055_247_862_678_989_97),
    ] {
        let found = log_normal(z);
        assert!(
            (found.0 / log - 1.0).abs() < 1e-12 && (found.1 / ratio - 1.0).abs() < 1e-12,
            "{z}: {found:?}"
        );
    }
    // Continuous where the formula changes.
    let (one, other) = (log_normal(-3.0 + 1e-9), log_normal(-3.0 - 1e-9));
    assert!((one.0 - other.0).abs() < 1e-7 && (one.1 - other.1).abs() < 1e-7);
}
