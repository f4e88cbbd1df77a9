//! What git has merged by itself, and which commits it comes from.

use std::path::Path;

use super::change::FileChange;
use crate::git::{Git, UnknownState};

/// Commits of one path that are looked at.
const TRACED_MAX: usize = 100;

/// What a merge brings that git could make by itself.
#[derive(Clone, Copy, Debug)]
pub struct MergedByGit<'a> {
    pub changes: &'a [FileChange],
    pub(super) git: &'a Git<'a>,
    pub(super) head: &'a str,
    pub(super) theirs: &'a str,
}

impl MergedByGit<'_> {
    /// The commits of the other side by which it changes a path; none if what is there now comes from none of them, or from
    /// too many.
    pub fn commits_to(&self, path: &Path) -> Result<Vec<String>, UnknownState> {
        let git = self.git;
        let range = format!("{}..{}", self.head, self.theirs);
        // Merges that say otherwise than each of their sides are commits, too.
        let call = git.call("log").env("GIT_LITERAL_PATHSPECS", "1");
        let listed = call.args(["--full-history", "--format=%H", &range, "--"]).arg(path).done()?;
        let commits: Vec<String> = String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect();
        if commits.len() > TRACED_MAX {
            return Ok(vec![]);
        }
        // A merge may also take what neither side had any more.
        let now = self.version(self.theirs, path)?;
        for commit in &commits {
            if self.version(commit, path)? == now {
                return Ok(commits);
            }
        }
        Ok(vec![])
    }

    fn version(&self, commit: &str, path: &Path) -> Result<Vec<u8>, UnknownState> {
        let call = self.git.call("ls-tree").env("GIT_LITERAL_PATHSPECS", "1");
        call.args(["-r", "-z", "--full-tree", commit, "--"]).arg(path).done()
    }
}
