//! The event stream as a WebSocket: one JSON text per record.

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;

use super::events::{Follower, StreamItem};
use super::unsent::{ClientGone, Unsent, in_time};

/// The protocol's name; browsers offer it together with their token.
const PROTOCOL: &str = "comity.v1";
/// Bytes of a message from a client, which has nothing to say.
const MESSAGE_BYTES_MAX: usize = 4_096;

pub(super) fn answer(upgrade: WebSocketUpgrade, follower: Follower) -> Response {
    upgrade
        .protocols([PROTOCOL])
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(|socket| serve(socket, follower))
}

async fn serve(mut socket: WebSocket, mut follower: Follower) {
    let hello = follower.hello();
    if send(&mut socket, &follower, hello).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            items = follower.next() => {
                let Some(items) = items else { break };
                for item in items {
                    let (StreamItem::Record { json, .. } | StreamItem::Resync { json }) = item;
                    if send(&mut socket, &follower, json).await.is_err() {
                        return;
                    }
                }
            }
            said = socket.recv() => match said {
                None | Some(Err(_)) => return,
                Some(Ok(_)) => {}
            },
        }
    }
    let _ = in_time(socket.send(Message::Close(None))).await;
}

async fn send(socket: &mut WebSocket, follower: &Follower, text: String) -> Result<(), ClientGone> {
    let _counted = Unsent::new(follower.peer(), text.len());
    in_time(socket.send(Message::text(text))).await
}
