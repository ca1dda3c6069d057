//! Pages, scripts and styles: a list, so that no path leads anywhere else.

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::Response;

use crate::answer::{Answer, Failure, typed};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($(($name:literal, $kind:expr)),* $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../web/", $name)))),*]
    };
}

const PAGES: &[(&str, &str, &str)] = files![
    ("studies.html", HTML),
    ("new.html", HTML),
    ("study.html", HTML),
    ("compare.html", HTML),
    ("token.html", HTML),
    ("missing.html", HTML),
];

const FILES: &[(&str, &str, &str)] = files![
    ("style.css", STYLE),
    ("icon.svg", PICTURE),
    ("common.js", SCRIPT),
    ("forms.js", SCRIPT),
    ("studies.js", SCRIPT),
    ("new.js", SCRIPT),
    ("study.js", SCRIPT),
    ("next.js", SCRIPT),
    ("graph.js", SCRIPT),
    ("whatif.js", SCRIPT),
    ("trials.js", SCRIPT),
    ("model.js", SCRIPT),
    ("manage.js", SCRIPT),
    ("compare.js", SCRIPT),
];

/// A page by its file's name.
pub fn page(name: &str) -> Response {
    let text = PAGES.iter().find(|(known, ..)| *known == name).map_or("", |(.., text)| text);
    typed(HTML, text)
}

/// A script or style by its name; the looks of the report are among them.
pub async fn asset(Path(name): Path<String>) -> Answer {
    let (kind, text) = match name.as_str() {
        "report.css" => (STYLE, mcbo_report::page::STYLE),
        name => FILES
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, kind, text)| (*kind, *text))
            .ok_or_else(|| Failure::missing("there is no such file"))?,
    };
    let mut response = typed(kind, text);
    // Another version of the program may serve other files under the same names.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}
