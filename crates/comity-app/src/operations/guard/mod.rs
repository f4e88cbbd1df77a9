//! Guards: a tool call or a commit is judged before it happens.

mod aliases;
mod at_work;
mod behalf;
mod caller;
mod clean;
mod commit;
mod confine;
mod doubts;
mod held_up;
mod knowledge;
mod mail;
mod news;
mod own;
mod payload;
mod permission;
mod planning;
mod program_settings;
mod running;
mod shell;
mod spelling;
mod targets;
mod told;
mod tool;
mod wait;
mod with_git;
mod writes;

use crate::catalog::{CatalogEntry, Group, POST};
use crate::identity::WayIn;
pub(crate) use behalf::confiner;
pub(crate) use clean::CleanLocks;
pub use commit::GuardCommit;
pub use confine::GuardConfine;
pub(crate) use doubts::doubts;
pub(crate) use program_settings::program_settings_at;
pub(crate) use targets::{TargetSource, Touch, touches};
pub use told::GuardTold;
pub use tool::Guard;
pub use wait::GuardWait;
pub(crate) use wait::IdleAgents;
pub use with_git::GuardWithGit;
pub(crate) use writes::judge_writes;

pub(crate) const GROUPS: &[Group] = &[("guard", "What Comity's own programs ask")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Guard>(       "guard",         "guard tool <payload>", POST, "/api/guard")        .changes().internal().lets_in(WayIn::Join),
    CatalogEntry::of::<GuardWithGit>("guard_with_git", "",                    POST, "/api/guard/git")    .changes().internal().long().lets_in(WayIn::Join),
    CatalogEntry::of::<GuardCommit>( "guard_commit",  "",                     POST, "/api/guard/commit") .internal(),
    CatalogEntry::of::<GuardConfine>("guard_confine", "",                     POST, "/api/guard/confine").internal(),
    CatalogEntry::of::<GuardWait>(   "guard_wait",    "",                     POST, "/api/guard/wait")   .changes().internal().waits(),
    CatalogEntry::of::<GuardTold>(   "guard_told",    "",                     POST, "/api/guard/told")   .changes().internal(),
];

/// The reason of locks that the guard takes for whoever writes; they are released when the file is committed.
pub(crate) const AUTO_REASON: &str = "it was written to; the guard locked it";

/// How agent programs spell the tools of a server called comity.
const OWN_TOOLS: [&str; 6] = ["mcp__comity__", "mcp_comity_", "comity__", "comity_", "comity-", "comity."];

/// Whether a tool is Comity's own: those have rules of their own.
pub(crate) fn is_own_tool(tool: &str) -> bool {
    let is_known = |name: &str| {
        // What is called by it is judged as what it calls.
        name == crate::wording::ANY_TOOL
            || crate::catalog::find(name).or_else(|| crate::catalog::find_tool(name)).is_some()
    };
    OWN_TOOLS.iter().any(|own| tool.strip_prefix(own).is_some_and(is_known))
}
