//! Commits of the driver, the way tests ask for them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_git::commit::{
    Author, ChangeKind, CommitOutcome, CommitReport, CommitRequest, CommitScope, Committed, Confirmation,
    Dirty, FileChange, Hooks, NotCommitted, SearchScope, SharedIndex, commit,
};

use crate::sandbox::Sandbox;

pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
pub(crate) const BOB: Author<'static> = Author { name: "bob", email: "bob@example.org" };

/// These files and directories.
pub(crate) struct Below(Vec<PathBuf>);

pub(crate) fn below(paths: &[&str]) -> Below {
    Below(paths.iter().map(PathBuf::from).collect())
}

impl CommitScope for Below {
    fn look(&self) -> SearchScope {
        SearchScope::At(self.0.clone())
    }

    fn covers(&self, path: &Path) -> bool {
        self.0.iter().any(|dir| path.starts_with(dir))
    }
}

/// A request with nothing special in it.
pub(crate) fn request<'a>(scope: &'a dyn CommitScope) -> CommitRequest<'a> {
    let (message, author) = ("work of bob\n", Some(BOB));
    CommitRequest { message, author, scope, expected: &[], hooks: Hooks::Skip, patience: PATIENCE }
}

pub(crate) fn ask(
    sandbox: &Sandbox,
    dir: &str,
    request: &CommitRequest<'_>,
) -> Result<CommitOutcome, NotCommitted> {
    commit(&sandbox.repository(dir), request, &mut |_| Ok(()))
}

/// Asks for what must come about, and be in order.
pub(crate) fn ask_for(sandbox: &Sandbox, dir: &str, request: &CommitRequest<'_>) -> Committed {
    match ask(sandbox, dir, request) {
        Ok(CommitOutcome::Committed(committed)) => {
            assert_eq!(
                (&committed.verified, &committed.index),
                (&Confirmation::Yes, &SharedIndex::Refreshed)
            );
            assert_eq!(committed.report.warnings, [""; 0]);
            *committed
        }
        other => panic!("not committed: {other:?}"),
    }
}

/// Commits what is changed at some paths of `main`.
pub(crate) fn commit_below(sandbox: &Sandbox, paths: &[&str]) -> Committed {
    ask_for(sandbox, "main", &request(&below(paths)))
}

/// Asks for what must come to nothing, because nothing is changed.
pub(crate) fn nothing_below(sandbox: &Sandbox, paths: &[&str]) -> CommitReport {
    match ask(sandbox, "main", &request(&below(paths))) {
        Ok(CommitOutcome::Nothing(report)) => report,
        other => panic!("not nothing: {other:?}"),
    }
}

/// The changes as a letter and a path each.
pub(crate) fn shown(changes: &[FileChange]) -> Vec<String> {
    let letter = |change: &FileChange| match change.kind() {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
        ChangeKind::ModeChanged => 'X',
        ChangeKind::TypeChanged => 'T',
    };
    changes.iter().map(|change| format!("{} {}", letter(change), change.path.to_string_lossy())).collect()
}

/// The paths that are left, as text.
pub(crate) fn dirty(report: &CommitReport) -> Vec<String> {
    match &report.dirty {
        Dirty::Known(listed) => listed.first.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        Dirty::Unknown { problem } => panic!("{problem}"),
    }
}

/// What was left out, with the reasons.
pub(crate) fn skipped(report: &CommitReport) -> Vec<String> {
    let listed = report.skipped.first.iter();
    listed.map(|skipped| format!("{}: {:?}", skipped.path.to_string_lossy(), skipped.reason)).collect()
}

/// What git says with `-z`, one line each.
pub(crate) fn lines(sandbox: &Sandbox, dir: &str, args: &[&str]) -> Vec<String> {
    let said = sandbox.git(dir, args);
    said.split('\0').filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// What is staged.
pub(crate) fn staged(sandbox: &Sandbox, dir: &str) -> Vec<String> {
    lines(sandbox, dir, &["diff", "--cached", "--name-only", "--no-renames", "-z"])
}

/// The paths that a commit changes.
pub(crate) fn paths_of(sandbox: &Sandbox, dir: &str, commit: &str) -> Vec<String> {
    let args = ["diff-tree", "-r", "-z", "--root", "--no-renames", "--no-commit-id", "--name-only", commit];
    lines(sandbox, dir, &args)
}

/// A merge in `main` that git could not make by itself, and that somebody has resolved since.
pub(crate) fn merging() -> Sandbox {
    let sandbox = Sandbox::with(&["src/a.rs", "docs/d.md"]);
    sandbox.git("main", &["checkout", "-q", "-b", "side"]);
    sandbox.write("main/src/a.rs", "theirs\n");
    sandbox.write("main/docs/new.md", "theirs\n");
    sandbox.git("main", &["add", "--all"]);
    sandbox.git("main", &["commit", "-q", "-m", "theirs"]);
    sandbox.git("main", &["checkout", "-q", "trunk"]);
    sandbox.write("main/src/a.rs", "ours\n");
    sandbox.git("main", &["commit", "-q", "-a", "-m", "ours"]);
    assert!(!sandbox.try_git("main", &["merge", "side"]).status.success(), "it conflicts");
    sandbox.write("main/src/a.rs", "both\n");
    sandbox
}

/// Whether git still merges in `main`.
pub(crate) fn is_merging(sandbox: &Sandbox) -> bool {
    sandbox.path("main/.git/MERGE_HEAD").exists()
}

/// Puts so many files into the commit of `main` that git is not asked about all of them. They are not in the worktree.
pub(crate) fn enlarge(sandbox: &Sandbox) {
    let blob = sandbox.git_reads("main", &["hash-object", "-w", "--stdin"], "bulk\n");
    let entry = |number: usize| format!("100644 blob {}\t{number:0>250}\n", blob.trim());
    let tree = sandbox.git_reads("main", &["mktree"], &(0..3_600).map(entry).collect::<String>());
    sandbox.git("main", &["read-tree", "--prefix=bulk/", tree.trim()]);
    sandbox.git("main", &["commit", "-q", "-m", "bulk"]);
    let size = std::fs::metadata(sandbox.path("main/.git/index")).expect("an index").len();
    assert!(size > 1 << 20, "{size} bytes");
}
