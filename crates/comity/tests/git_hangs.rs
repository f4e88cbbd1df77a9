//! A git that hangs is given up; one that works is not.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::PathBuf;

use support::{Agent, Place, Ran, eventually};

/// How long git may be silent in these tests.
const HUNG_AFTER: &str = "2s";

/// A place whose server runs another git, which does something before it answers one verb.
fn place(verb: &str, before: &str) -> (Place, Agent, PathBuf) {
    let place = Place::with(&[("COMITY_GIT_HUNG_AFTER", HUNG_AFTER), ("COMITY_WORKTREE_READY", "0")]);
    let (bin, real) = (place.dir().join("bin"), std::env::var("PATH").expect("a path"));
    let (is_on, pid) = (place.dir().join("on"), place.dir().join("pid"));
    std::fs::create_dir(&bin).expect("made");
    let script = format!(
        "#!/bin/sh\nPATH='{real}'\ncase \" $* \" in *' {verb} '*) if [ -e '{}' ]; then echo $$ >'{}'; {before}; fi;; esac\n\
         exec git \"$@\"\n",
        is_on.display(),
        pid.display()
    );
    std::fs::write(bin.join("git"), script).expect("written");
    assert!(place.program("chmod").arg("755").arg(bin.join("git")).status().expect("chmod").success());
    let mut up = place.comity(&["up"]);
    up.env("COMITY_GIT_PROGRAM", bin.join("git"));
    assert_eq!(Ran::of(up.output().expect("comity runs")).code, 0);
    let ann = place.join(&["ann"]);
    std::fs::write(is_on, "").expect("written");
    (place, ann, pid)
}

fn check_given_up(verb: &str) {
    let (place, ann, pid) = place(verb, "sleep 1000");
    let said = place.run_as(&ann, &["worktree", "add"]);
    assert!(said.out.contains("hung for 2s"), "{verb}: {said:?}");
    let pid: u32 = std::fs::read_to_string(pid).expect("it ran").trim().parse().expect("a number");
    eventually("what hung is gone", || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    });
}

#[test]
fn a_quick_question_that_is_not_answered_is_given_up() {
    check_given_up("for-each-ref");
}

#[test]
fn long_work_in_which_nothing_moves_is_given_up() {
    check_given_up("reset");
}

#[test]
fn long_work_that_moves_is_waited_for() {
    let work = "n=0; while [ $n -lt 25 ]; do cat /etc/passwd >/dev/null; sleep 0.2; n=$((n+1)); done";
    let (place, ann, _) = place("reset", work);
    let made = place.json_as(&ann, &["worktree", "add"]);
    assert_eq!(made["branch"], "comity/ann", "{made}");
}
