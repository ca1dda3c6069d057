//! What a node's model is made from: scales, noise, rows and warnings, by hand.

use rand::SeedableRng;

use super::*;
use crate::network::Network;
use crate::testing::settings;
use crate::{Intervention, ModelMemory, Observation};

fn problem(noise: Noise) -> Problem {
    Problem::builder("p")
        .action("a", [10.0, 30.0])
        .node("root", |n| n.range([-5.0, 5.0]).noise(noise))
        .node("x", |n| n.parents(["root"]).actions(["a"]).hard([0.0, 8.0]).noise(noise))
        .node("free", |n| n.parents(["x"]).noise(noise))
        .node("y", |n| n.parents(["x", "free"]).noise(noise))
        .maximize("y")
        .build()
        .expect("a problem")
}

/// Five trials; in the last one x is set.
fn data(problem: &Problem) -> Data {
    let mut data = Data::new();
    for (trial, a) in [10.0, 15.0, 20.0, 25.0, 30.0].into_iter().enumerate() {
        let t = trial as f64;
        let targets = if trial == 4 { vec![(1, vec![7.0])] } else { Vec::new() };
        let x = if trial == 4 { 7.0 } else { 1.0 + t };
        let values = vec![Some(t - 2.0), Some(x), Some(100.0 + 20.0 * t), Some(t * t)];
        let intervention = Intervention { targets, actions: vec![a] };
        data.push(problem, Observation { intervention, values }).expect("it fits");
    }
    data
}

fn fit(problem: &Problem, data: &Data, settings: &ModelSettings) -> Network {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    Network::fit(problem, data, &ModelMemory::default(), settings, &mut rng).expect("a fit")
}

fn model(network: &Network, node: usize) -> &NodeModel {
    network.nodes[node].as_ref().expect("it matters to the reward")
}

#[test]
fn inputs_are_scaled_by_what_is_declared_or_seen() {
    let problem = problem(Noise::None);
    let data = data(&problem);
    let affine = |shift: f64, scale: f64| Scaling::from(Affine { shift, scale });
    let declared = fit(&problem, &data, &settings());
    // root by its range, a by its own; x by where it may be set; free has no range and is scaled by what was seen.
    assert_eq!(model(&declared, 1).inputs, [affine(-5.0, 10.0), affine(10.0, 20.0)]);
    assert_eq!(model(&declared, 3).inputs, [affine(0.0, 8.0), affine(100.0, 80.0)]);
    let seen = fit(&problem, &data, &ModelSettings { scaling: ParentScaling::MinMax, ..settings() });
    // The trial in which x was set is no row of x: root went from -2 to 1 in the others.
    assert_eq!(model(&seen, 1).inputs, [affine(-2.0, 3.0), affine(10.0, 20.0)]);
    assert_eq!(model(&seen, 3).inputs, [affine(1.0, 6.0), affine(100.0, 80.0)]);
}

#[test]
fn outputs_are_standardised_by_the_rows_that_count() {
    let problem = problem(Noise::None);
    let network = fit(&problem, &data(&problem), &settings());
    // Of x, which was measured as 1, 2, 3 and 4: variance 5/3.
    let x = model(&network, 1);
    assert_eq!((x.outputs[0].shift, x.groups()[0].rows), (2.5, 4));
    assert!((x.outputs[0].scale - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    // Of y, with all five: 0, 1, 4, 9 and 16.
    let y = model(&network, 3);
    assert_eq!((y.outputs[0].shift, y.groups()[0].rows), (6.0, 5));
    assert!((y.outputs[0].scale - 43.5_f64.sqrt()).abs() < 1e-14);
}

#[test]
fn declared_noise_is_kept_without_its_mean() {
    let at = |noise: Noise| {
        let problem = problem(noise);
        let network = fit(&problem, &data(&problem), &settings());
        let group = &model(&network, 1).groups()[0];
        (model(&network, 1).noise[0], group.row_noise[0])
    };
    let scale = (5.0_f64 / 3.0).sqrt();
    assert_eq!(at(Noise::None), (Noise::None, settings().noise_floor));
    let (noise, variance) = at(Noise::Gaussian(0.5));
    assert_eq!(noise, Noise::Gaussian(0.5));
    assert!((variance - (0.5 / scale).powi(2)).abs() < 1e-15);
    let (noise, variance) = at(Noise::Uniform([1.0, 4.0]));
    assert_eq!(noise, Noise::Uniform([-1.5, 1.5]));
    assert!((variance - (3.0 / scale).powi(2) / 12.0).abs() < 1e-15);
    let (noise, _) = at(Noise::Learn);
    assert!(matches!(noise, Noise::Gaussian(deviation) if deviation > 0.0), "{noise:?}");
}

/// The noise of a known formula is learned from what its values miss it by.
#[test]
fn formulas_learn_their_noise_from_residuals() {
    let problem = Problem::builder("p")
        .action("a", [-1.0, 1.0])
        .node("x", |n| n.actions(["a"]).formula("2 * a"))
        .node("y", |n| n.parents(["x"]).formula("sqrt(x)"))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut data = Data::new();
    for (a, off) in [(0.5, 0.3), (0.25, -0.4), (-0.5, 0.5)] {
        let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
        // The last x is negative: its root says nothing of the noise.
        let x: f64 = 2.0 * a + off;
        let y = if x > 0.0 { x.sqrt() + 0.1 } else { 3.0 };
        data.push(&problem, Observation { intervention, values: vec![Some(x), Some(y)] }).expect("it fits");
    }
    let network = fit(&problem, &data, &settings());
    let deviation = |node: usize| model(&network, node).noise[0].deviation();
    assert!((deviation(0) - (0.5_f64 / 3.0).sqrt()).abs() < 1e-15, "{}", deviation(0));
    assert!((deviation(1) - 0.1).abs() < 1e-15, "{}", deviation(1));
    assert!(model(&network, 0).groups().is_empty());
}

#[test]
fn what_cannot_be_learned_is_said() {
    let problem = problem(Noise::None);
    let mut data = Data::new();
    for trial in 0..3 {
        let intervention = Intervention { targets: Vec::new(), actions: vec![10.0 + f64::from(trial)] };
        let values = vec![Some(1.0), Some(f64::from(trial)), None, Some(f64::from(trial))];
        data.push(&problem, Observation { intervention, values }).expect("it fits");
    }
    let network = fit(&problem, &data, &settings());
    let constant = ModelWarning::Constant { node: "root".into(), rows: 3, value: 1.0 };
    let none = |node: &str| ModelWarning::NoRows { node: node.into() };
    // Without values of free there is no row of y either.
    assert_eq!(network.warnings(), [constant, none("free"), none("y")]);
}

/// One value of a parent without a range says nothing of its scale but its size: with a scale of 1 another value could lie hundreds
/// of scales away, where straight lines reach anything.
#[test]
fn a_parent_with_one_value_is_scaled_by_its_size() {
    let problem = problem(Noise::None);
    let mut one = Data::new();
    one.push(&problem, data(&problem).observations()[3].clone()).expect("it fits");
    let network = fit(&problem, &one, &settings());
    assert_eq!(model(&network, 3).inputs[1], Scaling::from(Affine { shift: 160.0, scale: 160.0 }));
    let paper = fit(&problem, &one, &ModelSettings { scaling: ParentScaling::MinMax, ..settings() });
    assert_eq!(model(&paper, 3).inputs[1], Scaling::from(Affine { shift: 160.0, scale: 1.0 }));
}

/// Data of one node with `values(a)` at `count` places of an action in [0, 1].
fn of_action(problem: &Problem, count: usize, values: impl Fn(f64) -> Vec<f64>) -> Data {
    let mut data = Data::new();
    for k in 0..count {
        let a = k as f64 / (count - 1) as f64;
        let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
        let values = values(a).into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("it fits");
    }
    data
}

/// Exact values of a smooth mechanism are followed far below a thousandth of their deviation, which is where they were held before;
/// a scatter that no smooth curve follows is not explained away. Either way it is no noise that outcomes would have.
#[test]
fn exact_values_are_followed_as_far_as_the_form_can() {
    let problem = Problem::builder("exact")
        .action("a", [0.0, 1.0])
        .node("y", |n| n.actions(["a"]).noise(Noise::None).kernel("se"))
        .maximize("y")
        .build()
        .expect("a problem");
    let misfit = |values: &dyn Fn(f64) -> f64| {
        let network = fit(&problem, &of_action(&problem, 21, |a| vec![values(a)]), &ModelSettings::default());
        let y = model(&network, 0);
        assert_eq!(y.noise, [Noise::None]);
        y.groups()[0].set.noise_variance()
    };
    let smooth = misfit(&|a| (3.0 * a).sin());
    assert!((1e-10..1e-7).contains(&smooth), "{smooth}");
    let rough = misfit(&|a| (3.0 * a).sin() + 1e-3 * (1e4 * a * a).sin());
    assert!((1e-7..1e-4).contains(&rough), "{rough}");
    let paper = fit(&problem, &of_action(&problem, 21, |a| vec![a * a]), &ModelSettings::paper());
    assert_eq!(model(&paper, 0).groups()[0].set.noise_variance(), 1e-6);
}

/// Components that are learned together have one form, weighed on the rows of both: two straight lines are told from two waves, and
/// what one component shows counts for the other.
#[test]
fn forms_of_coregionalised_components_are_weighed_together() {
    let problem = Problem::builder("pair")
        .action("a", [0.0, 1.0])
        .node("v", |n| {
            n.actions(["a"]).dim(2).components(Components::Coregionalised).noise(Noise::Gaussian(0.02))
        })
        .node("y", |n| n.parents(["v"]).formula("v[0] + v[1]").noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let form = |value: &dyn Fn(f64) -> [f64; 2]| {
        let jitter = |a: f64, k: f64| 0.02 * (997.0 * a + k).sin();
        let values = |a: f64| {
            let [first, second] = value(a);
            vec![first + jitter(a, 0.0), second + jitter(a, 2.0), first + second]
        };
        let network = fit(&problem, &of_action(&problem, 24, values), &ModelSettings::default());
        let groups = model(&network, 0).groups();
        assert_eq!((groups.len(), groups[0].set.components()), (1, 2));
        assert!(groups[0].set.members().iter().all(|(_, gp)| gp.spec().components == 2));
        let said = [0, 1].map(|component| network.form(&problem, 0, component).expect("it is learned"));
        assert_eq!(said[0], said[1]);
        said[0].clone()
    };
    let lines = form(&|a| [2.0 * a, 1.0 - a]);
    assert!(lines.starts_with("a straight line in a"), "{lines}");
    let waves = form(&|a| [(25.0 * a).sin(), (25.0 * a).cos()]);
    assert!(!waves.contains("straight"), "{waves}");
}
