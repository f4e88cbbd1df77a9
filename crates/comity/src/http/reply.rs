//! Responses: status codes, errors, and the headers that all of them have.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use comity_app::log::{CUT, LogError};
use comity_app::{Failure, Rendered, Wording};
use comity_core::agents::AgentRefusal;
use comity_core::refusal::{Refusal, RefusalKind};

/// Further notices for the calling agent: a JSON array of sentences.
const NOTICES: HeaderName = HeaderName::from_static("comity-notices");
/// Many clients read no longer headers.
const NOTICES_BYTES_MAX: usize = 4_096;

/// The output of an operation, or why there is none.
pub(super) fn output(output: Result<Rendered, Failure>, told: &[String]) -> Response {
    let mut response = match output {
        Ok(rendered) => json(StatusCode::OK, Wording::Requests.spell_json(rendered.json).into_owned()),
        Err(problem) => failure(&problem),
    };
    if let Some(value) = notices(told) {
        response.headers_mut().insert(NOTICES, value);
    }
    response
}

pub(super) fn failure(failure: &Failure) -> Response {
    json(status(failure), format!("{{\"error\":{}}}", failure.to_json(Wording::Requests)))
}

/// A refusal of the rules, or of the door in the same form.
pub(super) fn refusal(refusal: Refusal) -> Response {
    failure(&Failure::Refused(refusal))
}

/// The token is unknown; nobody here has an environment to set it in.
pub(super) fn unknown_token() -> Response {
    let hint = "send what POST /api/agents gave as the header Authorization: Bearer TOKEN";
    let refusal = Refusal::Agent(AgentRefusal::BadToken);
    problem(StatusCode::UNAUTHORIZED, refusal.code(), &refusal.to_string(), hint)
}

/// A refusal that only HTTP knows.
pub(super) fn problem(status: StatusCode, code: &str, message: &str, hint: &str) -> Response {
    let error = serde_json::json!({ "error": { "code": code, "message": message, "hint": hint } });
    json(status, error.to_string())
}

pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    text(status, "application/json", body)
}

pub(super) fn text(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Asks for a token.
pub(super) fn unauthorized(mut response: Response) -> Response {
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Closes the connection after the response.
pub(super) fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Adds the headers of every response.
pub(super) fn seal(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

fn status(failure: &Failure) -> StatusCode {
    let refusal = match failure {
        Failure::Refused(refusal) => refusal,
        Failure::Fault(problem) if is_of_the_log(problem) => return StatusCode::SERVICE_UNAVAILABLE,
        Failure::Fault(_) => return StatusCode::INTERNAL_SERVER_ERROR,
    };
    match refusal.kind() {
        RefusalKind::Conflict => StatusCode::CONFLICT,
        RefusalKind::BadInput => StatusCode::BAD_REQUEST,
        RefusalKind::Forbidden => StatusCode::FORBIDDEN,
        RefusalKind::NotFound => StatusCode::NOT_FOUND,
        RefusalKind::TooMany => StatusCode::TOO_MANY_REQUESTS,
    }
}

/// Whether the log could not be written: then a retry may succeed, with nothing else changed.
fn is_of_the_log(problem: &str) -> bool {
    let begins = [LogError::DiskFull, LogError::Fenced, LogError::Failed(String::new())];
    problem.starts_with(CUT) || begins.iter().any(|error| problem.starts_with(&error.to_string()))
}

/// The notices as a header, in plain ASCII; those that do not fit are counted.
fn notices(told: &[String]) -> Option<HeaderValue> {
    let mut fitting = Vec::new();
    let mut bytes = 0;
    for notice in told.iter().map(|notice| Wording::Requests.spell(notice)) {
        bytes += ascii(&serde_json::json!(notice).to_string()).len() + 1;
        if bytes > NOTICES_BYTES_MAX {
            fitting.push(format!("and {} more: see the log", told.len() - fitting.len()));
            break;
        }
        fitting.push(notice.into_owned());
    }
    let value = ascii(&serde_json::json!(fitting).to_string());
    HeaderValue::try_from(value).ok().filter(|_| !told.is_empty())
}

/// JSON with everything beyond ASCII escaped.
fn ascii(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, ' '..='~') {
            plain.push(c);
            continue;
        }
        c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| plain.push_str(&format!("\\u{unit:04x}")));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_plain_and_bounded() {
        let told = ["ann says \"grüße\" 🦀\u{7f}".to_owned()];
        let value = notices(&told).expect("a header");
        assert_eq!(value, r#"["ann says \"gr\u00fc\u00dfe\" \ud83e\udd80\u007f"]"#);
        assert_eq!(serde_json::from_slice::<Vec<String>>(value.as_bytes()).expect("JSON"), told);
        assert_eq!(notices(&[]), None);

        let value = notices(&vec!["x".repeat(100); 256]).expect("a header");
        assert!(value.len() < NOTICES_BYTES_MAX + 100);
        let read: Vec<String> = serde_json::from_slice(value.as_bytes()).expect("JSON");
        assert_eq!(read.last(), Some(&format!("and {} more: see the log", 256 - (read.len() - 1))));
    }

    #[test]
    fn statuses() {
        let check = |failure: Failure, code: u16| assert_eq!(status(&failure), code, "{failure:?}");
        check(Refusal::WaitCancelled.into(), 409);
        check(Refusal::bad_input("a", "b").into(), 400);
        check(Refusal::Agent(AgentRefusal::BadToken).into(), 403);
        check(Refusal::Agent(AgentRefusal::Unknown { name: "x".into(), live: vec![] }).into(), 404);
        check(Refusal::LimitReached { problem: "a".into(), hint: "b".into() }.into(), 429);
        check(Failure::fault("it broke"), 500);
        check(Failure::fault(LogError::DiskFull), 503);
        check(Failure::fault(LogError::Failed("the disk is on fire".into())), 503);
    }
}
