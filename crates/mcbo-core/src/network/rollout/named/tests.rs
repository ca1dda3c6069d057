use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::acquisition::{NetworkImprovement, OptimisticReward, SharedOptimism};
use crate::network::{Drawn, Draws, Network, NoiseSamples, Plan, Workspace};
use crate::optimism::Optimism;
use crate::testing::{check_gradients, named_system, settings};
use crate::{Choice, Data, Intervention, Noise, Problem};

fn fit(problem: &Problem, data: &Data) -> Network {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    Network::fit(problem, data, &Default::default(), &settings(), rng).expect("a fit")
}

#[test]
fn derivatives_are_those_of_the_sum_over_names() {
    let (problem, data) = named_system();
    let network = fit(&problem, &data);
    for choice in problem.choices().expect("few choices") {
        check_gradients(&SharedOptimism::new(&problem, &network, choice, 0.7, 4, 3), 2);
        for optimism in [Optimism::Constant, Optimism::Affine] {
            check_gradients(&OptimisticReward::new(&problem, &network, choice, optimism, 0.5, 4, 3), 2);
        }
        let draws = Draws::noiseless(&problem, &network, choice, 8, 3);
        check_gradients(&NetworkImprovement { draws, best: (-1e3).into() }, 2);
        let draws = Draws::expectation(&problem, &network, choice, 8, 3, |_| 4);
        check_gradients(&NetworkImprovement { draws, best: (-1e3).into() }, 4);
    }
}

/// `y` reads only the kind, and nothing else is noisy: the rollout is the sum over the three names.
#[test]
fn a_rollout_is_the_sum_over_names() {
    let problem = Problem::builder("known")
        .action("a", [0.0, 2.0])
        .node("kind", |n| {
            n.actions(["a"]).choices(["n", "c", "d"]).formula("pick('n', 1, 'c', exp(a), 'd', a^2)")
        })
        .node("y", |n| {
            n.parents(["kind"])
                .actions(["a"])
                .formula("3 * (kind == 'n') - a * (kind == 'c')")
                .noise(Noise::None)
        })
        .maximize("y")
        .build()
        .expect("a problem");
    let network = fit(&problem, &Data::new());
    let choice = &problem.choices().expect("one")[0];
    let plan = Plan::new(&problem, &network, choice, Optimism::Constant);
    let noise = NoiseSamples::new(&plan, 4, 1);
    for a in [0.0, 0.7, 2.0_f64] {
        let (mut values, mut slopes) = (Vec::new(), vec![0.0; plan.dim()]);
        let batch = super::Batch { points: &[a / 2.0], beta: 1.0, noise: &noise };
        network.rollout(&plan, batch, &mut Workspace::default(), &mut values, &mut slopes);
        let total = 1.0 + a.exp() + a * a;
        let exact = (3.0 - a * a.exp()) / total;
        assert!((values[0] - exact).abs() < 1e-12, "{a}: {} {exact}", values[0]);
        let slope = (-a.exp() - a * a.exp()) / total - exact * (a.exp() + 2.0 * a) / total;
        // At an end a probability of 0 is cut off, and its slope is there 0 on both sides.
        assert!((slopes[0] / 2.0 - slope).abs() < 1e-9, "{a}: {} {slope}", slopes[0] / 2.0);
        let doing = Intervention { targets: Vec::new(), actions: vec![a] };
        let forecasts = network.forecast(&problem, &doing, 1);
        let shares: Vec<f64> = forecasts.iter().filter(|f| f.node == 0).map(|f| f.mean).collect();
        for (share, weight) in shares.iter().zip([1.0, a.exp(), a * a]) {
            assert!((share - weight / total).abs() < 1e-12, "{a}: {forecasts:?}");
        }
        assert_eq!(shares.len(), 3);
        assert!((forecasts[3].mean - exact).abs() < 5e-3, "{a}: {forecasts:?} {exact}");
    }
}

/// By the rollout, which weighs names, and by single outcomes with luck of another source, whose names are drawn.
#[test]
fn weighed_names_and_drawn_ones_have_the_same_expectation() {
    let (problem, data) = named_system();
    let network = fit(&problem, &data);
    let reward = problem.slot(problem.reward()).start;
    for (speed, heat, kind) in [(1.0, 0.2, None), (3.5, 0.9, None), (2.0, 0.5, Some(2.0))] {
        let targets = kind.into_iter().map(|name| (1, vec![name])).collect();
        let doing = Intervention { targets, actions: vec![speed, heat] };
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let count = 40_000;
        let outcomes = network.outcomes(&problem, &doing, count, |_, _, _, noise| {
            (crate::quasi::normal_quantile(rng.random::<f64>().max(1e-12)), noise.draw(&mut rng))
        });
        let mean = outcomes[reward].iter().sum::<f64>() / count as f64;
        let square = outcomes[reward].iter().map(|y| (y - mean).powi(2)).sum::<f64>() / count as f64;
        let error = (square / count as f64).sqrt();
        let choice = Choice::of(&problem, &doing);
        let draws = Draws::expectation(&problem, &network, &choice, 64, 1, |_| 2048);
        let (point, mut drawn) = (draws.plan().space().point(&doing), Drawn::default());
        draws.evaluate(&point, false, &mut Workspace::default(), &mut drawn);
        let weighed = drawn.rewards.iter().sum::<f64>() / drawn.rewards.len() as f64;
        assert!((weighed - mean).abs() < 4.0 * error + 0.005, "{doing:?}: {weighed} {mean} {error}");
        let forecast = network.forecast(&problem, &doing, 1);
        let last = forecast.last().expect("the reward");
        assert!((last.mean - mean).abs() < 4.0 * error + 0.01, "{doing:?}: {last:?} {mean} {error}");
        // How often each name comes.
        for f in forecast.iter().filter(|f| [1, 2].contains(&f.node)) {
            let slot = problem.slot(f.node).start;
            let share =
                outcomes[slot].iter().filter(|v| **v == f.component as f64).count() as f64 / count as f64;
            assert!((share - f.mean).abs() < 0.02, "{doing:?}: {f:?} {share}");
            assert!(f.lower <= f.mean && f.mean <= f.upper, "{f:?}");
        }
    }
}
