//! Who may come in at all: the right address, no foreign web page, and a token, on every route.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::http::request::Parts;
use comity_app::Application;
use comity_app::identity::Identity;
use comity_core::Refusal;

/// With this browsers tell how the requesting page is related to us.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Browsers cannot set headers on a WebSocket, so the token is one of its protocols.
const TOKEN_PROTOCOL: &str = "bearer.";

/// The acceptable addresses of a server on this port.
pub(super) struct AllowedOrigins {
    hosts: [String; 3],
    origins: [String; 2],
}

impl AllowedOrigins {
    pub(super) fn new(port: u16) -> AllowedOrigins {
        AllowedOrigins {
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")],
            origins: [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")],
        }
    }

    /// Who asks, or why it is refused. What it sent is not repeated: it may be a secret.
    pub(super) fn admit(&self, app: &Application, parts: &Parts) -> Result<Identity, Refusal> {
        self.check_sender(parts)?;
        // Hashes are compared, so the time it takes tells nothing about the token.
        app.identify_remote(token(&parts.headers)?)
    }

    /// Refuses what another web page sends, or what is sent to another address.
    pub(super) fn check_sender(&self, parts: &Parts) -> Result<(), Refusal> {
        self.check_host(parts)?;
        self.check_page(&parts.headers)
    }

    /// Whether nothing is wrong with a request but that it has no token.
    pub(super) fn lacks_token(&self, parts: &Parts) -> bool {
        self.check_sender(parts).is_ok() && token(&parts.headers).is_err()
    }

    /// A web page that was given our address under its own name (DNS rebinding) shows here.
    fn check_host(&self, parts: &Parts) -> Result<(), Refusal> {
        let is_ours = |host: &str| self.hosts.iter().any(|ours| ours == host);
        let host = only(&parts.headers, &HOST).ok().flatten();
        let in_target = parts.uri.authority();
        if host.is_some_and(is_ours) && in_target.is_none_or(|authority| is_ours(authority.as_str())) {
            return Ok(());
        }
        Err(not_allowed(
            "the Host header does not name this server",
            "use 127.0.0.1 or localhost, with the port",
        ))
    }

    fn check_page(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let origin = only(headers, &ORIGIN);
        let site = only(headers, &FETCH_SITE);
        let is_ours = |origin: &str| self.origins.iter().any(|ours| ours == origin);
        let is_near = |site: &str| matches!(site, "same-origin" | "none");
        if origin.is_ok_and(|origin| origin.is_none_or(is_ours))
            && site.is_ok_and(|site| site.is_none_or(is_near))
        {
            return Ok(());
        }
        Err(not_allowed("another web page asks", "only pages of this server may"))
    }
}

/// The token of a request: from `Authorization`, or for a WebSocket from its protocols.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let missing = || not_allowed("a token is needed", "send the header Authorization: Bearer TOKEN");
    let given = match only(headers, &AUTHORIZATION) {
        Err(BadHeader) => None,
        Ok(Some(value)) => {
            let (scheme, token) = value.split_once(' ').ok_or_else(missing)?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        }
        Ok(None) if is_websocket(headers) => {
            let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|list| list.to_str().ok());
            let protocols = lists.flat_map(|list| list.split(',')).map(str::trim);
            let mut tokens = protocols.filter_map(|protocol| protocol.strip_prefix(TOKEN_PROTOCOL));
            tokens.next().filter(|_| tokens.next().is_none())
        }
        Ok(None) => None,
    };
    given.filter(|token| !token.is_empty()).ok_or_else(missing)
}

pub(super) fn is_websocket(headers: &HeaderMap) -> bool {
    matches!(only(headers, &UPGRADE), Ok(Some(upgrade)) if upgrade.eq_ignore_ascii_case("websocket"))
}

/// A header that is repeated, or is not text: two readers could read it differently.
struct BadHeader;

/// The only value of a header.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, BadHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| BadHeader),
        (Some(_), Some(_)) => Err(BadHeader),
    }
}

fn not_allowed(problem: &str, hint: &str) -> Refusal {
    Refusal::NotAllowed { problem: problem.into(), hint: hint.into() }
}
