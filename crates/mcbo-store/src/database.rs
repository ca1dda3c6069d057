//! Connections and transactions, blocking, the same on both databases.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use sqlx::any::{Any, AnyRow};
use sqlx::{AnyConnection, Connection, Row};
use tokio::runtime::{Builder, Runtime};

use crate::StoreError;
use crate::address::{Address, Backend};
use crate::schema;

/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a server may take to answer the first time.
const GREETING: Duration = Duration::from_secs(10);

/// A value for a place in a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Int(i64),
    Text(&'a str),
}

/// A database with its idle connections. Every operation takes a connection for itself, so threads do not wait for one
/// another unless they write to the same study.
pub(crate) struct Database {
    pub address: Address,
    idle: Mutex<Vec<AnyConnection>>,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    #[cfg(test)]
    pub faults: crate::faults::Faults,
}

impl Database {
    /// Connects, and brings the schema up to date.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        sqlx::any::install_default_drivers();
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            StoreError::Database { url: address.shown.clone(), reason: error.to_string() }
        })?;
        let database = Self {
            address,
            idle: Mutex::default(),
            runtime: Some(runtime),
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        let connection = database.connect()?;
        database.give_back(connection);
        schema::prepare(&database)?;
        Ok(database)
    }

    /// A transaction that only reads: everything in it is of one moment.
    pub fn read(&self) -> Result<Transaction<'_>, StoreError> {
        match self.address.backend {
            Backend::Sqlite => self.begin("BEGIN"),
            Backend::Postgres => self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        }
    }

    /// A transaction that writes. On SQLite there is one at a time; on PostgreSQL what is written must be locked first.
    pub fn write(&self) -> Result<Transaction<'_>, StoreError> {
        match self.address.backend {
            Backend::Sqlite => self.begin("BEGIN IMMEDIATE"),
            Backend::Postgres => self.begin("BEGIN"),
        }
    }

    fn begin(&self, how: &'static str) -> Result<Transaction<'_>, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let reused = idle.is_some();
        let connection = idle.map_or_else(|| self.connect(), Ok)?;
        let mut transaction = Transaction { database: self, connection: Some(connection), open: true };
        match transaction.execute(how, &[]) {
            Ok(_) => Ok(transaction),
            // The server may have been restarted since the connection was last used.
            Err(StoreError::Unreachable { .. }) if reused => {
                transaction.forget();
                self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
                self.begin(how)
            }
            Err(error) => {
                transaction.forget();
                Err(error)
            }
        }
    }

    fn connect(&self) -> Result<AnyConnection, StoreError> {
        let greeting =
            async { tokio::time::timeout(GREETING, AnyConnection::connect(&self.address.url)).await };
        let mut connection = match self.wait(greeting) {
            Ok(connection) => connection.map_err(|error| self.classify(error))?,
            Err(_) => return Err(self.unreachable(format!("no answer in {} s", GREETING.as_secs()))),
        };
        if self.address.backend == Backend::Sqlite {
            let patience = format!("PRAGMA busy_timeout = {}", PATIENCE.as_millis());
            self.set(&mut connection, &patience)?;
            // Written once in the life of a file; asking first spares the lock.
            if self.ask(&mut connection, "PRAGMA journal_mode")? != "wal" {
                match self.set(&mut connection, "PRAGMA journal_mode = WAL") {
                    Ok(()) | Err(StoreError::ReadOnly { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            // What was acknowledged survives a power cut.
            self.set(&mut connection, "PRAGMA synchronous = FULL")?;
            self.set(&mut connection, "PRAGMA foreign_keys = ON")?;
        }
        Ok(connection)
    }

    /// Runs a pragma. Some do not wait for others of themselves: they are tried again.
    fn set(&self, connection: &mut AnyConnection, pragma: &str) -> Result<(), StoreError> {
        self.ask(connection, pragma).map(|_| ())
    }

    fn ask(&self, connection: &mut AnyConnection, pragma: &str) -> Result<String, StoreError> {
        let start = Instant::now();
        loop {
            let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(pragma.to_owned()));
            match self.wait(statement.fetch_optional(&mut *connection)) {
                Ok(row) => return Ok(row.and_then(|row| row.try_get(0).ok()).unwrap_or_default()),
                Err(error) => match self.classify(error) {
                    StoreError::Busy { .. } if start.elapsed() < PATIENCE => {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    error => return Err(error),
                },
            }
        }
    }

    fn give_back(&self, connection: AnyConnection) {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(connection);
    }

    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.as_ref().expect("the runtime lives as long as the database").block_on(future)
    }

    fn unreachable(&self, reason: String) -> StoreError {
        let hint = match self.address.backend {
            Backend::Sqlite => "make the folder, and check the rights on it",
            Backend::Postgres => {
                "is the server running, and are host, port, user, password and database right?"
            }
        };
        StoreError::Unreachable { url: self.address.shown.clone(), reason, hint }
    }

    /// What an error of the driver means.
    pub fn classify(&self, error: sqlx::Error) -> StoreError {
        let url = self.address.shown.clone();
        let reason = error.to_string();
        let code = match &error {
            sqlx::Error::Database(error) => error.code().unwrap_or_default().into_owned(),
            sqlx::Error::Configuration(_) => return StoreError::BadUrl { url, reason },
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => {
                return self.unreachable(reason);
            }
            _ => return StoreError::Database { url, reason },
        };
        if self.address.backend == Backend::Sqlite {
            // The low byte is the kind, the rest its cause.
            return match code.parse::<i32>().unwrap_or(0) & 0xff {
                5 | 6 => StoreError::Busy { url },
                8 => StoreError::ReadOnly { url },
                10 => StoreError::Database {
                    url,
                    reason: format!("{reason}; nothing was stored; hint: check the disk and the room on it"),
                },
                13 => StoreError::Full { url },
                14 => self.unreachable(reason),
                26 => StoreError::NotADatabase { url },
                _ => StoreError::Database { url, reason },
            };
        }
        match code.as_str() {
            "25006" => StoreError::ReadOnly { url },
            "53100" => StoreError::Full { url },
            "55P03" | "40P01" => StoreError::Busy { url },
            "3D000" | "28000" | "28P01" | "53300" | "57P01" | "57P02" | "57P03" => self.unreachable(reason),
            _ => StoreError::Database { url, reason },
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let idle = std::mem::take(self.idle.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()));
        // A runtime cannot wait inside another; the connections are then closed without a farewell.
        if tokio::runtime::Handle::try_current().is_err() {
            for connection in idle {
                let _ = runtime.block_on(connection.close());
            }
        }
        runtime.shutdown_background();
    }
}

/// A transaction under way. Dropped without [`Transaction::commit`] it leaves no trace.
pub(crate) struct Transaction<'a> {
    database: &'a Database,
    /// `None` once it is over.
    connection: Option<AnyConnection>,
    open: bool,
}

impl Transaction<'_> {
    /// Runs a statement; the number of rows it changed.
    pub fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        self.run(|database, connection| {
            let done = database.wait(bound(sql, values).execute(connection));
            done.map(|done| done.rows_affected()).map_err(|error| database.classify(error))
        })
    }

    /// The rows of a query.
    pub fn rows(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<Vec<AnyRow>, StoreError> {
        self.run(|database, connection| {
            let rows = database.wait(bound(sql, values).fetch_all(connection));
            rows.map_err(|error| database.classify(error))
        })
    }

    /// A column of a row.
    pub fn get<'r, T>(&self, row: &'r AnyRow, column: usize) -> Result<T, StoreError>
    where
        T: sqlx::Decode<'r, Any> + sqlx::Type<Any>,
    {
        row.try_get(column).map_err(|error| self.database.classify(error))
    }

    /// Makes everything since the beginning last.
    pub fn commit(mut self) -> Result<(), StoreError> {
        self.execute("COMMIT", &[])?;
        self.open = false;
        Ok(())
    }

    /// Gives the connection up.
    fn forget(mut self) {
        self.connection = None;
    }

    fn run<T>(
        &mut self,
        act: impl FnOnce(&Database, &mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let database = self.database;
        let connection = self.connection.as_mut().expect("a transaction has a connection until it is over");
        #[cfg(test)]
        let act = database.faults.around(act);
        act(database, connection)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let sound = !self.open || self.database.wait(bound("ROLLBACK", &[]).execute(&mut connection)).is_ok();
        if sound {
            self.database.give_back(connection);
        }
    }
}

fn bound<'q>(
    sql: &'static str,
    values: &[Value<'q>],
) -> sqlx::query::Query<'q, Any, <Any as sqlx::Database>::Arguments> {
    values.iter().fold(sqlx::query(sql), |query, value| match *value {
        Value::Int(value) => query.bind(value),
        Value::Text(value) => query.bind(value.to_owned()),
    })
}
