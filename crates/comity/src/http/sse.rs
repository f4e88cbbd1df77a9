//! The event stream as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures_core::Stream;
use tokio::sync::mpsc;

use super::events::{Follower, StreamItem};
use super::unsent::{counted, in_time};

/// Events in flight to one client: they may be large.
const ON_THE_WAY_MAX: usize = 1;

pub(super) fn answer(follower: Follower) -> Response {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY_MAX);
    tokio::spawn(serve(sender, follower));
    let mut response = Response::new(Body::from_stream(Events(receiver)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

async fn serve(sender: mpsc::Sender<Bytes>, mut follower: Follower) {
    let hello = event("hello", None, &follower.hello());
    if sender.send(counted(follower.peer(), hello)).await.is_err() {
        return;
    }
    loop {
        let items = tokio::select! {
            items = follower.next() => items,
            () = sender.closed() => None,
        };
        let Some(items) = items else { return };
        for item in items {
            let event = match item {
                StreamItem::Record { seq, event: name, json } => event(name, Some(seq), &json),
                StreamItem::Resync { json } => event("resync", None, &json),
            };
            if in_time(sender.send(counted(follower.peer(), event))).await.is_err() {
                return;
            }
        }
    }
}

/// One event; JSON has no line breaks.
fn event(name: &str, id: Option<u64>, json: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("{id}event: {name}\ndata: {json}\n\n")
}

/// The receiving end, as the body of a response.
struct Events(mpsc::Receiver<Bytes>);

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}
