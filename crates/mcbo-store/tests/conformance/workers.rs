//! Several workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mcbo_core::{Mcbo, Strategy, StrategyOptions, StudyError};
use mcbo_store::{Deed, Entry, LEASE, Library, MemoryStudy, Options, Outcome, Store, StoreError};
use serde_json::json;

use crate::common::{PROBLEM, create, round, world};

pub fn two_workers(url: &str) {
    let (here, there) = (Store::open(url).unwrap(), Store::open(url).unwrap());
    let mut a = create(&here, "s", "mcbo", 3);
    let mut b = there.open_study("s").unwrap();
    for _ in 0..3 {
        let first = a.ask("a", 1).unwrap().remove(0).trial;
        let second = b.ask("b", 1).unwrap().remove(0).trial;
        assert_ne!(first.number, second.number);
        assert_ne!(first.suggestion.intervention, second.suggestion.intervention);
        // Asking again gives the same, whoever's handle it is.
        assert_eq!(b.ask("a", 1).unwrap().remove(0).trial, first);
        assert_eq!(a.ask("b", 1).unwrap().remove(0).trial, second);
        for trial in [second, first] {
            a.tell(trial.number, &world(trial.number, &trial.suggestion.intervention), None).unwrap();
        }
    }
    assert_eq!(a.trials().unwrap(), b.trials().unwrap());
    assert_eq!(a.trials().unwrap().len(), 6);
}

pub fn leases(url: &str) {
    let time = Arc::new(AtomicI64::new(1_000_000));
    let clock = time.clone();
    let store = Store::open(url).unwrap().with_clock(move || clock.load(Ordering::SeqCst));
    create(&store, "s", "random", 3);
    let mut study = store.open_study("s").unwrap().with_lease(Duration::from_secs(60));
    let first = study.ask("a", 1).unwrap().remove(0);
    assert_eq!(first.record.lease_until, Some(1_060_000));
    time.store(1_059_999, Ordering::SeqCst);
    assert_eq!(study.ask("b", 1).unwrap().remove(0).trial.number, 2);
    assert_eq!(study.status().unwrap().expired, 0);
    time.store(1_060_000, Ordering::SeqCst);
    assert_eq!(study.status().unwrap().expired, 1);
    let again = study.ask("c", 1).unwrap().remove(0);
    assert_eq!(again.trial, first.trial, "the same number and intervention");
    assert_eq!(again.record.worker.as_deref(), Some("c"));
    assert_eq!(again.record.lease_until, Some(1_120_000));
    let retried: Vec<_> =
        study.events().unwrap().into_iter().filter(|entry| entry.kind == "retried").collect();
    assert_eq!(retried.len(), 1);
    assert_eq!(retried[0].at, 1_060_000);
    // It is c's now, and a gets another one.
    assert_eq!(study.ask("c", 1).unwrap().remove(0).trial.number, 1);
    assert_eq!(study.ask("a", 1).unwrap().remove(0).trial.number, 3);
    // The late a is heard all the same; c, who differs, is told so.
    study.tell(1, &[("light", vec![1.0])], Some("a")).unwrap();
    let error = study.tell(1, &[("light", vec![2.0])], Some("c")).unwrap_err();
    assert!(matches!(error, StoreError::Study(StudyError::Conflict { number: 1, .. })), "{error}");
    // A worker whose own lease is over gets its own trial, for a new time.
    time.store(9_000_000, Ordering::SeqCst);
    let own = study.ask("b", 1).unwrap().remove(0);
    assert_eq!((own.trial.number, own.record.lease_until), (2, Some(9_060_000)));
    // Unless said otherwise it is a day.
    let other = store.open_study("s").unwrap().ask("d", 2).unwrap().remove(1);
    assert_eq!(other.record.lease_until, Some(9_000_000 + LEASE.as_millis() as i64));
}

/// A worker that shows a sign of life keeps its trial; one that shows none loses it, and that is counted.
pub fn signs_of_life(url: &str) {
    let time = Arc::new(AtomicI64::new(0));
    let clock = time.clone();
    let store = Store::open(url).unwrap().with_clock(move || clock.load(Ordering::SeqCst));
    create(&store, "s", "random", 3);
    let mut study = store.open_study("s").unwrap().with_lease(Duration::from_secs(60));
    study.ask("a", 1).unwrap();
    study.ask("b", 1).unwrap();
    for beat in 1..=5 {
        time.store(beat * 50_000, Ordering::SeqCst);
        assert_eq!(study.keep("a", &[1, 2, 9]).unwrap(), [1], "the others are not a's");
    }
    let taken = study.ask("c", 1).unwrap().remove(0);
    assert_eq!((taken.trial.number, taken.record.lost), (2, 1), "b has shown none");
    assert_eq!(study.keep("b", &[2]).unwrap(), [0; 0]);
    assert_eq!(study.ask("d", 1).unwrap().remove(0).trial.number, 3, "a still has the first");
    assert_eq!(study.trial(1).unwrap().record.lost, 0);
    study.tell(1, &[("light", vec![1.0])], Some("a")).unwrap();
    assert_eq!(study.keep("a", &[1]).unwrap(), [0; 0], "it is not under way any more");
    let told = study.history().unwrap();
    assert_eq!(told.iter().filter(|one| matches!(one.what, Deed::Kept { trial: 1 })).count(), 5);
    assert_eq!(told.iter().filter(|one| matches!(one.what, Deed::Retried { trial: 2 })).count(), 1);
    let mut again = Store::open(url).unwrap().open_study("s").unwrap();
    assert_eq!(again.trials().unwrap(), study.trials().unwrap());
}

/// What is given back goes to the next who asks, at once.
pub fn releases(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 3);
    let given = study.ask("a", 2).unwrap();
    assert_eq!(study.release(&[1, 2], Some("b"), "", false).unwrap(), [0; 0], "they are not b's");
    assert_eq!(study.release(&[1], Some("a"), "", false).unwrap(), [1]);
    assert_eq!(study.release(&[2], None, "the node died", true).unwrap(), [2]);
    assert_eq!(study.release(&[1, 2], None, "", true).unwrap(), [0; 0], "nobody has them");
    let next = study.ask("b", 2).unwrap();
    assert_eq!(next.iter().map(|one| &one.trial).collect::<Vec<_>>(), [&given[0].trial, &given[1].trial]);
    assert_eq!(next.iter().map(|one| one.record.lost).collect::<Vec<_>>(), [0, 1]);
    study.fail(1, "").unwrap();
    let error = study.release(&[2, 1], None, "", false).unwrap_err();
    assert!(matches!(error, StoreError::Study(StudyError::NotPending { number: 1, .. })), "{error}");
    assert_eq!(study.trial(2).unwrap().record.worker.as_deref(), Some("b"), "all of them, or none");
    assert!(study.release(&[7], None, "", false).is_err());
    let told = study.history().unwrap();
    let reasons: Vec<&str> = told
        .iter()
        .filter_map(|one| match &one.what {
            Deed::Released { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, ["", "the node died"]);
    let mut again = Store::open(url).unwrap().open_study("s").unwrap();
    assert_eq!(again.trials().unwrap(), study.trials().unwrap());
}

/// What users write beside trials and studies, and the same study in memory again from what happened to it.
pub fn notes(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "mcbo", 3);
    let note = |name: &str, value| BTreeMap::from([(name.to_owned(), value)]);
    study.write_beside(None, &note("machine", json!({ "name": "bench 3", "rooms": [1, 2] }))).unwrap();
    for _ in 0..4 {
        round(&mut study, "w");
    }
    study.write_beside(Some(2), &note("seed", json!(0.1))).unwrap();
    study.write_beside(Some(2), &note("seed", json!(0.3))).unwrap();
    let before = study.version().unwrap();
    study.write_beside(Some(2), &note("seed", json!(0.3))).unwrap();
    assert_eq!(study.version().unwrap(), before, "nothing new");
    assert!(study.write_beside(Some(9), &note("seed", json!(1))).is_err());
    study.ask("w", 1).unwrap();
    let mut again = Store::open(url).unwrap().open_study("s").unwrap();
    assert_eq!(again.trials().unwrap(), study.trials().unwrap());
    assert_eq!(again.trial(2).unwrap().record.attributes["seed"], json!(0.3));
    assert_eq!(again.attributes().unwrap()["machine"]["rooms"], json!([1, 2]));

    let mut memory = MemoryStudy::of_entries(&study.events().unwrap(), &Library).unwrap();
    // Checksums are a store's.
    let stored = study.events().unwrap();
    let stored = stored.into_iter().map(|e| Entry::new(e.seq, e.at, e.kind, e.payload)).collect::<Vec<_>>();
    assert_eq!(memory.entries().unwrap().unwrap(), stored);
    assert_eq!(memory.trials(), study.trials().unwrap());
    assert_eq!(memory.attributes(), &study.attributes().unwrap());
    let next = |trial: &mcbo_store::StoredTrial| trial.trial.clone();
    assert_eq!(next(&memory.ask("x", 1).unwrap()[0]), next(&study.ask("x", 1).unwrap()[0]));
    let begun = MemoryStudy::create(PROBLEM, &Options::default(), &Library).unwrap();
    assert_eq!(begun.entries().unwrap().unwrap().len(), 1);
    assert!(MemoryStudy::of_entries(&[], &Library).is_err());
}

/// Reading and telling need no strategy; only asking does.
pub fn strategies_that_are_missing(url: &str) {
    let own = |options: &StrategyOptions| -> Result<Arc<dyn Strategy>, String> {
        match options.strategy.as_str() {
            "own" => Ok(Arc::new(Mcbo::default())),
            _ => Err("unknown".into()),
        }
    };
    let store = Store::open(url).unwrap().with_strategies(own);
    let mut study = create(&store, "s", "own", 3);
    round(&mut study, "w");
    for _ in 0..4 {
        round(&mut study, "w");
    }
    study.ask("w", 1).unwrap();
    let mut reader = Store::open(url).unwrap().open_study("s").unwrap();
    assert_eq!(reader.trials().unwrap(), study.trials().unwrap());
    assert_eq!(reader.status().unwrap(), study.status().unwrap());
    assert!(reader.history().is_ok());
    reader.tell(6, &[("light", vec![1.0])], None).unwrap();
    let error = reader.ask("x", 1).unwrap_err().to_string();
    assert!(error.contains("\"own\"") && error.contains("hint"), "{error}");
    assert!(matches!(
        store.create(
            "t",
            PROBLEM,
            &Options { strategy: StrategyOptions::named("other"), ..Options::default() }
        ),
        Err(StoreError::Strategy { .. })
    ));
}

pub fn enqueued(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "mcbo", 2);
    let chosen = study.ask("a", 1).unwrap().remove(0).trial.suggestion.intervention;
    let queued = study.enqueue(None, chosen.clone()).unwrap();
    assert_eq!((queued.trial.number, queued.trial.suggestion.strategy.as_str()), (2, "enqueued"));
    // Nobody has it: the next who asks gets it, and keeps it. Another handle sees the same.
    let mut other = store.open_study("s").unwrap();
    let given = other.ask("b", 1).unwrap().remove(0);
    assert_eq!((given.trial.clone(), given.record.worker.as_deref()), (queued.trial, Some("b")));
    assert_eq!(study.ask("c", 1).unwrap().remove(0).trial.number, 3);
    assert_eq!(study.ask("b", 1).unwrap().remove(0).trial.number, 2);
    // With a worker it is that one's from the start.
    assert_eq!(study.enqueue(Some("d"), chosen.clone()).unwrap().trial.number, 4);
    assert_eq!(study.ask("e", 1).unwrap().remove(0).trial.number, 5);
    assert_eq!(study.ask("d", 1).unwrap().remove(0).trial.number, 4);
    study.tell(2, &world(2, &chosen), Some("b")).unwrap();
    assert_eq!(study.trials().unwrap(), store.open_study("s").unwrap().trials().unwrap());
    assert!(matches!(study.recompute(2), Err(StoreError::NotProposed { number: 2 })));
    assert_eq!(study.recompute(5).unwrap().outcome, Outcome::Same);
    // What does not fit is refused, and leaves nothing behind.
    let mut wrong = chosen;
    wrong.actions.push(1.0);
    assert!(matches!(study.enqueue(None, wrong), Err(StoreError::Study(StudyError::Data(_)))));
    assert_eq!(study.trials().unwrap().len(), 5);
}

pub fn batches(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "mcbo", 2);
    round(&mut study, "w");
    round(&mut study, "w");
    let numbers = |trials: Vec<mcbo_store::StoredTrial>| -> Vec<usize> {
        trials.iter().map(|trial| trial.trial.number).collect()
    };
    assert_eq!(numbers(study.ask("w", 2).unwrap()), [3, 4]);
    assert_eq!(numbers(study.ask("w", 1).unwrap()), [3]);
    assert_eq!(numbers(study.ask("w", 3).unwrap()), [3, 4, 5]);
    assert_eq!(numbers(study.ask("v", 1).unwrap()), [6]);
    assert!(study.ask("w", 0).unwrap().is_empty());
    let distinct: BTreeSet<String> = study.trials().unwrap()[2..]
        .iter()
        .map(|t| format!("{:?}", t.trial.suggestion.intervention))
        .collect();
    assert_eq!(distinct.len(), 4, "pending trials differ");
}

pub fn threads(url: &str) {
    let store = Store::open(url).unwrap();
    create(&store, "s", "random", 0);
    let done: Vec<usize> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let store = store.clone();
                scope.spawn(move || {
                    let mut study = store.open_study("s").unwrap();
                    let name = format!("w{worker}");
                    (0..6).map(|_| round(&mut study, &name).number).collect::<Vec<usize>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(done.iter().collect::<BTreeSet<_>>().len(), 48, "no number twice");
    let mut study = store.open_study("s").unwrap();
    assert_eq!(study.status().unwrap().complete, 48);
    assert_eq!(study.events().unwrap().len(), 1 + 2 * 48);
}

/// Suggestions of the model that are computed at once are all different, and each can be computed again to the bit.
pub fn at_once(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "mcbo", 4);
    for number in 1..=9 {
        let trial = study.ask("w", 1).unwrap().remove(0).trial;
        study.tell(number, &world(number, &trial.suggestion.intervention), None).unwrap();
    }
    let start = std::sync::Barrier::new(5);
    std::thread::scope(|scope| {
        for worker in 0..5 {
            let (mut study, start) = (Store::open(url).unwrap().open_study("s").unwrap(), &start);
            scope.spawn(move || {
                start.wait();
                study.ask(&format!("w{worker}"), 1).unwrap();
            });
        }
    });
    let mut study = Store::open(url).unwrap().open_study("s").unwrap();
    let problem = study.problem().unwrap();
    let trials = study.trials().unwrap();
    assert_eq!(trials.len(), 14);
    for (place, one) in trials.iter().enumerate().skip(9) {
        let one = &one.trial.suggestion.intervention;
        for other in &trials[9..place] {
            assert!(!one.is_close(&problem, &other.trial.suggestion.intervention), "trial {}", place + 1);
        }
        let again = study.recompute(place + 1).unwrap();
        assert_eq!(again.outcome, Outcome::Same, "trial {}", place + 1);
    }
    // What follows knows all of them.
    let next = study.ask("w", 1).unwrap().remove(0).trial;
    assert_eq!(study.recompute(next.number).unwrap().outcome, Outcome::Same);
}
