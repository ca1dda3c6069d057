//! SQLite files: old ones, newer ones, strange ones, large ones.

mod common;

use std::time::Instant;

use common::{EXTENDED, PROBLEM, create, round, sqlite};
use mcbo_core::TrialState;
use mcbo_store::{Outcome, Row, Store, StoreError};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/schema-1.sqlite");

/// Runs SQL on a database without the store.
fn sql(url: &str, statements: &[String]) {
    let connection = rusqlite::Connection::open(url.strip_prefix("sqlite://").unwrap()).unwrap();
    for statement in statements {
        connection.execute_batch(statement).unwrap();
    }
}

/// A store of schema 1: what is written to it by hand gets its checksums when it is opened.
fn old(folder: &tempfile::TempDir, events: &[(i64, &str, &str)]) -> String {
    let url = sqlite(folder);
    let file = url.strip_prefix("sqlite://").unwrap();
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{file}{ending}"));
    }
    std::fs::copy(FIXTURE, file).unwrap();
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute("DELETE FROM events", ()).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for (seq, kind, payload) in events {
        connection
            .execute(
                "INSERT INTO events (study, seq, at, kind, payload) VALUES (1, ?1, 0, ?2, ?3)",
                (seq, kind, payload),
            )
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    url
}

/// Writes the file that stands for all of schema 1. To be run once per schema, never to mend a test.
#[test]
#[ignore = "writes a fixture"]
fn write_the_fixture() {
    let _ = std::fs::remove_file(FIXTURE);
    let store = Store::open(&format!("sqlite://{FIXTURE}")).unwrap().with_clock(|| 1_800_000_000_000);
    let mut study = create(&store, "old", "mcbo", 3);
    let row: Row =
        serde_json::from_str(r#"{"targets": {"moisture": [0.5]}, "values": {"growth": [1.25]}}"#).unwrap();
    study.add(&[row]).unwrap();
    for _ in 0..4 {
        round(&mut study, "w");
    }
    study.ask("w", 2).unwrap();
    study.fail(6, "the pump broke").unwrap();
    study.tell(7, &[("growth", vec![0.1 + 0.2])], Some("w")).unwrap();
    study.change_problem(EXTENDED).unwrap();
    study.ask("w", 1).unwrap();
}

#[test]
fn schema_1_is_read_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder);
    std::fs::copy(FIXTURE, url.strip_prefix("sqlite://").unwrap()).unwrap();
    let store = Store::open(&url).unwrap();
    let mut study = store.open_study("old").unwrap();
    let kinds: Vec<String> = study.events().unwrap().into_iter().map(|entry| entry.kind).collect();
    let mut expected = vec!["created", "added"];
    expected.extend(["asked", "told"].repeat(4));
    expected.extend(["asked", "asked", "failed", "told", "problem-changed", "asked"]);
    assert_eq!(kinds, expected);
    let trials = study.trials().unwrap();
    assert_eq!(trials.len(), 8);
    let states: Vec<&str> = trials.iter().map(|trial| trial.trial.state.name()).collect();
    assert_eq!(&states[4..], ["complete", "failed", "complete", "pending"]);
    assert_eq!(trials[5].record.reason.as_deref(), Some("the pump broke"));
    assert_eq!(trials[6].trial.values.as_ref().unwrap()[3], Some(0.1 + 0.2));
    assert_eq!(trials[0].trial.values.as_ref().unwrap()[2], Some(0.5), "what was set");
    assert_eq!(trials[4].trial.suggestion.strategy, "mcbo");
    assert_eq!(trials[4].record.asked, 1_800_000_000_000);
    // An older program made it: another suggestion now is no damage.
    let Outcome::OtherProgram { then, now } = study.recompute(5).unwrap().outcome else {
        panic!("the default of that time is not known any more")
    };
    assert!(then == "mcbo 0.1.0" && now.starts_with("mcbo ") && now.contains(" on "), "{then}, {now}");
    study.tell(8, &[("growth", vec![1.0])], None).unwrap();
    assert_eq!(study.ask("w", 1).unwrap()[0].trial.number, 9);
    assert_eq!(store.studies().unwrap()[0].trials, 9);
}

/// A store of the program before snapshots: it goes on, and where it cannot be written it is read as it is.
#[test]
fn schema_2_is_read_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder);
    let events = {
        let mut study = create(&Store::open(&url).unwrap(), "s", "mcbo", 2);
        (0..4).for_each(|_| drop(round(&mut study, "w")));
        study.events().unwrap()
    };
    sql(&url, &["DROP TABLE snapshots; UPDATE meta SET schema_version = 2".into()]);
    let store = Store::open(&format!("{url}?mode=ro")).unwrap().with_snapshots_after(1);
    let mut study = store.open_study("s").unwrap();
    assert_eq!((study.events().unwrap(), study.status().unwrap().complete), (events.clone(), 4));
    store.check().unwrap();
    drop((store, study));
    let store = Store::open(&url).unwrap().with_snapshots_after(1);
    let mut study = store.open_study("s").unwrap();
    assert_eq!(study.events().unwrap(), events);
    assert_eq!(study.recompute(4).unwrap().outcome, Outcome::Same);
    round(&mut study, "w");
    assert_eq!(store.open_study("s").unwrap().trials().unwrap(), study.trials().unwrap());
    store.check().unwrap();
}

#[test]
fn newer_foreign_and_broken_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
    drop(Store::open(&at("newer")).unwrap());
    sql(&at("newer"), &["UPDATE meta SET schema_version = 4".into()]);
    let error = Store::open(&at("newer")).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 4, known: 3, .. }), "{error}");
    assert!(error.to_string().contains("hint:"), "{error}");

    sql(&at("foreign"), &["CREATE TABLE meta (author TEXT)".into()]);
    assert!(matches!(Store::open(&at("foreign")).unwrap_err(), StoreError::NotOurs { .. }));

    std::fs::write(folder.path().join("text"), "this is a diary, not a database. ".repeat(100)).unwrap();
    let error = Store::open(&at("text")).unwrap_err();
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    assert!(std::fs::read_to_string(folder.path().join("text")).unwrap().starts_with("this is a diary"));

    let error = Store::open(&at("no/such/folder")).unwrap_err();
    assert!(
        matches!(error, StoreError::Unreachable { .. }) && error.to_string().contains("folder"),
        "{error}"
    );
    let error = Store::open(&format!("{}?mode=ro", at("nothing"))).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    let error = Store::open(&format!("{}?mode=upside-down", at("nothing"))).unwrap_err();
    assert!(matches!(error, StoreError::BadUrl { .. }), "{error}");
}

#[test]
fn what_is_read_only_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder);
    round(&mut create(&Store::open(&url).unwrap(), "s", "random", 1), "w");
    let store = Store::open(&format!("{url}?mode=ro")).unwrap();
    let mut study = store.open_study("s").unwrap();
    assert_eq!(study.status().unwrap().complete, 1);
    let error = study.ask("w", 1).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert_eq!(study.status().unwrap().trials, 1);
}

#[test]
fn a_log_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder);
    let mut study = create(&Store::open(&url).unwrap(), "s", "random", 1);
    round(&mut study, "w");
    let events = study.events().unwrap();
    drop(study);
    let good: Vec<(i64, &str, &str)> =
        events.iter().map(|entry| (entry.seq, entry.kind.as_str(), entry.payload.as_str())).collect();
    for (event, part) in [
        ((4, "danced", "{}"), "danced"),
        ((5, "failed", r#"{"trial":1,"reason":""}"#), "event 4 of study \"old\" is missing"),
        ((4, "failed", r#"{"trial":1,"reason":""}"#), "complete"),
        ((4, "told", "nonsense"), "expected"),
        ((4, "retried", r#"{"trial":9,"worker":"w","lease_until":0}"#), "no trial 9"),
    ] {
        let url = old(&folder, &[&good[..], &[event]].concat());
        let error = Store::open(&url).unwrap().open_study("old").unwrap().trials().unwrap_err();
        let told = matches!(error, StoreError::BadEvent { .. } | StoreError::Damaged { .. });
        assert!(told && error.to_string().contains(part), "{error}");
    }
    let url = old(&folder, &good);
    assert_eq!(Store::open(&url).unwrap().open_study("old").unwrap().trials().unwrap().len(), 1);
}

/// Ten thousand trials whose suggestions carry predictions and the memory of a model.
#[test]
fn ten_thousand_trials() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder);
    let store = Store::open(&url).unwrap();
    let mut study = create(&store, "s", "mcbo", 3);
    for _ in 0..6 {
        round(&mut study, "w");
    }
    let events = study.events().unwrap();
    let (asked, told) = (&events[events.len() - 2].payload, &events[events.len() - 1].payload);
    let mut log: Vec<(i64, &str, String)> =
        events.iter().map(|entry| (entry.seq, entry.kind.as_str(), entry.payload.clone())).collect();
    for number in 7..=10_000_usize {
        for (offset, kind, payload) in [(0, "asked", asked), (1, "told", told)] {
            let payload = payload.replacen("\"trial\":6", &format!("\"trial\":{number}"), 1);
            log.push(((2 * number + offset) as i64, kind, payload));
        }
    }
    let log: Vec<(i64, &str, &str)> =
        log.iter().map(|(seq, kind, payload)| (*seq, *kind, payload.as_str())).collect();
    let bytes = asked.len();
    drop((study, store));
    let url = old(&folder, &log);
    let start = Instant::now();
    drop(Store::open(&url).unwrap());
    let brought = start.elapsed();

    let start = Instant::now();
    let store = Store::open(&url).unwrap();
    let mut study = store.open_study("old").unwrap();
    let status = study.status().unwrap();
    let first = start.elapsed();
    assert_eq!((status.complete, status.pending), (10_000, 0));
    let start = Instant::now();
    study.status().unwrap();
    let second = start.elapsed();
    let start = Instant::now();
    assert!(study.trials().unwrap().iter().all(|trial| trial.trial.state == TrialState::Complete));
    let listed = start.elapsed();
    let start = Instant::now();
    assert_eq!(store.studies().unwrap().len(), 1);
    let list = start.elapsed();
    eprintln!(
        "10,000 trials, {bytes} bytes a suggestion: brought up to date {brought:?}; open, fold and status {first:?}; \
         status again {second:?}; trials {listed:?}; studies {list:?}"
    );
    assert!(first.as_secs_f64() < 60.0, "{first:?}");
    assert!(5 * second < first, "what is known is not read again: {second:?} after {first:?}");
    assert_eq!(study.problem_toml().unwrap(), PROBLEM);
}
