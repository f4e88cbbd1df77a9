//! Runs lines with real shells under strace, and tells which of them did more than read.
//!
//! One strace watches a whole batch: before each run a path is opened that says which one begins, by the driver or by
//! the shell itself, so that every call between two such marks belongs to one line and one shell.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::sandbox::Sandbox;
use super::shells::SHELLS;

/// Calls that change something, run something or connect.
const TRACED: &str = "trace=execve,execveat,connect,bind,sendto,sendmsg,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,\
    renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,\
    truncate,ftruncate,utime,utimes,utimensat,setxattr,lsetxattr,fsetxattr,removexattr,settimeofday,clock_settime,sethostname,kill,mount";
/// What the driver opens before it starts a shell for one line.
const STARTS: &str = "/comity-fuzz/starts/";
/// What a shell opens before each of many lines.
const RUNS: &str = "/comity-fuzz/runs/";
/// What the driver opens at the end.
const ENDS: &str = "/comity-fuzz/ends";
/// The variables by which the driver is told what to run.
pub(crate) const JOBS: &str = "COMITY_FUZZ_JOBS";
/// Programs that a line may run that only reads; no shell, interpreter, pager or editor.
const READING: &str = "awk gawk mawk basename busybox cat cksum cmp column comm cut date df diff dirname du echo egrep env expand false \
    fgrep file find fold free git grep groups head hexdump id jq join locale ls md5sum nl nproc od paste printenv printf ps pwd \
    readlink realpath rev rg sed seq sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum sleep sort stat strings tac tail test \
    timeout tr tree true tty uname uniq uptime wc which whoami xargs base64 zcat gzip [ perl expr which.debianutils which dir vdir \
    hd arch hostname tee tar xxd unzip bzcat xzcat base32 sum unexpand nice";

/// A line that did more than read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Escape {
    pub(crate) shell: &'static str,
    pub(crate) line: String,
    /// The system call that shows it.
    pub(crate) call: String,
}

/// Whether a process can be watched here.
pub(crate) fn can_watch() -> bool {
    let probe = Command::new("strace")
        .args(["-f", "--seccomp-bpf", "-qq", "-e", "trace=execve", "-o", "/dev/null", "true"])
        .status();
    probe.is_ok_and(|status| status.success())
}

/// Runs each line with each shell, and gives the escapes.
pub(crate) fn run(sandbox: &Sandbox, lines: &[&str]) -> (usize, Vec<Escape>) {
    let shells = SHELLS.iter().enumerate().filter(|(_, shell)| shell.missing().is_none());
    let jobs: Vec<(usize, &str)> = shells
        .flat_map(|(at, shell)| lines.iter().filter(|line| shell.suits(line)).map(move |line| (at, *line)))
        .collect();
    let (list, log) = (sandbox.path().join("jobs"), sandbox.path().join("calls"));
    fs::write(&list, serde_json::to_vec(&jobs).expect("json")).expect("the jobs");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", TRACED, "-e", "signal=none", "-o"])
        .arg(&log);
    if Command::new("unshare").args(["-r", "-n", "true"]).status().is_ok_and(|status| status.success()) {
        strace.args(["unshare", "-r", "-n"]);
    }
    let driver = std::env::current_exe().expect("this program");
    strace.arg(driver).args(["--exact", "driver", "--ignored", "--nocapture", "--test-threads=1"]);
    strace.env(JOBS, sandbox.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = strace.status().expect("strace runs");
    assert!(status.success(), "the driver failed: {status}");
    let calls = fs::read(&log).expect("the calls");
    let escapes = escapes(&String::from_utf8_lossy(&calls), &jobs, &sandbox.temporaries());
    (jobs.len(), escapes)
}

/// What the driver does: it runs the jobs one after another.
pub(crate) fn drive(sandbox: &Sandbox) {
    let jobs = fs::read(sandbox.path().join("jobs")).expect("the jobs");
    let jobs: Vec<(usize, String)> = serde_json::from_slice(&jobs).expect("jobs");
    let mark = |path: &str| assert!(fs::File::open(path).is_err(), "a mark is no file");
    for (at, shell) in SHELLS.iter().enumerate() {
        let mine = jobs.iter().enumerate().filter(|(_, (of, _))| *of == at);
        let (joined, alone): (Vec<_>, Vec<_>) = mine.partition(|(_, (_, line))| shell.joins(line));
        let one_by_one = |jobs: &[(usize, &(usize, String))]| {
            for (job, (_, line)) in jobs {
                mark(&format!("{STARTS}{job}"));
                shell.run(sandbox, line);
            }
            mark(ENDS);
        };
        one_by_one(&alone);
        let lines: Vec<(String, &str)> =
            joined.iter().map(|(job, (_, line))| (format!("{RUNS}{job}"), line.as_str())).collect();
        // One of them does not end: each has a time of its own then.
        if !lines.is_empty() && !shell.run_all(sandbox, &lines) {
            mark(ENDS);
            one_by_one(&joined);
        }
        mark(ENDS);
    }
}

fn escapes(calls: &str, jobs: &[(usize, &str)], temporaries: &[String]) -> Vec<Escape> {
    let mut found: Vec<Escape> = Vec::new();
    let mut current = None;
    let mut driver = "";
    let mut has_begun = false;
    for call in calls.lines() {
        let (process, call) = call.split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if let Some((_, mark)) = call.split_once("/comity-fuzz/").filter(|_| call.starts_with("open")) {
            let number = mark.split(['/', '"']).nth(1).and_then(|number| number.parse::<usize>().ok());
            current = number.and_then(|at| jobs.get(at));
            (driver, has_begun) = if mark.starts_with("starts/") { (process, false) } else { ("", true) };
            continue;
        }
        let Some((shell, line)) = current.filter(|_| process != driver) else { continue };
        // A run begins with the shell itself.
        if !has_begun && call.starts_with("execve(") {
            has_begun = has_run(call) && SHELLS[*shell].is_started_by(call);
            continue;
        }
        if does_more(call, temporaries)
            && !found.last().is_some_and(|last| last.line == *line && last.shell == SHELLS[*shell].name)
        {
            found.push(Escape {
                shell: SHELLS[*shell].name,
                line: (*line).to_owned(),
                call: call.to_owned(),
            });
        }
    }
    found
}

/// Whether a call does more than read.
fn does_more(call: &str, temporaries: &[String]) -> bool {
    let Some((name, rest)) = call.split_once('(').filter(|(name, _)| !name.contains([' ', '<'])) else {
        return false;
    };
    let is_temporary = temporaries.iter().any(|temporary| rest.contains(temporary));
    match name {
        // The driver ends what takes too long.
        "execve" if rest.contains("[\"kill\", \"-KILL\", \"--\", \"-") => false,
        "execve" | "execveat" => has_run(call) && !is_reading(rest),
        "connect" | "bind" | "sendto" | "sendmsg" => {
            let is_local = ["AF_UNIX", "AF_NETLINK", "NULL, 0"].iter().any(|local| rest.contains(local));
            name != "sendmsg" && !is_local
        }
        "open" | "openat" | "openat2" => {
            let opens = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| rest.contains(flag));
            let is_nothing =
                ["\"/dev/null\"", "\"/dev/tty\"", "\"/dev/pts/"].iter().any(|nothing| rest.contains(nothing));
            opens && !is_nothing && !is_temporary
        }
        // Temporary files are taken away by who has made them; shells signal only themselves.
        "unlink" | "unlinkat" | "link" => !is_temporary,
        "kill" => false,
        _ => true,
    }
}

/// Whether a program was really started.
fn has_run(call: &str) -> bool {
    let path = call.split('"').nth(1).unwrap_or_default();
    call.ends_with("= 0") || (call.contains("<unfinished") && Path::new(path).exists())
}

/// Whether it is a program that only reads, from where the system keeps them; git's own helpers are git.
fn is_reading(rest: &str) -> bool {
    let path = rest.split('"').nth(1).unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_system = path.starts_with("/usr/") || path.starts_with("/bin/") || path.contains("/tools/");
    is_system
        && (READING.split_whitespace().any(|known| known == name)
            || path.starts_with("/usr/lib/git-core/git"))
}
