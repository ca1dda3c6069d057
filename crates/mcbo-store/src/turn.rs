//! Turns: of those who ask at once some compute, for those who wait as well, and all conclude one after the other.
//!
//! Nothing depends on them but time. What is put under way is checked in its transaction; without turns those who have computed at once
//! would find again and again, beside one another, what they have found.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcbo_core::{Fixed, Given};
use serde::{Deserialize, Serialize};

use crate::address::Backend;
use crate::database::{Database, Transaction, Value};
use crate::digest::content;

/// How long it takes to look again.
const PAUSE: Duration = Duration::from_millis(1);
/// So many can say at once what they wait for; the others wait without a word.
const WISHES: usize = 16;
/// The longest text of a wish that is read.
const LONGEST_WISH: u64 = 1 << 20;

/// A file in the folder for temporary files that one program at a time holds, for as long as this lives or the program does.
pub(crate) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// The file of a study for something, held; nothing while somebody else has it.
    pub fn take(database: &Database, study: i64, what: &str) -> std::io::Result<Option<Self>> {
        let path = file_of(database, study, what)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        let locked = file.try_lock().is_ok() && is_there(&file, &path);
        // Made only if it is held: with one that is dropped its file goes.
        Ok(locked.then(|| Self { file, path }))
    }

    /// Whether nobody has taken it away.
    pub fn is_there(&self) -> bool {
        is_there(&self.file, &self.path)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // While it is locked, so that nobody else's is removed. One that stays does no harm.
        if self.is_there() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Where a file of a study is.
fn file_of(database: &Database, study: i64, what: &str) -> std::io::Result<PathBuf> {
    let store = match database.address.backend {
        Backend::Sqlite => std::fs::canonicalize(&database.address.path)?.to_string_lossy().into_owned(),
        Backend::Postgres => database.address.shown.clone(),
    };
    let store: String = content(&store)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(std::env::temp_dir().join(format!("mcbo-{store}-{study}.{what}")))
}

/// What somebody waits for: whoever computes may find it too, which takes a small part of the time once the model is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wish {
    pub worker: String,
    /// How many trials it is to have, of which one is missing.
    pub count: usize,
    pub given: Given,
    pub fixed: Fixed,
}

impl Wish {
    /// Says so, for as long as what is given back lives or the program does. Nothing where that cannot be said.
    pub fn say(&self, database: &Database, study: i64) -> Option<Held> {
        let text = serde_json::to_string(self).ok()?;
        (0..WISHES).find_map(|place| {
            let path = file_of(database, study, &format!("wish{place}")).ok()?;
            let mut file = private().create_new(true).write(true).open(&path).ok()?;
            file.try_lock().ok()?;
            let held = Held { file: file.try_clone().ok()?, path };
            // The end of the line says that it is whole.
            writeln!(file, "{text}").ok().map(|()| held)
        })
    }

    /// One that is waited for and that `fits`, for the one who leads, and its file: who waits looks again when that is gone.
    pub fn first(
        lead: &Held,
        database: &Database,
        study: i64,
        fits: impl Fn(&Self) -> bool,
    ) -> Option<(Self, PathBuf)> {
        (0..WISHES).find_map(|place| {
            let path = file_of(database, study, &format!("wish{place}")).ok()?;
            let file = OpenOptions::new().read(true).open(&path).ok()?;
            // Nobody but who runs this program may have trials put under way by it.
            if !have_one_owner(&lead.file, &file) {
                return None;
            }
            if file.try_lock().is_ok() {
                // Nobody waits for it any more: its program was ended.
                drop(Held { file, path });
                return None;
            }
            let mut text = String::new();
            file.take(LONGEST_WISH).read_to_string(&mut text).ok()?;
            let wish = serde_json::from_str(text.strip_suffix('\n')?).ok().filter(&fits)?;
            Some((wish, path))
        })
    }
}

/// Files that nobody else reads.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Whether one program's user made both.
#[cfg(unix)]
fn have_one_owner(one: &File, other: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    matches!((one.metadata(), other.metadata()), (Ok(one), Ok(other)) if one.uid() == other.uid())
}

#[cfg(not(unix))]
fn have_one_owner(_: &File, _: &File) -> bool {
    true
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

    #[test]
    fn who_waits_is_heard_by_the_one_who_leads() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("s.sqlite").display());
        let [database, other] = [(), ()].map(|()| Database::open(&url, true).unwrap());
        let lead = Held::take(&database, 1, "lead").unwrap().expect("it is free");
        let heard = |fits: &dyn Fn(&Wish) -> bool| Wish::first(&lead, &database, 1, fits);
        assert_eq!(heard(&|_| true), None);
        let wish = |worker: &str| Wish {
            worker: worker.into(),
            count: 1,
            given: Given::NONE.clone(),
            fixed: Fixed::default(),
        };
        let said = ["a\n\"b\"", "c"].map(|worker| wish(worker).say(&other, 1).expect("there is room"));
        assert_eq!(heard(&|_| true).unwrap().0, wish("a\n\"b\""));
        let (second, path) = heard(&|wish| wish.worker == "c").unwrap();
        assert_eq!(second, wish("c"));
        assert_eq!(heard(&|wish| wish.count == 2), None);
        assert_eq!(Wish::first(&lead, &database, 2, |_| true), None, "another study");
        // Taken away: who waits sees it, and does not take away the next one's in the same place.
        std::fs::remove_file(path).unwrap();
        assert!(said[0].is_there() && !said[1].is_there());
        let third = wish("d").say(&other, 1).unwrap();
        drop(said);
        assert_eq!(heard(&|_| true).unwrap().0, wish("d"));
        drop(third);
        assert_eq!(heard(&|_| true), None);
        // What a program that was ended has left, and what is not whole.
        let left = file_of(&database, 1, "wish0").unwrap();
        std::fs::write(&left, serde_json::to_string(&wish("e")).unwrap() + "\n").unwrap();
        assert_eq!(heard(&|_| true), None);
        assert!(!left.exists(), "nobody waits for it any more");
        std::fs::write(&left, serde_json::to_string(&wish("e")).unwrap()).unwrap();
        let begun = File::open(&left).unwrap();
        begun.try_lock().unwrap();
        assert_eq!(heard(&|_| true), None);
        std::fs::remove_file(left).unwrap();
    }
}
