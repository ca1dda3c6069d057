//! What can go wrong with a store.

use mcbo_core::{ChangeError, DataError, ProblemErrors, StudyError};

/// Why a store refuses or fails. The study is as it was then, but for [`Self::PartlyAdded`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An address that is not understood.
    #[error(
        "{url:?} is no address of a store: {reason}; hint: sqlite:///folder/studies.sqlite or postgresql://user@host/database"
    )]
    BadUrl {
        /// The address, without its password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server or the file cannot be reached.
    #[error("{url} cannot be opened: {reason}; hint: {hint}")]
    Unreachable {
        /// The address, without its password.
        url: String,
        /// What the system says.
        reason: String,
        /// What to look at.
        hint: &'static str,
    },
    /// The file is something else.
    #[error("{url} is not an SQLite database; hint: name another file, or move this one away")]
    NotADatabase {
        /// The address.
        url: String,
    },
    /// What is there is not what was written.
    #[error(
        "{url} is damaged: {reason}; hint: `mcbo doctor --repair NEW.sqlite` saves what can be read to a new file; or go back to a copy"
    )]
    Damaged {
        /// The address, without its password.
        url: String,
        /// What is not as it was.
        reason: String,
    },
    /// There is no store at an address where one is expected.
    #[error("there are no studies at {url}; hint: check the address; a store is made with its first study")]
    NoStore {
        /// The address, without its password.
        url: String,
    },
    /// There is a file, or a database, with nothing in it.
    #[error(
        "{url} has nothing in it, not even an empty list of studies; hint: if there were studies, go back to a copy; if not, it is made with the first study"
    )]
    Empty {
        /// The address, without its password.
        url: String,
    },
    /// The database has a table of the same name that means something else.
    #[error(
        "{url} has a table `meta` that is not ours; hint: use a database, or for PostgreSQL a schema, of its own"
    )]
    NotOurs {
        /// The address, without its password.
        url: String,
    },
    /// The database was written by a newer program.
    #[error("{url} has schema {found}, this program knows {known}; hint: use a newer mcbo")]
    NewerSchema {
        /// The address, without its password.
        url: String,
        /// The schema of the database.
        found: i64,
        /// The newest schema this program knows.
        known: i64,
    },
    /// The database cannot be written.
    #[error(
        "{url} is read-only; hint: check the rights on the file and its folder, or the role on the server"
    )]
    ReadOnly {
        /// The address, without its password.
        url: String,
    },
    /// There is no room for what should be written.
    #[error("{url}: no space left; nothing was stored; hint: make room and repeat the command")]
    Full {
        /// The address, without its password.
        url: String,
    },
    /// Others hold the database for too long.
    #[error("{url} is in use by another program; nothing was stored; hint: repeat the command")]
    Busy {
        /// The address, without its password.
        url: String,
    },
    /// Anything else the database says.
    #[error("{url}: {reason}")]
    Database {
        /// The address, without its password.
        url: String,
        /// What the database says.
        reason: String,
    },
    /// No study has that name.
    #[error("there is no study {name:?}; hint: {}", known_studies(.known))]
    NoStudy {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The name is taken.
    #[error("there is a study {name:?} already; hint: choose another name, or go on with that one")]
    StudyExists {
        /// The name.
        name: String,
    },
    /// The study was deleted by somebody else.
    #[error("study {name:?} was deleted meanwhile; hint: see which studies there are")]
    Deleted {
        /// The name it had.
        name: String,
    },
    /// Somebody else changed meanwhile what the change is about.
    #[error("{} was changed meanwhile, by event {seq} of the log; nothing was stored; hint: look at it as it is now, and repeat the change if it is still wanted", changed(.study, *.trial))]
    Overtaken {
        /// The study.
        study: String,
        /// The trial, if it is about one.
        trial: Option<usize>,
        /// The event that changed it.
        seq: i64,
    },
    /// A name that is not fit for a study.
    #[error(
        "{name:?} cannot be the name of a study; hint: 1 to 200 characters, no control characters, no blank at either end, no dash at the beginning"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The problem file has mistakes.
    #[error(transparent)]
    Problem(#[from] ProblemErrors),
    /// The strategy cannot be made.
    #[error("strategy {name:?}: {reason}")]
    Strategy {
        /// The strategy's name.
        name: String,
        /// What is wrong with it or its settings.
        reason: String,
    },
    /// The study refuses what it is told or asked.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A node is named twice in one observation.
    #[error("{name:?} is given twice; hint: give every node once")]
    Twice {
        /// The node.
        name: String,
    },
    /// Rows that cannot be added. None was.
    #[error("{}", row_faults(.0))]
    Rows(Vec<RowError>),
    /// Rows that the study has already, by their places from 0. None was added.
    #[error("{} of the rows are there already, so none was added; hint: add them once more on purpose, or only the new ones", .0.len())]
    KnownRows(Vec<usize>),
    /// Many rows are added in pieces, and one could not be written.
    #[error(
        "{added} rows were added and stay, those after them were not: {cause}; then add the same once more, only the new ones"
    )]
    PartlyAdded {
        /// How many rows were added.
        added: usize,
        /// Why no more.
        cause: Box<StoreError>,
    },
    /// The new problem does not fit the study.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The trial was not proposed by the study, so its suggestion cannot be computed again.
    #[error("trial {number} was added from outside: there is no suggestion to compute again")]
    NotProposed {
        /// The trial.
        number: usize,
    },
    /// A suggestion has numbers that cannot be written down.
    #[error("the suggestion for trial {number} cannot be stored: {reason}")]
    Unstorable {
        /// The trial.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The log of a study has an event that makes no sense.
    #[error(
        "event {seq} of study {study:?} cannot be read: {reason}; hint: it may be from a newer mcbo, or the database was changed by hand"
    )]
    BadEvent {
        /// The study.
        study: String,
        /// The event's place in the log, from 1.
        seq: i64,
        /// What is wrong with it.
        reason: String,
    },
}

/// A row that cannot be added.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("row {index}: {fault}")]
#[non_exhaustive]
pub struct RowError {
    /// Its place among the rows, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub fault: RowFault,
}

impl StoreError {
    /// Whether it is for the user to mend, rather than something that went wrong.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Study(error) => error.is_refusal(),
            Self::BadUrl { .. }
            | Self::NotADatabase { .. }
            | Self::NotOurs { .. }
            | Self::NoStore { .. }
            | Self::NoStudy { .. }
            | Self::StudyExists { .. }
            | Self::BadName { .. }
            | Self::Deleted { .. }
            | Self::Problem(_)
            | Self::Strategy { .. }
            | Self::Twice { .. }
            | Self::Rows(_)
            | Self::KnownRows(_)
            | Self::Change(_)
            | Self::NotProposed { .. } => true,
            _ => false,
        }
    }
}

/// What can be wrong with a row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// An action that does not exist.
    #[error("there is no action {name:?}; hint: the actions are {known}")]
    UnknownAction {
        /// The name found.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The observation does not fit the problem.
    #[error(transparent)]
    Data(#[from] DataError),
}

fn changed(study: &str, trial: Option<usize>) -> String {
    trial.map_or_else(|| format!("study {study:?}"), |trial| format!("trial {trial} of study {study:?}"))
}

fn known_studies(known: &[String]) -> String {
    match known {
        [] => "the store is empty".to_owned(),
        names => format!("the studies are {}", names.join(", ")),
    }
}

fn row_faults(faults: &[RowError]) -> String {
    let lines: Vec<String> = faults.iter().map(RowError::to_string).collect();
    format!("no row was added, {} cannot be taken:\n{}", faults.len(), lines.join("\n"))
}
