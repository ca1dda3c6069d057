//! Studies as wholes: copied, renamed, deleted.

use mcbo_store::{Store, StoreError};

use crate::common::{create, round, world};

pub fn copies(url: &str) {
    let store = Store::open(url).unwrap();
    let mut original = create(&store, "s", "mcbo", 4);
    for _ in 0..6 {
        round(&mut original, "w");
    }
    let pending = original.ask("v", 1).unwrap().remove(0);
    original.fail(pending.trial.number, "broken").unwrap();
    original.ask("v", 1).unwrap();
    let mut copy = store.copy("s", "t").unwrap();
    assert_eq!(copy.name(), "t");
    assert_eq!(copy.events().unwrap(), original.events().unwrap());
    assert_eq!(copy.trials().unwrap(), original.trials().unwrap());
    let summaries = store.studies().unwrap();
    let counts = |at: usize| {
        let summary = &summaries[at];
        (summary.trials, summary.pending, summary.complete, summary.failed, summary.changed)
    };
    assert_eq!((summaries[0].name.as_str(), summaries[1].name.as_str()), ("s", "t"));
    assert_eq!(counts(0), counts(1));
    // Next, both propose the same, to the bit, from a program of its own each.
    let next = |name: &str| {
        let mut study = Store::open(url).unwrap().open_study(name).unwrap();
        let trial = study.ask("w", 1).unwrap().remove(0).trial;
        let proposed = serde_json::to_string(&trial.suggestion).unwrap();
        assert_eq!(trial.suggestion.strategy, "mcbo", "the model has decided");
        (proposed, study.study().unwrap().memory().clone(), trial)
    };
    let (one, other) = (next("s"), next("t"));
    assert_eq!(one, other);
    // From here on they go their own ways.
    let told = world(one.2.number, &one.2.suggestion.intervention);
    copy.tell(one.2.number, &told, None).unwrap();
    assert_eq!(copy.status().unwrap().complete, original.status().unwrap().complete + 1);
    assert_eq!(original.events().unwrap().len() + 1, copy.events().unwrap().len());
}

pub fn renames(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 3);
    round(&mut study, "w");
    let before = study.trials().unwrap();
    store.rename("s", "another name").unwrap();
    assert!(matches!(store.open_study("s"), Err(StoreError::NoStudy { .. })));
    assert_eq!(store.open_study("another name").unwrap().trials().unwrap(), before);
    // Whoever had it open goes on with it.
    round(&mut study, "w");
    assert_eq!(store.open_study("another name").unwrap().trials().unwrap().len(), 2);
    create(&store, "s", "random", 3);
    assert_eq!(store.studies().unwrap().len(), 2);
}

pub fn deletes(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 3);
    round(&mut study, "w");
    let mut unused = store.open_study("s").unwrap();
    let mut kept = create(&store, "kept", "random", 3);
    round(&mut kept, "w");
    store.delete("kept").unwrap();
    store.delete("s").unwrap();
    assert!(store.studies().unwrap().is_empty());
    // Another study of the same name and of the same number is not taken for it.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let mut other = create(&store, "s", "random", 3);
    let gone = |error: StoreError| assert!(matches!(error, StoreError::Deleted { .. }), "{error}");
    gone(study.trials().unwrap_err());
    gone(study.events().unwrap_err());
    gone(study.ask("w", 1).unwrap_err());
    gone(study.tell(1, &[("light", vec![0.5])], None).unwrap_err());
    gone(unused.trials().unwrap_err());
    assert_eq!(other.trials().unwrap().len(), 0);
    assert_eq!(round(&mut other, "w").number, 1);
}

pub fn bad_shelves(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 3);
    round(&mut study, "w");
    create(&store, "t", "random", 3);
    let (events, studies) = (study.events().unwrap(), store.studies().unwrap());
    for new in ["s", "t"] {
        for error in [store.copy("s", new).unwrap_err(), store.rename("s", new).unwrap_err()] {
            assert!(matches!(error, StoreError::StudyExists { .. }), "{error}");
        }
    }
    for new in ["", "-a", " a", "a\nb", &"x".repeat(201)] {
        for error in [store.copy("s", new).unwrap_err(), store.rename("s", new).unwrap_err()] {
            assert!(matches!(error, StoreError::BadName { .. }), "{error}");
        }
    }
    let none = [
        store.copy("nobody", "u").unwrap_err(),
        store.rename("nobody", "u").unwrap_err(),
        store.delete("nobody").unwrap_err(),
    ];
    for error in none {
        assert!(error.to_string().contains("hint: the studies are s, t"), "{error}");
    }
    assert_eq!((study.events().unwrap(), store.studies().unwrap()), (events, studies));
}
