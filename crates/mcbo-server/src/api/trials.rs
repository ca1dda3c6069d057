//! Trials: asked for, told, put right, listed.

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use mcbo_core::{Given, Origin, Problem, TrialState};
use mcbo_report::{assignment, describe, export, json as plain, predict, values, why};
use mcbo_store::{StoreError, StoredStudy, StoredTrial};
use serde::Deserialize;
use serde_json::{Value, json};

use super::studies::tagged;
use super::{Query, read, worker};
use crate::App;
use crate::answer::{Answer, Failure, json_of};
use crate::library::{Snapshot, blocking};

/// Trials that can be asked for at once.
const AT_ONCE: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    /// New trials, beside those that the worker has.
    #[serde(default = "one_more")]
    more: usize,
    /// `quality=0.8`.
    #[serde(default)]
    given: Vec<String>,
}

fn one_more() -> usize {
    1
}

/// Hands out experiments: as `mcbo ask --json`, with their reasons.
pub async fn ask(
    State(app): State<App>,
    Path(study): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Asking { more, given } = read(body).await?;
    if !(1..=AT_ONCE).contains(&more) {
        return Err(Failure::bad(&format!("{more} experiments at once; hint: ask for 1 to {AT_ONCE}")));
    }
    let who = worker(&headers);
    let library = app.library.clone();
    let computing = library.clone();
    library
        .compute(move || {
            let problem = computing.snapshot(&study)?;
            let given = assignment::given(problem.problem(), &given)?;
            let asked = computing.change(&study, who.as_deref(), None, |study, who| {
                let mine = theirs(study, who, &given)?;
                let mut asked = study.ask_given(who, mine + more, &given)?;
                asked.sort_by_key(|trial| trial.trial.number);
                Ok(asked.split_off(asked.len().saturating_sub(more)))
            })?;
            let snapshot = computing.snapshot(&study)?;
            let one = |stored: &StoredTrial| {
                let (problem, trial) = (snapshot.problem(), &stored.trial);
                let mut object = plain::suggestion(problem, trial.number, &trial.suggestion);
                object.insert("reason".into(), why::reason(&snapshot.study, &trial.suggestion).into());
                Value::Object(object)
            };
            let asked: Vec<Value> = asked.iter().map(one).collect();
            let answer = json!({ "event": snapshot.event, "trials": asked });
            Ok((StatusCode::CREATED, json_of(&answer)).into_response())
        })
        .await
}

/// Trials under way that a worker would be given once more.
fn theirs(study: &mut StoredStudy, who: &str, given: &Given) -> Result<usize, StoreError> {
    let counts = |stored: &&StoredTrial| {
        let suggestion = &stored.trial.suggestion;
        stored.trial.state == TrialState::Pending
            && stored.record.worker.as_deref() == Some(who)
            && (suggestion.given == *given || suggestion.origin() == Origin::Enqueued)
    };
    Ok(study.trials()?.iter().filter(counts).count())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Doing {
    /// `dose=30`, `do(temperature)=31`.
    doing: Vec<String>,
}

/// Puts an intervention of one's own under way.
pub async fn enqueue(
    State(app): State<App>,
    Path(study): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Doing { doing } = read(body).await?;
    let who = worker(&headers);
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let problem = snapshot.problem();
        let intervention =
            predict::row(problem, assignment::texts(&doing, "dose=30")?)?.intervention(problem)?;
        let stored = app
            .library
            .change(&study, who.as_deref(), None, |study, who| study.enqueue(Some(who), intervention))?;
        let answer = json!({ "trial": stored.trial.number });
        Ok((StatusCode::CREATED, json_of(&answer)).into_response())
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Telling {
    values: Value,
    #[serde(default)]
    reason: String,
    /// The last event that the author has seen.
    #[serde(default)]
    event: Option<i64>,
}

/// Borrowed as the store takes them.
fn named(values: &[(String, Vec<f64>)]) -> Vec<(&str, Vec<f64>)> {
    values.iter().map(|(name, values)| (name.as_str(), values.clone())).collect()
}

/// Takes what a trial gave, all or a part of it. What was told before stays.
pub async fn tell(
    State(app): State<App>,
    Path((study, trial)): Path<(String, usize)>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Telling { values, .. } = read(body).await?;
    change(app, study, trial, headers, None, move |problem| {
        let values = some(values::from_json(problem, &values.to_string())?)?;
        Ok(move |study: &mut StoredStudy, who: &str| study.tell(trial, &named(&values), Some(who)))
    })
    .await
}

/// Does something to a trial, unless it was changed after the event that its author has seen; the trial as it is then.
async fn change<F>(
    app: App,
    study: String,
    trial: usize,
    headers: HeaderMap,
    seen: Option<i64>,
    act: impl FnOnce(&Problem) -> Result<F, Failure> + Send + 'static,
) -> Answer
where
    F: FnOnce(&mut StoredStudy, &str) -> Result<(), StoreError>,
{
    let who = worker(&headers);
    blocking(move || {
        let act = act(app.library.snapshot(&study)?.problem())?;
        let trials = [trial];
        let seen = seen.map(|event| (event, &trials[..]));
        app.library.change(&study, who.as_deref(), seen, act)?;
        let snapshot = app.library.snapshot(&study)?;
        Ok(json_of(&whole(&snapshot, trial)?))
    })
    .await
}

fn some(values: assignment::Named) -> Result<assignment::Named, Failure> {
    match values.is_empty() {
        true => Err(Failure::bad("no values are given; hint: fill in at least one")),
        false => Ok(values),
    }
}

/// Puts values right, unless somebody else changed the trial meanwhile.
pub async fn correct(
    State(app): State<App>,
    Path((study, trial)): Path<(String, usize)>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Telling { values, reason, event } = read(body).await?;
    let event = event.ok_or_else(|| {
        Failure::bad("event is missing; hint: send the number of the last event that you have seen")
    })?;
    change(app, study, trial, headers, Some(event), move |problem| {
        let values = some(values::from_json(problem, &values.to_string())?)?;
        Ok(move |study: &mut StoredStudy, _: &str| study.correct(trial, &named(&values), &reason))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Because {
    #[serde(default)]
    reason: String,
}

/// Marks a trial as one that could not be run.
pub async fn fail(
    State(app): State<App>,
    Path((study, trial)): Path<(String, usize)>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Because { reason } = read(body).await?;
    change(app, study, trial, headers, None, move |_| {
        Ok(move |study: &mut StoredStudy, _: &str| study.fail(trial, &reason))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Voiding {
    trials: Vec<usize>,
    #[serde(default)]
    reason: String,
    event: i64,
}

/// Takes trials out of the study.
pub async fn void(
    State(app): State<App>,
    Path(study): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let voiding = read(body).await?;
    out_or_back(app, study, headers, voiding, StoredStudy::void).await
}

/// Puts trials back.
pub async fn restore(
    State(app): State<App>,
    Path(study): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let voiding = read(body).await?;
    out_or_back(app, study, headers, voiding, StoredStudy::restore).await
}

/// Takes trials out or puts them back, and says which.
type Voided = fn(&mut StoredStudy, &[usize], &str) -> Result<Vec<usize>, StoreError>;

async fn out_or_back(
    app: App,
    study: String,
    headers: HeaderMap,
    Voiding { trials, reason, event }: Voiding,
    act: Voided,
) -> Answer {
    let who = worker(&headers);
    blocking(move || {
        let seen = Some((event, &trials[..]));
        let changed =
            app.library.change(&study, who.as_deref(), seen, |study, _| act(study, &trials, &reason))?;
        let snapshot = app.library.snapshot(&study)?;
        Ok(json_of(&json!({ "event": snapshot.event, "trials": changed })))
    })
    .await
}

/// A trial with its reason.
fn whole(snapshot: &Snapshot, number: usize) -> Result<Value, Failure> {
    let stored = number.checked_sub(1).and_then(|place| snapshot.trials.get(place));
    let stored = stored
        .ok_or_else(|| Failure::missing(&format!("there is no trial {number}; hint: the table lists all")))?;
    let problem = snapshot.problem();
    let mut object = export::trial(problem, stored);
    object["event"] = snapshot.event.into();
    object["doing"] = describe::intervention(&describe::levers(problem), stored.trial.intervention()).into();
    object["reason"] = why::reason(&snapshot.study, &stored.trial.suggestion).into();
    object["done_instead"] = describe::done_instead(problem, &stored.trial).into();
    let best = snapshot.study.best_trial().is_some_and(|(best, _)| best.number == number);
    object["is_best"] = best.into();
    Ok(object)
}

/// One trial, with all that can be said for it if `why` is asked for.
pub async fn one(
    State(app): State<App>,
    Path((study, number)): Path<(String, usize)>,
    RawQuery(query): RawQuery,
) -> Answer {
    if Query::new(query).get("why").is_none() {
        return blocking(move || {
            let snapshot = app.library.snapshot(&study)?;
            Ok(tagged(&snapshot, &whole(&snapshot, number)?))
        })
        .await;
    }
    let (snapshot, model) = app.library.model(&study, |_| Ok(Given::NONE.clone())).await?;
    blocking(move || {
        let mut object = whole(&snapshot, number)?;
        let found = snapshot.study.why(&model.recommendation.network, number)?;
        object["why"] = why::document(&snapshot.study, &found);
        Ok(tagged(&snapshot, &object))
    })
    .await
}
