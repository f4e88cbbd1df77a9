//! The page state: an outline of a page with references, built by a script of ours in a sandbox of its own.

mod diff;
pub(crate) mod memory;
mod outline;
pub(crate) mod script;
mod state;

pub use diff::Changes;
pub use outline::OutlineNode;
pub(crate) use outline::{number as number_of, reference};
pub use state::{PageState, StateOptions};
