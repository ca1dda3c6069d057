//! Every address of the server, in one list.

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post, put};

use crate::answer::Failure;
use crate::api::{downloads, events, model, rows, studies, table, trials};
use crate::{App, assets, guard};

type Route = (&'static str, &'static str, MethodRouter<App>);

/// What programs use: described in `openapi.json`.
fn api() -> Vec<Route> {
    vec![
        ("GET", "/api/openapi.json", get(studies::openapi)),
        ("GET", "/api/about", get(studies::about)),
        ("GET", "/api/templates", get(studies::templates)),
        ("POST", "/api/check", post(studies::check)),
        ("POST", "/api/drawn", post(studies::drawn)),
        ("GET", "/api/events", get(events::events)),
        ("GET", "/api/studies", get(studies::list)),
        ("POST", "/api/studies", post(studies::create)),
        ("GET", "/api/studies/{study}", get(studies::status)),
        ("DELETE", "/api/studies/{study}", delete(studies::delete)),
        ("POST", "/api/studies/{study}/copy", post(studies::copy)),
        ("POST", "/api/studies/{study}/rename", post(studies::rename)),
        ("GET", "/api/studies/{study}/problem", get(studies::problem)),
        ("PUT", "/api/studies/{study}/problem", put(studies::change_problem)),
        ("GET", "/api/studies/{study}/log", get(studies::log)),
        ("POST", "/api/studies/{study}/ask", post(trials::ask)),
        ("POST", "/api/studies/{study}/enqueue", post(trials::enqueue)),
        ("POST", "/api/studies/{study}/add", post(rows::add)),
        ("POST", "/api/studies/{study}/void", post(trials::void)),
        ("POST", "/api/studies/{study}/restore", post(trials::restore)),
        ("GET", "/api/studies/{study}/trials", get(table::list)),
        ("GET", "/api/studies/{study}/trials/{trial}", get(trials::one)),
        ("POST", "/api/studies/{study}/trials/{trial}/tell", post(trials::tell)),
        ("POST", "/api/studies/{study}/trials/{trial}/fail", post(trials::fail)),
        ("POST", "/api/studies/{study}/trials/{trial}/correct", post(trials::correct)),
        ("GET", "/api/studies/{study}/best", get(model::best)),
        ("GET", "/api/studies/{study}/predict", get(model::predict)),
        ("GET", "/api/studies/{study}/effects", get(model::effects)),
        ("GET", "/api/studies/{study}/trust", get(model::trust)),
        ("GET", "/api/studies/{study}/doubts", get(model::doubts)),
        ("GET", "/api/studies/{study}/pictures/{picture}", get(downloads::picture)),
        ("GET", "/api/studies/{study}/export.csv", get(downloads::csv)),
        ("GET", "/api/studies/{study}/export.json", get(downloads::json)),
        ("GET", "/api/studies/{study}/problem.toml", get(downloads::toml)),
        ("GET", "/api/studies/{study}/report.html", get(downloads::report)),
    ]
}

/// Method and address of everything that programs use.
pub fn addresses() -> Vec<(&'static str, &'static str)> {
    api().into_iter().map(|(method, path, _)| (method, path)).collect()
}

async fn missing() -> Response {
    let mut page = assets::page(assets::MISSING);
    *page.status_mut() = StatusCode::NOT_FOUND;
    page
}

async fn no_such_address() -> Response {
    Failure::missing("there is no such address; hint: /api/openapi.json lists all of them").into_response()
}

/// The whole server, behind its guard.
pub fn router(app: App) -> Router {
    let mut router = Router::new()
        .route("/", get(|| async { assets::page(assets::STUDIES) }))
        .route("/new", get(|| async { assets::page(assets::NEW) }))
        .route("/compare", get(|| async { assets::page(assets::COMPARE) }))
        .route("/studies/{study}", get(|| async { assets::page(assets::STUDY) }))
        .route("/assets/{name}", get(assets::asset))
        .route("/api/{*rest}", get(no_such_address));
    for (_, path, handler) in api() {
        router = router.route(path, handler);
    }
    router
        .fallback(missing)
        .layer(axum::middleware::from_fn_with_state(app.clone(), guard::stand))
        .with_state(app)
}
