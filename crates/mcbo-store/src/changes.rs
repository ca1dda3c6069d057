//! The calls that change a study, one text for studies in memory and in a store: both have `change`, `ask_fixing` and
//! `add_table`.

/// Writes them for a type. What a database adds to their errors is said once: it may not be readable or writable.
macro_rules! changes {
    ($study:ident) => {
        impl $study {
            /// Trials for a worker, `count` in all: first those it has already, then those whose lease is over, then new ones.
            ///
            /// So asking again, after a crash for example, gives the same trials and not others.
            ///
            /// # Errors
            /// If no model can be fitted.
            pub fn ask(
                &mut self,
                worker: &str,
                count: usize,
            ) -> Result<Vec<crate::StoredTrial>, crate::StoreError> {
                self.ask_given(worker, count, mcbo_core::Given::NONE)
            }

            /// The same where this is known of the contexts: of the trials that are there already those count that were asked for with just
            /// that, and those that were enqueued.
            ///
            /// # Errors
            /// As [`Self::ask`], and if the strategy cannot use what is known.
            pub fn ask_given(
                &mut self,
                worker: &str,
                count: usize,
                given: &mcbo_core::Given,
            ) -> Result<Vec<crate::StoredTrial>, crate::StoreError> {
                self.ask_fixing(worker, count, given, mcbo_core::Fixed::NONE)
            }

            /// Puts a trial of the caller's own choice under way. Without a worker nobody has it, and the next who asks gets it.
            ///
            /// # Errors
            /// If the intervention does not fit the problem.
            pub fn enqueue(
                &mut self,
                worker: Option<&str>,
                intervention: mcbo_core::Intervention,
            ) -> Result<crate::StoredTrial, crate::StoreError> {
                self.change(|change| change.enqueue(worker, intervention))
            }

            /// Takes what a trial gave, by the names of the nodes, all or some of them, and the values that actions and set nodes
            /// really had, where those differ from the suggestion: see [`mcbo_core::Study::take_named`].
            ///
            /// The first values make the trial complete: from then on the model learns from it, where a node counts for which it
            /// and its parents have values. The others can be told later, until none is missing. Values that are told again are
            /// taken silently if they are the same.
            ///
            /// # Errors
            /// If there is no such trial, a name is unknown or given twice, a value is not finite, of the wrong length, or contradicts what was
            /// set, given or told before.
            pub fn tell(
                &mut self,
                trial: usize,
                values: &[(&str, Vec<f64>)],
                worker: Option<&str>,
            ) -> Result<(), crate::StoreError> {
                self.change(|change| change.tell(trial, values, worker))
            }

            /// Puts values of a trial right that were told wrong, by the names of nodes and actions. The log keeps both; values that are right already
            /// change nothing.
            ///
            /// # Errors
            /// If there is no such trial, it was not told, a value was never told, or a value does not fit the problem.
            pub fn correct(
                &mut self,
                trial: usize,
                values: &[(&str, Vec<f64>)],
                reason: &str,
            ) -> Result<(), crate::StoreError> {
                self.change(|change| change.correct(trial, values, reason))
            }

            /// Takes trials out of the study, all of them or none, and says which of them were in: the model does not learn from them any more,
            /// and they are neither waited for nor avoided. What was told of them stays on record; [`Self::restore`] puts them back.
            ///
            /// # Errors
            /// If there is no such trial.
            pub fn void(&mut self, trials: &[usize], reason: &str) -> Result<Vec<usize>, crate::StoreError> {
                self.change(|change| change.void(trials, reason))
            }

            /// Puts trials back that were taken out, all of them or none, and says which of them were out.
            ///
            /// # Errors
            /// If there is no such trial, or one does not fit the problem any more.
            pub fn restore(
                &mut self,
                trials: &[usize],
                reason: &str,
            ) -> Result<Vec<usize>, crate::StoreError> {
                self.change(|change| change.restore(trials, reason))
            }

            /// Marks a pending trial as one that could not be run. It is not proposed again. Saying so twice is no mistake.
            ///
            /// # Errors
            /// If there is no such trial, or it has values.
            pub fn fail(&mut self, trial: usize, reason: &str) -> Result<(), crate::StoreError> {
                self.change(|change| change.fail(trial, reason))
            }

            /// Leaves trials under way to the worker that has them, from now on for another lease, and says which of them it still has: a sign
            /// of life while an experiment takes its time.
            ///
            /// # Errors
            /// Those of the database alone.
            pub fn keep(&mut self, worker: &str, trials: &[usize]) -> Result<Vec<usize>, crate::StoreError> {
                self.change(|change| change.keep(worker, trials))
            }

            /// Lets trials under way wait for the next who asks, those that a worker still has if one is named, and says which of them that is
            /// new of. `lost` says that they were begun and something failed that is not the experiment: it is counted
            /// ([`Record::lost`](crate::Record)).
            ///
            /// # Errors
            /// If there is no such trial, or it is not under way.
            pub fn release(
                &mut self,
                trials: &[usize],
                worker: Option<&str>,
                reason: &str,
                lost: bool,
            ) -> Result<Vec<usize>, crate::StoreError> {
                self.change(|change| change.release(trials, worker, reason, lost))
            }

            /// Writes something beside a trial, or beside the study, by name: any JSON. What has that name already gives way.
            ///
            /// # Errors
            /// If there is no such trial.
            pub fn write_beside(
                &mut self,
                trial: Option<usize>,
                attributes: &std::collections::BTreeMap<String, serde_json::Value>,
            ) -> Result<(), crate::StoreError> {
                self.change(|change| change.write_beside(trial, attributes))
            }

            /// Adds rows that were measured outside the study: all of them, or none; a store takes many in pieces, as
            /// [`StoredStudy::add_table`](crate::StoredStudy::add_table) says.
            ///
            /// # Errors
            /// Every row that does not fit, with its place.
            pub fn add(&mut self, rows: &[crate::Row]) -> Result<(), crate::StoreError> {
                self.add_with(rows, crate::Duplicates::Take).map(|_| ())
            }

            /// The same, with a word on rows that the study has already: a trial in which the same was done and the same was
            /// measured. Says how many rows were added.
            ///
            /// # Errors
            /// As [`Self::add`], and [`StoreError::KnownRows`](crate::StoreError::KnownRows).
            pub fn add_with(
                &mut self,
                rows: &[crate::Row],
                duplicates: crate::Duplicates,
            ) -> Result<usize, crate::StoreError> {
                self.add_table(&rows.iter().collect(), duplicates)
            }

            /// Goes on with another problem: see [`mcbo_core::Study::change_problem`] for what may change. The same text again is no change.
            ///
            /// # Errors
            /// If the problem has mistakes or does not fit the trials.
            pub fn change_problem(&mut self, problem_toml: &str) -> Result<(), crate::StoreError> {
                self.change(|change| change.change_problem(problem_toml))
            }
        }
    };
}

pub(crate) use changes;
