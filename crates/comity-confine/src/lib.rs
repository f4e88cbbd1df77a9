//! Puts a process into namespaces in which given paths are read-only, whoever runs what there.
//!
//! A path that is held is a read-only bind of itself: opening it for writing, renaming over it, removing it and linking it
//! fail in the kernel. The directories above it are binds, too, so that none of them can be moved away. The namespaces
//! belong to a user namespace of their own, in which nobody keeps the right to change mounts, root included.
//!
//! Nor can it put keys into its terminal, which the person's shell would read after it.
//!
//! Knows nothing of locks, agents and servers. Linux only; elsewhere [`enter()`] says so.

#[cfg(target_os = "linux")]
mod binds;
#[cfg(target_os = "linux")]
mod builder;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod enter;
mod exec;
#[cfg(target_os = "linux")]
mod ids;
mod links;
#[cfg(target_os = "linux")]
mod mount_reconciler;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod nested;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod sealed;
#[cfg(target_os = "linux")]
mod spaces;
mod sys;
#[cfg(target_os = "linux")]
mod typing;
mod view;
#[cfg(target_os = "linux")]
mod working_dir;

use std::fmt;
use std::path::PathBuf;

pub use exec::ExecTarget;
pub use links::other_names;
#[cfg(target_os = "linux")]
pub use sandbox::{Sandboxed, start as start_sandboxed};
pub use view::{PROXY_PORT, PathAccess, Sandbox, ShownPath};

/// What a process is confined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// What cannot be written to.
    pub extent: Extent,
    pub network: NetworkAccess,
    /// What cannot be read either, by absolute names without symlinks: something empty is in its place, and in that of what
    /// somebody outside makes there later.
    pub hidden: Vec<PathBuf>,
}

/// What cannot be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// These paths, by their absolute names without symlinks; a directory with all below it. One that does not exist is
    /// held from the moment that somebody outside makes it.
    Held(Vec<PathBuf>),
    /// Everything, except for temporary directories, which are empty and go with the last process.
    Everything {
        /// Directories that stay in sight although a temporary directory covers them.
        shown: Vec<PathBuf>,
    },
}

/// What of the network is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkAccess {
    Shared,
    /// Nothing but a loopback of its own.
    None,
}

/// Why a process is not confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfineError {
    /// What could not be done.
    pub what: String,
    pub kind: ProblemKind,
}

/// What it means that a process is not confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The system does not allow it. The process is as it was and can go on without.
    Forbidden,
    /// Something has run out that may be there again: processes, memory, namespaces. The process is as it was.
    Exhausted,
    /// Something went wrong, by whoever's doing. The process is as it was.
    Failed,
    /// The process is no longer as it was.
    HalfDone,
}

/// What could not be done.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailedStep {
    Unshare,
    Other,
}

impl ConfineError {
    /// One in which the process is as it was.
    ///
    /// Only what nobody but the system can bring about is forbidden: else who brings it about would run free.
    #[cfg(target_os = "linux")]
    pub(crate) fn before(step: FailedStep, what: &str, error: &std::io::Error) -> ConfineError {
        let kind = match (error.raw_os_error(), step) {
            (Some(libc::EPERM | libc::EACCES | libc::ENOSYS), _) => ProblemKind::Forbidden,
            // So says a kernel that was built without them.
            (Some(libc::EINVAL), FailedStep::Unshare) => ProblemKind::Forbidden,
            (Some(libc::ENOSPC | libc::EUSERS), FailedStep::Unshare) if !may_have_namespaces() => {
                ProblemKind::Forbidden
            }
            (
                Some(
                    libc::EAGAIN
                    | libc::ENOMEM
                    | libc::EMFILE
                    | libc::ENFILE
                    | libc::ENOBUFS
                    | libc::ENOSPC
                    | libc::EUSERS,
                ),
                _,
            ) => ProblemKind::Exhausted,
            _ => ProblemKind::Failed,
        };
        ConfineError { what: format!("{what} ({error})"), kind }
    }
}

#[cfg(target_os = "linux")]
fn may_have_namespaces() -> bool {
    ["user", "mnt", "net"].iter().all(|kind| {
        let file = format!("/proc/sys/user/max_{kind}_namespaces");
        std::fs::read_to_string(file).map_or(true, |most| most.trim() != "0")
    })
}

impl fmt::Display for ConfineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ConfineError {}

/// Confines this process, and so everything that it starts or becomes. It must have a single thread.
#[cfg(target_os = "linux")]
pub fn enter(confinement: &Confinement) -> Result<(), ConfineError> {
    enter::enter(confinement)
}

/// Confines this process, and so everything that it starts or becomes. It must have a single thread.
#[cfg(not(target_os = "linux"))]
pub fn enter(_: &Confinement) -> Result<(), ConfineError> {
    Err(ConfineError { what: "confinement needs Linux".into(), kind: ProblemKind::Forbidden })
}

/// Takes back that the Rust runtime ignores a broken pipe, for who becomes another program.
pub fn restore_broken_pipe() {
    sys::restore_broken_pipe();
}

/// Whether a path is on a read-only mount, as this process sees it.
#[cfg(target_os = "linux")]
pub fn is_read_only(path: &std::path::Path) -> bool {
    binds::is_read_only(path)
}

/// Whether a path is on a read-only mount, as this process sees it.
#[cfg(not(target_os = "linux"))]
pub fn is_read_only(_: &std::path::Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_system_forbids_is_forbidden() {
        use ProblemKind::{Exhausted, Failed, Forbidden};
        let kind =
            |step, code| ConfineError::before(step, "it", &std::io::Error::from_raw_os_error(code)).kind;
        for (code, unsharing, later) in [
            (libc::EPERM, Forbidden, Forbidden),
            (libc::EACCES, Forbidden, Forbidden),
            (libc::ENOSYS, Forbidden, Forbidden),
            // What the kernel was built without; later it is a path that is at fault.
            (libc::EINVAL, Forbidden, Failed),
            (libc::EMFILE, Exhausted, Exhausted),
            (libc::ENOMEM, Exhausted, Exhausted),
            (libc::EAGAIN, Exhausted, Exhausted),
            (libc::ENOENT, Failed, Failed),
            (libc::ENOTDIR, Failed, Failed),
            (libc::ELOOP, Failed, Failed),
            (libc::EBUSY, Failed, Failed),
            (libc::EIO, Failed, Failed),
            (libc::EFBIG, Failed, Failed),
            (libc::ESRCH, Failed, Failed),
        ] {
            assert_eq!(
                (kind(FailedStep::Unshare, code), kind(FailedStep::Other, code)),
                (unsharing, later),
                "{code}"
            );
        }
    }
}
