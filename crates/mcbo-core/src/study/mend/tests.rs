use super::*;
use crate::Problem;
use crate::strategy::Proposal;

fn problem(more: &str) -> Problem {
    let text = "maximize = \"y\"\n[nodes.x]\nactions = [\"a\"]\n[nodes.y]\nparents = [\"x\"]\n[actions.a]\nrange = [0, 1]\n";
    Problem::from_toml(&format!("{text}{more}")).unwrap()
}

fn told() -> Study {
    let mut study = Study::new(problem(""), 1);
    for number in 1..=2 {
        study.ask().unwrap();
        study.tell(number, vec![None, Some(number as f64)]).unwrap();
    }
    study
}

/// What every trial of a process gives.
fn right(number: usize) -> Vec<Option<f64>> {
    vec![Some(0.1 * number as f64), Some((number as f64).sin())]
}

/// Two studies with the same proposals and the same memory; `tell` says what each is told of a trial.
fn twins(trials: usize, mut tell: impl FnMut(usize, &mut Study, &mut Study)) -> (Study, Study) {
    let (mut one, mut other) = (Study::new(problem(""), 1), Study::new(problem(""), 1));
    for number in 1..=trials {
        let suggestion = one.ask().unwrap().suggestion.clone();
        other.resume(Proposal { suggestion, memory: one.memory().clone() }).unwrap();
        tell(number, &mut one, &mut other);
    }
    (one, other)
}

/// What both propose next is the same to the bit, by the model, with what they remember.
fn go_on_alike(one: &mut Study, other: &mut Study) {
    assert_eq!(one.data(), other.data());
    assert_eq!(one.trials(), other.trials());
    assert_eq!(one.ask().unwrap(), other.ask().unwrap());
    assert_eq!(one.memory(), other.memory());
    assert_eq!(one.trials().last().unwrap().suggestion.strategy, "mcbo", "the model has decided");
    assert_eq!(one.recommend().unwrap().intervention, other.recommend().unwrap().intervention);
}

/// Told wrong and put right, a study goes on as one that was told right at once, given what it remembers.
#[test]
fn a_corrected_study_goes_on_as_one_that_was_told_right() {
    let (mut corrected, mut reference) = twins(8, |number, corrected, reference| {
        reference.tell(number, right(number)).unwrap();
        let wrong = if number == 3 { vec![right(3)[0], Some(7.0)] } else { right(number) };
        corrected.tell(number, wrong).unwrap();
    });
    assert_ne!(corrected.data(), reference.data());
    assert!(corrected.correct(3, &[None, right(3)[1]]).unwrap());
    assert!(!corrected.correct(3, &right(3)).unwrap(), "nothing is left to correct");
    // There and back again is as if nothing had been.
    assert!(corrected.correct(3, &[None, Some(-5.0)]).unwrap());
    assert_ne!(corrected.data(), reference.data());
    assert!(corrected.correct(3, &[None, right(3)[1]]).unwrap());
    go_on_alike(&mut corrected, &mut reference);
}

/// Taken out, a trial counts no more than one that was taken out before anything was told of it; put back, as if nothing had been.
#[test]
fn a_voided_study_goes_on_as_one_that_was_never_told_of_it() {
    let (mut voided, mut reference) = twins(9, |number, voided, reference| {
        voided.tell(number, right(number)).unwrap();
        if number == 4 {
            reference.void(4).unwrap();
        } else {
            reference.tell(number, right(number)).unwrap();
        }
    });
    let before = (voided.trials().to_vec(), voided.data().clone());
    assert!(voided.void(4).unwrap() && !voided.void(4).unwrap());
    assert_eq!((voided.data().len(), voided.trials()[3].values.clone()), (8, Some(right(4))));
    assert_eq!(voided.data().number(3), 5, "trials keep their numbers");
    assert!(voided.restore(4).unwrap() && !voided.restore(4).unwrap());
    assert_eq!((voided.trials().to_vec(), voided.data().clone()), before);
    voided.void(4).unwrap();
    // What stays on record is all that differs.
    assert!(reference.take(4, right(4)).unwrap());
    go_on_alike(&mut voided, &mut reference);
    // And it recommends what a study recommends that has these rows alone.
    let mut rows = Study::new(problem(""), 1);
    voided.data().observations().iter().for_each(|row| rows.add(row.clone()).unwrap());
    assert_eq!(rows.recommend().unwrap().intervention, voided.recommend().unwrap().intervention);
}

/// What was really done counts as if it had been asked for.
#[test]
fn what_was_really_done_is_what_the_model_learns_from() {
    let mut asked = Vec::new();
    let (mut done, mut reference) = twins(8, |number, done, reference| {
        asked.push(done.trials()[number - 1].suggestion.intervention.actions[0]);
        reference.tell(number, right(number)).unwrap();
        let named = [("x", vec![right(number)[0].unwrap()]), ("y", vec![right(number)[1].unwrap()])];
        let mut named: Vec<(&str, &[f64])> = named.iter().map(|(n, v)| (*n, v.as_slice())).collect();
        if number == 3 {
            named.push(("a", &[0.125]));
        }
        assert!(done.take_named(number, &named).unwrap());
        assert!(!done.take_named(number, &named).unwrap(), "the same again is nothing new");
    });
    assert_eq!(done.trials()[2].intervention().actions, [0.125]);
    assert_eq!(done.trials()[2].suggestion.intervention.actions, [asked[2]]);
    assert_eq!(done.data().observations()[2].intervention.actions, [0.125]);
    // The reference is told so later, by a correction.
    assert!(reference.correct_named(3, &[("a", &[0.125])]).unwrap());
    go_on_alike(&mut done, &mut reference);
    // And a study into which the same rows were added recommends the same.
    let mut rows = Study::new(problem(""), 1);
    done.data().observations().iter().for_each(|row| rows.add(row.clone()).unwrap());
    assert_eq!(rows.recommend().unwrap().intervention, done.recommend().unwrap().intervention);
}

#[test]
fn what_was_done_is_told_once_and_corrected_afterwards() {
    let mut study = told();
    let asked = study.trials()[0].suggestion.intervention.actions[0];
    // With what was asked for, to a few digits, nothing is new.
    assert!(!study.take_named(1, &[("a", &[asked + 1e-8])]).unwrap());
    assert_eq!(study.trials()[0].done, None);
    assert!(study.take_named(1, &[("a", &[0.25])]).unwrap());
    let before = (study.trials().to_vec(), study.data().clone());
    let conflict = study.take_named(1, &[("a", &[0.5])]).unwrap_err();
    assert!(
        matches!(conflict, StudyError::Conflict { ref stored, ref told, .. } if stored == "0.25" && told == "0.5"),
        "{conflict}"
    );
    for wrong in [&[f64::NAN][..], &[f64::INFINITY], &[0.1, 0.2]] {
        assert!(study.correct_named(1, &[("a", wrong)]).is_err(), "{wrong:?}");
    }
    for (name, what) in [("b", "unknown"), ("do(x)", "not settable"), ("do(b)", "unknown")] {
        assert!(study.take_named(1, &[(name, &[0.5])]).is_err(), "{what}");
    }
    // One of two things does not fit: neither is taken.
    assert!(study.correct_named(1, &[("a", &[0.75]), ("y", &[f64::INFINITY])]).is_err());
    assert!(study.correct_named(1, &[("a", &[0.75]), ("x", &[1.0])]).is_err(), "x was never told");
    assert!(study.take_named(1, &[("a", &[0.25]), ("a", &[0.25])]).is_err());
    assert_eq!((study.trials().to_vec(), study.data().clone()), before);
    assert!(study.correct_named(1, &[("a", &[0.75]), ("y", &[3.0])]).unwrap());
    assert_eq!(study.data().observations()[0].intervention.actions, [0.75]);
    assert!(study.correct_named(1, &[("a", &[asked])]).unwrap());
    assert_eq!(study.trials()[0].done, None, "back at what was asked for");
    // A trial under way: what is done is known before what comes of it.
    study.ask().unwrap();
    assert!(study.take_named(3, &[("a", &[0.3])]).unwrap());
    assert_eq!((study.trials()[2].state, study.data().len()), (TrialState::Pending, 2));
    assert!(study.take_named(3, &[("y", &[0.7])]).unwrap());
    assert_eq!(study.data().observations()[2].intervention.actions, [0.3]);
}

#[test]
fn nodes_that_were_set_may_be_told_too() {
    let text = "maximize = \"y\"\n[nodes.x]\ndo = [0, 1]\n[nodes.z]\ndim = 2\ndo = [[0, 1], [0, 1]]\n[nodes.y]\nparents = [\"x\", \"z\"]\n";
    let mut study = Study::new(Problem::from_toml(text).unwrap(), 1);
    let set = |targets: Vec<(usize, Vec<f64>)>| Intervention { targets, actions: Vec::new() };
    study.enqueue(set(vec![(1, vec![0.25, 0.5])])).unwrap();
    assert!(study.take_named(1, &[("z[1]", &[0.75]), ("y", &[1.0])]).unwrap());
    assert_eq!(study.trials()[0].intervention().targets, [(1, vec![0.25, 0.75])]);
    assert_eq!(study.trials()[0].values, Some(vec![None, Some(0.25), Some(0.75), Some(1.0)]));
    // Set by force though nobody asked for it.
    assert!(study.correct_named(1, &[("do(x)", &[0.5])]).unwrap());
    assert_eq!(study.trials()[0].intervention().targets, [(0, vec![0.5]), (1, vec![0.25, 0.75])]);
    assert_eq!(study.data().observations()[0].values[0], Some(0.5));
    study.enqueue(set(vec![])).unwrap();
    let half = study.take_named(2, &[("do(z[0])", &[0.5]), ("y", &[1.0])]);
    assert!(half.is_err(), "a vector is set as a whole");
    assert!(study.take_named(2, &[("z", &[0.1, 0.2]), ("y", &[1.0])]).unwrap());
    assert_eq!(study.trials()[1].done, None, "measured, not set");
}

/// Nothing that was accepted leaves a study without a way on.
#[test]
fn there_is_always_a_way_on() {
    let mut study = told();
    for number in 1..=2 {
        study.void(number).unwrap();
    }
    assert!(study.data().is_empty() && study.best_trial().is_none());
    let again = study.ask().unwrap();
    assert_eq!(again.suggestion.strategy, "design", "the design goes on");
    assert!(study.restore(9).is_err() && study.void(0).is_err());
    // A trial under way that was taken out is not waited for, and what comes of it after all is kept.
    study.void(3).unwrap();
    assert!(study.fail(3).is_err());
    assert!(study.take(3, vec![None, Some(5.0)]).unwrap());
    assert!(study.correct(3, &[None, Some(6.0)]).unwrap());
    assert!(study.amend(3, &[Some(0.5), None]).unwrap());
    assert_eq!((study.data().len(), study.trials()[2].state), (0, TrialState::Voided));
    study.restore(3).unwrap();
    assert_eq!((study.trials()[2].state, study.data().len()), (TrialState::Complete, 1));
    assert_eq!(study.data().observations()[0].values, [Some(0.5), Some(6.0)]);
    // A failed one may be proposed again.
    let number = study.ask().unwrap().number;
    study.fail(number).unwrap();
    study.void(number).unwrap();
    study.restore(number).unwrap();
    assert_eq!(study.trials()[number - 1].state, TrialState::Failed);
    // What was taken out does not keep a problem from changing, and comes back only if it fits.
    let text = |set: &str| {
        format!("maximize = \"y\"\n[nodes.x]\n{set}[nodes.y]\nparents = [\"x\"]\n[nodes.z]\ndo = [0, 1]\n")
    };
    let with = |set: &str| Problem::from_toml(&text(set)).unwrap();
    let mut study = Study::new(with("do = [0, 1]\n"), 1);
    study.enqueue(Intervention { targets: vec![(0, vec![0.5])], actions: Vec::new() }).unwrap();
    study.tell(1, vec![None, Some(1.0), None]).unwrap();
    study.void(1).unwrap();
    study.change_problem(with("")).unwrap();
    let before = (study.trials().to_vec(), study.data().clone());
    assert!(matches!(study.restore(1), Err(StudyError::Data(DataError::NotSettable { .. }))));
    assert_eq!((study.trials().to_vec(), study.data().clone()), before);
    assert!(study.ask().is_ok());
}

#[test]
fn what_cannot_be_corrected_is_refused() {
    let mut study = told();
    let before = (study.trials().to_vec(), study.data().clone());
    assert_eq!(
        study.correct(1, &[Some(0.5), Some(3.0)]),
        Err(StudyError::NotTold { number: 1, node: "x".into() })
    );
    assert!(matches!(study.correct(1, &[None, Some(f64::NAN)]), Err(StudyError::Data(_))));
    assert!(matches!(study.correct(1, &[None]), Err(StudyError::Data(_))));
    assert!(matches!(study.correct(3, &[None, None]), Err(StudyError::UnknownTrial { .. })));
    assert_eq!((study.trials().to_vec(), study.data().clone()), before);
    study.ask().unwrap();
    assert!(matches!(study.correct(3, &[None, Some(1.0)]), Err(StudyError::NotPending { .. })));
}
