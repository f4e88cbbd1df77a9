//! REST: one operation by its route, with the token's owner as the caller.

use std::path::PathBuf;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use comity_app::catalog::CatalogEntry;
use comity_app::identity::Identity;
use comity_app::{Application, Caller};
use comity_core::Refusal;

use super::call::{self, Question};
use super::routes::{self, PathFields};
use super::{Door, body, input, reply};

/// The directory that relative paths start from.
pub(super) const CWD: HeaderName = HeaderName::from_static("comity-cwd");
/// The time zone that times are read and shown in.
pub(super) const ZONE: HeaderName = HeaderName::from_static("comity-timezone");
/// Makes a repeat of the same request harmless.
pub(super) const KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(super) async fn answer(
    door: &Door,
    you: Identity,
    entry: &'static CatalogEntry,
    fields: PathFields,
    parts: Parts,
    body: Body,
) -> Response {
    let bytes = match body::read(&parts, body).await {
        Ok(bytes) => bytes,
        Err(response) => return response,
    };
    let question = || -> Result<Question, Refusal> {
        let input = input::merge(entry, &bytes, routes::query(&parts.uri), fields)?;
        let caller = caller(&door.app, you, &parts.headers)?;
        let key = header(&parts.headers, &KEY)?.map(str::to_owned);
        Ok(Question { caller, op: entry.name, input, key, text: false })
    };
    match question() {
        Ok(question) => {
            let (output, notices) = call::ask(&door.app, question).await;
            reply::output(output, &notices)
        }
        Err(refusal) => reply::refusal(refusal),
    }
}

/// The caller: who by the token, where by a header, or for an agent where it joined.
pub(super) fn caller(app: &Application, you: Identity, headers: &HeaderMap) -> Result<Caller, Refusal> {
    let named = header(headers, &CWD)?.map(PathBuf::from);
    if named.as_deref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(Refusal::bad_input("Comity-Cwd is not an absolute path", "send the whole path"));
    }
    let joined = || {
        let world = app.engine().world();
        let cwd = world.agents.get(you.who.agent()?)?.profile.cwd.as_deref();
        cwd.map(PathBuf::from)
    };
    let cwd = named.or_else(joined);
    let zone = header(headers, &ZONE)?.map(Into::into);
    Ok(Caller { zone, ..Caller::identified(you, cwd) })
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refusal> {
    let text = headers.get(name).map(|value| std::str::from_utf8(value.as_bytes())).transpose();
    text.map_err(|_| Refusal::bad_input(format!("the header {name} is not UTF-8"), "encode it as UTF-8"))
}
