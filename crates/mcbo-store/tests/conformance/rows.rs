//! Rows from outside that are more than one change takes.

use mcbo_store::{Duplicates, Row, Store, StoreError, Table};

use crate::common::{create, round};

/// More than two pieces.
const MANY: usize = 45_000;

fn table(rows: std::ops::Range<usize>) -> Table {
    let row = |number: usize| {
        let values = [("light", number as f64 / 3.0), ("growth", 0.1)]
            .map(|(name, value)| (name.to_owned(), vec![value]));
        Row { values: values.into(), ..Row::default() }
    };
    rows.map(row).collect::<Vec<_>>().iter().collect()
}

/// Many rows are taken in pieces: others come in between, what was begun is gone on with, and who adds the same meanwhile does not
/// double it.
pub fn many_rows(url: &str) {
    let store = Store::open(url).unwrap();
    let mut study = create(&store, "s", "random", 1);
    // As if the program had ended after the first piece.
    assert_eq!(study.add_table(&table(0..20_000), Duplicates::Refuse).unwrap(), 20_000);
    let all = table(0..MANY);
    let error = study.add_table(&all, Duplicates::Refuse).expect_err("it has some of them");
    assert!(matches!(error, StoreError::KnownRows(places) if places == (0..20_000).collect::<Vec<_>>()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut study = store.open_study("s").unwrap();
            let all = &all;
            scope.spawn(move || study.add_table(all, Duplicates::Skip).unwrap());
        }
        let mut study = store.open_study("s").unwrap();
        scope.spawn(move || (0..20).for_each(|_| _ = round(&mut study, "w")));
    });
    let mut fresh = Store::open(url).unwrap().open_study("s").unwrap();
    assert_eq!(fresh.status().unwrap().complete, MANY + 20);
    let error = fresh.add_table(&all, Duplicates::Refuse).expect_err("it has all of them");
    assert!(matches!(error, StoreError::KnownRows(places) if places.len() == MANY));
    assert_eq!(fresh.trials().unwrap(), study.trials().unwrap());
    // One row that does not fit refuses all, before any piece is written.
    let mut last = table(MANY..2 * MANY);
    let values = [("growth".to_owned(), vec![f64::NAN])].into();
    last.push(&Row { values, ..Row::default() });
    let error = fresh.add_table(&last, Duplicates::Refuse).expect_err("one is no number");
    assert!(matches!(error, StoreError::Rows(faults) if faults.len() == 1 && faults[0].index == MANY));
    last.leave_out(&[MANY]);
    assert_eq!((last.len(), fresh.status().unwrap().complete), (MANY, MANY + 20));
}
