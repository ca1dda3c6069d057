//! Gradients of the rollout and of the acquisition against finite differences, over random graphs.

mod common;

use common::{Options, SHAPES};
use mcbo_core::{
    Acquisition, Batch, CredibleReward, NoiseSamples, Optimism, OptimisticReward, Plan, Workspace, enumerate,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FAMILIES: [Optimism; 4] = [
    Optimism::Constant,
    Optimism::Affine,
    Optimism::Network { hidden: 5 },
    Optimism::Clairvoyant { samples: 5 },
];

/// Compares with central differences of fourth order, to 1e-5 of the gradient's entry, or of a hundredth of the
/// largest entry where that is smaller.
fn check(
    dim: usize,
    points: &[f64],
    mut evaluate: impl FnMut(&[f64], &mut Vec<f64>, &mut [f64]),
) -> Result<(), String> {
    let (mut values, mut gradients) = (Vec::new(), vec![0.0; points.len()]);
    evaluate(points, &mut values, &mut gradients);
    let candidates = values.len();
    for candidate in 0..candidates {
        let own = &gradients[candidate * dim..(candidate + 1) * dim];
        let largest = own.iter().fold(0.0_f64, |m, g| m.max(g.abs())).max(1e-3);
        for k in 0..dim {
            let mut at = |h: f64| {
                let mut moved = points.to_vec();
                moved[candidate * dim + k] += h;
                let mut values = Vec::new();
                evaluate(&moved, &mut values, &mut []);
                values[candidate]
            };
            let mut numeric = |step: f64| {
                (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step)
            };
            let agrees = |numeric: f64| (own[k] - numeric).abs() <= 1e-5 * numeric.abs().max(0.01 * largest);
            // A network of rectifiers has kinks, and differences over a kink are of neither side: closer by, there is none.
            let (wide, close) = (numeric(1e-4), numeric(2e-6));
            if !agrees(wide) && !agrees(close) {
                return Err(format!("candidate {candidate}, entry {k}: {} against {wide}, {close}", own[k]));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rollouts_over_random_graphs(seed: u64, shape in 0..SHAPES.len(), nodes in 2_usize..=12, noisy: bool, vectors: bool,
                                   hard: bool, formulas: bool, ratios: bool, family in 0..FAMILIES.len(), members in 1_usize..4) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options { shape: SHAPES[shape], nodes, noisy, vectors, hard, formulas };
        let problem = common::problem_with(&options, ratios, &mut rng);
        let data = common::data(&problem, 14, &mut rng);
        let network = common::network(&problem, &data, members, seed);
        let choices = enumerate(&problem, 10_000).expect("few choices");
        let choice = &choices[rng.random_range(0..choices.len())];
        let plan = Plan::new(&problem, &network, choice, FAMILIES[family]);
        let noise = NoiseSamples::new(&plan, 5, seed);
        let (lower, upper) = plan.bounds();
        let points: Vec<f64> = (0..3)
            .flat_map(|_| {
                lower.iter().zip(&upper).map(|(l, u)| l + (u - l) * (0.05 + 0.9 * rng.random::<f64>())).collect::<Vec<_>>()
            })
            .collect();
        let mut workspace = Workspace::default();
        let outcome = check(plan.dim(), &points, |points, values, gradients| {
            let batch = Batch { points, beta: 0.7, noise: &noise };
            network.rollout(&plan, batch, &mut workspace, values, gradients);
        });
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn credible_rewards_over_random_graphs(seed: u64, shape in 0..SHAPES.len(), nodes in 2_usize..=6, noisy: bool,
                                           vectors: bool, hard: bool, formulas: bool, ratios: bool, caution in 0.0..2.0_f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options { shape: SHAPES[shape], nodes, noisy, vectors, hard, formulas };
        let problem = common::problem_with(&options, ratios, &mut rng);
        let data = common::data(&problem, 14, &mut rng);
        let network = common::network(&problem, &data, 2, seed);
        let choices = enumerate(&problem, 10_000).expect("few choices");
        let choice = &choices[rng.random_range(0..choices.len())];
        let acquisition = CredibleReward::new(&problem, &network, choice, caution, 4, seed);
        let decisions = acquisition.decisions();
        prop_assume!(decisions > 0);
        let points: Vec<f64> = (0..2 * decisions).map(|_| 0.05 + 0.9 * rng.random::<f64>()).collect();
        let mut workspace = Workspace::default();
        let outcome = check(decisions, &points, |points, values, gradients| {
            acquisition.evaluate(points, &mut workspace, values, gradients);
        });
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

#[test]
fn the_acquisition_is_the_rollout_of_its_choice() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let options = Options {
        shape: common::Shape::Diamond,
        nodes: 5,
        noisy: true,
        vectors: true,
        hard: true,
        formulas: true,
    };
    let problem = common::problem(&options, &mut rng);
    let data = common::data(&problem, 20, &mut rng);
    let network = common::network(&problem, &data, 2, 1);
    for choice in enumerate(&problem, 1000).expect("few choices") {
        let acquisition = OptimisticReward::new(&problem, &network, &choice, Optimism::Constant, 0.5, 6, 3);
        let (lower, upper) = acquisition.bounds();
        let points: Vec<f64> =
            lower.iter().zip(&upper).map(|(l, u)| l + (u - l) * (0.1 + 0.8 * rng.random::<f64>())).collect();
        let mut workspace = Workspace::default();
        check(lower.len(), &points, |points, values, gradients| {
            acquisition.evaluate(points, &mut workspace, values, gradients);
        })
        .expect("gradients agree");
    }
}
