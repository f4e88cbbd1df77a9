//! The application: one engine over one log, and the operations that every door offers.
//!
//! Doors make a [`Caller`] and hand a request to [`Application::call`]; the [`catalog`] lists what can be asked.
//! Writing goes through the [`engine`], reading looks at its published copy of the world.

pub mod application;
pub mod browser;
pub mod caretaker;
pub mod catalog;
pub mod clock;
pub mod config;
pub mod contents;
mod crew;
pub mod engine;
mod hosts;
pub mod identity;
pub mod inspector;
pub mod ledger;
pub mod lineage;
pub mod log;
mod mail_desk;
pub mod metrics;
pub mod moves;
pub mod operation;
pub mod operations;
pub mod planted;
pub mod pools;
pub mod processes;
pub mod projects;
mod removal;
mod repeats;
pub mod search;
pub mod span;
pub mod spool;
mod taken;
pub mod tokens;
pub mod trees;
mod turnstile;
pub mod watch;
pub mod weight;
mod whereabouts;

pub use application::{Application, Call, Responder};
pub use operation::{Caller, Failure, Rendered};
