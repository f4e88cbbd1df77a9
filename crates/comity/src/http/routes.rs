//! What a request asks for. The catalog has the operations' routes; the rest is listed here.

use std::sync::OnceLock;

use axum::body::Body;
use axum::http::header::{ALLOW, HeaderValue};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use comity_app::catalog::{self, CATALOG, CatalogEntry};
use comity_app::identity::Identity;
use comity_app::operation::Route;
use comity_core::Refusal;
use percent_encoding::percent_decode_str;

use super::{Door, events, mcp, openapi, reply, rest};

/// Every operation by name, with its input as the body.
pub(super) const BY_NAME: Route = Route { method: "POST", path: "/api/op/{name}" };

#[derive(Clone, Copy)]
enum Other {
    ByName,
    Events,
    EventStream,
    Mcp,
    Metrics,
    OpenApi,
}

const OTHERS: &[(Route, Other)] = &[
    (BY_NAME, Other::ByName),
    (Route { method: "GET", path: "/api/events" }, Other::Events),
    (Route { method: "GET", path: "/api/events/stream" }, Other::EventStream),
    (Route { method: "GET", path: "/api/openapi.json" }, Other::OpenApi),
    (Route { method: "POST", path: "/mcp" }, Other::Mcp),
    (Route { method: "GET", path: "/metrics" }, Other::Metrics),
];

#[derive(Clone, Copy)]
enum RouteTarget {
    Operation(&'static CatalogEntry),
    Other(Other),
}

/// Created once: it takes longer than most answers.
static OPENAPI: OnceLock<String> = OnceLock::new();

/// Values from the path, by their field.
pub(super) type PathFields = Vec<(&'static str, String)>;

/// Answers an admitted request.
pub(super) async fn answer(door: &Door, you: Identity, parts: Parts, body: Body) -> Response {
    let path = parts.uri.path().to_owned();
    let here = || routes().filter(|(route, _)| matches(route.path, &path).is_some());
    let with_method = here().filter(|(route, _)| route.method == parts.method.as_str());
    // Of two routes the one with more literal parts wins.
    let Some((route, target)) = with_method.min_by_key(|(route, _)| route.path.matches('{').count()) else {
        return nothing_here(&here().map(|(route, _)| route.method).collect::<Vec<_>>());
    };
    let Some(fields) = matches(route.path, &path).and_then(decoded) else {
        return reply::refusal(Refusal::bad_input(
            "the path is not UTF-8",
            "encode it as UTF-8, in percents",
        ));
    };
    match target {
        RouteTarget::Operation(entry) => rest::answer(door, you, entry, fields, parts, body).await,
        RouteTarget::Other(other) => match other {
            Other::ByName => by_name(door, you, &fields, parts, body).await,
            Other::Events => events::answer(door, you.who, parts).await,
            Other::EventStream => events::answer_stream(door, you.who, &parts),
            Other::Mcp => mcp::answer(door, you, parts, body).await,
            Other::Metrics => {
                let text = door.app.metrics().render(door.app.engine());
                reply::text(StatusCode::OK, "text/plain; version=0.0.4", text)
            }
            Other::OpenApi => {
                let text = OPENAPI.get_or_init(|| openapi(Some(&door.app.server().url)).to_string());
                reply::json(StatusCode::OK, text.as_str())
            }
        },
    }
}

/// The decoded pairs of the query.
pub(super) fn query(uri: &Uri) -> Vec<(String, String)> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect()
}

fn routes() -> impl Iterator<Item = (Route, RouteTarget)> {
    let operations = CATALOG.iter().map(|entry| (entry.route, RouteTarget::Operation(entry)));
    operations.chain(OTHERS.iter().map(|(route, other)| (*route, RouteTarget::Other(*other))))
}

async fn by_name(door: &Door, you: Identity, fields: &PathFields, parts: Parts, body: Body) -> Response {
    let name = fields.first().map_or("", |(_, name)| name);
    match catalog::find(name) {
        Some(entry) => rest::answer(door, you, entry, vec![], parts, body).await,
        None => reply::refusal(Refusal::NotFound {
            problem: format!("there is no operation {name:?}"),
            hint: "see what there is at /api/openapi.json".into(),
        }),
    }
}

fn nothing_here(methods: &[&str]) -> Response {
    if methods.is_empty() {
        let hint = "see what there is at /api/openapi.json".into();
        return reply::refusal(Refusal::NotFound { problem: "there is nothing at this path".into(), hint });
    }
    let allowed = methods.join(", ");
    let hint = format!("use {allowed}");
    let mut response = reply::problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this path has no such method",
        &hint,
    );
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// The parts of the path that match fields of the template. A field at its end takes the rest, so that a file's path
/// needs no encoding.
fn matches<'a>(template: &'static str, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let field = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
    let mut fields = Vec::new();
    let mut parts = template.split('/').peekable();
    let mut rest = Some(path);
    while let Some(part) = parts.next() {
        let left = rest?;
        let is_last = parts.peek().is_none();
        let (here, after) = match left.split_once('/') {
            Some((here, after)) if !(is_last && field(part).is_some()) => (here, Some(after)),
            _ => (left, None),
        };
        match field(part) {
            Some(_) if here.is_empty() => return None,
            Some(name) => fields.push((name, here)),
            None if here == part => {}
            None => return None,
        }
        rest = after;
    }
    rest.is_none().then_some(fields)
}

fn decoded(fields: Vec<(&'static str, &str)>) -> Option<PathFields> {
    let decoded = |text| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
    fields.into_iter().map(|(name, value)| Some((name, decoded(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_templates() {
        let check = |template, path, expected: Option<&[&str]>| {
            let seen = matches(template, path).and_then(decoded);
            let seen: Option<Vec<String>> =
                seen.map(|fields| fields.into_iter().map(|field| field.1).collect());
            assert_eq!(
                seen.as_deref(),
                expected.map(|e| e.iter().map(|&x| x.to_owned()).collect::<Vec<_>>()).as_deref(),
                "{path}"
            );
        };
        let locks = "/locks/{paths}";
        check(locks, "/locks/src/a.rs", Some(&["src/a.rs"]));
        check(locks, "/locks/src%2Fa%20b.rs", Some(&["src/a b.rs"]));
        check(locks, "/locks/src/**/*.rs", Some(&["src/**/*.rs"]));
        check(locks, "/locks/100%", Some(&["100%"]));
        check(locks, "/locks/%ff", None);
        check(locks, "/locks/", None);
        check(locks, "/locks", None);
        check(locks, "/lockss/a", None);
        check("/a/{x}/b", "/a/1/b", Some(&["1"]));
        check("/a/{x}/b", "/a/1/2/b", None);
        check("/a", "/a", Some(&[]));
        check("/a", "/a/", None);
        check("/", "/", Some(&[]));
    }

    #[test]
    fn no_two_routes_are_the_same() {
        let mut all: Vec<String> =
            routes().map(|(route, _)| format!("{} {}", route.method, route.path)).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
