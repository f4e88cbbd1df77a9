//! Where a new worktree starts, and whether its names are free.

use std::fs;

use super::commit::{BaseCommit, CommitId};
use super::failure::{FailureKind, WorktreeError};
use super::names::Branch;
use super::slug::Slug;
use super::{Driver, FailureKind::Taken};
use crate::git::Git;

const BASE_BYTES_MAX: usize = 1_024;
const TAKEN_HINT: &str = "take another name, or remove the old one first";

impl Driver {
    /// The base's current commit, after checking that the new worktree's branch is free.
    ///
    /// Both in one call: for a worktree from the pool a git call is a good part of the cost.
    pub(super) fn base_for(
        &self,
        git: &Git<'_>,
        base: &str,
        branch: &Branch,
    ) -> Result<BaseCommit, WorktreeError> {
        let family = branch.as_str().split('/').next().unwrap_or_default();
        let mut patterns = vec![format!("refs/heads/{family}")];
        if is_simple(base) {
            patterns.extend(["heads", "tags", "remotes"].map(|kind| format!("refs/{kind}/{base}")));
        }
        let mut arguments =
            vec!["for-each-ref", "--ignore-case", "--format=%(objecttype) %(objectname) %(refname)"];
        arguments.extend(patterns.iter().map(String::as_str));
        // An expression has to be resolved separately: in parallel, because a second call takes as long.
        let (output, resolved) = std::thread::scope(|scope| {
            let resolving = (!is_simple(base)).then(|| scope.spawn(|| self.resolve(git, base)));
            let died = || Err(WorktreeError::git("a thread that asked git has died"));
            let output = git.tell(&arguments, b"");
            (output, resolving.map(|resolving| resolving.join().unwrap_or_else(|_| died())))
        });
        let output = output?;
        let refs = String::from_utf8_lossy(&output.stdout);
        let mut found = Vec::new();
        for line in refs.lines() {
            let mut fields = line.splitn(3, ' ');
            let (Some(kind), Some(id), Some(name)) = (fields.next(), fields.next(), fields.next()) else {
                return Err(WorktreeError::git(format!(
                    "git for-each-ref printed {line:?}, which Comity can't read"
                )));
            };
            if let Some(other) =
                name.strip_prefix("refs/heads/").filter(|other| collide(other, branch.as_str()))
            {
                let message = format!("the branch {branch} would collide with {other}");
                return Err(WorktreeError::new(Taken, message, TAKEN_HINT));
            }
            if is_simple(base) && patterns[1..].iter().any(|pattern| pattern == name) {
                found.push((kind, id));
            }
        }
        let commit = match (resolved, found.as_slice()) {
            (Some(resolved), _) => resolved?,
            (None, [("commit", id)]) => CommitId::printed(id.as_bytes())?,
            (None, _) => self.resolve(git, base)?,
        };
        Ok(BaseCommit { name: base.to_owned(), commit })
    }

    pub(super) fn resolve(&self, git: &Git<'_>, name: &str) -> Result<CommitId, WorktreeError> {
        if name.is_empty() || name.len() > BASE_BYTES_MAX || name.contains(char::is_control) {
            return Err(WorktreeError::bad_name(name, "it isn't the name of a commit"));
        }
        let peeled = format!("{name}^{{commit}}");
        let output = git.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled], b"")?;
        if !output.status.success() {
            let message = format!("there is no commit {name:?}");
            return Err(WorktreeError::new(
                FailureKind::NotFound,
                message,
                "name a branch, a tag or a commit",
            ));
        }
        CommitId::printed(&output.stdout)
    }

    /// Checks that no worktree has this slug's folder, in any spelling, and that git does not think so either.
    pub(super) fn check_folder(&self, slug: &Slug) -> Result<(), WorktreeError> {
        let (dir, folder) = (&self.places.worktrees, slug.folder());
        for entry in fs::read_dir(dir).map_err(WorktreeError::disk(dir))? {
            let name = entry.map_err(WorktreeError::disk(dir))?.file_name();
            if name.eq_ignore_ascii_case(&folder) {
                let message = format!("there is a worktree {} already", name.display());
                return Err(WorktreeError::new(Taken, message, TAKEN_HINT));
            }
        }
        match self.entries_for(&dir.join(folder))?.first() {
            None => Ok(()),
            Some(entry) => {
                let message = format!("git still has the entry {} for a worktree there", entry.display());
                Err(WorktreeError::new(Taken, message, TAKEN_HINT))
            }
        }
    }
}

/// Whether a base can only be the name of a branch or tag: no expression, no id, none of git's special names.
fn is_simple(base: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
    let looks_like_id = base.bytes().all(|byte| byte.is_ascii_hexdigit());
    let looks_special = base.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    base.len() <= BASE_BYTES_MAX
        && base.bytes().all(is_fit)
        && super::names::is_legal_ref(base)
        && !base.starts_with("refs/")
        && !looks_like_id
        && !looks_special
}

/// Whether two branches cannot coexist on every file system: the same name, one inside the other, or a directory that
/// differs only in case.
fn collide(a: &str, b: &str) -> bool {
    let mut names = a.split('/').zip(b.split('/'));
    let first_difference = names.find(|(a, b)| a != b);
    match first_difference {
        Some((a, b)) => a.eq_ignore_ascii_case(b),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_cannot_be_side_by_side() {
        let check = |a: &str, b: &str, expected: bool| {
            assert_eq!(collide(a, b), expected, "{a} {b}");
            assert_eq!(collide(b, a), expected, "{b} {a}");
        };
        check("comity/ann", "comity/ann", true);
        check("comity/ann", "comity/Ann", true);
        check("comity/ann", "comity/ann/x", true);
        check("comity/ann/x", "comity/ANN/y", true);
        check("Comity/ann", "comity/bob", true);
        check("comity", "comity/bob", true);
        check("comity/ann", "comity/annika", false);
        check("comity/ann/x", "comity/ann/y", false);
    }
}
