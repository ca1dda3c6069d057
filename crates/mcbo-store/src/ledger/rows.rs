//! Rows from outside: which fit the problem, and which are there already.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use mcbo_core::{Data, Intervention, Observation, Problem};

use crate::event::{Added, Event};
use crate::log::Draft;
use crate::table::{Seen, Table};
use crate::{RowError, RowFault, StoreError};

/// The most rows of one event: none is larger than what is read at once without care.
const MOST_IN_ONE: usize = 2000;

/// What to do with rows that a study has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Add them once more: they are repeated measurements.
    Take,
    /// Leave them out.
    Skip,
    /// Add nothing and say which they are.
    Refuse,
}

/// The rows that a study has, to look others up among them: the same was done, and what was measured is the same.
struct Known<'a> {
    there: &'a [Observation],
    /// A row may have gaps: for each pattern of gaps the observations are looked at by the other values alone.
    by_gaps: HashMap<Vec<bool>, HashSet<u128>>,
}

impl<'a> Known<'a> {
    fn new(there: &'a [Observation]) -> Self {
        Self { there, by_gaps: HashMap::new() }
    }

    fn has(&mut self, row: &Observation) -> bool {
        let gaps: Vec<bool> = row.values.iter().map(Option::is_some).collect();
        let key = key(row, &gaps);
        if let Some(known) = self.by_gaps.get(&gaps) {
            return known.contains(&key);
        }
        let known: HashSet<u128> = self.there.iter().map(|old| self::key(old, &gaps)).collect();
        let has = known.contains(&key);
        self.by_gaps.insert(gaps, known);
        has
    }
}

/// What an observation says as far as some of its values go: 128 bits, by which no two of any number of rows are mistaken.
fn key(observation: &Observation, measured: &[bool]) -> u128 {
    let half = |salt: u8| {
        // Both zeros are one number. Values that were set are filled in when a row is taken, so they are told by what was done.
        let bits = |value: f64| (value + 0.0).to_bits();
        let mut hash = DefaultHasher::new();
        salt.hash(&mut hash);
        let Intervention { targets, actions } = &observation.intervention;
        actions.iter().for_each(|value| bits(*value).hash(&mut hash));
        for (node, values) in targets {
            (*node, values.len()).hash(&mut hash);
            values.iter().for_each(|value| bits(*value).hash(&mut hash));
        }
        u64::MAX.hash(&mut hash);
        let values = observation.values.iter().zip(measured).filter(|(_, measured)| **measured);
        values.for_each(|(value, _)| value.map_or(u64::MAX, bits).hash(&mut hash));
        hash.finish()
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}

/// Refuses a row that does not fit the problem.
fn check(problem: &Problem, seen: &Seen<'_>) -> Result<(), RowFault> {
    seen.check_sizes()?;
    Ok(Data::new().push(problem, seen.observation.clone())?)
}

/// Every row that does not fit the problem.
pub(crate) fn faults(problem: &Problem, table: &Table) -> Vec<RowError> {
    let rows = table.observations(problem).enumerate();
    let fault = |(index, seen): (usize, Result<Seen<'_>, RowFault>)| {
        let fault = seen.and_then(|seen| check(problem, &seen)).err()?;
        Some(RowError { index, fault })
    };
    rows.filter_map(fault).collect()
}

/// Which rows of a table from a place on are to be added to these data.
pub(crate) fn new_rows(
    problem: &Problem,
    data: &Data,
    table: &Table,
    from: usize,
    duplicates: Duplicates,
) -> Result<Vec<bool>, StoreError> {
    let mut known = Known::new(data.observations());
    let (mut new, mut bad, mut there) = (Vec::new(), Vec::new(), Vec::new());
    for (index, seen) in table.observations(problem).enumerate().skip(from) {
        let checked = seen.and_then(|seen| check(problem, &seen).map(|()| seen));
        match checked {
            Err(fault) => bad.push(RowError { index, fault }),
            Ok(seen) => {
                let is_known = duplicates != Duplicates::Take && known.has(&seen.observation);
                new.push(!is_known);
                there.extend(is_known.then_some(index));
            }
        }
    }
    match bad.is_empty() {
        false => Err(StoreError::Rows(bad)),
        true if duplicates == Duplicates::Refuse && !there.is_empty() => Err(StoreError::KnownRows(there)),
        true => Ok(new),
    }
}

/// Rows that are ready to be added: events, each with the observations in it.
#[derive(Default)]
pub(crate) struct Piece {
    pub parts: Vec<(Draft, Vec<Observation>)>,
    /// How many rows were looked at for it, and how many of them are in it.
    pub looked_at: usize,
    pub rows: usize,
}

impl Piece {
    /// Takes the next `most` rows, with whether they are new.
    pub fn next<'a>(
        problem: &Problem,
        rows: &mut impl Iterator<Item = (Result<Seen<'a>, RowFault>, bool)>,
        most: usize,
        by: Option<&str>,
    ) -> Result<Self, StoreError> {
        let mut piece = Self::default();
        let (mut table, mut observations) = (Table::default(), Vec::new());
        let end = |table: &mut Table, observations: &mut Vec<Observation>, piece: &mut Self| {
            let (table, observations) = (std::mem::take(table), std::mem::take(observations));
            let added = Added { rows: Vec::new(), table, by: by.map(str::to_owned) };
            piece.rows += observations.len();
            piece.parts.push((Draft::from(Event::Added(added)), observations));
        };
        for (seen, new) in rows.take(most) {
            piece.looked_at += 1;
            let seen = seen.map_err(|fault| StoreError::Rows(vec![RowError { index: 0, fault }]))?;
            if new {
                table.push_explicit(problem, &seen);
                observations.push(seen.observation);
            }
            if observations.len() == MOST_IN_ONE {
                end(&mut table, &mut observations, &mut piece);
            }
        }
        if !observations.is_empty() {
            end(&mut table, &mut observations, &mut piece);
        }
        Ok(piece)
    }
}
