//! Keeps by refs what only a worktree keeps, so that it can go without losing anything.

use std::fs;
use std::path::Path;

use super::Driver;
use super::failure::{FailureKind, WorktreeError};
use super::names::{Branch, random_suffix};
use super::proof::{BranchHistory, not_kept};
use super::record::WorktreeRecord;
use crate::git::Git;
use crate::worktrees::WorktreeDirs;

pub(super) const SAVED: &str = "refs/comity/saved";
const REFS_MAX: usize = 1_000;

impl Driver {
    /// Creates a ref for every commit that only this worktree keeps; returns their names.
    ///
    /// After that, such commits are no longer a reason to keep the worktree.
    pub fn save_commits(&self, path: &Path) -> Result<Vec<String>, WorktreeError> {
        let (worktree, ready) = self
            .owned(path)
            .map_err(|kept| WorktreeError::new(FailureKind::BadPlace, kept.to_string(), ""))?;
        let name = format!("{SAVED}/{}-{}", ready.slug, random_suffix()?);
        self.save_tips(&worktree, Some(ready.branch), &name)
    }

    /// Keeps commits by refs below a name.
    fn save_tips(
        &self,
        worktree: &WorktreeDirs,
        branch: Option<Branch>,
        name: &str,
    ) -> Result<Vec<String>, WorktreeError> {
        let deadline = self.deadline();
        let git = Git::on_refs(worktree, deadline);
        let head = git.run(&["symbolic-ref", "--quiet", "--short", "HEAD"], b"")?;
        let head = Branch::parse(String::from_utf8_lossy(&head.stdout).trim_end()).ok();
        let history = BranchHistory::of(worktree, head.into_iter().chain(branch).collect(), deadline)?;
        let mut saved = Vec::new();
        for tip in &history.tips {
            let tip = std::slice::from_ref(tip);
            if not_kept(worktree, tip, &history.own_refs, deadline)?.is_empty() {
                continue;
            }
            if saved.len() == REFS_MAX {
                return Err(WorktreeError::git(format!(
                    "more than {REFS_MAX} commits would have to be kept"
                )));
            }
            let name = format!("{name}/{}", saved.len() + 1);
            git.tell(&["update-ref", &name, &tip[0], &"0".repeat(tip[0].len())], b"")?;
            saved.push(name);
        }
        Ok(saved)
    }
}

/// Keeps what only git's entry for a worktree has: commits, and what is staged.
pub(super) fn keep_everything(driver: &Driver, path: &Path, git_dir: &Path) -> Result<(), WorktreeError> {
    let folder = path.file_name().and_then(|name| name.to_str()).unwrap_or("worktree").replace('+', "/");
    let name = format!("{SAVED}/{folder}-{}", random_suffix()?);
    // The files may be gone; git needs a directory to be in.
    let worktree = WorktreeDirs { root: git_dir.to_owned(), git_dir: git_dir.to_owned() };
    let git = Git::on_refs(&worktree, driver.deadline());
    let has_head = git.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], b"")?.status.success();
    if has_head || git_dir.join("logs/HEAD").exists() {
        let branch = match WorktreeRecord::read(git_dir) {
            Ok(Some(WorktreeRecord::Making { branch, .. })) => Some(branch),
            Ok(Some(WorktreeRecord::Ready(ready))) => Some(ready.branch),
            Ok(Some(WorktreeRecord::Pooled(_)) | None) | Err(_) => None,
        };
        driver.save_tips(&worktree, branch, &name)?;
    }
    if git_dir.join("index").exists() {
        keep_index(driver, &worktree, &format!("{name}/index"))?;
    }
    Ok(())
}

/// Keeps what is staged, as a tree. Git wants to lock the index for that, so it gets a copy.
fn keep_index(driver: &Driver, worktree: &WorktreeDirs, name: &str) -> Result<(), WorktreeError> {
    let copy = driver.places.trash.join(format!(".index-{}", random_suffix()?));
    fs::copy(worktree.git_dir.join("index"), &copy).map_err(WorktreeError::disk(&copy))?;
    let git = Git::on_refs(worktree, driver.deadline()).with_variable("GIT_INDEX_FILE", &copy);
    let written = git.tell(&["write-tree"], b"");
    fs::remove_file(&copy).map_err(WorktreeError::disk(&copy))?;
    let output = written?.stdout;
    let tree = String::from_utf8_lossy(&output);
    git.tell(&["update-ref", name, tree.trim_end()], b"")?;
    Ok(())
}
