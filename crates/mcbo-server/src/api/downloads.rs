//! Files: data, pictures, the page about all of it.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use mcbo_core::Given;
use mcbo_plot::Picture;
use mcbo_report::export::{self, Reader};
use mcbo_report::page::{self, Looks, Modelled};

use super::Query;
use super::model::{quick, subject};
use crate::App;
use crate::answer::{Answer, Failure, download, typed};
use crate::library::{Snapshot, blocking};

/// The study with its model, if it has data and few enough of them.
async fn modelled(
    app: &App,
    study: &str,
    query: &Query,
) -> Result<(Arc<Snapshot>, Option<Arc<Modelled>>), Failure> {
    let (library, name) = (app.library.clone(), study.to_owned());
    let snapshot = blocking(move || library.snapshot(&name)).await?;
    if snapshot.study.data().is_empty() || quick(app, study, query).await.is_err() {
        return Ok((snapshot, None));
    }
    let (snapshot, model) = app.library.model(study, |_| Ok(Given::NONE.clone())).await?;
    Ok((snapshot, Some(model)))
}

/// All trials as CSV, harmless to spreadsheets.
pub async fn csv(State(app): State<App>, Path(study): Path<String>) -> Answer {
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let mut out = Vec::new();
        export::csv(&mut out, &snapshot.study, &snapshot.trials, Reader::Spreadsheet)
            .map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()))?;
        Ok(download("text/csv; charset=utf-8", &study, ".csv", out))
    })
    .await
}

/// All of a study as JSON.
pub async fn json(State(app): State<App>, Path(study): Path<String>) -> Answer {
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let Snapshot { status, study: state, trials, toml, .. } = &*snapshot;
        let document = export::document(status, toml, state, trials);
        Ok(download("application/json", &study, ".json", document.to_string()))
    })
    .await
}

/// The problem file in force.
pub async fn toml(State(app): State<App>, Path(study): Path<String>) -> Answer {
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        Ok(download("text/plain; charset=utf-8", &study, ".toml", snapshot.toml.clone()))
    })
    .await
}

/// The page about all of it: to look at, or with `download` to keep.
pub async fn report(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    let (snapshot, model) = modelled(&app, &study, &query).await?;
    blocking(move || {
        let subject = subject(&snapshot, model.as_deref());
        let kind = "text/html; charset=utf-8";
        if query.get("download").is_some() {
            return Ok(download(kind, &study, ".html", page::report(&subject, Looks::Inside)));
        }
        Ok(typed(kind, page::report(&subject, Looks::Linked("/assets/report.css"))))
    })
    .await
}

/// A picture: `history.svg`, `graph.png`, `mechanism.svg?node=yield&at=7`.
pub async fn picture(
    State(app): State<App>,
    Path((study, file)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Answer {
    let query = Query::new(query);
    let unknown = || {
        Failure::missing(
            "there is no such picture; hint: history, graph, parallel, mechanism or calibration, as .svg or .png",
        )
    };
    let (name, ending) = file.rsplit_once('.').ok_or_else(unknown)?;
    if !["history", "graph", "parallel", "mechanism", "calibration"].contains(&name)
        || !["svg", "png"].contains(&ending)
    {
        return Err(unknown());
    }
    let bare = query.get("model") == Some("no");
    let (snapshot, model) = if bare {
        let (library, study) = (app.library.clone(), study.clone());
        (blocking(move || library.snapshot(&study)).await?, None)
    } else {
        modelled(&app, &study, &query).await?
    };
    let (name, ending) = (name.to_owned(), ending.to_owned());
    blocking(move || {
        let picture = draw(&snapshot, model.as_deref(), &name, &query)?;
        let body = match ending.as_str() {
            "png" => {
                let failed = |error: mcbo_plot::PlotError| {
                    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
                };
                let png = picture.png().map_err(failed)?;
                return Ok(match query.get("download") {
                    Some(_) => download("image/png", &format!("{study}-{}", picture.name), ".png", png),
                    None => typed("image/png", png),
                });
            }
            _ => picture.svg,
        };
        Ok(match query.get("download") {
            Some(_) => download("image/svg+xml", &format!("{study}-{}", picture.name), ".svg", body),
            None => typed("image/svg+xml", body),
        })
    })
    .await
}

fn draw(
    snapshot: &Snapshot,
    model: Option<&Modelled>,
    name: &str,
    query: &Query,
) -> Result<Picture, Failure> {
    let (study, problem) = (&snapshot.study, snapshot.problem());
    let recommendation = model.map(|model| &model.recommendation);
    let network = recommendation.map(|recommendation| &recommendation.network);
    let nothing = || {
        Failure::missing(
            "there is no such picture yet; hint: it needs a model, and the node a mechanism that is learned",
        )
    };
    let node = || {
        let name = query.get("node").unwrap_or_default();
        problem
            .node_index(name)
            .ok_or_else(|| Failure::missing(&format!("there is no node {name:?}; hint: check its name")))
    };
    match name {
        "history" => Ok(mcbo_plot::history(study, recommendation)),
        "graph" => Ok(mcbo_plot::graph_of(study, network, model.map(|model| &model.effects))),
        "parallel" => Ok(mcbo_plot::parallel(study, recommendation)),
        "calibration" => {
            let node = node()?;
            network.and_then(|network| mcbo_plot::calibration(study, network, node)).ok_or_else(nothing)
        }
        _ => {
            let node = node()?;
            let network = network.ok_or_else(nothing)?;
            let drawn = match query.number("at", 0)? {
                0 => recommendation.and_then(|advice| {
                    mcbo_plot::mechanism_about(study, network, node, &advice.intervention)
                }),
                number => {
                    let trial = snapshot.trials.get(number - 1).ok_or_else(|| {
                        Failure::missing(&format!("there is no trial {number}; hint: the table lists all"))
                    })?;
                    let (about, called) = (trial.trial.intervention(), format!("trial {number}"));
                    mcbo_plot::mechanism_at(study, network, node, about, &called)
                }
            };
            drawn.ok_or_else(nothing)
        }
    }
}
