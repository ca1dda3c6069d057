//! The rows on the pages of an SQLite file, read one page at a time: no index, no table of contents and no header is needed, so
//! that what is broken in one place does not hide the rest.
//!
//! The format is that of <https://www.sqlite.org/fileformat2.html>.

use std::collections::BTreeSet;

use crate::database::Cell;

/// The size of a page where the header does not say.
const PAGE: usize = 4096;
/// The first byte of a page with rows of a table.
const TABLE_LEAF: u8 = 0x0d;

/// A file in memory.
struct Pages<'a> {
    bytes: &'a [u8],
    size: usize,
    /// The part of a page that is used.
    usable: usize,
}

/// All rows of all tables.
pub(super) fn rows(bytes: &[u8]) -> Vec<Vec<Cell>> {
    let pages = Pages::new(bytes);
    let free = pages.free();
    (1..=bytes.len().div_ceil(pages.size))
        .filter(|page| !free.contains(page))
        .flat_map(|page| pages.rows_of(page))
        .collect()
}

impl<'a> Pages<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let said = number(bytes, 16, 2).unwrap_or(0);
        let size = if said == 1 { 65_536 } else { said };
        let size = if size.is_power_of_two() && (512..=65_536).contains(&size) { size } else { PAGE };
        // Ours are made without reserved bytes.
        Self { bytes, size, usable: size }
    }

    /// A page by its number from 1; the last may be cut off.
    fn page(&self, number: usize) -> Option<&'a [u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.size)?;
        self.bytes.get(start..).map(|rest| &rest[..rest.len().min(self.size)]).filter(|page| !page.is_empty())
    }

    /// The pages that are not in use: what was deleted may still stand on them.
    fn free(&self) -> BTreeSet<usize> {
        let mut free = BTreeSet::new();
        let mut trunk = number(self.bytes, 32, 4).unwrap_or(0);
        while trunk != 0 && free.insert(trunk) {
            let Some(page) = self.page(trunk) else { break };
            let leaves = number(page, 4, 4).unwrap_or(0).min(self.size / 4);
            free.extend((0..leaves).filter_map(|leaf| number(page, 8 + 4 * leaf, 4)));
            trunk = number(page, 0, 4).unwrap_or(0);
        }
        free
    }

    fn rows_of(&self, number_of_page: usize) -> Vec<Vec<Cell>> {
        let Some(page) = self.page(number_of_page) else { return Vec::new() };
        let head = if number_of_page == 1 { 100 } else { 0 };
        if page.get(head) != Some(&TABLE_LEAF) {
            return Vec::new();
        }
        let cells = number(page, head + 3, 2).unwrap_or(0);
        (0..cells)
            .map_while(|cell| number(page, head + 8 + 2 * cell, 2))
            .filter_map(|at| record(&self.payload(page, at)?))
            .collect()
    }

    /// The content of a cell, with what of it stands on other pages.
    fn payload(&self, page: &[u8], at: usize) -> Option<Vec<u8>> {
        let mut cell = page.get(at..)?;
        let length = usize::try_from(varint(&mut cell)?).ok().filter(|length| *length <= self.bytes.len())?;
        varint(&mut cell)?;
        let most = self.usable - 35;
        if length <= most {
            return cell.get(..length).map(<[u8]>::to_vec);
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fitting = least + (length - least) % (self.usable - 4);
        let local = if fitting <= most { fitting } else { least };
        let mut payload = cell.get(..local)?.to_vec();
        let mut next = number(cell, local, 4)?;
        while payload.len() < length {
            let page = self.page(next).filter(|_| next != 0)?;
            let part = page.get(4..)?;
            payload.extend_from_slice(&part[..part.len().min(length - payload.len())]);
            next = number(page, 0, 4)?;
        }
        Some(payload)
    }
}

/// The values of a record.
fn record(payload: &[u8]) -> Option<Vec<Cell>> {
    let mut rest = payload;
    let head = usize::try_from(varint(&mut rest)?).ok()?;
    let mut kinds = payload.get(payload.len() - rest.len()..head)?;
    let mut body = payload.get(head..)?;
    let mut cells = Vec::new();
    while !kinds.is_empty() {
        let kind = varint(&mut kinds)?;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let bytes = body.get(..length)?;
        body = &body[length..];
        cells.push(match kind {
            0 => Cell::Null,
            8 => Cell::Int(0),
            9 => Cell::Int(1),
            1..=6 => {
                let sign = if bytes[0] >= 0x80 { -1_i64 } else { 0 };
                Cell::Int(bytes.iter().fold(sign, |value, byte| (value << 8) | i64::from(*byte)))
            }
            7 => Cell::Other("a fraction"),
            _ if kind % 2 == 1 => {
                String::from_utf8(bytes.to_vec()).map_or(Cell::Other("a text that is none"), Cell::Text)
            }
            _ => Cell::Other("bytes"),
        });
    }
    Some(cells)
}

/// A whole number of some bytes, the highest first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |value, byte| (value << 8) | usize::from(*byte)))
}

/// A number of one to nine bytes; what is left is what comes after it.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            return Some((value << 8) | u64::from(byte));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What SQLite wrote is read as SQLite reads it, texts of many pages too.
    #[test]
    fn what_sqlite_writes_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch("CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT, c BIGINT)").unwrap();
        let value = |n: i64| (n - 40).pow(5) * [1, 1 << 10, 1 << 30][n as usize % 3];
        let text = |n: i64| "é0123456789".repeat((n * n) as usize);
        for n in 0..80 {
            connection.execute("INSERT INTO t VALUES (?1, ?2, ?3)", (n, text(n), value(n))).unwrap();
        }
        drop(connection);
        let found = rows(&std::fs::read(&file).unwrap());
        for n in 0..80 {
            let row = vec![Cell::Int(n), Cell::Text(text(n)), Cell::Int(value(n))];
            assert!(found.contains(&row), "row {n}");
        }
    }
}
