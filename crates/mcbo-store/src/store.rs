//! The store: studies by name.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mcbo_core::{Problem, default_initial};

use crate::StoreError;
use crate::database::{Database, Transaction, Value};
use crate::digest::{self, StudyLine};
use crate::event::{Created, Event, FORMAT, program};
use crate::shelf::refuse_taken;
use crate::{schema, snapshot};
use mcbo_core::StrategyOptions;

use crate::strategies::{Library, Strategies};
use crate::study::StoredStudy;

/// What a new study is made with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Who proposes.
    pub strategy: StrategyOptions,
    /// The seed of all its random numbers.
    pub seed: u64,
    /// Trials of the initial design; the problem's default if `None`.
    pub initial: Option<usize>,
}

/// A line of the list of studies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The study's name.
    pub name: String,
    /// When it was made, in milliseconds since 1970 (UTC).
    pub created: i64,
    /// When anything happened to it last.
    pub changed: i64,
    /// Its trials, rows that were added among them.
    pub trials: usize,
    /// Those under way.
    pub pending: usize,
    /// Those with measurements.
    pub complete: usize,
    /// Those that could not be run.
    pub failed: usize,
}

/// What all studies of a store share.
pub(crate) struct Shared {
    pub database: Database,
    pub strategies: Arc<dyn Strategies>,
    pub clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// How many bytes of new events a snapshot is written after, at least.
    pub snapshots_after: usize,
}

/// Studies in a database. It can be used by several threads, and the database by several programs, at once.
///
/// All calls block. Inside an asynchronous runtime they belong in its blocking threads (`spawn_blocking` of tokio).
#[derive(Clone)]
pub struct Store {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("url", &self.shared.database.address.shown).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store at `sqlite:///path`, `sqlite://relative/path` or `postgresql://user@host/database`, with the
    /// strategies of [`Library`]. An SQLite file is made if there is none, unless the address ends in `?mode=ro`.
    ///
    /// # Errors
    /// If the address is not understood, the database cannot be reached, or it is not of this program or of a newer one.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        Self::opened(Database::open(url, true)?)
    }

    /// The same, but none is made: what is not there, or has nothing in it, is refused.
    ///
    /// # Errors
    /// As [`Self::open`], and [`StoreError::NoStore`] and [`StoreError::Empty`].
    pub fn open_existing(url: &str) -> Result<Self, StoreError> {
        Self::opened(Database::open(url, false)?)
    }

    fn opened(database: Database) -> Result<Self, StoreError> {
        let (strategies, clock) = (Arc::new(Library), Arc::new(now));
        Ok(Self {
            shared: Arc::new(Shared { database, strategies, clock, snapshots_after: snapshot::AFTER }),
        })
    }

    /// The same store with other strategies. To be called before studies are opened.
    ///
    /// # Panics
    /// If the store is shared already.
    pub fn with_strategies(mut self, strategies: impl Strategies + 'static) -> Self {
        self.own().strategies = Arc::new(strategies);
        self
    }

    /// The same store with another clock, in milliseconds since 1970 (UTC). To be called before studies are opened.
    ///
    /// # Panics
    /// If the store is shared already.
    pub fn with_clock(mut self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.own().clock = Arc::new(clock);
        self
    }

    /// The same store where a study is kept as it stands, beside its log, whenever at least so many bytes of events have come, and
    /// half as many as that takes: a megabyte unless said otherwise. What is read is the same. To be called before studies are opened.
    ///
    /// # Panics
    /// If the store is shared already.
    pub fn with_snapshots_after(mut self, bytes: usize) -> Self {
        self.own().snapshots_after = bytes;
        self
    }

    fn own(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.shared).expect("a store is set up before it is shared")
    }

    /// The address, without its password.
    pub fn address(&self) -> &str {
        &self.shared.database.address.shown
    }

    /// Writes something and takes it back, to see whether that is possible.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        self.shared.database.check_room()?;
        let mut transaction = self.shared.database.write()?;
        transaction.execute("UPDATE meta SET schema_version = schema_version", &[])?;
        // Dropped without a commit: nothing has happened.
        Ok(())
    }

    /// Compares all that is there with its checksums, and looks at every page of a file.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], with the first thing that is not as it was written.
    pub fn check(&self) -> Result<(), StoreError> {
        self.shared.database.check()?;
        for line in schema::lines(&mut self.shared.database.read()?)? {
            let study = StoredStudy::new(self.shared.clone(), line.id, line.created, &line.name);
            study.each_event(|_| Ok(()))?;
            study.check_snapshot()?;
        }
        Ok(())
    }

    /// Makes a study from the text of a problem file.
    ///
    /// # Errors
    /// If the name is taken or unfit, the problem has mistakes, or the strategy is unknown.
    pub fn create(
        &self,
        name: &str,
        problem_toml: &str,
        options: &Options,
    ) -> Result<StoredStudy, StoreError> {
        check_name(name)?;
        let event = first_event(problem_toml, options, &*self.shared.strategies)?;
        let refused = |reason| StoreError::Strategy { name: options.strategy.strategy.clone(), reason };
        let payload = event.payload().map_err(|error| refused(error.to_string()))?;

        let mut transaction = self.write_all()?;
        refuse_taken(&mut transaction, name)?;
        let id = next_id(&mut transaction)?;
        let at = (self.shared.clock)();
        let tip = digest::link("", 1, at, event.kind(), &digest::content(&payload));
        let line = StudyLine {
            id,
            name: name.to_owned(),
            created: at,
            changed: at,
            counts: [0; 4],
            head: 1,
            tip: tip.clone(),
        };
        schema::write_line(&mut transaction, &line, true)?;
        transaction.execute(
            "INSERT INTO events (study, seq, at, kind, payload, digest) VALUES ($1, 1, $2, $3, $4, $5)",
            &[
                Value::Int(id),
                Value::Int(at),
                Value::Text(event.kind()),
                Value::Text(&payload),
                Value::Text(&tip),
            ],
        )?;
        schema::write_roll(&mut transaction)?;
        transaction.commit()?;
        Ok(StoredStudy::new(self.shared.clone(), id, at, name))
    }

    /// A study by its name.
    ///
    /// # Errors
    /// If there is none.
    pub fn open_study(&self, name: &str) -> Result<StoredStudy, StoreError> {
        // By the whole list: it is short, and an index that is broken would hide one.
        let lines = schema::lines(&mut self.shared.database.read()?)?;
        match lines.into_iter().find(|line| line.name == name) {
            Some(line) => Ok(StoredStudy::new(self.shared.clone(), line.id, line.created, name)),
            None => Err(self.no_study(name)?),
        }
    }

    /// That no study has this name, and which do.
    pub(crate) fn no_study(&self, name: &str) -> Result<StoreError, StoreError> {
        let mut known: Vec<String> = self.studies()?.into_iter().map(|study| study.name).collect();
        // The nearest first, and not more than one can read.
        known.sort_by_key(|other| (!other.eq_ignore_ascii_case(name), other.len().abs_diff(name.len())));
        known.truncate(12);
        Ok(StoreError::NoStudy { name: name.to_owned(), known })
    }

    /// All studies, by name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn studies(&self) -> Result<Vec<Summary>, StoreError> {
        let mut lines = schema::lines(&mut self.shared.database.read()?)?;
        lines.sort_by(|a, b| a.name.cmp(&b.name));
        let number = |value| usize::try_from(value).unwrap_or(0);
        let summary = |line: StudyLine| Summary {
            name: line.name,
            created: line.created,
            changed: line.changed,
            trials: number(line.counts[0]),
            pending: number(line.counts[1]),
            complete: number(line.counts[2]),
            failed: number(line.counts[3]),
        };
        Ok(lines.into_iter().map(summary).collect())
    }
}

/// What begins a study, after a look at its problem and its strategy.
pub(crate) fn first_event(
    problem_toml: &str,
    options: &Options,
    strategies: &dyn Strategies,
) -> Result<Event, StoreError> {
    let problem = Problem::from_toml(problem_toml)?;
    let refused = |reason| StoreError::Strategy { name: options.strategy.strategy.clone(), reason };
    let strategy = strategies.strategy(&options.strategy).map_err(refused)?;
    strategy.check(&problem).map_err(|error| refused(error.reason()))?;
    strategies.advisor(&options.strategy).map_err(refused)?;
    Ok(Event::Created(Created {
        format: FORMAT,
        program: program(),
        problem: problem_toml.to_owned(),
        strategy: options.strategy.clone(),
        seed: options.seed,
        initial: options.initial.unwrap_or_else(|| default_initial(&problem)),
    }))
}

/// Refuses a name that is not fit for a study.
pub(crate) fn check_name(name: &str) -> Result<(), StoreError> {
    if name.is_empty()
        || name.starts_with('-')
        || name.trim() != name
        || name.len() > 200
        || name.chars().any(char::is_control)
    {
        return Err(StoreError::BadName { name: name.to_owned() });
    }
    Ok(())
}

/// The number of the next study.
pub(crate) fn next_id(transaction: &mut Transaction<'_>) -> Result<i64, StoreError> {
    let rows = transaction.rows("SELECT COALESCE(MAX(id), 0) + 1 FROM studies", &[])?;
    rows.first().map_or(Ok(1), |row| transaction.get::<i64>(row, 0))
}

/// The system's clock.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
