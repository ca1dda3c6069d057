//! The study behind a run: in memory, or kept in a store as it goes on.

use anyhow::{Context, Result};
use mcbo_core::{Given, Problem, Study, StudyError, slot_name};
use mcbo_store::{MemoryStudy, Options, Store, StoreError, StoredStudy};

use crate::failure::BadInput;

/// Runs without a name are studies of such a name.
const UNNAMED: &str = "run/";

/// Whether a study was made by a run without a name.
pub fn is_unnamed(study: &str) -> bool {
    study.starts_with(UNNAMED)
}

/// The name of a run without one: the same for the same command on the same problem in the same directory.
pub fn name_of(problem: &Problem, text: &str, command: &str, options: &Options) -> String {
    let directory = std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
    let options = format!("{options:?}");
    let hash = hash(&[text, command, &directory, &options]);
    let name: String = problem.name().chars().filter(|c| !c.is_control()).take(100).collect();
    format!("{UNNAMED}{}/{:08x}", if name.is_empty() { "problem" } else { &name }, hash >> 32)
}

/// The study of a run without a name: the latest of that name, or the next one.
///
/// # Errors
/// If the store cannot be read or written.
pub fn unnamed(
    store: &Store,
    name: &str,
    text: &str,
    options: &Options,
    fresh: bool,
) -> Result<StoredStudy, StoreError> {
    let numbered = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}#{number}") };
    let known: Vec<String> = store.studies()?.into_iter().map(|study| study.name).collect();
    let last = (1..).take_while(|&number| known.contains(&numbered(number))).count();
    let create = |number: usize| match store.create(&numbered(number), text, options) {
        // Another program was faster: it is the same run.
        Err(StoreError::StudyExists { name }) => store.open_study(&name),
        created => created,
    };
    match last {
        0 => create(1),
        _ if fresh => create(last + 1),
        _ => store.open_study(&numbered(last)),
    }
}

/// A lock on a study under a worker's name: two runs of one name would measure the same trials. The system lets it go when the program
/// ends, however it ends.
fn turn(stored: &StoredStudy, worker: &str) -> Result<std::fs::File> {
    let parts = [stored.address(), stored.name(), worker];
    let file = std::env::temp_dir().join(format!("mcbo-run-{:016x}.lock", hash(&parts)));
    let lock = std::fs::File::options().create(true).append(true).open(&file);
    let lock = lock.with_context(|| format!("cannot write {}", file.display()))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(std::fs::TryLockError::WouldBlock) => Err(BadInput::new(
            format!("another run works on study {:?} as {worker:?} already", stored.name()),
            "give each a name of its own to work together: --worker NAME",
        )
        .into()),
        // A place that cannot lock.
        Err(std::fs::TryLockError::Error(_)) => Ok(lock),
    }
}

/// FNV-1a, the same in every release of the compiler.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Where the study of a run is: both follow the same rules.
enum Place {
    /// Gone with the program.
    Memory(Box<MemoryStudy>),
    /// Kept.
    Store(Box<StoredStudy>),
}

/// The same call of either.
macro_rules! either {
    ($place:expr, $study:ident => $call:expr) => {
        match &mut $place {
            Place::Memory($study) => $call,
            Place::Store($study) => $call,
        }
    };
}

/// The study of a run.
pub struct RunStudy {
    place: Place,
    /// Whose trials the run works on.
    worker: String,
    /// The study as it was last seen.
    state: Study,
    /// Why its trials had failed when the run began.
    reasons: Vec<Option<String>>,
    /// Held as long as the run lives: nobody else runs the study under the same name here.
    _turn: Option<std::fs::File>,
}

impl RunStudy {
    /// A study without trials yet, which is gone with the program.
    pub fn in_memory(study: Study, worker: String) -> Self {
        let place = Place::Memory(Box::new(MemoryStudy::new(study.clone(), None)));
        Self { place, worker, state: study, reasons: Vec::new(), _turn: None }
    }

    /// A study that is kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn kept(mut stored: StoredStudy, worker: String) -> Result<Self> {
        let turn = turn(&stored, &worker)?;
        let state = stored.study()?;
        let reasons = stored.trials()?.into_iter().map(|trial| trial.record.reason).collect();
        Ok(Self { place: Place::Store(Box::new(stored)), worker, state, reasons, _turn: Some(turn) })
    }

    /// The name under which it is kept.
    pub fn name(&self) -> Option<&str> {
        match &self.place {
            Place::Memory(_) => None,
            Place::Store(stored) => Some(stored.name()),
        }
    }

    /// The study as it stands.
    pub fn study(&self) -> &Study {
        &self.state
    }

    fn look(&mut self) -> Result<()> {
        self.state = match &mut self.place {
            Place::Memory(memory) => memory.study().clone(),
            Place::Store(stored) => stored.study()?,
        };
        Ok(())
    }

    /// A trial that is under way and the run's own.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn pending(&mut self) -> Result<Option<usize>> {
        let under_way = match &mut self.place {
            Place::Memory(memory) => memory.under_way(),
            Place::Store(stored) => stored.under_way()?,
        };
        let own = |(_, worker): &&(usize, Option<String>)| worker.as_ref() == Some(&self.worker);
        Ok(under_way.iter().find(own).map(|(number, _)| *number))
    }

    /// The next trial, one that is under way or a new one, where this is known of the contexts.
    ///
    /// # Errors
    /// If no model can be fitted, or the store cannot be written.
    pub fn ask(&mut self, given: &Given) -> Result<usize> {
        let asked = either!(self.place, study => study.ask_given(&self.worker, 1, given))?;
        self.look()?;
        // One was asked for.
        Ok(asked.first().map_or(0, |trial| trial.trial.number))
    }

    /// Takes what a trial gave.
    ///
    /// # Errors
    /// Why it cannot be taken; the outer error if the store cannot be written.
    pub fn tell(&mut self, number: usize, values: Vec<Option<f64>>) -> Result<Result<(), StudyError>> {
        let problem = self.state.problem();
        let names = problem.nodes().iter().enumerate().flat_map(|(node, declared)| {
            (0..declared.dim).map(move |component| slot_name(problem, node, component))
        });
        let named: Vec<(String, f64)> =
            names.zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
        let named: Vec<(&str, Vec<f64>)> =
            named.iter().map(|(name, value)| (name.as_str(), vec![*value])).collect();
        let told = either!(self.place, study => study.tell(number, &named, Some(&self.worker)));
        self.look()?;
        match told {
            Ok(()) => Ok(Ok(())),
            Err(StoreError::Study(error)) => Ok(Err(error)),
            Err(error) => Err(error.into()),
        }
    }

    /// Why a trial failed, if it is kept.
    pub fn reason(&self, number: usize) -> Option<String> {
        self.reasons.get(number.checked_sub(1)?)?.clone()
    }

    /// Marks a trial as failed.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn fail(&mut self, number: usize, reason: &str) -> Result<()> {
        match either!(self.place, study => study.fail(number, reason)) {
            // Somebody else has told it meanwhile, which is better than nothing.
            Ok(()) | Err(StoreError::Study(StudyError::NotPending { .. })) => {}
            Err(error) => return Err(error.into()),
        }
        self.look()
    }
}
