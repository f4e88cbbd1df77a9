//! The git driver against real repositories in temporary directories.

mod commit;
mod commit_content;
mod commit_crash;
mod commit_crowd;
mod commit_generated;
mod commit_hooks;
mod commit_hostile;
mod commit_refusals;
mod commit_shared_index;
mod committing;
mod finding;
mod folding;
mod hostile;
mod one_name;
mod own_inodes;
mod refusals;
mod rescue;
mod sandbox;
mod spellings;
mod uncommitted;
mod worktree;
