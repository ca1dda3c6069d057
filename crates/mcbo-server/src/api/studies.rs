//! Studies as wholes.

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mcbo_core::{Aim, Problem, StrategyOptions, TrialState};
use mcbo_report::{
    BadFile, Template, check as checking, describe, drawn::Drawn, export, log as logging, status as standing,
    why,
};
use mcbo_store::Options;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Query, read, worker};
use crate::App;
use crate::answer::{Answer, Failure, json_of, typed};
use crate::library::{Snapshot, blocking};

/// The description of all this.
pub async fn openapi() -> Response {
    typed("application/json", include_str!("../../openapi.json"))
}

/// What this server is.
pub async fn about(State(app): State<App>) -> Response {
    json_of(&json!({
        "program": "mcbo",
        "version": env!("CARGO_PKG_VERSION"),
        "read_only": app.guard.read_only,
        "store": app.library.store.address(),
    }))
}

/// Problem files to begin with.
pub async fn templates() -> Response {
    let one = |template: Template| json!({ "name": template.name(), "about": template.about(), "toml": template.text() });
    json_of(&Template::ALL.map(one).into_iter().collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    problem: String,
}

/// What the checker says of a text: that of `mcbo check --json`.
fn checked(text: &str) -> Value {
    match Problem::from_toml(text) {
        Ok(problem) => {
            let graph = mcbo_plot::graph(&problem, None).svg;
            json!({ "valid": true, "problem": checking::document(&problem), "graph": graph, "errors": [] })
        }
        Err(errors) => {
            let bad = BadFile { file: "problem".into(), text: text.to_owned(), errors };
            let mistakes = checking::mistakes(&bad);
            json!({ "valid": false, "problem": null, "errors": mistakes["errors"] })
        }
    }
}

/// Checks a problem file.
pub async fn check(body: Body) -> Answer {
    let Text { problem } = read(body).await?;
    blocking(move || Ok(json_of(&checked(&problem)))).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Graph {
    graph: String,
}

/// A problem file from a drawn graph.
pub async fn drawn(body: Body) -> Answer {
    let Graph { graph } = read(body).await?;
    let read =
        Drawn::read(&graph).map_err(|(message, hint)| Failure::bad(&format!("{message}; hint: {hint}")))?;
    Ok(json_of(&json!({ "toml": read.toml() })))
}

/// All studies; those that runs of the command line keep for themselves only if asked for.
pub async fn list(State(app): State<App>, RawQuery(query): RawQuery) -> Answer {
    let all = Query::new(query).get("all").is_some();
    blocking(move || {
        let studies = app.library.store.studies()?;
        let shown = studies.iter().filter(|study| all || !study.name.starts_with("run/"));
        Ok(json_of(&shown.map(standing::summary).collect()))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    study: String,
    problem: String,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    initial: Option<usize>,
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    aim: Option<String>,
}

/// Begins a study.
pub async fn create(State(app): State<App>, body: Body) -> Answer {
    let New { study, problem, seed, initial, strategy, aim } = read(body).await?;
    if study.starts_with("run/") {
        return Err(Failure::bad(
            "that is a name for runs that have none; hint: choose one that does not begin with run/",
        ));
    }
    blocking(move || {
        let strategy = strategy.map_or_else(StrategyOptions::default, StrategyOptions::named);
        if aim.as_ref().is_some_and(|aim| !["earn", "find"].contains(&aim.as_str())) {
            return Err(Failure::bad("there is no such aim; hint: it is earn or find"));
        }
        if aim.is_some() && strategy.strategy != StrategyOptions::default().strategy {
            return Err(Failure::bad("the aim means nothing to this strategy; hint: only mcbo goes by it"));
        }
        let options = Options { strategy: StrategyOptions { aim, ..strategy }, seed, initial };
        app.library.store.create(&study, &problem, &options)?;
        Ok((StatusCode::CREATED, json_of(&json!({ "study": study }))).into_response())
    })
    .await
}

/// Where a study stands, what is under way and why: `mcbo status --json` with more. No model is fitted.
pub async fn status(State(app): State<App>, Path(study): Path<String>) -> Answer {
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        Ok(tagged(&snapshot, &overview(&snapshot, app.guard.read_only)))
    })
    .await
}

/// JSON with the event that it is of.
pub fn tagged(snapshot: &Snapshot, value: &Value) -> Response {
    let mut response = json_of(value);
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", snapshot.event)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn overview(snapshot: &Snapshot, read_only: bool) -> Value {
    let Snapshot { event, status, study, trials, .. } = snapshot;
    let problem = snapshot.problem();
    let nothing = mcbo_report::Suspected::default();
    let view = standing::View { standing: status, study, trials, advice: None, suspected: &nothing };
    let mut value = view.json();
    let levers = describe::levers(problem);
    let next =
        trials.iter().filter(|stored| stored.trial.state == TrialState::Pending).take(50).map(|stored| {
            let mut trial = export::trial(problem, stored);
            trial["doing"] = describe::intervention(&levers, stored.trial.intervention()).into();
            trial["reason"] = why::reason(study, &stored.trial.suggestion).into();
            trial
        });
    let next: Vec<Value> = next.collect();
    let partial = trials
        .iter()
        .filter(|stored| stored.trial.state == TrialState::Complete && !stored.missing.is_empty());
    let partial: Vec<Value> = partial.rev().take(20).map(|stored| export::trial(problem, stored)).collect();
    value["event"] = (*event).into();
    value["read_only"] = read_only.into();
    value["rows"] = study.data().len().into();
    value["quick"] = mcbo_report::is_quick(study).into();
    value["aim"] = match problem.aim() {
        Aim::Find => "find",
        _ => "earn",
    }
    .into();
    value["next"] = next.into();
    value["partial_trials"] = partial.into();
    value
}

/// Deletes a study; its name is to be repeated.
pub async fn delete(State(app): State<App>, Path(study): Path<String>, body: Body) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sure {
        study: String,
    }
    let Sure { study: repeated } = read(body).await?;
    if repeated != study {
        return Err(Failure::bad(
            "the name is not the same; hint: repeat the name of the study that is to go",
        ));
    }
    blocking(move || {
        app.library.store.delete(&study)?;
        app.library.forget(&study);
        Ok(json_of(&json!({ "deleted": study })))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct To {
    to: String,
}

/// Copies a study with all that ever happened to it.
pub async fn copy(State(app): State<App>, Path(study): Path<String>, body: Body) -> Answer {
    let To { to } = read(body).await?;
    blocking(move || {
        app.library.store.copy(&study, &to)?;
        Ok((StatusCode::CREATED, json_of(&json!({ "study": to }))).into_response())
    })
    .await
}

/// Gives a study another name.
pub async fn rename(State(app): State<App>, Path(study): Path<String>, body: Body) -> Answer {
    let To { to } = read(body).await?;
    blocking(move || {
        app.library.store.rename(&study, &to)?;
        app.library.forget(&study);
        app.library.forget(&to);
        Ok(json_of(&json!({ "study": to })))
    })
    .await
}

/// The problem file in force, and what it says.
pub async fn problem(State(app): State<App>, Path(study): Path<String>) -> Answer {
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let document = checking::document(snapshot.problem());
        Ok(tagged(&snapshot, &json!({ "event": snapshot.event, "toml": snapshot.toml, "problem": document })))
    })
    .await
}

/// Goes on with another problem, unless somebody changed anything since the page was read.
pub async fn change_problem(
    State(app): State<App>,
    Path(study): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Change {
        problem: String,
        event: i64,
    }
    let Change { problem, event } = read(body).await?;
    let who = worker(&headers);
    blocking(move || {
        let seen = Some((event, &[][..]));
        app.library.change(&study, who.as_deref(), seen, |study, _| study.change_problem(&problem))?;
        let snapshot = app.library.snapshot(&study)?;
        Ok(json_of(&json!({ "event": snapshot.event })))
    })
    .await
}

/// Who did what and when, the newest first: `mcbo log --json` with words.
pub async fn log(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    let (page, per) = (query.number("page", 1)?.max(1), query.number("per", 100)?.clamp(1, 500));
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let problem = snapshot.problem();
        let history = app.library.store.open_study(&study)?.history()?;
        let shown = history.iter().rev().skip((page - 1).saturating_mul(per)).take(per).map(|happening| {
            let mut object = logging::object(problem, happening);
            object["words"] = logging::sentence(problem, &happening.what).into();
            object
        });
        let shown: Vec<Value> = shown.collect();
        Ok(json_of(&json!({ "total": history.len(), "page": page, "events": shown })))
    })
    .await
}
