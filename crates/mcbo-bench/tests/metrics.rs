//! Figures of runs, against what a hand computes.

mod common;

use common::{soft, task};
use mcbo_bench::{Curve, Estimate, Metric, Recommended, Results, Round, RunResult};
use mcbo_core::StrategyName;

/// A run on Dropwave or Ackley with these expected rewards.
fn made(task: &str, method: &str, seed: u64, initial: &[f64], chosen: &[f64]) -> RunResult {
    let (mut sum, mut count) = (initial.iter().sum::<f64>(), initial.len());
    let mut best = initial.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rounds = chosen.iter().enumerate().map(|(k, &reward)| {
        sum += reward;
        count += 1;
        best = best.max(reward);
        Round {
            round: k + 1,
            intervention: soft(&[0.5; 2]),
            expected_reward: reward,
            average_reward: sum / count as f64,
            best_reward: best,
            beta: None,
            suggest_seconds: 0.25 * (k + 1) as f64,
            cost: None,
            given: Default::default(),
        }
    });
    RunResult {
        task: task.into(),
        method: method.into(),
        strategy: method.into(),
        seed,
        initial: initial.to_vec(),
        rounds: rounds.collect(),
        recommended: Recommended {
            intervention: soft(&[0.5; 2]),
            expected_reward: 0.9,
            seconds: 0.0,
            limits: Vec::new(),
        },
        data: Default::default(),
    }
}

fn close(estimate: Option<Estimate>, mean: f64, error: f64) {
    let estimate = estimate.unwrap();
    assert!((estimate.mean - mean).abs() < 1e-12 && (estimate.error - error).abs() < 1e-12, "{estimate:?}");
}

#[test]
fn means_errors_and_regrets() {
    let dropwave = task("dropwave");
    let results = Results::new(vec![
        made("dropwave", "mcbo", 0, &[0.0, 0.2], &[0.4, 0.6]),
        made("dropwave", "mcbo", 1, &[0.2, 0.2], &[0.2, 0.8]),
        made("dropwave", "random", 1, &[0.2, 0.2], &[0.1, 0.1]),
    ])
    .unwrap();
    // Averages 0.3 and 0.35; the optimum is 1.
    close(results.estimate(&dropwave, "mcbo", Metric::Average), 0.325, 0.025);
    close(results.estimate(&dropwave, "mcbo", Metric::Chosen), 0.5, 0.0);
    close(results.estimate(&dropwave, "mcbo", Metric::Best), 0.7, 0.1);
    close(results.estimate(&dropwave, "mcbo", Metric::CumulativeRegret), 1.0, 0.0);
    close(results.estimate(&dropwave, "mcbo", Metric::SimpleRegret), 0.3, 0.1);
    close(results.estimate(&dropwave, "mcbo", Metric::RecommendedRegret), 0.1, 0.0);
    close(results.estimate(&dropwave, "mcbo", Metric::Seconds), 0.375, 0.0);
    assert_eq!(results.estimate(&dropwave, "ei", Metric::Average), None);
    // Only seed 1 is in both: 0.35 against 0.15.
    let paired = results.paired(&dropwave, "mcbo", "random", Metric::Average);
    assert_eq!(paired.unwrap().count, 1);
    close(paired, 0.2, 0.0);
    let curve = results.curve(&dropwave, "mcbo", Curve::Average);
    assert_eq!(curve.len(), 3);
    close(Some(curve[0]), 0.15, 0.05);
    close(Some(curve[2]), 0.325, 0.025);
    close(Some(results.curve(&dropwave, "mcbo", Curve::Best)[1]), 0.3, 0.1);
    assert!(Results::new(vec![made("nothing", "mcbo", 0, &[0.0], &[])]).is_err());
}

#[test]
fn the_width_is_chosen_on_other_tasks() {
    // On Dropwave 5 is best by far, on Ackley (optimum 0) 0.05 is, on Alpine2 (optimum 381.149094) 0.5 is.
    let runs = |task: &str, initial: f64, rewards: [f64; 3]| {
        let methods = ["mcbo-paper-0.05", "mcbo-paper-0.5", "mcbo-paper-5"];
        let run = |(method, reward): (&str, f64)| made(task, method, 0, &[initial], &[reward]);
        methods.into_iter().zip(rewards).map(run).collect::<Vec<_>>()
    };
    let mut all = runs("dropwave", 0.0, [0.2, 0.4, 1.0]);
    all.extend(runs("ackley", -4.0, [0.0, -2.0, -3.0]));
    let results = Results::new(all.clone()).unwrap();
    // With two tasks each gets what is best on the other.
    assert_eq!(results.validated(&task("dropwave"), StrategyName::Mcbo, Curve::Average).unwrap().beta, 0.05);
    assert_eq!(results.validated(&task("ackley"), StrategyName::Mcbo, Curve::Average).unwrap().beta, 5.0);
    all.extend(runs("alpine2", 0.0, [0.0, 381.149094, 0.0]));
    let results = Results::new(all).unwrap();
    let chosen = results.validated(&task("ackley"), StrategyName::Mcbo, Curve::Average).unwrap();
    assert_eq!(chosen.beta, 0.5);
    // The initial design is half of every average: shares (0.1 + 0)/2, (0.2 + 0.5)/2, (0.5 + 0)/2.
    for ((beta, score), expected) in chosen.scores.iter().zip([(0.05, 0.05), (0.5, 0.35), (5.0, 0.25)]) {
        assert!(*beta == expected.0 && (score - expected.1).abs() < 1e-12, "{:?}", chosen.scores);
    }
    assert_eq!(
        results.validated_method(&task("ackley"), StrategyName::Mcbo, Curve::Average).unwrap(),
        "mcbo-paper-0.5"
    );
    assert_eq!(results.validated(&task("ackley"), StrategyName::Ucb, Curve::Average), None);
    // The best reward is the chosen one itself: (0.2 + 0)/2, (0.4 + 1)/2, (1 + 0)/2.
    let best = results.validated(&task("ackley"), StrategyName::Mcbo, Curve::Best).unwrap();
    assert!((best.scores[1].1 - 0.7).abs() < 1e-12 && (best.scores[2].1 - 0.5).abs() < 1e-12, "{best:?}");
}
