//! Worktrees: made, handed out, kept when there is work in them, and brought back.

mod crash;
mod create;
mod hooks;
mod hostile;
mod include;
mod kept;
mod leftovers;
mod lossless;
mod merge;
mod mounts;
mod places;
mod pool;
mod removable;
mod remove;
mod setup;
mod slug;
mod states;
mod trash;
mod yard;
