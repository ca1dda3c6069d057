use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::testing::settings;
use crate::{Noise, Observation};

fn fit(problem: &Problem, rows: &[(Vec<f64>, Vec<f64>)]) -> (Network, Data) {
    let mut data = Data::new();
    for (actions, values) in rows {
        let intervention = Intervention { targets: Vec::new(), actions: actions.clone() };
        let values = values.iter().map(|value| Some(*value)).collect();
        data.push(problem, Observation { intervention, values }).expect("it fits");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (Network::fit(problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit"), data)
}

/// `x = 2 a`, `z = b²`, `y = 3 x - z + a`: everything is known, so that effects are what can be computed by hand.
#[test]
fn effects_of_known_formulas_are_exact() {
    let problem = Problem::builder("known")
        .action("a", [0.0, 1.0])
        .action("b", [-1.0, 2.0])
        .action("idle", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).formula("2 * a").noise(Noise::Gaussian(0.1)).hard([0.0, 5.0]))
        .node("z", |n| n.actions(["b"]).formula("b^2").noise(Noise::None))
        .node("y", |n| {
            n.parents(["x", "z"]).actions(["a", "idle"]).formula("3 * x - z + a").noise(Noise::None)
        })
        .minimize("y")
        .build()
        .expect("a problem");
    let rows: Vec<(Vec<f64>, Vec<f64>)> = (0..21)
        .map(|k| {
            let (a, b) = (f64::from(k) / 20.0, -1.0 + 3.0 * f64::from(k) / 20.0);
            (vec![a, b, 0.5], vec![2.0 * a, b * b, 7.0 * a - b * b])
        })
        .collect();
    let (network, data) = fit(&problem, &rows);
    let about = Intervention { targets: Vec::new(), actions: vec![0.5, 0.0, 0.5] };
    let effects = network.effects(&problem, &data, &about, 3);
    let of = |name: &str| effects.actions.iter().find(|(other, _)| other == name).expect("it is there").1;
    let close = |effect: Effect, exact: f64, best: f64, worst: f64| {
        for value in [effect.effect, effect.lower, effect.upper] {
            assert!((value - exact).abs() < 1e-9, "{effect:?} {exact}");
        }
        assert!((effect.best - best).abs() < 1e-9 && (effect.worst - worst).abs() < 1e-9, "{effect:?}");
    };
    // The reward is -y: small is good.
    close(of("a"), 7.0, 0.0, 1.0);
    close(of("b"), 4.0, 2.0, 0.0);
    close(of("do(x)"), 15.0, 0.0, 5.0);
    assert_eq!(of("idle").effect, 0.0);
    let names: Vec<&str> = effects.actions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["do(x)", "a", "b", "idle"]);
    // Arrows: x was seen from 0 to 2, of which the middle nine tenths count, and z from 0 to 4.
    let arrow =
        |from: usize| effects.arrows.iter().find(|(f, t, _)| (*f, *t) == (from, 2)).expect("an arrow").2;
    close(arrow(0), 3.0 * 1.8, 0.1, 1.9);
    let mut z: Vec<f64> = rows.iter().map(|(_, values)| values[1]).collect();
    z.sort_by(f64::total_cmp);
    close(arrow(1), z[19] - z[1], z[19], z[1]);
    assert_eq!(effects.unknown, [], "nothing is unknown");
    // Where x is set, what acts on it does nothing through it.
    let set = Intervention { targets: vec![(0, vec![1.0])], ..about };
    let effects = network.effects(&problem, &data, &set, 3);
    let a = effects.actions.iter().find(|(name, _)| name == "a").expect("it is there").1;
    close(a, 1.0, 0.0, 1.0);
}

/// `y = a + w` where `w` is hardly known and `x`, which only noise makes, is known well: the blame lies with who is unknown.
#[test]
fn the_blame_lies_where_little_is_known() {
    let problem = Problem::builder("blame")
        .action("a", [0.0, 1.0])
        .action("b", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::Gaussian(0.01)))
        .node("w", |n| n.actions(["b"]).noise(Noise::Gaussian(0.01)))
        .node("y", |n| n.parents(["x", "w"]).formula("x + w").noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    // b was hardly moved.
    let rows: Vec<(Vec<f64>, Vec<f64>)> = (0..12)
        .map(|k| {
            let (a, b) = (f64::from(k) / 11.0, 0.02 * f64::from(k % 3));
            let (x, w) = (a.sin(), (3.0 * b).sin());
            (vec![a, b], vec![x, w, x + w])
        })
        .collect();
    let (network, data) = fit(&problem, &rows);
    let about = Intervention { targets: Vec::new(), actions: vec![0.5, 0.9] };
    let effects = network.effects(&problem, &data, &about, 3);
    assert_eq!(effects.unknown.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [1, 0]);
    assert!(effects.unknown[0].1 > 0.95, "{:?}", effects.unknown);
    assert!((effects.unknown.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
    let of = |name: &str| effects.actions.iter().find(|(other, _)| other == name).expect("it is there").1;
    assert!((of("a").effect - 1.0_f64.sin()).abs() < 0.05, "{:?}", of("a"));
    assert_eq!(network.effects(&problem, &data, &about, 3), effects, "the same to the bit");
    // One process reverts to what was seen of w; over all forms that may be right the bounds are wide, and hold the effect that it
    // really has: sin(3 b) goes up to 1.
    let (settings, mut rng) = (crate::ModelSettings::default(), ChaCha8Rng::seed_from_u64(1));
    let network = Network::fit(&problem, &data, &Default::default(), &settings, &mut rng).expect("a fit");
    let effects = network.effects(&problem, &data, &about, 3);
    let of = |name: &str| effects.actions.iter().find(|(other, _)| other == name).expect("it is there").1;
    let width = |effect: Effect| effect.upper - effect.lower;
    assert!(width(of("b")) > 5.0 * width(of("a")), "{:?} {:?}", of("b"), of("a"));
    assert!((of("b").lower..of("b").upper).contains(&1.0), "{:?}", of("b"));
}
