//! Damaged files: single bits that flipped, files that were cut off. What is read is right, or it is said to be damaged.

mod common;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use mcbo_store::{Entry, Row, Store, StoreError, StoredTrial, Summary};

use common::{create, round, sqlite};

/// No call on a damaged file takes longer.
const SECONDS: u64 = 10;

/// Everything that can be read of a store.
#[derive(Debug, PartialEq, Clone)]
struct Content {
    studies: Vec<Summary>,
    logs: Vec<(String, Vec<StoredTrial>, Vec<Entry>, String)>,
}

fn content(url: &str) -> Result<Content, StoreError> {
    let store = Store::open_existing(url)?;
    let studies = store.studies()?;
    let mut logs = Vec::new();
    for summary in &studies {
        let mut study = store.open_study(&summary.name)?;
        let status = study.status()?;
        assert_eq!(status.trials, summary.trials);
        logs.push((summary.name.clone(), study.trials()?, study.events()?, study.problem_toml()?));
    }
    Ok(Content { studies, logs })
}

/// The same after a look at all of it. What is read without a word is right, even where the look finds something.
fn checked(url: &str, right: &Content, what: &str) -> Result<Content, StoreError> {
    let found = content(url)?;
    assert!(found == *right, "{what}: read without a word, and wrong");
    Store::open_existing(url)?.check()?;
    Ok(found)
}

/// A store with three studies, as one file; with snapshots beside their logs, if that is wanted.
fn three_studies(folder: &tempfile::TempDir, snapshots: bool) -> (String, Vec<u8>) {
    let url = sqlite(folder);
    let store = Store::open(&url).unwrap().with_clock(|| 1_800_000_000_000);
    let store = if snapshots { store.with_snapshots_after(1) } else { store };
    for (name, strategy, rounds) in [("apples", "random", 6), ("pears", "mcbo", 5), ("plums", "random", 3)] {
        let mut study = create(&store, name, strategy, 3);
        let row: Row =
            serde_json::from_str(r#"{"targets": {"moisture": [0.5]}, "values": {"growth": [1.25]}}"#)
                .unwrap();
        study.add(&vec![row; 20]).unwrap();
        for _ in 0..rounds {
            round(&mut study, "w");
        }
        study.ask("w", 1).unwrap();
    }
    store.open_study("apples").unwrap().correct(22, &[("growth", vec![0.75])], "a slip").unwrap();
    store.create("gone", common::PROBLEM, &mcbo_store::Options::default()).unwrap();
    store.delete("gone").unwrap();
    drop(store);
    let bytes = std::fs::read(file(&url)).unwrap();
    (url, bytes)
}

fn file(url: &str) -> &str {
    url.strip_prefix("sqlite://").unwrap()
}

fn put(url: &str, bytes: &[u8]) {
    for ending in ["-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(format!("{}{ending}", file(url)));
    }
    std::fs::write(file(url), bytes).unwrap();
}

/// Runs something in a thread: it neither panics nor takes long.
fn within_seconds<T: Send + 'static>(what: &str, act: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, answer) = channel();
    std::thread::spawn(move || {
        let _ = done.send(std::panic::catch_unwind(AssertUnwindSafe(act)));
    });
    match answer.recv_timeout(Duration::from_secs(SECONDS)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => panic!("{what}: a panic"),
        Err(_) => panic!("{what}: no answer in {SECONDS} s"),
    }
}

#[derive(Debug, Default)]
struct Count {
    unharmed: usize,
    damaged: usize,
    said_otherwise: usize,
    written: usize,
    repaired: usize,
    lost_events: usize,
}

/// Reads a file with these bytes: right, or said to be damaged. Then writes to it, and saves what can be read of it.
fn look(url: &str, right: &Content, bytes: &[u8], what: &str, mend: bool, count: &mut Count) {
    put(url, bytes);
    let (at, should, said) = (url.to_owned(), right.clone(), what.to_owned());
    match within_seconds(what, move || checked(&at, &should, &said)) {
        Ok(_) => {
            count.unharmed += 1;
            // What looks whole takes another trial and is whole then, or says that it is not.
            let (at, said) = (url.to_owned(), what.to_owned());
            let written = within_seconds(what, move || {
                let mut study = Store::open_existing(&at)?.open_study("plums")?;
                round(&mut study, &said);
                Store::open_existing(&at)?.check()?;
                content(&at)
            });
            match written {
                Ok(found) => {
                    count.written += 1;
                    let same = |name: &str| {
                        let of = |content: &Content| content.logs.iter().find(|log| log.0 == name).cloned();
                        of(&found) == of(right)
                    };
                    assert!(same("apples") && same("pears"), "{what}: writing has changed other studies");
                    let (before, after) = (&right.logs[2].2, &found.logs[2].2);
                    assert!(after[..before.len()] == before[..] && after.len() > before.len(), "{what}");
                }
                Err(error) => assert!(error.to_string().contains("hint:"), "{what}: {error}"),
            }
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("hint:"), "{what}: {text}");
            match error {
                StoreError::Damaged { .. } | StoreError::Empty { .. } => count.damaged += 1,
                _ => {
                    eprintln!("{what}: {text}");
                    count.said_otherwise += 1;
                }
            }
            if mend {
                put(url, bytes);
                repair(url, right, what, count);
            }
        }
    }
}

/// What is saved of a damaged file is right; what is not saved is named.
fn repair(url: &str, right: &Content, what: &str, count: &mut Count) {
    let new = format!("{url}-new");
    let _ = std::fs::remove_file(file(&new));
    let (from, to) = (url.to_owned(), new.clone());
    let Ok(repaired) = within_seconds(what, move || Store::repair(&from, &to)) else { return };
    let saved = content(&new).unwrap();
    for study in &repaired {
        let Some((name, trials, ..)) = saved.logs.iter().find(|log| log.0 == study.name) else {
            assert!(!study.saved && !study.lost.is_empty(), "{what}: {study:?}");
            continue;
        };
        count.repaired += 1;
        count.lost_events += study.lost.len();
        let Some((_, right, ..)) = right.logs.iter().find(|log| log.0 == *name) else {
            assert!(!study.lost.is_empty(), "{what}: {study:?}");
            continue;
        };
        for (found, right) in trials.iter().zip(right) {
            let told = |trial: &StoredTrial| trial.trial.values.clone();
            let same = told(found) == told(right);
            assert!(
                same || !study.lost.is_empty(),
                "{what}: trial {} changed, and nothing is said",
                right.trial.number
            );
            // A value that is there is one that was told. (A correction of `apples` may be lost, and is then named.)
            let is_out = found.trial.state == mcbo_core::TrialState::Voided;
            let values = found.trial.values.iter().flatten().flatten();
            if !is_out && name != "apples" {
                let all = right.trial.values.iter().flatten().flatten().collect::<Vec<_>>();
                assert!(values.into_iter().all(|value| all.contains(&value)), "{what}: a made-up value");
            }
        }
        assert!(!study.lost.is_empty() || trials.len() == right.len(), "{what}: {study:?}");
    }
}

fn campaign(flips: u64, step: usize, snapshots: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (url, bytes) = three_studies(&folder, snapshots);
    let right = content(&url).unwrap();
    assert_eq!(right.studies.len(), 3);
    let start = Instant::now();
    let mut count = Count::default();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for flip in 0..flips {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut broken = bytes.clone();
        // One in four in the first page: the header and the texts of the tables are there.
        let most = if flip % 4 == 0 { 4096 } else { broken.len() as u64 };
        let (byte, bit) = ((random >> 8) % most, random % 8);
        broken[byte as usize] ^= 1 << bit;
        look(&url, &right, &broken, &format!("bit {bit} of byte {byte}"), flip % 4 == 1, &mut count);
    }
    let after_flips = format!("{count:?}");
    for length in (0..bytes.len()).step_by(step) {
        look(
            &url,
            &right,
            &bytes[..length],
            &format!("cut off at {length}"),
            length % (4 * step) == 0,
            &mut count,
        );
    }
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "snapshots {snapshots}, {} bytes; {flips} flips: {after_flips}; and cut off every {step} bytes: {count:?}; {seconds:.1} s",
        bytes.len()
    );
    assert!(count.damaged > count.unharmed / 8 && Path::new(file(&url)).exists());
    assert_eq!(count.said_otherwise, 0, "damage is called by its name");
}

#[test]
fn flipped_bits_and_cut_off_files() {
    campaign(100, 8192, false);
    campaign(100, 8192, true);
}

/// `cargo nextest run --release --workspace --run-ignored only -E 'test(whole_campaign)'`
#[test]
#[ignore = "takes minutes"]
fn whole_campaign() {
    campaign(2000, 512, false);
    campaign(2000, 512, true);
}

#[test]
fn an_empty_file_is_no_store_without_studies() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite(&folder);
    assert!(matches!(Store::open_existing(&url), Err(StoreError::NoStore { .. })));
    assert!(!Path::new(file(&url)).exists());
    std::fs::write(file(&url), "").unwrap();
    assert!(matches!(Store::open_existing(&url), Err(StoreError::Empty { .. })));
    drop(Store::open(&url).unwrap());
    assert!(Store::open_existing(&url).unwrap().studies().unwrap().is_empty());
}

#[test]
fn a_whole_store_is_repaired_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (url, _) = three_studies(&folder, true);
    let right = content(&url).unwrap();
    let repaired = Store::repair(&url, &format!("{url}-new")).unwrap();
    assert!(repaired.iter().all(|study| study.saved && study.lost.is_empty()), "{repaired:?}");
    let saved = content(&format!("{url}-new")).unwrap();
    assert!(saved == right);
    assert!(
        matches!(Store::repair(&url, &format!("{url}-new")), Err(StoreError::BadUrl { .. })),
        "it exists"
    );
}

/// Values of columns that a page check does not know of.
#[test]
fn what_was_changed_by_hand_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (url, bytes) = three_studies(&folder, false);
    for statement in [
        "UPDATE events SET payload = replace(payload, '0.75', '0.76') WHERE kind = 'corrected'",
        "UPDATE events SET at = at + 1 WHERE study = 2 AND seq = 2",
        "UPDATE events SET kind = 'restored' WHERE kind = 'corrected'",
        "DELETE FROM events WHERE study = 1 AND seq = (SELECT MAX(seq) FROM events WHERE study = 1)",
        "DELETE FROM events WHERE study = 3 AND seq = 2",
        "UPDATE studies SET trials = trials + 1 WHERE id = 2",
        "UPDATE studies SET name = 'pearls' WHERE id = 2",
        "PRAGMA foreign_keys = OFF; DELETE FROM studies WHERE id = 2",
        "UPDATE meta SET roll = ''",
        "ALTER TABLE events RENAME COLUMN payload TO content",
    ] {
        put(&url, &bytes);
        rusqlite::Connection::open(file(&url)).unwrap().execute_batch(statement).unwrap();
        let error = content(&url).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{statement}: {error}");
    }
}
