//! Changes that were taken back.

use mcbo_store::{Library, MemoryStudy, Options, Row, Store, StoredTrial, StrategyOptions};

use crate::common::{PROBLEM, create, world};

/// A wrong correction that is put right again, of a trial and of a row that was added, and both taken out and put back: the study
/// suggests, to the bit, what it suggests if nothing of it ever happened, in a store, after reopening, and in memory.
pub fn undone(url: &str) {
    let options = Options { strategy: StrategyOptions::named("mcbo"), seed: 7, initial: Some(4) };
    let store = Store::open(url).unwrap();
    let mut stored = create(&store, "s", "mcbo", 4);
    let mut memory = MemoryStudy::create(PROBLEM, &options, &Library).unwrap();
    let mut untouched = MemoryStudy::create(PROBLEM, &options, &Library).unwrap();
    let values = [("light", 0.1), ("moisture", 0.4), ("growth", 1.1)];
    let row = Row {
        actions: [("water".to_owned(), 3.0)].into(),
        values: values.map(|(name, value)| (name.to_owned(), vec![value])).into(),
        ..Row::default()
    };
    stored.add(std::slice::from_ref(&row)).unwrap();
    memory.add(std::slice::from_ref(&row)).unwrap();
    untouched.add(&[row]).unwrap();
    for number in 2..=7 {
        let trial = untouched.ask("w", 1).unwrap().remove(0).trial;
        let told = world(number, &trial.suggestion.intervention);
        untouched.tell(number, &told, None).unwrap();
        stored.ask("w", 1).unwrap();
        stored.tell(number, &told, None).unwrap();
        memory.ask("w", 1).unwrap();
        memory.tell(number, &told, None).unwrap();
    }
    let growth = |trial: usize| {
        let values = untouched.study().trials()[trial - 1].values.clone();
        values.unwrap()[2].unwrap()
    };
    // What was added is trial 1; 5 was asked for.
    let right = [(1, growth(1)), (5, growth(5))];
    for (trial, value) in right {
        for told in [value + 3.0, value] {
            stored.correct(trial, &[("growth", vec![told])], "").unwrap();
            memory.correct(trial, &[("growth", vec![told])], "").unwrap();
            assert_eq!(memory.study().data() == untouched.study().data(), told == value);
            assert_eq!(stored.study().unwrap().data(), memory.study().data());
        }
    }
    assert_eq!(stored.void(&[1, 5], "").unwrap(), memory.void(&[1, 5], "").unwrap());
    assert_eq!((memory.study().data().len(), stored.study().unwrap().data().len()), (5, 5));
    stored = Store::open(url).unwrap().open_study("s").unwrap();
    stored.restore(&[1, 5], "").unwrap();
    memory.restore(&[1, 5], "").unwrap();
    let again = MemoryStudy::of_entries(&stored.events().unwrap(), &Library).unwrap();
    for study in [memory.study(), again.study(), &stored.study().unwrap()] {
        assert_eq!(study.data(), untouched.study().data());
        assert_eq!(study.trials(), untouched.study().trials());
    }
    let next = |asked: Vec<StoredTrial>| serde_json::to_string(&asked[0].trial.suggestion).unwrap();
    let expected = next(untouched.ask("w", 1).unwrap());
    assert!(expected.contains("\"mcbo\""), "the model has decided: {expected}");
    assert_eq!(next(memory.ask("w", 1).unwrap()), expected);
    assert_eq!(next(stored.ask("w", 1).unwrap()), expected);
    assert_eq!(memory.study().memory(), untouched.study().memory());
}
