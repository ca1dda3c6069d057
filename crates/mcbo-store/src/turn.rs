//! Turns: of those who ask at once some may compute first, and all conclude one after the other.
//!
//! Nothing depends on them but time. What is put under way is checked in its transaction; without turns those who have computed at once
//! would find again and again, beside one another, what they have found.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::address::Backend;
use crate::database::{Database, Transaction, Value};
use crate::digest::content;

/// How long it takes to look again.
const PAUSE: Duration = Duration::from_millis(1);
/// A file in the folder for temporary files that one program at a time holds, for as long as this lives or the program does.
pub(crate) struct Held {
    #[expect(dead_code, reason = "held, not read")]
    file: File,
    path: PathBuf,
}

impl Held {
    /// The file of a study for something, held; nothing while somebody else has it.
    pub fn take(database: &Database, study: i64, what: &str) -> std::io::Result<Option<Self>> {
        let store = match database.address.backend {
            Backend::Sqlite => std::fs::canonicalize(&database.address.path)?.to_string_lossy().into_owned(),
            Backend::Postgres => database.address.shown.clone(),
        };
        let store: String = content(&store)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("mcbo-{store}-{study}.{what}"));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        let locked = file.try_lock().is_ok() && is_there(&file, &path);
        // Made only if it is held: with one that is dropped its file goes.
        Ok(locked.then(|| Self { file, path }))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // While it is locked, so that nobody else's is removed. One that stays does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// One's turn; the next has it when this is dropped, or when its program ends in any way.
pub(crate) enum Turn<'a> {
    /// Of a file.
    File(#[expect(dead_code, reason = "held, not read")] Held),
    /// A lock of the server's, for as long as the transaction.
    Server(#[expect(dead_code, reason = "held, not read")] Transaction<'a>),
}

impl<'a> Turn<'a> {
    /// Waits for the turn to conclude a suggestion for a study, at most for so long; nothing where there are no turns to be had.
    pub fn take(database: &'a Database, study: i64, patience: Duration) -> Option<Self> {
        let start = Instant::now();
        match database.address.backend {
            Backend::Sqlite => loop {
                match Held::take(database, study, "turn").ok()? {
                    Some(turn) => return Some(Self::File(turn)),
                    None => wait(start, patience)?,
                }
            },
            Backend::Postgres => loop {
                let mut transaction = database.read().ok()?;
                let lock = "SELECT CASE WHEN pg_try_advisory_xact_lock($1) THEN 1 ELSE 0 END::BIGINT";
                let rows = transaction.rows(lock, &[Value::Int(study)]).ok()?;
                let locked: i64 = transaction.get(rows.first()?, 0).ok()?;
                if locked == 1 {
                    return Some(Self::Server(transaction));
                }
                drop(transaction);
                wait(start, patience)?;
            },
        }
    }
}

fn wait(start: Instant, patience: Duration) -> Option<()> {
    if start.elapsed() >= patience {
        return None;
    }
    std::thread::sleep(PAUSE);
    Some(())
}

/// Whether a file is still the one of that name: the one before may have removed it.
#[cfg(unix)]
fn is_there(file: &File, path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(named)) => number(held) == number(named),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_there(_: &File, _: &std::path::Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_turn_and_then_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("s.sqlite").display());
        let [database, other] = [(), ()].map(|()| Database::open(&url, true).unwrap());
        let no_time = Duration::from_millis(20);
        let turn = Turn::take(&database, 1, no_time).expect("it is free");
        for _ in 0..2 {
            assert!(Turn::take(&other, 1, no_time).is_none());
        }
        assert!(Turn::take(&other, 2, no_time).is_some(), "another study has its own");
        std::thread::scope(|scope| {
            let next = scope.spawn(|| Turn::take(&other, 1, Duration::from_secs(60)).is_some());
            std::thread::sleep(Duration::from_millis(30));
            assert!(!next.is_finished());
            drop(turn);
            assert!(next.join().unwrap());
        });
        assert!(Turn::take(&database, 1, no_time).is_some());
    }

    #[test]
    fn what_is_held_is_held_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("s.sqlite").display());
        let [database, other] = [(), ()].map(|()| Database::open(&url, true).unwrap());
        let held = Held::take(&database, 1, "lead").unwrap().expect("it is free");
        assert!(Held::take(&other, 1, "lead").unwrap().is_none());
        assert!(Held::take(&other, 1, "turn").unwrap().is_some(), "something else");
        assert!(Held::take(&other, 2, "lead").unwrap().is_some(), "another study has its own");
        drop(held);
        assert!(Held::take(&other, 1, "lead").unwrap().is_some());
    }
}
