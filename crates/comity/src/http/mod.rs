//! The HTTP door: REST, event streams, metrics and MCP on loopback, for who has a token.
//!
//! Every request passes [`guard`] before anything else looks at it, then [`routes`] finds what it asks for. The
//! runtime has one thread and never waits for the disk: calls are planned on [`call`]'s threads and committed by the
//! engine's own.

mod body;
mod call;
mod events;
mod guard;
mod input;
mod listener;
mod mcp;
mod openapi;
mod outcome;
mod page;
mod peers;
mod refused;
mod reply;
mod rest;
mod routes;
mod sse;
pub(crate) mod tools;
mod unsent;
mod websocket;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::serve::IncomingStream;
use comity_app::Application;
use comity_core::Principal;
use comity_core::mail::Receipt;

pub(crate) use mcp::cap_wait;
pub(crate) use openapi::openapi;
pub(crate) use outcome::{image, structured};
use peers::Doing;
pub(crate) use tools::{ToolSet, mcp_server};

/// Threads that plan calls at a time; further calls wait for one.
const CALL_THREADS_MAX: usize = 16;
/// How long requests that are being answered may take when the door closes.
const CLOSING_MAX: Duration = Duration::from_millis(500);

/// What the door opens to.
pub(crate) struct Door {
    pub(crate) app: Application,
    /// MCP with the tools for agents.
    pub(crate) mcp: Arc<comity_mcp::McpServer>,
    /// MCP with those of the browser, too, for `/mcp?tools=browser`.
    pub(crate) mcp_browser: Arc<comity_mcp::McpServer>,
    /// MCP with all tools, for `/mcp?tools=all`.
    pub(crate) mcp_all: Arc<comity_mcp::McpServer>,
    /// The mail that was last offered over MCP, until the receiver's next call proves that it arrived.
    pub(crate) offers: Mutex<BTreeMap<Principal, Receipt>>,
}

impl Door {
    /// A door to the application.
    pub(crate) fn new(app: Application) -> Door {
        let version = app.server().version.clone();
        let mcp = |offer: ToolSet| Arc::new(mcp_server(offer, &version));
        let (mcp_browser, mcp_all) = (mcp(ToolSet::Browser), mcp(ToolSet::All));
        let mcp = mcp(ToolSet::Usual);
        Door { app, mcp, mcp_browser, mcp_all, offers: Mutex::default() }
    }
}

/// Listens on loopback; port 0 takes any that is free.
pub(crate) fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Serves until `stop` resolves or its other end is dropped. It blocks: give it a thread of its own.
pub(crate) fn run(
    door: Door,
    listener: TcpListener,
    stop: tokio::sync::oneshot::Receiver<()>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let (refused, app) = (refused::Refused::default(), door.app.clone());
    let guard = guard::AllowedOrigins::new(listener.local_addr()?.port());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(CALL_THREADS_MAX)
        .build()?;
    let served = runtime.block_on(async {
        let listener = listener::Bounded::new(tokio::net::TcpListener::from_std(listener)?);
        let router = Router::new().fallback(enter).with_state(Arc::new(OpenDoor {
            door,
            guard,
            refused: refused.clone(),
        }));
        let (closing, closed) = tokio::sync::oneshot::channel();
        let router = router.into_make_service_with_connect_info::<At>();
        let server = axum::serve(listener, router).with_graceful_shutdown(async {
            let _ = stop.await;
            let _ = closing.send(());
        });
        let too_late = async {
            let _ = closed.await;
            tokio::time::sleep(CLOSING_MAX).await;
        };
        tokio::select! {
            served = server => served,
            () = too_late => Ok(()),
        }
    });
    refused.flush(&app);
    runtime.shutdown_timeout(CLOSING_MAX);
    served
}

/// The door while it is open.
struct OpenDoor {
    door: Door,
    guard: guard::AllowedOrigins,
    refused: refused::Refused,
}

/// Whose connection a request came over.
#[derive(Clone)]
struct At(Arc<peers::Peer>);

impl Connected<IncomingStream<'_, listener::Bounded>> for At {
    fn connect_info(stream: IncomingStream<'_, listener::Bounded>) -> At {
        At(Arc::clone(stream.io().peer()))
    }
}

/// Takes one request: the guard first, then the routes.
async fn enter(
    State(open): State<Arc<OpenDoor>>,
    ConnectInfo(At(peer)): ConnectInfo<At>,
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match open.guard.admit(&open.door.app, &parts) {
        Ok(you) => {
            parts.extensions.insert(At(Arc::clone(&peer)));
            peer.now(Doing::Waiting);
            let response = routes::answer(&open.door, you, parts, body).await;
            peer.ends_request();
            unsent::count(&peer, response).await
        }
        Err(refusal) => {
            open.refused.note(&open.door.app, &refusal);
            reply::closing(reply::refusal(refusal))
        }
    };
    reply::seal(&mut response);
    response
}
