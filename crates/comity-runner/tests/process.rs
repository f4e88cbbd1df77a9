//! Programs in terminals that nobody sees: what they get, and how they end.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use comity_runner::{Exit, ProcessId, RunnerEvent, Size};
use rustix::process::{Pid, Signal};
use support::*;

const NO_GRACE: Duration = Duration::ZERO;

#[test]
fn a_program_gets_its_environment_its_directory_and_a_terminal() {
    let place = Place::new();
    place.start("ann", "tty; stty size; pwd; env; command ls -C /proc/self/fd | tr -s ' ' , ; echo ready; read line; echo got $line; exit 7");
    let text = place.wait_for("ann", "ready");
    assert!(text.starts_with("/dev/pts/"), "{text}");
    assert!(text.contains("30 100"), "{text}");
    assert!(text.contains(&place.dir().display().to_string()), "{text}");
    let variables: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.trim().split_once('=')).collect();
    assert!(variables.contains_key("COMITY_TEST_MARK") && !variables.contains_key("HOME"), "{variables:?}");
    // The three, and the one that `ls` reads with: nothing of ours is open in it.
    assert!(text.lines().any(|line| line.trim() == "0,1,2,3"), "{text}");

    place.runner().write("ann", b"hello\n").unwrap();
    place.wait_for("ann", "got hello");
    assert_eq!(place.next(), RunnerEvent::Ended { key: "ann".into(), exit: Exit::Code(7) });
}

#[test]
fn a_terminal_can_be_made_larger() {
    let place = Place::new();
    place.start("ann", "trap 'stty size' WINCH; echo ready; while :; do read line; done");
    place.wait_for("ann", "ready");
    place.runner().resize("ann", Size { columns: 77, rows: 11 }).unwrap();
    place.wait_for("ann", "11 77");
}

#[test]
fn what_cannot_start_says_why() {
    let place = Place::new();
    let mut launch = place.launch("ann", "");
    launch.program.command = vec!["/no/such/program".into()];
    place.runner().launch(vec![launch.clone()]).unwrap();
    match place.next() {
        RunnerEvent::NotStarted { key, why } => {
            assert_eq!((key.as_str(), why.contains("/no/such/program")), ("ann", true), "{why}");
        }
        other => panic!("{other:?}"),
    }
    launch.program.command = vec!["true".into()];
    launch.program.directory = "/no/such/directory".into();
    place.runner().launch(vec![launch]).unwrap();
    assert!(matches!(place.next(), RunnerEvent::NotStarted { .. }));
    assert!(place.runner().end("ann", NO_GRACE).is_err());
}

#[test]
fn a_name_is_used_once() {
    let place = Place::new();
    place.start("ann", "read line");
    let again = place.runner().launch(vec![place.launch("ann", "true")]);
    assert_eq!(again.unwrap_err().to_string(), "ann was started before");
}

#[test]
fn an_interrupt_reaches_what_runs_in_the_foreground_and_not_the_program_above() {
    let place = Place::new();
    place.start("bash", "exec bash --norc --noprofile -i");
    place.runner().write("bash", b"echo rea''dy; sleep 1000\n").unwrap();
    place.wait_for("bash", "ready");
    let mark = mark(place.dir(), "bash");
    let both = wait_for_marked(&mark, 2);
    // The shell gives the terminal away in its own time.
    until(|| Some(()).filter(|()| foreground(both.first().copied().unwrap()) == both.last().copied()))
        .unwrap();
    place.runner().interrupt("bash").unwrap();
    until(|| Some(marked(&mark)).filter(|left| left.len() == 1)).expect("only the shell is left");
    // What is typed before the shell asks for it may be thrown away.
    let answer = until(|| {
        place.runner().write("bash", b"echo still he''re\n").unwrap();
        let output = place.runner().output("bash", 0).unwrap();
        String::from_utf8_lossy(&output.bytes).contains("still here").then_some(())
    });
    answer.expect("the shell goes on");
}

#[test]
fn whoever_ends_by_itself_leaves_nothing_behind() {
    let place = Place::new();
    let mark = mark(place.dir(), "ann");
    place.start(
        "ann",
        "setsid sleep 1000 & nohup sleep 1001 >/dev/null 2>&1 & (sh -c 'sleep 1002 & sleep 1003' &) ; \
         echo ready; read line; exit 3",
    );
    place.wait_for("ann", "ready");
    let pids = wait_for_marked(&mark, 6);
    place.runner().write("ann", b"\n").unwrap();
    assert_eq!(place.next(), RunnerEvent::Ended { key: "ann".into(), exit: Exit::Code(3) });
    assert!(marked(&mark).is_empty(), "{pids:?}");
}

#[test]
fn who_is_asked_to_end_may_do_it_in_its_own_way_and_who_does_not_is_killed() {
    let place = Place::new();
    let polite = "trap 'echo bye; exit 4' TERM; echo ready; while :; do read line; done";
    place.start("polite", polite);
    place.wait_for("polite", "ready");
    place.runner().end("polite", PATIENCE).unwrap();
    assert_eq!(place.next(), RunnerEvent::Ended { key: "polite".into(), exit: Exit::Code(4) });

    let stubborn = "trap '' TERM HUP INT; echo ready; while :; do sleep 1000; done";
    place.start("stubborn", stubborn);
    place.wait_for("stubborn", "ready");
    place.runner().end("stubborn", Duration::from_millis(50)).unwrap();
    assert_eq!(place.next(), RunnerEvent::Ended { key: "stubborn".into(), exit: Exit::Signal(9) });
    assert!(marked(&mark(place.dir(), "stubborn")).is_empty());
}

#[test]
fn a_runner_that_is_dropped_ends_everything() {
    let mut place = Place::new();
    place.start("ann", "setsid sleep 1000 & sleep 1001");
    let mark = mark(place.dir(), "ann");
    wait_for_marked(&mark, 3);
    place.runner = None;
    assert!(marked(&mark).is_empty());
}

#[test]
fn a_guardian_that_is_killed_is_told_and_nothing_of_the_program_is_left() {
    let place = Place::new();
    let program = place.start("ann", "setsid sleep 1000 & echo ready; sleep 1001");
    place.wait_for("ann", "ready");
    let mark = mark(place.dir(), "ann");
    wait_for_marked(&mark, 3);
    let guardian = parent_of(program.pid);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(guardian as i32).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    assert_eq!(place.next(), RunnerEvent::Ended { key: "ann".into(), exit: Exit::Unseen });
    assert_eq!(survivors(&mark, Duration::from_secs(2)), Default::default());
}

/// The guardian of a program, stopped: it ends nothing any more.
fn stop_guardian_of(program: ProcessId) {
    let guardian = Pid::from_raw(parent_of(program.pid) as i32).unwrap();
    rustix::process::kill_process(guardian, Signal::STOP).unwrap();
}

#[test]
fn a_guardian_that_is_stuck_holds_nobody_up() {
    let mut place = Place::new();
    let programs = ["ann", "bob", "cat"].map(|key| {
        let program = place.start(key, "setsid sleep 1000 & echo ready; sleep 1001");
        place.wait_for(key, "ready");
        program
    });
    stop_guardian_of(programs[0]);
    stop_guardian_of(programs[1]);
    for key in ["ann", "cat"] {
        place.runner().end(key, NO_GRACE).unwrap();
    }
    // The one that can end does at once, the other when its time is up.
    assert!(matches!(place.next(), RunnerEvent::Ended { key, .. } if key == "cat"));
    assert_eq!(place.next(), RunnerEvent::Ended { key: "ann".into(), exit: Exit::Unseen });
    assert!(marked(&mark(place.dir(), "ann")).is_empty());
    place.runner = None;
    assert!(marked(&mark_of_all(place.dir())).is_empty());
}

#[test]
fn output_is_kept_up_to_a_bound() {
    let place = Place::new();
    place.start("ann", "stty -opost; head -c 3000000 /dev/zero | tr '\\0' x; echo done; read line");
    place.wait_for("ann", "done");
    let output = place.runner().output("ann", 0).unwrap();
    assert!(output.bytes.len() <= 256 * 1024, "{}", output.bytes.len());
    assert_eq!(output.missed + output.bytes.len() as u64, output.next);
    assert_eq!(output.next, 3_000_005);
}

fn parent_of(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The process group that has the terminal of a process.
fn foreground(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_ascii_whitespace().nth(5)?.parse().ok()
}
