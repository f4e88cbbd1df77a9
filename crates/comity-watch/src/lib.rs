//! The file watcher: notices writes in the worktrees of repositories, and reports each once it has settled.
//!
//! One thread sleeps until the kernel has an event. Git's own directories and ignored ones cost nothing: they are not
//! watched. What git itself writes while it holds the index (checkouts, merges, rebases) is not reported. Everything
//! has a bound, and reaching it shows in the [`WatchState`].

mod burst;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod refs;
#[cfg(target_os = "linux")]
mod run;
mod state;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod trees;
mod watcher;

pub use state::{WatchState, WatchTrouble};
pub use watcher::{Bounds, Observer, RefsRead, Watcher};
