//! Tables for the terminal: a heading, a rule, columns two blanks apart; long cells wrap.

use std::io::{self, Write};

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, TableStyle, Width,
};

use crate::console::{BOLD, DIM, styled};

/// Width of a table that goes to a file or a pipe.
const PIPED: usize = 100;

/// The width to write for: that of the terminal, else `COLUMNS`, else a fixed one.
pub fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(asked).unwrap_or(PIPED).max(40)
}

/// Blanks between two columns.
const GAP: usize = 2;

/// Writes text with line breaks between words.
///
/// # Errors
/// If it cannot be written.
pub fn paragraph(out: &mut impl Write, text: &str, width: usize) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            writeln!(out, "{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.is_empty() { Ok(()) } else { writeln!(out, "{line}") }
}

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table under construction.
pub struct Table {
    align: Vec<Align>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        let (header, align) = columns.into_iter().map(|(name, align)| (name.into(), align)).unzip();
        Self { align, header, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// How wide it is when nothing wraps.
    pub fn natural_width(&self) -> usize {
        let all = (0..self.header.len()).map(|column| self.widest(column, std::iter::once) + GAP);
        all.sum::<usize>().saturating_sub(GAP)
    }

    /// The length of the longest piece of a column's cells.
    fn widest<'a, I: Iterator<Item = &'a str>>(&'a self, column: usize, pieces: fn(&'a str) -> I) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).chain(self.header.get(column));
        cells.flat_map(|cell| pieces(cell)).map(|piece| piece.chars().count()).max().unwrap_or(0)
    }

    /// Writes the table in at most `width` columns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let mut table = comfy_table::Table::new();
        let rule = LineStyle::none().fill('─').junction('─');
        table.load_style(TableStyle::new().header_separator(rule));
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width.min(usize::from(u16::MAX)) as u16);
        let cells = |cells: &[String]| {
            let cell = |(text, align): (&String, &Align)| {
                Cell::new(text).set_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                })
            };
            Row::from(cells.iter().zip(&self.align).map(cell).collect::<Vec<_>>())
        };
        table.set_header(cells(&self.header));
        for row in &self.rows {
            table.add_row(cells(row));
        }
        let last = self.header.len().saturating_sub(1);
        // Words are not torn apart while there is room for the longest of every column.
        let words: Vec<usize> = (0..=last).map(|column| self.widest(column, str::split_whitespace)).collect();
        let roomy = words.iter().map(|word| word + GAP).sum::<usize>() <= width + GAP;
        for (index, column) in table.column_iter_mut().enumerate() {
            // One blank here and one that is drawn between columns.
            let padding = usize::from(index < last);
            column.set_padding((0, padding as u16));
            if roomy {
                let fixed = Width::Fixed((words[index] + padding) as u16);
                column.set_constraint(ColumnConstraint::LowerBoundary(fixed));
            }
        }
        let mut heading = true;
        for line in table.lines() {
            let line = line.trim_end();
            if heading && line.trim().starts_with('─') {
                heading = false;
                writeln!(out, "{}", styled(DIM, line))?;
            } else if heading {
                writeln!(out, "{}", styled(BOLD, line))?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }
}
