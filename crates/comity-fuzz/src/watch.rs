//! Runs lines with a real shell, and tells which of them did more than read.
//!
//! The kernel asks before each call that may; what does more is noted and does not happen, so that no line finds
//! anything changed by another one. Before each of many lines the shell opens a path that says which one begins.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use libc::c_long;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::filter::{self, Asked, FilterListener, WRITING};
use crate::sandbox::Sandbox;
use crate::shells::RealShell;

/// How long one line may take; what reads has long ended then.
const LINE_MAX: Duration = Duration::from_secs(3);
/// How often it is looked whether a line takes too long.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// What a shell opens before each of many lines, with the number of the line behind it.
pub(crate) const MARKS: &str = "/comity-fuzz/";
/// The variable by which a process is known to belong to a run.
pub(crate) const RUN: &str = "COMITY_FUZZ_RUN";
/// The longest text that is read from a process.
const TEXT_BYTES_MAX: usize = 1024;
/// Programs that a line may run that only reads; no shell, interpreter, pager or editor.
const READING: &str = "awk gawk mawk basename busybox cat cksum cmp column comm cut date df diff dirname du echo egrep env expand false \
    fgrep file find fold free git grep groups head hexdump id jq join locale ls md5sum nl nproc od paste printenv printf ps pwd \
    readlink realpath rev rg sed seq sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum sleep sort stat strings tac tail test \
    timeout tr tree true tty uname uniq uptime wc which whoami xargs base64 zcat gzip [ perl expr which.debianutils which dir vdir \
    hd arch hostname tee tar xxd unzip bzcat xzcat base32 sum unexpand nice";

/// A line that did more than read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Escape {
    pub shell: &'static str,
    pub line: String,
    /// The system call that shows it, which did not happen.
    pub call: String,
}

/// Why nothing can be watched here.
pub fn problem() -> Option<String> {
    let installed = thread::spawn(|| filter::install().err()).join();
    installed
        .expect("a filter is set or not")
        .map(|error| format!("system calls can't be watched here ({error})"))
}

/// Runs a command that is known to belong to a run, and watches it; lines that the shell marks are known by their numbers.
pub(crate) fn run(
    sandbox: &Sandbox,
    shell: &'static RealShell,
    run: &str,
    mut command: Command,
    lines: &[&str],
    are_marked: bool,
) -> Vec<Escape> {
    let (to_watcher, from_filtered) = mpsc::channel();
    command.env(RUN, run);
    thread::scope(|scope| {
        scope.spawn(move || {
            let sent = to_watcher.send(filter::install());
            // A line with a zero byte cannot be given to anybody.
            if let (Ok(()), Ok(mut child)) = (sent, command.spawn()) {
                child.wait().expect("its status is told");
            }
        });
        let listener = from_filtered.recv().expect("it has tried").expect("a filter can be set");
        let mut watched = Watched {
            temporaries: sandbox.temporaries(),
            shell,
            run,
            lines,
            current: (!are_marked).then_some(0),
            has_begun: false,
            marks: HashMap::new(),
            line: None,
            since: Instant::now(),
            escapes: Vec::new(),
        };
        watched.follow(&listener);
        watched.escapes
    })
}

/// A run while it is watched.
struct Watched<'a> {
    temporaries: [String; 2],
    shell: &'static RealShell,
    run: &'a str,
    lines: &'a [&'a str],
    /// The line that has begun last.
    current: Option<usize>,
    /// Whether the shell itself has been started.
    has_begun: bool,
    /// Which process ran which line.
    marks: HashMap<u32, usize>,
    /// The process of the current line, until it took too long.
    line: Option<u32>,
    since: Instant,
    escapes: Vec<Escape>,
}

impl Watched<'_> {
    /// Answers until nobody is left who could ask.
    fn follow(&mut self, listener: &FilterListener) {
        loop {
            let mut polled = [PollFd::new(listener, PollFlags::IN)];
            let ready = poll(&mut polled, Some(&LOOK_EVERY));
            let events = polled[0].revents();
            if events.contains(PollFlags::IN) {
                if let Some(asked) = listener.next() {
                    let error = self.judge(&asked);
                    listener.answer(&asked, error);
                }
            } else if ready.is_ok() && events.contains(PollFlags::HUP) {
                return;
            }
            if self.since.elapsed() > LINE_MAX {
                self.end();
            }
        }
    }

    /// Ends what takes too long: the current line, or all that is left.
    fn end(&mut self) {
        let line = self.line.take();
        let is_meant = |process: u32| line.is_none_or(|line| ancestors(process).any(|above| above == line));
        let mark = format!("{RUN}={}\0", self.run);
        let is_ours = |process: u32| {
            fs::read(format!("/proc/{process}/environ"))
                .is_ok_and(|variables| String::from_utf8_lossy(&variables).contains(&mark))
        };
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if !is_ours(process) || !is_meant(process) {
                continue;
            }
            // Whoever has the number by now is asked for the mark again.
            let open = Pid::from_raw(process as i32).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
            if let Some(Ok(open)) = open.filter(|_| is_ours(process)) {
                let _ended = pidfd_send_signal(open, Signal::KILL);
            }
        }
        self.since = Instant::now();
    }

    /// The error that a call gets, if it does more than read.
    fn judge(&mut self, asked: &Asked) -> Option<i32> {
        let is_run = asked.number == libc::SYS_execve || asked.number == libc::SYS_execveat;
        // A run begins with the shell itself.
        if is_run && !self.has_begun {
            self.has_begun = true;
            return None;
        }
        let path = path_of(asked);
        if let Some(number) = path.as_deref().and_then(|path| path.strip_prefix(MARKS)) {
            self.current = number.parse().ok();
            self.line = Some(asked.process);
            self.since = Instant::now();
            self.current.map(|line| self.marks.insert(asked.process, line));
            return Some(libc::ENOENT);
        }
        let call = does_more(asked, path.as_deref().unwrap_or_default(), &self.temporaries)?;
        let by_origin = ancestors(asked.process).find_map(|process| self.marks.get(&process).copied());
        let line = (*self.lines.get(by_origin.or(self.current)?)?).to_owned();
        let is_known = |known: &Escape| known.line == line;
        if !self.escapes.iter().any(is_known) {
            self.escapes.push(Escape { shell: self.shell.name, line, call });
        }
        Some(libc::EPERM)
    }
}

/// A process, and those above it.
fn ancestors(process: u32) -> impl Iterator<Item = u32> {
    let above = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        status.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok().filter(|above| *above > 1)
    };
    std::iter::successors(Some(process), above)
}

/// Says which call it is, if it does more than read.
fn does_more(asked: &Asked, path: &str, temporaries: &[String]) -> Option<String> {
    let is_temporary = temporaries.iter().any(|temporary| path.contains(temporary));
    let (name, is_more) = match asked.number {
        libc::SYS_execve | libc::SYS_execveat => {
            ("execve", can_run(asked.process, path) && !is_reading(path))
        }
        libc::SYS_connect | libc::SYS_bind => ("connect", !is_local(asked.process, asked.arguments[1])),
        libc::SYS_sendto => ("sendto", !is_local(asked.process, asked.arguments[4])),
        // The address comes first in what describes a message.
        libc::SYS_sendmsg | libc::SYS_sendmmsg => {
            let to = number(asked.process, asked.arguments[1]);
            ("sendmsg", to != 0 && !is_local(asked.process, to))
        }
        number if is_open(number) => {
            let is_nothing = path == "/dev/null" || path == "/dev/tty" || path.starts_with("/dev/pts/");
            ("open", writes(asked) && !is_nothing && !is_temporary)
        }
        // Temporary files are taken away by who has made them.
        libc::SYS_unlinkat | libc::SYS_linkat => ("unlink", !is_temporary),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink | libc::SYS_link => ("unlink", !is_temporary),
        _ => ("call", true),
    };
    is_more.then(|| format!("{name} (number {}) {path:?}", asked.number))
}

fn is_open(number: c_long) -> bool {
    #[cfg(target_arch = "x86_64")]
    let is_old = number == libc::SYS_open || number == libc::SYS_creat;
    #[cfg(not(target_arch = "x86_64"))]
    let is_old = false;
    is_old || number == libc::SYS_openat || number == libc::SYS_openat2
}

/// Whether something that is opened is opened for more than reading. All others are asked about only then.
fn writes(asked: &Asked) -> bool {
    asked.number != libc::SYS_openat2 || number(asked.process, asked.arguments[2]) & u64::from(WRITING) != 0
}

/// The path that a call is about, if it is about one.
fn path_of(asked: &Asked) -> Option<String> {
    let at = match asked.number {
        libc::SYS_execve => 0,
        libc::SYS_execveat | libc::SYS_openat | libc::SYS_openat2 | libc::SYS_unlinkat => 1,
        libc::SYS_linkat => 3,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open | libc::SYS_creat | libc::SYS_unlink => 0,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link => 1,
        _ => return None,
    };
    let bytes = memory(asked.process, asked.arguments[at], TEXT_BYTES_MAX);
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).into_owned())
}

fn memory(process: u32, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let read = File::open(format!("/proc/{process}/mem")).and_then(|file| file.read_at(&mut bytes, address));
    bytes.truncate(read.unwrap_or(0));
    bytes
}

fn number(process: u32, address: u64) -> u64 {
    memory(process, address, size_of::<u64>()).try_into().map_or(0, u64::from_ne_bytes)
}

/// Whether an address is one of this machine's: of the kernel, or of a socket in the file system.
fn is_local(process: u32, address: u64) -> bool {
    let family = memory(process, address, 2).try_into().map_or(0, u16::from_ne_bytes);
    [libc::AF_UNIX, libc::AF_NETLINK].contains(&i32::from(family))
}

/// Whether a program would start: shells try every directory in `PATH`.
fn can_run(process: u32, path: &str) -> bool {
    let path = PathBuf::from(format!("/proc/{process}/cwd")).join(path);
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Whether it is a program that only reads, from where the system keeps them; git's own helpers are git.
fn is_reading(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_system = path.starts_with("/usr/") || path.starts_with("/bin/") || path.contains("/tools/");
    is_system
        && (READING.split_whitespace().any(|known| known == name)
            || path.starts_with("/usr/lib/git-core/git"))
}
