//! What a database answers: lines of cells.

/// A line of an answer.
pub(crate) type Line = Vec<Cell>;

/// A value in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// Anything that no column of ours holds.
    Other(&'static str),
}

impl Cell {
    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Int(_) => "a number",
            Self::Text(_) => "a text",
            Self::Bytes(_) => "bytes",
            Self::Other(kind) => kind,
        }
    }
}

/// What can be read from a cell.
pub(crate) trait FromCell: Sized {
    /// What it is, in words.
    const KIND: &'static str;

    /// The value, if the cell has one of this kind.
    fn from_cell(cell: &Cell) -> Option<Self>;
}

impl FromCell for i64 {
    const KIND: &'static str = "a whole number";

    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Int(value) => Some(*value),
            _ => None,
        }
    }
}

impl FromCell for String {
    const KIND: &'static str = "a text";

    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromCell for Vec<u8> {
    const KIND: &'static str = "bytes";

    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
}
