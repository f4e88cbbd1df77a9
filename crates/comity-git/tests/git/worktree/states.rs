//! Ways to have work in a worktree, most of which `git status` says nothing about.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use comity_git::worktree::KeepCause;
use rustix::fs::{FileType, Mode};

use super::yard::Yard;

/// A way to have work in a worktree, and the reason for which it has to be kept.
pub(crate) struct State {
    pub(crate) name: &'static str,
    pub(crate) make: fn(&Yard, &str),
    pub(crate) why: KeepCause,
    /// Whether plain `git status` shows nothing of it.
    pub(crate) is_silent: bool,
}

const fn loud(name: &'static str, why: KeepCause, make: fn(&Yard, &str)) -> State {
    State { name, make, why, is_silent: false }
}

const fn silent(name: &'static str, why: KeepCause, make: fn(&Yard, &str)) -> State {
    State { name, make, why, is_silent: true }
}

/// All of them; each can be made in a fresh worktree, and in one that has others already.
pub(crate) const STATES: &[State] = &[
    loud("modified", KeepCause::Modified, |yard, dir| write(yard, dir, "src/a.rs", "work\n")),
    loud("staged", KeepCause::Modified, |yard, dir| {
        write(yard, dir, "src/b.rs", "staged work\n");
        try_git(yard, dir, &["add", "src/b.rs"]);
    }),
    loud("deleted", KeepCause::Modified, |yard, dir| drop(fs::remove_file(yard.path(dir).join("docs/c.md")))),
    loud("untracked", KeepCause::Untracked, |yard, dir| write(yard, dir, "src/new.rs", "work\n")),
    silent("untracked, not shown by a setting", KeepCause::Untracked, |yard, dir| {
        try_git(yard, "main", &["config", "status.showUntrackedFiles", "no"]);
        write(yard, dir, "notes.txt", "work\n");
    }),
    silent("ignored", KeepCause::Ignored, |yard, dir| write(yard, dir, ".env", "SECRET=1\n")),
    silent("ignored in a directory", KeepCause::Ignored, |yard, dir| {
        write(yard, dir, "conf/deep/local.json", "{}\n")
    }),
    silent("ignored by a file in the directory", KeepCause::Ignored, |yard, dir| {
        write(yard, dir, "scratch/.gitignore", "*\n");
        write(yard, dir, "scratch/draft.md", "work\n");
    }),
    silent("hidden by info/exclude", KeepCause::Ignored, |yard, dir| {
        write(yard, "main", ".git/info/exclude", "hidden.txt\n");
        write(yard, dir, "hidden.txt", "work\n");
    }),
    silent("hidden by a file of excludes", KeepCause::Ignored, |yard, dir| {
        yard.sandbox.write("excludes", "covered.txt\n");
        let excludes = yard.path("excludes");
        try_git(yard, "main", &["config", "core.excludesFile", excludes.to_str().expect("text")]);
        write(yard, dir, "covered.txt", "work\n");
    }),
    silent("assumed unchanged", KeepCause::Hidden, |yard, dir| {
        try_git(yard, dir, &["update-index", "--assume-unchanged", "src/a.rs"]);
        write(yard, dir, "src/a.rs", "work that git does not look at\n");
    }),
    silent("skipped", KeepCause::Hidden, |yard, dir| {
        try_git(yard, dir, &["update-index", "--skip-worktree", "src/b.rs"]);
        write(yard, dir, "src/b.rs", "work that git does not look at\n");
    }),
    silent("a mode, with modes switched off", KeepCause::Modified, |yard, dir| {
        try_git(yard, "main", &["config", "core.fileMode", "false"]);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(yard.path(dir).join("docs/c.md"), mode).unwrap_or_default();
    }),
    silent("the same name in another case, with case switched off", KeepCause::Untracked, |yard, dir| {
        try_git(yard, "main", &["config", "core.ignoreCase", "true"]);
        write(yard, dir, "src/B.rs", "work\n");
    }),
    silent("a commit on the branch", KeepCause::Commits, |yard, dir| commit(yard, dir, "on the branch")),
    silent("a commit on no branch", KeepCause::Commits, |yard, dir| {
        try_git(yard, dir, &["checkout", "-q", "--detach"]);
        commit(yard, dir, "on no branch");
    }),
    silent("a commit that was left behind", KeepCause::Commits, |yard, dir| {
        commit(yard, dir, "left behind");
        try_git(yard, dir, &["reset", "-q", "--keep", "HEAD~1"]);
    }),
    silent("a commit on no branch that was left", KeepCause::Commits, |yard, dir| {
        try_git(yard, dir, &["checkout", "-q", "--detach"]);
        commit(yard, dir, "left");
        try_git(yard, dir, &["checkout", "-q", "comity/ann"]);
    }),
    silent("a commit at a ref that only the worktree has", KeepCause::Commits, |yard, dir| {
        let tree = yard.sandbox.git("main", &["rev-parse", "trunk^{tree}"]);
        let commit = yard.sandbox.git("main", &["commit-tree", "-m", "aside", tree.trim_end()]);
        try_git(yard, dir, &["update-ref", "refs/worktree/aside", commit.trim_end()]);
    }),
    silent("a commit that no log tells of", KeepCause::Commits, |yard, dir| {
        commit(yard, dir, "not logged");
        try_git(yard, dir, &["reset", "-q", "--keep", "HEAD~1"]);
        drop(fs::remove_file(yard.path(&yard.git_dir(dir)).join("logs/HEAD")));
        drop(fs::remove_file(yard.path("main/.git/logs/refs/heads/comity/ann")));
    }),
    silent("a merge", KeepCause::Unfinished, |yard, dir| {
        other_branch(yard);
        try_git(yard, dir, &["merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "other"]);
    }),
    silent("a rebase", KeepCause::Unfinished, |yard, dir| {
        try_git(yard, dir, &["rebase", "-q", "--exec", "false", "HEAD~1"])
    }),
    silent("a cherry-pick", KeepCause::Unfinished, |yard, dir| try_git(yard, dir, &["cherry-pick", "trunk"])),
    loud("a revert", KeepCause::Unfinished, |yard, dir| {
        try_git(yard, dir, &["rm", "-q", "-r", "src"]);
        try_git(yard, dir, &["commit", "-q", "-m", "without"]);
        try_git(yard, dir, &["revert", "--no-edit", "trunk"]);
    }),
    silent("a bisection", KeepCause::Unfinished, |yard, dir| try_git(yard, dir, &["bisect", "start"])),
    silent("patches by mail", KeepCause::Unfinished, |yard, dir| {
        yard.sandbox.write("patch", PATCH);
        let patch = yard.path("patch");
        try_git(yard, dir, &["am", patch.to_str().expect("text")]);
    }),
    silent("a lock of the index", KeepCause::Unfinished, |yard, dir| {
        let git_dir = yard.git_dir(dir);
        write(yard, &git_dir, "index.lock", "");
    }),
    silent("something unknown in git's directory", KeepCause::Unknown, |yard, dir| {
        let git_dir = yard.git_dir(dir);
        write(yard, &git_dir, "NEW_KIND_OF_STATE", "");
    }),
    silent("a stash", KeepCause::Stash, |yard, dir| {
        write(yard, dir, "src/a.rs", "stashed work\n");
        try_git(yard, dir, &["stash", "-q"]);
    }),
    silent("a stash on no branch", KeepCause::Stash, |yard, dir| {
        try_git(yard, dir, &["checkout", "-q", "--detach"]);
        write(yard, dir, "src/a.rs", "stashed work\n");
        try_git(yard, dir, &["stash", "-q"]);
        try_git(yard, dir, &["checkout", "-q", "comity/ann"]);
    }),
    loud("a repository", KeepCause::Repository, |yard, dir| {
        try_git(yard, dir, &["init", "-q", "inner"]);
        write(yard, dir, "inner/work.txt", "work\n");
    }),
    silent("a repository over tracked files", KeepCause::Repository, |yard, dir| {
        try_git(yard, dir, &["init", "-q", "src"]);
        let inner = format!("{dir}/src");
        try_git(yard, &inner, &["add", "--all"]);
        try_git(yard, &inner, &["commit", "-q", "-m", "inner"]);
    }),
    silent("a pipe", KeepCause::Untracked, |yard, dir| {
        let pipe = yard.path(dir).join("pipe");
        let _is_there = rustix::fs::mknodat(rustix::fs::CWD, pipe, FileType::Fifo, Mode::RWXU, 0);
    }),
    silent("a lock", KeepCause::Locked, |yard, dir| {
        let path = yard.path(dir);
        try_git(yard, "main", &["worktree", "lock", "--reason", "mine", path.to_str().expect("text")]);
    }),
];

/// A patch that cannot be applied.
const PATCH: &str = "From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: ann <ann@example.org>
Date: Mon, 17 Sep 2001 00:00:00 +0000
Subject: x

---
diff --git a/nothing b/nothing
--- a/nothing
+++ b/nothing
@@ -1 +1 @@
-a
+b
";

/// Runs git; that it stops half-way is often the point.
pub(crate) fn try_git(yard: &Yard, dir: &str, args: &[&str]) {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("HOME", yard.path("nobody")).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(yard.path(dir));
    git.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgSign=false"]);
    git.args(args).output().expect("git");
}

pub(crate) fn write(yard: &Yard, dir: &str, file: &str, text: &str) {
    yard.sandbox.write(&format!("{dir}/{file}"), text);
}

/// Commits a file that is in no other commit.
pub(crate) fn commit(yard: &Yard, dir: &str, name: &str) {
    write(yard, dir, &format!("{name}.txt"), name);
    try_git(yard, dir, &["add", "--", &format!("{name}.txt")]);
    try_git(yard, dir, &["commit", "-q", "-m", name]);
}

/// Makes the branch `other` with a commit of its own.
fn other_branch(yard: &Yard) {
    let tree = yard.sandbox.git("main", &["rev-parse", "trunk^{tree}"]);
    let commit = yard.sandbox.git("main", &["commit-tree", "-m", "other", "-p", "trunk", tree.trim_end()]);
    try_git(yard, "main", &["branch", "-f", "other", commit.trim_end()]);
}
