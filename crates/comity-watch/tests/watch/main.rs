//! The watcher against real directories and real git.
#![cfg(target_os = "linux")]

mod bounds;
mod directories;
mod files;
mod git;
mod stand;
