//! Puts a process into namespaces in which given paths are read-only, whoever runs what there.
//!
//! A path that is held is a read-only bind of itself: opening it for writing, renaming over it, removing it and linking it
//! fail in the kernel. The directories above it are binds, too, so that none of them can be moved away. The namespaces
//! belong to a user namespace of their own, in which nobody keeps the right to change mounts, root included.
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
#[cfg(target_os = "linux")]
mod keeper;
mod links;
#[cfg(target_os = "linux")]
mod sealed;
#[cfg(target_os = "linux")]
mod spaces;
mod sys;
#[cfg(target_os = "linux")]
mod working_dir;

use std::fmt;
use std::path::PathBuf;

pub use exec::Program;
pub use links::other_names;

/// What a process is confined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// What cannot be written to.
    pub extent: Extent,
    /// What of the network is there.
    pub network: Network,
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
pub enum Network {
    /// All of it.
    Shared,
    /// Nothing but a loopback of its own.
    None,
}

/// Why a process is not confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What could not be done.
    pub what: String,
    /// What that means.
    pub kind: ProblemKind,
}

/// What it means that a process is not confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The system does not allow it. The process is as it was and can go on without.
    Forbidden,
    /// Something has run out that may be there again: processes, memory, namespaces. The process is as it was.
    Exhausted,
    /// The process is no longer as it was.
    HalfDone,
}

impl Problem {
    /// One in which the process is as it was.
    #[cfg(target_os = "linux")]
    pub(crate) fn before(what: &str, error: &std::io::Error) -> Problem {
        let kind = match error.raw_os_error() {
            // That no namespaces are left means both, depending on how many there may be.
            Some(libc::ENOSPC | libc::EUSERS) if may_have_namespaces() => ProblemKind::Exhausted,
            Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE | libc::ENOBUFS) => {
                ProblemKind::Exhausted
            }
            _ => ProblemKind::Forbidden,
        };
        Problem { what: format!("{what} ({error})"), kind }
    }
}

#[cfg(target_os = "linux")]
fn may_have_namespaces() -> bool {
    ["user", "mnt", "net"].iter().all(|kind| {
        let file = format!("/proc/sys/user/max_{kind}_namespaces");
        std::fs::read_to_string(file).map_or(true, |most| most.trim() != "0")
    })
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Problem {}

/// Confines this process, and so everything that it starts or becomes. It must have a single thread.
#[cfg(target_os = "linux")]
pub fn enter(confinement: &Confinement) -> Result<(), Problem> {
    enter::enter(confinement)
}

/// Confines this process, and so everything that it starts or becomes. It must have a single thread.
#[cfg(not(target_os = "linux"))]
pub fn enter(_: &Confinement) -> Result<(), Problem> {
    Err(Problem { what: "confinement needs Linux".into(), kind: ProblemKind::Forbidden })
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
