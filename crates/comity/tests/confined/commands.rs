//! Commands by themselves, without an agent program.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::nobody::again_as_nobody;
use super::{confine, confined, place, ways};
use crate::support::{Place, Ran, beside, is_root};

/// How many are tried at a time.
const AT_ONCE: usize = 4;
/// How long one may take, in seconds.
const WAY_SECONDS_MAX: &str = "20";
/// At least so many are tried.
const WAYS_MIN: usize = 150;

/// The ways in which a file that nobody guards is changed, and each of them where somebody else holds it. Before each,
/// everything else is as it was: a way that fails for want of another file shows nothing.
#[test]
fn no_way_changes_a_file_that_somebody_else_holds() {
    let all = ways::lines();
    let (next, changed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let (place, _bob) = place();
                let ann = place.join(&["ann"]);
                let first = place.dir().join("first");
                ways::restore(&place.repo, &first);
                while let Some(line) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if is_changed_by(&place, &first, line) {
                        changed.fetch_add(1, Ordering::Relaxed);
                    }
                    ways::restore(&first, &place.repo);
                    ways::make_own(&place.repo, line);
                    let mut timeout = place.program("timeout");
                    timeout.arg(WAY_SECONDS_MAX).arg(beside("comity-confine")).args(["-c", line]);
                    let said = Ran::of(timeout.env("COMITY_TOKEN", &ann.token).output().expect("it runs"));
                    assert!(ways::is_untouched(&place.repo), "{line}: {said:?}");
                }
            });
        }
    });
    assert!(changed.into_inner() >= WAYS_MIN, "too many programs are missing here");
}

#[test]
fn no_way_changes_it_for_an_ordinary_user() {
    again_as_nobody("commands::no_way_changes_a_file_that_somebody_else_holds", &[]);
}

/// Whether a way changes the file where nobody guards it. Not every machine has every program.
fn is_changed_by(place: &Place, first: &Path, line: &str) -> bool {
    let bare = place.dir().join("bare");
    ways::restore(first, &bare);
    ways::make_own(&bare, line);
    let mut timeout = place.program("timeout");
    timeout.args([WAY_SECONDS_MAX, "bash", "-c", line]).current_dir(&bare);
    let said = Ran::of(timeout.output().expect("it runs"));
    // Some take root.
    let is_missing = ways::is_untouched(&bare) && (!is_root() || said.err.contains("not found"));
    assert!(is_missing || !ways::is_untouched(&bare), "{line}: {said:?}");
    !is_missing
}

#[test]
fn the_holder_writes_and_others_write_elsewhere() {
    let (place, bob) = place();
    let ann = place.join(&["ann"]);
    let run = |agent, line: &str| Ran::of(confined(&place, agent, line).output().expect("it runs"));
    let ran = run(&ann, "echo x >src/a.rs || echo y >src/b.rs && touch new && cat src/b.rs new");
    assert_eq!((ran.code, &*ran.out), (0, "y\n"), "{ran:?}");
    assert!(ran.err.contains("Read-only file system"), "{ran:?}");
    assert!(ways::is_untouched(&place.repo));
    assert_eq!(run(&bob, "echo mine >src/a.rs").code, 0);
    assert!(!ways::is_untouched(&place.repo));
}

#[test]
fn a_name_is_held_in_every_worktree() {
    let (place, _bob) = place();
    place.git(&["worktree", "add", "--quiet", "../other"]);
    let ann = place.join(&["ann"]);
    let line = "echo x >../other/src/a.rs; echo x >../other/src/b.rs && cat ../other/src/a.rs";
    let ran = Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    assert_eq!((ran.code, &*ran.out), (0, ways::BEFORE), "{ran:?}");
}

#[test]
fn another_name_of_a_held_file_is_held() {
    let (place, _bob) = place();
    std::fs::hard_link(place.repo.join(ways::FILE), place.repo.join("linked")).expect("linked");
    let ann = place.join(&["ann"]);
    let ran = Ran::of(confined(&place, &ann, "echo x >linked").output().expect("it runs"));
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ways::is_untouched(&place.repo));
}

#[test]
fn a_command_ends_as_it_would_have() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    for line in [
        "exit 7",
        "kill -TERM $$",
        "kill -KILL $$",
        "true",
        "nosuchprogram",
        "echo out; echo err >&2; exit 3",
    ] {
        let bare = place.program("bash").args(["-c", line]).output().expect("it runs");
        let ours = confined(&place, &ann, line).output().expect("it runs");
        assert_eq!(ours.status, bare.status, "{line}");
        let told = |said: &[u8]| String::from_utf8_lossy(said).replace("bash: ", "");
        assert_eq!(
            (told(&ours.stdout), told(&ours.stderr)),
            (told(&bare.stdout), told(&bare.stderr)),
            "{line}"
        );
    }
    let killed = confined(&place, &ann, "kill -TERM $$").status().expect("it runs");
    assert_eq!(killed.signal(), Some(15));
}

/// What a process finds that depends on how it was started.
const FINDINGS: &str = "echo $PPID; grep -E '^(SigIgn|SigBlk)' /proc/self/status; \
    ps -o pgid=,sid=,tty= -p $$ | sed \"s/ $$ / own /;s/^ *$$/own/\"; ls /proc/self/fd | wc -l; umask; jobs; \
    sleep 0.01 & wait $!; echo $?; pwd; id -u; id -g; hostname; ulimit -n; nice";

#[test]
fn a_command_finds_what_it_would_have_found() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    for before in ["", "trap '' PIPE; ", "trap '' INT HUP; umask 027; "] {
        // A shell that ignores signals starts both: they inherit that.
        let run = |program: &str| {
            let line = format!("{before}exec {program} -c \"$FINDINGS\"");
            let mut bash = place.program("bash");
            bash.args(["-c", &line]).env("FINDINGS", FINDINGS).env("COMITY_TOKEN", &ann.token);
            Ran::of(bash.output().expect("it runs"))
        };
        let (bare, ours) = (run("bash"), run(&format!("'{}'", beside("comity-confine").display())));
        assert_eq!((ours.code, ours.out, ours.err), (bare.code, bare.out, bare.err), "{before}");
    }
}

#[test]
fn a_background_process_outlives_its_command_and_stays_confined() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    std::fs::write(place.repo.join("go"), "").expect("written");
    let line = "mkfifo pipe; (read go <pipe; echo x >src/a.rs; echo $? >done) >/dev/null 2>&1 & echo $!";
    let ran = Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    assert_eq!(ran.code, 0, "nobody waits for it: {ran:?}");
    std::fs::write(place.repo.join("pipe"), "go\n").expect("told");
    crate::support::eventually("it has tried", || {
        std::fs::read_to_string(place.repo.join("done")).is_ok_and(|text| text.ends_with('\n'))
    });
    assert_eq!(std::fs::read_to_string(place.repo.join("done")).expect("text"), "1\n");
    assert!(ways::is_untouched(&place.repo));
}

#[test]
fn nothing_is_left_of_a_command_that_has_ended() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let mut child = confined(&place, &ann, "readlink /proc/self/ns/mnt; read x")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut space = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut space).expect("a line");
    let here = |space: &str| {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        processes
            .filter_map(|it| std::fs::read_link(it.path().join("ns/mnt")).ok())
            .filter(|it| it.as_os_str() == space.trim())
            .count()
    };
    assert!(here(&space) >= 2, "the command, and who keeps its mounts");
    writeln!(child.stdin.take().expect("a pipe"), "end").expect("told");
    child.wait().expect("an end");
    crate::support::eventually("nobody is left", || here(&space) == 0);
}

#[test]
fn settings_decide_whether_commands_are_confined() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.set("[guard]\nconfine = \"off\"\n");
    place.run(&["down"]);
    assert_eq!(confined(&place, &ann, "echo x >src/a.rs").status().expect("it runs").code(), Some(0));
    assert!(!ways::is_untouched(&place.repo), "it is off");
}

#[test]
fn a_command_that_must_be_confined_does_not_run_otherwise() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    // No namespaces can be made in here, by nobody.
    let run = |setting: &str| {
        let mut unshare = place.program("unshare");
        let line =
            "echo 0 >/proc/sys/user/max_user_namespaces; exec \"$CONFINE\" -c 'touch ran; echo x >src/a.rs'";
        unshare.args(["--user", "--map-root-user", "bash", "-c", line]);
        unshare.env("CONFINE", beside("comity-confine")).env("COMITY_TOKEN", &ann.token);
        place.set(&format!("[guard]\nconfine = \"{setting}\"\n"));
        place.run(&["down"]);
        Ran::of(unshare.output().expect("it runs"))
    };
    let ran = run("required");
    assert_eq!(ran.code, 126, "{ran:?}");
    assert!(
        ran.err.contains("guard.confine is \"required\"") && ran.err.contains("user namespaces"),
        "{ran:?}"
    );
    assert!(!place.repo.join("ran").exists());
    let ran = run("auto");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(place.repo.join("ran").exists(), "without namespaces the hook's judgement has to do");
}

#[test]
fn a_variable_that_an_agent_sets_lets_nothing_out() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let line = "echo x >src/a.rs";
    for words in
        [&["-c", line][..], &["--", "bash", "-c", line], &["--again", "/bin/bash", "bash", "-c", line]]
    {
        let mut command = confine(&place, &ann, words);
        let ran = Ran::of(command.env("AI_AGENT", "x_harness").output().expect("it runs"));
        assert_ne!(ran.code, 0, "{words:?}: {ran:?}");
        assert!(ways::is_untouched(&place.repo), "{words:?}");
    }
}
