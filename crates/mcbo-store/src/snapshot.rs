//! Snapshots: a study as it stood after some event, beside its log, so that a long log need not be read from its beginning.
//!
//! A snapshot is never the truth. It belongs to one event of one log by the checksum of that event, from which its own go on; one that
//! is missing, of another version of the program, or not as it was written is passed over, and the log is read instead.

mod bytes;
#[cfg(test)]
mod tests;
mod trials;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mcbo_core::Memory;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::database::{Transaction, Value};
use crate::digest::{self, StudyLine};
use crate::event::Created;
use crate::fold::Fold;
use crate::schema;
use crate::study::StoredStudy;
use bytes::{Names, Reader, Writer};

/// What is written, and by which program: what one version folds from a log another may fold otherwise.
const KIND: &str = concat!("snapshot 1 of mcbo ", env!("CARGO_PKG_VERSION"));
/// How many bytes of new events are read, at least, before a snapshot is written.
pub(crate) const AFTER: usize = 1 << 20;
/// What a piece should not be much larger than: others wait for no more.
const PIECE: usize = 4 << 20;
/// The least time from piece to piece: others who wait for SQLite look every tenth of a second whether it is their turn.
const PAUSE: Duration = Duration::from_millis(120);

/// What is in a snapshot beside the trials.
#[derive(Serialize, Deserialize)]
struct Head {
    parts: i64,
    trials: usize,
    /// Of all parts together.
    bytes: usize,
    created: Created,
    problem: Option<String>,
    attributes: BTreeMap<String, serde_json::Value>,
    moved: i64,
    rows_moved: i64,
    changed: i64,
    memory: Memory,
}

/// How much of a log was read or written since its last snapshot, in bytes, and how many that one has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Since {
    pub events: usize,
    pub snapshot: usize,
}

impl Since {
    /// Whether the next one is worth writing: all of them together then stay within a multiple of the log.
    fn is_long(self, after: usize) -> bool {
        self.events >= after.max(self.snapshot / 2)
    }
}

/// Why there is no state from a snapshot.
enum Absent {
    /// There is none, or one that another program wrote.
    None,
    /// What is there is not what was written.
    Damaged(i64),
}

impl StoredStudy {
    /// The state by the last snapshot, if there is one that fits the log.
    pub(crate) fn kept_state(&self, transaction: &mut Transaction<'_>) -> Option<Fold> {
        // What cannot be read is found by `doctor`; here the log is read instead.
        self.read_snapshot(transaction).ok()?.ok()
    }

    /// Refuses a snapshot that is not as it was written.
    pub(crate) fn check_snapshot(&self) -> Result<(), StoreError> {
        let damaged = |what: String| StoreError::Damaged {
            url: self.shared.database.address.shown.clone(),
            reason: format!(
                "the snapshot of study {:?}{what} is not as it was written; its log is, and is read instead",
                self.name
            ),
        };
        match self.read_snapshot(&mut self.shared.database.read()?) {
            Ok(Ok(_) | Err(Absent::None)) => Ok(()),
            Ok(Err(Absent::Damaged(seq))) => Err(damaged(format!(" after event {seq}"))),
            Err(StoreError::Database { reason, .. } | StoreError::Damaged { reason, .. }) => {
                Err(damaged(format!(" ({reason})")))
            }
            Err(error) => Err(error),
        }
    }

    fn read_snapshot(&self, transaction: &mut Transaction<'_>) -> Result<Result<Fold, Absent>, StoreError> {
        if transaction.database.version < schema::SNAPSHOTS {
            return Ok(Err(Absent::None));
        }
        let rows = transaction.rows(
            "SELECT seq, kind, digest, content FROM snapshots WHERE study = $1 AND part = 0 ORDER BY seq DESC LIMIT 1",
            &[Value::Int(self.id)],
        )?;
        let Some(row) = rows.first() else { return Ok(Err(Absent::None)) };
        let (seq, kind): (i64, String) = (transaction.get(row, 0)?, transaction.get(row, 1)?);
        if kind != KIND {
            return Ok(Err(Absent::None));
        }
        let (seal, head): (String, Vec<u8>) = (transaction.get(row, 2)?, transaction.get(row, 3)?);
        let place = [Value::Int(self.id), Value::Int(seq)];
        let rows = transaction.rows("SELECT digest FROM events WHERE study = $1 AND seq = $2", &place)?;
        let Some(row) = rows.first() else { return Ok(Err(Absent::Damaged(seq))) };
        let tip: String = transaction.get(row, 0)?;
        let fold = self.put_together(transaction, seq, tip, &seal, &head)?;
        Ok(fold.ok_or(Absent::Damaged(seq)))
    }

    /// The state that a snapshot is; nothing if anything of it is not as it was written.
    fn put_together(
        &self,
        transaction: &mut Transaction<'_>,
        seq: i64,
        tip: String,
        seal: &str,
        content: &[u8],
    ) -> Result<Option<Fold>, StoreError> {
        let Ok(head) = serde_json::from_slice::<Head>(content) else { return Ok(None) };
        let Head { parts, trials, bytes, created, problem, attributes, moved, rows_moved, changed, memory } =
            head;
        let text = problem.as_deref().unwrap_or(&created.problem).to_owned();
        let Ok(mut fold) = Fold::with_problem(created, &text, changed, tip, &*self.shared.strategies) else {
            return Ok(None);
        };
        let (mut link, mut names) = (fold.tip.clone(), Names::default());
        for part in 1..=parts {
            let rows = transaction.rows(
                "SELECT digest, content FROM snapshots WHERE study = $1 AND seq = $2 AND part = $3",
                &[Value::Int(self.id), Value::Int(seq), Value::Int(part)],
            )?;
            let Some(row) = rows.into_iter().next() else { return Ok(None) };
            let (said, content): (String, Vec<u8>) = (transaction.get(&row, 0)?, transaction.get(&row, 1)?);
            drop(row);
            link = digest::link(&link, seq, part, KIND, &digest::content(&content));
            if said != link {
                return Ok(None);
            }
            let mut reader = Reader::new(&content, &mut names);
            while !reader.is_empty() {
                let Some((standing, record)) = trials::read(&mut reader) else { return Ok(None) };
                if fold.ledger.study.put_back(standing).is_err() {
                    return Ok(None);
                }
                fold.ledger.records.push_kept(record);
            }
        }
        let whole = digest::link(&link, seq, 0, KIND, &digest::content(content)) == seal;
        if !whole || fold.ledger.records.len() != trials {
            return Ok(None);
        }
        fold.ledger.study.remember(memory);
        (fold.ledger.problem, fold.ledger.attributes) = (problem, attributes);
        (fold.ledger.seq, fold.ledger.moved, fold.ledger.rows_moved) = (seq, moved, rows_moved);
        fold.since = Since { events: 0, snapshot: bytes };
        Ok(Some(fold))
    }

    /// Writes a snapshot of the state as it was last read or written, if enough has come since the last one. Nobody is told if that
    /// cannot be done: it is done the next time that as much has come.
    pub(crate) fn save(&mut self) {
        let Some(fold) = &mut self.fold else { return };
        if !fold.since.is_long(self.shared.snapshots_after) {
            return;
        }
        fold.since.events = 0;
        if let Some(fold) = &self.fold
            && let Ok(Some(bytes)) = self.write_snapshot(fold)
            && let Some(fold) = &mut self.fold
        {
            fold.since.snapshot = bytes;
        }
    }

    /// Writes a snapshot, part by part; its size. Nothing if others have written one that is as new, or the store cannot have any.
    fn write_snapshot(&self, fold: &Fold) -> Result<Option<usize>, StoreError> {
        let database = &self.shared.database;
        if database.version < schema::SNAPSHOTS {
            return Ok(None);
        }
        let seq = fold.ledger.seq;
        let newer = database.read()?.rows(
            "SELECT seq FROM snapshots WHERE study = $1 AND part = 0 AND seq >= $2 AND kind = $3",
            &[Value::Int(self.id), Value::Int(seq), Value::Text(KIND)],
        )?;
        if !newer.is_empty() && self.check_snapshot().is_ok() {
            return Ok(None);
        }
        let unstorable =
            |error: serde_json::Error| StoreError::Unstorable { number: 0, reason: error.to_string() };
        let (mut writer, mut link, mut parts, mut bytes) = (Writer::default(), fold.tip.clone(), 0, 0);
        let mut standings = fold.ledger.study.standings().zip(fold.ledger.records.kept()).peekable();
        while standings.peek().is_some() {
            let begun = Instant::now();
            while writer.len() < PIECE
                && let Some((standing, record)) = standings.next()
            {
                trials::write(&mut writer, standing, record).map_err(unstorable)?;
            }
            let piece = writer.piece();
            (parts, bytes) = (parts + 1, bytes + piece.len());
            link = digest::link(&link, seq, parts, KIND, &digest::content(&piece));
            if parts > 1 {
                std::thread::sleep(PAUSE.saturating_sub(begun.elapsed()));
            }
            let mut transaction = database.write()?;
            self.write_part(&mut transaction, seq, parts, &link, &piece)?;
            transaction.commit()?;
        }
        let Fold { created, ledger, .. } = fold;
        let head = Head {
            parts,
            trials: ledger.records.len(),
            bytes,
            created: created.clone(),
            problem: ledger.problem.clone(),
            attributes: ledger.attributes.clone(),
            moved: ledger.moved,
            rows_moved: ledger.rows_moved,
            changed: ledger.changed,
            memory: ledger.study.memory().clone(),
        };
        let head = serde_json::to_vec(&head).map_err(unstorable)?;
        let seal = digest::link(&link, seq, 0, KIND, &digest::content(&head));
        // With its head it counts, and those before it go, as does what claims to be of an event that there is not.
        let mut transaction = database.write()?;
        let line = self.write_part(&mut transaction, seq, 0, &seal, &head)?;
        transaction.execute(
            "DELETE FROM snapshots WHERE study = $1 AND (seq < $2 OR seq > $3 OR (seq = $2 AND part > $4))",
            &[Value::Int(self.id), Value::Int(seq), Value::Int(line.head), Value::Int(parts)],
        )?;
        transaction.commit()?;
        Ok(Some(bytes))
    }

    /// Writes a part; the line of the study. Another program that writes the same one writes the same bytes.
    fn write_part(
        &self,
        transaction: &mut Transaction<'_>,
        seq: i64,
        part: i64,
        link: &str,
        content: &[u8],
    ) -> Result<StudyLine, StoreError> {
        let line = self.check_there(transaction, false)?;
        transaction.execute(
            "INSERT INTO snapshots (study, seq, part, kind, digest, content) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (study, seq, part) DO UPDATE \
             SET kind = excluded.kind, digest = excluded.digest, content = excluded.content",
            &[
                Value::Int(self.id),
                Value::Int(seq),
                Value::Int(part),
                Value::Text(KIND),
                Value::Text(link),
                Value::Bytes(content),
            ],
        )?;
        Ok(line)
    }
}
