//! Request bodies: JSON only, of bounded size, in bounded time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::peers::ClientActivity;
use super::{At, reply};

const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a client may take to send one.
const BODY_MAX: Duration = Duration::from_secs(20);

/// Reads the body of a request; an empty one needs no type.
pub(super) async fn read(parts: &Parts, body: Body) -> Result<Bytes, Response> {
    let headers = &parts.headers;
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if !is_json(headers) {
        let hint = "send JSON, with the header Content-Type: application/json";
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "only JSON is read here", hint));
    }
    if announced(headers) > BODY_BYTES_MAX {
        return Err(too_large());
    }
    let doing = |doing| parts.extensions.get::<At>().map(|At(peer)| peer.now(doing));
    doing(ClientActivity::Sending);
    let read = tokio::time::timeout(BODY_MAX, axum::body::to_bytes(body, BODY_BYTES_MAX)).await;
    doing(ClientActivity::Waiting);
    match read {
        Ok(Ok(bytes)) => Ok(bytes),
        // Too long, or the client hung up and will not see this.
        Ok(Err(_)) => Err(too_large()),
        Err(_) => {
            Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time", "send it at once"))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else { return false };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn announced(headers: &HeaderMap) -> usize {
    headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok()).unwrap_or_default()
}

fn too_large() -> Response {
    let hint = format!("{BODY_BYTES_MAX} bytes at most");
    refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long", &hint)
}

/// The rest of the body stays unread, so the connection is closed.
fn refuse(status: StatusCode, message: &str, hint: &str) -> Response {
    reply::closing(reply::problem(status, "bad_input", message, hint))
}
