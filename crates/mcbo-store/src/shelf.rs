//! Studies as wholes: copied, renamed, deleted. Each is one transaction.

use crate::database::{Transaction, Value};
use crate::digest::StudyLine;
use crate::schema;
use crate::store::{check_name, next_id};
use crate::study::StoredStudy;
use crate::{Store, StoreError};

impl Store {
    /// Makes a study that is the same as another one, with all that ever happened to it: from here on they go their own ways, and
    /// the copy proposes next, to the bit, what the original would. Trials under way are so in both.
    ///
    /// # Errors
    /// If there is no such study, or the new name is taken or unfit.
    pub fn copy(&self, name: &str, new: &str) -> Result<StoredStudy, StoreError> {
        check_name(new)?;
        let mut transaction = self.write_all()?;
        let Some(from) = locked(&mut transaction, name)? else {
            drop(transaction);
            return Err(self.no_study(name)?);
        };
        refuse_taken(&mut transaction, new)?;
        // When it was made is a part of what it is known by, so it is not that of the original.
        let (id, at) = (next_id(&mut transaction)?, (self.shared.clock)());
        let line = StudyLine { id, name: new.to_owned(), created: at, ..from.clone() };
        schema::write_line(&mut transaction, &line, true)?;
        transaction.execute(
            "INSERT INTO events (study, seq, at, kind, payload, digest) \
             SELECT CAST($1 AS BIGINT), seq, at, kind, payload, digest FROM events WHERE study = $2",
            &[Value::Int(id), Value::Int(from.id)],
        )?;
        // They belong to the log, which is the same.
        transaction.execute(
            "INSERT INTO snapshots (study, seq, part, kind, digest, content) \
             SELECT CAST($1 AS BIGINT), seq, part, kind, digest, content FROM snapshots WHERE study = $2",
            &[Value::Int(id), Value::Int(from.id)],
        )?;
        schema::write_roll(&mut transaction)?;
        transaction.commit()?;
        Ok(StoredStudy::new(self.shared.clone(), id, at, new))
    }

    /// Gives a study another name. Whoever works with it goes on working with it.
    ///
    /// # Errors
    /// If there is no such study, or the new name is taken or unfit.
    pub fn rename(&self, name: &str, new: &str) -> Result<(), StoreError> {
        check_name(new)?;
        let mut transaction = self.write_all()?;
        let Some(line) = locked(&mut transaction, name)? else {
            drop(transaction);
            return Err(self.no_study(name)?);
        };
        refuse_taken(&mut transaction, new)?;
        schema::write_line(&mut transaction, &StudyLine { name: new.to_owned(), ..line }, false)?;
        schema::write_roll(&mut transaction)?;
        transaction.commit()
    }

    /// Deletes a study with all that ever happened to it. Whoever works with it is told so at the next call.
    ///
    /// # Errors
    /// If there is no such study.
    pub fn delete(&self, name: &str) -> Result<(), StoreError> {
        let mut transaction = self.write_all()?;
        let Some(line) = locked(&mut transaction, name)? else {
            drop(transaction);
            return Err(self.no_study(name)?);
        };
        transaction.execute("DELETE FROM snapshots WHERE study = $1", &[Value::Int(line.id)])?;
        transaction.execute("DELETE FROM events WHERE study = $1", &[Value::Int(line.id)])?;
        transaction.execute("DELETE FROM studies WHERE id = $1", &[Value::Int(line.id)])?;
        schema::write_roll(&mut transaction)?;
        transaction.commit()
    }

    /// A transaction that may change the list of studies.
    pub(crate) fn write_all(&self) -> Result<Transaction<'_>, StoreError> {
        let database = &self.shared.database;
        let mut transaction = database.write()?;
        schema::lock_all(database, &mut transaction)?;
        Ok(transaction)
    }
}

/// The line of a study, to which nobody else writes until the transaction ends.
fn locked(transaction: &mut Transaction<'_>, name: &str) -> Result<Option<StudyLine>, StoreError> {
    match schema::lines(transaction)?.into_iter().find(|line| line.name == name) {
        Some(line) => schema::line(transaction, line.id, true),
        None => Ok(None),
    }
}

/// Refuses a name that a study has.
pub(crate) fn refuse_taken(transaction: &mut Transaction<'_>, name: &str) -> Result<(), StoreError> {
    match transaction.rows("SELECT id FROM studies WHERE name = $1", &[Value::Text(name)])?.is_empty() {
        true => Ok(()),
        false => Err(StoreError::StudyExists { name: name.to_owned() }),
    }
}
