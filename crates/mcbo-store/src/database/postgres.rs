//! PostgreSQL: a connection that is waited for on a private runtime of one thread, the caller's. Every wait has an end.

use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow};
use sqlx::{Column, Connection, Postgres, Row, TypeInfo};
use tokio::runtime::{Builder, Runtime};

use super::cell::{Cell, Line};
use super::{PATIENCE, Value};
use crate::StoreError;
use crate::address::Address;

/// How long a server may take to answer the first time.
const GREETING: Duration = Duration::from_secs(10);
/// How long any statement may take: a server waits for locks no longer than [`PATIENCE`].
const ANSWER: Duration = Duration::from_secs(PATIENCE.as_secs() + 60);

/// A connection.
pub(crate) type Client = PgConnection;

/// What waits for a server.
pub(crate) struct Waiter {
    runtime: Runtime,
    shown: String,
    options: PgConnectOptions,
}

impl Waiter {
    pub fn new(address: &Address) -> Result<Self, StoreError> {
        let shown = address.shown.clone();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::Database { url: shown.clone(), reason: error.to_string() })?;
        // What is wrong with an address may quote it, with its password.
        let options = address.url.parse::<PgConnectOptions>().map_err(|error| StoreError::BadUrl {
            url: shown.clone(),
            reason: address.without_secrets(&error.to_string()),
        })?;
        Ok(Self { runtime, shown, options })
    }

    /// Waits for an answer, but not for ever.
    fn wait<T>(
        &self,
        limit: Duration,
        answer: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        let limited = async { tokio::time::timeout(limit, answer).await };
        match self.runtime.block_on(limited) {
            Ok(answer) => answer.map_err(|error| self.classify(error)),
            Err(_) => Err(self.unreachable(format!("no answer in {} s", limit.as_secs()))),
        }
    }

    pub fn connect(&self) -> Result<Client, StoreError> {
        let mut client = self.wait(GREETING, PgConnection::connect_with(&self.options))?;
        for (setting, wait) in
            [("lock_timeout", PATIENCE), ("idle_in_transaction_session_timeout", 2 * ANSWER)]
        {
            let sql = format!("SET {setting} = {}", wait.as_millis());
            let setting = sqlx::raw_sql(sqlx::AssertSqlSafe(sql));
            self.wait(GREETING, setting.execute(&mut client))?;
        }
        Ok(client)
    }

    pub fn execute(
        &self,
        client: &mut Client,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        self.wait(ANSWER, bound(sql, values).execute(client)).map(|done| done.rows_affected())
    }

    pub fn rows(
        &self,
        client: &mut Client,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Line>, StoreError> {
        let rows = self.wait(ANSWER, bound(sql, values).fetch_all(client))?;
        rows.iter().map(|row| line(row).map_err(|error| self.classify(error))).collect()
    }

    /// Takes leave of a server.
    pub fn farewell(self, clients: impl Iterator<Item = Client>) {
        // A runtime cannot wait inside another; the connections are then closed without a farewell.
        if tokio::runtime::Handle::try_current().is_err() {
            for client in clients {
                let _ = self.wait(Duration::from_secs(1), client.close());
            }
        }
        self.runtime.shutdown_background();
    }

    fn unreachable(&self, reason: String) -> StoreError {
        StoreError::Unreachable {
            url: self.shown.clone(),
            reason,
            hint: "is the server running, and are host, port, user, password and database right?",
        }
    }

    /// What an error of the driver means.
    fn classify(&self, error: sqlx::Error) -> StoreError {
        let url = self.shown.clone();
        let reason = error.to_string();
        let code = match &error {
            sqlx::Error::Database(error) => error.code().unwrap_or_default().into_owned(),
            sqlx::Error::Configuration(_) => return StoreError::BadUrl { url, reason },
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed => return self.unreachable(reason),
            _ => return StoreError::Database { url, reason },
        };
        match code.as_str() {
            "25006" => StoreError::ReadOnly { url },
            "53100" => StoreError::Full { url },
            "55P03" | "40P01" => StoreError::Busy { url },
            "3D000" | "28000" | "28P01" | "53300" | "57P01" | "57P02" | "57P03" | "25P03" => {
                self.unreachable(reason)
            }
            // An index or a page of the server that is broken.
            "XX001" | "XX002" => StoreError::Damaged { url, reason },
            _ => StoreError::Database { url, reason },
        }
    }
}

fn bound<'q>(sql: &'static str, values: &[Value<'q>]) -> sqlx::query::Query<'q, Postgres, PgArguments> {
    values.iter().fold(sqlx::query(sql), |query, value| match *value {
        Value::Int(value) => query.bind(value),
        Value::Text(value) => query.bind(value),
        Value::Bytes(value) => query.bind(value),
    })
}

/// A row of the server as a line.
fn line(row: &PgRow) -> Result<Line, sqlx::Error> {
    let cell = |column: &sqlx::postgres::PgColumn| {
        let at = column.ordinal();
        Ok(match column.type_info().name() {
            "INT8" => row.try_get::<Option<i64>, _>(at)?.map_or(Cell::Null, Cell::Int),
            "INT4" => row.try_get::<Option<i32>, _>(at)?.map_or(Cell::Null, |value| Cell::Int(value.into())),
            "TEXT" | "VARCHAR" | "NAME" => {
                row.try_get::<Option<String>, _>(at)?.map_or(Cell::Null, Cell::Text)
            }
            "BYTEA" => row.try_get::<Option<Vec<u8>>, _>(at)?.map_or(Cell::Null, Cell::Bytes),
            _ => Cell::Other("something of another type"),
        })
    };
    row.columns().iter().map(cell).collect()
}
