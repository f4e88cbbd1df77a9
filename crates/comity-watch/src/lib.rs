//! The file watcher: notices writes in the worktrees of repositories, and tells of each once it has settled.
//!
//! One thread sleeps until the kernel has something to tell. Git's own directories and what git ignores cost nothing:
//! they are not looked into. What git itself writes while it holds the index (checkouts, merges, rebases) is not told.
//! Everything has a bound, and reaching it is in the [`WatchState`].

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
