//! Whether a project has work on some paths that no commit holds yet.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use comity_core::paths::{Alternative, overlaps};
use comity_core::{CaseRule, PathPattern};

use crate::git::{Git, UnknownState};
use crate::{hidden, worktrees};

/// Whether any worktree of the project has uncommitted work on paths that overlap `pattern`.
///
/// Work is what is modified, staged, deleted, unmerged, untracked, or hidden from `git status` by a flag of the
/// index; ignored files are none. A project whose common directory is gone has none.
pub fn has_uncommitted_work(
    common_dir: &Path,
    pattern: &PathPattern,
    case: CaseRule,
    deadline: Duration,
) -> Result<bool, UnknownState> {
    let unreadable = |error| UnknownState::new(format!("cannot read {}: {error}", common_dir.display()));
    let deadline = Instant::now() + deadline;
    let all = worktrees::list(common_dir).map_err(unreadable)?;
    let meant = Meant { pattern, case };
    for worktree in &all.worktrees {
        let git = Git::on(worktree, deadline)?;
        if has_visible_work(&git, &meant)? || hidden::has_hidden_work(&git, &meant)? {
            return Ok(true);
        }
    }
    if all.main_is_unknown {
        return Err(UnknownState::new(format!("{} does not say where its files are", common_dir.display())));
    }
    Ok(false)
}

/// The paths that are asked about.
pub(crate) struct Meant<'a> {
    pattern: &'a PathPattern,
    case: CaseRule,
}

impl Meant<'_> {
    /// Limits for git, wider than the pattern or the same; none means everything.
    pub(crate) fn pathspecs(&self) -> Vec<OsString> {
        let magic = match self.case {
            CaseRule::Exact => ":(top,literal)",
            CaseRule::Folded => ":(top,literal,icase)",
        };
        let prefix = |alternative: &Alternative| {
            // Git compares bytes, and the disk may have another Unicode form than the pattern.
            let names: Vec<&str> = alternative.prefix().take_while(|name| name.is_ascii()).collect();
            (!names.is_empty()).then(|| OsString::from(format!("{magic}{}", names.join("/"))))
        };
        self.pattern.alternatives().iter().map(prefix).collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether a path that git named is one of them; what cannot be compared is.
    pub(crate) fn holds(&self, path: &[u8]) -> bool {
        let text = String::from_utf8_lossy(path);
        let text: Cow<'_, str> = match text.chars().any(char::is_control) {
            true => text.replace(char::is_control, "\u{fffd}").into(),
            false => text,
        };
        PathPattern::file(&text, self.case).map_or(true, |file| overlaps(&file, self.pattern))
    }
}

fn has_visible_work(git: &Git<'_>, meant: &Meant<'_>) -> Result<bool, UnknownState> {
    // Submodules are projects of their own; git would also start itself in them, under their settings.
    let options =
        ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
    let said = git.ask("status", &options, &meant.pathspecs())?;
    for entry in said.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let path = match entry {
            [x, y, b' ', path @ ..] if is_state(*x) && is_state(*y) && !path.is_empty() => path,
            _ => {
                let line = String::from_utf8_lossy(entry);
                return Err(UnknownState::new(format!(
                    "git status said {line:?}, which means nothing to us"
                )));
            }
        };
        if meant.holds(path) && !is_nested_repository(git, path) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What `git status` says with renames off.
fn is_state(letter: u8) -> bool {
    matches!(letter, b' ' | b'M' | b'T' | b'A' | b'D' | b'U' | b'?')
}

/// Git names an untracked repository (or worktree) by its directory only; its files are not this worktree's.
fn is_nested_repository(git: &Git<'_>, path: &[u8]) -> bool {
    let dir = git.worktree().root.join(std::ffi::OsStr::from_bytes(path));
    path.ends_with(b"/") && dir.join(".git").symlink_metadata().is_ok()
}
