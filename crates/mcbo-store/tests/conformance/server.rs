//! What only a server can do: it is away, restarted, foreign or read-only.

use mcbo_store::{Store, StoreError};

use crate::common::create;
use crate::common::postgres::Server;

pub fn only_a_server_can(server: &Server) {
    let nowhere = Store::open(&server.address("nowhere")).unwrap_err();
    assert!(matches!(nowhere, StoreError::Unreachable { .. }), "{nowhere}");
    let closed = Store::open("postgresql://postgres:secret@127.0.0.1:1/x").unwrap_err();
    assert!(matches!(closed, StoreError::Unreachable { .. }), "{closed}");
    assert!(!closed.to_string().contains("secret") && closed.to_string().contains("hint:"), "{closed}");

    // A server that was restarted is found again.
    let url = server.fresh();
    let store = Store::open(&url).unwrap();
    let mut study = create(&store, "s", "random", 1);
    study.ask("w", 1).unwrap();
    server.down();
    let down = study.ask("w", 2).unwrap_err();
    assert!(matches!(down, StoreError::Unreachable { .. }), "{down}");
    server.up();
    assert_eq!(study.ask("w", 2).unwrap().len(), 2);
    server.down();
    server.up();
    assert_eq!(study.trials().unwrap().len(), 2);

    let database = url.rsplit('/').next().unwrap();
    server.sql(database, "UPDATE meta SET schema_version = 99");
    let newer = Store::open(&url).unwrap_err();
    assert!(matches!(newer, StoreError::NewerSchema { found: 99, .. }), "{newer}");
    server.sql(database, "ALTER TABLE meta RENAME COLUMN schema_version TO other");
    let foreign = Store::open(&url).unwrap_err();
    assert!(matches!(foreign, StoreError::NotOurs { .. }), "{foreign}");

    let url = server.fresh();
    create(&Store::open(&url).unwrap(), "s", "random", 1);
    let database = url.rsplit('/').next().unwrap();
    server.sql(database, &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let store = Store::open(&url).unwrap();
    let mut study = store.open_study("s").unwrap();
    assert_eq!(study.trials().unwrap(), []);
    let error = study.ask("w", 1).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}
