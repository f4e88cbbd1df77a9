//! The HTTP door: REST, event streams, metrics and MCP on loopback, for holders of a token.
//!
//! Every request passes [`guard`] before anything else looks at it, then [`routes`] finds what it asks for. The
//! runtime has one thread and never waits for the disk: calls are planned on [`call`]'s threads and committed by the
//! engine's own.

mod any_tool;
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
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use axum::serve::IncomingStream;
use comity_app::Application;
use comity_core::agents::AgentRefusal;
use comity_core::mail::Receipt;
use comity_core::{Principal, Refusal};

pub(crate) use any_tool::{MeantCall, meant};
pub(crate) use mcp::{MAIL, cap_wait};
pub(crate) use openapi::openapi;
pub(crate) use outcome::{image, structured, structured_output};
use peers::ClientActivity;
pub(crate) use tools::{ToolSet, mcp_server, tool_list};

/// Threads that plan calls; further calls wait for one.
const CALL_THREADS_MAX: usize = 16;
/// How long running requests may take when the door closes.
const CLOSING_MAX: Duration = Duration::from_millis(500);

/// What the door needs.
pub(crate) struct Door {
    pub(crate) app: Application,
    /// MCP by its set of tools, each created on first use.
    mcp: [OnceLock<comity_mcp::McpServer>; 3],
    /// The mail that was last offered over MCP, until the receiver's next call proves that it arrived.
    pub(crate) offers: Mutex<BTreeMap<Principal, Receipt>>,
    refused: refused::Refused,
}

impl Door {
    pub(crate) fn new(app: Application) -> Door {
        let refused = refused::Refused::within(refused::TOGETHER);
        Door { app, mcp: Default::default(), offers: Mutex::default(), refused }
    }

    /// MCP with these tools: `/mcp`, `/mcp?tools=browser` and `/mcp?tools=all`.
    fn mcp(&self, offer: ToolSet) -> &comity_mcp::McpServer {
        self.mcp[offer as usize].get_or_init(|| {
            mcp_server(tool_list(offer), &self.app.server().version).expect("a list of our own")
        })
    }
}

/// Where a login link's code becomes a token.
pub(crate) const SESSION: &str = "/api/session";
const SESSION_METHOD: &str = "POST";

/// Listens on loopback; port 0 takes any free one.
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
    let (refused, app) = (door.refused.clone(), door.app.clone());
    let guard = guard::AllowedOrigins::new(listener.local_addr()?.port());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(CALL_THREADS_MAX)
        .build()?;
    let served = runtime.block_on(async {
        let listener = listener::Bounded::new(tokio::net::TcpListener::from_std(listener)?);
        let router = Router::new().fallback(enter).with_state(Arc::new(OpenDoor { door, guard }));
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
}

impl OpenDoor {
    /// The answer to what needs no token: the page, and opening a login link.
    fn without_token(&self, parts: &Parts) -> Option<Response> {
        type Answer = fn(&OpenDoor, &Parts) -> Result<Response, Refusal>;
        let answer: Answer = match (parts.method.as_str(), parts.uri.path()) {
            ("GET", "/") => |_, _| Ok(page::answer()),
            (SESSION_METHOD, SESSION) => OpenDoor::open_link,
            _ => return None,
        };
        let answered = self.guard.check_sender(parts).and_then(|()| answer(self, parts));
        Some(answered.unwrap_or_else(|refusal| {
            self.door.refused.note(&self.door.app, &refusal);
            let response = reply::closing(reply::refusal(refusal));
            if self.guard.lacks_token(parts) { reply::unauthorized(response) } else { response }
        }))
    }

    /// Returns a token for a login link's code. The body, if there is one, stays unread.
    fn open_link(&self, parts: &Parts) -> Result<Response, Refusal> {
        let code = guard::token(&parts.headers).map_err(|_| Refusal::NotAllowed {
            problem: "a code is needed: what stands behind #login= in the link that comity login prints"
                .into(),
            hint: "send the header Authorization: Bearer CODE".into(),
        })?;
        match self.door.app.identities().open_link(code) {
            Some(Ok(token)) => {
                let body = serde_json::json!({ "token": token }).to_string();
                Ok(reply::closing(reply::json(StatusCode::OK, body)))
            }
            Some(Err(error)) => Ok(reply::failure(&comity_app::Failure::fault(error))),
            None => Err(Refusal::NotAllowed {
                problem: "this link was used already, or is too old".into(),
                hint: "get a new one with: comity login".into(),
            }),
        }
    }
}

/// Whose connection a request came over.
#[derive(Clone)]
struct At(Arc<peers::Peer>);

impl Connected<IncomingStream<'_, listener::Bounded>> for At {
    fn connect_info(stream: IncomingStream<'_, listener::Bounded>) -> At {
        At(Arc::clone(stream.io().peer()))
    }
}

/// Handles one request: the guard first, then the routes.
async fn enter(
    State(open): State<Arc<OpenDoor>>,
    ConnectInfo(At(peer)): ConnectInfo<At>,
    request: Request,
) -> Response {
    comity_app::planted_panic::panic_at("http");
    let (mut parts, body) = request.into_parts();
    if let Some(mut response) = open.without_token(&parts) {
        reply::seal(&mut response);
        return response;
    }
    let mut response = match open.guard.admit(&open.door.app, &parts) {
        Ok(you) => {
            parts.extensions.insert(At(Arc::clone(&peer)));
            peer.now(ClientActivity::Waiting);
            let response = routes::answer(&open.door, you, parts, body).await;
            peer.ends_request();
            unsent::count(&peer, response).await
        }
        Err(refusal) => {
            open.door.refused.note(&open.door.app, &refusal);
            let is_unknown = refusal == Refusal::Agent(AgentRefusal::BadToken);
            let response = match is_unknown {
                true => reply::unknown_token(),
                false => reply::refusal(refusal),
            };
            let response = reply::closing(response);
            if is_unknown || open.guard.lacks_token(&parts) {
                reply::unauthorized(response)
            } else {
                response
            }
        }
    };
    reply::seal(&mut response);
    response
}
