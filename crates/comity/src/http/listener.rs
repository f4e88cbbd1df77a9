//! Accepts connections: a bounded number of them, and somebody always gets in, because idle ones are closed first.
//!
//! A client that is slow with the head of a request, takes long to send another one, or does not read its answer is
//! disconnected.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

use super::peers::{Peer, Peers};

/// Beyond this, idle connections are closed for new ones. That leaves file descriptors for the rest of the server.
const CONNECTIONS_MAX: usize = 1_024;
/// How long a new connection may take for the head of its first request. A refused client is disconnected, so only
/// holders of a token have connections that last longer.
const HEAD_MAX: Duration = Duration::from_secs(10);
/// How long a connection may be idle between requests.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// How long a client may take to read what its socket holds, before more is sent.
const STALL_MAX: Duration = Duration::from_secs(20);
/// How long to wait for a place, or a file descriptor, before another connection is closed.
const CROWDED_FOR: Duration = Duration::from_millis(20);
const HEAD_END: &[u8; 4] = b"\r\n\r\n";

/// A listener with a limited number of connections.
pub(super) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
    peers: Peers,
}

/// One connection, which releases its place when dropped.
pub(super) struct HttpConnection {
    stream: TcpStream,
    head: Option<HeadScan>,
    /// Times out a connection that does nothing.
    idle: Pin<Box<Sleep>>,
    /// Set while the client does not read.
    stalled: Option<Pin<Box<Sleep>>>,
    peer: Arc<Peer>,
    _place: Option<OwnedSemaphorePermit>,
}

/// How much of the end of the first head was seen.
#[derive(Default)]
struct HeadScan {
    seen: usize,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Bounded {
        Bounded { listener, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)), peers: Peers::default() }
    }

    /// A place for a connection: an idle one's, if none is free.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.room).try_acquire_owned() {
            return Some(place);
        }
        loop {
            self.peers.close_one();
            let place = Arc::clone(&self.room).acquire_owned();
            if let Ok(place) = tokio::time::timeout(CROWDED_FOR, place).await {
                return place.ok();
            }
        }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = HttpConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HttpConnection, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    let place = self.place().await;
                    // Answers are small and somebody waits for each; if this fails they are only slower.
                    let _ = stream.set_nodelay(true);
                    return (HttpConnection::new(stream, self.peers.enter(), place), from);
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // Most likely there is no file descriptor for it.
                Err(_) => {
                    self.peers.close_one();
                    tokio::time::sleep(CROWDED_FOR).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl HttpConnection {
    fn new(stream: TcpStream, peer: Arc<Peer>, place: Option<OwnedSemaphorePermit>) -> HttpConnection {
        let idle = Box::pin(tokio::time::sleep(HEAD_MAX));
        HttpConnection { stream, head: Some(HeadScan::default()), idle, stalled: None, peer, _place: place }
    }

    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Ready once the client took too long for its next request.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let patience = if self.head.is_some() { HEAD_MAX } else { IDLE_MAX };
        while self.idle.as_mut().poll(context).is_ready() {
            let now = Instant::now();
            let until = match self.peer.quiet_since() {
                None => now + patience,
                Some(since) => since + patience,
            };
            if until <= now {
                return Poll::Ready(());
            }
            self.idle.as_mut().reset(until);
        }
        Poll::Pending
    }

    /// From now on neither reads nor writes succeed.
    fn too_late(&self) -> io::Error {
        self.peer.close();
        io::ErrorKind::TimedOut.into()
    }

    /// The result of writing; an error once the client has not read for too long.
    fn watch<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            self.peer.acted();
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL_MAX)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(self.too_late())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl HeadScan {
    /// Scans incoming bytes; true once the end of the head is there.
    fn is_whole(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            let is_next = *byte == HEAD_END[self.seen];
            self.seen = if is_next { self.seen + 1 } else { usize::from(*byte == HEAD_END[0]) };
            if self.seen == HEAD_END.len() {
                return true;
            }
        }
        false
    }
}

impl AsyncRead for HttpConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.peer.check(context)?;
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.head.as_mut().is_some_and(|head| head.is_whole(&buffer.filled()[before..])) {
            self.head = None;
            self.peer.acted();
        }
        match self.poll_idle(context) {
            Poll::Ready(()) => Poll::Ready(Err(self.too_late())),
            Poll::Pending => read,
        }
    }
}

impl AsyncWrite for HttpConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.peer.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.peer.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_head_is_found_however_it_is_cut() {
        let whole = |pieces: &[&str]| {
            let mut head = HeadScan::default();
            pieces.iter().any(|piece| head.is_whole(piece.as_bytes()))
        };
        assert!(whole(&["GET / HTTP/1.1\r\nHost: x\r\n\r\n"]));
        assert!(whole(&["GET / HTTP/1.1\r\n", "Host: x\r", "\n\r", "\n"]));
        assert!(whole(&["a\r\r\n\r\nb"]));
        assert!(!whole(&["GET / HTTP/1.1\r\nHost: x\r\n", "\n\r\n"]));
        assert!(!whole(&["GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n"]));
    }
}
