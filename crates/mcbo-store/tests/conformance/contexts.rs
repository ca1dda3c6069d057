//! Trials that are chosen for what is known beforehand, and data outside the ranges of today.

use mcbo_core::{DataError, Given, StudyError};
use mcbo_store::{Options, Outcome, Row, Store, StoreError};

const MILL: &str = r#"
maximize = "y"
[nodes.quality]
context = true
[nodes.y]
parents = ["quality"]
actions = ["dose"]
[actions.dose]
range = [0, 1]
cost = { fixed = 2 }
"#;

pub fn contexts(url: &str) {
    let store = Store::open(url).unwrap();
    let options = Options { initial: Some(3), ..Options::default() };
    let mut study = store.create("mill", MILL, &options).unwrap();
    let problem = study.problem().unwrap();
    let given = |quality: f64| Given::new(&problem, [("quality", vec![quality])]).unwrap();
    for (place, quality) in [0.2, 0.9, 0.5, 0.7, 0.3].into_iter().enumerate() {
        let trial = study.ask_given("w", 1, &given(quality)).unwrap().remove(0).trial;
        assert_eq!((trial.number, &trial.suggestion.given), (place + 1, &given(quality)));
        // Asked again the same way it is the same; for something else it is another.
        assert_eq!(study.ask_given("w", 1, &given(quality)).unwrap()[0].trial, trial);
        let dose = trial.suggestion.intervention.actions[0];
        let wrong = study.tell(trial.number, &[("quality", vec![quality + 0.1]), ("y", vec![1.0])], None);
        assert!(
            matches!(wrong, Err(StoreError::Study(StudyError::Data(DataError::ContradictsGiven { .. })))),
            "{wrong:?}"
        );
        study.tell(trial.number, &[("y", vec![1.0 - (dose - quality).powi(2)])], None).unwrap();
    }
    let first = study.ask_given("w", 1, &given(0.4)).unwrap()[0].trial.number;
    let other = study.ask_given("w", 1, &given(0.6)).unwrap()[0].trial.number;
    assert_ne!(first, other);
    assert_eq!(study.ask("w", 2).unwrap().len(), 2, "without a word on it those it has");
    // Reopened it is the same, and what was proposed can be computed again with what was given then.
    let spent = study.study().unwrap().spent();
    drop(study);
    let mut study = Store::open(url).unwrap().open_study("mill").unwrap();
    assert_eq!(study.study().unwrap().spent(), spent);
    assert_eq!(study.trial(first).unwrap().trial.suggestion.given, given(0.4));
    for trial in [1, 4, 5, first] {
        let again = study.recompute(trial).unwrap();
        assert_eq!(again.outcome, Outcome::Same, "trial {trial}");
    }
}

/// Ranges may be narrowed: what was done stays.
pub fn ranges(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = store.create("mill", MILL, &Options::default()).unwrap();
    let row = |dose: f64| -> Row {
        serde_json::from_str(&format!(
            r#"{{"actions": {{"dose": {dose}}}, "values": {{"quality": [0.5], "y": [{dose}]}}}}"#
        ))
        .unwrap()
    };
    study.add(&[row(0.2), row(0.9), row(7.5)]).unwrap();
    study.change_problem(&MILL.replace("range = [0, 1]", "range = [0.1, 0.3]")).unwrap();
    drop(study);
    let mut study = Store::open(url).unwrap().open_study("mill").unwrap();
    assert_eq!(study.study().unwrap().data().len(), 3);
    let advice = study.study().unwrap().recommend().unwrap();
    assert!((0.1..=0.3).contains(&advice.intervention.actions[0]) || advice.intervention.actions[0] == 0.1);
    let said: Vec<String> = advice.warnings.iter().map(ToString::to_string).collect();
    assert!(
        said.iter()
            .any(|text| text.contains("dose was 0.9 to 7.5 in 2 trials, outside its range 0.1 to 0.3")),
        "{said:?}"
    );
}
