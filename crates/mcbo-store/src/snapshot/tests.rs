//! What a snapshot gives is what the log gives; whatever is wrong with one, the log is read.

use std::collections::BTreeMap;

use mcbo_core::{Fixed, Given};

use super::*;
use crate::faults::common::postgres::Server;
use crate::faults::common::{self, EXTENDED, create, round};
use crate::{Outcome, Row, Store};

/// Checks for both databases; each gets the address of a new one.
const CHECKS: [fn(&str); 5] = [same_as_the_log, passed_over, carried_along, written_in_time, in_parts];

#[test]
fn sqlite() {
    for check in CHECKS {
        let folder = tempfile::tempdir().unwrap();
        check(&common::sqlite(&folder));
    }
}

#[test]
fn postgres() {
    let Some(server) = Server::start() else { return };
    CHECKS.iter().for_each(|check| check(&server.fresh()));
}

/// The state by the snapshot that there is.
fn kept(study: &StoredStudy) -> Option<Fold> {
    study.kept_state(&mut study.shared.database.read().unwrap())
}

/// The state by the log alone.
fn read(study: &StoredStudy) -> Fold {
    let mut fold = None;
    study.each_event(|entry| study.apply(&mut fold, entry)).unwrap();
    fold.unwrap()
}

fn write(study: &mut StoredStudy) {
    study.catch().unwrap();
    study.write_snapshot(study.fold.as_ref().unwrap()).unwrap().expect("there is none as new");
}

fn assert_same(kept: &Fold, read: &Fold) {
    let json = |memory: &Memory| serde_json::to_string(memory).unwrap();
    let (a, b) = (&kept.ledger, &read.ledger);
    assert_eq!(a.trials(), b.trials());
    assert_eq!(a.study.data(), b.study.data());
    assert!(a.study.standings().eq(b.study.standings()));
    assert_eq!(json(a.study.memory()), json(b.study.memory()));
    assert_eq!((&a.problem, &a.attributes, a.counts()), (&b.problem, &b.attributes, b.counts()));
    assert_eq!(
        (a.seq, a.moved, a.rows_moved, a.changed, &kept.tip),
        (b.seq, b.moved, b.rows_moved, b.changed, &read.tip)
    );
    assert_eq!(format!("{:?}", kept.created), format!("{:?}", read.created));
}

/// After every kind of event: the same state, and the same suggestion from it, to the bit.
fn same_as_the_log(url: &str) {
    let store = Store::open(url).unwrap().with_snapshots_after(usize::MAX);
    let mut study = create(&store, "s", "mcbo", 3);
    type Act = fn(&mut StoredStudy) -> Result<(), StoreError>;
    let acts: [Act; 16] = [
        |_| Ok(()),
        |study| study.ask("w", 2).map(|_| ()),
        |study| study.tell(1, &[("growth", vec![0.1 + 0.2])], Some("w")),
        |study| study.tell(2, &[("water", vec![3.25]), ("growth", vec![0.5]), ("light", vec![-0.0])], None),
        |study| study.correct(2, &[("growth", vec![0.75])], "a slip"),
        |study| {
            let row: Row = serde_json::from_str(
                r#"{"targets": {"moisture": [0.5]}, "values": {"growth": [1.25], "light": [0.1]}}"#,
            )
            .unwrap();
            study.add(&vec![row; 3])
        },
        |study| {
            (0..3).for_each(|_| drop(round(study, "w")));
            study.ask("w", 1).map(|_| ())
        },
        |study| study.write_beside(None, &BTreeMap::from([("who".into(), "we".into())])),
        |study| {
            study.write_beside(Some(4), &BTreeMap::from([("note".into(), serde_json::json!([1.5, null]))]))
        },
        |study| study.fail(9, "the pump broke"),
        |study| study.void(&[2, 4, 9], "a doubt").map(|_| ()),
        |study| study.restore(&[4], "").map(|_| ()),
        |study| study.ask("other", 1).map(|_| ()),
        |study| study.release(&[10], None, "gone", true).map(|_| ()),
        |study| study.change_problem(EXTENDED),
        |study| study.ask("other", 2).map(|_| ()),
    ];
    for (place, act) in acts.into_iter().enumerate() {
        act(&mut study).unwrap_or_else(|error| panic!("act {place}: {error}"));
        write(&mut study);
        let (kept, read) = (kept(&study).expect("it was just written"), read(&study));
        assert_same(&kept, &read);
        assert_same(&kept, study.fold.as_ref().unwrap());
        if place > 5 {
            let ask = |fold: &Fold| {
                let computed = fold.ledger.compute(2, Given::NONE, Fixed::NONE).unwrap();
                serde_json::to_string(&computed.proposals.iter().map(|(found, _)| found).collect::<Vec<_>>())
            };
            assert_eq!(ask(&kept).unwrap(), ask(&read).unwrap());
        }
    }
    // What is asked for from it is what the whole log gives.
    let mut fresh = Store::open(url).unwrap().open_study("s").unwrap();
    let asked = fresh.ask("third", 1).unwrap().remove(0).trial.number;
    assert_eq!(fresh.recompute(asked).unwrap().outcome, Outcome::Same);
}

/// Whatever is wrong with a snapshot: what is read is right, `check` says so, and the next one is good again.
fn passed_over(url: &str) {
    let store = Store::open(url).unwrap().with_snapshots_after(1);
    let mut study = create(&store, "s", "random", 1);
    (0..4).for_each(|_| drop(round(&mut study, "w")));
    let right = study.trials().unwrap();
    write_again(&study);
    let damages = [
        "UPDATE snapshots SET content = content || content WHERE part = 1",
        "UPDATE snapshots SET content = content || content WHERE part = 0",
        "UPDATE snapshots SET digest = 'x' WHERE part = 0",
        "UPDATE snapshots SET digest = 'x' WHERE part = 1",
        "UPDATE snapshots SET part = 2 WHERE part = 1",
        "DELETE FROM snapshots WHERE part = 1",
        "UPDATE snapshots SET seq = seq - 1",
        "UPDATE snapshots SET seq = seq + 1",
    ];
    for damage in damages {
        assert!(kept(&study).is_some(), "before {damage}");
        store.check().unwrap();
        run(&store, damage);
        assert!(kept(&study).is_none(), "{damage}");
        let error = store.check().unwrap_err().to_string();
        assert!(error.contains("snapshot of study \"s\"") && error.contains("hint:"), "{damage}: {error}");
        let mut fresh = store.open_study("s").unwrap();
        assert_eq!(fresh.trials().unwrap(), right, "{damage}");
        assert!(kept(&study).is_some(), "written again after {damage}");
    }
    // What another program has written is none of ours to judge.
    run(&store, "UPDATE snapshots SET kind = 'snapshot 0 of mcbo 0.0.1'");
    store.check().unwrap();
    assert!(kept(&study).is_none());
    assert_eq!(store.open_study("s").unwrap().trials().unwrap(), right);
    assert!(kept(&study).is_some());
    // The log is not read before it, and `check` reads it all.
    run(&store, "UPDATE events SET payload = '{}' WHERE seq = 2");
    assert_eq!(store.open_study("s").unwrap().trials().unwrap(), right);
    assert!(matches!(store.open_study("s").unwrap().events(), Err(StoreError::Damaged { .. })));
    assert!(matches!(store.check(), Err(StoreError::Damaged { .. })));
    // A snapshot does not hide that the end of a log is lost.
    run(&store, "DELETE FROM events WHERE seq = (SELECT MAX(seq) FROM events)");
    assert!(matches!(store.open_study("s").unwrap().trials(), Err(StoreError::Damaged { .. })));
}

fn run(store: &Store, statement: &'static str) {
    let mut transaction = store.shared.database.write().unwrap();
    assert!(transaction.execute(statement, &[]).unwrap() > 0, "{statement}");
    transaction.commit().unwrap();
}

/// A snapshot of what is there now.
fn write_again(study: &StoredStudy) {
    let _ = study.write_snapshot(study.fold.as_ref().unwrap()).unwrap();
}

/// With a study go its snapshots.
fn carried_along(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "mcbo", 2);
    (0..4).for_each(|_| drop(round(&mut study, "w")));
    write(&mut study);
    let copy = store.copy("s", "t").unwrap();
    assert_same(&kept(&copy).expect("it is copied"), &read(&study));
    store.rename("s", "u").unwrap();
    assert!(kept(&study).is_some());
    store.delete("u").unwrap();
    assert!(kept(&study).is_none() && kept(&copy).is_some());
    assert!(study.write_snapshot(&read(&copy)).is_err(), "none is written of a study that is gone");
    store.delete("t").unwrap();
    let rows = store.shared.database.read().unwrap().rows("SELECT seq FROM snapshots", &[]).unwrap();
    assert!(rows.is_empty());
}

/// Readers and writers keep one when enough has come, and a growing log has few written for it.
fn written_in_time(url: &str) {
    let store = Store::open(url).unwrap().with_snapshots_after(4000);
    let mut study = create(&store, "s", "random", 1);
    let (mut written, mut last, mut log) = (0, 0, 0);
    for _ in 0..200 {
        round(&mut study, "w");
        let Some(fold) = kept(&study) else { continue };
        if fold.ledger.seq > last {
            (written, last) = (written + fold.since.snapshot, fold.ledger.seq);
        }
        assert!(fold.ledger.seq + 150 > study.known_event(), "one is never far");
    }
    study
        .each_event(|entry| {
            log += entry.payload.len();
            Ok(())
        })
        .unwrap();
    assert!(last > 0 && written < 3 * log, "{written} bytes for a log of {log}");
    let heads = store.shared.database.read().unwrap().rows("SELECT seq FROM snapshots WHERE part = 0", &[]);
    assert_eq!(heads.unwrap().len(), 1, "those before it are gone");
    // One who only reads writes one too; with a store that keeps none nothing is written.
    run(&store, "DELETE FROM snapshots");
    let silent = Store::open(url).unwrap().with_snapshots_after(usize::MAX);
    silent.open_study("s").unwrap().status().unwrap();
    assert!(kept(&study).is_none());
    store.open_study("s").unwrap().status().unwrap();
    assert_eq!(kept(&study).map(|fold| fold.ledger.seq), Some(study.known_event()));
}

/// More than one part, with others who write meanwhile.
fn in_parts(url: &str) {
    let store = Store::open(url).unwrap().with_snapshots_after(usize::MAX);
    let mut study = create(&store, "s", "random", 1);
    let long = "x".repeat(PIECE / 3);
    for number in 1..=8 {
        round(&mut study, "w");
        study.write_beside(Some(number), &BTreeMap::from([("long".into(), long.as_str().into())])).unwrap();
    }
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&mut study));
        let mut other = store.open_study("s").unwrap();
        (0..3).for_each(|_| drop(round(&mut other, "other")));
        writer.join().unwrap();
    });
    let parts = store.shared.database.read().unwrap().rows("SELECT part FROM snapshots", &[]).unwrap().len();
    assert!(parts >= 3, "{parts}");
    let fold = kept(&study).expect("it is whole");
    assert!(fold.ledger.seq <= study.last_event().unwrap());
    assert_eq!(store.open_study("s").unwrap().trials().unwrap(), read(&study).ledger.trials());
}

#[test]
fn where_nothing_can_be_written_the_log_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let url = common::sqlite(&folder);
    let right = {
        let mut study = create(&Store::open(&url).unwrap(), "s", "random", 1);
        (0..4).for_each(|_| drop(round(&mut study, "w")));
        study.trials().unwrap()
    };
    let store = Store::open(&format!("{url}?mode=ro")).unwrap().with_snapshots_after(1);
    let mut study = store.open_study("s").unwrap();
    for _ in 0..2 {
        assert_eq!(study.trials().unwrap(), right);
    }
    assert!(kept(&study).is_none());
}
