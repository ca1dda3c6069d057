//! Databases that fail, for tests: statements that are refused, or whose answer is lost.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::{Entry, Options, Row, Store, StoreError, StoredStudy};

#[path = "../tests/common/mod.rs"]
pub(crate) mod common;

use common::postgres::Server;
use common::{EXTENDED, PROBLEM, create, world};

/// Which statement of a database fails.
pub(crate) struct Faults {
    /// Counted down at every statement; the one that finds zero fails, and below zero none does.
    statements: AtomicI64,
    late: AtomicBool,
}

impl Default for Faults {
    fn default() -> Self {
        Self { statements: AtomicI64::new(-1), late: AtomicBool::new(false) }
    }
}

impl Faults {
    /// The statement after `statements` more fails, before or after the database has done it.
    fn fail_after(&self, statements: u32, late: bool) {
        self.late.store(late, Ordering::SeqCst);
        self.statements.store(i64::from(statements), Ordering::SeqCst);
    }

    /// Runs a statement, unless it is its turn to fail.
    pub fn around<T>(&self, url: &str, act: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let reason = "a failure that a test asked for".to_owned();
        let failure = StoreError::Database { url: url.to_owned(), reason };
        match self.turn() {
            None => act(),
            Some(late) => {
                if late {
                    act()?;
                }
                Err(failure)
            }
        }
    }

    /// Whether the statement that is run now fails, and if it does whether that is after the database has done it.
    fn turn(&self) -> Option<bool> {
        let fails = self.statements.load(Ordering::SeqCst) >= 0
            && self.statements.fetch_sub(1, Ordering::SeqCst) == 0;
        fails.then(|| self.late.load(Ordering::SeqCst))
    }
}

#[test]
fn sqlite() {
    for check in [failing_statements, failing_creation, failing_shelves] {
        let folder = tempfile::tempdir().unwrap();
        check(&common::sqlite(&folder));
    }
}

#[test]
fn postgres() {
    let Some(server) = Server::start() else { return };
    failing_statements(&server.fresh());
    failing_creation(&server.fresh());
    failing_shelves(&server.fresh());
}

type Act = fn(&mut StoredStudy) -> Result<(), StoreError>;

/// Fails every statement of every operation in turn, before and after the database has done it: the old state or the
/// new one is there then, and doing it again ends in the new one.
fn failing_statements(url: &str) {
    let store = Store::open(url).unwrap();
    let acts: [(&str, Act); 6] = [
        ("ask", |study| study.ask("w", 3).map(|_| ())),
        ("tell", |study| {
            let intervention = study.trials()?[0].trial.suggestion.intervention.clone();
            study.tell(1, &world(1, &intervention), None)
        }),
        ("correct", |study| study.correct(1, &[("light", vec![0.25])], "")),
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
                store.shared.database.faults.fail_after(statement, late);
                let done = act(&mut study);
                store.shared.database.faults.fail_after(u32::MAX, late);
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
            "correct" => vec!["corrected"],
            "fail" => vec!["failed"],
            "change" => vec!["problem-changed"],
            _ => vec!["added"],
        }
}

fn failing_creation(url: &str) {
    let store = Store::open(url).unwrap();
    for statement in 0.. {
        store.shared.database.faults.fail_after(statement, false);
        let made = store.create("s", PROBLEM, &Options::default());
        store.shared.database.faults.fail_after(u32::MAX, false);
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

/// Fails every statement of copying, renaming and deleting in turn: all is as it was then.
fn failing_shelves(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 1);
    study.ask("w", 3).unwrap();
    type Shelve = fn(&Store) -> Result<(), StoreError>;
    let acts: [(&str, Shelve, &[&str]); 3] = [
        ("copy", |store| store.copy("s", "t").map(|_| ()), &["s", "t"]),
        ("rename", |store| store.rename("s", "u"), &["t", "u"]),
        ("delete", |store| store.delete("u"), &["t"]),
    ];
    let state = || {
        let fresh = Store::open(url).unwrap();
        let names = fresh.studies().unwrap().into_iter().map(|summary| summary.name);
        let events = |name: String| (fresh.open_study(&name).unwrap().events().unwrap(), name);
        names.map(events).collect::<Vec<_>>()
    };
    let log = study.events().unwrap();
    for (what, act, names) in acts {
        let before = state();
        for statement in 0.. {
            store.shared.database.faults.fail_after(statement, false);
            let done = act(&store);
            store.shared.database.faults.fail_after(u32::MAX, false);
            if done.is_ok() {
                assert!(statement > 3, "{what}");
                break;
            }
            assert_eq!(state(), before, "{what}, statement {statement}");
        }
        let after = state();
        assert_eq!(after.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), names, "{what}");
        assert!(after.iter().all(|(events, _)| *events == log), "{what}: the log goes along whole");
    }
}
