//! Rows from outside, however many.

use std::time::{Duration, Instant};

use super::StoredStudy;
use crate::StoreError;
use crate::ledger::{Duplicates, Piece, new_rows};
use crate::table::Table;

/// The most rows that are written at once: others wait for no more.
const PIECE: usize = 20_000;
/// The least time between two pieces: others who wait for SQLite look every tenth of a second whether it is their turn.
const PAUSE: Duration = Duration::from_millis(120);

impl StoredStudy {
    /// Adds rows that were measured outside the study, and says how many: as [`Self::add_with`], of a table that may be long.
    ///
    /// All rows are looked at before the first is written, and one that does not fit refuses all. Up to 20,000 rows are then
    /// written as one change, all or none; more than that in pieces of so many, each whole, so that others can work
    /// meanwhile. If the program ends between two of them, the first are there: the same rows added with
    /// [`Duplicates::Skip`] go on from there, and with [`Duplicates::Refuse`] it is told.
    ///
    /// # Errors
    /// As [`Self::add_with`], and [`StoreError::PartlyAdded`] where a piece cannot be written after others were.
    pub fn add_table(&mut self, table: &Table, duplicates: Duplicates) -> Result<usize, StoreError> {
        let (mut done, mut added) = (0, 0);
        loop {
            match self.add_from(table, duplicates, &mut done, &mut added) {
                Ok(true) => return Ok(added),
                Ok(false) => {}
                Err(cause) if added > 0 => {
                    return Err(StoreError::PartlyAdded { added, cause: Box::new(cause) });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds the rows from a place on; whether that was all. If not, others have added rows or changed the problem meanwhile, and
    /// the rest must be looked at again.
    fn add_from(
        &mut self,
        table: &Table,
        duplicates: Duplicates,
        done: &mut usize,
        added: &mut usize,
    ) -> Result<bool, StoreError> {
        let ledger = &self.catch()?.ledger;
        let (problem, mut known) = (ledger.study.problem().clone(), ledger.rows_moved);
        let new = new_rows(&problem, ledger.study.data(), table, *done, duplicates)?;
        let mut rows = table.observations(&problem).skip(*done).zip(new).peekable();
        while rows.peek().is_some() {
            let begun = Instant::now();
            let mut piece = Piece::next(&problem, &mut rows, PIECE, self.by.as_deref())?;
            let (looked_at, count) = (piece.looked_at, piece.rows);
            piece.parts.iter_mut().try_for_each(|(draft, _)| draft.write())?;
            if *done > 0 {
                std::thread::sleep(PAUSE.saturating_sub(begun.elapsed()));
            }
            let put = self.change(|change| match change.ledger.rows_moved > known {
                true => Ok(false),
                false => change.put(piece).map(|()| true),
            })?;
            if !put {
                return Ok(false);
            }
            known = self.fold.as_ref().map_or(known, |fold| fold.ledger.rows_moved);
            *done += looked_at;
            *added += count;
        }
        Ok(true)
    }
}
