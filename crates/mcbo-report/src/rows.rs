//! A table of experiments, as CSV: columns by the names of nodes and actions.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use mcbo_core::{Problem, TrialState, nearest, slot_name};
use mcbo_store::{Row, Table};

use crate::assignment;
use crate::export::{ABOUT, ASIDE, COST, REWARD, set_column};

/// What a file has.
#[derive(Debug, Default)]
pub struct Rows {
    /// The rows.
    pub table: Table,
    /// Their lines.
    pub lines: Vec<u64>,
    /// Lines that are no rows, and why: a line as often as it has mistakes.
    pub bad: Vec<(u64, String)>,
    /// Rows of trials that are not complete.
    pub skipped: usize,
    /// The first number with a decimal comma, where numbers have one.
    pub comma: Option<String>,
}

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Value { node: usize, component: usize },
    Set { node: usize, component: usize },
    Action(usize),
    State,
    Skipped,
}

/// What is looked at to see how the cells are separated.
const START: usize = 64 << 10;

/// Reads a table row by row, as it may be larger than memory; the mistakes of single rows are part of the answer. Actions without a
/// value are such a mistake unless they are said to be `neutral`.
///
/// # Errors
/// What is wrong, with a hint, if its first line does not name columns of the problem.
pub fn read(problem: &Problem, source: impl Read, neutral: bool) -> Result<Rows, (String, String)> {
    let unreadable = |error: &dyn std::fmt::Display| {
        (format!("it cannot be read: {error}"), "check the permissions; data must be UTF-8 text".to_owned())
    };
    let mut start = Vec::new();
    let mut source = BufReader::new(source);
    source.by_ref().take(START as u64).read_to_end(&mut start).map_err(|error| unreadable(&error))?;
    if [[0xff, 0xfe], [0xfe, 0xff]].iter().any(|mark| start.starts_with(mark)) {
        return Err((
            "it is text of another kind, UTF-16".into(),
            "save it as \"CSV UTF-8\": data must be UTF-8 text".into(),
        ));
    }
    // Some programs begin a text with a mark that says it is one.
    let start = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&start);
    let first = start.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let delimiter = [b',', b';', b'\t']
        .into_iter()
        .max_by_key(|&sign| {
            (first.unwrap_or_default().iter().filter(|&&byte| byte == sign).count(), sign == b',')
        })
        .unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(PlainLines::new(start.chain(source)));
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => {}
        Ok(false) => return Err(("it is empty".into(), "its first line names the columns".into())),
        Err(error) => return Err(unreadable(&error)),
    }
    let columns = columns(problem, &record)?;
    let mut rows = Rows::default();
    let mut numbers = Numbers { commas_are_free: delimiter != b',', ..Numbers::default() };
    loop {
        let read = reader.read_record(&mut record);
        // Every line ends, so the reader stands at the beginning of the next; a cell may have lines of its own.
        let inside: u64 = record.iter().map(|cell| cell.matches('\n').count() as u64).sum();
        let line = (reader.position().line() - 1).saturating_sub(inside);
        match read {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.is_io_error() => return Err(unreadable(&error)),
            Err(error) => {
                rows.bad.push((line, error.to_string()));
                continue;
            }
        }
        // Spreadsheets write their empty rows as commas.
        if record.len() > 1 && record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() != columns.len() {
            let text = format!("{} cells where the first line has {}", record.len(), columns.len());
            rows.bad.push((line, text));
            continue;
        }
        match row(problem, &columns, &record, neutral, &mut numbers) {
            Ok(Some(row)) => {
                rows.table.push(&row);
                rows.lines.push(line);
            }
            Ok(None) => rows.skipped += 1,
            Err(faults) => rows.bad.extend(faults.into_iter().map(|fault| (line, fault))),
        }
    }
    rows.comma = numbers.comma;
    Ok(rows)
}

/// How many lines have mistakes, of mistakes in the order of their lines.
pub fn lines(bad: &[(u64, String)]) -> usize {
    bad.chunk_by(|(one, _), (other, _)| one == other).count()
}

/// That numbers of a file were read with a decimal comma.
pub fn decimal_comma(example: &str) -> String {
    format!("commas are read as decimal points: {example} is {}", example.replacen(',', ".", 1))
}

/// How the numbers of a file are written. Where cells are not separated by commas a number may have a decimal comma, as spreadsheets of
/// many countries write it, if none has a point.
#[derive(Debug, Default)]
struct Numbers {
    commas_are_free: bool,
    /// The first number with a point, and the first with a comma.
    point: Option<String>,
    comma: Option<String>,
}

impl Numbers {
    /// The number in a cell, or a hint.
    fn read(&mut self, cell: &str) -> Result<f64, Option<String>> {
        let plain = cell.parse::<f64>().ok();
        let with_comma = || cell.replacen(',', ".", 1).parse::<f64>().ok().filter(|_| !cell.contains('.'));
        let (number, seen, other) = match plain {
            Some(number) if !cell.contains('.') => return Ok(number),
            Some(number) => (number, &mut self.point, &self.comma),
            None => {
                if cell.contains('.')
                    && cell.contains(',')
                    && cell.replace(['.', ','], "").parse::<f64>().is_ok()
                {
                    return Err(Some("write it without a sign between thousands".into()));
                }
                let number = with_comma().ok_or(None)?;
                if !self.commas_are_free {
                    return Err(Some("write a decimal point".into()));
                }
                (number, &mut self.comma, &self.point)
            }
        };
        match other {
            Some(other) => Err(Some(format!("the file has {other:?} too: write all numbers with one sign"))),
            None => {
                seen.get_or_insert_with(|| cell.to_owned());
                Ok(number)
            }
        }
    }
}

/// A text whose lines all end, by `\n` alone: some programs write `\r\n` or `\r`, and the reader of tables counts lines by `\n`.
struct PlainLines<R> {
    source: R,
    after_return: bool,
    ended: bool,
}

impl<R: Read> PlainLines<R> {
    fn new(source: R) -> Self {
        Self { source, after_return: false, ended: false }
    }
}

impl<R: Read> Read for PlainLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if buffer.is_empty() || self.ended {
            return Ok(0);
        }
        loop {
            let count = self.source.read(buffer)?;
            if count == 0 {
                self.ended = true;
                buffer[0] = b'\n';
                return Ok(1);
            }
            let mut kept = 0;
            for at in 0..count {
                let byte = buffer[at];
                let is_second_half = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !is_second_half {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

fn columns(problem: &Problem, header: &csv::StringRecord) -> Result<Vec<Column>, (String, String)> {
    let mut known: Vec<(String, Column)> = Vec::new();
    for (node, declared) in problem.nodes().iter().enumerate() {
        for component in 0..declared.dim {
            known.push((slot_name(problem, node, component), Column::Value { node, component }));
            if declared.hard.is_some() {
                known.push((set_column(problem, node, component), Column::Set { node, component }));
            }
        }
    }
    let actions = problem.actions().iter().enumerate();
    known.extend(actions.map(|(index, action)| (action.name.clone(), Column::Action(index))));
    let mut columns = Vec::with_capacity(header.len());
    let mut unknown = Vec::new();
    for (place, name) in header.iter().enumerate() {
        if let Some(earlier) = header.iter().take(place).position(|other| other == name) {
            return Err((
                format!("columns {} and {} are both named {name:?}", earlier + 1, place + 1),
                "give every column a name of its own".into(),
            ));
        }
        let column = match known.iter().find(|(other, _)| other == name) {
            Some((_, column)) => *column,
            None if name == "state" => Column::State,
            None if ABOUT.contains(&name) || name == REWARD || name == COST || name.starts_with(ASIDE) => {
                Column::Skipped
            }
            None => {
                unknown.push(name);
                Column::Skipped
            }
        };
        columns.push(column);
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let meant: Vec<String> = unknown
            .iter()
            .filter_map(|name| Some(format!("{:?} for {name:?}", meant(name, &names)?)))
            .collect();
        let meant = match meant.is_empty() {
            true => String::new(),
            false => format!("did you mean {}? ", meant.join(", ")),
        };
        let unknown: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
        return Err((
            format!("no node and no action is named {}", unknown.join(", ")),
            format!("{meant}columns may be {}; put `#` in front of names of others", names.join(", ")),
        ));
    }
    Ok(columns)
}

/// The column that a head such as `Dose (mg)` was meant for.
fn meant<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let bare = name.split(['(', '[']).next().unwrap_or(name).trim();
    let same = |other: &&&str| other.eq_ignore_ascii_case(bare);
    names.iter().find(same).copied().or_else(|| nearest(name, names.iter().copied()))
}

/// One row; none for a trial that is not complete.
fn row(
    problem: &Problem,
    columns: &[Column],
    record: &csv::StringRecord,
    neutral: bool,
    numbers: &mut Numbers,
) -> Result<Option<Row>, Vec<String>> {
    let (mut unknown, mut faults) = (None, Vec::new());
    let mut targets: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut row = Row::default();
    for (column, cell) in columns.iter().zip(record) {
        if let (Column::Action(_), true, false) = (column, cell.is_empty(), neutral) {
            // Rows of trials that are not complete are left out before that matters.
            unknown.get_or_insert(*column);
        }
        if cell.is_empty() || *column == Column::Skipped {
            continue;
        }
        if *column == Column::State {
            let states = [TrialState::Pending, TrialState::Complete, TrialState::Failed, TrialState::Voided];
            match states.into_iter().find(|state| state.name() == cell) {
                Some(TrialState::Complete) => continue,
                Some(TrialState::Pending | TrialState::Failed | TrialState::Voided) => return Ok(None),
                None => {
                    faults
                        .push(format!("state is {cell:?}; hint: it is complete, pending, failed or voided"));
                    continue;
                }
            }
        }
        let own = name(problem, *column);
        let value = match problem.names_of(&own) {
            [] => numbers.read(cell).map_err(|hint| {
                let hint = hint.unwrap_or_else(|| match (has_unit(cell), column) {
                    (true, _) => "write the number alone, without its unit".into(),
                    (_, Column::Action(_)) => "say what was done, as a number".into(),
                    (_, Column::Set { .. }) => "leave the cell empty if it was not set".into(),
                    _ => "leave the cell empty if it was not measured".into(),
                });
                format!("{own} is {cell:?}, which is not a number; hint: {hint}")
            }),
            names => assignment::choice(&own, names, cell).map_err(|bad| bad.to_string()),
        };
        let value = match value {
            Ok(value) => value,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        match *column {
            // Values of single components have names of their own.
            Column::Value { .. } => _ = row.values.insert(own, vec![value]),
            Column::Set { node, component } => _ = targets.insert((node, component), value),
            Column::Action(action) => {
                row.actions.insert(problem.actions()[action].name.clone(), value);
            }
            Column::State | Column::Skipped => {}
        }
    }
    if let Some(column) = unknown {
        faults.push(format!(
            "{} has no value, and what is not known is not neutral; hint: say what was done, or `--missing neutral`",
            name(problem, column)
        ));
    }
    // A node that is set is set as a whole.
    for ((node, _), value) in targets {
        row.targets.entry(problem.nodes()[node].name.clone()).or_default().push(value);
    }
    for (name, set) in &row.targets {
        let dim = problem.node_index(name).map_or(0, |node| problem.nodes()[node].dim);
        if set.len() != dim && faults.is_empty() {
            faults.push(format!("{name} is set in part; hint: give all its components or none"));
        }
    }
    if faults.is_empty() { Ok(Some(row)) } else { Err(faults) }
}

/// Whether a cell is a number and then something else, as `5 mg`.
fn has_unit(cell: &str) -> bool {
    let number = cell.trim_end_matches(|sign: char| !sign.is_ascii_digit());
    number.len() < cell.len() && number.parse::<f64>().is_ok()
}

fn name(problem: &Problem, column: Column) -> String {
    match column {
        Column::Value { node, component } => slot_name(problem, node, component),
        Column::Set { node, component } => set_column(problem, node, component),
        Column::Action(action) => problem.actions()[action].name.clone(),
        Column::State => "state".into(),
        Column::Skipped => String::new(),
    }
}
