//! Commits of exactly what somebody has locked and changed.

mod again;
mod commit;
mod held;

pub use commit::Commit;
pub(crate) use commit::files;
