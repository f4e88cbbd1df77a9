//! The git driver: finds repositories, gives every path its one name, and looks at uncommitted work.
//!
//! Nothing in a repository is trusted: no program that it names is started, and none of its settings decides where a
//! path belongs.

mod branch_commits;
mod call;
mod case;
mod checkout;
pub mod commit;
mod confiner;
mod dir_cache;
mod dot_git;
mod fair_lock;
mod fast_path;
mod git;
mod git_dir_links;
mod hidden;
mod index_guess;
mod main_worktree;
#[cfg(target_os = "linux")]
mod only_git;
mod open_files;
mod parse;
mod patch;
mod process;
mod programs;
mod refs;
mod repository;
mod rescue;
mod resolve;
mod spelling;
mod status;
mod time_limits;
mod umask;
mod uncommitted;
mod unfinished;
mod walk;
pub mod worktree;
mod worktree_filter;
mod worktree_list;
mod worktrees;

pub use branch_commits::{BranchCommit, branch_commits};
pub use checkout::{ChangedPath, Checkout};
pub use confiner::Confiner;
pub use fair_lock::before_each_wait;
pub use git::UnknownState;
pub use index_guess::looks_changed;
pub use open_files::raise_open_files;
pub use patch::{DirtyWorktree, commit_patch, dirty_worktrees};
pub use programs::{find_program, git_program, is_the_systems, use_git};
pub use refs::{BranchHeads, NewCommit, NewCommits};
pub use repository::Repository;
pub use rescue::{LeftWork, RESCUED, RescuedWork, free_name, rescued};
pub use resolve::leads_elsewhere;
pub use time_limits::give_up_git_after;
pub use umask::{as_user, keep_private};
pub use uncommitted::{has_uncommitted_work, uncommitted_work, uncommitted_works};
pub use unfinished::Unfinished;
pub use walk::{ProcessLink, through_process};
pub use worktree_filter::WorktreeFilter;
pub use worktrees::worktrees;
