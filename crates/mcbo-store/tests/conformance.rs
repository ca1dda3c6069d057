//! What a store must do, on every database: one suite, run on SQLite and on PostgreSQL. Databases that fail are in `src/faults.rs`.

mod common;

#[path = "conformance/contexts.rs"]
mod contexts;
#[path = "conformance/flow.rs"]
mod flow;
#[path = "conformance/mistakes.rs"]
mod mistakes;
#[path = "conformance/rows.rs"]
mod rows;
#[path = "conformance/server.rs"]
mod server;
#[path = "conformance/shelf.rs"]
mod shelf;
#[path = "conformance/undone.rs"]
mod undone;
#[path = "conformance/workers.rs"]
mod workers;

/// A check; its argument makes the address of a database that is new.
type Check = fn(&str);

/// Every check under its name.
const CHECKS: &[(&str, Check)] = &[
    ("round_trip", flow::round_trip),
    ("numbers_survive", flow::numbers_survive),
    ("resumed_is_uninterrupted", flow::resumed_is_uninterrupted),
    ("recomputed_to_the_bit", flow::recomputed_to_the_bit),
    ("replay_is_live", flow::replay_is_live),
    ("unstorable_suggestions", flow::unstorable_suggestions),
    ("problem_changes", flow::problem_changes),
    ("partial_tells", flow::partial_tells),
    ("history", flow::history),
    ("corrections", flow::corrections),
    ("contexts", contexts::contexts),
    ("ranges", contexts::ranges),
    ("voids", flow::voids),
    ("undone", undone::undone),
    ("two_workers", workers::two_workers),
    ("leases", workers::leases),
    ("signs_of_life", workers::signs_of_life),
    ("releases", workers::releases),
    ("notes", workers::notes),
    ("strategies_that_are_missing", workers::strategies_that_are_missing),
    ("enqueued", workers::enqueued),
    ("batches", workers::batches),
    ("threads", workers::threads),
    ("at_once", workers::at_once),
    ("identical_and_conflicting_tells", mistakes::identical_and_conflicting_tells),
    ("bad_tells", mistakes::bad_tells),
    ("bad_rows", mistakes::bad_rows),
    ("known_rows", mistakes::known_rows),
    ("many_rows", rows::many_rows),
    ("bad_studies", mistakes::bad_studies),
    ("copies", shelf::copies),
    ("renames", shelf::renames),
    ("deletes", shelf::deletes),
    ("bad_shelves", shelf::bad_shelves),
];

#[test]
fn sqlite() {
    for (name, check) in CHECKS {
        eprintln!("sqlite: {name}");
        let folder = tempfile::tempdir().unwrap();
        check(&common::sqlite(&folder));
    }
}

#[test]
fn postgres() {
    let Some(server) = common::postgres::Server::start() else { return };
    for (name, check) in CHECKS {
        eprintln!("postgres: {name}");
        check(&server.fresh());
    }
    eprintln!("postgres: addresses, schemas and a restart");
    server::only_a_server_can(&server);
}
