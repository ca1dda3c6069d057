//! What the model says.

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use mcbo_core::{Doubt, Given, Oddity, Recommendation};
use mcbo_report::page::{self, Modelled, Subject};
use mcbo_report::{assignment, effects as matters, json as plain, predict as foretell};
use serde_json::{Value, json};

use super::Query;
use super::studies::tagged;
use crate::App;
use crate::answer::{Answer, Failure};
use crate::library::{Snapshot, blocking};

/// The page's subject with its model.
pub fn subject<'a>(snapshot: &'a Snapshot, model: Option<&'a Modelled>) -> Subject<'a> {
    let Snapshot { status, study, trials, .. } = snapshot;
    Subject { name: &status.name, status, study, trials, model }
}

/// Refuses to fit by itself what takes long; whoever says `anyway` waits.
pub async fn quick(app: &App, study: &str, query: &Query) -> Result<(), Failure> {
    if query.get("anyway").is_some() {
        return Ok(());
    }
    let (library, name) = (app.library.clone(), study.to_owned());
    match blocking(move || Ok(mcbo_report::is_quick(&library.snapshot(&name)?.study))).await? {
        true => Ok(()),
        false => Err(Failure::new(
            StatusCode::CONFLICT,
            "the model of a study with so many measured trials or nodes takes a while; hint: ask for it on purpose, with anyway=1",
        )),
    }
}

fn odd(odd: &Oddity) -> Value {
    json!({ "trials": odd.trials(), "message": page::hinted(&odd.to_string()) })
}

/// What to settle for: `mcbo best --json` with sentences.
pub async fn best(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    quick(&app, &study, &query).await?;
    let (snapshot, model) = app.library.model(&study, query.given()).await?;
    blocking(move || {
        let problem = snapshot.problem();
        let Modelled { recommendation, certificate, .. } = &*model;
        let said = page::advice(&subject(&snapshot, Some(&model)), &model);
        let answer = json!({
            "study": study,
            "event": snapshot.event,
            "recommendation": plain::recommendation(problem, recommendation),
            "best": plain::best(problem, snapshot.study.best_trial(), Some(recommendation)),
            "certificate": plain::certificate(problem, certificate),
            "nodes": plain::nodes(&recommendation.network.summaries(problem)),
            "suspicions": model.odd.iter().map(odd).collect::<Vec<_>>(),
            "words": {
                "doing": said.doing, "expected": said.expected, "best": said.best, "verdict": said.verdict,
                "warnings": said.warnings,
            },
        });
        Ok(tagged(&snapshot, &answer))
    })
    .await
}

/// What to expect of any intervention: `mcbo predict --json`.
pub async fn predict(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    quick(&app, &study, &query).await?;
    // One model serves all contexts: where something is given, it is asked about that.
    let (snapshot, model) = app.library.model(&study, |_| Ok(Given::NONE.clone())).await?;
    let library = app.library.clone();
    blocking(move || {
        let problem = snapshot.problem();
        let given = query.given()(problem)?;
        let doing = assignment::texts(&query.all("doing"), "dose=30")?;
        let intervention = foretell::row(problem, doing)?.intervention(problem)?;
        let given_model;
        let recommendation: &Recommendation = if given.is_empty() {
            &model.recommendation
        } else {
            given_model = library.where_given(&study, &snapshot, &model, &given)?;
            &given_model
        };
        let prediction = snapshot.study.predict(recommendation, &intervention)?;
        let mut answer = foretell::document(&study, problem, &intervention, &given, &prediction);
        answer["event"] = snapshot.event.into();
        if problem.has_costs() {
            answer["cost"] = problem.cost(&intervention).into();
        }
        Ok(tagged(&snapshot, &answer))
    })
    .await
}

/// What matters: `mcbo effects --json`.
pub async fn effects(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    quick(&app, &study, &query).await?;
    let (snapshot, model) = app.library.model(&study, query.given()).await?;
    let answer = matters::document(&study, &snapshot.study, &model.recommendation, &model.effects);
    Ok(tagged(&snapshot, &answer))
}

/// How far the model can be trusted.
pub async fn trust(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    quick(&app, &study, &query).await?;
    let (snapshot, model) = app.library.model(&study, query.given()).await?;
    blocking(move || {
        let rows = page::foretold(&snapshot.study, &model.recommendation.network);
        let row = |row: &page::Foretold| {
            json!({ "name": row.name, "trials": row.trials, "share": row.share, "verdict": row.verdict })
        };
        let answer = json!({ "words": page::trusted(&rows), "nodes": rows.iter().map(row).collect::<Vec<_>>() });
        Ok(tagged(&snapshot, &answer))
    })
    .await
}

/// What the data say against the graph.
pub async fn doubts(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    quick(&app, &study, &query).await?;
    let (snapshot, model) = app.library.model(&study, query.given()).await?;
    let library = app.library.clone();
    library
        .compute(move || {
            let doubts = snapshot.study.doubts(&model.recommendation)?;
            let doubt = |doubt: &Doubt| {
                let (kind, node, from) = doubt.about();
                json!({ "kind": kind, "node": node, "from": from, "message": page::hinted(&doubt.to_string()) })
            };
            Ok(tagged(&snapshot, &json!({ "doubts": doubts.iter().map(doubt).collect::<Vec<_>>() })))
        })
        .await
}
