//! Worktrees: a copy and a branch for an agent, merged back in order, and never lost.

mod add;
mod list;
mod merge;
mod remove;
mod restore;
mod scope;

use comity_core::calls;
use comity_core::worktrees::Worktree;
use comity_core::{Principal, Refusal};
use comity_git::worktree::{FailureKind, WorktreeError};

use crate::application::Application;
use crate::catalog::next_call;
use crate::engine::Failed;
use crate::operation::{Caller, Failure};
use crate::projects::PathBase;

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
pub use add::WorktreeAdd;
pub use list::ListWorktrees;
pub(crate) use list::WaitingMerge;
pub use merge::WorktreeMerge;
pub use remove::WorktreeRemove;
pub use restore::WorktreeRestore;
pub(crate) use scope::made_under_locks;

pub(crate) const GROUPS: &[Group] = &[("worktree", "A copy of the repository for one agent")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<WorktreeAdd>(    calls::WORKTREE_ADD,     "worktree add <slug>",     POST,   "/api/worktrees")        .changes().long().writes_files().unlisted(&["branch"]).also(&["worktree create"]).examples(&["worktree add login"]),
    CatalogEntry::of::<ListWorktrees>(  calls::WORKTREE_LIST,    "worktree list <slug>",    GET,    "/api/worktrees")        .long().also(&["worktree ls", "worktree show"]),
    CatalogEntry::of::<WorktreeMerge>(  "worktree_merge",   "worktree merge <slug>",   POST,   "/api/worktrees/merge")  .changes().long().writes_files().examples(&["worktree merge login --into main"]),
    CatalogEntry::of::<WorktreeRemove>( calls::WORKTREE_REMOVE,  "worktree remove <slug>",  DELETE, "/api/worktrees/{slug}") .removes().long().writes_files().unlisted(&["wait"]).also(&["worktree rm"]),
    CatalogEntry::of::<WorktreeRestore>(calls::WORKTREE_RESTORE, "worktree restore <slug>", POST,   "/api/worktrees/restore").changes().long().writes_files(),
];

/// The worktree that is meant: the named one, otherwise the one that the caller is in, otherwise the caller's only
/// one.
fn meant(
    app: &Application,
    caller: &Caller,
    place: &PathBase,
    slug: Option<&str>,
) -> Result<Worktree, Failure> {
    let world = app.engine().world();
    let project = place.project();
    let found = match slug {
        Some(slug) => world.worktrees.get(project, slug),
        None => {
            let here = place.repository().root();
            let is_here = |tree: &&Worktree| std::path::Path::new(&*tree.tree.path) == here;
            let mut own = world.worktrees.of(project).filter(|tree| tree.owner == caller.who);
            let only = own.next().filter(|_| own.next().is_none());
            world.worktrees.of(project).find(is_here).or(only)
        }
    };
    found.cloned().ok_or_else(|| {
        let problem = match slug {
            Some(slug) => format!("there is no worktree {slug:?}"),
            None => "it is not clear which worktree is meant".into(),
        };
        Refusal::NotFound {
            problem,
            hint: format!("see which there are with: {}", next_call::<ListWorktrees>([])),
        }
        .into()
    })
}

fn failure(no: WorktreeError) -> Failure {
    match no.kind() {
        FailureKind::Git | FailureKind::Disk => Failure::Fault(no.to_string()),
        FailureKind::NotFound => {
            Refusal::NotFound { problem: no.to_string(), hint: "look at: git branch --all".into() }.into()
        }
        FailureKind::BadName
        | FailureKind::Taken
        | FailureKind::BadPlace
        | FailureKind::Changed
        | FailureKind::Busy
        | FailureKind::Conflicts
        | FailureKind::Hook => Refusal::bad_input(no.to_string(), "nothing was changed").into(),
    }
}

fn ask(app: &Application, who: Principal, ask: comity_core::Ask) -> Result<(), Failure> {
    said(app.engine().ask(who, ask))
}

/// The same for a call, whose repeat gets the same answer.
fn ask_with_key(app: &Application, caller: &Caller, ask: comity_core::Ask) -> Result<(), Failure> {
    said(app.engine().ask_with_key(caller.who, vec![ask], caller.key.clone()))
}

fn said(answer: Result<Vec<comity_core::Event>, Failed>) -> Result<(), Failure> {
    match answer {
        Ok(_) => Ok(()),
        Err(Failed::Refused(refusal)) => Err(refusal.into()),
        Err(Failed::Fault(problem)) => Err(Failure::Fault(problem)),
    }
}
