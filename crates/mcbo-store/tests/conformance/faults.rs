//! Databases that fail.

use mcbo_store::{Entry, Options, Row, Store, StoreError, StoredStudy};

use crate::common::postgres::Server;
use crate::common::{EXTENDED, PROBLEM, create, world};

type Act = fn(&mut StoredStudy) -> Result<(), StoreError>;

/// Fails every statement of every operation in turn, before and after the database has done it: the old state or the
/// new one is there then, and doing it again ends in the new one.
pub fn failing_statements(url: &str) {
    let store = Store::open(url).unwrap();
    let acts: [(&str, Act); 5] = [
        ("ask", |study| study.ask("w", 3).map(|_| ())),
        ("tell", |study| {
            let intervention = study.trials()?[0].trial.suggestion.intervention.clone();
            study.tell(1, &world(1, &intervention), None)
        }),
        ("fail", |study| study.fail(2, "no")),
        ("change", |study| study.change_problem(EXTENDED)),
        ("add", |study| {
            let row: Row = serde_json::from_str(r#"{"values": {"growth": [1.0]}}"#).unwrap();
            study.add(&[row.clone(), row])
        }),
    ];
    let mut failures = 0;
    for late in [false, true] {
        let name = format!("late {late}");
        let mut study = create(&store, &name, "random", 1);
        for (what, act) in &acts {
            let before = study.events().unwrap();
            for statement in 0.. {
                store.fail_after(statement, late);
                let done = act(&mut study);
                store.fail_after(u32::MAX, late);
                let after = Store::open(url).unwrap().open_study(&name).unwrap().events().unwrap();
                assert_eq!(after[..before.len()], before[..], "{what}: what was there stays");
                let new = &after[before.len()..];
                assert!(new.is_empty() || is_whole(what, new), "{what}, statement {statement}: {new:?}");
                assert_eq!(study.events().unwrap(), after);
                assert!(study.trials().is_ok());
                if done.is_ok() {
                    assert!(is_whole(what, new), "{what} is done: {new:?}");
                    break;
                }
                failures += 1;
                if !new.is_empty() {
                    assert!(late, "{what}: written before it failed");
                    if *what != "add" {
                        act(&mut study).unwrap();
                        assert_eq!(study.events().unwrap(), after, "{what}: nothing is doubled");
                    }
                    break;
                }
            }
        }
        assert_eq!(study.status().unwrap().trials, 5);
        assert_eq!(store.studies().unwrap().last().unwrap().trials, 5);
    }
    assert!(failures > 40, "only {failures} statements failed");
}

fn is_whole(what: &str, new: &[Entry]) -> bool {
    let kinds: Vec<&str> = new.iter().map(|entry| entry.kind.as_str()).collect();
    kinds
        == match what {
            "ask" => vec!["asked"; 3],
            "tell" => vec!["told"],
            "fail" => vec!["failed"],
            "change" => vec!["problem-changed"],
            _ => vec!["added"],
        }
}

pub fn failing_creation(url: &str) {
    let store = Store::open(url).unwrap();
    for statement in 0.. {
        store.fail_after(statement, false);
        let made = store.create("s", PROBLEM, &Options::default());
        store.fail_after(u32::MAX, false);
        match made {
            Ok(_) => {
                assert!(statement > 4);
                break;
            }
            Err(_) => assert!(store.studies().unwrap().is_empty()),
        }
    }
    assert_eq!(store.open_study("s").unwrap().events().unwrap().len(), 1);
}

/// What only a server can do.
pub fn postgres_only(server: &Server) {
    let nowhere = Store::open(&server.address("nowhere")).unwrap_err();
    assert!(matches!(nowhere, StoreError::Unreachable { .. }), "{nowhere}");
    let closed = Store::open("postgresql://postgres:secret@127.0.0.1:1/x").unwrap_err();
    assert!(matches!(closed, StoreError::Unreachable { .. }), "{closed}");
    assert!(!closed.to_string().contains("secret") && closed.to_string().contains("hint:"), "{closed}");

    // A server that was restarted is found again.
    let url = server.fresh();
    let store = Store::open(&url).unwrap();
    let mut study = create(&store, "s", "random", 1);
    study.ask("w", 1).unwrap();
    server.down();
    let down = study.ask("w", 2).unwrap_err();
    assert!(matches!(down, StoreError::Unreachable { .. }), "{down}");
    server.up();
    assert_eq!(study.ask("w", 2).unwrap().len(), 2);
    server.down();
    server.up();
    assert_eq!(study.trials().unwrap().len(), 2);

    let database = url.rsplit('/').next().unwrap();
    server.sql(database, "UPDATE meta SET schema_version = 99");
    let newer = Store::open(&url).unwrap_err();
    assert!(matches!(newer, StoreError::NewerSchema { found: 99, .. }), "{newer}");
    server.sql(database, "ALTER TABLE meta RENAME COLUMN schema_version TO other");
    let foreign = Store::open(&url).unwrap_err();
    assert!(matches!(foreign, StoreError::NotOurs { .. }), "{foreign}");

    let url = server.fresh();
    create(&Store::open(&url).unwrap(), "s", "random", 1);
    let database = url.rsplit('/').next().unwrap();
    server.sql(database, &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let store = Store::open(&url).unwrap();
    let mut study = store.open_study("s").unwrap();
    assert_eq!(study.trials().unwrap(), []);
    let error = study.ask("w", 1).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}
