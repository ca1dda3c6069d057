//! SQLite: one file, no thread of its own; what is wrong with a file, and how that is told.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::cell::{Cell, Line};
use super::{PATIENCE, Value};
use crate::StoreError;
use crate::address::{Address, Mode};
use crate::schema;

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Files up to this size are looked at as wholes whenever they are opened; larger ones by `doctor`, and when something is odd.
const SMALL: u64 = 4 << 20;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As the address says.
    Ordinary,
    /// As one that nobody writes to: where not even the files beside it can be made.
    Still,
}

/// Looks at a file before it is opened: whether it will be made by opening it. What is not there is made only if it may be.
pub(crate) fn look(address: &mut Address, make: bool) -> Result<bool, StoreError> {
    if !make && address.mode == Mode::Make {
        address.mode = Mode::Write;
    }
    match std::fs::metadata(&address.path) {
        Ok(metadata) if metadata.len() == 0 && !make => Err(StoreError::Empty { url: address.shown.clone() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match make {
            true => Ok(address.mode == Mode::Make),
            false => Err(StoreError::NoStore { url: address.shown.clone() }),
        },
        _ => Ok(false),
    }
}

/// Writes a few pages to a file beside a store and takes them away again: a disk may be full although the store has room inside.
pub(crate) fn check_room(address: &Address) -> Result<(), StoreError> {
    use std::io::Write;
    const PAGES: usize = 64 << 10;
    let probe = beside(&address.path, &format!("-room-{}", std::process::id()));
    let written = std::fs::File::create_new(&probe)
        .and_then(|mut file| file.write_all(&[1; PAGES]).and_then(|()| file.sync_all()));
    let _ = std::fs::remove_file(&probe);
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            StoreError::Full { url: address.shown.clone() }
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { url: address.shown.clone() }
        }
        _ => StoreError::Database { url: address.shown.clone(), reason: error.to_string() },
    })
}

/// Removes a file that was made by opening it and has nothing in it.
pub(crate) fn clear_away(address: &Address) {
    if std::fs::metadata(&address.path).is_ok_and(|metadata| metadata.len() == 0) {
        let _ = std::fs::remove_file(&address.path);
        for ending in ["-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(beside(&address.path, ending));
        }
    }
}

/// A file beside another one.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A connection with the settings of ours.
pub(crate) fn connect(address: &Address) -> Result<Connection, StoreError> {
    // Looked at first: whoever fails to open the log of changes may leave an empty one.
    let nobody_writes = std::fs::metadata(beside(&address.path, "-wal")).map_or(0, |log| log.len()) == 0;
    match set_up(address, Reading::Ordinary) {
        Ok(connection) => Ok(connection),
        Err(error) => {
            // A folder that cannot be written, or has no room: the files that readers share cannot be made there. Where no log of
            // changes is, nobody writes.
            let refused = matches!(
                error,
                StoreError::Unreachable { .. }
                    | StoreError::ReadOnly { .. }
                    | StoreError::Full { .. }
                    | StoreError::Database { .. }
            );
            match refused && nobody_writes && address.path.is_file() {
                true => set_up(address, Reading::Still).map_err(|_| error),
                false => Err(error),
            }
        }
    }
}

fn set_up(address: &Address, reading: Reading) -> Result<Connection, StoreError> {
    let say = |error| classify(address, error);
    let connection = open(address, reading).map_err(say)?;
    connection.busy_timeout(PATIENCE).map_err(say)?;
    // What does not fit on its page is said to be so at once, and no function of a schema is trusted.
    pragma(&connection, "PRAGMA cell_size_check = ON").map_err(say)?;
    pragma(&connection, "PRAGMA trusted_schema = OFF").map_err(say)?;
    // Written once in the life of a file; asking first spares the lock.
    let journal = pragma(&connection, "PRAGMA journal_mode").map_err(say)?;
    if reading == Reading::Ordinary && address.mode != Mode::Read && journal != "wal" {
        match pragma(&connection, "PRAGMA journal_mode = WAL").map_err(say) {
            Ok(_) | Err(StoreError::ReadOnly { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    // What was acknowledged survives a power cut.
    pragma(&connection, "PRAGMA synchronous = FULL").map_err(say)?;
    pragma(&connection, "PRAGMA foreign_keys = ON").map_err(say)?;
    // The first page is read here, and with it what readers share is opened.
    pragma(&connection, "PRAGMA schema_version").map_err(say)?;
    Ok(connection)
}

fn open(address: &Address, reading: Reading) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    if reading == Reading::Still {
        let path = address.path.display().to_string();
        let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        return Connection::open_with_flags(format!("file:{path}?immutable=1"), flags);
    }
    let mode = match address.mode {
        Mode::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Mode::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Mode::Make => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    };
    Connection::open_with_flags(&address.path, flags | mode)
}

/// Runs a pragma; the first column of its answer as a text. Some do not wait for others of themselves: they are tried again.
fn pragma(connection: &Connection, text: &str) -> rusqlite::Result<String> {
    let start = std::time::Instant::now();
    loop {
        match rows(connection, text, &[]) {
            Err(error) if is_busy(&error) && start.elapsed() < PATIENCE => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            answer => {
                return answer.map(|rows| match rows.first().and_then(|row| row.first()) {
                    Some(Cell::Text(text)) => text.clone(),
                    Some(Cell::Int(value)) => value.to_string(),
                    _ => String::new(),
                });
            }
        }
    }
}

/// Runs a statement; the number of rows it changed.
pub(crate) fn execute(connection: &Connection, sql: &str, values: &[Value<'_>]) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare(sql)?;
    bind(&mut statement, values)?;
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    drop(rows);
    drop(statement);
    Ok(connection.changes())
}

/// The rows of a query.
pub(crate) fn rows(connection: &Connection, sql: &str, values: &[Value<'_>]) -> rusqlite::Result<Vec<Line>> {
    let mut lines = Vec::new();
    each(connection, sql, values, |line| lines.push(line)).map(|()| lines)
}

/// Calls something with the rows of a query, as far as they can be read.
pub(crate) fn each(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
    mut take: impl FnMut(Line),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    bind(&mut statement, values)?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let cell = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(value) => Cell::Int(value),
                ValueRef::Text(bytes) => std::str::from_utf8(bytes)
                    .map_or(Cell::Other("a text that is none"), |text| Cell::Text(text.to_owned())),
                ValueRef::Real(_) => Cell::Other("a fraction"),
                ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
            })
        };
        take((0..columns).map(cell).collect::<rusqlite::Result<Line>>()?);
    }
    Ok(())
}

fn bind(statement: &mut rusqlite::Statement<'_>, values: &[Value<'_>]) -> rusqlite::Result<()> {
    for (index, value) in values.iter().enumerate() {
        let Some(place) = statement.parameter_index(&format!("${}", index + 1))? else { continue };
        match *value {
            Value::Int(value) => statement.raw_bind_parameter(place, value)?,
            Value::Text(text) => statement.raw_bind_parameter(place, text)?,
            Value::Bytes(bytes) => statement.raw_bind_parameter(place, bytes)?,
        }
    }
    Ok(())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| matches!(error.extended_code & 0xff, 5 | 6))
}

/// What an error of SQLite means.
pub(crate) fn classify(address: &Address, error: rusqlite::Error) -> StoreError {
    let url = address.shown.clone();
    let reason = error.to_string();
    let Some(code) = error.sqlite_error().map(|error| error.extended_code) else {
        return StoreError::Database { url, reason };
    };
    // The low byte is the kind, the rest its cause.
    match code & 0xff {
        5 | 6 => StoreError::Busy { url },
        8 => StoreError::ReadOnly { url },
        10 => StoreError::Database {
            url,
            reason: format!("{reason}; nothing was stored; hint: check the disk and the room on it"),
        },
        11 => StoreError::Damaged { url, reason },
        13 => StoreError::Full { url },
        14 => StoreError::Unreachable { url, reason, hint: "make the folder, and check the rights on it" },
        26 if is_nearly_ours(&address.path) => StoreError::Damaged { url, reason },
        26 => StoreError::NotADatabase { url },
        _ => StoreError::Database { url, reason },
    }
}

/// Whether a file begins as SQLite's do, but for some bits.
fn is_nearly_ours(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0; MAGIC.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head.iter().zip(MAGIC).filter(|(found, right)| found == right).count() >= 12
}

/// The bytes of a file, with what stands in the log beside it written in as far as SQLite can do that; on a copy.
pub(crate) fn settled_bytes(address: &Address) -> Result<Vec<u8>, StoreError> {
    let unreadable = |error: std::io::Error| StoreError::Unreachable {
        url: address.shown.clone(),
        reason: error.to_string(),
        hint: "check the path, and the rights on the file",
    };
    let bytes = std::fs::read(&address.path).map_err(unreadable)?;
    let log = beside(&address.path, "-wal");
    if std::fs::metadata(&log).map_or(0, |metadata| metadata.len()) == 0 {
        return Ok(bytes);
    }
    let copy = std::env::temp_dir().join(format!("mcbo-repair-{}.sqlite", std::process::id()));
    let settled = std::fs::write(&copy, &bytes)
        .and_then(|()| std::fs::copy(&log, beside(&copy, "-wal")))
        .ok()
        .and_then(|_| {
            let connection = Connection::open(&copy).ok()?;
            pragma(&connection, "PRAGMA wal_checkpoint(TRUNCATE)").ok()?;
            drop(connection);
            std::fs::read(&copy).ok()
        });
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(&copy, ending));
    }
    Ok(settled.unwrap_or(bytes))
}

/// Looks at a small file as a whole.
pub(crate) fn check_small(address: &Address) -> Result<(), StoreError> {
    match std::fs::metadata(&address.path) {
        Ok(metadata) if metadata.len() <= SMALL => damage(address).map_or(Ok(()), Err),
        _ => Ok(()),
    }
}

/// Looks at all of a file: what is wrong with it, if it is damaged.
pub(crate) fn damage(address: &Address) -> Option<StoreError> {
    let damaged = |reason: String| Some(StoreError::Damaged { url: address.shown.clone(), reason });
    let connection = match connect(address) {
        Ok(connection) => connection,
        Err(error @ StoreError::Damaged { .. }) => return Some(error),
        Err(_) => return None,
    };
    match rows(&connection, "PRAGMA integrity_check(3)", &[]) {
        Ok(lines) if lines == [[Cell::Text("ok".into())]] => {}
        Ok(lines) => {
            let found = lines.into_iter().flatten().filter_map(|cell| match cell {
                Cell::Text(text) => Some(text.replace('\n', " ")),
                _ => None,
            });
            return damaged(found.collect::<Vec<_>>().join("; "));
        }
        Err(error) => {
            return match classify(address, error) {
                error @ StoreError::Damaged { .. } => Some(error),
                StoreError::Busy { .. } => None,
                error => damaged(error.to_string()),
            };
        }
    }
    let found = match tables(&connection) {
        Ok(found) => found,
        Err(error) => return damaged(error.to_string()),
    };
    // Nothing at all is a store that is not made yet; tables of others are for others to judge.
    let ours = ["meta", "studies", "events"];
    let is_ours = found.iter().filter(|(name, _)| ours.contains(&name.as_str())).count() > 1;
    let fits = |version: usize| {
        let expected = expected_tables(version);
        expected.iter().all(|table| found.contains(table))
    };
    let versions = match said_version(&connection) {
        Some(version) => version..=version,
        None => 1..=schema::STEPS.len(),
    };
    match is_ours && !versions.into_iter().any(fits) {
        true => damaged("its tables are not as they were made".into()),
        false => None,
    }
}

/// The version that a store says it has, if it is one that there is.
fn said_version(connection: &Connection) -> Option<usize> {
    let said = rows(connection, "SELECT schema_version FROM meta", &[]).ok()?;
    match said.first()?.first()? {
        Cell::Int(version) => usize::try_from(*version).ok(),
        _ => None,
    }
    .filter(|version| (1..=schema::STEPS.len()).contains(version))
}

/// The tables of a database with the text that made them.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    each(connection, "SELECT name, sql FROM sqlite_master WHERE type = 'table'", &[], |line| {
        if let [Cell::Text(name), Cell::Text(sql)] = line.as_slice() {
            found.push((name.clone(), sql.clone()));
        }
    })?;
    Ok(found)
}

/// The tables of a version with the text that SQLite keeps of them.
fn expected_tables(version: usize) -> Vec<(String, String)> {
    let made = || -> rusqlite::Result<_> {
        let connection = Connection::open_in_memory()?;
        for statement in schema::STEPS.iter().take(version).copied().flatten() {
            connection.execute_batch(statement)?;
        }
        tables(&connection)
    };
    made().expect("the tables can be made in memory")
}
