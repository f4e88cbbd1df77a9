//! The operations, one struct in one file each; [`crate::catalog`] lists them.

pub mod agents;
pub mod commits;
pub mod control;
pub mod decisions;
pub mod guard;
pub mod inbox;
pub mod ledger;
pub mod locks;
pub mod mail;
pub mod people;
pub mod permissions;
pub mod pools;
pub mod runs;
pub mod server;
pub mod tabs;
pub mod tasks;
pub mod teams;
pub mod worktrees;
