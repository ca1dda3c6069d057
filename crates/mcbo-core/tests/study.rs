//! Ask and tell: pending and failed trials, bad observations, the same suggestions whatever the order of events.

mod common;

use std::sync::Arc;

use common::{Options, Shape};
use mcbo_core::{
    Criterion, DataError, Fixed, Given, Intervention, Mcbo, Noise, Observation, Problem, Proposal, Random,
    Strategy, Study, StudyError, Suggestion, TrialState, Warning, default_initial,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn soft() -> Problem {
    Problem::builder("soft")
        .action("a", [0.0, 2.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::None))
        .node("y", |n| n.parents(["x"]).noise(Noise::Gaussian(0.05)))
        .maximize("y")
        .build()
        .expect("a problem")
}

fn run(study: &mut Study, trials: usize) {
    for _ in 0..trials {
        let trial = study.ask().expect("a suggestion");
        let (number, a) = (trial.number, trial.suggestion.intervention.actions[0]);
        study.tell(number, vec![Some(a * a), Some((a * a - 1.0).sin())]).expect("a good observation");
    }
}

fn distance(a: &Intervention, b: &Intervention) -> f64 {
    a.actions.iter().zip(&b.actions).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

#[test]
fn pending_trials_are_not_proposed_again() {
    for strategy in [
        Arc::new(Mcbo::default()) as Arc<dyn Strategy>,
        Arc::new(Mcbo::paper().with_beta(0.0)),
        Arc::new(Random),
    ] {
        let mut study = Study::with_strategy(soft(), strategy, 1);
        run(&mut study, 12);
        let pending: Vec<Intervention> =
            (0..5).map(|_| study.ask().expect("a suggestion").suggestion.intervention.clone()).collect();
        for i in 0..pending.len() {
            for j in 0..i {
                assert!(distance(&pending[i], &pending[j]) >= 0.001, "{pending:?}");
            }
        }
        // They may be told in any order.
        for number in [15, 13, 17, 14, 16] {
            let a = study.trials()[number - 1].suggestion.intervention.actions[0];
            study.tell(number, vec![Some(a * a), Some((a * a - 1.0).sin())]).expect("a good observation");
        }
        assert!(study.trials().iter().all(|trial| trial.state == TrialState::Complete));
    }
}

#[test]
fn a_failed_trial_is_not_proposed_again_and_teaches_nothing() {
    let mut study = Study::with_strategy(soft(), Arc::new(Mcbo::paper().with_beta(0.0)), 1);
    run(&mut study, 12);
    let mut failed = Vec::new();
    for _ in 0..4 {
        let trial = study.ask().expect("a suggestion");
        let (number, intervention) = (trial.number, trial.suggestion.intervention.clone());
        assert!(failed.iter().all(|other| distance(other, &intervention) >= 0.001));
        failed.push(intervention);
        study.fail(number).expect("it was pending");
    }
    assert_eq!(study.data().len(), 12);
}

#[test]
fn where_nothing_else_is_allowed_a_warning_says_so() {
    let problem = Problem::builder("observe")
        .node("x", |n| n.hard([0.0, 1.0]))
        .node("y", |n| n.parents(["x"]))
        .maximize("y")
        .sets([Vec::<String>::new()])
        .build()
        .expect("a problem");
    let mut study = Study::new(problem, 1).initial(0);
    study.ask().expect("a suggestion");
    let second = study.ask().expect("a suggestion");
    assert!(second.suggestion.warnings.contains(&Warning::NothingElse), "{:?}", second.suggestion.warnings);
}

#[test]
fn suggestions_depend_on_the_seed_and_the_data_alone() {
    let suggestions = |seed: u64| {
        let mut study = Study::new(soft(), seed);
        run(&mut study, 10);
        study.trials().iter().map(|trial| trial.suggestion.clone()).collect::<Vec<_>>()
    };
    assert_eq!(suggestions(4), suggestions(4));
    assert_ne!(suggestions(4), suggestions(5));
}

#[test]
fn memory_survives_text_to_the_bit() {
    let mut study = Study::new(soft(), 4);
    run(&mut study, 8);
    let memory = study.memory();
    let text = serde_json::to_string(memory).expect("JSON");
    assert_ne!(*memory, mcbo_core::Memory::default());
    assert_eq!(*memory, serde_json::from_str(&text).expect("the same"));
}

/// Stored studies have it so.
#[test]
fn a_proposal_is_written_as_one_object() {
    let mut study = Study::new(soft(), 4);
    run(&mut study, 8);
    let suggestion = study.ask().expect("a suggestion").suggestion.clone();
    let proposal = Proposal { suggestion, memory: study.memory().clone() };
    let text = serde_json::to_string(&proposal).expect("JSON");
    let keys =
        ["intervention", "strategy", "acquisition", "beta", "predicted", "optimistic", "warnings", "memory"];
    let places: Vec<Option<usize>> = keys.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert_eq!(serde_json::from_str::<Proposal>(&text).expect("the same"), proposal);
}

#[test]
fn a_suggestion_says_why() {
    let mut study = Study::new(soft(), 2);
    run(&mut study, 10);
    let trial = study.ask().expect("a suggestion");
    let suggestion = &trial.suggestion;
    assert_eq!(suggestion.strategy, "mcbo");
    assert!(suggestion.acquisition.is_some() && suggestion.beta.is_some());
    let names: Vec<&str> = suggestion.predicted.iter().map(|forecast| forecast.name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
    for forecast in &suggestion.predicted {
        assert!(forecast.lower <= forecast.mean && forecast.mean <= forecast.upper, "{forecast:?}");
    }
    assert_eq!(suggestion.optimistic.len(), 2);
    // The optimistic model promises at least what is expected.
    let expected = suggestion.predicted[1].mean;
    assert!(suggestion.acquisition.expect("a value") >= expected - 0.05, "{suggestion:?}");
}

#[test]
fn minimising_is_maximising_the_negative() {
    let problem = Problem::builder("minimise")
        .action("a", [0.0, 2.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::None))
        .node("y", |n| n.parents(["x"]).noise(Noise::None))
        .minimize("y")
        .build()
        .expect("a problem");
    let mut study = Study::new(problem, 3);
    for _ in 0..14 {
        let trial = study.ask().expect("a suggestion");
        let (number, a) = (trial.number, trial.suggestion.intervention.actions[0]);
        study.tell(number, vec![Some(a), Some((a - 1.3) * (a - 1.3))]).expect("a good observation");
    }
    let a = study.recommend().expect("a recommendation").intervention.actions[0];
    assert!((a - 1.3).abs() < 0.05, "{a}");
    assert!(study.best_trial().expect("a trial").1 > -0.01);
}

#[test]
fn bad_observations_are_refused_and_leave_the_study_as_it_was() {
    let problem = Problem::builder("bad")
        .action("a", [0.0, 2.0])
        .node("x", |n| n.actions(["a"]).hard([0.0, 1.0]).range([-5.0, 5.0]))
        .node("y", |n| n.parents(["x"]))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut study = Study::new(problem, 1);
    let number = study.ask().expect("a suggestion").number;
    let refused = |outcome: Result<(), StudyError>| outcome.expect_err("it is refused").to_string();
    assert_eq!(
        refused(study.tell(number, vec![Some(f64::NAN), Some(1.0)])),
        "x is NaN; hint: leave out what was not measured, or mark the trial as failed"
    );
    assert_eq!(
        refused(study.tell_named(number, &[("x", vec![0.5]), ("y", vec![f64::INFINITY])])),
        "y is inf; hint: leave out what was not measured, or mark the trial as failed"
    );
    assert_eq!(
        refused(study.tell_named(number, &[("z", vec![1.0])])),
        "there is no node \"z\"; hint: the nodes are x, y"
    );
    assert_eq!(
        refused(study.tell_named(number, &[("x", vec![1.0, 2.0])])),
        "x has 2 values where the problem has 1"
    );
    assert_eq!(
        refused(study.tell(number, vec![Some(1.0)])),
        "the observation has 1 values where the problem has 2"
    );
    assert_eq!(
        refused(study.tell(number, vec![None, None])),
        "no node has a value; hint: mark the trial as failed if nothing could be measured"
    );
    assert_eq!(
        refused(study.tell(9, vec![None, Some(1.0)])),
        "there is no trial 9; hint: there is one, trial 1"
    );
    assert_eq!(study.trials()[0].state, TrialState::Pending);
    assert!(study.data().is_empty());

    let target = |value: f64| Intervention { targets: vec![(0, vec![value])], actions: vec![0.0] };
    assert_eq!(
        refused(study.add(Observation { intervention: target(0.5), values: vec![Some(0.7), Some(1.0)] })),
        "x was set to 0.5 but is reported as 0.7; hint: leave it out, a set node needs no measurement"
    );
    assert_eq!(
        refused(study.enqueue(target(3.0)).map(|_| ())),
        "x is 3, outside its range 0 to 1; hint: mend the value or widen the range in the problem file"
    );
    let reward = Intervention { targets: vec![(1, vec![1.0])], actions: vec![0.0] };
    assert_eq!(
        refused(study.add(Observation { intervention: reward, values: vec![Some(0.1), None] })),
        "y cannot be set; hint: give it a `do` range in the problem file"
    );
    let far = Intervention { targets: Vec::new(), actions: vec![9.0] };
    assert!(matches!(study.enqueue(far), Err(StudyError::Data(DataError::OutOfRange { .. }))));
    study.tell(number, vec![Some(0.5), Some(1.0)]).expect("a good observation");
    assert_eq!(
        refused(study.tell(number, vec![Some(0.5), Some(1.0)])),
        "trial 1 is complete already; hint: what was told stays, and what is missing can still be told"
    );
    assert_eq!(
        refused(study.fail(number)),
        "trial 1 is complete already; hint: what was told stays, and what is missing can still be told"
    );
    assert_eq!(study.data().len(), 1);
}

#[test]
fn a_row_trains_a_node_only_if_the_node_was_left_alone_and_its_inputs_are_known() {
    let problem = Problem::builder("rows")
        .node("x", |n| n.hard([0.0, 1.0]))
        .node("y", |n| n.parents(["x"]))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut study = Study::new(problem.clone(), 1);
    let observe = Intervention { targets: Vec::new(), actions: Vec::new() };
    let set = Intervention { targets: vec![(0, vec![0.25])], actions: Vec::new() };
    for (intervention, values) in [
        (observe.clone(), vec![Some(0.5), Some(1.0)]),
        (observe.clone(), vec![None, Some(2.0)]),
        (observe, vec![Some(0.7), None]),
        (set, vec![None, Some(3.0)]),
    ] {
        study.add(Observation { intervention, values }).expect("a good observation");
    }
    let rows = |node: usize| study.data().training_rows(&problem, node, 0).collect::<Vec<_>>();
    assert_eq!(rows(0), [(vec![], 0.5), (vec![], 0.7)]);
    assert_eq!(rows(1), [(vec![0.5], 1.0), (vec![0.25], 3.0)]);
}

#[test]
fn degenerate_data_still_give_a_suggestion() {
    type Values<'a> = &'a dyn Fn(usize) -> (f64, f64);
    let cases: [(&str, Values<'_>); 5] = [
        ("constant", &|_| (1.0, 2.0)),
        ("zero", &|_| (0.0, 0.0)),
        ("huge", &|i| (1e12 * i as f64, -1e12 * i as f64)),
        ("tiny", &|i| (1e-12 * i as f64, 1e-12 * (i % 3) as f64)),
        ("repeated", &|i| ((i % 2) as f64, (i % 2) as f64)),
    ];
    for (name, values) in cases {
        for rows in [0, 1, 2, 9] {
            let mut study = Study::new(soft(), 1).initial(0);
            for i in 0..rows {
                let (x, y) = values(i);
                let intervention = Intervention { targets: Vec::new(), actions: vec![0.2 * i as f64] };
                study
                    .add(Observation { intervention, values: vec![Some(x), Some(y)] })
                    .expect("it is finite");
            }
            let trial = study.ask().unwrap_or_else(|error| panic!("{name}, {rows} rows: {error}"));
            let a = trial.suggestion.intervention.actions[0];
            assert!((0.0..=2.0).contains(&a), "{name}, {rows} rows: {a}");
            assert!(
                trial.suggestion.predicted.iter().all(|f| f.mean.is_finite() && f.upper.is_finite()),
                "{name}"
            );
        }
    }
}

#[test]
fn every_kind_of_problem_runs() {
    for seed in 0..8 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let options = Options {
            shape: Shape::Random,
            nodes: 4,
            noisy: seed % 2 == 0,
            vectors: seed % 3 == 0,
            hard: seed % 2 == 1,
            formulas: true,
        };
        let problem = common::problem(&options, &mut rng);
        let initial = default_initial(&problem);
        let mut study = Study::new(problem.clone(), seed);
        for _ in 0..initial + 3 {
            let trial = study.ask().expect("a suggestion");
            let (number, intervention) = (trial.number, trial.suggestion.intervention.clone());
            let values = common::answer(&problem, &intervention, &mut rng).into_iter().map(Some).collect();
            study.tell(number, values).expect("a good observation");
        }
        let best = study.recommend().expect("a recommendation");
        assert!(best.predicted.last().is_some_and(|forecast| forecast.node == problem.reward()));
    }
}

/// What is found beside trials that others have put under way meanwhile is none of them, and the same however it was learned of them.
#[test]
fn beside_others_something_else_is_found() {
    for strategy in [
        Arc::new(Mcbo::default()) as Arc<dyn Strategy>,
        Arc::new(Mcbo::default().with_aim(mcbo_core::Aim::Find)),
        Arc::new(Mcbo::paper()),
        Arc::new(Random),
    ] {
        let mut study = Study::with_strategy(soft(), strategy.clone(), 3);
        run(&mut study, 12);
        let alone = study.propose(Given::NONE, &Fixed::default()).expect("a proposal");
        // Others put what this one has found, and then a second one.
        let others: Vec<Suggestion> = [0.0, 0.3]
            .map(|further| {
                let mut other = alone.suggestion.clone();
                let a = &mut other.intervention.actions[0];
                *a = if *a + further > 2.0 { *a - further } else { *a + further };
                other
            })
            .to_vec();
        let beside = |told: &[usize]| {
            let (mut told, mut found) = (told.iter(), Vec::new());
            study
                .propose_beside(Given::NONE, &Fixed::default(), &mut |proposal| {
                    found.push(proposal?);
                    told.next().map(|&count| others[..count].to_vec())
                })
                .expect("a proposal");
            found
        };
        assert_eq!(beside(&[]), vec![alone.clone()]);
        let (at_once, one_by_one) = (beside(&[2]), beside(&[1, 2]));
        assert_eq!(at_once.last(), one_by_one.last(), "{}", strategy.name());
        for (count, proposal) in [(1, &one_by_one[1]), (2, &one_by_one[2])] {
            for other in &others[..count] {
                let apart = distance(&proposal.suggestion.intervention, &other.intervention);
                assert!(apart > 0.001, "{} {apart}", strategy.name());
            }
        }
        // Nor does it depend on when it was learned: before there was a proposal.
        let (mut first, mut early) = (true, None);
        study
            .propose_beside(Given::NONE, &Fixed::default(), &mut |proposal| {
                early = proposal;
                std::mem::take(&mut first).then(|| others.clone())
            })
            .expect("a proposal");
        assert_eq!(early.as_ref(), at_once.last());
    }
}

/// What a log writes of a memory is what is new in it, and the rest comes back.
#[test]
fn what_is_remembered_is_written_once() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let options =
        Options { shape: Shape::Chain, nodes: 3, noisy: true, vectors: true, hard: false, formulas: false };
    let problem = common::problem(&options, &mut rng);
    let mut study = Study::new(problem.clone(), 1);
    let mut sizes = Vec::new();
    for round in 0..default_initial(&problem) + 12 {
        let before = study.memory().clone();
        let trial = study.ask().expect("a suggestion");
        let (number, intervention) = (trial.number, trial.suggestion.intervention.clone());
        let whole = study.memory();
        let new = whole.since(&before);
        assert_eq!(&new.clone().completed(&before), whole, "round {round}");
        let text = serde_json::to_string(&new).expect("text");
        let read: mcbo_core::Memory = serde_json::from_str(&text).expect("a memory");
        assert_eq!(&read.completed(&before), whole, "round {round}");
        sizes.push((text.len(), serde_json::to_string(whole).expect("text").len()));
        // Nothing is new where nothing was computed.
        assert!(serde_json::to_string(&whole.since(whole)).expect("text").len() < 400);
        // Two of three wait.
        if round % 3 == 0 {
            let values = common::answer(&problem, &intervention, &mut rng).into_iter().map(Some).collect();
            study.tell(number, values).expect("a good observation");
        }
    }
    assert!(sizes.iter().any(|(new, whole)| 2 * new < *whole), "{sizes:?}");
    // A memory that is not there is no memory.
    let memory = study.memory();
    assert!(memory.since(memory).completed(&mcbo_core::Memory::default()).last.is_some());
}

/// Told one at a time, in another order, with trials that failed in between and one that came in pieces, or added as rows.
#[test]
fn the_recommendation_depends_on_the_trials_alone() {
    let values = |a: f64| vec![Some(a * a), Some((a * a - 1.0).sin())];
    let mut one = Study::new(soft(), 3);
    run(&mut one, 9);
    let taken: Vec<Intervention> = one.trials().iter().map(|t| t.suggestion.intervention.clone()).collect();
    // A strategy that has seen nothing of them, and a failure in front.
    let mut other = Study::with_strategy(soft(), Arc::new(Random), 3);
    let failed = other.enqueue(Intervention { targets: vec![], actions: vec![0.123] }).unwrap().number;
    for intervention in &taken {
        other.enqueue(intervention.clone()).unwrap();
    }
    other.fail(failed).unwrap();
    for number in [4, 2, 10, 3, 7, 9, 8, 5, 6] {
        let a = taken[number - 2].actions[0];
        let mut first = values(a);
        if number == 7 {
            first[1] = None;
        }
        other.tell(number, first).unwrap();
    }
    other.amend(7, &values(taken[5].actions[0])).unwrap();
    let mut added = Study::new(soft(), 3);
    for intervention in &taken {
        let values = values(intervention.actions[0]);
        added.add(Observation { intervention: intervention.clone(), values }).unwrap();
    }
    assert_eq!(other.data().observations(), one.data().observations());
    assert_eq!(other.data().number(0), 2);
    let advice = |study: &Study, criterion: Criterion| {
        let advice = study.recommend_by(criterion).unwrap();
        let certificate = study.certify(&advice, 2.0);
        assert_eq!(advice.expects(study.problem(), &advice.intervention), advice.predicted);
        // The shown expectations are those of the network that goes with it, whoever asks it.
        assert_eq!(advice.network.forecast(study.problem(), &advice.intervention, 0), advice.predicted);
        (advice.intervention, advice.predicted, certificate)
    };
    for criterion in [Criterion::Mean, Criterion::Lower] {
        let expected = advice(&one, criterion);
        assert_eq!(advice(&other, criterion), expected);
        assert_eq!(advice(&added, criterion), expected);
    }
}
