//! Whole runs, of our own methods and of whoever decides at the other end of the pipe.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use mcbo_bench::{Archive, Entrant, Job, Method, OneHot, RunResult, Stored, Task, allowed};
use mcbo_core::{
    Action, Context, Given, Grid, Intervention, Noise, Proposal, Strategy, SuggestError, Suggestion,
};
use rand::Rng;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::pipe::Pipe;

/// A run of somebody on a task.
#[derive(Deserialize)]
pub(crate) struct Run {
    task: String,
    method: String,
    seed: u64,
    rounds: usize,
    /// Where it is kept.
    folder: Option<PathBuf>,
    /// The versions and settings of whoever decides at the other end of the pipe, if it is decided there.
    peer: Option<String>,
}

impl Run {
    fn entrant(&self, task: &Task, pipe: &Arc<Pipe>) -> Result<Entrant, Box<dyn Error>> {
        let name = self.method.clone();
        Ok(match (&self.peer, name.as_str()) {
            (Some(settings), _) => {
                let settings = settings.clone();
                Entrant {
                    settings,
                    ..Entrant::own(name.clone(), Box::new(Peer { name, pipe: pipe.clone() }))
                }
            }
            (None, "one-hot") => Entrant::own(name, Box::new(OneHot::new(task.problem())?)),
            (None, method) => method.parse::<Method>()?.into(),
        })
    }

    /// What came of it: as it was kept, or anew if that is wanted.
    pub(crate) fn made(&self, pipe: &Arc<Pipe>, anew: bool) -> Result<Value, Box<dyn Error>> {
        let task = Task::named(&self.task)?;
        let entrant = self.entrant(&task, pipe)?;
        let job = Job { task: &task, entrant: &entrant, seed: self.seed, rounds: self.rounds };
        let archive = self.folder.as_ref().map(Archive::at);
        match archive.as_ref().map_or(Stored::Missing, |archive| archive.find(&job)) {
            Stored::Run(run) => return Ok(outcome(&run)),
            Stored::Useless(why) if anew => eprintln!("made anew: {why}"),
            Stored::Useless(_) | Stored::Missing => {}
        }
        if !anew {
            return Ok(Value::Null);
        }
        match job.run() {
            Ok(run) => {
                archive.map_or(Ok(()), |archive| archive.save(&job, &run))?;
                Ok(outcome(&run))
            }
            // Whatever a peer says ends its run, not the comparison.
            Err(error) if self.peer.is_some() => Ok(json!({ "failed": error.to_string() })),
            Err(error) => Err(error.into()),
        }
    }
}

fn outcome(run: &RunResult) -> Value {
    json!({
        "seconds": run.rounds.iter().map(|round| round.suggest_seconds).sum::<f64>(),
        "rewards": run.rounds.iter().map(|round| round.expected_reward).collect::<Vec<_>>(),
        "initial": run.initial_best(),
        "best": run.best_reward(),
        "recommended": run.recommended.expected_reward,
    })
}

/// What can be done in a task, and what its rewards are measured against.
pub(crate) fn space(task: &Task) -> Value {
    let problem = task.problem();
    let action = |action: &Action| {
        let values = |grid: &Grid| (0..grid.count()).map(|k| grid.value(k)).collect::<Vec<_>>();
        json!({ "name": action.name, "range": action.range, "values": action.grid.as_ref().map(values), "choices": action.choices })
    };
    let require = problem.requirements().iter().map(|r| json!({ "terms": r.terms(), "most": r.most() }));
    // The deviation of a reward where it is the same everywhere: where no other node has any.
    let alone =
        (0..problem.nodes().len()).all(|node| node == problem.reward() || task.noise(node) == Noise::None);
    let noise = match task.noise(problem.reward()) {
        Noise::None if alone => Some(0.0),
        Noise::Gaussian(deviation) if alone => Some(deviation),
        _ => None,
    };
    json!({
        "actions": problem.actions().iter().map(action).collect::<Vec<_>>(),
        "require": require.collect::<Vec<_>>(),
        "noise": noise,
        "random": task.offer(&Given::default()).random,
        "optimum": task.optimum(),
    })
}

/// Somebody at the other end of the pipe, who sees actions and rewards. What they answer is moved to where it is allowed.
struct Peer {
    name: String,
    pipe: Arc<Pipe>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    X(Vec<f64>),
    Error(String),
}

impl Peer {
    fn ask(&self, what: &str, context: &Context<'_>) -> Result<Intervention, SuggestError> {
        let wrong = |reason: String| SuggestError::Own { name: self.name.clone(), reason };
        let (problem, rows) = (context.problem, context.data.observations());
        let reward = problem.slot(problem.reward()).start;
        let x: Vec<_> = rows.iter().map(|row| &row.intervention.actions).collect();
        let y: Vec<_> = rows.iter().map(|row| row.values[reward].map(|y| problem.sign() * y)).collect();
        self.pipe.say(&json!({ "ask": what, "x": x, "y": y })).map_err(|error| wrong(error.to_string()))?;
        match self.pipe.hear().map_err(|error| wrong(error.to_string()))? {
            Some(Reply::X(actions)) if actions.len() == problem.actions().len() => {
                Ok(allowed(problem, Intervention { targets: Vec::new(), actions }))
            }
            Some(Reply::X(actions)) => Err(wrong(format!("{actions:?} are not the values of all actions"))),
            Some(Reply::Error(reason)) => Err(wrong(reason)),
            None => Err(wrong("nobody answers".into())),
        }
    }
}

impl Strategy for Peer {
    fn name(&self) -> &str {
        &self.name
    }

    fn suggest(&self, context: &Context<'_>, _: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let suggestion = Suggestion::new(&*self.name, self.ask("suggest", context)?);
        Ok(Proposal { suggestion, memory: context.memory.clone() })
    }

    fn recommended(&self, context: &Context<'_>, _: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        self.ask("recommend", context)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What comes of two rounds of `doses` decided by these answers.
    fn made(folder: &Path, settings: &str, answers: &'static str, anew: bool) -> Value {
        let run = Run {
            task: "doses".into(),
            method: "peer".into(),
            seed: 0,
            rounds: 2,
            folder: Some(folder.into()),
            peer: Some(settings.into()),
        };
        run.made(&Arc::new(Pipe::new(answers.as_bytes(), std::io::sink())), anew).expect("an answer")
    }

    #[test]
    fn a_run_of_a_peer_is_scored_where_it_is_allowed_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let task = Task::named("doses").expect("a task");
        assert!(made(folder.path(), "1.0", "", false).is_null());
        // The first is beyond what is required, the others are allowed.
        let answers = "{\"x\":[90,90,40]}\n{\"x\":[40,50,30]}\n{\"x\":[60,20,30]}\n";
        let first = made(folder.path(), "1.0", answers, true);
        let reward = |actions: [f64; 3]| {
            let wanted = Intervention { targets: Vec::new(), actions: actions.to_vec() };
            task.expected_reward(&allowed(task.problem(), wanted))
        };
        let rewards = [reward([90.0, 90.0, 40.0]), reward([40.0, 50.0, 30.0])];
        assert_eq!(first["rewards"], json!(rewards));
        assert_eq!(first["recommended"], json!(reward([60.0, 20.0, 30.0])));
        assert_ne!(
            rewards[0],
            task.expected_reward(&Intervention { targets: Vec::new(), actions: vec![90.0, 90.0, 40.0] })
        );
        // Nobody is asked again, unless it is for another version.
        assert_eq!(made(folder.path(), "1.0", "", false), first);
        assert_eq!(made(folder.path(), "1.0", "", true), first);
        assert!(made(folder.path(), "1.1", "", false).is_null());
    }

    #[test]
    fn a_peer_that_gives_up_leaves_no_run() {
        let folder = tempfile::tempdir().expect("a folder");
        for (answers, why) in [
            ("{\"x\":[40,50,30]}\n{\"error\":\"it is singular\"}\n", "it is singular"),
            ("{\"x\":[40,50]}\n", "not the values of all actions"),
            ("what?\n", "expected value"),
            ("", "nobody answers"),
        ] {
            let failed = made(folder.path(), "1.0", answers, true);
            assert!(failed["failed"].as_str().is_some_and(|said| said.contains(why)), "{failed}");
            assert!(made(folder.path(), "1.0", "", false).is_null());
        }
    }
}
