//! The process that makes the namespaces and their mounts, and that keeps what it holds afterwards.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketType};
use rustix::process::{DumpableBehavior, Pid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::binds::Above;
use crate::ids::Ids;
use crate::keeper::Keeper;
use crate::spaces::Spaces;
use crate::sys::{self, Fork};
use crate::{Confinement, Extent, Network, binds, sealed};

/// Between the two processes: how far they are. A text after the first is why it went wrong.
const MADE: u8 = 1;
const MAPPED: u8 = 2;
const MOUNTED: u8 = 3;
const FAILED: u8 = 4;

/// The other process, which stays at least until this value is dropped.
pub(crate) struct Builder {
    spaces: Spaces,
    _line: UnixStream,
}

impl Builder {
    /// What it has made.
    pub(crate) fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// Starts it, and returns when everything is in place.
    pub(crate) fn start(confinement: &Confinement) -> Result<Builder, String> {
        let said = |error: io::Error| error.to_string();
        let ids = Ids::of_process().map_err(said)?;
        let confined = rustix::process::getpid();
        let (mut line, theirs) = UnixStream::pair().map_err(said)?;
        // A child of a child: whatever this process becomes never hears of it.
        match sys::fork().map_err(said)? {
            Fork::Child => match sys::fork() {
                Ok(Fork::Child) => {
                    drop(line);
                    run(confinement, &ids, confined, theirs);
                }
                Ok(Fork::Parent(_)) => sys::exit(0),
                Err(_) => sys::exit(1),
            },
            Fork::Parent(child) => sys::wait_for(child),
        }
        drop(theirs);
        expect(&mut line, MADE)?;
        let mut pid = [0; 4];
        line.read_exact(&mut pid).map_err(said)?;
        let pid = u32::from_ne_bytes(pid);
        // Now, for it closes itself to everybody when it goes on.
        let spaces = Spaces::of(pid, confinement.network).map_err(said)?;
        ids.write_from_outside(pid).map_err(|error| format!("who is who cannot be set: {error}"))?;
        line.write_all(&[MAPPED]).map_err(said)?;
        expect(&mut line, MOUNTED)?;
        Ok(Builder { spaces, _line: line })
    }
}

fn expect(line: &mut UnixStream, wanted: u8) -> Result<(), String> {
    let mut step = [0];
    line.read_exact(&mut step).map_err(|_| "the process that makes the namespaces ended".to_owned())?;
    if step[0] == wanted {
        return Ok(());
    }
    let mut why = String::new();
    let _ = line.read_to_string(&mut why);
    Err(why)
}

/// What the other process does; it never returns.
fn run(confinement: &Confinement, ids: &Ids, confined: Pid, mut line: UnixStream) -> ! {
    let built = build(confinement, ids, confined, &mut line);
    let keeper = match built {
        Ok(keeper) => keeper,
        Err(why) => {
            let _ = line.write_all(&[FAILED]).and_then(|()| line.write_all(why.as_bytes()));
            sys::exit(1);
        }
    };
    let told = line.write_all(&[MOUNTED]);
    // Until the other one is in, or gone.
    let _ = line.read(&mut [0]);
    if let (Some(keeper), Ok(())) = (keeper, told) {
        drop(line);
        keeper.keep();
    }
    sys::exit(0);
}

fn build(
    confinement: &Confinement,
    ids: &Ids,
    confined: Pid,
    line: &mut UnixStream,
) -> Result<Option<Keeper>, String> {
    let mut spaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    if confinement.network == Network::None {
        spaces |= UnshareFlags::NEWNET;
    }
    unshare(spaces).map_err(|error| format!("user namespaces are not allowed here ({error})"))?;
    ids.write_from_inside().map_err(|error| format!("user namespaces are restricted here ({error})"))?;
    let said = |error: io::Error| error.to_string();
    line.write_all(&[MADE]).map_err(said)?;
    line.write_all(&std::process::id().to_ne_bytes()).map_err(said)?;
    let mut mapped = [0];
    line.read_exact(&mut mapped).map_err(said)?;
    // It keeps the right to mount: who is root in here must not get at it by tracing it or by its memory.
    let closed = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    closed.map_err(|error| said(error.into()))?;
    if confinement.network == Network::None {
        let loopback = socket().and_then(sys::start_loopback);
        loopback.map_err(|error| format!("the loopback cannot be started ({error})"))?;
    }
    match &confinement.extent {
        Extent::Held(paths) => hold(paths, confined),
        Extent::Everything { shown } => sealed::seal(shown)
            .map(|()| None)
            .map_err(|error| format!("everything cannot be made read-only ({error})")),
    }
}

/// Holds what exists. The watch begins before, so that nothing that happens meanwhile is missed.
fn hold(paths: &[PathBuf], confined: Pid) -> Result<Option<Keeper>, String> {
    let held = binds::topmost(paths);
    // Also those above paths that are not there yet: a process that stands in one of them would not see what is mounted
    // on it later.
    let Above { movable, fixed } = Above::of(&held);
    // Watches are counted by the system; without one more, what is there is held all the same.
    let keeper = Keeper::watch(&held, fixed, confined).ok();
    let cannot = |path: &Path, error: io::Error| format!("{} cannot be held ({error})", path.display());
    for dir in movable {
        gone_or(binds::pin(&dir)).map_err(|error| cannot(&dir, error))?;
    }
    for path in held.into_iter().filter(|path| path.symlink_metadata().is_ok()) {
        gone_or(binds::hold(path)).map_err(|error| cannot(path, error))?;
    }
    Ok(keeper)
}

/// That something went meanwhile is no error.
fn gone_or(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn socket() -> io::Result<OwnedFd> {
    Ok(rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?)
}

#[expect(
    unsafe_code,
    reason = "rustix takes no promises about file descriptors, which are not unshared here"
)]
fn unshare(spaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: this process has a single thread, and keeps its table of file descriptors.
    Ok(unsafe { unshare_unsafe(spaces) }?)
}
