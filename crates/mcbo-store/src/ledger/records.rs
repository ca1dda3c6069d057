//! The records of all trials, in little memory.

use std::borrow::Cow;
use std::time::Duration;

use super::Record;

/// One record for every trial. Those of rows from outside, which may be millions, are two numbers until more is known of one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records(Vec<Kept>);

/// What is kept of a trial.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    Row { at: i64, seq: i64 },
    Whole(Box<Record>),
}

impl Kept {
    fn row(at: i64, seq: i64) -> Record {
        Record { told: Some(at), ..Record::new(at, seq) }
    }

    fn whole(&self) -> Cow<'_, Record> {
        match self {
            Self::Row { at, seq } => Cow::Owned(Self::row(*at, *seq)),
            Self::Whole(record) => Cow::Borrowed(record),
        }
    }
}

impl Records {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, record: Record) {
        self.0.push(Kept::Whole(Box::new(record)));
    }

    /// Of a row that an event of this place and time has just brought.
    pub fn push_row(&mut self, at: i64, seq: i64) {
        self.0.push(Kept::Row { at, seq });
    }

    /// As it was kept.
    pub fn push_kept(&mut self, kept: Kept) {
        self.0.push(kept);
    }

    /// All of them, as they are kept.
    pub fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.0.iter()
    }

    pub fn get(&self, place: usize) -> Option<Cow<'_, Record>> {
        self.0.get(place).map(Kept::whole)
    }

    /// The place of the last proposal, and how long it took.
    pub fn last_proposal(&self) -> Option<(i64, Duration)> {
        self.0.iter().rev().find_map(|kept| match kept {
            Kept::Row { .. } => None,
            Kept::Whole(record) => {
                Some((record.seq, Duration::try_from_secs_f64(record.took_seconds?).unwrap_or_default()))
            }
        })
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut Record> {
        let kept = self.0.get_mut(place)?;
        if let Kept::Row { at, seq } = *kept {
            *kept = Kept::Whole(Box::new(Kept::row(at, seq)));
        }
        match kept {
            Kept::Whole(record) => Some(record),
            Kept::Row { .. } => None,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Record>> {
        self.0.iter().map(Kept::whole)
    }
}
