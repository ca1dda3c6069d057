//! Live updates: one task per study that somebody looks at asks the store twice a second whether anything happened.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::library::{Library, blocking};

const EVERY: Duration = Duration::from_millis(500);

/// What listeners are told: a number that is another one when something has happened; none if the study is gone.
pub type State = Option<i64>;

type Watchers = Arc<Mutex<HashMap<String, watch::Sender<State>>>>;

/// Who listens to what.
pub struct Live {
    library: Arc<Library>,
    watchers: Watchers,
}

impl Live {
    pub fn new(library: Arc<Library>) -> Self {
        Self { library, watchers: Watchers::default() }
    }

    /// Listens to a study, or with an empty name to the list of all.
    pub fn listen(&self, name: &str) -> watch::Receiver<State> {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = watchers.get(name) {
            return sender.subscribe();
        }
        let sender = watch::Sender::new(Some(0));
        let receiver = sender.subscribe();
        watchers.insert(name.to_owned(), sender.clone());
        tokio::spawn(watch_over(self.library.clone(), self.watchers.clone(), name.to_owned(), sender));
        receiver
    }
}

async fn watch_over(library: Arc<Library>, watchers: Watchers, name: String, sender: watch::Sender<State>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        {
            let mut all = watchers.lock().unwrap_or_else(PoisonError::into_inner);
            if sender.receiver_count() == 0 {
                all.remove(&name);
                return;
            }
        }
        let (library, study) = (library.clone(), name.clone());
        let now = blocking(move || look(&library, &study)).await;
        // A database that does not answer for a moment is no news.
        if let Ok(now) = now {
            sender.send_if_modified(|before| std::mem::replace(before, now) != now);
        }
    }
}

fn look(library: &Library, name: &str) -> Result<State, crate::answer::Failure> {
    if name.is_empty() {
        let mut hasher = DefaultHasher::new();
        for study in library.store.studies()? {
            (study.name, study.changed, study.trials, study.pending, study.complete).hash(&mut hasher);
        }
        // What a number of JavaScript can hold.
        return Ok(Some((hasher.finish() >> 12) as i64));
    }
    let last = library.store.open_study(name).and_then(|study| study.last_event());
    match last {
        Ok(event) => Ok(Some(event)),
        Err(mcbo_store::StoreError::NoStudy { .. } | mcbo_store::StoreError::Deleted { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
