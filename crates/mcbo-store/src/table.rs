//! Rows from outside as a table: the names once, then the numbers. A million rows one by one would repeat every name a million times.

use std::collections::BTreeMap;

use mcbo_core::{DataError, Observation, Problem, check_size};
use serde::{Deserialize, Serialize};

use crate::RowFault;
use crate::event::Row;

/// Rows, in as many blocks as their shape changes from one row to the next.
///
/// ```
/// let rows: Vec<mcbo_store::Row> = serde_json::from_str(
///     r#"[{"actions": {"dose": 30.0}, "values": {"yield": [7.9]}}, {"actions": {"dose": 35.0}, "values": {"yield": [8.1]}}]"#,
/// )?;
/// let table: mcbo_store::Table = rows.iter().collect();
/// assert_eq!(table.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Table(Vec<Block>);

/// Rows of one shape: the same was set, done and measured in each of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    /// How many rows.
    rows: usize,
    /// Nodes that were set, each with the number of its components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    targets: Vec<(String, usize)>,
    /// Actions.
    actions: Vec<String>,
    /// What was measured, each with the number of its components.
    values: Vec<(String, usize)>,
    /// The numbers, row after row.
    numbers: Vec<f64>,
}

impl Table {
    /// Adds a row at the end.
    pub fn push(&mut self, row: &Row) {
        if !self.0.last().is_some_and(|block| block.fits(row)) {
            self.0.push(Block::like(row));
        }
        if let Some(block) = self.0.last_mut() {
            block.push(row);
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.0.iter().map(|block| block.rows).sum()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|block| block.rows == 0)
    }

    /// Leaves out the rows at some places.
    pub fn leave_out(&mut self, places: &[usize]) {
        let mut place = 0;
        for block in &mut self.0 {
            let width = block.width();
            let mut kept = Vec::with_capacity(block.numbers.len());
            let mut rows = 0;
            for row in 0..block.rows {
                if places.binary_search(&place).is_err() {
                    kept.extend_from_slice(&block.numbers[row * width..(row + 1) * width]);
                    rows += 1;
                }
                place += 1;
            }
            (block.numbers, block.rows) = (kept, rows);
        }
    }

    /// The observations that the rows are, each with its numbers and the names of those; the reason where a row cannot be one.
    pub(crate) fn observations<'a>(
        &'a self,
        problem: &'a Problem,
    ) -> impl Iterator<Item = Result<Seen<'a>, RowFault>> + 'a {
        self.0.iter().flat_map(move |block| {
            let (layout, width) = (block.layout(problem), block.width());
            (0..block.rows).map(move |row| {
                let numbers = &block.numbers[row * width..(row + 1) * width];
                match &layout {
                    Ok(layout) => {
                        Ok(Seen { observation: layout.observation(problem, numbers), block, numbers })
                    }
                    Err(fault) => Err(fault.clone()),
                }
            })
        })
    }

    /// Adds a row as it is to be written: with the value of every action, so that another neutral value does not change it.
    pub(crate) fn push_explicit(&mut self, problem: &Problem, seen: &Seen<'_>) {
        let Seen { observation, block, numbers } = seen;
        let names = || problem.actions().iter().map(|action| action.name.as_str());
        let same = self.0.last().is_some_and(|last| {
            last.targets == block.targets && last.values == block.values && last.actions.iter().eq(names())
        });
        if !same {
            let actions = names().map(str::to_owned).collect();
            let (targets, values) = (block.targets.clone(), block.values.clone());
            self.0.push(Block { rows: 0, targets, actions, values, numbers: Vec::new() });
        }
        if let Some(last) = self.0.last_mut() {
            let (set, done) = (block.set(), block.actions.len());
            last.numbers.extend_from_slice(&numbers[..set]);
            last.numbers.extend_from_slice(&observation.intervention.actions);
            last.numbers.extend_from_slice(&numbers[set + done..]);
            last.rows += 1;
        }
    }

    /// Whether the numbers are as many as the names ask for.
    pub(crate) fn is_whole(&self) -> bool {
        self.0.iter().all(|block| {
            let wide = block.targets.iter().chain(&block.values).map(|(_, count)| *count);
            let width = wide.chain([block.actions.len()]).try_fold(0_usize, usize::checked_add);
            let numbers = width.and_then(|width| width.checked_mul(block.rows));
            numbers == Some(block.numbers.len()) && !block.numbers.is_empty()
        })
    }
}

impl<'a> FromIterator<&'a Row> for Table {
    fn from_iter<T: IntoIterator<Item = &'a Row>>(rows: T) -> Self {
        let mut table = Self::default();
        rows.into_iter().for_each(|row| table.push(row));
        table
    }
}

/// A row that was understood.
pub(crate) struct Seen<'a> {
    pub observation: Observation,
    block: &'a Block,
    numbers: &'a [f64],
}

impl Seen<'_> {
    /// Refuses numbers that are too large to compute with.
    pub fn check_sizes(&self) -> Result<(), DataError> {
        if self.numbers.iter().all(|&value| check_size("", value).is_ok()) {
            return Ok(());
        }
        self.named().try_for_each(|(name, value)| check_size(name, value))
    }

    /// All its numbers with what they are of.
    fn named(&self) -> impl Iterator<Item = (&str, f64)> {
        fn wide(named: &[(String, usize)]) -> impl Iterator<Item = &str> {
            named.iter().flat_map(|(name, count)| std::iter::repeat_n(name.as_str(), *count))
        }
        let names = wide(&self.block.targets).chain(self.block.actions.iter().map(String::as_str));
        names.chain(wide(&self.block.values)).zip(self.numbers.iter().copied())
    }
}

impl Block {
    /// A block without rows for those that are like this one.
    fn like(row: &Row) -> Self {
        let wide = |named: &BTreeMap<String, Vec<f64>>| {
            named.iter().map(|(name, values)| (name.clone(), values.len())).collect()
        };
        let actions = row.actions.keys().cloned().collect();
        Self { rows: 0, targets: wide(&row.targets), actions, values: wide(&row.values), numbers: Vec::new() }
    }

    fn fits(&self, row: &Row) -> bool {
        let same = |wide: &[(String, usize)], named: &BTreeMap<String, Vec<f64>>| {
            let named = named.iter().map(|(name, values)| (name.as_str(), values.len()));
            wide.iter().map(|(name, count)| (name.as_str(), *count)).eq(named)
        };
        same(&self.targets, &row.targets)
            && same(&self.values, &row.values)
            && self.actions.iter().eq(row.actions.keys())
    }

    fn push(&mut self, row: &Row) {
        self.numbers.extend(row.targets.values().flatten());
        self.numbers.extend(row.actions.values());
        self.numbers.extend(row.values.values().flatten());
        self.rows += 1;
    }

    /// How many numbers of a row are of nodes that were set.
    fn set(&self) -> usize {
        self.targets.iter().map(|(_, count)| count).sum()
    }

    /// How many numbers a row has.
    fn width(&self) -> usize {
        let measured: usize = self.values.iter().map(|(_, count)| count).sum();
        self.set() + self.actions.len() + measured
    }

    /// Where the numbers of a row go; why they cannot.
    fn layout(&self, problem: &Problem) -> Result<Layout, RowFault> {
        // A row whose numbers are their own places shows where each of them goes.
        let mut places = (0..self.width()).map(|place| place as f64);
        let mut wide = |named: &[(String, usize)]| -> BTreeMap<String, Vec<f64>> {
            named.iter().map(|(name, count)| (name.clone(), places.by_ref().take(*count).collect())).collect()
        };
        let targets = wide(&self.targets);
        let actions: Vec<f64> = wide(&[(String::new(), self.actions.len())]).remove("").unwrap_or_default();
        let values = wide(&self.values);
        let row = Row { targets, actions: self.actions.iter().cloned().zip(actions).collect(), values };
        let Observation { intervention, values } = row.observation(problem)?;
        let places = |row: Vec<f64>| row.into_iter().map(|place| place as usize).collect::<Vec<usize>>();
        let actions = row
            .actions
            .iter()
            .filter_map(|(name, &place)| problem.action_index(name).map(|action| (action, place as usize)));
        Ok(Layout {
            targets: intervention.targets.into_iter().map(|(node, set)| (node, places(set))).collect(),
            actions: actions.collect(),
            values: values.into_iter().map(|place| place.map(|place| place as usize)).collect(),
        })
    }
}

/// Where the numbers of a row go.
struct Layout {
    targets: Vec<(usize, Vec<usize>)>,
    /// Actions with the places of their numbers.
    actions: Vec<(usize, usize)>,
    /// For every value of an observation the place of its number.
    values: Vec<Option<usize>>,
}

impl Layout {
    fn observation(&self, problem: &Problem, numbers: &[f64]) -> Observation {
        let mut intervention = problem.neutral_intervention();
        for &(action, place) in &self.actions {
            intervention.actions[action] = numbers[place];
        }
        let set = |(node, places): &(usize, Vec<usize>)| {
            (*node, places.iter().map(|&place| numbers[place]).collect())
        };
        intervention.targets = self.targets.iter().map(set).collect();
        let values = self.values.iter().map(|place| place.map(|place| numbers[place])).collect();
        Observation { intervention, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    const PROBLEM: &str = "maximize = 'y'\n[nodes.x]\nactions = ['a', 'b']\ndo = [0, 1]\n[nodes.leaf]\nparents = ['x']\ndim = 2\n\
                           [nodes.y]\nparents = ['leaf']\n[actions.a]\nrange = [0, 1]\nneutral = 1\n[actions.b]\nrange = [0, 9]\n";

    fn rows() -> Vec<Row> {
        serde_json::from_str(
            r#"[{"actions": {"a": 0.5, "b": 3.0}, "values": {"y": [7.9], "leaf": [1.0, 2.0]}},
                {"actions": {"b": 4.0}, "values": {"y": [8.0], "leaf[1]": [2.5]}},
                {"actions": {"b": 5.0}, "values": {"y": [8.1], "leaf[1]": [2.6]}},
                {"targets": {"x": [0.25]}, "values": {"leaf": [0.1, 0.2]}},
                {"values": {"y": [1.0]}}]"#,
        )
        .unwrap()
    }

    /// A row of a table is the observation that it is alone, whatever its shape, and so it is after it was written and read.
    #[test]
    fn a_table_says_what_its_rows_say() {
        let problem = Problem::from_toml(PROBLEM).unwrap();
        let rows = rows();
        let table: Table = rows.iter().collect();
        assert_eq!((table.len(), table.0.len()), (5, 4));
        let alone: Vec<Observation> = rows.iter().map(|row| row.observation(&problem).unwrap()).collect();
        let mut explicit = Table::default();
        for (seen, alone) in table.observations(&problem).zip(&alone) {
            let seen = seen.unwrap();
            assert_eq!(seen.observation, *alone);
            explicit.push_explicit(&problem, &seen);
        }
        let text = serde_json::json!({ "table": explicit }).to_string();
        let Event::Added(added) = Event::read("added", &text).unwrap() else { panic!("{text}") };
        let other = Problem::from_toml(&PROBLEM.replace("neutral = 1", "neutral = 0.5")).unwrap();
        let again = added.table.observations(&other).map(|seen| seen.unwrap().observation);
        assert!(again.eq(alone), "what is neutral now does not change what was done");
        let mut some = table.clone();
        some.leave_out(&[1, 3]);
        let kept: Table = [0, 2, 4].map(|place| &rows[place]).into_iter().collect();
        let of = |table: &Table| -> Vec<Observation> {
            table.observations(&problem).map(|seen| seen.unwrap().observation).collect()
        };
        assert_eq!((of(&some), some.len()), (of(&kept), 3));
    }

    /// Rows one by one, as they were written once, are still read; a table that does not add up is not.
    #[test]
    fn events_that_are_old_and_broken() {
        let old = serde_json::json!({ "rows": rows() }).to_string();
        let Ok(Event::Added(added)) = Event::read("added", &old) else { panic!("{old}") };
        assert_eq!((added.len(), added.rows), (5, rows()));
        for (rows, count, numbers) in [
            ("2", "1", "[1.0]"),
            ("0", "1", "[]"),
            ("2", "9223372036854775808", "[1.0]"),
            ("9223372036854775807", "0", "[]"),
        ] {
            let text = format!(
                r#"{{"table": [{{"rows": {rows}, "actions": [], "values": [["y", {count}], ["x", {count}]], "numbers": {numbers}}}]}}"#
            );
            assert!(Event::read("added", &text).is_err(), "{text}");
        }
    }

    /// What is wrong with a row is told as of the row alone.
    #[test]
    fn faults_name_what_is_wrong() {
        let problem = Problem::from_toml(PROBLEM).unwrap();
        let row = |text: &str| serde_json::from_str::<Row>(text).unwrap();
        let bad = [
            row(r#"{"actions": {"c": 1.0}, "values": {"y": [1.0]}}"#),
            row(r#"{"values": {"y": [1.0, 2.0]}}"#),
            row(r#"{"values": {"leaf": [1.0, 2.0], "leaf[0]": [1.0]}}"#),
        ];
        for (bad, seen) in bad.iter().zip(bad.iter().collect::<Table>().observations(&problem)) {
            assert_eq!(seen.err(), bad.observation(&problem).err());
        }
        let large = row(r#"{"actions": {"b": 1e70}, "values": {"y": [1.0]}}"#);
        let table: Table = [&large].into_iter().collect();
        let seen = table.observations(&problem).next().unwrap().unwrap();
        assert_eq!(seen.check_sizes(), Err(DataError::TooLarge { what: "b".into(), value: 1e70 }));
    }
}
