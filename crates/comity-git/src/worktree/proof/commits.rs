//! Commits that only a worktree keeps.

use std::path::Path;
use std::time::Instant;

use super::kept::{KeepCause, KeepReason};
use crate::git::{Git, UnknownState};
use crate::worktree::names::Branch;
use crate::worktrees::WorktreeDirs;

/// Commits that are looked at; a worktree with more is kept.
const TIPS_MAX: usize = 20_000;
/// Commits that are named.
const NAMED_MAX: &str = "--max-count=5";
/// Refs that each worktree has for itself.
const OWN_REFS: &[&str] = &["refs/worktree", "refs/bisect", "refs/rewritten"];
/// The latest stash. It holds commits, but does not keep them: stashes are dropped one by one.
const STASH: &str = "refs/stash";

pub(crate) struct BranchHistory {
    /// Every commit that it is or was at.
    pub(crate) tips: Vec<String>,
    /// The branch that is checked out, and the one that was made for it.
    pub(crate) own: Vec<Branch>,
    /// The same by full name.
    pub(crate) own_refs: Vec<String>,
    pub(super) has_stashes: bool,
}

impl BranchHistory {
    /// Reads it from the worktree's refs and reflogs.
    pub(crate) fn of(
        worktree: &WorktreeDirs,
        own: Vec<Branch>,
        deadline: Instant,
    ) -> Result<BranchHistory, UnknownState> {
        let git = Git::on_refs(worktree, deadline);
        let branches: Vec<String> = own.iter().map(Branch::full).collect();
        let mut arguments = vec!["for-each-ref", "--format=%(objectname) %(refname)", STASH];
        arguments.extend(OWN_REFS.iter().copied().chain(branches.iter().map(String::as_str)));
        let output = git.tell(&arguments, b"")?;
        let refs = text(&output.stdout)?;
        let refs: Vec<(&str, &str)> = refs.lines().filter_map(|line| line.split_once(' ')).collect();
        let own_refs =
            refs.iter().filter(|(_, name)| OWN_REFS.iter().any(|dir| Path::new(name).starts_with(dir)));
        let mut tips: Vec<String> = own_refs.map(|(id, _)| (*id).to_owned()).collect();
        // A renamed or deleted branch has no reflog to ask for.
        let limit = format!("--max-count={TIPS_MAX}");
        let mut arguments = vec!["rev-list", "--ignore-missing", "--walk-reflogs", &limit, "HEAD"];
        arguments.extend(
            branches.iter().map(String::as_str).filter(|branch| refs.iter().any(|(_, it)| it == branch)),
        );
        tips.extend(text(&git.tell(&arguments, b"")?.stdout)?.lines().map(str::to_owned));
        tips.extend(
            text(&git.tell(&["rev-parse", "--verify", "HEAD^{commit}"], b"")?.stdout)?
                .lines()
                .map(str::to_owned),
        );
        tips.extend(original_head(&worktree.git_dir));
        tips.sort_unstable();
        tips.dedup();
        if tips.len() >= TIPS_MAX {
            return Err(UnknownState::new(format!("it has been at more than {TIPS_MAX} commits")));
        }
        let has_stashes = refs.iter().any(|(_, name)| *name == STASH);
        Ok(BranchHistory { tips, own, has_stashes, own_refs: branches.clone() })
    }
}

/// Whether the worktree is or was at a commit that only its own refs keep.
///
/// Its own are the branch that is checked out, the one that was made for it, and those that only it can see. "Was"
/// means its reflogs: an amended or rebased commit is work until somebody says that it is not.
pub(super) fn work(
    worktree: &WorktreeDirs,
    history: &BranchHistory,
    deadline: Instant,
) -> Result<Option<KeepReason>, UnknownState> {
    let lost = not_kept(worktree, &history.tips, &history.own_refs, deadline)?;
    Ok(KeepReason::if_any(KeepCause::Commits, lost))
}

/// The latest of some commits and their ancestors that are kept only by the given refs and worktrees' own.
pub(crate) fn not_kept(
    worktree: &WorktreeDirs,
    tips: &[String],
    own: &[String],
    deadline: Instant,
) -> Result<Vec<String>, UnknownState> {
    // Real commits, without replacements and grafts.
    let git = Git::on_refs(worktree, deadline)
        .with_variable("GIT_NO_REPLACE_OBJECTS", "1")
        .with_variable("GIT_GRAFT_FILE", "/dev/null");
    let mut input = String::new();
    tips.iter().for_each(|tip| input.extend([tip.as_str(), "\n"]));
    let own = own.iter().cloned();
    let own_refs = OWN_REFS.iter().map(|dir| format!("{dir}/*"));
    let excluded = own.chain(own_refs).chain([STASH.to_owned()]).map(|name| format!("--exclude={name}"));
    let excluded: Vec<String> = excluded.collect();
    let mut arguments = vec!["rev-list", "--ignore-missing", NAMED_MAX, "--stdin", "--not"];
    arguments.extend(excluded.iter().map(String::as_str));
    arguments.push("--glob=refs/*");
    Ok(text(&git.tell(&arguments, input.as_bytes())?.stdout)?.lines().map(str::to_owned).collect())
}

fn text(output: &[u8]) -> Result<&str, UnknownState> {
    str::from_utf8(output).map_err(|_| UnknownState::new("git named commits by what isn't text"))
}

/// Where the worktree was before its last large step.
fn original_head(git_dir: &Path) -> Option<String> {
    let text = crate::dot_git::pointer(&git_dir.join("ORIG_HEAD")).ok()??;
    let text = String::from_utf8(text).ok()?;
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(text)
}
