//! What a study in a store shows of itself.

use mcbo_core::{Proposal, StrategyOptions, Trial};

use crate::ledger::Record;

/// A trial with what the ledger says of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredTrial {
    /// The trial. It is complete as soon as anything was measured.
    pub trial: Trial,
    /// Nodes without a value so far. They can still be told.
    pub missing: Vec<String>,
    /// Who, when, and how long.
    pub record: Record,
}

/// Where a study stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Who proposes.
    pub strategy: StrategyOptions,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Trials of the initial design.
    pub initial: usize,
    /// When it was made, in milliseconds since 1970 (UTC).
    pub created: i64,
    /// When anything happened to it last.
    pub changed: i64,
    /// Its trials, rows that were added among them.
    pub trials: usize,
    /// Those under way.
    pub pending: usize,
    /// Those under way whose lease is over: the next who asks gets them.
    pub expired: usize,
    /// Those with measurements.
    pub complete: usize,
    /// Those of them where a node has no value.
    pub partial: usize,
    /// Those that could not be run.
    pub failed: usize,
    /// Those of which values were put right.
    pub corrected: usize,
    /// Those that were taken out; they are in none of the other counts but `trials` and `corrected`.
    pub voided: usize,
    /// The best measured reward, in the direction of improvement, with its trial.
    pub best: Option<(usize, f64)>,
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its place in the log, from 1.
    pub seq: i64,
    /// When it was written, in milliseconds since 1970 (UTC).
    pub at: i64,
    /// What kind it is of: `created`, `problem-changed`, `asked`, `retried`, `told`, `corrected`, `voided`, `restored`,
    /// `failed`, `released`, `noted` or `added`.
    pub kind: String,
    /// Its content, JSON.
    pub payload: String,
    /// Its checksum, which goes on from that of the event before it; empty in memory, and in a store of an
    /// older program that cannot be written.
    pub digest: String,
}

impl Entry {
    /// An event as it was written down elsewhere, without a checksum.
    pub fn new(seq: i64, at: i64, kind: String, payload: String) -> Self {
        Self { seq, at, kind, payload, digest: String::new() }
    }
}

/// A suggestion computed once more.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recomputed {
    /// How it compares.
    pub outcome: Outcome,
    /// As it was made.
    pub stored: Proposal,
    /// As it is made now.
    pub again: Proposal,
}

/// How a suggestion that was computed once more compares with the one in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The same to the bit, with predictions, warnings and memory.
    Same,
    /// Another, but then it was made by another version of the program or on another kind of processor: that is to be expected.
    OtherProgram {
        /// What made it.
        then: String,
        /// What computed it once more.
        now: String,
    },
    /// Another, by the same program on the same kind of processor: the log is not what it was then.
    Different,
}
