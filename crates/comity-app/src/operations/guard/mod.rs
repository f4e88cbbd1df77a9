//! Guards: a tool call or a commit is judged before it happens.

mod caller;
mod commit;
mod confine;
mod held_up;
mod knowledge;
mod mail;
mod payload;
mod permission;
mod planning;
mod targets;
mod told;
mod tool;

pub use commit::GuardCommit;
pub use confine::GuardConfine;
pub(crate) use targets::{Touch, touches};
pub use told::GuardTold;
pub use tool::Guard;

/// The reason of locks that the guard takes for who writes; they are given back when the file is committed.
pub(crate) const AUTO_REASON: &str = "it was written to; the guard locked it";
