//! Connections and transactions, blocking, the same on both databases.

mod cell;
mod postgres;
mod sqlite;

use std::sync::Mutex;
use std::time::Duration;

use crate::StoreError;
use crate::address::{Address, Backend};
use crate::schema;

pub(crate) use cell::{Cell, FromCell, Line};
pub(crate) use sqlite::settled_bytes;

/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(300);

/// A value for a place in a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// One connection.
enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Client>),
}

/// A database with its idle connections. Every operation takes a connection for itself, so threads do not wait for one
/// another unless they write to the same study.
pub(crate) struct Database {
    pub address: Address,
    /// The version of its tables. Only what cannot be written may be of an older one.
    pub version: i64,
    idle: Mutex<Vec<Connection>>,
    /// What waits for a server.
    runtime: Option<postgres::Waiter>,
    #[cfg(test)]
    pub faults: crate::faults::Faults,
}

impl Database {
    /// Connects, and brings the schema up to date.
    ///
    /// `make` says whether a store is made where there is none.
    pub fn open(url: &str, make: bool) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let runtime = match address.backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(postgres::Waiter::new(&address)?),
        };
        let mut database = Self {
            address,
            version: schema::VERSION,
            idle: Mutex::default(),
            runtime,
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        let fresh = database.address.backend == Backend::Sqlite && sqlite::look(&mut database.address, make)?;
        match database.prepare(make) {
            Ok(version) => {
                database.version = version;
                Ok(database)
            }
            Err(error) => {
                let error = database.suspect(error);
                if fresh {
                    database.idle = Mutex::default();
                    sqlite::clear_away(&database.address);
                }
                Err(error)
            }
        }
    }

    /// Looks at what is there and brings the tables up to date; their version.
    fn prepare(&self, make: bool) -> Result<i64, StoreError> {
        let connection = self.connect()?;
        self.give_back(connection);
        if self.address.backend == Backend::Sqlite {
            sqlite::check_small(&self.address)?;
        }
        schema::prepare(self, make)
    }

    /// Looks at every page of a file.
    pub fn check(&self) -> Result<(), StoreError> {
        match self.address.backend {
            Backend::Sqlite => sqlite::damage(&self.address).map_or(Ok(()), Err),
            Backend::Postgres => Ok(()),
        }
    }

    /// Makes sure that there is room for more.
    pub fn check_room(&self) -> Result<(), StoreError> {
        match self.address.backend {
            Backend::Sqlite => sqlite::check_room(&self.address),
            // A server says so itself, and only when it is too late.
            Backend::Postgres => Ok(()),
        }
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
            // Where there was no room for what writers need, the file was opened to be read.
            Backend::Sqlite => self.begin("BEGIN IMMEDIATE").map_err(|error| match error {
                StoreError::ReadOnly { .. } => match self.check_room() {
                    Err(full @ StoreError::Full { .. }) => full,
                    _ => error,
                },
                error => error,
            }),
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
            Err(StoreError::Unreachable { .. }) if reused && self.address.backend == Backend::Postgres => {
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

    fn connect(&self) -> Result<Connection, StoreError> {
        match &self.runtime {
            None => sqlite::connect(&self.address).map(Connection::Sqlite),
            Some(waiter) => waiter.connect().map(Box::new).map(Connection::Postgres),
        }
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(connection);
    }

    /// The error, or that the file is damaged if a look at all of it shows that.
    pub fn suspect(&self, error: StoreError) -> StoreError {
        let unexpected = matches!(
            error,
            StoreError::Database { .. }
                | StoreError::BadEvent { .. }
                | StoreError::NoStudy { .. }
                | StoreError::Deleted { .. }
                | StoreError::NotOurs { .. }
                | StoreError::NewerSchema { .. }
        );
        if unexpected && self.address.backend == Backend::Sqlite {
            return sqlite::damage(&self.address).unwrap_or(error);
        }
        error
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let idle = std::mem::take(self.idle.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()));
        if let Some(waiter) = self.runtime.take() {
            waiter.farewell(idle.into_iter().filter_map(|connection| match connection {
                Connection::Postgres(client) => Some(*client),
                Connection::Sqlite(_) => None,
            }));
        }
    }
}

/// A transaction under way. Dropped without [`Transaction::commit`] it leaves no trace.
pub(crate) struct Transaction<'a> {
    pub database: &'a Database,
    /// `None` once it is over.
    connection: Option<Connection>,
    open: bool,
}

impl Transaction<'_> {
    /// Runs a statement; the number of rows it changed.
    pub fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        self.run(|database, connection| match connection {
            Connection::Sqlite(connection) => sqlite::execute(connection, sql, values)
                .map_err(|error| sqlite::classify(&database.address, error)),
            Connection::Postgres(client) => database.waiter().execute(client, sql, values),
        })
    }

    /// The rows of a query.
    pub fn rows(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<Vec<Line>, StoreError> {
        self.run(|database, connection| match connection {
            Connection::Sqlite(connection) => sqlite::rows(connection, sql, values)
                .map_err(|error| sqlite::classify(&database.address, error)),
            Connection::Postgres(client) => database.waiter().rows(client, sql, values),
        })
    }

    /// A column of a row.
    pub fn get<T: FromCell>(&self, row: &Line, column: usize) -> Result<T, StoreError> {
        let cell = row.get(column).unwrap_or(&Cell::Null);
        T::from_cell(cell).ok_or_else(|| StoreError::Damaged {
            url: self.database.address.shown.clone(),
            reason: format!("a column has {} where there should be {}", cell.kind(), T::KIND),
        })
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
        act: impl FnOnce(&Database, &mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let database = self.database;
        let connection = self.connection.as_mut().expect("a transaction has a connection until it is over");
        let act = || act(database, connection);
        #[cfg(test)]
        let act = || database.faults.around(&database.address.shown, act);
        act()
    }
}

impl Database {
    fn waiter(&self) -> &postgres::Waiter {
        self.runtime.as_ref().expect("whoever speaks to a server has what waits for it")
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let sound = !self.open
            || match &mut connection {
                Connection::Sqlite(connection) => sqlite::execute(connection, "ROLLBACK", &[]).is_ok(),
                Connection::Postgres(client) => {
                    self.database.waiter().execute(client, "ROLLBACK", &[]).is_ok()
                }
            };
        if sound {
            self.database.give_back(connection);
        }
    }
}
