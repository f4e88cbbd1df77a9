//! What is called read-only is run by real shells, and changes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::commands;
use super::tree::{Tree, changed};

/// System calls that change something, run something or connect.
const TRACED: &str = "trace=execve,connect,bind,sendto,open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,\
                      mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmodat,chown,fchownat,truncate,utimensat";

#[test]
fn nothing_changes_in_bash() {
    nothing_changes_in("bash");
}

/// A POSIX shell knows less than bash, and reads the same text in its own way.
#[test]
fn nothing_changes_in_sh() {
    nothing_changes_in("sh");
}

#[track_caller]
fn nothing_changes_in(shell: &str) {
    let tree = Tree::new();
    let before = tree.snapshot();
    for (command, _) in commands().into_iter().filter(|(_, is_proven)| *is_proven) {
        tree.run(shell, &command);
        let changed = changed(&before, &tree.snapshot());
        assert!(changed.is_empty(), "{command:?} with {shell} changes {changed:?}");
    }
}

/// The test would see a change: this is how the tree is compared.
#[test]
fn a_change_is_seen() {
    for command in ["rm y", "ls > out", "touch a.txt", "chmod +x a.txt", "sort -o a.txt a.txt"] {
        let tree = Tree::new();
        let before = tree.snapshot();
        tree.run("bash", command);
        assert!(!changed(&before, &tree.snapshot()).is_empty(), "{command}");
    }
}

/// Where system calls can be watched: nothing is opened to be written, nothing unknown is run, nothing connects.
#[test]
fn system_calls_only_read() {
    let tree = Tree::new();
    let log = tree.path().join("calls");
    let traced = |line: &str| {
        let mut strace = Command::new("strace");
        strace
            .args(["-f", "--seccomp-bpf", "-qq", "-s", "200", "-e", TRACED, "-o"])
            .arg(&log)
            .args(["bash", "-c", line]);
        tree.spawned(&mut strace);
        fs::read_to_string(&log).unwrap_or_default()
    };
    let can_trace = Command::new("strace")
        .args(["-f", "--seccomp-bpf", "-qq", "-e", TRACED, "-o", "/dev/null", "true"])
        .status();
    if !can_trace.is_ok_and(|status| status.success()) {
        eprintln!("skipped: strace cannot watch a process here");
        return;
    }
    assert!(traced("ls > out").lines().any(writes), "a write is seen");
    let mut programs = BTreeSet::new();
    for (command, _) in commands().into_iter().filter(|(_, is_proven)| *is_proven) {
        let calls = traced(&command);
        let wrong: Vec<&str> = calls.lines().filter(|call| writes(call) || connects(call)).collect();
        assert!(wrong.is_empty(), "{command:?}:\n{}", wrong.join("\n"));
        programs.extend(calls.lines().filter_map(run));
    }
    let unknown: Vec<&String> = programs.iter().filter(|name| !is_expected(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Whether a call changes a file, or opens one for that.
fn writes(call: &str) -> bool {
    let Some((name, rest)) = called(call) else { return false };
    match name {
        "execve" | "connect" | "bind" | "sendto" => false,
        "open" | "openat" => {
            let opens = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| rest.contains(flag));
            opens && !["\"/dev/null\"", "\"/dev/tty\""].iter().any(|nothing| rest.contains(nothing))
        }
        _ => true,
    }
}

/// Whether a call reaches beyond the machine's own files.
fn connects(call: &str) -> bool {
    called(call).is_some_and(|(name, rest)| {
        matches!(name, "connect" | "bind" | "sendto")
            && !rest.contains("AF_UNIX")
            && !rest.contains("AF_NETLINK")
    })
}

/// The name of a call and its arguments.
fn called(call: &str) -> Option<(&str, &str)> {
    let call = call.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
    call.split_once('(').filter(|(name, _)| !name.contains(' '))
}

/// The program that a call runs.
fn run(call: &str) -> Option<String> {
    let (_, rest) = called(call).filter(|(name, rest)| *name == "execve" && rest.ends_with("= 0"))?;
    let path = rest.strip_prefix('"')?.split('"').next()?;
    Some(path.rsplit('/').next()?.to_owned())
}

/// Whether a program of this name may run: one that the classifier knows, or a helper of such a one.
fn is_expected(name: &str) -> bool {
    const HELPERS: [&str; 5] = ["bash", "sh", "dash", "gzip", "perl"];
    let ways = ["", " --version", " 1", " -tf a.tar", " -l a.zip", " 1 ls"];
    HELPERS.contains(&name) || ways.iter().any(|way| super::is_proven(&format!("{name}{way}")))
}
