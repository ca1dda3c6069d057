//! Studies as requests see them: read once per event, modelled once per event, changed one after the other.
//!
//! Calls of the store block, and models take their time: both run on threads of their own. No more models are computed at once
//! than there are permits; others wait for one, and go away when nobody waits for them any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use mcbo_core::{Given, Problem, Recommendation, Study, StudyError};
use mcbo_report::page::Modelled;
use mcbo_store::{Status, Store, StoreError, StoredStudy, StoredTrial};
use tokio::sync::{Semaphore, watch};

use crate::answer::Failure;

/// Computations at once. Each uses all cores by itself; the second keeps a short one from waiting for a long one.
const AT_ONCE: usize = 2;
/// Studies that are kept in memory.
const KEPT: usize = 32;
/// Models of a study that are kept, for different contexts.
const MODELS: usize = 6;

/// A study as it stood after an event. It does not change.
pub struct Snapshot {
    pub event: i64,
    pub status: Status,
    pub study: Study,
    pub trials: Vec<StoredTrial>,
    pub toml: String,
}

impl Snapshot {
    pub fn problem(&self) -> &Problem {
        self.study.problem()
    }
}

/// A model under way or ready.
struct Slot {
    event: i64,
    given: Given,
    ready: watch::Sender<Option<Result<Arc<Modelled>, Failure>>>,
    running: Mutex<bool>,
}

/// A study with what is known of it.
struct OpenStudy {
    reader: Mutex<(StoredStudy, Option<Arc<Snapshot>>)>,
    writer: Mutex<StoredStudy>,
    slots: Mutex<Vec<Arc<Slot>>>,
    /// The model of the last what-if with contexts: cloning one takes longer than asking it.
    what_if: Mutex<Option<(i64, Given, Arc<Recommendation>)>>,
}

/// All studies of a store.
pub struct Library {
    pub store: Store,
    author: String,
    shelf: Mutex<HashMap<String, Arc<OpenStudy>>>,
    permits: Arc<Semaphore>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what blocks on a thread where that does not matter.
pub async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(act).await.unwrap_or_else(|_| Err(broken()))
}

fn broken() -> Failure {
    Failure::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "something is broken in the program; nothing was stored; hint: try again, and report it if it stays",
    )
}

impl Library {
    pub fn new(store: Store, author: String) -> Self {
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        Self { store, author, shelf: Mutex::default(), permits }
    }

    /// The study of a name, which may be another one than it was.
    fn open(&self, name: &str) -> Result<Arc<OpenStudy>, Failure> {
        let found = match self.store.open_study(name) {
            Ok(found) => found,
            Err(error) => {
                lock(&self.shelf).remove(name);
                return Err(error.into());
            }
        };
        if let Some(open) = lock(&self.shelf).get(name).cloned()
            && lock(&open.writer).is_same(&found)
        {
            return Ok(open);
        }
        let open = Arc::new(OpenStudy {
            reader: Mutex::new((self.store.open_study(name)?, None)),
            writer: Mutex::new(found),
            slots: Mutex::default(),
            what_if: Mutex::default(),
        });
        let mut shelf = lock(&self.shelf);
        if shelf.len() >= KEPT {
            shelf.clear();
        }
        shelf.insert(name.to_owned(), open.clone());
        Ok(open)
    }

    /// The study as it stands. Blocks.
    pub fn snapshot(&self, name: &str) -> Result<Arc<Snapshot>, Failure> {
        self.opened(name).map(|(_, snapshot)| snapshot)
    }

    fn opened(&self, name: &str) -> Result<(Arc<OpenStudy>, Arc<Snapshot>), Failure> {
        let open = self.open(name)?;
        let mut reader = lock(&open.reader);
        let (study, kept) = &mut *reader;
        if let Some(snapshot) = kept
            && snapshot.event == study.last_event()?
        {
            let snapshot = snapshot.clone();
            drop(reader);
            return Ok((open, snapshot));
        }
        loop {
            let status = study.status()?;
            let event = study.known_event();
            let (state, trials, toml) = (study.study()?, study.trials()?, study.problem_toml()?);
            // Each of them sees what came in the meantime; all are to be of the same moment.
            if study.known_event() == event {
                let snapshot = Arc::new(Snapshot { event, status, study: state, trials, toml });
                *kept = Some(snapshot.clone());
                drop(reader);
                return Ok((open, snapshot));
            }
        }
    }

    /// Forgets a study that goes by another name, or none.
    pub fn forget(&self, name: &str) {
        lock(&self.shelf).remove(name);
    }

    /// Changes a study. Blocks; readers do not wait for it. `seen` is the last event that the author has seen, with the trials that
    /// must not have changed since.
    pub fn change<T>(
        &self,
        name: &str,
        worker: Option<&str>,
        seen: Option<(i64, &[usize])>,
        act: impl FnOnce(&mut StoredStudy, &str) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        let open = self.open(name)?;
        let worker = worker.unwrap_or(&self.author);
        let mut study = lock(&open.writer);
        study.sign(worker);
        if let Some((event, trials)) = seen {
            study.unless_changed(event, trials);
        }
        Ok(act(&mut study, worker)?)
    }

    /// Waits for its turn, then computes on a thread of its own. Whoever goes away while waiting has cost nothing.
    pub async fn compute<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| broken())?;
        blocking(move || {
            let _permit = permit;
            act()
        })
        .await
    }

    /// The study with its model where this is given: computed once for all who ask.
    pub async fn model(
        self: &Arc<Self>,
        name: &str,
        given: impl FnOnce(&Problem) -> Result<Given, Failure> + Send + 'static,
    ) -> Result<(Arc<Snapshot>, Arc<Modelled>), Failure> {
        let (library, name) = (self.clone(), name.to_owned());
        let (slot, snapshot) = blocking(move || {
            let (open, snapshot) = library.opened(&name)?;
            let given = given(snapshot.problem())?;
            if snapshot.study.data().is_empty() {
                return Err(StudyError::NoData.into());
            }
            Ok((open.slot(snapshot.event, given), snapshot))
        })
        .await?;
        let mut ready = slot.ready.subscribe();
        let first = !std::mem::replace(&mut *lock(&slot.running), true);
        if first {
            tokio::spawn(fit(self.permits.clone(), slot.clone(), snapshot.clone()));
        }
        let model = ready.wait_for(Option::is_some).await.map_err(|_| broken())?.clone();
        let model = model.unwrap_or_else(|| Err(broken()))?;
        Ok((snapshot, model))
    }

    /// The model behind a recommendation, of trials in which this is given. Blocks.
    pub fn where_given(
        &self,
        name: &str,
        snapshot: &Snapshot,
        model: &Modelled,
        given: &Given,
    ) -> Result<Arc<Recommendation>, Failure> {
        let open = self.open(name)?;
        let mut kept = lock(&open.what_if);
        if let Some((event, known, recommendation)) = &*kept
            && *event == snapshot.event
            && known == given
        {
            return Ok(recommendation.clone());
        }
        let mut recommendation = model.recommendation.clone();
        if recommendation.given != *given {
            recommendation.network.given(given);
            recommendation.given = given.clone();
            // What was expected of the recommended intervention was expected of another context.
            recommendation.predicted =
                recommendation.network.forecast(snapshot.problem(), &recommendation.intervention, 0);
        }
        let recommendation = Arc::new(recommendation);
        *kept = Some((snapshot.event, given.clone(), recommendation.clone()));
        Ok(recommendation)
    }
}

impl OpenStudy {
    /// The place of a model, which is made if there is none.
    fn slot(&self, event: i64, given: Given) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.iter().find(|slot| slot.event == event && slot.given == given) {
            return slot.clone();
        }
        // Models of a study that has gone on are of no use.
        slots.retain(|slot| slot.event == event);
        if slots.len() >= MODELS {
            slots.remove(0);
        }
        let slot =
            Arc::new(Slot { event, given, ready: watch::Sender::new(None), running: Mutex::new(false) });
        slots.push(slot.clone());
        slot
    }
}

/// Computes a model when it is its turn, unless nobody waits for it any more.
async fn fit(permits: Arc<Semaphore>, slot: Arc<Slot>, snapshot: Arc<Snapshot>) {
    use futures_util::future::{Either, select};
    use std::pin::pin;
    let permit = match select(pin!(permits.acquire_owned()), pin!(slot.ready.closed())).await {
        Either::Left((Ok(permit), _)) => permit,
        _ => {
            *lock(&slot.running) = false;
            return;
        }
    };
    let work = slot.clone();
    let computed = blocking(move || {
        let _permit = permit;
        Ok(Arc::new(Modelled::of(&snapshot.study, &work.given)?))
    })
    .await;
    if computed.is_err() {
        // The next who asks tries again.
        *lock(&slot.running) = false;
    }
    slot.ready.send_replace(Some(computed));
}
