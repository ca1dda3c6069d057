//! Rows from outside: which fit the problem, and which are there already.

use std::collections::{HashMap, HashSet};

use mcbo_core::{Intervention, Observation, Problem, check_size};

use crate::RowError;
use crate::event::Row;

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

/// Which rows say nothing that an observation does not say: the same was done, and what was measured is the same.
pub(super) fn known_rows(rows: &[Observation], there: &[Observation]) -> Vec<bool> {
    // A row may have gaps: for each pattern of gaps the observations are looked at by the other values alone.
    let gaps = |row: &Observation| row.values.iter().map(Option::is_some).collect::<Vec<bool>>();
    let mut by_gaps: HashMap<Vec<bool>, HashSet<Vec<u64>>> = HashMap::new();
    let key = |observation: &Observation, measured: &[bool]| {
        // Both zeros are one number. Values that were set are filled in when a row is taken, so they are told by what was done.
        let bits = |value: f64| (value + 0.0).to_bits();
        let Intervention { targets, actions } = &observation.intervention;
        let mut key: Vec<u64> = actions.iter().map(|value| bits(*value)).collect();
        for (node, values) in targets {
            key.push(*node as u64);
            key.extend(values.iter().map(|value| bits(*value)));
        }
        key.push(u64::MAX);
        let values = observation.values.iter().zip(measured).filter(|(_, measured)| **measured);
        key.extend(values.map(|(value, _)| value.map_or(u64::MAX, bits)));
        key
    };
    let is_known = |row: &Observation| {
        let gaps = gaps(row);
        let known =
            by_gaps.entry(gaps.clone()).or_insert_with(|| there.iter().map(|old| key(old, &gaps)).collect());
        known.contains(&key(row, &gaps))
    };
    rows.iter().map(is_known).collect()
}

/// Rows that fit the problem, and those that do not.
pub(crate) fn checked(problem: &Problem, rows: &[Row]) -> (Vec<Observation>, Vec<RowError>) {
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    for (index, row) in rows.iter().enumerate() {
        let checked = row.observation(problem).and_then(|observation| {
            row.sizes().try_for_each(|(name, value)| check_size(name, value))?;
            mcbo_core::Data::new().push(problem, observation.clone())?;
            Ok(observation)
        });
        match checked {
            Ok(observation) => good.push(observation),
            Err(fault) => faults.push(RowError { index, fault }),
        }
    }
    (good, faults)
}
