//! The page at the root, until there is a dashboard. Nothing in it needs a token: that is in the link.

use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;

use super::reply;

/// Nothing is loaded from elsewhere, and nobody may frame the page.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

pub(super) fn answer() -> Response {
    let mut response = reply::text(StatusCode::OK, "text/html; charset=utf-8", PAGE.to_owned());
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

const PAGE: &str = include_str!("page.html");
