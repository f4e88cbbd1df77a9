//! What a command has from before it was confined: its working directory, and what is open.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::place::{BEFORE, Place, described, said};
use serde_json::Value;

/// The number that a command inherits something by.
const NUMBER: i32 = 9;

/// How something is opened before the command is confined.
#[derive(Clone, Copy, Debug)]
enum Open {
    Read,
    ReadAndWrite,
    Append,
    /// Only as a place.
    Path,
}

impl Open {
    fn at(self, path: &PathBuf) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match self {
            Open::Read => options.read(true).open(path),
            Open::ReadAndWrite => options.read(true).write(true).open(path),
            Open::Append => options.append(true).open(path),
            Open::Path => options.read(true).custom_flags(libc::O_PATH).open(path),
        }
    }
}

/// Runs a command that has inherited a path.
fn run(place: &Place, rules: &Value, (how, path): (Open, &str), line: &str) -> String {
    let path = place.at(path);
    let inherit = move || give(how.at(&path)?);
    said(&place.prepared(rules, line, inherit).output().expect("it starts"))
}

#[expect(unsafe_code, reason = "a number that is given away is owned by nobody")]
fn give(file: File) -> io::Result<()> {
    // It may have that number already, by what the test runner has open.
    let is_there = file.as_raw_fd() == NUMBER;
    // SAFETY: nobody in this test uses that number. It is not closed on exec.
    let given = unsafe {
        if is_there { libc::fcntl(NUMBER, libc::F_SETFD, 0) } else { libc::dup2(file.as_raw_fd(), NUMBER) }
    };
    if given == -1 {
        return Err(io::Error::last_os_error());
    }
    if is_there {
        std::mem::forget(file);
    }
    Ok(())
}

/// What changes a file that is open as [`NUMBER`].
const CHANGES: [&str; 5] = [
    "echo more >/proc/self/fd/9",
    "echo more >>/dev/fd/9",
    "echo more >&9",
    "chmod 777 /proc/self/fd/9",
    "python3 -c 'import os; os.fchmod(9, 0o777)'",
];

fn check_untouched(place: &Place, path: &str, said: &str) {
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(place.read(path), BEFORE, "{said}");
    let mode = fs::metadata(place.at(path)).expect("a file").permissions().mode();
    assert_eq!(mode & 0o111, 0, "{said}");
}

#[test]
fn a_directory_that_was_open_before_leads_nowhere_else() {
    for place in Place::of_all_users() {
        for how in [Open::Read, Open::Path] {
            let line = "ls /proc/self/fd/9/src && echo more >/proc/self/fd/9/src/a.rs";
            let said = run(&place, &place.held(&["src/a.rs"]), (how, ""), line);
            assert!(said.contains("a.rs"), "{how:?}: {said}");
            check_untouched(&place, "src/a.rs", &said);
        }
    }
}

#[test]
fn a_directory_that_was_open_and_is_gone_leads_nowhere() {
    for place in Place::of_all_users() {
        for rules in [place.held(&["src/a.rs"]), place.sealed()] {
            let gone = place.at("src/gone");
            let inherit = move || {
                fs::create_dir(&gone)?;
                give(Open::Read.at(&gone)?)?;
                fs::remove_dir(&gone)
            };
            let line = "echo more >/proc/self/fd/9/../a.rs";
            let output = place.prepared(&rules, line, inherit).output().expect("it starts");
            check_untouched(&place, "src/a.rs", &said(&output));
        }
    }
}

#[test]
fn a_held_file_that_was_open_before_cannot_be_changed() {
    for place in Place::of_all_users() {
        let held = place.held(&["src/a.rs", "docs"]);
        for path in ["src/a.rs", "docs/deep/x.md"] {
            for how in [Open::Read, Open::ReadAndWrite, Open::Append, Open::Path] {
                for line in CHANGES {
                    let said = run(&place, &held, (how, path), line);
                    check_untouched(&place, path, &format!("{path} {how:?} {line}: {said}"));
                }
            }
        }
    }
}

#[test]
fn a_file_that_was_open_before_is_read_on_where_it_was() {
    let place = Place::new();
    let path = place.at("src/a.rs");
    for rules in [place.held(&["src/a.rs"]), place.sealed()] {
        let path = path.clone();
        let inherit = move || {
            let mut file = Open::Read.at(&path)?;
            io::Read::read_exact(&mut file, &mut [0; 3])?;
            give(file)
        };
        let output = place.prepared(&rules, "cat <&9", inherit).output().expect("it starts");
        assert!(said(&output).contains("0 it was\n"), "{}", said(&output));
    }
}

#[test]
fn a_file_that_nobody_holds_stays_open_as_it_is() {
    let place = Place::new();
    let held = place.held(&["src/a.rs"]);
    // Who started it writes on where it ends: they share the place that they are at.
    let path = place.at("src/b.rs");
    let inherit = {
        let path = path.clone();
        move || give(Open::Append.at(&path)?)
    };
    let output = place.prepared(&held, "echo more >&9", inherit).output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let log = OpenOptions::new().write(true).open(&path).expect("a file");
    let run = |text: &str| {
        let mut command = place.command(&held, &format!("echo {text}"));
        command.stdout(log.try_clone().expect("a file")).status().expect("it starts")
    };
    assert!(run("one").success() && run("two").success());
    assert!(place.read("src/b.rs").starts_with("one\ntwo\n"), "{}", place.read("src/b.rs"));
}

#[test]
fn a_sealed_command_changes_nothing_that_it_was_given_to_read() {
    for place in Place::of_all_users() {
        for how in [Open::Read, Open::Path] {
            for line in CHANGES {
                let said = run(&place, &place.sealed(), (how, "src/b.rs"), line);
                check_untouched(&place, "src/b.rs", &format!("{how:?} {line}: {said}"));
            }
        }
        // Where its output goes is for its program to say.
        let said = run(&place, &place.sealed(), (Open::Append, "src/b.rs"), "echo more >&9");
        assert!(place.read("src/b.rs").ends_with("more\n"), "{said}");
    }
}

#[test]
fn a_sealed_command_reads_what_it_was_given_from_a_temporary_directory() {
    let place = Place::new();
    let given = tempfile::NamedTempFile::new().expect("a file");
    fs::write(given.path(), [&described(&place.sealed())[..], b"given\n"].concat()).expect("written");
    let mut command = place.command(&place.sealed(), "cat; echo more >/proc/self/fd/0");
    let output = command.stdin(File::open(given.path()).expect("a file")).output().expect("it starts");
    assert!(said(&output).contains("given"), "{}", said(&output));
    assert!(fs::read_to_string(given.path()).expect("a file").ends_with("given\n"));
}

#[test]
fn a_working_directory_that_is_gone_leads_nowhere() {
    for place in Place::of_all_users() {
        for rules in [place.held(&["src/a.rs"]), place.sealed()] {
            let gone = place.at("src/gone");
            fs::create_dir(&gone).expect("made");
            let line = format!(
                "echo more >../a.rs; echo more >../new; echo more >../../src/a.rs; mkdir ../dir; cd '{}' && cat src/b.rs",
                place.at("").display()
            );
            let removed = gone.clone();
            let mut command = place.prepared(&rules, &line, move || fs::remove_dir(&removed));
            let output = command.current_dir(&gone).output().expect("it starts");
            // As it is without us: the shell complains, and can go where there is something.
            assert!(output.status.success() && said(&output).contains(BEFORE), "{}", said(&output));
            assert!(!place.at("src/new").exists() && !place.at("src/dir").exists(), "{}", said(&output));
            check_untouched(&place, "src/a.rs", &said(&output));
            let _ = fs::remove_dir(&gone);
        }
    }
}

#[test]
fn a_sealed_command_may_begin_in_a_temporary_directory() {
    let place = Place::new();
    let mut command = place.command(&place.sealed(), "pwd");
    let output = command.current_dir("/tmp").output().expect("it starts");
    assert!(said(&output).contains("/tmp"), "{}", said(&output));
}
