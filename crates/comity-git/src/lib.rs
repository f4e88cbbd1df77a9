//! The git driver: finds repositories, gives every path its one name, and looks at uncommitted work.
//!
//! Nothing in a repository is believed: no program that it names is started, and none of its settings decides
//! where a path belongs.

mod among;
mod call;
mod case;
mod checkout;
pub mod commit;
mod confiner;
mod git;
mod hidden;
mod listed;
mod main_worktree;
mod marker;
#[cfg(target_os = "linux")]
mod only_git;
mod open_files;
mod parse;
mod patience;
mod place;
mod plain;
mod process;
mod quick;
mod refs;
mod repository;
mod rescue;
mod resolve;
mod status;
mod turn;
mod umask;
mod uncommitted;
mod unfinished;
mod walk;
pub mod worktree;
mod worktrees;

pub use among::Among;
pub use checkout::{ChangedPath, Checkout};
pub use confiner::Confiner;
pub use git::UnknownState;
pub use open_files::raise_open_files;
pub use patience::give_up_git_after;
pub use refs::{NewCommit, Tips};
pub use repository::Repository;
pub use rescue::{LeftWork, RESCUED, RescuedWork, free_name, rescued};
pub use resolve::leads_elsewhere;
pub use umask::keep_private;
pub use uncommitted::{has_uncommitted_work, uncommitted_work, uncommitted_works};
pub use unfinished::Unfinished;
pub use walk::{ProcessLink, through_process};
pub use worktrees::worktrees;
