//! What `git status` says about a worktree.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use super::change::{Mode, Version, to_path, unreadable};
use crate::git::{Git, UnknownState};

/// Lines of complaints that are kept.
const WARNINGS_MAX: usize = 20;

/// What `git status` says.
#[derive(Default)]
pub(super) struct Status {
    /// The commit that is checked out; nothing on a branch without commits.
    pub(super) head: Option<String>,
    /// The paths that are not as in that commit.
    pub(super) entries: Vec<Entry>,
    /// What git complained about.
    pub(super) warnings: Vec<String>,
}

/// A path that is not as in the commit that is checked out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The path; that of a directory ends with a slash.
    pub(super) path: Vec<u8>,
    pub(super) state: State,
}

/// How git sees a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// In the commit or in the index; the worktree may have it or not.
    Tracked {
        /// What the commit has.
        committed: Option<Version>,
        /// What the index has.
        indexed: Option<Version>,
        is_submodule: bool,
    },
    Unmerged,
    Untracked,
    Ignored,
}

/// Whether ignored files are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IgnoredFiles {
    /// Named, whole directories by their name only.
    Named,
    /// Left out.
    LeftOut,
}

impl Status {
    /// Asks about the paths that some pathspecs mean; none means all.
    pub(super) fn ask(
        git: &Git<'_>,
        specs: &[OsString],
        ignored: IgnoredFiles,
    ) -> Result<Status, UnknownState> {
        let ignored = match ignored {
            IgnoredFiles::Named => "--ignored=matching",
            IgnoredFiles::LeftOut => "--ignored=no",
        };
        // Submodules are projects of their own; git would also start itself in them, under their settings.
        let mut call = git.call("status").args([
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=dirty",
            ignored,
        ]);
        if !specs.is_empty() {
            call = call.arg("--").args(specs);
        }
        let said = call.said()?;
        if !said.status.success() {
            return Err(call.failure(&said));
        }
        let mut status = read(&said.stdout)?;
        let complaints = String::from_utf8_lossy(&said.stderr);
        let said = complaints.lines().filter(|line| !is_being_written(line));
        status.warnings = said.take(WARNINGS_MAX).map(str::to_owned).collect();
        Ok(status)
    }
}

/// Whether git only says that somebody writes a file at this moment: it is listed as changed, which it is.
fn is_being_written(complaint: &str) -> bool {
    complaint.starts_with("error: short read while indexing ")
}

/// The paths that are not committed. Another repository is none of this worktree's files.
pub(super) fn dirty(entries: &[Entry]) -> BTreeSet<PathBuf> {
    let is_ours = |entry: &&Entry| match entry.state {
        State::Tracked { .. } | State::Unmerged => true,
        State::Untracked => !entry.path.ends_with(b"/"),
        State::Ignored => false,
    };
    entries.iter().filter(is_ours).map(|entry| to_path(&entry.path)).collect()
}

fn read(said: &[u8]) -> Result<Status, UnknownState> {
    let mut status = Status::default();
    for line in said.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        match line {
            [b'#', b' ', header @ ..] => match header.strip_prefix(b"branch.oid ") {
                Some(b"(initial)") | None => {}
                Some(head) => status.head = Some(String::from_utf8_lossy(head).into_owned()),
            },
            line => status.entries.push(entry(line).ok_or_else(|| unreadable("git status", line))?),
        }
    }
    Ok(status)
}

fn entry(line: &[u8]) -> Option<Entry> {
    let (kind, rest) = (line.first()?, line.get(2..).filter(|_| line[1] == b' ')?);
    let (path, state) = match kind {
        b'1' => tracked(rest)?,
        // <XY> <sub> <m1> <m2> <m3> <mW> <h1> <h2> <h3> <path>
        b'u' => (rest.splitn(10, |byte| *byte == b' ').nth(9)?, State::Unmerged),
        b'?' => (rest, State::Untracked),
        b'!' => (rest, State::Ignored),
        _ => return None,
    };
    (!path.is_empty()).then(|| Entry { path: path.to_vec(), state })
}

/// `<XY> <sub> <mode in HEAD> <in the index> <in the worktree> <hash in HEAD> <in the index> <path>`
fn tracked(rest: &[u8]) -> Option<(&[u8], State)> {
    let mut fields = rest.splitn(8, |byte| *byte == b' ');
    let (_changes, submodule) = (fields.next()?, fields.next()?);
    let modes = [fields.next()?, fields.next()?, fields.next()?];
    let committed = Version::read(modes[0], fields.next()?)?;
    let indexed = Version::read(modes[1], fields.next()?)?;
    let is_submodule =
        submodule.first() == Some(&b'S') || modes.contains(&Mode::Submodule.as_str().as_bytes());
    Some((fields.next()?, State::Tracked { committed, indexed, is_submodule }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_status() {
        let (a, none) = ("a".repeat(40), "0".repeat(40));
        let check = |line: &str, path: &str, state: State| {
            let said = format!("# branch.oid {a}\0# branch.head x\0{line}\0");
            let status = read(said.as_bytes()).expect(line);
            assert_eq!(status.head.as_deref(), Some(a.as_str()));
            assert_eq!(status.entries, [Entry { path: path.into(), state }], "{line}");
        };
        let plain = Some(Version { mode: Mode::Plain, hash: a.clone() });
        let tracked = |versions: [&Option<Version>; 2], is_submodule| State::Tracked {
            committed: versions[0].clone(),
            indexed: versions[1].clone(),
            is_submodule,
        };
        let both = tracked([&plain, &plain], false);
        check(&format!("1 .M N... 100644 100644 100644 {a} {a} a b"), "a b", both);
        let gone = tracked([&plain, &None], false);
        check(&format!("1 D. N... 100644 000000 000000 {a} {none} x"), "x", gone);
        let module = Some(Version { mode: Mode::Submodule, hash: a.clone() });
        let other = tracked([&module, &module], true);
        check(&format!("1 .M SC.. 160000 160000 160000 {a} {a} s"), "s", other);
        let replaced = tracked([&module, &None], true);
        check(&format!("1 DT N... 160000 000000 100644 {a} {none} s"), "s", replaced);
        check(&format!("u UU N... 100644 100644 100644 100644 {a} {a} {a} c d"), "c d", State::Unmerged);
        check("? new file", "new file", State::Untracked);
        check("! target/", "target/", State::Ignored);
        for wrong in ["x", "1 .M", "2 R. N... x", "? ", &format!("1 .M N... 1 2 3 {a} {a} x")] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
