//! What git lists of a project's worktrees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Lists them in a form that no path breaks.
pub(crate) const LIST: [&str; 4] = ["worktree", "list", "--porcelain", "-z"];

/// A worktree that git knows; it may be gone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RegisteredWorktree {
    pub(crate) path: PathBuf,
    pub(crate) head: Option<String>,
    /// Its full name; `None` if HEAD is detached.
    pub(crate) branch: Option<Vec<u8>>,
}

/// Parses the output of [`LIST`].
pub(crate) fn listed_worktrees(output: &[u8]) -> Vec<RegisteredWorktree> {
    let mut trees: Vec<RegisteredWorktree> = Vec::new();
    for line in output.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            trees.push(RegisteredWorktree {
                path: OsStr::from_bytes(path).into(),
                ..RegisteredWorktree::default()
            });
        }
        let Some(tree) = trees.last_mut() else { continue };
        if let Some(head) = line.strip_prefix(b"HEAD ") {
            tree.head = Some(String::from_utf8_lossy(head).into_owned());
        }
        if let Some(branch) = line.strip_prefix(b"branch ") {
            tree.branch = Some(branch.to_vec());
        }
    }
    trees
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_told_apart() {
        let output = b"worktree /a\nb\0HEAD 1\0branch refs/heads/main\0\0worktree /c\0HEAD 2\0detached\0\0worktree /bare\0bare\0\0";
        let tree = |path: &str, head: Option<&str>, branch: Option<&str>| RegisteredWorktree {
            path: path.into(),
            head: head.map(str::to_owned),
            branch: branch.map(|branch| branch.as_bytes().to_vec()),
        };
        let expected = [
            tree("/a\nb", Some("1"), Some("refs/heads/main")),
            tree("/c", Some("2"), None),
            tree("/bare", None, None),
        ];
        assert_eq!(listed_worktrees(output), expected);
        assert_eq!(listed_worktrees(b""), []);
    }
}
