//! The tables, and the way from older ones to these.
//!
//! Version 1: `events` is the truth, append-only; the counts in `studies` are a summary of it that lists are made from.
//! Version 2: checksums (`crate::digest`). Studies of version 1 get theirs when a program that knows them opens the store first.
//! Version 3: `snapshots` (`crate::snapshot`), which nothing depends on but time.
//! A change of the tables is another element of [`STEPS`]; databases are brought up to date when they are opened.

use crate::StoreError;
use crate::address::Backend;
use crate::database::{Database, Transaction, Value};
use crate::digest::{self, StudyLine};

/// What makes each version from the one before it, the same text on both databases.
pub(crate) const STEPS: [&[&str]; 3] = [
    &[
        "CREATE TABLE meta (schema_version BIGINT NOT NULL)",
        "INSERT INTO meta (schema_version) VALUES (0)",
        "CREATE TABLE studies (
        id BIGINT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created BIGINT NOT NULL,
        changed BIGINT NOT NULL,
        trials BIGINT NOT NULL,
        pending BIGINT NOT NULL,
        complete BIGINT NOT NULL,
        failed BIGINT NOT NULL
    )",
        "CREATE TABLE events (
        study BIGINT NOT NULL REFERENCES studies (id),
        seq BIGINT NOT NULL,
        at BIGINT NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (study, seq)
    )",
    ],
    &[
        "ALTER TABLE events ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE studies ADD COLUMN head BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE studies ADD COLUMN tip TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE studies ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE meta ADD COLUMN roll TEXT NOT NULL DEFAULT ''",
    ],
    &["CREATE TABLE IF NOT EXISTS snapshots (
        study BIGINT NOT NULL REFERENCES studies (id),
        seq BIGINT NOT NULL,
        part BIGINT NOT NULL,
        kind TEXT NOT NULL,
        digest TEXT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (study, seq, part)
    )"],
];

/// The version this program writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;
/// The first version with checksums.
pub(crate) const CHECKED: i64 = 2;
/// The first version with snapshots.
pub(crate) const SNAPSHOTS: i64 = 3;

/// The key of the lock for changes to the tables and the list of studies, on PostgreSQL.
const LOCK: i64 = 0x6d63_626f;

/// Makes the tables or brings them up to date, and says of which version they are; refuses what a newer program wrote. What cannot
/// be written stays as it is.
pub(crate) fn prepare(database: &Database, make: bool) -> Result<i64, StoreError> {
    let found = version(database, &mut database.read()?)?;
    if found == VERSION {
        return Ok(found);
    }
    if found == 0 && !make {
        return Err(StoreError::Empty { url: database.address.shown.clone() });
    }
    if found > 0 {
        // Nothing is written on what is broken.
        database.check()?;
    }
    match bring_up_to_date(database) {
        Err(StoreError::ReadOnly { .. }) if found > 0 => Ok(found),
        done => done.map(|()| VERSION),
    }
}

fn bring_up_to_date(database: &Database) -> Result<(), StoreError> {
    let mut transaction = database.write()?;
    lock_all(database, &mut transaction)?;
    // Another program may have been faster.
    let found = version(database, &mut transaction)?;
    for (step, statements) in STEPS.iter().enumerate().skip(usize::try_from(found).unwrap_or(0)) {
        for statement in *statements {
            transaction.execute(statement, &[])?;
        }
        let made = step as i64 + 1;
        if made == CHECKED {
            add_checksums(&mut transaction)?;
        }
        transaction.execute("UPDATE meta SET schema_version = $1", &[Value::Int(made)])?;
    }
    transaction.commit()
}

/// Waits until nobody else changes the tables or the list of studies. SQLite has one writer anyway.
pub(crate) fn lock_all(database: &Database, transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
    if database.address.backend == Backend::Postgres {
        transaction
            .execute("SELECT 1 FROM (SELECT pg_advisory_xact_lock($1)) AS locked", &[Value::Int(LOCK)])?;
    }
    Ok(())
}

/// The version of the tables; 0 if there are none.
fn version(database: &Database, transaction: &mut Transaction<'_>) -> Result<i64, StoreError> {
    let url = || database.address.shown.clone();
    let has_meta = match database.address.backend {
        Backend::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'",
        Backend::Postgres => {
            "SELECT COUNT(*) FROM pg_tables WHERE tablename = 'meta' AND schemaname = current_schema()"
        }
    };
    let rows = transaction.rows(has_meta, &[])?;
    if rows.iter().map(|row| transaction.get::<i64>(row, 0)).sum::<Result<i64, _>>()? == 0 {
        return Ok(0);
    }
    let rows = match transaction.rows("SELECT schema_version FROM meta", &[]) {
        Ok(rows) => rows,
        Err(StoreError::Database { .. }) => return Err(StoreError::NotOurs { url: url() }),
        Err(error) => return Err(error),
    };
    let [row] = rows.as_slice() else { return Err(StoreError::NotOurs { url: url() }) };
    let found: i64 = transaction.get(row, 0)?;
    if found > VERSION {
        return Err(StoreError::NewerSchema { url: url(), found, known: VERSION });
    }
    // No version has been written that has a table `meta` and not the others.
    if found < 1 {
        return Err(StoreError::Damaged { url: url(), reason: format!("its version is {found}") });
    }
    Ok(found)
}

/// Gives the studies of a store without checksums theirs.
fn add_checksums(transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
    for mut line in lines_without_head(transaction)? {
        loop {
            let rows = transaction.rows(
                "SELECT seq, at, kind, payload FROM events WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT 256",
                &[Value::Int(line.id), Value::Int(line.head)],
            )?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                let (seq, at): (i64, i64) = (transaction.get(row, 0)?, transaction.get(row, 1)?);
                let (kind, payload): (String, String) = (transaction.get(row, 2)?, transaction.get(row, 3)?);
                line.tip = digest::link(&line.tip, seq, at, &kind, &digest::content(&payload));
                line.head = seq;
                transaction.execute(
                    "UPDATE events SET digest = $3 WHERE study = $1 AND seq = $2",
                    &[Value::Int(line.id), Value::Int(seq), Value::Text(&line.tip)],
                )?;
            }
        }
        transaction.execute(
            "UPDATE studies SET head = $2, tip = $3, seal = $4 WHERE id = $1",
            &[Value::Int(line.id), Value::Int(line.head), Value::Text(&line.tip), Value::Text(&line.seal())],
        )?;
    }
    write_roll(transaction)
}

fn lines_without_head(transaction: &mut Transaction<'_>) -> Result<Vec<StudyLine>, StoreError> {
    let rows = transaction.rows(
        "SELECT id, name, created, changed, trials, pending, complete, failed FROM studies ORDER BY id",
        &[],
    )?;
    let line = |row| {
        let number = |column| transaction.get::<i64>(row, column);
        Ok(StudyLine {
            id: number(0)?,
            name: transaction.get(row, 1)?,
            created: number(2)?,
            changed: number(3)?,
            counts: [number(4)?, number(5)?, number(6)?, number(7)?],
            head: 0,
            tip: String::new(),
        })
    };
    rows.iter().map(line).collect()
}

/// All studies, by number, after comparing them with their checksums.
pub(crate) fn lines(transaction: &mut Transaction<'_>) -> Result<Vec<StudyLine>, StoreError> {
    if transaction.database.version < CHECKED {
        return lines_without_head(transaction);
    }
    let rows = transaction.rows(
        "SELECT id, name, created, changed, trials, pending, complete, failed, head, tip, seal FROM studies ORDER BY id",
        &[],
    )?;
    let lines = rows.iter().map(|row| checked_line(transaction, row)).collect::<Result<Vec<_>, _>>()?;
    let damaged = || StoreError::Damaged {
        url: transaction.database.address.shown.clone(),
        reason: "the list of studies is not as it was written".into(),
    };
    let roll = transaction.rows("SELECT roll FROM meta", &[])?;
    let roll: String = roll.first().map(|row| transaction.get(row, 0)).transpose()?.unwrap_or_default();
    let same = roll == digest::roll(lines.iter().map(|line| (line.id, line.name.as_str(), line.created)));
    if same { Ok(lines) } else { Err(damaged()) }
}

/// One study, if there is one of that number; nobody else writes to it until the transaction ends, if it is `locked`.
pub(crate) fn line(
    transaction: &mut Transaction<'_>,
    id: i64,
    locked: bool,
) -> Result<Option<StudyLine>, StoreError> {
    if transaction.database.version < CHECKED {
        return Ok(lines_without_head(transaction)?.into_iter().find(|line| line.id == id));
    }
    let sql = match transaction.database.address.backend {
        Backend::Postgres if locked => {
            "SELECT id, name, created, changed, trials, pending, complete, failed, head, tip, seal FROM studies \
             WHERE id = $1 FOR UPDATE"
        }
        Backend::Sqlite | Backend::Postgres => {
            "SELECT id, name, created, changed, trials, pending, complete, failed, head, tip, seal FROM studies \
             WHERE id = $1"
        }
    };
    let rows = transaction.rows(sql, &[Value::Int(id)])?;
    rows.first().map(|row| checked_line(transaction, row)).transpose()
}

fn checked_line(transaction: &Transaction<'_>, row: &crate::database::Line) -> Result<StudyLine, StoreError> {
    let number = |column| transaction.get::<i64>(row, column);
    let line = StudyLine {
        id: number(0)?,
        name: transaction.get(row, 1)?,
        created: number(2)?,
        changed: number(3)?,
        counts: [number(4)?, number(5)?, number(6)?, number(7)?],
        head: number(8)?,
        tip: transaction.get(row, 9)?,
    };
    let seal: String = transaction.get(row, 10)?;
    match seal == line.seal() {
        true => Ok(line),
        false => Err(StoreError::Damaged {
            url: transaction.database.address.shown.clone(),
            reason: format!("the line of study {:?} is not as it was written", line.name),
        }),
    }
}

/// Writes the line of a study: in the place of the one it has, or anew.
pub(crate) fn write_line(
    transaction: &mut Transaction<'_>,
    line: &StudyLine,
    new: bool,
) -> Result<(), StoreError> {
    let [trials, pending, complete, failed] = line.counts.map(Value::Int);
    let seal = line.seal();
    transaction.execute(
        match new {
            true => {
                "INSERT INTO studies (id, name, created, changed, trials, pending, complete, failed, head, tip, seal) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
            }
            false => {
                "UPDATE studies SET name = $2, created = $3, changed = $4, trials = $5, pending = $6, complete = $7, \
                 failed = $8, head = $9, tip = $10, seal = $11 WHERE id = $1"
            }
        },
        &[
            Value::Int(line.id),
            Value::Text(&line.name),
            Value::Int(line.created),
            Value::Int(line.changed),
            trials,
            pending,
            complete,
            failed,
            Value::Int(line.head),
            Value::Text(&line.tip),
            Value::Text(&seal),
        ],
    )?;
    Ok(())
}

/// Writes the checksum of the list of studies, after it was changed.
pub(crate) fn write_roll(transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
    let rows = transaction.rows("SELECT id, name, created FROM studies ORDER BY id", &[])?;
    let entry = |row| -> Result<(i64, String, i64), StoreError> {
        Ok((transaction.get(row, 0)?, transaction.get(row, 1)?, transaction.get(row, 2)?))
    };
    let list = rows.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let roll = digest::roll(list.iter().map(|(id, name, created)| (*id, name.as_str(), *created)));
    transaction.execute("UPDATE meta SET roll = $1", &[Value::Text(&roll)])?;
    Ok(())
}
