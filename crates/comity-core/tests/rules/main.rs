//! The rules by example: each test is a short script and what comes of it.

mod agents;
mod authority;
mod control;
mod deadlock;
mod decisions;
mod desk;
mod expiry;
mod fences;
mod limits;
mod locks;
mod mail;
mod paths;
mod permission_rules;
mod permissions;
mod permissions_of_workers;
mod pools;
mod queue;
mod reads;
mod repeats;
mod script;
mod tasks;
mod teams;
mod tell;
mod text;
mod worktrees;
mod writes;
