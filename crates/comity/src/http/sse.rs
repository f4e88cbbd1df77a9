//! The event stream as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::mpsc;

use super::events::{Follower, StreamItem};

/// Events on their way to one client: they may be large.
const ON_THE_WAY_MAX: usize = 1;

/// Opens the stream.
pub(super) fn answer(follower: Follower) -> Response {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY_MAX);
    tokio::spawn(serve(sender, follower));
    Sse::new(Events(receiver)).into_response()
}

async fn serve(sender: mpsc::Sender<Event>, mut follower: Follower) {
    let unsent = follower.unsent();
    let hello = Event::default().event("hello").data(follower.hello());
    if sender.send(hello).await.is_err() {
        return;
    }
    loop {
        let items = tokio::select! {
            items = follower.next() => items,
            () = sender.closed() => None,
        };
        let Some(items) = items else { return };
        for item in items {
            let (StreamItem::Record { json, .. } | StreamItem::Resync { json }) = &item;
            let bytes = json.len();
            let event = match item {
                StreamItem::Record { seq, event, json } => {
                    Event::default().id(seq.to_string()).event(event).data(json)
                }
                StreamItem::Resync { json } => Event::default().event("resync").data(json),
            };
            if unsent.send(bytes, sender.send(event)).await.is_err() {
                return;
            }
        }
    }
}

/// The receiving end, as the body of a response.
struct Events(mpsc::Receiver<Event>);

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}
