//! Pages, scripts and styles: a list, so that no path leads anywhere else.

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::Response;

use crate::answer::{Answer, Failure, typed};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! web {
    ($name:literal) => {
        include_str!(concat!("../web/", $name))
    };
}

macro_rules! files {
    ($(($name:literal, $kind:expr)),* $(,)?) => {
        &[$(($name, $kind, web!($name))),*]
    };
}

/// What every page has around its content; those without a script have nothing to say who one is.
const FRAME: &str = web!("frame.html");
const BARE_FRAME: &str = web!("bare.html");

/// A page: its name, which is that of its script as well, its title and what stands in its frame.
pub struct Page(&'static str, &'static str, &'static str);

pub const STUDIES: Page = Page("studies", "Studies", web!("studies.html"));
pub const NEW: Page = Page("new", "New study", web!("new.html"));
pub const STUDY: Page = Page("study", "Study", web!("study.html"));
pub const COMPARE: Page = Page("compare", "Compare", web!("compare.html"));
pub const TOKEN: Page = Page("", "Token", web!("token.html"));
pub const MISSING: Page = Page("", "Nothing here", web!("missing.html"));

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

/// A page in its frame.
pub fn page(Page(name, title, content): Page) -> Response {
    let frame = if name.is_empty() { BARE_FRAME } else { FRAME };
    let text = frame.replace("{title}", title).replace("{name}", name).replace("{content}", content);
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
