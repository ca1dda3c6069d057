//! What a study that outlives its program needs: trials as they were proposed, measurements that come in pieces, and a
//! problem that is mended on the way.

use std::sync::Arc;

use super::{Study, StudyError, Trial, TrialState};
use crate::data::{Data, DataError, Observation, check_done};
use crate::given::is_rounded;
use crate::strategy::{Memory, Proposal};
use crate::{Intervention, Problem};

/// Why a study cannot go on with another problem. The study is as it was then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// A node or an action is gone.
    #[error(
        "{what} {name:?} is gone, but the trials of the study have it; hint: keep it, or start another study and add the rows"
    )]
    Gone {
        /// A node or an action.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A node has another number of components.
    #[error("node {node:?} had {before} components and has {after} now; hint: give the new one another name")]
    OtherDim {
        /// The node.
        node: String,
        /// Its components so far.
        before: usize,
        /// Its components in the new problem.
        after: usize,
    },
    /// An action or a node that has no names any more, or other names in the places of those that trials have.
    #[error(
        "{action:?} had {before} and has {after} now, but the trials of the study have its values; hint: keep what there is in its order and name new choices behind it"
    )]
    OtherChoices {
        /// The action.
        action: String,
        /// What it was.
        before: String,
        /// What it is in the new problem.
        after: String,
    },
    /// A trial that was made does not fit the new problem.
    #[error("trial {number} does not fit the new problem: {error}")]
    Trial {
        /// The trial.
        number: usize,
        /// What does not fit.
        error: DataError,
    },
}

impl Study {
    /// Puts a trial under way as it was proposed before, with what the strategy remembered: the way to restore a study
    /// without computing its suggestions again. A study restored by the calls that made it goes on as that one, to the bit.
    ///
    /// ```
    /// # use mcbo_core::{Problem, Proposal, Study};
    /// # let problem = std::sync::Arc::new(
    /// #     Problem::builder("p").action("a", [0.0, 1.0]).node("y", |n| n.actions(["a"])).maximize("y").build()?);
    /// let mut study = Study::new(problem.clone(), 1);
    /// let suggestion = study.ask()?.suggestion.clone();
    /// let proposal = Proposal { suggestion, memory: study.memory().clone() };
    /// let mut restored = Study::new(problem, 1);
    /// restored.resume(proposal)?;
    /// assert_eq!(restored.trials(), study.trials());
    /// assert_eq!(restored.ask()?, study.ask()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the intervention does not fit the problem.
    pub fn resume(&mut self, proposal: Proposal) -> Result<&Trial, StudyError> {
        check_done(&self.problem, &proposal.suggestion.intervention)?;
        proposal.suggestion.given.check(&self.problem)?;
        Ok(self.put_under_way(proposal))
    }

    /// Takes further measurements of a trial that was told already; whether there was anything new in them.
    ///
    /// The trial keeps its place among the data. Values that were told before may be told again if they are the same.
    ///
    /// # Errors
    /// If the trial has not been told, a value differs from the one told before, or the values do not fit the problem.
    pub fn amend(&mut self, number: usize, values: &[Option<f64>]) -> Result<bool, StudyError> {
        let (trial, stored) = self.told(number, values.len())?;
        let mut merged = stored.to_vec();
        for (index, node) in self.problem.nodes().iter().enumerate() {
            let target = trial.intervention().target(index).is_some();
            let given = trial.suggestion.given.of(index).is_some();
            for slot in self.problem.slot(index) {
                match (stored[slot], values[slot]) {
                    // What was known beforehand may come back with fewer digits.
                    (Some(stored), Some(told)) if given && is_rounded(stored, told) => {}
                    // What was set is compared with some slack where observations are checked.
                    (Some(stored), Some(told)) if !target && stored != told => {
                        let node = node.name.clone();
                        let (stored, told) =
                            (self.problem.said(&node, stored), self.problem.said(&node, told));
                        return Err(StudyError::Conflict { number, node, stored, told });
                    }
                    (_, Some(told)) => merged[slot] = Some(told),
                    (_, None) => {}
                }
            }
        }
        let new = self.put(number, merged)?;
        if let Some(state) = self.voided.get_mut(&number) {
            *state = TrialState::Complete;
        }
        Ok(new)
    }

    /// Goes on with another problem: ranges, noise, arrows, formulas, constraints and the reward may change, nodes and
    /// actions may be added. In the trials so far new nodes were not measured and new actions were neutral. The strategy
    /// forgets what it remembered.
    ///
    /// # Errors
    /// If a node or an action is gone, or a trial does not fit the new problem.
    pub fn change_problem(&mut self, problem: impl Into<Arc<Problem>>) -> Result<(), ChangeError> {
        let problem = problem.into();
        if self.trials.is_empty() {
            // Nothing was done yet that could not be done any more.
            (self.problem, self.data, self.memory) = (problem, Data::new().into(), Memory::default());
            return Ok(());
        }
        let changed = Changed::new(&self.problem, &problem)?;
        let mut trials = self.trials.clone();
        for trial in trials.iter_mut() {
            let suggestion = &mut trial.suggestion;
            suggestion.intervention = changed.intervention(&suggestion.intervention);
            suggestion.given = suggestion.given.renumbered(&changed.nodes);
            for forecast in &mut suggestion.predicted {
                forecast.node = changed.nodes[forecast.node];
            }
            trial.done = trial.done.as_ref().map(|done| changed.intervention(done));
            // What could not be done, and what was taken out, says nothing against ranges that leave it out.
            if !matches!(trial.state, TrialState::Failed | TrialState::Voided) {
                check_done(&problem, trial.intervention())
                    .map_err(|error| ChangeError::Trial { number: trial.number, error })?;
            }
        }
        let mut data = Data::new();
        for trial in trials.iter_mut() {
            let Some(values) = &trial.values else { continue };
            let values = changed.values(values);
            if trial.state == TrialState::Voided {
                trial.values = Some(values);
                continue;
            }
            let observation = Observation { intervention: trial.intervention().clone(), values };
            data.insert(&problem, data.len(), trial.number, observation)
                .map_err(|error| ChangeError::Trial { number: trial.number, error })?;
            trial.values = data.observations().last().map(|observation| observation.values.clone());
        }
        (self.problem, self.trials, self.data, self.memory) =
            (problem, trials, data.into(), Memory::default());
        Ok(())
    }
}

/// Where the nodes, components and actions of one problem are in another.
struct Changed<'a> {
    new: &'a Problem,
    nodes: Vec<usize>,
    actions: Vec<usize>,
    slots: Vec<usize>,
}

impl<'a> Changed<'a> {
    fn new(old: &Problem, new: &'a Problem) -> Result<Self, ChangeError> {
        let (mut nodes, mut actions, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for node in old.nodes() {
            let gone = || ChangeError::Gone { what: "node", name: node.name.clone() };
            let index = new.node_index(&node.name).ok_or_else(gone)?;
            let (before, after) = (node.dim, new.nodes()[index].dim);
            if before != after {
                return Err(ChangeError::OtherDim { node: node.name.clone(), before, after });
            }
            same_choices(&node.name, &node.choices, &new.nodes()[index].choices)?;
            nodes.push(index);
            slots.extend(new.slot(index));
        }
        for action in old.actions() {
            let gone = || ChangeError::Gone { what: "action", name: action.name.clone() };
            let index = new.action_index(&action.name).ok_or_else(gone)?;
            same_choices(&action.name, &action.choices, &new.actions()[index].choices)?;
            actions.push(index);
        }
        Ok(Self { new, nodes, actions, slots })
    }

    fn intervention(&self, old: &Intervention) -> Intervention {
        let mut new = self.new.neutral_intervention();
        for (&action, &value) in self.actions.iter().zip(&old.actions) {
            new.actions[action] = value;
        }
        new.targets = old.targets.iter().map(|(node, values)| (self.nodes[*node], values.clone())).collect();
        new.targets.sort_by_key(|(node, _)| *node);
        new
    }

    fn values(&self, old: &[Option<f64>]) -> Vec<Option<f64>> {
        let mut new = vec![None; self.new.slots()];
        for (&slot, &value) in self.slots.iter().zip(old) {
            new[slot] = value;
        }
        new
    }
}

/// Values are the places of names: those must stay what they are.
fn same_choices(name: &str, before: &[String], after: &[String]) -> Result<(), ChangeError> {
    if before.is_empty() == after.is_empty() && after.starts_with(before) {
        return Ok(());
    }
    let kind = |choices: &[String]| match choices {
        [] => "numbers".to_owned(),
        choices => format!("the choices {}", choices.join(", ")),
    };
    Err(ChangeError::OtherChoices { action: name.to_owned(), before: kind(before), after: kind(after) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(more: &str) -> Problem {
        let text = "maximize = \"y\"\n[nodes.x]\nactions = [\"a\"]\n[nodes.y]\nparents = [\"x\"]\n[actions.a]\nrange = [0, 1]\n";
        Problem::from_toml(&format!("{text}{more}")).unwrap()
    }

    fn told() -> Study {
        let mut study = Study::new(problem(""), 1);
        for number in 1..=2 {
            study.ask().unwrap();
            study.tell(number, vec![None, Some(number as f64)]).unwrap();
        }
        study
    }

    #[test]
    fn amending_keeps_the_place_and_refuses_other_values() {
        let mut study = told();
        assert!(study.amend(1, &[Some(0.5), None]).unwrap());
        assert!(!study.amend(1, &[Some(0.5), Some(1.0)]).unwrap());
        assert_eq!(study.data().observations()[0].values, [Some(0.5), Some(1.0)]);
        assert_eq!(study.trials()[0].values.as_deref(), Some(&[Some(0.5), Some(1.0)][..]));
        let conflict = study.amend(1, &[Some(0.5), Some(7.0)]).unwrap_err();
        assert!(
            matches!(conflict, StudyError::Conflict { ref stored, ref told, .. } if stored == "1" && told == "7"),
            "{conflict}"
        );
        assert!(study.amend(2, &[Some(f64::NAN), None]).is_err());
        assert!(study.amend(2, &[None]).is_err());
        assert!(study.amend(0, &[None, None]).is_err() && study.amend(3, &[None, None]).is_err());
        study.ask().unwrap();
        assert!(matches!(study.amend(3, &[None, Some(1.0)]), Err(StudyError::NotPending { .. })));
        assert_eq!(study.data().observations()[1].values, [None, Some(2.0)]);
    }

    #[test]
    fn a_changed_problem_keeps_the_trials() {
        let mut study = told();
        let before = (study.trials().to_vec(), study.data().clone());
        let other = Problem::from_toml(
            "maximize = \"y\"\n[nodes.y]\nactions = [\"a\"]\n[actions.a]\nrange = [0, 1]\n",
        );
        let gone = study.change_problem(other.unwrap()).unwrap_err();
        assert_eq!(gone, ChangeError::Gone { what: "node", name: "x".into() });
        assert_eq!((study.trials().to_vec(), study.data().clone()), before);
        study.change_problem(problem("[nodes.z]\nparents = [\"y\"]\n")).unwrap();
        assert_eq!(study.data().observations()[1].values, [None, Some(2.0), None]);
        assert!(study.amend(2, &[None, None, Some(3.0)]).unwrap());
        assert!(study.ask().is_ok());
    }
}
