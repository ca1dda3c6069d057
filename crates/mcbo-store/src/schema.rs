//! The tables, and the way from older ones to these.
//!
//! Version 1: `events` is the truth, append-only; the counts in `studies` are a summary of it that lists are made from.
//! A change of the tables is another element of [`STEPS`]; databases are brought up to date when they are opened.

use crate::StoreError;
use crate::address::Backend;
use crate::database::{Database, Transaction, Value};

/// What makes each version from the one before it, the same text on both databases.
const STEPS: [&[&str]; 1] = [&[
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
]];

/// The version this program writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// The key of the lock for changes to the tables and the list of studies, on PostgreSQL.
const LOCK: i64 = 0x6d63_626f;

/// Makes the tables or brings them up to date; refuses what a newer program wrote.
pub(crate) fn prepare(database: &Database) -> Result<(), StoreError> {
    let found = version(database, &mut database.read()?)?;
    if found == VERSION {
        return Ok(());
    }
    let mut transaction = database.write()?;
    lock_all(database, &mut transaction)?;
    // Another program may have been faster.
    let found = version(database, &mut transaction)?;
    for (step, statements) in STEPS.iter().enumerate().skip(usize::try_from(found).unwrap_or(0)) {
        for statement in *statements {
            transaction.execute(statement, &[])?;
        }
        transaction.execute("UPDATE meta SET schema_version = $1", &[Value::Int(step as i64 + 1)])?;
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
    Ok(found)
}
