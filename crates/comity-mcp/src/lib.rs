//! The server side of MCP (Model Context Protocol), without IO: messages in, steps out.
//!
//! A [`McpServer`] is what is offered: a name and a list of tools. It is immutable, so one can be shared by
//! every door. Two doors feed it:
//!
//! - [`McpConnection`], one per stdio connection, takes one line at a time;
//! - [`http`] takes one POST of the streamable HTTP transport at a time and keeps nothing between them.
//!
//! Both answer at once, or hand out a [`Call`] for the caller to run and then [`McpServer::finish`].
//! Two eras of the protocol are spoken side by side, chosen per request: the versions with an `initialize`
//! handshake (up to 2025-11-25) and the stateless one (2026-07-28), see [`Version`].
//!
//! ```
//! use std::sync::Arc;
//! use comity_mcp::{McpConnection, McpServer, ServerInfo, Step, Tool, ToolOutcome};
//!
//! let info = ServerInfo { name: "demo".into(), title: None, version: "1.0".into(), instructions: None };
//! let tool = Tool::reading("hello", "Says hello.", serde_json::json!({"type": "object"}));
//! let tools = serde_json::value::to_raw_value(&[tool]).unwrap();
//! let server = Arc::new(McpServer::new(info, tools).unwrap());
//! let mut connection = McpConnection::new(Arc::clone(&server));
//!
//! let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}"#;
//! let Step::Call(call) = connection.receive(line) else { panic!("a call") };
//! let reply = server.finish(&call.ticket, &ToolOutcome::answer("hello, world"));
//! assert!(reply.contains("hello, world"));
//! ```
//!
//! Absent on purpose: sampling, logging, subscriptions, sessions, batches.

mod connection;
mod context;
pub mod http;
mod message;
mod refusal;
mod resource;
mod results;
mod server;
mod tool;
mod version;

pub use connection::{McpConnection, Step};
pub use context::ClientInfo;
pub use message::{JsonRpcId, MESSAGE_BYTES_MAX, ProgressToken, progress};
pub use resource::{Prompt, Resource};
pub use server::{McpServer, ServerInfo};
pub use tool::{Call, CallTicket, ImageData, Tool, ToolEffect, ToolOutcome, WORDS};
pub use version::Version;
