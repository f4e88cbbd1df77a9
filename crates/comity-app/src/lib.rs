//! The application: one engine over one log, and the operations that every door offers.
//!
//! Doors make a [`Caller`] and pass requests to [`Application::call`]; the [`catalog`] lists what can be asked.
//! Writing goes through the [`engine`], reading looks at its published copy of the world.

pub mod application;
pub mod branch_moves;
pub mod browser;
pub mod catalog;
pub mod clock;
pub mod config;
pub mod contents;
mod dedupe;
pub mod engine;
mod held_dir;
pub mod identity;
pub mod lapsed_locks;
pub mod ledger;
pub mod lineage;
mod lock_worktrees;
pub mod log;
mod mail_memory;
pub mod metrics;
pub mod misread;
pub mod notifier;
mod open_merges;
pub mod operation;
pub mod operations;
pub mod page_size;
pub mod plain_file;
pub mod plan;
pub mod planted_panic;
pub mod pools;
pub mod processes;
mod project_scope;
pub mod projects;
pub mod reconciler;
mod removal;
pub mod runs;
pub mod search;
mod semaphore;
mod shells;
pub mod span;
pub mod spool;
mod terminal_programs;
pub mod time_zone;
pub mod tokens;
mod usage;
pub mod watch;
pub mod wording;
mod worker_pool;
pub mod worktree_drivers;
pub mod worktree_reaper;

pub use application::{Application, CallInput, CallOutput, OperationCall, Responder};
pub use mail_memory::is_mention;
pub use operation::{Caller, Failure, Rendered};
pub use wording::Wording;
