//! What is refused, and that it leaves no trace.

use mcbo_core::{DataError, StudyError, TrialState};
use mcbo_store::{Duplicates, Options, Row, RowFault, Store, StoreError, StoredStudy, StrategyOptions};

use crate::common::{PROBLEM, create, world};

/// Runs what must fail; the study must be as it was.
fn refused<T>(
    study: &mut StoredStudy,
    act: impl FnOnce(&mut StoredStudy) -> Result<T, StoreError>,
) -> StoreError {
    let before = (study.events().unwrap(), study.trials().unwrap());
    let Err(error) = act(study) else { panic!("a mistake was taken") };
    assert_eq!(study.events().unwrap(), before.0, "{error}");
    assert_eq!(study.trials().unwrap(), before.1, "{error}");
    error
}

pub fn identical_and_conflicting_tells(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 1);
    let trial = study.ask("w", 1).unwrap().remove(0).trial;
    let values = world(1, &trial.suggestion.intervention);
    study.tell(1, &values, Some("w")).unwrap();
    let events = study.events().unwrap();
    study.tell(1, &values, Some("w")).unwrap();
    study.tell(1, &values[2..], Some("v")).unwrap();
    assert_eq!(study.events().unwrap(), events, "no event for what is known");
    let (was, other) = (values[2].1[0], values[2].1[0] + 1e-12);
    let error = refused(&mut study, |study| study.tell(1, &[("growth", vec![other])], None));
    let StoreError::Study(StudyError::Conflict { number: 1, ref node, ref stored, ref told }) = error else {
        panic!("{error}")
    };
    assert_eq!((node.as_str(), stored, told), ("growth", &was.to_string(), &other.to_string()));
    let said = error.to_string();
    assert!(said.contains(&was.to_string()) && said.contains(&other.to_string()), "{said}");
    // Failing what is told is refused, failing twice is not.
    let error = refused(&mut study, |study| study.fail(1, "no"));
    assert!(matches!(error, StoreError::Study(StudyError::NotPending { number: 1, .. })), "{error}");
    study.ask("w", 1).unwrap();
    study.fail(2, "no").unwrap();
    study.fail(2, "no").unwrap();
    assert_eq!(study.events().unwrap().len(), events.len() + 2);
    // What has failed counts if it gave something after all, now and when the log is read again.
    let done = study.trials().unwrap()[1].trial.suggestion.intervention.clone();
    study.tell(2, &world(2, &done), None).unwrap();
    let reopened = store.open_study("s").unwrap().trials().unwrap().remove(1);
    assert_eq!((reopened.trial.state, reopened.record.reason), (TrialState::Complete, None));
    let error = refused(&mut study, |study| study.fail(2, "no"));
    assert!(matches!(error, StoreError::Study(StudyError::NotPending { number: 2, .. })), "{error}");
}

pub fn known_rows(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 1);
    let row = |light: f64, growth: f64| {
        let values =
            [("light", light), ("growth", growth)].map(|(name, value)| (name.to_owned(), vec![value]));
        Row { values: values.into(), ..Row::default() }
    };
    let (old, new) = (row(1.0, 2.0), row(1.0, 2.5));
    assert_eq!(study.add_with(std::slice::from_ref(&old), Duplicates::Refuse).unwrap(), 1);
    let both = [new.clone(), old.clone()];
    let error = refused(&mut study, |study| study.add_with(&both, Duplicates::Refuse));
    let StoreError::KnownRows(places) = error else { panic!("{error}") };
    assert_eq!(places, [1]);
    assert_eq!(study.add_with(&both, Duplicates::Skip).unwrap(), 1);
    assert_eq!(study.add_with(&both, Duplicates::Skip).unwrap(), 0);
    assert_eq!(study.add_with(&both, Duplicates::Take).unwrap(), 2);
    assert_eq!(study.status().unwrap().complete, 4);
    // Others who add the same at the same time add it once.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let mut study = store.open_study("s").unwrap();
            scope.spawn(move || study.add_with(&[row(3.0, 3.0)], Duplicates::Skip).unwrap());
        }
    });
    assert_eq!(study.status().unwrap().complete, 5);
}

pub fn bad_tells(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 40);
    let trials = study.ask("w", 30).unwrap();
    let of = |set: bool| {
        let fits =
            |trial: &&mcbo_store::StoredTrial| trial.trial.suggestion.intervention.target(1).is_some() == set;
        trials.iter().find(fits).expect("both kinds are among many").trial.clone()
    };
    let (free, set) = (of(false).number, of(true));
    let mut data = |trial: usize, values: &[(&str, Vec<f64>)]| match refused(&mut study, |study| {
        study.tell(trial, values, None)
    }) {
        StoreError::Study(StudyError::Data(error)) => error,
        other => panic!("{other}"),
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(data(free, &[("growth", vec![value])]), DataError::NotFinite { .. }));
    }
    assert!(matches!(data(free, &[("grwth", vec![1.0])]), DataError::UnknownName { .. }));
    assert!(matches!(data(free, &[("growth", vec![])]), DataError::WrongLength { .. }));
    assert!(matches!(data(free, &[("growth", vec![1.0, 2.0])]), DataError::WrongLength { .. }));
    // What was set may have been something else, but it was a number.
    let error = data(set.number, &[("moisture", vec![f64::NAN])]);
    assert!(matches!(error, DataError::NotFinite { .. }), "{error}");
    assert!(matches!(data(free, &[]), DataError::Nothing));
    for trial in [0, 31, usize::MAX] {
        let error = refused(&mut study, |study| study.tell(trial, &[("growth", vec![1.0])], None));
        assert!(matches!(error, StoreError::Study(StudyError::UnknownTrial { .. })), "{error}");
    }
    let twice = [("growth", vec![1.0]), ("growth", vec![2.0])];
    let error = refused(&mut study, |study| study.tell(free, &twice, None));
    assert!(matches!(error, StoreError::Twice { .. }), "{error}");
    // The same once something was told: the further values are checked too.
    study.tell(set.number, &[("growth", vec![1.0])], None).unwrap();
    study.tell(free, &[("growth", vec![1.0])], None).unwrap();
    for (trial, values) in
        [(set.number, [("moisture", vec![f64::NAN])]), (free, [("moisture", vec![f64::NAN])])]
    {
        refused(&mut study, |study| study.tell(trial, &values, None));
    }
    study.tell(free, &[("light", vec![1.0])], None).unwrap();
}

pub fn bad_rows(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 2);
    let row = |text: &str| serde_json::from_str::<Row>(text).unwrap();
    let good = row(r#"{"actions": {"water": 1.0}, "values": {"growth": [1.0]}}"#);
    let mut not_finite = good.clone();
    not_finite.values.insert("light".into(), vec![f64::NAN]);
    let rows = [
        good.clone(),
        row(r#"{"actions": {"wine": 1.0}, "values": {"growth": [1.0]}}"#),
        row(r#"{"actions": {"water": 11.0}, "values": {"growth": [1.0]}}"#),
        good.clone(),
        row(r#"{"targets": {"light": [1.0]}, "values": {"growth": [1.0]}}"#),
        row(r#"{"targets": {"moisture": [0.5]}, "values": {"moisture": [0.6]}}"#),
        row(r#"{"values": {"grwth": [1.0]}}"#),
        row(r#"{"values": {}}"#),
        not_finite,
    ];
    let StoreError::Rows(faults) = refused(&mut study, |study| study.add(&rows)) else { panic!("rows") };
    let indices: Vec<usize> = faults.iter().map(|fault| fault.index).collect();
    // A row outside its range, the third, is still one.
    assert_eq!(indices, [1, 4, 5, 6, 7, 8]);
    assert!(matches!(faults[0].fault, RowFault::UnknownAction { .. }));
    assert!(matches!(faults[1].fault, RowFault::Data(DataError::NotSettable { .. })));
    assert!(matches!(faults[5].fault, RowFault::Data(DataError::NotFinite { .. })));
    study.add(&[]).unwrap();
    study.add(&[good.clone(), good]).unwrap();
    assert_eq!(study.status().unwrap().complete, 2);
    assert_eq!(study.events().unwrap().len(), 2, "one event for all rows");
    let error = refused(&mut study, |study| study.recompute(1));
    assert!(matches!(error, StoreError::NotProposed { number: 1 }), "{error}");
    // They count towards the initial design.
    assert_eq!(study.ask("w", 1).unwrap()[0].trial.suggestion.strategy, "random");
}

pub fn bad_studies(url: &str) {
    let store = Store::open(url).unwrap();
    let error = store.open_study("s").unwrap_err();
    assert!(error.to_string().contains("the store is empty"), "{error}");
    create(&store, "s", "random", 1);
    let make = |name: &str, problem: &str, strategy: StrategyOptions| {
        store.create(name, problem, &Options { strategy, ..Options::default() }).unwrap_err()
    };
    let error = make("s", PROBLEM, StrategyOptions::default());
    assert!(matches!(error, StoreError::StudyExists { .. }), "{error}");
    for name in ["", " a", "a ", "a\nb", &"x".repeat(201)] {
        assert!(matches!(make(name, PROBLEM, StrategyOptions::default()), StoreError::BadName { .. }));
    }
    assert!(matches!(make("t", "maximize = 1", StrategyOptions::default()), StoreError::Problem(_)));
    for strategy in [
        StrategyOptions::named("magic"),
        StrategyOptions { preset: "huge".into(), ..StrategyOptions::default() },
        StrategyOptions { beta: Some(f64::NAN), ..StrategyOptions::default() },
    ] {
        let error = make("t", PROBLEM, strategy);
        assert!(
            matches!(error, StoreError::Strategy { .. }) && error.to_string().contains("hint:"),
            "{error}"
        );
    }
    let error = store.open_study("t").unwrap_err();
    assert!(error.to_string().contains("the studies are s"), "{error}");
    assert_eq!(store.studies().unwrap().len(), 1);
}
