//! The rules of Comity, as pure functions over plain values.
//!
//! [`decide()`] answers an [`Ask`] with [`Event`]s or a [`Refusal`]; [`World::apply`] folds events into the
//! state of everything; [`World::next_deadline`] and [`expire`] let time alone change something. There is no
//! clock, no file, no thread and no randomness in here: equal input gives equal output on every machine.

pub mod activity;
pub mod agents;
pub mod answers;
pub mod branch_moves;
pub mod calls;
mod checks;
pub mod commits;
pub mod concerns;
pub mod control;
pub mod deadlines;
pub mod decide;
pub mod decisions;
pub mod display;
pub mod event;
mod features;
pub mod ids;
pub mod inbox;
pub mod invariants;
pub mod limits;
pub mod locks;
pub mod mail;
pub mod next_call;
pub mod notices;
pub mod paths;
pub mod people;
pub mod permissions;
pub mod pools;
pub mod projects;
pub mod queues;
pub mod reads;
pub mod redact;
pub mod refusal;
pub mod roles;
pub mod runs;
mod sentence;
pub mod server;
pub mod snapshot;
pub mod table;
pub mod tasks;
pub mod teams;
pub mod time;
pub mod version;
mod wait_graph;
pub mod why;
pub mod worktrees;
pub mod world;
pub mod writes;

pub use decide::{AskResult, Outcome, decide, expire, run};
pub use event::Record;
pub use features::{Ask, Event};
pub use ids::{AgentId, ContentHash, Fence, Key, Principal, ProjectId, Ticket, TokenHash};
pub use paths::{CaseRule, PathPattern};
pub use people::Asker;
pub use refusal::Refusal;
pub use time::{Millis, Timestamp};
pub use wait_graph::Cycle;
pub use world::World;
