//! Answers: JSON, texts, and what is wrong with a request.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mcbo_core::{ProblemErrors, StudyError};
use mcbo_report::BadInput;
use mcbo_store::{RowFault, StoreError};
use serde_json::{Value, json};

/// Why a request is not answered as it wishes.
#[derive(Debug, Clone)]
pub struct Failure {
    pub status: StatusCode,
    pub message: String,
    pub hint: Option<String>,
    /// Lines of a table that are wrong, and why.
    pub lines: Vec<(u64, String)>,
}

impl Failure {
    /// From a message that may have its hint behind it.
    pub fn new(status: StatusCode, text: &str) -> Self {
        let split = text.split_once("; hint: ").or_else(|| text.split_once("\nhint: "));
        let (message, hint) = split.map_or((text, None), |(message, hint)| (message, Some(hint)));
        Self { status, message: message.to_owned(), hint: hint.map(str::to_owned), lines: Vec::new() }
    }

    /// The request cannot be understood.
    pub fn bad(text: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// There is no such thing.
    pub fn missing(text: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.message, "hint": self.hint });
        if !self.lines.is_empty() {
            let line = |(line, message): &(u64, String)| json!({ "line": line, "message": message });
            body["lines"] = self.lines.iter().map(line).collect();
        }
        (self.status, json_of(&body)).into_response()
    }
}

impl From<BadInput> for Failure {
    fn from(error: BadInput) -> Self {
        Self::bad(&error.to_string())
    }
}

impl From<ProblemErrors> for Failure {
    fn from(errors: ProblemErrors) -> Self {
        Self::bad(&errors.to_string())
    }
}

impl From<RowFault> for Failure {
    fn from(fault: RowFault) -> Self {
        Self::bad(&fault.to_string())
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let status = match error {
            StudyError::UnknownTrial { .. } => StatusCode::NOT_FOUND,
            StudyError::NotPending { .. } | StudyError::Conflict { .. } | StudyError::NoData => {
                StatusCode::CONFLICT
            }
            StudyError::Suggest(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, &error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        use StoreError as Of;
        let status = match error {
            Of::Study(error) => return error.into(),
            // The store was there when the server began.
            Of::BadUrl { .. } | Of::NotADatabase { .. } | Of::NotOurs { .. } | Of::NoStore { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Of::NoStudy { .. } | Of::Deleted { .. } => StatusCode::NOT_FOUND,
            Of::StudyExists { .. } | Of::Overtaken { .. } => StatusCode::CONFLICT,
            Of::Busy { .. } | Of::Unreachable { .. } | Of::Full { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Of::ReadOnly { .. } => StatusCode::FORBIDDEN,
            ref error if error.is_refusal() => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, &error.to_string())
    }
}

/// What a handler gives.
pub type Answer = Result<Response, Failure>;

/// JSON.
pub fn json_of(value: &Value) -> Response {
    typed("application/json", value.to_string())
}

/// A body of some type.
pub fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A file to keep, under a name that is made of harmless letters.
pub fn download(kind: &'static str, study: &str, ending: &str, body: impl Into<Bytes>) -> Response {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let name: String = study.chars().map(plain).take(80).collect();
    let mut response = typed(kind, Body::from(body.into()));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}{ending}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}
