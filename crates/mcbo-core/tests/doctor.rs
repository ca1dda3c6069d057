//! What the data say against a graph: they name what is missing and what is wrong, and hardly ever anything else. How often on
//! random models is measured by `cargo run --release -p mcbo-bench --example doctor`.

use mcbo_core::{
    Data, Doubt, Intervention, ModelMemory, ModelSettings, Network, Noise, Observation, Problem,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

const SEEDS: u64 = 6;

fn normal(rng: &mut dyn Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The graph as it is, or without the arrow from x to y, or with a formula for z.
fn problem(arrow: bool, formula: Option<&str>) -> Problem {
    let parents: &[&str] = if arrow { &["x", "z"] } else { &["z"] };
    Problem::builder("p")
        .action("a", [0.0, 1.0])
        .action("b", [0.0, 1.0])
        .node("root", |n| n)
        .node("x", |n| n.parents(["root"]).actions(["a"]))
        .node("z", |n| {
            let n = n.parents(["x"]).actions(["b"]).noise(Noise::Learn);
            match formula {
                Some(text) => n.formula(text),
                None => n,
            }
        })
        .node("y", |n| n.parents(parents.iter().copied()))
        .maximize("y")
        .build()
        .expect("a problem")
}

/// 60 rows of the process; the noise of z may grow with b.
fn doubts(problem: &Problem, seed: u64, uneven: f64) -> Vec<Doubt> {
    let (mut data, mut rng) = (Data::new(), ChaCha8Rng::seed_from_u64(seed));
    for _ in 0..60 {
        let (a, b) = (rng.random::<f64>(), rng.random::<f64>());
        let root = normal(&mut rng);
        let x = 2.0 * (3.0 * a).sin() + 0.7 * root + 0.2 * normal(&mut rng);
        let z = 1.5 * x - 2.0 * b + (0.2 + uneven * b) * normal(&mut rng);
        let y = z - x * x + 0.3 * normal(&mut rng);
        let intervention = Intervention { targets: Vec::new(), actions: vec![a, b] };
        let values = [root, x, z, y].map(Some).to_vec();
        data.push(problem, Observation { intervention, values }).expect("it fits");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let network = Network::fit(problem, &data, &ModelMemory::default(), &ModelSettings::paper(), &mut rng)
        .expect("a fit");
    network.doubts(problem, &data, 1)
}

fn count(problem: &Problem, uneven: f64, found: impl Fn(&Doubt) -> bool + Sync) -> usize {
    let seen = |seed: u64| doubts(problem, seed, uneven).iter().any(&found);
    (0..SEEDS).into_par_iter().filter(|seed| seen(*seed)).count()
}

#[test]
fn nothing_is_said_against_a_right_graph() {
    assert!(count(&problem(true, None), 0.0, |_| true) <= 1);
    assert!(count(&problem(true, Some("1.5 * x - 2 * b")), 0.0, |_| true) <= 1);
}

#[test]
fn a_missing_arrow_is_named() {
    let named = |doubt: &Doubt| doubt.about() == ("missing-arrow", "y", Some("x"));
    assert!(count(&problem(false, None), 0.0, named) >= 5);
}

#[test]
fn a_wrong_formula_is_refuted() {
    let refuted = |doubt: &Doubt| doubt.about().0 == "formula" && doubt.about().1 == "z";
    for wrong in ["1.5 * x", "1.5 * x - 2 * b + 0.4 * x^2", "2 * x - 2 * b"] {
        assert_eq!(count(&problem(true, Some(wrong)), 0.0, refuted), SEEDS as usize, "{wrong}");
    }
}

#[test]
fn noise_that_grows_with_an_input_is_named() {
    let uneven = |doubt: &Doubt| doubt.about() == ("uneven-noise", "z", Some("b"));
    let named = count(&problem(true, None), 1.5, uneven);
    assert!(named >= 4, "{named}");
}

#[test]
fn every_doubt_says_what_to_do() {
    for doubt in doubts(&problem(false, None), 1, 1.5) {
        let words = doubt.to_string();
        assert!(words.contains("; hint: ") && !doubt.weight().is_empty(), "{words}");
    }
    let few =
        Problem::builder("few").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y").build();
    let few = few.expect("a problem");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let network =
        Network::fit(&few, &Data::new(), &ModelMemory::default(), &ModelSettings::paper(), &mut rng);
    assert_eq!(network.expect("a fit").doubts(&few, &Data::new(), 1), []);
}
