//! Trials with their records, as bytes.

use mcbo_core::{Intervention, Standing, Suggestion, Trial, TrialState};

use super::bytes::{Reader, Writer};
use crate::ledger::{Kept, Record};

const STATES: [TrialState; 4] =
    [TrialState::Pending, TrialState::Complete, TrialState::Failed, TrialState::Voided];

// What there is of a trial: the state is in the two lowest bits.
const COUNTS: u8 = 1 << 2;
const TAKEN_OUT: u8 = 1 << 3;
const DONE: u8 = 1 << 4;
const VALUES: u8 = 1 << 5;
const PLAIN: u8 = 1 << 6;
const ROW: u8 = 1 << 7;

fn state_number(state: TrialState) -> u8 {
    STATES.iter().position(|known| *known == state).unwrap_or(0) as u8
}

/// Writes a trial; why it cannot be.
pub(super) fn write(
    writer: &mut Writer,
    (trial, before, counts): (&Trial, Option<TrialState>, bool),
    record: &Kept,
) -> Result<(), serde_json::Error> {
    let suggestion = &trial.suggestion;
    // Most of what rows and the simplest strategies have is what is done.
    let plain = *suggestion == Suggestion::new(suggestion.strategy.as_str(), suggestion.intervention.clone());
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    writer.byte(
        state_number(trial.state)
            | flag(counts, COUNTS)
            | flag(before.is_some(), TAKEN_OUT)
            | flag(trial.done.is_some(), DONE)
            | flag(trial.values.is_some(), VALUES)
            | flag(plain, PLAIN)
            | flag(matches!(record, Kept::Row { .. }), ROW),
    );
    if let Some(before) = before {
        writer.byte(state_number(before));
    }
    intervention(writer, &suggestion.intervention);
    if plain {
        writer.name(&suggestion.strategy);
    } else {
        let mut rest = suggestion.clone();
        rest.intervention = Intervention::default();
        writer.text(&serde_json::to_string(&rest)?);
    }
    if let Some(done) = &trial.done {
        intervention(writer, done);
    }
    if let Some(values) = &trial.values {
        writer.count(values.len() as u64);
        for eight in values.chunks(8) {
            let measured =
                |byte: u8, (bit, value): (usize, &Option<f64>)| byte | u8::from(value.is_some()) << bit;
            writer.byte(eight.iter().enumerate().fold(0, measured));
        }
        values.iter().flatten().for_each(|&value| writer.number(value));
    }
    match record {
        Kept::Row { at, seq } => {
            writer.time(*at);
            writer.time(*seq);
        }
        Kept::Whole(record) => write_record(writer, record)?,
    }
    Ok(())
}

/// The next trial; nothing where something else stands.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<(Standing, Kept)> {
    let flags = reader.byte()?;
    let has = |flag: u8| flags & flag != 0;
    let state = STATES[usize::from(flags & 3)];
    let before = if has(TAKEN_OUT) { Some(*STATES.get(usize::from(reader.byte()?))?) } else { None };
    let doing = read_intervention(reader)?;
    let suggestion = match has(PLAIN) {
        true => Suggestion::new(reader.name()?, doing),
        false => {
            let mut rest: Suggestion = serde_json::from_str(reader.text()?).ok()?;
            rest.intervention = doing;
            rest
        }
    };
    let done = if has(DONE) { Some(read_intervention(reader)?) } else { None };
    let values = if has(VALUES) { Some(read_values(reader)?) } else { None };
    let record = match has(ROW) {
        true => Kept::Row { at: reader.time()?, seq: reader.time()? },
        false => Kept::Whole(Box::new(read_record(reader)?)),
    };
    Some((Standing { state, before, counts: has(COUNTS), suggestion, done, values }, record))
}

fn intervention(writer: &mut Writer, Intervention { targets, actions }: &Intervention) {
    writer.count(targets.len() as u64);
    for (node, values) in targets {
        writer.count(*node as u64);
        writer.numbers(values);
    }
    writer.numbers(actions);
}

fn read_intervention(reader: &mut Reader<'_>) -> Option<Intervention> {
    let mut targets = Vec::new();
    for _ in 0..reader.count()? {
        targets.push((reader.size()?, reader.numbers()?));
    }
    Some(Intervention { targets, actions: reader.numbers()? })
}

fn read_values(reader: &mut Reader<'_>) -> Option<Vec<Option<f64>>> {
    let count = reader.size()?;
    let mut measured = Vec::new();
    for _ in 0..count.div_ceil(8) {
        measured.push(reader.byte()?);
    }
    let value = |place: usize| match measured[place / 8] >> (place % 8) & 1 {
        1 => reader.number().map(Some),
        _ => Some(None),
    };
    (0..count).map(value).collect()
}

// What there is of a record.
const WORKER: u64 = 1;
const LEASE: u64 = 1 << 1;
const TOLD: u64 = 1 << 2;
const CORRECTED: u64 = 1 << 3;
const VOIDED: u64 = 1 << 4;
const REASON: u64 = 1 << 5;
const TOOK: u64 = 1 << 6;
const PROGRAM: u64 = 1 << 7;
const ATTRIBUTES: u64 = 1 << 8;

fn write_record(writer: &mut Writer, record: &Record) -> Result<(), serde_json::Error> {
    // All of it: a field that is new is missed here.
    let Record {
        worker,
        asked,
        lease_until,
        told,
        corrected,
        voided,
        reason,
        lost,
        attributes,
        took_seconds,
        program,
        seq,
    } = record;
    let there = [
        (worker.is_some(), WORKER),
        (lease_until.is_some(), LEASE),
        (told.is_some(), TOLD),
        (corrected.is_some(), CORRECTED),
        (voided.is_some(), VOIDED),
        (reason.is_some(), REASON),
        (took_seconds.is_some(), TOOK),
        (program.is_some(), PROGRAM),
        (!attributes.is_empty(), ATTRIBUTES),
    ];
    writer.count(there.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum());
    writer.time(*asked);
    writer.time(*seq);
    writer.count(*lost as u64);
    worker.iter().for_each(|worker| writer.name(worker));
    [lease_until, told, corrected].into_iter().flatten().for_each(|&at| writer.time(at));
    if let Some((at, why)) = voided {
        writer.time(*at);
        writer.name(why);
    }
    reason.iter().for_each(|reason| writer.name(reason));
    took_seconds.iter().for_each(|&seconds| writer.number(seconds));
    program.iter().for_each(|program| writer.name(program));
    if !attributes.is_empty() {
        writer.text(&serde_json::to_string(attributes)?);
    }
    Ok(())
}

fn read_record(reader: &mut Reader<'_>) -> Option<Record> {
    let flags = reader.count()?;
    let has = |flag: u64| flags & flag != 0;
    let (asked, seq, lost) = (reader.time()?, reader.time()?, reader.size()?);
    let mut record = Record { lost, ..Record::new(asked, seq) };
    if has(WORKER) {
        record.worker = Some(reader.name()?);
    }
    for (flag, at) in
        [(LEASE, &mut record.lease_until), (TOLD, &mut record.told), (CORRECTED, &mut record.corrected)]
    {
        if has(flag) {
            *at = Some(reader.time()?);
        }
    }
    if has(VOIDED) {
        record.voided = Some((reader.time()?, reader.name()?));
    }
    if has(REASON) {
        record.reason = Some(reader.name()?);
    }
    if has(TOOK) {
        record.took_seconds = Some(reader.number()?);
    }
    if has(PROGRAM) {
        record.program = Some(reader.name()?);
    }
    if has(ATTRIBUTES) {
        record.attributes = serde_json::from_str(reader.text()?).ok()?;
    }
    Some(record)
}
