//! What each address does.

pub mod downloads;
pub mod events;
pub mod model;
pub mod rows;
pub mod studies;
pub mod table;
pub mod trials;

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, StatusCode};
use mcbo_core::{Given, Problem};
use mcbo_report::assignment;
use serde::de::DeserializeOwned;

use crate::answer::Failure;

/// The largest body: a problem file of thousands of nodes is smaller.
const BODY: usize = 1 << 20;
/// How long a body may take to come in.
const PATIENCE: Duration = Duration::from_secs(15);

/// Reads a body of JSON.
pub async fn read<T: DeserializeOwned>(body: Body) -> Result<T, Failure> {
    let late = |_| {
        Failure::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to come in; hint: try again")
    };
    let large = |()| {
        Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the request is too large; hint: it may have 1 MiB; for more data use the command line",
        )
    };
    // What says itself that it is too large is not waited for.
    if body.size_hint().lower() > BODY as u64 {
        return Err(large(()));
    }
    let reading = axum::body::to_bytes(body, BODY);
    let bytes = tokio::time::timeout(PATIENCE, reading).await.map_err(late)?.map_err(|_| large(()))?;
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(text).map_err(|error| {
        Failure::bad(&format!("the request cannot be read: {error}; hint: see /api/openapi.json"))
    })
}

/// Names and values of a query.
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn new(raw: Option<String>) -> Self {
        Self(form_urlencoded::parse(raw.unwrap_or_default().as_bytes()).into_owned().collect())
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a name that is there several times.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
    }

    /// A whole number.
    pub fn number(&self, name: &str, otherwise: usize) -> Result<usize, Failure> {
        self.get(name).map_or(Ok(otherwise), |text| {
            text.parse().map_err(|_| Failure::bad(&format!("{name} is {text:?}; hint: give a whole number")))
        })
    }

    /// What is known of the contexts: `given=quality=0.8`.
    pub fn given(&self) -> impl FnOnce(&Problem) -> Result<Given, Failure> + Send + 'static {
        let words = self.all("given");
        move |problem| Ok(assignment::given(problem, &words)?)
    }
}

/// Who sends a request, if it says so: at most a line of it.
pub fn worker(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("x-mcbo-worker")?.to_str().ok()?;
    let pair = format!("w={text}");
    let (_, name) = form_urlencoded::parse(pair.as_bytes()).next()?;
    let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
