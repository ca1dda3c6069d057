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

/// Whether nobody waits for a model any more; whoever asks from then on begins it anew.
fn given_up(slot: &Slot) -> bool {
    let mut running = lock(&slot.running);
    // Who waits has subscribed before looking whether it is running.
    let alone = slot.ready.receiver_count() == 0;
    *running = !alone;
    alone
}

/// Computes a model when it is its turn, as long as somebody waits for it: that is looked at before every part of it.
async fn fit(permits: Arc<Semaphore>, slot: Arc<Slot>, snapshot: Arc<Snapshot>) {
    use futures_util::future::{Either, select};
    use std::pin::pin;
    loop {
        let permit = match select(pin!(permits.clone().acquire_owned()), pin!(slot.ready.closed())).await {
            Either::Left((Ok(permit), _)) => permit,
            _ if given_up(&slot) => return,
            _ => continue,
        };
        let (work, snapshot) = (slot.clone(), snapshot.clone());
        let computed = blocking(move || {
            let _permit = permit;
            let alone = || work.ready.receiver_count() == 0;
            Ok(Modelled::of_unless(&snapshot.study, &work.given, &alone)?)
        })
        .await;
        let computed = match computed {
            Ok(Some(model)) => Ok(Arc::new(model)),
            Ok(None) if given_up(&slot) => return,
            Ok(None) => continue,
            Err(failure) => {
                // The next who asks tries again.
                *lock(&slot.running) = false;
                Err(failure)
            }
        };
        slot.ready.send_replace(Some(computed));
        return;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcbo_store::{Options, Row};

    use super::*;

    const PROBLEM: &str = "maximize = \"y\"\n[nodes.x]\nactions = [\"a\"]\n[nodes.y]\nparents = [\"x\"]\n[actions.a]\nrange = [0, 1]\n";

    /// Who asks for a model and goes away does not leave it computing to the end; who asks afterwards gets one.
    #[test]
    fn models_that_nobody_waits_for_are_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite://{}", folder.path().join("s.sqlite").display())).unwrap();
        let mut study = store.create("s", PROBLEM, &Options::default()).unwrap();
        let row = |k: u32| {
            let a = f64::from(k) / 9.0;
            let values = [("x", a.sin()), ("y", a * (1.0 - a))].map(|(name, v)| (name.to_owned(), vec![v]));
            Row { actions: [("a".to_owned(), a)].into(), values: values.into(), ..Row::default() }
        };
        study.add(&(0..10).map(row).collect::<Vec<_>>()).unwrap();
        let library = Arc::new(Library::new(store, "tests".into()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let given = |_: &Problem| Ok(Given::default());
            let waiting = tokio::spawn({
                let library = library.clone();
                async move { library.model("s", given).await.is_ok() }
            });
            let running = || {
                let open = lock(&library.shelf).get("s").cloned();
                open.is_some_and(|open| lock(&open.slots).iter().any(|slot| *lock(&slot.running)))
            };
            let until = async |wanted: bool| {
                for _ in 0..60_000 {
                    if running() == wanted {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                panic!("a minute is over");
            };
            until(true).await;
            waiting.abort();
            until(false).await;
            let open = lock(&library.shelf)["s"].clone();
            for slot in lock(&open.slots).iter() {
                assert!(!*lock(&slot.running) && slot.ready.borrow().is_none(), "computed for nobody");
            }
            assert_eq!(library.permits.available_permits(), AT_ONCE, "its place is free for others");
            let (_, model) = library.model("s", given).await.unwrap_or_else(|error| panic!("{error:?}"));
            assert!(model.certificate.gap().is_finite());
        });
    }
}
