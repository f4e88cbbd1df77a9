//! Accepts connections: a bounded number of them, and none that cannot finish the head of its first request.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

/// Connections at a time; further ones wait. Files are left for the rest of the server.
const CONNECTIONS_MAX: usize = 512;
/// How long a new connection may take for the head of its first request. Who is refused then is disconnected, so only
/// holders of a token have connections that last longer.
const HEAD_MAX: Duration = Duration::from_secs(10);
const HEAD_END: &[u8; 4] = b"\r\n\r\n";

/// A listener with room for so many connections.
pub(super) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

/// One connection, which gives its place back when it is dropped.
pub(super) struct Connection {
    stream: TcpStream,
    head: Option<Head>,
    _place: Option<OwnedSemaphorePermit>,
}

/// The head of the first request, while it comes in.
struct Head {
    too_late: Pin<Box<Sleep>>,
    /// How much of its end was seen.
    seen: usize,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Bounded {
        Bounded { listener, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, from) = axum::serve::Listener::accept(&mut self.listener).await;
        // Answers are small and somebody waits for each; if it cannot be set they are only slower.
        let _ = stream.set_nodelay(true);
        (Connection { stream, head: Some(Head::awaited()), _place: place }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Head {
    fn awaited() -> Head {
        Head { too_late: Box::pin(tokio::time::sleep(HEAD_MAX)), seen: 0 }
    }

    /// Looks at what came in; true once the end of the head is there.
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

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(head) = &mut self.head else { return read };
        if head.is_whole(&buffer.filled()[before..]) {
            self.head = None;
            return read;
        }
        match head.too_late.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => read,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
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

    #[tokio::test]
    async fn the_end_of_a_head_is_found_however_it_is_cut() {
        let whole = |pieces: &[&str]| {
            let mut head = Head::awaited();
            pieces.iter().any(|piece| head.is_whole(piece.as_bytes()))
        };
        assert!(whole(&["GET / HTTP/1.1\r\nHost: x\r\n\r\n"]));
        assert!(whole(&["GET / HTTP/1.1\r\n", "Host: x\r", "\n\r", "\n"]));
        assert!(whole(&["a\r\r\n\r\nb"]));
        assert!(!whole(&["GET / HTTP/1.1\r\nHost: x\r\n", "\n\r\n"]));
        assert!(!whole(&["GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n"]));
    }

    #[tokio::test]
    async fn a_client_that_never_ends_its_head_is_disconnected() {
        let mut listener = Bounded::new(TcpListener::bind("127.0.0.1:0").await.expect("a port"));
        let address = axum::serve::Listener::local_addr(&listener).expect("an address");
        let client = TcpStream::connect(address).await.expect("connected");
        let (mut connection, _) = axum::serve::Listener::accept(&mut listener).await;
        let head = connection.head.as_mut().expect("no request yet");
        head.too_late.as_mut().reset(tokio::time::Instant::now());
        let mut bytes = [0; 64];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read =
            std::future::poll_fn(|context| Pin::new(&mut connection).poll_read(context, &mut buffer)).await;
        assert_eq!(read.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
        drop(client);
    }
}
