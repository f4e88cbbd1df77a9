//! The event stream: every record of the log, in order and without gaps, from a cursor on.
//!
//! Nothing is queued for a client. Each has a cursor and reads the log from there when it is woken, a little at a
//! time, so a slow one is only late, and costs the same as a fast one.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::header::{ACCEPT, HeaderName, HeaderValue, UPGRADE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use comity_app::Application;
use comity_app::ledger::Entry;
use comity_app::page_size::PageSize;
use comity_core::{Principal, Record, Refusal, TokenHash, event};
use serde_json::json;
use tokio::sync::Notify;

use super::peers::{ClientActivity, Peer};
use super::{At, Door, guard, reply, routes, sse, websocket};

/// What is read at a time.
const PAGE: PageSize = PageSize { records: 256, bytes: 64 * 1024 };
/// The cursor that a browser sends when it reconnects.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a client gets next.
pub(super) enum StreamItem {
    Record {
        seq: u64,
        /// Its name on the stream.
        event: &'static str,
        /// Its entry in the ledger.
        json: String,
    },
    /// The records after the cursor are not kept: the stream skips ahead.
    Resync { json: String },
}

/// Answers with a WebSocket or with server-sent events, as requested.
pub(super) async fn answer(door: &Door, who: Principal, mut parts: Parts) -> Response {
    if !guard::is_websocket(&parts.headers) {
        return match wants_stream(&parts.headers) {
            true => answer_stream(door, who, &parts),
            false => neither(),
        };
    }
    let follower = match Follower::of(door, who, &parts) {
        Ok(follower) => follower,
        Err(refusal) => return reply::refusal(refusal),
    };
    match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => websocket::answer(upgrade, follower),
        Err(rejection) => rejection.into_response(),
    }
}

pub(super) fn answer_stream(door: &Door, who: Principal, parts: &Parts) -> Response {
    match Follower::of(door, who, parts) {
        Ok(follower) => sse::answer(follower),
        Err(refusal) => reply::refusal(refusal),
    }
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let kinds = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    kinds.flat_map(|kinds| kinds.split(',')).any(|kind| kind.trim().starts_with("text/event-stream"))
}

fn neither() -> Response {
    let hint = "connect with a WebSocket, or send the header Accept: text/event-stream";
    let mut response =
        reply::problem(StatusCode::UPGRADE_REQUIRED, "upgrade_required", "this is a stream", hint);
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
    response
}

/// Reads the log for one client, as it grows.
pub(super) struct Follower {
    app: Application,
    who: Principal,
    /// What it came in with.
    token: TokenHash,
    cursor: u64,
    /// The wanted types; empty means all.
    only: Vec<String>,
    news: Arc<Notify>,
    waker: u64,
    peer: Arc<Peer>,
}

impl Follower {
    fn of(door: &Door, who: Principal, parts: &Parts) -> Result<Follower, Refusal> {
        let query = routes::query(&parts.uri);
        let value =
            |wanted: &str| query.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        let again = parts.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
        let after = match again.or(value("after")).filter(|after| !after.is_empty()) {
            None => None,
            Some(after) => Some(after.parse().map_err(|_| {
                Refusal::bad_input("the cursor is not a number", "give the number of the last event you have")
            })?),
        };
        let types = value("type").unwrap_or_default().split(',');
        let only: Vec<String> = types.filter(|one| !one.is_empty()).map(str::to_owned).collect();
        only.iter().try_for_each(|one| event::check_type(one))?;
        let Some(At(peer)) = parts.extensions.get::<At>() else {
            unreachable!("whoever is let in has a connection")
        };
        peer.now(ClientActivity::Following);
        let token = comity_app::tokens::hash(guard::token(&parts.headers)?);
        Ok(Follower::new(door, peer, (who, token), after, only))
    }

    fn new(
        door: &Door,
        peer: &Arc<Peer>,
        (who, token): (Principal, TokenHash),
        after: Option<u64>,
        only: Vec<String>,
    ) -> Follower {
        let app = &door.app;
        let news = Arc::new(Notify::new());
        let feed = app.engine().feed();
        let woken = Arc::clone(&news);
        let waker = feed.wake(Arc::new(move |_| woken.notify_one()));
        let cursor = after.unwrap_or_else(|| feed.head());
        Follower { app: app.clone(), who, token, cursor, only, news, waker, peer: Arc::clone(peer) }
    }

    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// The first message: how far the log goes.
    pub(super) fn hello(&self) -> String {
        let (head, version) = (self.app.engine().feed().head(), &self.app.server().version);
        json!({ "type": "hello", "head": head, "version": version }).to_string()
    }

    /// What comes next, as soon as there is something; `None` if the stream is over. It may be dropped at any time
    /// without losing anything.
    pub(super) async fn next(&mut self) -> Option<Vec<StreamItem>> {
        loop {
            if !self.app.may_stay(self.who, &self.token) {
                return None;
            }
            let before = self.cursor;
            let page = self.page().await?;
            if !page.is_empty() {
                return Some(page);
            }
            if self.cursor != before {
                continue;
            }
            if self.is_over() {
                return None;
            }
            self.news.notified().await;
        }
    }

    /// Whether nothing may follow: the server stops, or the reading agent has ended.
    fn is_over(&self) -> bool {
        let engine = self.app.engine();
        let has_ended = self.who.agent().is_some_and(|agent| engine.world().agents.living(agent).is_err());
        has_ended || engine.feed().is_stopped()
    }

    /// The next wanted records. The cursor moves past the others, too.
    async fn page(&mut self) -> Option<Vec<StreamItem>> {
        let (cursor, head) = (self.cursor, self.app.engine().feed().head());
        let records = match self.app.engine().feed().recent(cursor, PAGE) {
            _ if cursor > head => return Some(vec![self.resync(head)]),
            Some(recent) => recent,
            None => {
                let app = self.app.clone();
                let read = move || app.reader().ok().map(|reader| reader.read_page(cursor, PAGE));
                match tokio::task::spawn_blocking(read).await.ok()? {
                    Some(Ok(records)) => records.into_iter().map(Arc::new).collect(),
                    // The client reconnects with its cursor.
                    Some(Err(_)) => return None,
                    None => vec![],
                }
            }
        };
        let mut items = Vec::new();
        match records.first() {
            None if cursor < head => items.push(self.resync(head)),
            Some(first) if first.seq > cursor + 1 => items.push(self.resync(first.seq - 1)),
            Some(_) | None => {}
        }
        self.cursor = records.last().map_or(self.cursor, |last| last.seq);
        let world = self.app.engine().world();
        items.extend(records.iter().filter(|record| self.is_wanted(record)).map(|record| {
            StreamItem::Record {
                seq: record.seq,
                event: record.event.kind().stream,
                json: serde_json::to_string(&Entry::of(record, &world, self.who)).unwrap_or_default(),
            }
        }));
        Some(items)
    }

    fn is_wanted(&self, record: &Record) -> bool {
        let kind = record.event.kind();
        self.only.is_empty() || self.only.iter().any(|only| kind.is_called(only))
    }

    fn resync(&mut self, after: u64) -> StreamItem {
        self.cursor = after;
        let head = self.app.engine().feed().head();
        StreamItem::Resync { json: json!({ "type": "resync", "after": after, "head": head }).to_string() }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.app.engine().feed().forget(self.waker);
    }
}
