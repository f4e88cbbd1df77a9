//! Files in a repository get the modes that git gives them when the user runs it, whatever this process keeps
//! private.

use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{FileType, Mode};
use rustix::process::umask;

/// The user's umask; if unset, this process's own counts.
static USERS: OnceLock<Mode> = OnceLock::new();

/// Makes this process's own files private, and remembers the user's umask for repositories.
///
/// Where a thread cannot have its own umask, the whole process keeps the user's.
pub fn keep_private(users: u32) {
    umask(Mode::from_raw_mode(0o077));
    let users = USERS.get_or_init(|| Mode::from_raw_mode(users & 0o777));
    // In a thread of its own: the test must not change this one.
    let is_possible = std::thread::Builder::new().name("umask-probe".into()).spawn(own_thread::has_own);
    let is_possible = is_possible.ok().and_then(|probe| probe.join().ok()).unwrap_or_default();
    if !is_possible {
        umask(*users);
    }
}

/// Runs something with the user's umask, such as creating a file or starting git.
pub fn as_user<T>(act: impl FnOnce() -> T) -> T {
    let Some(users) = USERS.get().filter(|_| own_thread::has_own()) else { return act() };
    let _before = RestoredUmask(umask(*users));
    act()
}

/// Shares a file or directory of ours with others who use the repository, as git does for its own.
pub(crate) fn share(path: &Path) {
    if let Some(parent) = path.parent() {
        // Git does not share the directories of worktrees, but what is in them.
        let of_worktree = parent.parent().filter(|dir| dir.ends_with("worktrees")).and_then(Path::parent);
        share_like(of_worktree.unwrap_or(parent), path);
    }
}

/// The same for a directory elsewhere, if another one is shared.
pub(crate) fn share_like(other: &Path, path: &Path) {
    let (Ok(above), Ok(own)) = (rustix::fs::stat(other), rustix::fs::lstat(path)) else { return };
    let runs = match FileType::from_raw_mode(own.st_mode) {
        FileType::Directory => Mode::XGRP | Mode::XOTH | Mode::SGID,
        _ => Mode::empty(),
    };
    let (above, own) = (Mode::from_raw_mode(above.st_mode), Mode::from_raw_mode(own.st_mode));
    let theirs = above & (Mode::RGRP | Mode::WGRP | Mode::ROTH | runs);
    let shared = match above.contains(Mode::WGRP) {
        true => own | theirs,
        // Git was told the exact mode, such as 0640, so the umask does not count.
        false => (own - (Mode::RWXG | Mode::RWXO)) | theirs,
    };
    if above.contains(Mode::SGID | Mode::RGRP) && shared != own {
        // Whoever created it has done it; others cannot, and need not.
        let _not_ours = rustix::fs::chmod(path, shared);
    }
}

struct RestoredUmask(Mode);

impl Drop for RestoredUmask {
    fn drop(&mut self) {
        umask(self.0);
    }
}

#[cfg(target_os = "linux")]
mod own_thread {
    use std::cell::OnceCell;

    use rustix::thread::{UnshareFlags, unshare_unsafe};

    thread_local! {
        static HAS_OWN: OnceCell<bool> = const { OnceCell::new() };
    }

    /// Whether this thread has its own umask.
    #[expect(
        unsafe_code,
        reason = "rustix takes no promises about file descriptors, which are not unshared here"
    )]
    pub(super) fn has_own() -> bool {
        // SAFETY: only the umask and the working directory are unshared, which no other thread relies on.
        let unshare = || unsafe { unshare_unsafe(UnshareFlags::FS) }.is_ok();
        HAS_OWN.with(|has_own| *has_own.get_or_init(unshare))
    }
}

#[cfg(not(target_os = "linux"))]
mod own_thread {
    pub(super) fn has_own() -> bool {
        false
    }
}
