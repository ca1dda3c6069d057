//! Several workers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mcbo_core::StudyError;
use mcbo_store::{LEASE, Outcome, Store, StoreError};

use crate::common::{create, round, world};

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
