//! Commits that are killed at every call of git, and what is left of them.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_git::Repository;
use comity_git::commit::{Healed, NotCommitted, commit, heal};

use crate::committing::{
    PATIENCE, below, commit_below, is_merging, lines, merging, paths_of, request, shown, staged,
};
use crate::sandbox::Sandbox;

/// The variable that tells the victim where to commit.
const VICTIM: &str = "COMITY_TEST_VICTIM";

/// Stands in the way of git: kills who calls it, at the n-th call of a verb.
const KILLER: &str = r#"#!/bin/sh
for arg in "$@"; do
    if [ "$arg" = VERB ]; then
        echo >> COUNT
        if [ "$(wc -l < COUNT)" -eq NTH ]; then
            case MOMENT in
                before) kill -9 $PPID; exit 1 ;;
                after) 'REAL' "$@"; kill -9 $PPID; exit 1 ;;
                outlived) kill -9 $PPID; exec 9> FIFO ;;
            esac
        fi
        break
    fi
done
exec 'REAL' "$@"
"#;

fn tree() -> Sandbox {
    let sandbox = Sandbox::with(&["src/a.rs", "src/b.rs", "docs/d.md"]);
    sandbox.write("main/.git/info/attributes", "*.rs text\n");
    sandbox.write("main/src/a.rs", "ours\n");
    sandbox.write("main/src/n.rs", "ours\n");
    fs::remove_file(sandbox.path("main/src/b.rs")).expect("removed");
    sandbox
}

const OURS: &[&str] = &["M src/a.rs", "D src/b.rs", "A src/n.rs"];

fn real_git() -> PathBuf {
    let path = std::env::var_os("PATH").expect("a path");
    let mut places = std::env::split_paths(&path).map(|dir| dir.join("git"));
    places.find(|place| place.is_file()).expect("git")
}

/// What a git that outlives its caller holds open until it ends. It does not begin before somebody reads.
fn fifo(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.path("fifo");
    if !path.exists() {
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    }
    path
}

/// Lets the git go on that has outlived its caller, and waits for its end.
fn let_it_end(sandbox: &Sandbox) {
    let mut pipe = fs::File::open(fifo(sandbox)).expect("a pipe");
    pipe.read_to_end(&mut Vec::new()).expect("its end");
}

/// Commits in a process of its own that is killed at a call of git; says whether there was such a call.
fn kill(sandbox: &Sandbox, verb: &str, nth: usize, moment: &str) -> bool {
    let count = sandbox.path("count");
    let script = KILLER
        .replace("VERB", verb)
        .replace("NTH", &nth.to_string())
        .replace("MOMENT", moment)
        .replace("COUNT", &format!("'{}'", count.display()))
        .replace("FIFO", &format!("'{}'", fifo(sandbox).display()))
        .replace("REAL", real_git().to_str().expect("text"));
    let _of_an_earlier_kill = fs::remove_file(&count);
    sandbox.write("bin/git", &script);
    fs::set_permissions(sandbox.path("bin/git"), fs::Permissions::from_mode(0o755)).expect("executable");
    let path = std::env::var_os("PATH").expect("a path");
    let dirs = std::iter::once(sandbox.path("bin")).chain(std::env::split_paths(&path));
    let status = Command::new(std::env::current_exe().expect("this test"))
        .args(["--ignored", "--exact", "commit_crash::victim"])
        .env("PATH", std::env::join_paths(dirs).expect("a path"))
        .env(VICTIM, sandbox.main())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("a victim");
    match status.signal() {
        Some(signal) => assert_eq!(signal, 9),
        None => assert!(status.success(), "{verb} {nth} {moment}"),
    }
    status.signal().is_some()
}

#[test]
#[ignore = "is started by the other tests, to be killed"]
fn victim() {
    let dir = PathBuf::from(std::env::var_os(VICTIM).expect("where to commit"));
    let repository = Repository::containing(&dir).expect("a directory").expect("a repository");
    let scope = below(&["src"]);
    commit(&repository, &request(&scope), &mut |_| Ok(())).expect("committed, if nobody kills us");
}

/// Whether a foreign file is staged all the while: then the commit is built in another way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Noise {
    None,
    Staged,
}

/// Whatever was interrupted: it heals, and at no time does plain git take anything back.
fn check_healed(sandbox: &Sandbox, label: &str) {
    let only_noise =
        |paths: Vec<String>| assert!(paths.iter().all(|path| path == "noise"), "{label}: {paths:?}");
    let is_published = || sandbox.git("main", &["log", "--format=%s"]).contains("work of bob");
    let person_commits = || sandbox.try_git("main", &["commit", "-q", "--allow-empty", "-m", "of a person"]);
    // Before anything is healed, git may refuse to commit, but not commit anything else.
    if person_commits().status.success() {
        only_noise(paths_of(sandbox, "main", "HEAD"));
    }
    let repository = sandbox.repository("main");
    heal(&repository, PATIENCE).expect(label);
    assert_eq!(heal(&repository, PATIENCE), Ok(Healed::Nothing), "{label}");
    assert!(!sandbox.path("main/.git/index.lock").exists(), "{label}");
    let left = fs::read_dir(sandbox.path("main/.git/comity")).expect("our directory").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["commit.lock"], "{label}");
    only_noise(staged(sandbox, "main"));
    assert!(person_commits().status.success(), "{label}");
    only_noise(paths_of(sandbox, "main", "HEAD"));
    if !is_published() {
        assert_eq!(shown(&commit_below(sandbox, &["src"]).changes), OURS, "{label}");
    }
    assert_eq!(lines(sandbox, "main", &["status", "--porcelain", "-z"]), [""; 0], "{label}");
    assert_eq!(lines(sandbox, "main", &["ls-files", "-z", "src"]), ["src/a.rs", "src/n.rs"], "{label}");
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "ours\n", "{label}");
    sandbox.git("main", &["fsck", "--strict"]);
}

/// Kills at each call of a verb, in each moment, and says at how many.
fn check(verb: &str, noise: Noise) {
    for moment in ["before", "after", "outlived"] {
        for nth in 1.. {
            let sandbox = tree();
            if noise == Noise::Staged {
                sandbox.write("main/noise", "staged by somebody\n");
                sandbox.git("main", &["add", "noise"]);
            }
            if !kill(&sandbox, verb, nth, moment) {
                assert!(nth > 1, "{verb} is not called at all");
                break;
            }
            if moment == "outlived" {
                let_it_end(&sandbox);
            }
            check_healed(&sandbox, &format!("{verb} {nth} {moment} {noise:?}"));
        }
    }
}

#[test]
fn killed_while_it_looks() {
    check("status", Noise::None);
    check("check-attr", Noise::None);
}

#[test]
fn killed_while_it_builds() {
    check("update-index", Noise::None);
    check("update-index", Noise::Staged);
    check("write-tree", Noise::None);
    check("commit-tree", Noise::None);
    check("diff-tree", Noise::None);
}

#[test]
fn killed_while_it_publishes() {
    check("update-ref", Noise::None);
    check("update-ref", Noise::Staged);
}

#[test]
fn killed_while_it_finishes_a_merge() {
    for verb in ["merge-tree", "update-index", "write-tree", "commit-tree", "update-ref"] {
        for moment in ["before", "after", "outlived"] {
            for nth in 1.. {
                let sandbox = merging();
                if !kill(&sandbox, verb, nth, moment) {
                    assert!(nth > 1, "{verb} is not called at all");
                    break;
                }
                if moment == "outlived" {
                    let_it_end(&sandbox);
                }
                check_merged(&sandbox, &format!("{verb} {nth} {moment}"));
            }
        }
    }
}

/// A merge is made once, and git knows whether it is.
fn check_merged(sandbox: &Sandbox, label: &str) {
    let repository = sandbox.repository("main");
    heal(&repository, PATIENCE).expect(label);
    assert_eq!(heal(&repository, PATIENCE), Ok(Healed::Nothing), "{label}");
    let merges = || sandbox.git("main", &["rev-list", "--merges", "--count", "HEAD"]);
    assert_eq!(is_merging(sandbox), merges() == "0\n", "{label}: git knows whether it is made");
    if is_merging(sandbox) {
        commit_below(sandbox, &["src"]);
    }
    // A person who goes on has nothing left to merge.
    sandbox.write("main/docs/d.md", "of a person\n");
    sandbox.git("main", &["commit", "-q", "-a", "-m", "of a person"]);
    assert_eq!(merges(), "1\n", "{label}");
    assert_eq!(paths_of(sandbox, "main", "HEAD"), ["docs/d.md"], "{label}");
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "both\n", "{label}");
    assert_eq!(sandbox.git("main", &["show", "HEAD:docs/new.md"]), "theirs\n", "{label}");
    assert_eq!(sandbox.git("main", &["status", "--porcelain"]), "", "{label}");
    sandbox.git("main", &["fsck", "--strict"]);
}

/// Leaves things as they are between the move of the branch and the change of the index.
fn half_published() -> Sandbox {
    let sandbox = tree();
    assert!(kill(&sandbox, "update-ref", 1, "after"));
    assert_eq!(sandbox.git("main", &["log", "-1", "--format=%s"]), "work of bob\n");
    assert_eq!(staged(&sandbox, "main"), ["src/a.rs", "src/b.rs", "src/n.rs"], "the trap is set");
    sandbox
}

#[test]
fn a_git_that_still_moves_the_branch_is_waited_for() {
    let sandbox = tree();
    assert!(kill(&sandbox, "update-ref", 1, "outlived"));
    let repository = sandbox.repository("main");
    assert_eq!(heal(&repository, Duration::from_millis(20)), Err(NotCommitted::Busy));
    let_it_end(&sandbox);
    assert!(matches!(heal(&repository, PATIENCE), Ok(Healed::Journal { paths: 3, .. })));
    check_healed(&sandbox, "outlived");
}

#[test]
fn the_next_commit_heals_too() {
    let sandbox = half_published();
    sandbox.write("main/docs/d.md", "ours\n");
    assert_eq!(shown(&commit_below(&sandbox, &["docs"]).changes), ["M docs/d.md"]);
    assert_eq!(lines(&sandbox, "main", &["status", "--porcelain", "-z"]), [""; 0]);
}

#[test]
fn what_somebody_staged_before_healing_stays_staged() {
    let sandbox = half_published();
    // Somebody believes git's advice, and goes on working.
    fs::remove_file(sandbox.path("main/.git/index.lock")).expect("removed");
    sandbox.write("main/src/a.rs", "of a person\n");
    sandbox.write("main/docs/d.md", "of a person\n");
    sandbox.git("main", &["add", "src/a.rs", "docs/d.md"]);
    let healed = heal(&sandbox.repository("main"), PATIENCE);
    assert!(matches!(&healed, Ok(Healed::Journal { paths: 2, .. })), "{healed:?}");
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md", "src/a.rs"]);
    assert_eq!(sandbox.git("main", &["show", ":src/a.rs"]), "of a person\n");
}

#[test]
fn healing_waits_for_a_lock_that_is_not_ours() {
    let sandbox = half_published();
    let lock = sandbox.path("main/.git/index.lock");
    fs::remove_file(&lock).expect("removed");
    fs::write(&lock, "of somebody").expect("a lock");
    let not = heal(&sandbox.repository("main"), Duration::from_secs(1)).expect_err("locked");
    assert!(lock.exists(), "{not}");
    fs::remove_file(&lock).expect("removed");
    assert!(matches!(heal(&sandbox.repository("main"), PATIENCE), Ok(Healed::Journal { paths: 3, .. })));
    assert_eq!(staged(&sandbox, "main"), [""; 0]);
}

#[test]
fn a_branch_that_went_elsewhere_is_not_healed_into() {
    let sandbox = half_published();
    fs::remove_file(sandbox.path("main/.git/index.lock")).expect("removed");
    // Somebody takes the commit back on purpose.
    sandbox.git("main", &["update-ref", "HEAD", "HEAD~1"]);
    // And what the index had all the time is something that somebody staged, seen from another commit.
    sandbox.git("main", &["commit", "-q", "--allow-empty", "-m", "of a person"]);
    sandbox.git("main", &["rm", "-q", "--cached", "src/a.rs"]);
    sandbox.git("main", &["commit", "-q", "-m", "of a person"]);
    sandbox.git("main", &["reset", "-q", "HEAD~1", "src/a.rs"]);
    assert_eq!(staged(&sandbox, "main"), ["src/a.rs"]);
    let healed = heal(&sandbox.repository("main"), PATIENCE);
    assert!(matches!(&healed, Ok(Healed::Journal { paths: 0, .. })), "{healed:?}");
    assert_eq!(staged(&sandbox, "main"), ["src/a.rs"]);
}
