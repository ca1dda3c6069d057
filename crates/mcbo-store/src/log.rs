//! Reading and writing the log of a study.

use crate::StoreError;
use crate::database::{Transaction, Value};
use crate::digest::{self, StudyLine};
use crate::event::Event;
use crate::fold::Fold;
use crate::ledger::Change;
use crate::schema;
use crate::study::StoredStudy;
use crate::view::Entry;

/// What must not have happened before a change.
#[derive(Debug, Clone)]
pub(crate) struct Unless {
    /// The last event that the author of the change has seen.
    pub seen: i64,
    /// The trials that matter; all that happens does where none is named.
    pub trials: Vec<usize>,
}

impl StoredStudy {
    /// Applies the events that are not in the state yet, as far as the line of the study says that there are any.
    pub(crate) fn catch_up(
        &self,
        transaction: &mut Transaction<'_>,
        fold: &mut Option<Fold>,
        line: &StudyLine,
    ) -> Result<(), StoreError> {
        if fold.is_none() {
            *fold = self.kept_state(transaction).filter(|fold| fold.ledger.seq <= line.head);
        }
        let mut pages = Pages::default();
        loop {
            let seq = fold.as_ref().map_or(0, |fold| fold.ledger.seq);
            let page = pages.read(self, transaction, seq)?;
            if page.is_empty() {
                break;
            }
            for entry in page {
                self.apply(fold, entry)?;
            }
        }
        let (head, tip) = fold.as_ref().map_or((0, ""), |fold| (fold.ledger.seq, fold.tip.as_str()));
        if self.is_checked() && (head, tip) != (line.head, line.tip.as_str()) {
            let reason =
                format!("the log of study {:?} ends at event {head} instead of {}", self.name, line.head);
            return Err(self.damaged(reason));
        }
        Ok(())
    }

    /// Whether the events of the store have checksums.
    fn is_checked(&self) -> bool {
        self.shared.database.version >= schema::CHECKED
    }

    fn damaged(&self, reason: String) -> StoreError {
        StoreError::Damaged { url: self.shared.database.address.shown.clone(), reason }
    }

    /// Calls something with every event in order, after comparing each with its checksum.
    pub(crate) fn each_event(
        &self,
        mut take: impl FnMut(Entry) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut transaction = self.shared.database.read()?;
        let line = self.check_there(&mut transaction, false)?;
        let (mut head, mut tip, mut pages) = (0, String::new(), Pages::default());
        loop {
            let page = pages.read(self, &mut transaction, head)?;
            if page.is_empty() {
                break;
            }
            for entry in page {
                tip = self.checked_tip(&tip, &entry)?;
                head = entry.seq;
                take(entry)?;
            }
        }
        match self.is_checked() && (head, &tip) != (line.head, &line.tip) {
            true => Err(self.damaged(format!("the log of study {:?} has lost its end", self.name))),
            false => Ok(()),
        }
    }

    /// The checksum of an event that comes after one with the checksum `before`.
    fn checked_tip(&self, before: &str, entry: &Entry) -> Result<String, StoreError> {
        let tip = digest::link(before, entry.seq, entry.at, &entry.kind, &digest::content(&entry.payload));
        match self.is_checked() && tip != entry.digest {
            true => Err(self
                .damaged(format!("event {} of study {:?} is not as it was written", entry.seq, self.name))),
            false => Ok(tip),
        }
    }

    pub(crate) fn apply(&self, fold: &mut Option<Fold>, entry: Entry) -> Result<(), StoreError> {
        let bad = |reason| self.bad_event(entry.seq, reason);
        let expected = fold.as_ref().map_or(1, |fold| fold.ledger.seq + 1);
        if entry.seq != expected {
            let reason = format!("event {expected} of study {:?} is missing", self.name);
            return Err(if self.is_checked() { self.damaged(reason) } else { bad(reason) });
        }
        let tip = self.checked_tip(fold.as_ref().map_or("", |fold| fold.tip.as_str()), &entry)?;
        let event = Event::read(&entry.kind, &entry.payload).map_err(bad)?;
        let fold = match fold {
            Some(fold) => {
                fold.apply(entry.at, event).map_err(bad)?;
                fold.tip = tip;
                fold
            }
            None => fold.insert(Fold::start(entry.at, event, tip, &*self.shared.strategies).map_err(bad)?),
        };
        fold.since.events += entry.payload.len();
        Ok(())
    }

    /// Refuses a change whose author has not seen what it would overwrite.
    fn refuse_overtaken(&self, transaction: &mut Transaction<'_>, unless: &Unless) -> Result<(), StoreError> {
        let (mut seen, mut pages) = (unless.seen, Pages::default());
        loop {
            let page = pages.read(self, transaction, seen)?;
            let Some(last) = page.last() else { return Ok(()) };
            seen = last.seq;
            for entry in page {
                let event = Event::read(&entry.kind, &entry.payload)
                    .map_err(|reason| self.bad_event(entry.seq, reason))?;
                let trial = event.trials().into_iter().find(|trial| unless.trials.contains(trial));
                if trial.is_some() || unless.trials.is_empty() {
                    return Err(StoreError::Overtaken { study: self.name.clone(), trial, seq: entry.seq });
                }
            }
        }
    }

    pub(crate) fn bad_event(&self, seq: i64, reason: String) -> StoreError {
        StoreError::BadEvent { study: self.name.clone(), seq, reason }
    }

    /// Runs a change in a transaction of its own. What `act` notes is written; if anything fails, nothing is.
    pub(crate) fn change<T>(
        &mut self,
        act: impl FnOnce(&mut Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = self.change_first(act)?;
        self.save();
        Ok(done)
    }

    /// The same for one who has more to do before a snapshot may be written.
    pub(crate) fn change_first<T>(
        &mut self,
        act: impl FnOnce(&mut Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shared = self.shared.clone();
        // A long log is read while others may write; what came meanwhile is read below.
        self.catch()?;
        let mut transaction = shared.database.write()?;
        let mut line = self.check_there(&mut transaction, true)?;
        if let Some(unless) = self.unless.take() {
            self.refuse_overtaken(&mut transaction, &unless)?;
        }
        let mut state = self.fold.take();
        self.catch_up(&mut transaction, &mut state, &line)?;
        let mut fold = state.ok_or_else(|| self.bad_event(1, "the log is empty".into()))?;
        let first = fold.ledger.seq + 1;
        let mut change = Change::new(&mut fold.ledger, (shared.clock)(), self.lease);
        change.by = self.by.clone();
        let done = act(&mut change)?;
        let (at, drafts) = (change.at, change.drafts);
        if drafts.is_empty() {
            self.fold = Some(fold);
            return Ok(done);
        }
        for (seq, draft) in (first..).zip(drafts) {
            let Draft { event, text } = draft;
            let Text { payload, content } = text.map_or_else(|| Text::of(&event), Ok)?;
            fold.tip = digest::link(&fold.tip, seq, at, event.kind(), &content);
            fold.since.events += payload.len();
            transaction.execute(
                "INSERT INTO events (study, seq, at, kind, payload, digest) VALUES ($1, $2, $3, $4, $5, $6)",
                &[
                    Value::Int(self.id),
                    Value::Int(seq),
                    Value::Int(at),
                    Value::Text(event.kind()),
                    Value::Text(&payload),
                    Value::Text(&fold.tip),
                ],
            )?;
        }
        (line.changed, line.counts) = (at, fold.ledger.counts());
        (line.head, line.tip) = (fold.ledger.seq, fold.tip.clone());
        schema::write_line(&mut transaction, &line, false)?;
        transaction.commit()?;
        self.fold = Some(fold);
        Ok(done)
    }
}

/// An event to be written, with its text where that was made before the study was locked.
pub(crate) struct Draft {
    pub event: Event,
    text: Option<Text>,
}

impl From<Event> for Draft {
    fn from(event: Event) -> Self {
        Self { event, text: None }
    }
}

impl Draft {
    /// Makes the text.
    pub fn write(&mut self) -> Result<(), StoreError> {
        self.text = Some(Text::of(&self.event)?);
        Ok(())
    }
}

/// The content of an event and its checksum.
struct Text {
    payload: String,
    content: digest::Content,
}

impl Text {
    /// The content, after making sure that it can be read again.
    fn of(event: &Event) -> Result<Self, StoreError> {
        let number = match event {
            Event::Asked(event) => event.trial,
            _ => 0,
        };
        let unstorable = |reason| StoreError::Unstorable { number, reason };
        let payload = event.payload().map_err(|error| unstorable(error.to_string()))?;
        Event::read(event.kind(), &payload).map_err(unstorable)?;
        Ok(Self { content: digest::content(&payload), payload })
    }
}

/// Reading a log some events at a time, fewer where they are large: it may be longer than memory.
struct Pages {
    events: i64,
}

impl Default for Pages {
    fn default() -> Self {
        Self { events: 16 }
    }
}

impl Pages {
    /// What a page should not be much larger than.
    const BYTES: usize = 1 << 20;

    /// The next events after a place.
    fn read(
        &mut self,
        study: &StoredStudy,
        transaction: &mut Transaction<'_>,
        after: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        let rows = transaction.rows(
            match study.is_checked() {
                true => {
                    "SELECT seq, at, kind, payload, digest FROM events WHERE study = $1 AND seq > $2 \
                     ORDER BY seq LIMIT $3"
                }
                false => {
                    "SELECT seq, at, kind, payload, '' FROM events WHERE study = $1 AND seq > $2 \
                     ORDER BY seq LIMIT $3"
                }
            },
            &[Value::Int(study.id), Value::Int(after), Value::Int(self.events)],
        )?;
        let entry = |row| {
            Ok(Entry {
                seq: transaction.get(row, 0)?,
                at: transaction.get(row, 1)?,
                kind: transaction.get(row, 2)?,
                payload: transaction.get(row, 3)?,
                digest: transaction.get(row, 4)?,
            })
        };
        let page = rows.iter().map(entry).collect::<Result<Vec<Entry>, StoreError>>()?;
        let bytes: usize = page.iter().map(|entry| entry.payload.len()).sum();
        self.events =
            if bytes > Self::BYTES { (self.events / 2).max(1) } else { (self.events * 2).min(1024) };
        Ok(page)
    }
}
