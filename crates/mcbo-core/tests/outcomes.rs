//! Rows outside today's ranges, contexts and costs, through a study.

mod outcome;

use std::sync::Arc;

use mcbo_core::{
    Cost, Criterion, DataError, Given, Intervention, Limit, Noise, Observation, Preset, Problem,
    StrategyName, StrategySettings, Study, StudyError, SuggestError, Warning, check_intervention,
};
use outcome::{doing, run};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn hill(range: [f64; 2]) -> Problem {
    Problem::builder("hill")
        .action("a", range)
        .node("x", |n| n.actions(["a"]).range([0.0, 10.0]).noise(Noise::Gaussian(0.05)))
        .node("y", |n| n.parents(["x"]).noise(Noise::Gaussian(0.05)))
        .maximize("y")
        .build()
        .expect("a problem")
}

/// `y = 10 - (x - 6)²` with `x = a` at actions from 0 to 12, measured in a study whose range was [0, 12].
fn measured(study: &mut Study) {
    for i in 0..13 {
        let a = f64::from(i);
        let values = vec![Some(a), Some(10.0 - (a - 6.0) * (a - 6.0))];
        study.add(Observation { intervention: doing(a), values }).expect("it is still data");
    }
}

#[test]
fn rows_outside_the_ranges_train_the_model_and_are_not_recommended() {
    let mut study = Study::new(hill([0.0, 4.0]), 1);
    measured(&mut study);
    let best = study.recommend().expect("a model");
    check_intervention(study.problem(), &best.intervention).expect("in today's range");
    assert!(best.intervention.actions[0] > 3.9, "the best of what is allowed: {:?}", best.intervention);
    let outside = best.warnings.iter().find(|warning| warning.to_string().contains("outside its range"));
    assert_eq!(
        outside.expect("a warning").to_string(),
        "a was 5 to 12 in 8 trials, outside its range 0 to 4; the model learns from that, and nothing outside is \
         proposed or recommended"
    );
    // What is expected outside is what was seen there, and not what the end of the range gives.
    let far = best.expects(study.problem(), &doing(6.0));
    assert!((far[1].mean - 10.0).abs() < 0.5, "{:?}", far[1]);
    assert!((best.expects(study.problem(), &doing(9.0))[1].mean - 1.0).abs() < 0.5);
    let suggestion = study.ask().expect("a suggestion").suggestion.clone();
    check_intervention(study.problem(), &suggestion.intervention).expect("in today's range");
}

#[test]
fn ranges_can_be_narrowed_and_widened() {
    let mut study = Study::new(hill([0.0, 12.0]), 1);
    measured(&mut study);
    assert!((study.recommend().expect("a model").intervention.actions[0] - 6.0).abs() < 0.5);
    study.change_problem(hill([7.0, 9.0])).expect("narrower");
    assert_eq!(study.data().len(), 13);
    assert!((study.recommend().expect("a model").intervention.actions[0] - 7.0).abs() < 0.1);
    study.change_problem(hill([-5.0, 40.0])).expect("wider");
    assert!((study.recommend().expect("a model").intervention.actions[0] - 6.0).abs() < 1.0);
}

/// Every strategy keeps to the ranges of today, whatever was done before.
#[test]
fn every_strategy_stays_inside() {
    for name in ["mcbo", "eifn", "cbo", "ucb", "ei", "random"] {
        let strategy =
            StrategySettings::new(name.parse::<StrategyName>().expect("a name"), Preset::Default, None)
                .build();
        let mut study = Study::with_strategy(hill([0.0, 4.0]), strategy.into(), 1);
        measured(&mut study);
        let trial = study.ask().expect("a suggestion");
        check_intervention(&hill([0.0, 4.0]), &trial.suggestion.intervention).expect(name);
    }
}

/// The best dose is the quality: `y = 1 - (dose - quality)²`.
fn mill() -> Problem {
    Problem::builder("mill")
        .action("dose", [0.0, 1.0])
        .node("quality", |n| n.context().noise(Noise::Learn))
        .node("y", |n| n.parents(["quality"]).actions(["dose"]).noise(Noise::Gaussian(0.02)))
        .maximize("y")
        .build()
        .expect("a problem")
}

fn grind(study: &mut Study, trials: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let problem = study.problem().clone();
    let mut unit = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
    for _ in 0..trials {
        let quality = unit();
        let given = Given::new(&problem, [("quality", vec![quality])]).expect("a context");
        let trial = study.ask_given(&given).expect("a suggestion");
        let (number, dose) = (trial.number, trial.suggestion.intervention.actions[0]);
        assert_eq!(trial.suggestion.given, given);
        let y = 1.0 - (dose - quality).powi(2);
        study.tell(number, vec![None, Some(y)]).expect("a good observation");
        assert_eq!(study.data().observations()[number - 1].values[0], Some(quality));
    }
}

#[test]
fn what_is_given_decides_what_is_best() {
    let mut study = Study::new(mill(), 1);
    grind(&mut study, 20);
    let problem = study.problem().clone();
    let contexts: Vec<Given> = [0.2, 0.5, 0.8]
        .map(|quality| Given::new(&problem, [("quality", vec![quality])]).expect("a context"))
        .to_vec();
    let policy = study.policy(Criterion::Mean, &contexts).expect("a policy");
    for ((given, advice), quality) in contexts.iter().zip(&policy).zip([0.2, 0.5, 0.8]) {
        let dose = advice.intervention.actions[0];
        assert!((dose - quality).abs() < 0.08, "{quality}: {dose}");
        let alone = study.recommend_given(Criterion::Mean, given).expect("a recommendation");
        assert_eq!((&alone.intervention, &alone.predicted), (&advice.intervention, &advice.predicted));
        assert!(!alone.warnings.iter().any(|warning| matches!(warning, Warning::NotGiven { .. })));
    }
    // Without it the average over what was seen counts, and that is said.
    let average = study.recommend().expect("a recommendation");
    assert!((average.intervention.actions[0] - 0.5).abs() < 0.15, "{:?}", average.intervention);
    assert!(average.warnings.contains(&Warning::NotGiven { contexts: vec!["quality".into()] }));
    let suggestion = &study.ask().expect("a suggestion").suggestion;
    assert!(suggestion.warnings.iter().any(|warning| warning.to_string().contains("quality is not given")));
}

#[test]
fn the_same_dose_in_another_context_is_no_repetition() {
    let mut study = Study::new(mill(), 1);
    let problem = study.problem().clone();
    let given = |quality: f64| Given::new(&problem, [("quality", vec![quality])]).expect("a context");
    let rows: [(f64, f64); 3] = [(0.1, 0.5), (0.9, 0.4), (0.9, 0.1)];
    for (quality, a) in rows {
        study
            .add(Observation { intervention: doing(a), values: vec![Some(quality), Some(a)] })
            .expect("a row");
    }
    let trial = study.ask_given(&given(0.9)).expect("a trial");
    let (number, asked) = (trial.number, trial.suggestion.intervention.actions[0]);
    let network = study.network().expect("a model");
    let why = study.why(&network, number).expect("why");
    // By the dose alone the nearest would be another one wherever it is nearer.
    let apart = |row: usize| f64::max((rows[row].0 - 0.9).abs() / 0.8, (rows[row].1 - asked).abs());
    let nearest = (0..3).min_by(|&a, &b| apart(a).total_cmp(&apart(b))).expect("three");
    let (found, away) = why.nearest.expect("a trial");
    assert_eq!(found, nearest + 1);
    assert!((away - apart(nearest)).abs() < 1e-12, "{away} {}", apart(nearest));
    // The best one was made in another context, and that is said.
    assert_eq!(why.best.expect("a best").0, 1);
    assert_eq!(why.differs[0], ("quality".to_owned(), Some(0.9), Some(0.1)));
}

#[test]
fn told_contexts_must_be_what_was_given() {
    let mut study = Study::new(mill(), 1);
    let problem = study.problem().clone();
    let given = Given::new(&problem, [("quality", vec![0.8])]).expect("a context");
    let number = study.ask_given(&given).expect("a trial").number;
    let told = study.tell(number, vec![Some(0.7), Some(1.0)]);
    let expected =
        DataError::ContradictsGiven { node: "quality".into(), given: "0.8".into(), found: "0.7".into() };
    assert_eq!(told, Err(StudyError::Data(expected)));
    study.tell(number, vec![Some(0.800_000_1), None]).expect("rounded");
    assert_eq!(study.data().observations()[0].values, [Some(0.8), None]);
    assert!(study.amend(number, &[Some(0.800_000_1), Some(1.0)]).expect("rounded and more"));
    assert!(matches!(study.amend(number, &[Some(0.5), None]), Err(StudyError::Conflict { .. })));
    // What was wrong from the beginning can be put right.
    assert!(study.correct(number, &[Some(0.6), None]).expect("put right"));
    let unknown = Given::new(&problem, [("dose", vec![0.8])]).unwrap_err();
    assert_eq!(unknown.to_string(), "\"dose\" is no context; hint: the contexts are quality");
    assert!(Given::new(&problem, [("quality", vec![f64::NAN])]).is_err());
    assert!(Given::new(&problem, [("quality", vec![1.0, 2.0])]).is_err());
    assert!(Given::new(&problem, [("quality", vec![1.0]), ("quality", vec![1.0])]).is_err());
}

#[test]
fn strategies_without_a_model_of_the_nodes_say_what_they_cannot() {
    let limited = Problem::builder("limited")
        .action("a", [0.0, 1.0])
        .node("s", |n| n.actions(["a"]).limit(Limit::below(0.5, 0.9)))
        .node("y", |n| n.actions(["a"]))
        .maximize("y")
        .build()
        .expect("a problem");
    for name in ["ucb", "ei", "cbo"] {
        let strategy: Arc<dyn mcbo_core::Strategy> =
            StrategySettings::new(name.parse::<StrategyName>().expect("a name"), Preset::Default, None)
                .build()
                .into();
        let mut study = Study::with_strategy(mill(), strategy.clone(), 1).initial(0);
        let given = Given::new(study.problem(), [("quality", vec![0.5])]).expect("a context");
        let cannot = study.ask_given(&given).expect_err("it cannot").to_string();
        assert!(
            cannot.starts_with(&format!("strategy {name:?} cannot use what is known of contexts")),
            "{cannot}"
        );
        assert!(study.ask().is_ok(), "contexts are noise to it");
        let mut study = Study::with_strategy(limited.clone(), strategy, 1).initial(0);
        let cannot = study.ask().expect_err("it cannot");
        assert!(matches!(cannot, StudyError::Suggest(SuggestError::Cannot { .. })), "{cannot}");
    }
}

#[test]
fn costs_add_up_and_are_spent() {
    let problem = Problem::builder("costs")
        .action("a", [0.0, 2.0])
        .action("b", [0.0, 1.0])
        .action_cost("a", Cost { fixed: 3.0, per_unit: 0.5 })
        .node("x", |n| n.actions(["a"]).hard([0.0, 5.0]).cost(7.0))
        .node("y", |n| n.parents(["x"]).actions(["b"]))
        .maximize("y")
        .build()
        .expect("a problem");
    let with = |targets: Vec<(usize, Vec<f64>)>, a: f64| Intervention { targets, actions: vec![a, 0.5] };
    assert_eq!(problem.cost(&with(vec![], 0.0)), 0.0);
    assert_eq!(problem.cost(&with(vec![], 2.0)), 4.0);
    assert_eq!(problem.cost(&with(vec![(0, vec![1.0])], 2.0)), 11.0);
    let mut study = Study::new(problem, 1).initial(2);
    study
        .add(Observation { intervention: with(vec![], 2.0), values: vec![Some(1.0), Some(1.0)] })
        .expect("a row");
    assert_eq!(study.spent(), 0.0, "made outside");
    let number = study.enqueue(with(vec![(0, vec![1.0])], 0.0)).expect("a trial").number;
    assert_eq!(study.spent(), 0.0, "not made yet");
    study.tell(number, vec![None, Some(1.0)]).expect("a good observation");
    assert_eq!(study.spent(), 7.0);
    let number = study.enqueue(with(vec![], 1.0)).expect("a trial").number;
    study.fail(number).expect("it failed");
    assert_eq!(study.spent(), 10.5);
}

/// Two knobs that do the same, one of them dear: trials use the other.
#[test]
fn what_costs_less_is_tried_more() {
    let problem = |costs: bool| {
        let builder = Problem::builder("knobs").action("cheap", [0.0, 1.0]).action("dear", [0.0, 1.0]);
        let builder = match costs {
            true => builder
                .action_cost("cheap", Cost { fixed: 1.0, per_unit: 0.0 })
                .action_cost("dear", Cost { fixed: 10.0, per_unit: 0.0 }),
            false => builder,
        };
        builder
            .node("y", |n| n.actions(["cheap", "dear"]).noise(Noise::Gaussian(0.05)))
            .maximize("y")
            .simulate("y", "1 - (cheap + dear - 0.6)^2 + normal(0, 0.05)")
            .build()
            .expect("a problem")
    };
    let dear = |costs: bool| {
        let mut study = Study::new(problem(costs), 3).initial(4);
        run(&mut study, 14);
        let used = |trial: &&mcbo_core::Trial| trial.suggestion.intervention.actions[1] != 0.0;
        study.trials()[4..].iter().filter(used).count()
    };
    let (with, without) = (dear(true), dear(false));
    // Now and then a dear trial promises twice as much as any cheap one.
    assert!(2 * with <= without && without >= 7, "{with} against {without}");
}

/// Where a context is given and nothing is decided, nothing is left to be uncertain about but the reward.
#[test]
fn certificates_hold_where_nothing_is_decided() {
    let problem = Problem::builder("switch")
        .action_with_neutral("a", [1.0, 2.0], 0.0)
        .node("quality", |n| n.context())
        .node("y", |n| n.parents(["quality"]).actions(["a"]).noise(Noise::Gaussian(0.1)))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut study = Study::new(problem, 1);
    for (a, quality) in [(0.0, 0.1), (1.5, 0.3), (2.0, 0.7), (0.0, 0.9)] {
        let values = vec![Some(quality), Some(quality - a)];
        study.add(Observation { intervention: doing(a), values }).expect("a row");
    }
    let given = Given::new(study.problem(), [("quality", vec![0.5])]).expect("a context");
    let advice = study.recommend_given(Criterion::Mean, &given).expect("a recommendation");
    assert_eq!(advice.intervention, study.problem().neutral_intervention());
    let certificate = study.certify(&advice, 2.0);
    assert!(certificate.gap().is_finite() && certificate.lower <= certificate.upper, "{certificate:?}");
}

#[test]
fn contexts_far_from_what_was_seen_are_pointed_out() {
    let mut study = Study::new(mill(), 1);
    let problem = study.problem().clone();
    let given = |quality: f64| Given::new(&problem, [("quality", vec![quality])]).expect("a context");
    for i in 0..6 {
        let quality = 0.1 * f64::from(i);
        let values = vec![Some(quality), Some(quality)];
        study.add(Observation { intervention: doing(0.5), values }).expect("a row");
    }
    let said = |study: &mut Study, quality: f64| {
        let given = given(quality);
        let of = |warnings: &[Warning]| {
            let far = |warning: &&Warning| matches!(warning, Warning::GivenFarOff { .. });
            warnings.iter().filter(far).map(ToString::to_string).collect::<Vec<_>>()
        };
        let recommendation = study.recommend_given(Criterion::Mean, &given).expect("a model");
        let advised = of(&recommendation.warnings);
        let predicted = of(&study.predict(&recommendation, &doing(0.5)).expect("what to expect").warnings);
        let trial = study.ask_given(&given).expect("a trial");
        assert_eq!((&advised, &predicted), (&of(&trial.suggestion.warnings), &advised));
        advised
    };
    // Seen is 0 to 0.5: a little beyond is no slip.
    assert!(said(&mut study, 0.9).is_empty());
    assert!(said(&mut study, -0.4).is_empty());
    let far = said(&mut study, 80.0);
    assert!(far[0].starts_with("quality = 80 is far from what was seen of it (0 to 0.5)"), "{far:?}");
    assert_eq!(said(&mut study, -1.0).len(), 1);
}

/// Predictions need no search, and are those of the model behind a recommendation.
#[test]
fn predictions_are_those_of_the_recommending_model() {
    let mut study = Study::new(mill(), 1);
    let problem = study.problem().clone();
    for i in 0..8 {
        let (quality, dose) = (0.1 * f64::from(i), 0.13 * f64::from(i % 5));
        let values = vec![Some(quality), Some(dose * (1.0 + quality))];
        study.add(Observation { intervention: doing(dose), values }).expect("a row");
    }
    let given = Given::new(&problem, [("quality", vec![0.4])]).expect("a context");
    let advice = study.recommend_given(Criterion::Mean, &given).expect("a model");
    for dose in [0.0, 0.37, advice.intervention.actions[0]] {
        let (predicted, _) = study.predict_given(&doing(dose), &given).expect("what to expect");
        assert_eq!(predicted, study.predict(&advice, &doing(dose)).expect("what to expect"));
    }
    assert!(study.predict_given(&doing(7.0), &given).is_err());
}

/// A name that a context never had is pointed out where others were seen; while nothing was seen there is nothing to point out.
#[test]
fn names_that_a_context_never_had_are_pointed_out() {
    let problem = Problem::builder("p")
        .action("a", [0.0, 1.0])
        .node("supplier", |n| n.choices(["north", "south"]).context())
        .node("y", |n| n.parents(["supplier"]).actions(["a"]).noise(Noise::Gaussian(0.1)))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut study = Study::new(problem.clone(), 1);
    for i in 0..4 {
        let values = vec![Some(0.0), Some(f64::from(i))];
        study.add(Observation { intervention: doing(0.2 * f64::from(i)), values }).expect("a row");
    }
    for (name, warned) in [(0.0, 0), (1.0, 1)] {
        let given = Given::new(&problem, [("supplier", vec![name])]).expect("a context");
        let advice = study.recommend_given(Criterion::Mean, &given).expect("a model");
        let new = |warning: &&Warning| matches!(warning, Warning::GivenNeverSeen { .. });
        let said: Vec<String> = advice.warnings.iter().filter(new).map(ToString::to_string).collect();
        assert_eq!(said.len(), warned, "{said:?}");
        assert!(said.iter().all(|text| text.starts_with("supplier = south was never seen")), "{said:?}");
    }
}
