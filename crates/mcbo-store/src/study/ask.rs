//! Suggestions that are asked for, by many at once.
//!
//! Of those who ask at once one for every two cores computes. It finds for the others too, who say what they wait for: once there is a
//! model and the best places are known, another suggestion beside the first takes a small part of the time of one from nothing.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcbo_core::{Fixed, Given, Suggestion};

use super::StoredStudy;
use crate::StoreError;
use crate::ledger::{Change, Computed, Ledger};
use crate::turn::{Held, Turn, Wish};
use crate::view::StoredTrial;

/// How often a suggestion is computed while others may write, before the study is locked for it.
const ATTEMPTS: usize = 2;
/// How often it is found again beside what was put under way meanwhile, for oneself and for others.
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

/// What came of waiting.
enum Lead {
    /// It is computed here, perhaps for others too.
    Taken(Option<Held>),
    /// Somebody else has computed it.
    Served,
}

impl StoredStudy {
    /// As [`Self::ask_given`] where this is done in any case, and only the rest is left to the strategy: of the trials that are there
    /// already those count that do it.
    ///
    /// The suggestion is computed from the log as it is then, while others may write; whoever computes finds those that others wait for
    /// as well. If another one was put under way meanwhile, it is found again beside that, which takes a small part of the time; several
    /// at once, and those that rows came in between of, are computed again, the third time with the study locked. The log says from which
    /// of its places it was computed.
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
                let (worker, given, fixed) = (worker.to_owned(), given.clone(), fixed.clone());
                match self.ask_beside(Wish { worker, count, given, fixed })? {
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

    /// Computes one suggestion and puts it under way, beside whatever others put under way meanwhile, and then those that others wait for.
    /// Nothing where rows or another problem came in between, or somebody else has computed it.
    fn ask_beside(&mut self, own: Wish) -> Result<Option<Vec<StoredTrial>>, StoreError> {
        let shared = self.shared.clone();
        let Lead::Taken(lead) = self.lead(&own)? else { return Ok(None) };
        // Whoever has waited knows more.
        let Ledger { study, records, seq, .. } = &self.catch()?.ledger;
        let (study, known, seq) = (study.clone(), records.len(), *seq);
        let (start, mut tries, mut beside) = (Instant::now(), 0, 0);
        let suggestions = |ledger: &Ledger| -> Vec<Suggestion> {
            let since = ledger.study.trials().get(known..).unwrap_or_default();
            since.iter().map(|trial| trial.suggestion.clone()).collect()
        };
        let Wish { given, fixed, .. } = &own;
        let (mut outcome, mut turn) = (Ok(None), None);
        // Those it is found for, oneself first, and where the last one waits.
        let (mut wishes, mut waits) = (vec![own.clone()], None);
        let found = study.propose_beside(given, fixed, &mut |proposal| {
            let took = start.elapsed();
            tries += 1;
            let Some(proposal) = proposal else {
                // Those who have come as far wait for one another, so that each sees what the one before it has put under way.
                turn = Turn::take(&shared.database, self.id, took);
                let ledger = &self.catch().ok().filter(|fold| fold.ledger.rows_moved <= seq)?.ledger;
                let since = suggestions(ledger);
                beside = since.len();
                return Some(since).filter(|since| !since.is_empty());
            };
            let (wish, first) = (wishes.last()?, wishes.len() == 1);
            let mut since = None;
            let put = self.change_first(|change| {
                if change.ledger.rows_moved > seq {
                    return Ok(None);
                }
                let mut trials = None;
                // Not if there is more than it was found beside; nor for somebody who has got it meanwhile, or wants more now.
                let Wish { worker, count, given, fixed } = wish;
                let missing = count - change.ledger.known(worker, *count, given, fixed, change.at).len();
                if suggestions(change.ledger).len() == beside && (first || missing == 1) {
                    let proposals = vec![(proposal.clone(), took.as_secs_f64())];
                    let computed = Computed { seq, beside: beside > 0, proposals };
                    trials = Some(change.ask(worker, *count, given, fixed, Some(computed))?);
                }
                since = Some(suggestions(change.ledger));
                Ok(trials)
            });
            // For others it is tried once.
            let done = !matches!(put, Ok(None)) || !first;
            if first {
                outcome = put;
            }
            if let Some(path) = waits.take_if(|_| done) {
                let _ = std::fs::remove_file::<PathBuf>(path);
            }
            let since = since.filter(|_| tries <= BESIDE)?;
            if done {
                let fits = |wish: &Wish| {
                    let new = wishes.iter().all(|other| other.worker != wish.worker);
                    new && wish.given == *given && wish.fixed == *fixed
                };
                let (next, path) = Wish::first(lead.as_ref()?, &shared.database, self.id, fits)?;
                wishes.push(next);
                waits = Some(path);
            }
            beside = since.len();
            Some(since)
        });
        // What is under way already is not lost with what could not be found for others.
        if !matches!(outcome, Ok(Some(_))) {
            found?;
        }
        // Nobody waits for a snapshot.
        drop((turn, lead));
        self.save();
        outcome
    }

    /// Waits for the lead, or for what somebody else computes who has it. Nothing is held where suggestions are too quick to wait for,
    /// or it has taken too long.
    fn lead(&mut self, wish: &Wish) -> Result<Lead, StoreError> {
        let (shared, start) = (self.shared.clone(), Instant::now());
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let id = self.id;
        let take = || {
            let mut leads = (0..cores.div_ceil(2)).map(|lead| format!("lead{lead}"));
            leads.find_map(|lead| Held::take(&shared.database, id, &lead).transpose()).transpose()
        };
        let (mut held, mut said) = (take(), None::<Held>);
        loop {
            let now = (shared.clock)();
            let ledger = &self.catch()?.ledger;
            let Wish { worker, count, given, fixed } = wish;
            if ledger.known(worker, *count, given, fixed, now).len() >= *count {
                return Ok(Lead::Served);
            }
            let took = ledger.records.last_proposal().map_or(UNKNOWN, |(_, took)| took);
            if took < SHORT {
                return Ok(Lead::Taken(None));
            }
            let too_long = || start.elapsed() >= (4 * took).min(LONGEST);
            // Where nothing can be held it goes without.
            if !matches!(held, Ok(None)) || too_long() {
                return Ok(Lead::Taken(held.ok().flatten()));
            }
            // The log is read again when somebody has taken the wish away, or the lead is free.
            said = said.filter(Held::is_there).or_else(|| wish.say(&shared.database, id));
            loop {
                std::thread::sleep(PAUSE);
                held = take();
                if !matches!(held, Ok(None)) || !said.as_ref().is_some_and(Held::is_there) || too_long() {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mcbo_core::{Fixed, Given};

    use crate::turn::{Held, Wish};
    use crate::{Options, Row, Store, StrategyOptions};

    /// Who waits for a suggestion gets the one that somebody else has put under way for it.
    #[test]
    fn what_is_waited_for_is_computed_by_the_one_who_leads() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite://{}", folder.path().join("s.sqlite").display())).unwrap();
        let problem =
            "name = \"p\"\nmaximize = \"y\"\n[nodes.y]\nactions = [\"a\"]\n[actions.a]\nrange = [0.0, 1.0]\n";
        let options = Options { strategy: StrategyOptions::named("mcbo"), seed: 1, initial: Some(0) };
        let mut study = store.create("s", problem, &options).unwrap();
        let row = |a: f64| Row {
            actions: [("a".to_owned(), a)].into(),
            values: [("y".to_owned(), vec![a * (1.0 - a)])].into(),
            ..Row::default()
        };
        study.add(&[0.1, 0.4, 0.9].map(row)).unwrap();
        let (database, id) = (&study.shared.clone().database, study.id);
        let cores = std::thread::available_parallelism().unwrap().get();
        let leads: Vec<Held> = (0..cores.div_ceil(2))
            .map(|lead| Held::take(database, id, &format!("lead{lead}")).unwrap().unwrap())
            .collect();
        let mut waiting = store.open_study("s").unwrap();
        let got = std::thread::scope(|scope| {
            let waiter = scope.spawn(move || waiting.ask("waits", 1).unwrap().remove(0).trial);
            let (wish, path) = loop {
                if let Some(heard) = Wish::first(&leads[0], database, id, |_| true) {
                    break heard;
                }
                assert!(!waiter.is_finished(), "nobody has the lead");
                std::thread::yield_now();
            };
            assert_eq!((wish.worker.as_str(), wish.count), ("waits", 1));
            study.change(|change| change.ask("waits", 1, Given::NONE, Fixed::NONE, None)).unwrap();
            std::fs::remove_file(path).unwrap();
            waiter.join().unwrap()
        });
        let trials = study.trials().unwrap();
        assert_eq!((trials.len(), &trials[3].trial), (4, &got));
    }
}
