//! What waits for clients of the event stream: one message each, and not too much together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A client that takes longer for one message is disconnected; it comes back with its cursor.
const SEND_MAX: Duration = Duration::from_secs(30);
/// The same, while more waits for all of them than there is room for.
const SEND_SOON: Duration = Duration::from_secs(1);
/// Bytes that may wait for all of them.
const UNSENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The bytes that wait for all clients; clones are the same count.
#[derive(Clone, Default)]
pub(super) struct Unsent(Arc<AtomicUsize>);

/// The client is gone or too slow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientGone;

impl Unsent {
    /// Sends a message of so many bytes, unless the client is too slow.
    pub(super) async fn send<E>(
        &self,
        bytes: usize,
        sending: impl Future<Output = Result<(), E>>,
    ) -> Result<(), ClientGone> {
        let _counted = CountedBytes::new(self, bytes);
        let mut sending = std::pin::pin!(sending);
        let soon = tokio::time::timeout(SEND_SOON, &mut sending).await;
        match soon {
            Ok(sent) => sent.map_err(|_| ClientGone),
            Err(_) if self.0.load(Ordering::Relaxed) > UNSENT_BYTES_MAX => Err(ClientGone),
            Err(_) => match tokio::time::timeout(SEND_MAX, sending).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) | Err(_) => Err(ClientGone),
            },
        }
    }
}

struct CountedBytes<'a>(&'a Unsent, usize);

impl CountedBytes<'_> {
    fn new(unsent: &Unsent, bytes: usize) -> CountedBytes<'_> {
        unsent.0.fetch_add(bytes, Ordering::Relaxed);
        CountedBytes(unsent, bytes)
    }
}

impl Drop for CountedBytes<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}
