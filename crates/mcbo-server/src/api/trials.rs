//! Trials: asked for, told, put right, listed.

use std::cmp::Ordering;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use mcbo_core::{Given, Origin, Problem, TrialState};
use mcbo_report::{assignment, describe, export, json as plain, predict, values, why};
use mcbo_store::{StoredStudy, StoredTrial};
use serde::Deserialize;
use serde_json::{Value, json};

use super::studies::tagged;
use super::{Query, read, worker};
use crate::App;
use crate::answer::{Answer, Failure, json_of};
use crate::library::{Snapshot, blocking};

/// Trials on a page of the table, at most.
const PAGE: usize = 200;
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
fn theirs(study: &mut StoredStudy, who: &str, given: &Given) -> Result<usize, mcbo_store::StoreError> {
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
    let who = worker(&headers);
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let values = some(values::from_json(snapshot.problem(), &values.to_string())?)?;
        app.library.change(&study, who.as_deref(), None, |study, who| {
            study.tell(trial, &named(&values), Some(who))
        })?;
        after(&app, &study, trial)
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
    let who = worker(&headers);
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let values = some(values::from_json(snapshot.problem(), &values.to_string())?)?;
        app.library.change(&study, who.as_deref(), Some((event, &[trial])), |study, _| {
            study.correct(trial, &named(&values), &reason)
        })?;
        after(&app, &study, trial)
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
    let who = worker(&headers);
    blocking(move || {
        app.library.change(&study, who.as_deref(), None, |study, _| study.fail(trial, &reason))?;
        after(&app, &study, trial)
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
type Voided = fn(&mut StoredStudy, &[usize], &str) -> Result<Vec<usize>, mcbo_store::StoreError>;

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

/// The trial after a change.
fn after(app: &App, study: &str, number: usize) -> Answer {
    let snapshot = app.library.snapshot(study)?;
    Ok(json_of(&whole(&snapshot, number)?))
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

/// A page of the table: filtered by state and words, sorted by a column.
pub async fn list(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    let (page, per) = (query.number("page", 1)?.max(1), query.number("per", 25)?.clamp(1, PAGE));
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let problem = snapshot.problem();
        let (state, text) = (query.get("state").unwrap_or_default(), query.get("q").unwrap_or_default());
        let words = text.to_lowercase();
        let mut found: Vec<&StoredTrial> =
            snapshot.trials.iter().filter(|stored| fits(problem, stored, state, &words)).collect();
        let column = Column::named(problem, query.get("sort").unwrap_or("trial"))?;
        found.sort_by(|one, other| column.compare(problem, one, other));
        if query.get("order") == Some("desc") {
            found.reverse();
            // What has no value stays at the end.
            let (mut with, without): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|stored| column.key(problem, stored) != Key::None);
            with.extend(without);
            found = with;
        }
        let total = found.len();
        let shown = found.into_iter().skip((page - 1).saturating_mul(per)).take(per).map(|stored| {
            let mut object = export::trial(problem, stored);
            object["done_instead"] = describe::done_instead(problem, &stored.trial).into();
            object
        });
        let shown: Vec<Value> = shown.collect();
        let answer = json!({
            "event": snapshot.event, "total": total, "all": snapshot.trials.len(), "page": page, "per": per, "trials": shown,
        });
        Ok(tagged(&snapshot, &answer))
    })
    .await
}

/// Whether a trial is among those that are looked for.
fn fits(problem: &Problem, stored: &StoredTrial, state: &str, words: &str) -> bool {
    let StoredTrial { trial, missing, record, .. } = stored;
    let right = match state {
        "" => true,
        "partial" => trial.state == TrialState::Complete && !missing.is_empty(),
        "corrected" => record.corrected.is_some(),
        "otherwise" => trial.done.is_some(),
        name => trial.state.name() == name,
    };
    let has = |text: &str| text.to_lowercase().contains(words);
    let choices = || {
        let done = problem.actions().iter().zip(&trial.intervention().actions);
        done.filter_map(|(action, &value)| action.choice(value)).any(has)
    };
    right
        && (words.is_empty()
            || trial.number.to_string() == words.trim_start_matches('#')
            || has(&trial.suggestion.strategy)
            || record.worker.as_deref().is_some_and(has)
            || record.reason.as_deref().is_some_and(has)
            || record.voided.as_ref().is_some_and(|(_, reason)| has(reason))
            || choices())
}

/// What a table is sorted by.
enum Column {
    Trial,
    State,
    Worker,
    Told,
    Reward,
    Action(usize),
    Slot(usize),
    Set(usize, usize),
}

#[derive(PartialEq)]
enum Key {
    None,
    Number(f64),
    Text(String),
}

impl Column {
    fn named(problem: &Problem, name: &str) -> Result<Self, Failure> {
        let about = match name {
            "trial" => Some(Self::Trial),
            "state" => Some(Self::State),
            "worker" => Some(Self::Worker),
            "told" => Some(Self::Told),
            "reward" => Some(Self::Reward),
            _ => None,
        };
        // What the problem calls so comes first, under a name that says it.
        let own = name.strip_prefix("value:").unwrap_or(name);
        let slot = (0..problem.nodes().len()).find_map(|node| {
            let mut components = 0..problem.nodes()[node].dim;
            let component = components.find(|&c| mcbo_core::slot_name(problem, node, c) == own)?;
            Some(Self::Slot(problem.slot(node).start + component))
        });
        let set = || {
            problem.settable().into_iter().find_map(|node| {
                let mut components = 0..problem.nodes()[node].dim;
                let component = components.find(|&c| export::set_column(problem, node, c) == own)?;
                Some(Self::Set(node, component))
            })
        };
        let found = if own.len() < name.len() { None } else { about };
        found
            .or_else(|| problem.action_index(own).map(Self::Action))
            .or(slot)
            .or_else(set)
            .ok_or_else(|| Failure::bad(&format!("there is no column {name:?}; hint: sort by trial, state, reward, or the name of a node or an action")))
    }

    fn key(&self, problem: &Problem, stored: &StoredTrial) -> Key {
        let StoredTrial { trial, record, .. } = stored;
        let number = |value: Option<f64>| value.map_or(Key::None, Key::Number);
        match *self {
            Self::Trial => Key::Number(trial.number as f64),
            Self::State => Key::Text(trial.state.name().to_owned()),
            Self::Worker => record.worker.clone().map_or(Key::None, Key::Text),
            Self::Told => number(record.told.map(|at| at as f64)),
            Self::Reward => number(plain::reward(problem, trial)),
            Self::Action(action) => Key::Number(trial.intervention().actions[action]),
            Self::Slot(slot) => number(trial.values.as_ref().and_then(|values| values[slot])),
            Self::Set(node, component) => {
                number(trial.intervention().target(node).map(|values| values[component]))
            }
        }
    }

    fn compare(&self, problem: &Problem, one: &StoredTrial, other: &StoredTrial) -> Ordering {
        match (self.key(problem, one), self.key(problem, other)) {
            (Key::Number(a), Key::Number(b)) => a.total_cmp(&b),
            (Key::Text(a), Key::Text(b)) => a.cmp(&b),
            (Key::None, Key::None) => Ordering::Equal,
            (Key::None, _) => Ordering::Greater,
            (_, Key::None) => Ordering::Less,
            (Key::Number(_), Key::Text(_)) => Ordering::Less,
            (Key::Text(_), Key::Number(_)) => Ordering::Greater,
        }
    }
}
