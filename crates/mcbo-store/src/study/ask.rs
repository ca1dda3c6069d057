//! Suggestions that are asked for, by many at once.

use std::time::{Duration, Instant};

use mcbo_core::{Fixed, Given, Suggestion, Trial};

use super::StoredStudy;
use crate::StoreError;
use crate::ledger::{Change, Computed, Ledger};
use crate::turn::{Held, Turn};
use crate::view::StoredTrial;

/// How often a suggestion is computed while others may write, before the study is locked for it.
const ATTEMPTS: usize = 2;
/// How often it is found again beside what others have put under way meanwhile.
const BESIDE: usize = 16;
/// Studies with more trials are too large for a copy that stays as it was.
const COPIED: usize = 100_000;
/// Suggestions that took less are not waited for.
const SHORT: Duration = Duration::from_millis(10);
/// How long the first one takes, as far as anybody knows.
const UNKNOWN: Duration = Duration::from_millis(250);
/// The longest that anybody waits for the one who computes first.
const LONGEST: Duration = Duration::from_secs(60);
/// How long it takes to look again.
const PAUSE: Duration = Duration::from_millis(2);

impl StoredStudy {
    /// As [`Self::ask_given`] where this is done in any case, and only the rest is left to the strategy: of the trials that are there
    /// already those count that do it.
    ///
    /// The suggestion is computed from the log as it is then, while others may write. If another one was put under way meanwhile, it is
    /// found again beside that, which takes a small part of the time; several at once, and those that rows came in between of, are
    /// computed again, the third time with the study locked. The log says from which of its places it was computed.
    ///
    /// # Errors
    /// As [`Self::ask_given`], and if what is fixed cannot be done.
    pub fn ask_fixing(
        &mut self,
        worker: &str,
        count: usize,
        given: &Given,
        fixed: &Fixed,
    ) -> Result<Vec<StoredTrial>, StoreError> {
        for _ in 0..ATTEMPTS {
            let now = (self.shared.clock)();
            let ledger = &self.catch()?.ledger;
            let wanted = count - ledger.known(worker, count, given, fixed, now).len();
            if wanted == 0 {
                break;
            }
            if wanted == 1 && ledger.records.len() <= COPIED {
                match self.ask_beside(worker, count, given, fixed)? {
                    Some(trials) => return Ok(trials),
                    None => continue,
                }
            }
            let mut computed = Some(ledger.compute(wanted, given, fixed)?);
            let seq = ledger.seq;
            let put = |change: &mut Change<'_>| match change.ledger.moved > seq {
                true => Ok(None),
                false => change.ask(worker, count, given, fixed, computed.take()).map(Some),
            };
            if let Some(trials) = self.change(put)? {
                return Ok(trials);
            }
        }
        self.change(|change| change.ask(worker, count, given, fixed, None))
    }

    /// Computes one suggestion and puts it under way, beside whatever others put under way meanwhile. Nothing where rows or another
    /// problem came in between.
    fn ask_beside(
        &mut self,
        worker: &str,
        count: usize,
        given: &Given,
        fixed: &Fixed,
    ) -> Result<Option<Vec<StoredTrial>>, StoreError> {
        let shared = self.shared.clone();
        let lead = self.lead()?;
        // Whoever has waited knows more.
        let Ledger { study, records, seq, .. } = &self.catch()?.ledger;
        let (study, known, seq) = (study.clone(), records.len(), *seq);
        let (start, mut tries, mut beside) = (Instant::now(), 0, 0);
        let suggestions = |trials: &[Trial]| -> Vec<Suggestion> {
            trials.iter().map(|trial| trial.suggestion.clone()).collect()
        };
        let (mut outcome, mut turn) = (Ok(None), None);
        study.propose_beside(given, fixed, &mut |proposal| {
            let took = start.elapsed();
            let Some(proposal) = proposal else {
                // Those who have come as far wait for one another, so that each sees what the one before it has put under way.
                turn = Turn::take(&shared.database, self.id, took);
                let ledger = &self.catch().ok().filter(|fold| fold.ledger.rows_moved <= seq)?.ledger;
                let since = ledger.study.trials().get(known..).filter(|since| !since.is_empty())?;
                (tries, beside) = (tries + 1, since.len());
                return Some(suggestions(since));
            };
            // Everything that was put under way since, if there is more than it was found beside.
            let mut others = None;
            outcome = self.change_first(|change| {
                let since = change.ledger.study.trials().get(known..).unwrap_or_default();
                if change.ledger.rows_moved > seq {
                    return Ok(None);
                }
                if since.len() > beside {
                    others = Some(suggestions(since));
                    return Ok(None);
                }
                let proposals = vec![(proposal.clone(), took.as_secs_f64())];
                let computed = Computed { seq, beside: beside > 0, proposals };
                change.ask(worker, count, given, fixed, Some(computed)).map(Some)
            });
            (tries, beside) = (tries + 1, others.as_ref().map_or(beside, Vec::len));
            others.filter(|_| tries <= BESIDE)
        })?;
        // Nobody waits for a snapshot.
        drop((turn, lead));
        self.save();
        outcome
    }

    /// Where something was told since the last suggestion, no more compute at once than have two cores each, and the others wait until one is
    /// under way: a model of new measurements takes a multiple of those after it, which begin from it. Nothing where that is not so,
    /// or has taken too long.
    fn lead(&mut self) -> Result<Option<Held>, StoreError> {
        let (shared, start) = (self.shared.clone(), Instant::now());
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        loop {
            let ledger = &self.catch()?.ledger;
            let last = ledger.records.last_proposal();
            let took = last.map_or(UNKNOWN, |(_, took)| took);
            if took < SHORT || last.is_some_and(|(seq, _)| seq == ledger.seq) {
                return Ok(None);
            }
            let mut leads = (0..cores.div_ceil(2)).map(|lead| format!("lead{lead}"));
            let taken = leads.find_map(|lead| Held::take(&shared.database, self.id, &lead).transpose());
            match taken.transpose() {
                Ok(None) if start.elapsed() < (4 * took).min(LONGEST) => std::thread::sleep(PAUSE),
                // Where nothing can be held it goes without.
                held => return Ok(held.ok().flatten()),
            }
        }
    }
}
