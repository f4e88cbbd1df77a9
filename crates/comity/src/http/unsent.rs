//! What waits for clients: every byte counts until it is in the client's socket, and beyond a bound the slowest are
//! closed.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;

use super::peers::Peer;

/// Bytes that may wait for all clients together.
pub(super) const UNSENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A client that takes longer for one message of a stream is disconnected; it comes back with its cursor.
const SEND_MAX: Duration = Duration::from_secs(30);

/// The client is gone or too slow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientGone;

/// Bytes that wait for a client.
pub(super) struct Unsent {
    peer: Arc<Peer>,
    bytes: usize,
}

impl Unsent {
    pub(super) fn new(peer: &Arc<Peer>, bytes: usize) -> Unsent {
        peer.queue(bytes);
        Unsent { peer: Arc::clone(peer), bytes }
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.peer.unqueue(self.bytes);
    }
}

/// Bytes that count as long as anybody has them.
struct UnsentBytes {
    bytes: Bytes,
    _counted: Unsent,
}

impl AsRef<[u8]> for UnsentBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes for a client, which count until they are sent.
pub(super) fn counted(peer: &Arc<Peer>, bytes: impl Into<Bytes>) -> Bytes {
    let bytes = bytes.into();
    let counted = Unsent::new(peer, bytes.len());
    Bytes::from_owner(UnsentBytes { bytes, _counted: counted })
}

/// The same response, with its body counted until it is sent. A stream counts what it sends by itself.
pub(super) async fn count(peer: &Arc<Peer>, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let body = match body.size_hint().exact() {
        None | Some(0) => body,
        // It is already in memory, in one piece.
        Some(_) => match axum::body::to_bytes(body, usize::MAX).await {
            Ok(bytes) => Body::from(counted(peer, bytes)),
            Err(never) => Body::from(never.to_string()),
        },
    };
    Response::from_parts(parts, body)
}

/// Waits until the client has received a message, unless it is too slow.
pub(super) async fn in_time<E>(sending: impl Future<Output = Result<(), E>>) -> Result<(), ClientGone> {
    match tokio::time::timeout(SEND_MAX, sending).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(ClientGone),
    }
}
