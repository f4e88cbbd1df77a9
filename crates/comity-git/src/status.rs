//! What `git status` says about a worktree; all callers of it use this.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::commit::{FileMode, FileVersion};
use crate::git::{Git, UnknownState};
use crate::parse::{parts, to_path, unreadable};
use crate::worktree::CommitId;

const WARNINGS_MAX: usize = 20;

#[derive(Clone, Copy, Default)]
pub(crate) struct StatusQuery<'a> {
    /// Pathspecs; none means everything.
    pub(crate) specs: &'a [OsString],
    /// Whether ignored files are listed, with whole directories as one entry.
    pub(crate) ignored: bool,
    /// Whether submodules at another commit than in the index are listed.
    pub(crate) submodules: bool,
}

#[derive(Debug)]
pub(crate) struct WorktreeStatus {
    /// `None` on a branch without commits.
    pub(crate) head: Option<CommitId>,
    /// Its short name, if one is checked out.
    pub(crate) branch: Option<Vec<u8>>,
    /// The paths that differ from that commit.
    pub(crate) entries: Vec<StatusEntry>,
    complaints: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StatusEntry {
    /// A directory ends with a slash.
    pub(crate) path: Vec<u8>,
    pub(crate) state: PathState,
    pub(crate) is_submodule: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PathState {
    /// In the commit or in the index; the worktree may have it or not.
    Tracked {
        committed: Option<FileVersion>,
        indexed: Option<FileVersion>,
    },
    Unmerged,
    Untracked,
    Ignored,
}

impl WorktreeStatus {
    /// Asks git. Warnings are no error: see [`WorktreeStatus::without_complaints`].
    pub(crate) fn ask(git: &Git<'_>, query: StatusQuery<'_>) -> Result<WorktreeStatus, UnknownState> {
        let mut call = git.call("status").args([
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--no-renames",
            if query.ignored { "--ignored=matching" } else { "--ignored=no" },
            // Submodules are projects of their own; git would also run in them, under their settings.
            if query.submodules { "--ignore-submodules=dirty" } else { "--ignore-submodules=all" },
        ]);
        if !query.specs.is_empty() {
            call = call.arg("--").args(query.specs);
        }
        let output = call.output()?;
        if !output.status.success() {
            return Err(call.failure(&output));
        }
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(WorktreeStatus { complaints, ..read(&output.stdout)? })
    }

    /// For callers that need the whole truth: a git that warns may not have seen everything.
    pub(crate) fn without_complaints(self, git: &Git<'_>) -> Result<WorktreeStatus, UnknownState> {
        match self.complaints.trim() {
            "" => Ok(self),
            output => {
                let root = git.worktree().root.display();
                Err(UnknownState::new(format!("git status in {root}: {output}")))
            }
        }
    }

    /// Git's warnings. Somebody writing a file at this moment is none: it is listed as changed.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let is_being_written = |line: &&str| line.starts_with("error: short read while indexing ");
        let lines = self.complaints.lines().filter(|line| !is_being_written(line));
        lines.take(WARNINGS_MAX).map(str::to_owned).collect()
    }
}

impl StatusEntry {
    pub(crate) fn to_path(&self) -> PathBuf {
        to_path(&self.path)
    }

    /// For people.
    pub(crate) fn name(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// Whether git listed a directory. Unless ignored, those are repositories of their own.
    pub(crate) fn is_dir(&self) -> bool {
        self.path.ends_with(b"/")
    }

    pub(crate) fn is_deleted_in_index(&self) -> bool {
        matches!(&self.state, PathState::Tracked { committed: Some(_), indexed: None })
    }
}

fn read(output: &[u8]) -> Result<WorktreeStatus, UnknownState> {
    let (mut head, mut branch, mut entries) = (None, None, Vec::new());
    for line in parts(output) {
        let unknown = || unreadable("git status", line);
        let Some(header) = line.strip_prefix(b"# ") else {
            entries.push(entry(line).ok_or_else(unknown)?);
            continue;
        };
        // Git asks readers to skip unknown headers.
        if let Some(id) = header.strip_prefix(b"branch.oid ") {
            let id = (id != b"(initial)").then(|| CommitId::printed(id)).transpose();
            head = Some(id.map_err(|_| unknown())?);
        } else if let Some(name) = header.strip_prefix(b"branch.head ") {
            branch = Some((name != b"(detached)").then(|| name.to_vec()));
        }
    }
    match (head, branch) {
        (Some(head), Some(branch)) => Ok(WorktreeStatus { head, branch, entries, complaints: String::new() }),
        _ => Err(UnknownState::new("git status did not say what is checked out")),
    }
}

fn entry(line: &[u8]) -> Option<StatusEntry> {
    let (kind, rest) = (line.first()?, line.get(2..).filter(|_| line[1] == b' ')?);
    let (path, state, is_submodule) = match kind {
        b'1' | b'u' => tracked(rest, *kind == b'u')?,
        b'?' => (rest, PathState::Untracked, false),
        b'!' => (rest, PathState::Ignored, false),
        _ => return None,
    };
    (!path.is_empty()).then(|| StatusEntry { path: path.to_vec(), state, is_submodule })
}

/// `<XY> <submodule> <modes> <hashes> <path>`, with three modes (HEAD, index and worktree) and two hashes, or for an
/// unmerged path four modes and three hashes.
fn tracked(rest: &[u8], is_unmerged: bool) -> Option<(&[u8], PathState, bool)> {
    let fields: Vec<&[u8]> = rest.splitn(if is_unmerged { 10 } else { 8 }, |byte| *byte == b' ').collect();
    let is_submodule = match (*fields.get(1)?, fields.get(2..5)?) {
        ([b'S', _, _, _], _) => true,
        ([b'N', b'.', b'.', b'.'], modes) => modes.contains(&FileMode::Submodule.as_str().as_bytes()),
        _ => return None,
    };
    let state = if is_unmerged {
        PathState::Unmerged
    } else {
        let committed = FileVersion::read(fields[2], fields.get(5)?)?;
        PathState::Tracked { committed, indexed: FileVersion::read(fields[3], fields.get(6)?)? }
    };
    Some((fields.get(if is_unmerged { 9 } else { 7 })?, state, is_submodule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_status() {
        let (a, none) = ("a".repeat(40), "0".repeat(40));
        let status =
            |line: &str| read(format!("# branch.oid {a}\0# branch.head x\0# new y\0{line}\0").as_bytes());
        let check = |line: &str, path: &str, state: PathState, is_submodule: bool| {
            let status = status(line).expect(line);
            assert_eq!(status.head.as_ref().map(CommitId::as_str), Some(a.as_str()));
            assert_eq!(status.branch.as_deref(), Some(&b"x"[..]));
            assert_eq!(status.entries, [StatusEntry { path: path.into(), state, is_submodule }], "{line}");
        };
        let plain = Some(FileVersion { mode: FileMode::Plain, hash: a.clone() });
        let tracked = |versions: [&Option<FileVersion>; 2]| PathState::Tracked {
            committed: versions[0].clone(),
            indexed: versions[1].clone(),
        };
        let both = tracked([&plain, &plain]);
        check(&format!("1 .M N... 100644 100644 100644 {a} {a} a b"), "a b", both, false);
        let gone = tracked([&plain, &None]);
        check(&format!("1 D. N... 100644 000000 000000 {a} {none} x"), "x", gone, false);
        let module = Some(FileVersion { mode: FileMode::Submodule, hash: a.clone() });
        let other = tracked([&module, &module]);
        check(&format!("1 .M SC.. 160000 160000 160000 {a} {a} s"), "s", other, true);
        let replaced = tracked([&module, &None]);
        check(&format!("1 DT N... 160000 000000 100644 {a} {none} s"), "s", replaced, true);
        let unmerged = format!("u UU N... 100644 100644 100644 100644 {a} {a} {a} c d");
        check(&unmerged, "c d", PathState::Unmerged, false);
        check("? new file", "new file", PathState::Untracked, false);
        check("! target/", "target/", PathState::Ignored, false);
        let odd_mode = format!("1 .M N... 1 2 3 {a} {a} x");
        let odd_module = format!("1 .M X... 100644 100644 100644 {a} {a} x");
        for wrong in ["x", "1 .M", "2 R. N... x", "? ", &odd_mode, &odd_module] {
            assert!(status(wrong).is_err(), "{wrong:?}");
        }
        for header in ["", "# branch.oid (initial)\0", "# branch.oid x\0# branch.head x\0"] {
            assert!(read(header.as_bytes()).is_err(), "{header:?}");
        }
        let empty = read(b"# branch.oid (initial)\0# branch.head (detached)\0").expect("readable");
        assert_eq!((empty.head, empty.branch), (None, None));
    }
}
