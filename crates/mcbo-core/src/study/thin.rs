//! A share of a long study that a model is fitted to at once.

use super::{Study, TrialState};

impl Study {
    /// The same study with all but `most` of its measured trials taken out, as [`Self::void`] takes them out; none where there are
    /// not more. Half of those that stay are the newest, the others lie evenly among those before.
    ///
    /// What was measured does not decide which trials stay, so that a model of them is less sure than one of all but not wrong for it.
    ///
    /// ```
    /// # use mcbo_core::{Intervention, Observation, Problem, Study};
    /// # let problem = Problem::builder("p").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y").build()?;
    /// let mut study = Study::new(problem, 1);
    /// for k in 0..1000 {
    ///     let a = f64::from(k) / 1000.0;
    ///     study.add(Observation { intervention: Intervention { targets: vec![], actions: vec![a] }, values: vec![Some(a)] })?;
    /// }
    /// let share = study.thinned(100).expect("there are more");
    /// assert_eq!((share.data().len(), share.data().number(0), share.data().number(99)), (100, 1, 1000));
    /// assert!(share.thinned(100).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thinned(&self, most: usize) -> Option<Self> {
        (self.data.len() > most).then(|| self.clone().into_thinned(most))
    }

    /// The same without a copy; one that has not more stays as it is.
    pub fn into_thinned(mut self, most: usize) -> Self {
        let counted = self.places.clone();
        self.forget(most);
        let forgotten = |(before, now): (&Option<usize>, &Option<usize>)| before.is_some() && now.is_none();
        for (trial, places) in self.trials.iter_mut().zip(counted.iter().zip(self.places.iter())) {
            if forgotten(places) {
                self.voided.insert(trial.number, trial.state);
                trial.state = TrialState::Voided;
            }
        }
        self
    }

    /// The same study for a model of those trials: it has the others too, as they are, but does not learn from them. A copy of a long
    /// study costs little so.
    pub fn knowing(&self, most: usize) -> Self {
        let mut study = self.clone();
        study.forget(most);
        study
    }

    /// Learns no more from measured trials than so many.
    fn forget(&mut self, most: usize) {
        let rows = self.data.len();
        if rows <= most {
            return;
        }
        let newest = most / 2;
        let (before, evenly) = (rows - newest, most - newest);
        let kept: Vec<usize> = (0..evenly).map(|k| k * before / evenly).chain(before..rows).collect();
        self.data = self.data.select(&kept).into();
        for place in self.places.iter_mut() {
            *place = place.and_then(|row| kept.binary_search(&row).ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Intervention, Observation, Problem, Study, TrialState};

    /// A thinned study is one whose other trials were taken out by hand.
    #[test]
    fn a_thinned_study_is_one_with_trials_taken_out() {
        let problem =
            Problem::builder("p").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y");
        let mut study = Study::new(problem.build().expect("a problem"), 1);
        for k in 0..30 {
            let a = f64::from(k) / 30.0;
            let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
            study.add(Observation { intervention, values: vec![Some(a * a)] }).expect("it fits");
        }
        study.void(3).expect("it is there");
        let (thin, study_of_thirty) = (study.thinned(10).expect("there are more"), study.clone());
        let numbers: Vec<usize> = (0..thin.data().len()).map(|place| thin.data().number(place)).collect();
        assert_eq!(numbers, [1, 6, 11, 16, 21, 26, 27, 28, 29, 30]);
        for number in (1..=30).filter(|number| !numbers.contains(number)) {
            study.void(number).expect("it is there");
        }
        assert_eq!(thin.data(), study.data());
        let state =
            |study: &Study| study.trials().iter().map(|trial| trial.state).collect::<Vec<TrialState>>();
        assert_eq!(state(&thin), state(&study));
        let [ours, theirs] = [&thin, &study].map(|study| study.recommend().expect("a model").intervention);
        assert_eq!(ours, theirs);
        let known = study_of_thirty.knowing(10);
        assert_eq!((known.data(), known.trials()), (thin.data(), study_of_thirty.trials()));
        // Each can be put back.
        let mut back = thin;
        assert_eq!(back.restore(2), Ok(true));
        assert_eq!(back.data().number(1), 2);
    }
}
