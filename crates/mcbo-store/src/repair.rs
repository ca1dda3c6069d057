//! What can be read of a damaged store, saved to a new one.

mod pages;

use std::collections::{BTreeMap, BTreeSet};

use mcbo_core::{Origin, Proposal, Suggestion};

use crate::address::{Address, Backend};
use crate::database::{Cell, Value, settled_bytes};
use crate::digest::{self, StudyLine};
use crate::event::{Asked, Event, Voided, program};
use crate::fold::Fold;
use crate::store::next_id;
use crate::strategies::{Library, Strategies};
use crate::{Store, StoreError, schema};

/// What was saved of a study, and what was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Its name; one that was made up if it could not be read.
    pub name: String,
    /// Whether anything could be saved.
    pub saved: bool,
    /// Its trials, as far as they were saved.
    pub trials: usize,
    /// What was lost, in words: nothing if the study is whole.
    pub lost: Vec<String>,
}

/// An event as it was found.
struct FoundEvent {
    at: i64,
    kind: String,
    payload: String,
    digest: String,
}

/// Everything that was found of a study.
#[derive(Default)]
struct Finds {
    lines: Vec<StudyLine>,
    /// Several where pages disagree.
    events: BTreeMap<i64, Vec<FoundEvent>>,
}

impl Store {
    /// Saves what can be read of a damaged SQLite file to a new one, and says what was lost. The damaged file stays as it is.
    ///
    /// An event counts if its checksum is right. Trials whose suggestion is lost keep their number: they stand in the new study as
    /// taken out, and what was told of them is on record. What cannot be trusted is left out and named.
    ///
    /// # Errors
    /// If the address is no file that can be read, nothing of a store is found in it, or the new file exists or cannot be written.
    pub fn repair(damaged: &str, new: &str) -> Result<Vec<Repaired>, StoreError> {
        let address = Address::parse(damaged)?;
        let target = Address::parse(new)?;
        for address in [&address, &target] {
            if address.backend != Backend::Sqlite {
                let reason = "only files can be repaired: a server has its own ways".into();
                return Err(StoreError::BadUrl { url: address.shown.clone(), reason });
            }
        }
        if target.path.exists() {
            let reason = "there is a file already, and nothing is written over".into();
            return Err(StoreError::BadUrl { url: target.shown, reason });
        }
        let finds = sorted(pages::rows(&settled_bytes(&address)?));
        if finds.is_empty() {
            let reason = "nothing of a store was found in it".into();
            return Err(StoreError::Damaged { url: address.shown, reason });
        }
        let store = Self::open(new)?;
        let mut names = BTreeSet::new();
        finds.iter().map(|(id, finds)| store.save(*id, finds, &mut names)).collect()
    }

    fn save(&self, id: i64, finds: &Finds, names: &mut BTreeSet<String>) -> Result<Repaired, StoreError> {
        let line = finds.lines.first();
        let mut name = line.map_or_else(|| format!("recovered-{id}"), |line| line.name.clone());
        while crate::store::check_name(&name).is_err() || !names.insert(name.clone()) {
            name = format!("recovered-{}", names.len() + 1);
        }
        let (log, fold, mut lost) = replay(finds, line);
        if line.is_none() {
            lost.push("its line in the list of studies: its name is made up".into());
        }
        let Some(fold) = fold else {
            return Ok(Repaired { name, saved: false, trials: 0, lost });
        };
        let mut transaction = self.write_all()?;
        let id = next_id(&mut transaction)?;
        let created = line.map_or(log[0].0, |line| line.created);
        let mut line = StudyLine {
            id,
            name: name.clone(),
            created,
            changed: fold.ledger.changed,
            counts: fold.ledger.counts(),
            head: 0,
            tip: String::new(),
        };
        // The events refer to the study.
        schema::write_line(&mut transaction, &line, true)?;
        for (at, event) in &log {
            line.head += 1;
            let payload = event
                .payload()
                .map_err(|error| StoreError::Unstorable { number: 0, reason: error.to_string() })?;
            line.tip = digest::link(&line.tip, line.head, *at, event.kind(), &digest::content(&payload));
            transaction.execute(
                "INSERT INTO events (study, seq, at, kind, payload, digest) VALUES ($1, $2, $3, $4, $5, $6)",
                &[
                    Value::Int(id),
                    Value::Int(line.head),
                    Value::Int(*at),
                    Value::Text(event.kind()),
                    Value::Text(&payload),
                    Value::Text(&line.tip),
                ],
            )?;
        }
        schema::write_line(&mut transaction, &line, false)?;
        schema::write_roll(&mut transaction)?;
        transaction.commit()?;
        Ok(Repaired { name, saved: true, trials: fold.ledger.records.len(), lost })
    }
}

/// The rows that are of a store, by study.
fn sorted(rows: Vec<Vec<Cell>>) -> BTreeMap<i64, Finds> {
    let mut finds: BTreeMap<i64, Finds> = BTreeMap::new();
    for row in rows {
        match row.as_slice() {
            [
                Cell::Int(study),
                Cell::Int(seq),
                Cell::Int(at),
                Cell::Text(kind),
                Cell::Text(payload),
                rest @ ..,
            ] if rest.len() < 2 && *seq > 0 && Event::read(kind, payload).is_ok() => {
                let digest = match rest {
                    [Cell::Text(digest)] => digest.clone(),
                    _ => String::new(),
                };
                let found = FoundEvent { at: *at, kind: kind.clone(), payload: payload.clone(), digest };
                finds.entry(*study).or_default().events.entry(*seq).or_default().push(found);
            }
            [
                Cell::Int(id),
                Cell::Text(name),
                Cell::Int(created),
                Cell::Int(changed),
                Cell::Int(a),
                Cell::Int(b),
                Cell::Int(c),
                Cell::Int(d),
                rest @ ..,
            ] => {
                let (head, tip, seal) = match rest {
                    [Cell::Int(head), Cell::Text(tip), Cell::Text(seal)] => {
                        (*head, tip.clone(), seal.as_str())
                    }
                    [] => (0, String::new(), ""),
                    _ => continue,
                };
                let (name, counts) = (name.clone(), [*a, *b, *c, *d]);
                let line =
                    StudyLine { id: *id, name, created: *created, changed: *changed, counts, head, tip };
                if seal.is_empty() || line.seal() == seal {
                    finds.entry(*id).or_default().lines.push(line);
                }
            }
            _ => {}
        }
    }
    finds
}

/// The events of a study that can be trusted, as a log without gaps; the state they lead to; what was lost.
fn replay(finds: &Finds, line: Option<&StudyLine>) -> (Vec<(i64, Event)>, Option<Fold>, Vec<String>) {
    let mut replay =
        Replay { log: Vec::new(), fold: None, lost: Vec::new(), unsure: None, gaps: BTreeSet::new() };
    let last = finds.events.keys().next_back().copied().unwrap_or(0).max(line.map_or(0, |line| line.head));
    let mut before = vec![String::new()];
    for seq in 1..=last {
        let found = finds.events.get(&seq).map_or(&[][..], Vec::as_slice);
        let good = found.iter().find(|found| is_right(found, seq, &before, finds));
        match good {
            Some(found) => {
                if let Ok(event) = Event::read(&found.kind, &found.payload) {
                    replay.take(seq, found.at, event);
                }
            }
            None => {
                replay.miss(seq, if found.is_empty() { "cannot be read" } else { "is not as it was written" })
            }
        }
        // Either the checksum that stands there or the one it should have goes on.
        before = found
            .iter()
            .map(|found| found.digest.clone())
            .chain(
                found.iter().flat_map(|found| before.iter().map(|before| found.link(before, seq))).take(16),
            )
            .collect();
    }
    (replay.log, replay.fold, replay.lost)
}

impl FoundEvent {
    fn link(&self, before: &str, seq: i64) -> String {
        digest::link(before, seq, self.at, &self.kind, &digest::content(&self.payload))
    }
}

/// Whether an event is what was written: its checksum goes on from the one before it, or the next event's goes on from it.
fn is_right(found: &FoundEvent, seq: i64, before: &[String], finds: &Finds) -> bool {
    // Stores of before there were checksums.
    if found.digest.is_empty() {
        return true;
    }
    let next = finds.events.get(&(seq + 1)).map_or(&[][..], Vec::as_slice);
    before.iter().any(|before| {
        let link = found.link(before, seq);
        link == found.digest || next.iter().any(|next| next.link(&link, seq + 1) == next.digest)
    })
}

/// A log that is put together again.
struct Replay {
    log: Vec<(i64, Event)>,
    fold: Option<Fold>,
    lost: Vec<String>,
    /// The first number that a trial may have whose making is lost.
    unsure: Option<usize>,
    /// Trials that stand for lost ones.
    gaps: BTreeSet<usize>,
}

impl Replay {
    fn miss(&mut self, seq: i64, why: &str) {
        self.lost.push(format!("event {seq}, which {why}"));
        let next = self.fold.as_ref().map_or(1, |fold| fold.ledger.records.len() + 1);
        self.unsure = self.unsure.or(Some(next));
    }

    fn take(&mut self, seq: i64, at: i64, event: Event) {
        let Some(fold) = &mut self.fold else {
            match Fold::start(at, event.clone(), String::new(), &Library as &dyn Strategies) {
                Ok(fold) => {
                    self.fold = Some(fold);
                    self.log.push((at, event));
                }
                Err(reason) => {
                    self.lost.push(format!("event {seq}, since the study's beginning is lost: {reason}"))
                }
            }
            return;
        };
        if let Event::Asked(asked) = &event {
            let next = fold.ledger.records.len() + 1;
            for trial in next..asked.trial.min(next + 100_000) {
                let suggestion = Suggestion::new(
                    Origin::Enqueued.name(),
                    fold.ledger.study.problem().neutral_intervention(),
                );
                let stand_in = Asked {
                    trial,
                    worker: "repair".into(),
                    lease_until: at,
                    took_seconds: 0.0,
                    program: program(),
                    from: None,
                    proposal: {
                        let remembered = fold.ledger.study.memory();
                        Proposal { suggestion, memory: remembered.since(remembered) }
                    },
                };
                let reason = "what it was is lost".to_owned();
                let out = Voided { trials: vec![trial], reason, by: Some("repair".into()) };
                for event in [Event::Asked(Box::new(stand_in)), Event::Voided(out)] {
                    if fold.apply(at, event.clone()).is_ok() {
                        self.log.push((at, event));
                    }
                }
                self.gaps.insert(trial);
            }
            if next < asked.trial {
                self.lost.push(format!("what was done in trials {next} to {}", asked.trial - 1));
            }
            self.unsure = None;
        }
        let speaks_of: Vec<usize> = match &event {
            Event::Told(told) => vec![told.trial],
            Event::Corrected(corrected) => vec![corrected.trial],
            Event::Failed(failed) => vec![failed.trial],
            Event::Retried(retried) => vec![retried.trial],
            Event::Voided(voided) | Event::Restored(voided) => voided.trials.clone(),
            _ => Vec::new(),
        };
        let doubtful = |trial: &usize| {
            self.unsure.is_some_and(|first| *trial >= first)
                || (self.gaps.contains(trial) && !matches!(event, Event::Told(_)))
        };
        if let Some(trial) = speaks_of.iter().find(|trial| doubtful(trial)) {
            self.lost
                .push(format!("event {seq} ({}): it is not certain which trial {trial} is", event.kind()));
            return;
        }
        // What is refused half-way leaves nothing behind.
        let whole = matches!(event, Event::Added(_)).then(|| fold.ledger.clone());
        match fold.apply(at, event.clone()) {
            Ok(()) => self.log.push((at, event)),
            Err(reason) => {
                whole.into_iter().for_each(|ledger| fold.ledger = ledger);
                self.lost.push(format!(
                    "event {seq} ({}), which does not fit what is left: {reason}",
                    event.kind()
                ));
            }
        }
    }
}
