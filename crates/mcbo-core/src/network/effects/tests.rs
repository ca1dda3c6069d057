use rand::{RngExt, SeedableRng};
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

/// Values of the actions, and of the nodes.
type Row = (Vec<f64>, Vec<f64>);

/// Layers of three nodes, each read by all of the next, that end in one; with rows of a system that bends a little.
fn layered(layers: usize) -> (Problem, Vec<Row>) {
    let mut builder = Problem::builder("layers").action("a", [-1.0, 1.0]).action("b", [-1.0, 1.0]);
    let name = |layer: usize, place: usize| format!("n{layer}_{place}");
    for layer in 0..layers {
        for place in 0..3 {
            let parents: Vec<String> =
                (0..3).filter(|_| layer > 0).map(|other| name(layer - 1, other)).collect();
            let actions = ["a", "b"].into_iter().enumerate().filter(|&(k, _)| layer == 0 && k == place);
            let actions: Vec<&str> = actions.map(|(_, action)| action).collect();
            builder = builder.node(name(layer, place), |n| {
                n.parents(parents).actions(actions).noise(Noise::Gaussian(0.05))
            });
        }
    }
    let last = (0..3).map(|place| name(layers - 1, place));
    let builder = builder.node("y", |n| n.parents(last).noise(Noise::Gaussian(0.05)));
    let problem = builder.maximize("y").build().expect("a problem");
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    // Every arrow with a weight of its own, from weak to strong.
    let weight = |from: usize, to: usize| 0.15 + 0.3 * ((7 * from + 5 * to) % 5) as f64;
    let rows = (0..40).map(|_| {
        let actions: Vec<f64> = (0..2).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut values: Vec<f64> = Vec::new();
        for layer in 0..=layers {
            let before = values.len().saturating_sub(3);
            for place in 0..if layer == layers { 1 } else { 3 } {
                let parents = (0..3).filter(|_| layer > 0);
                let sum: f64 = parents.map(|k| weight(k, place) * values[before + k]).sum();
                let pushed = if layer == 0 { actions.get(place).copied().unwrap_or(0.0) } else { 0.0 };
                let noise = 0.05 * crate::quasi::normal_quantile(rng.random_range(0.001..0.999));
                values.push(pushed + 0.6 * sum + 0.1 * sum.sin() + noise);
            }
        }
        (actions, values)
    });
    let rows = rows.collect();
    (problem, rows)
}

/// Followed by slopes, arrows come to what they come to when each is followed by itself, and so does the blame.
#[test]
fn slopes_agree_with_following_every_arrow() {
    let (problem, rows) = layered(3);
    let (network, data) = fit(&problem, &rows);
    let about = Intervention { targets: Vec::new(), actions: vec![0.3, -0.2] };
    let exact = network.effects(&problem, &data, &about, 3);
    let sloped = network.effects_within(&problem, &data, &about, 3, 0);
    assert_eq!(exact.actions, sloped.actions);
    assert_eq!((exact.arrows.len(), sloped.arrows.len()), (21, 21));
    let largest = exact.arrows[0].2.effect;
    for (from, to, one) in &exact.arrows {
        let other = sloped.arrows.iter().find(|(f, t, _)| (f, t) == (from, to)).expect("the same arrow").2;
        let apart = (one.effect - other.effect).abs();
        assert!(apart < 0.2 * largest, "{from} {to}: {one:?} {other:?} of {largest}");
        // What is not known makes both as unsure.
        let widths = [one, &other].map(|effect| effect.upper - effect.lower);
        assert!((widths[0] - widths[1]).abs() < 0.3 * largest, "{from} {to}: {one:?} {other:?}");
    }
    let (mut alike, mut pairs) = (0, 0);
    let place = |list: &[(usize, usize, Effect)], arrow: &(usize, usize, Effect)| {
        list.iter().position(|other| (other.0, other.1) == (arrow.0, arrow.1))
    };
    for (k, one) in exact.arrows.iter().enumerate() {
        for other in &exact.arrows[k + 1..] {
            pairs += 1;
            alike += usize::from(place(&sloped.arrows, one) < place(&sloped.arrows, other));
        }
    }
    // Kendall's tau.
    let tau = 2.0 * f64::from(alike as u32) / f64::from(pairs as u32) - 1.0;
    assert!(tau > 0.8, "{tau}");
    for (node, share) in &exact.unknown {
        let other = sloped.unknown.iter().find(|(other, _)| other == node).expect("the same node").1;
        assert!((share - other).abs() < 0.05, "{node}: {share} {other}");
    }
}

/// Where nothing bends behind the node that an arrow points to, slopes are exact; a node that is set hides what acts on it.
#[test]
fn slopes_are_exact_where_nothing_bends_after_it() {
    let problem = Problem::builder("straight")
        .action("a", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).formula("2 * a").noise(Noise::Gaussian(0.1)).hard([0.0, 5.0]))
        .node("z", |n| n.parents(["x"]).formula("x^2").noise(Noise::None))
        .node("y", |n| n.parents(["x", "z"]).formula("3 * x - z").noise(Noise::None))
        .minimize("y")
        .build()
        .expect("a problem");
    let rows: Vec<(Vec<f64>, Vec<f64>)> = (0..21)
        .map(|k| {
            let x = f64::from(k) / 10.0;
            (vec![0.5 * x], vec![x, x * x, 3.0 * x - x * x])
        })
        .collect();
    let (network, data) = fit(&problem, &rows);
    for targets in [vec![], vec![(0, vec![1.0])]] {
        let about = Intervention { targets, actions: vec![0.5] };
        let exact = network.effects(&problem, &data, &about, 3);
        let sloped = network.effects_within(&problem, &data, &about, 3, 0);
        assert_eq!((exact.arrows.len(), sloped.arrows.len()), (3, 3));
        for (from, to, one) in &exact.arrows {
            let found = sloped.arrows.iter().find(|(f, t, _)| (f, t) == (from, to));
            let other = found.expect("the same arrow").2;
            assert!((one.effect - other.effect).abs() < 1e-9, "{from} {to}: {one:?} {other:?}");
            assert!((one.best - other.best).abs() < 1e-9 && (one.worst - other.worst).abs() < 1e-9);
        }
        assert_eq!((exact.unknown, sloped.unknown), (vec![], vec![]));
    }
}

/// A thousand nodes take one way forward and one back, not two thousand: in a development build and on a busy machine seconds.
#[test]
fn large_graphs_take_one_way_forward_and_one_back() {
    let (problem, rows) = layered(100);
    let (network, data) = fit(&problem, &rows[..12]);
    let about = problem.neutral_intervention();
    let begin = std::time::Instant::now();
    let effects = network.effects(&problem, &data, &about, 3);
    let taken = begin.elapsed().as_secs_f64();
    assert_eq!((effects.actions.len(), effects.arrows.len()), (2, 9 * 99 + 3));
    assert!(effects.arrows[0].2.effect > 0.0);
    assert!(taken < 60.0, "{taken} s: following every arrow by itself takes many minutes");
}
