//! A sandbox: a process with a file system, a network, and a view of processes of its own, in which is only what it is shown.
//!
//! It is the first process of its PID namespace, starts the program, and ends with it; all that is left of the program ends
//! with it, too. It has no rights over its namespaces by then, and neither has the program.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::ids::Ids;
use crate::view::{PROXY_PORT, PathAccess, Sandbox, ShownPath};
use crate::{ConfineError, FailedStep, ProblemKind, binds, sealed, sys, typing};
use rustix::fs::{CWD, FileType, fstat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, unmount,
};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketType, recvmsg, sendmsg,
};
use rustix::process::{DumpableBehavior, Signal, WaitOptions, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

/// Where the new root is put together.
const STAGE: &str = "/tmp";
/// How long that may take: a file system that does not answer must not keep the guardian.
const BUILD_MAX: Duration = Duration::from_secs(10);
/// What everybody may write to.
const SCRATCH: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];
/// What of /proc is the whole machine's.
const OF_THE_MACHINE: [&str; 5] = ["sys", "sysrq-trigger", "irq", "bus", "fs"];
/// Bytes of what a sandbox that could not be made says.
const REASON_BYTES_MAX: usize = 4 * 1024;
/// What the other process says when the program runs. Anything else is why it does not.
const RUNS: u8 = 0;

/// A program that runs in a sandbox.
#[derive(Debug)]
pub struct Sandboxed {
    /// The process that ends with it.
    pub pid: u32,
    /// Where its proxy listens, inside.
    pub proxy: TcpListener,
}

/// Runs a program in a sandbox, with this process's standard input and outputs; with a terminal, it is the program's alone.
///
/// `kept` is what the program has of this process's files, besides those. This process must have a single thread. The program
/// ends when this process does.
pub fn start(sandbox: &Sandbox, program: &mut Command, kept: &[RawFd]) -> Result<Sandboxed, ConfineError> {
    let cannot =
        |error: io::Error| ConfineError::before(FailedStep::Other, "a sandbox can't be made", &error);
    let (mut line, theirs) = UnixStream::pair().map_err(cannot)?;
    line.set_read_timeout(Some(BUILD_MAX)).map_err(cannot)?;
    // Inside, nobody is anybody yet.
    let ids = Ids::of_own();
    let pid = match sys::fork_into_namespaces() {
        Ok(sys::Fork::Parent(pid)) => pid,
        Ok(sys::Fork::Child) => {
            drop(line);
            let Err(problem) = run(sandbox, program, &theirs, (kept, &ids));
            let _ = rustix::io::write(&theirs, problem.as_bytes());
            sys::exit(1);
        }
        Err(error) => {
            let what = "user namespaces are not allowed here";
            return Err(ConfineError::before(FailedStep::Unshare, what, &error));
        }
    };
    drop(theirs);
    let started = hear(&mut line);
    let failed = |what| {
        // It may still be at it.
        sys::signal(pid, libc::SIGKILL);
        sys::wait_for(pid);
        Err(ConfineError { what, kind: ProblemKind::Failed })
    };
    match started {
        Ok(proxy) => Ok(Sandboxed { pid: pid.unsigned_abs(), proxy }),
        Err(what) => failed(what),
    }
}

/// Waits until the program runs.
fn hear(line: &mut UnixStream) -> Result<TcpListener, String> {
    let mut first = [0; REASON_BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let heard = recvmsg(&*line, &mut [IoSliceMut::new(&mut first)], &mut control, RecvFlags::CMSG_CLOEXEC);
    let count = heard.map_err(|error| format!("the sandbox was not ready in time ({error})"))?.bytes;
    let mut listener: Option<OwnedFd> = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
            listener = descriptors.next();
        }
    }
    match (first.get(..count), listener) {
        (Some([RUNS]), Some(listener)) => Ok(listener.into()),
        (Some([] | [RUNS]) | None, _) => Err("the process that makes the sandbox was ended".into()),
        (Some(why), _) => {
            let mut why = why.to_vec();
            let _ = line.read_to_end(&mut why);
            Err(String::from_utf8_lossy(&why).into_owned())
        }
    }
}

/// What the first process of the sandbox does. It never comes back but for an error.
fn run(
    sandbox: &Sandbox,
    program: &mut Command,
    line: &UnixStream,
    (kept, ids): (&[RawFd], &Ids),
) -> Result<std::convert::Infallible, String> {
    let cannot = |what: &'static str| move |error: io::Error| format!("{what} ({error})");
    let of_errno = |what: &'static str| move |error: rustix::io::Errno| format!("{what} ({error})");
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(of_errno("it can't be made to end with its guardian"))?;
    let signals = sys::block_signals();
    sys::close_all_but_numbers(kept.iter().copied().chain([line.as_raw_fd()]));
    ids.write_from_inside().map_err(cannot("user namespaces are restricted here"))?;
    // It has rights over the namespaces until the program starts: whoever else has them in here must not trace it.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(of_errno("it can't be closed to others"))?;
    build(sandbox)?;
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None);
    socket
        .map_err(io::Error::from)
        .and_then(sys::start_loopback)
        .map_err(cannot("the loopback can't be started"))?;
    let proxy = TcpListener::bind(("127.0.0.1", PROXY_PORT)).map_err(cannot("the proxy can't listen"))?;
    typing::forbid().map_err(cannot("typing for others can't be forbidden"))?;
    give_up_all().map_err(cannot("its rights can't be given up"))?;
    // What this changed has taken the signal back.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(of_errno("it can't be made to end with its guardian"))?;
    rustix::process::setsid().map_err(of_errno("it can't have a session of its own"))?;
    let has_terminal = rustix::termios::isatty(rustix::stdio::stdin());
    if has_terminal {
        let terminal = rustix::process::ioctl_tiocsctty(rustix::stdio::stdin());
        terminal.map_err(of_errno("its terminal can't be its own"))?;
    }
    sys::in_its_own_group(program, has_terminal);
    let child = program.spawn().map_err(|error| format!("{}: {error}", program.get_program().display()))?;
    let told = tell(line, &proxy);
    drop(proxy);
    // The guardian may have gone before its end was listened for.
    if told.is_err() {
        sys::exit(1);
    }
    let pid = child.id() as libc::pid_t;
    loop {
        match sys::next_signal(&signals) {
            libc::SIGCHLD => reap(pid),
            // Its terminal is gone.
            libc::SIGHUP => sys::exit(129),
            signal => sys::signal(pid, signal),
        }
    }
}

fn tell(line: &UnixStream, proxy: &TcpListener) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: [BorrowedFd<'_>; 1] = [proxy.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(line, &[IoSlice::new(&[RUNS])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Lets all go that have ended, and ends as the program did.
fn reap(program: libc::pid_t) {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid.as_raw_pid() == program {
            let signal = || 128 + status.terminating_signal().unwrap_or_default();
            sys::exit(status.exit_status().unwrap_or_else(signal));
        }
    }
}

/// Puts the new root together and goes there.
fn build(sandbox: &Sandbox) -> Result<(), String> {
    let cannot = |path: &Path, error: io::Error| cannot_at(path)(error);
    let at = cannot_at;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .map_err(|error| cannot(Path::new("/"), error.into()))?;
    // Before anything covers what they come from.
    let mut trees: Vec<(&Path, OwnedFd)> = Vec::new();
    for shown in &sandbox.shown {
        match tree(shown) {
            Ok(tree) => trees.push((&shown.path, tree)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && shown.access == PathAccess::Read => {}
            Err(error) => return Err(cannot(&shown.path, error)),
        }
    }
    let devices: Vec<(PathBuf, OwnedFd)> = DEVICES
        .iter()
        .map(|name| Path::new("/dev").join(name))
        .filter_map(|path| binds::clone(&path).ok().map(|tree| (path, tree)))
        .collect();
    let proc = file_system("proc", &[], MountAttrFlags::MOUNT_ATTR_NOEXEC)
        .map_err(|error| format!("a /proc of its own can't be made ({error})"))?;
    let terminals =
        file_system("devpts", &[("ptmxmode", "0666"), ("mode", "0620")], MountAttrFlags::MOUNT_ATTR_NOEXEC);

    let stage = Path::new(STAGE);
    binds::attach(sealed::temporary("755").map_err(at(stage))?, stage).map_err(at(stage))?;
    let inside = |path: &Path| stage.join(path.strip_prefix("/").unwrap_or(path));
    let attach = |path: &Path, tree: OwnedFd| -> Result<(), String> {
        let place = inside(path);
        if place.symlink_metadata().is_err() {
            make_place(&place, tree.as_fd()).map_err(|error| cannot(path, error))?;
        }
        binds::attach(tree, &place).map_err(|error| cannot(path, error))
    };
    attach(Path::new("/proc"), proc)?;
    for (path, tree) in devices {
        attach(&path, tree)?;
    }
    if let Ok(terminals) = terminals {
        attach(Path::new("/dev/pts"), terminals)?;
    }
    for (name, to) in DEVICE_LINKS {
        symlink(to, inside(&Path::new("/dev").join(name))).map_err(at(Path::new("/dev")))?;
    }
    for path in SCRATCH {
        attach(Path::new(path), sealed::temporary("1777").map_err(at(Path::new(path)))?)?;
    }
    // In distributions of today these lead into /usr.
    for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
        let path = Path::new("/").join(name);
        if let Ok(to) = fs::read_link(&path) {
            symlink(to, inside(&path)).map_err(at(&path))?;
        }
    }
    for (path, tree) in trees {
        attach(path, tree)?;
    }
    enter(stage).map_err(at(stage))?;
    // From here on no name leads out. What stands above a held path must not be moved away with it.
    let writable = |dir: &Path| {
        let above = |shown: &ShownPath| {
            shown.access == PathAccess::Write && dir != shown.path && dir.starts_with(&shown.path)
        };
        sandbox.shown.iter().any(above)
    };
    let above: BTreeSet<&Path> = sandbox.held.iter().flat_map(|held| held.ancestors().skip(1)).collect();
    for dir in above.into_iter().filter(|dir| writable(dir) && !binds::is_mount(dir)) {
        there(binds::pin(dir)).map_err(at(dir))?;
    }
    for path in
        OF_THE_MACHINE.iter().map(|name| Path::new("/proc").join(name)).chain(sandbox.held.iter().cloned())
    {
        there(binds::hold(&path)).map_err(at(&path))?;
    }
    for path in &sandbox.hidden {
        there(binds::hide(path)).map_err(at(path))?;
    }
    for path in ["/", "/dev"] {
        if binds::is_mount(Path::new(path)) {
            sys::make_read_only(CWD, &std::ffi::CString::new(path).unwrap_or_default(), false)
                .map_err(at(Path::new(path)))?;
        }
    }
    Ok(())
}

fn cannot_at(path: &Path) -> impl Fn(io::Error) -> String + use<> {
    let path = path.display().to_string();
    move |error| format!("{path} can't be shown in the sandbox ({error})")
}

/// A mount of what is shown, which is nowhere yet.
fn tree(shown: &ShownPath) -> io::Result<OwnedFd> {
    match &shown.access {
        PathAccess::Write => binds::clone(&shown.path),
        PathAccess::Replaced { by } => binds::clone(by),
        PathAccess::Read => {
            let tree = binds::clone(&shown.path)?;
            sys::make_read_only(tree.as_fd(), c"", true)?;
            Ok(tree)
        }
        PathAccess::Copied { changes } => {
            let (upper, work) = (changes.join("files"), changes.join("work"));
            fs::create_dir_all(&upper)?;
            fs::create_dir_all(&work)?;
            let text = |path: &Path| path.to_str().map(str::to_owned).ok_or(io::ErrorKind::InvalidInput);
            let (lower, upper, work) = (text(&shown.path)?, text(&upper)?, text(&work)?);
            let options = [("lowerdir", &*lower), ("upperdir", &*upper), ("workdir", &*work)];
            let copy = file_system_with("overlay", &options, &["userxattr"], MountAttrFlags::empty());
            // Where a file system can't be written over, such as in a container, it begins empty.
            copy.or_else(|_| binds::clone(&changes.join("files")))
        }
    }
}

fn file_system(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    file_system_with(kind, options, &[], attributes)
}

fn file_system_with(
    kind: &str,
    options: &[(&str, &str)],
    flags: &[&str],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(context.as_fd(), *name, *value)?;
    }
    for flag in flags {
        fsconfig_set_flag(context.as_fd(), *flag)?;
    }
    fsconfig_create(context.as_fd())?;
    let attributes = attributes | MountAttrFlags::MOUNT_ATTR_NOSUID;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Makes what something of the same kind can be put on.
fn make_place(path: &Path, kind: BorrowedFd<'_>) -> io::Result<()> {
    if FileType::from_raw_mode(fstat(kind)?.st_mode) == FileType::Directory {
        return fs::create_dir_all(path);
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::File::create(path).map(drop)
}

/// Makes a directory the root, and lets the old one go.
fn enter(root: &Path) -> io::Result<()> {
    rustix::process::chdir(root)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(rustix::process::chdir("/")?)
}

/// That something is not there is no error.
fn there(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        done => done,
    }
}

/// Nobody in here has a right over the namespaces, or gets one by starting a program.
fn give_up_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    for capability in CapabilitySet::all().iter() {
        // Newer ones than this kernel knows.
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Err(rustix::io::Errno::INVAL) => {}
            done => done?,
        }
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}
