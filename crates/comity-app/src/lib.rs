//! The application: one engine over one log, and the operations that every door offers.
//!
//! Doors make a [`Caller`] and hand a request to [`Application::call`]; the [`catalog`] lists what can be asked.
//! Writing goes through the [`engine`], reading looks at its published copy of the world.

pub mod application;
pub mod browser;
pub mod catalog;
pub mod clock;
pub mod config;
pub mod contents;
mod dedupe;
pub mod engine;
mod held_dir;
mod hosts;
pub mod identity;
pub mod lapsed_locks;
pub mod ledger;
pub mod lineage;
pub mod log;
mod mail_memory;
pub mod metrics;
pub mod moves;
pub mod operation;
pub mod operations;
pub mod plan;
pub mod planted;
pub mod pools;
pub mod processes;
pub mod projects;
pub mod reconciler;
mod removal;
pub mod search;
mod shells;
pub mod span;
pub mod spool;
pub mod tokens;
pub mod trees;
mod turnstile;
pub mod watch;
pub mod weight;
mod whereabouts;
mod worker_pool;
pub mod worktree_reaper;

pub use application::{Application, CallInput, OperationCall, Responder};
pub use operation::{Caller, Failure, Rendered};
