//! Steering: pause, resume, retry, reopen, skip, cancel, assign, review, and who may do it.

use expect_test::expect;

use super::{check, words};
use crate::script::Stage;

#[test]
fn failure_and_cancelling_block_transitively_and_skipping_does_not() {
    check(
        "human declares a; b after a; c after b; d after c
         human cancels-task a
         show tasks
         human reopens a
         human skips a
         human pauses b
         show tasks
         human cancels-task b
         show tasks",
        expect![[r#"
            declared a, b, c, d
            a cancelled
            a: cancelled (1)
            b: blocked (1)
            c: blocked (1)
            d: blocked (1)
            a reopened (2), begun already: 
            a skipped
            b paused
            a: skipped (2)
            b: paused (1)
            c: pending (1)
            d: pending (1)
            b cancelled
            a: skipped (2)
            b: cancelled (1)
            c: blocked (1)
            d: blocked (1)"#]],
    );
}

#[test]
fn reopening_leaves_what_has_begun_and_says_so() {
    check(
        "human declares a; b after a; c after b; d after a
         ann starts a
         ann finishes a because done
         bob starts b
         human reopens a
         show tasks
         bob finishes b because done as well
         show tasks
         human reopens a",
        expect![[r#"
            declared a, b, c, d
            a claimed by ann (1)
            a started by ann (1)
            a done by ann: done
            b claimed by bob (1)
            b started by bob (1)
            a reopened (2), begun already: b
            a: ready (2)
            b: running (1), bob's
            c: pending (1)
            d: pending (1)
            b done by bob: done as well
            a: ready (2)
            b: done (1)
            c: ready (1)
            d: pending (1)
            human: refused (not_allowed): the task a is ready; see: task_get(id="a")"#]],
    );
}

#[test]
fn a_paused_task_keeps_its_owner_and_gives_up_its_locks() {
    check(
        "human declares a on src/a.rs
         ann starts a
         human pauses a
         show locks
         ann starts a
         ann fails a because no
         ann resumes a
         ann reads
         ann starts a
         human pauses a
         ann ends
         show tasks",
        expect![[r#"
            declared a
            a claimed by ann (1)
            ann got src/a.rs (fence 1)
            a started by ann (1)
            src/a.rs of ann taken away
            a paused
            ann: refused (not_allowed): the task a is paused, ann's; see: task_get(id="a")
            ann: refused (not_allowed): the task a is paused, ann's; see: task_get(id="a")
            a resumed
            notice: your lock on src/a.rs was taken away by the human ("the task a was stopped")
            notice: your task a was paused by the human
            ann was told
            ann got src/a.rs (fence 2)
            a started by ann (1)
            src/a.rs of ann taken away
            a paused
            a returned by ann (2): OwnerEnded
            ann completed (goodbye)
            a: paused (2)"#]],
    );
}

#[test]
fn a_review_is_by_somebody_else_with_the_right() {
    check(
        "rita joins as reviewer
         rob joins as reviewer
         human declares a reviewed; b after a
         rita starts a
         rita finishes a because see commit 1
         rita accepts a
         rita starts a
         dan accepts a
         rita finishes a because again
         show tasks
         rob sends-back a because
         rob sends-back a because a test is missing
         rita starts a
         rita finishes a because see commit 2
         rob accepts a
         rita reads
         show tasks",
        expect![[r#"
            rita joined
            rob joined
            declared a, b
            a claimed by rita (1)
            a started by rita (1)
            a of rita in review: see commit 1
            rita: refused (not_allowed): a is your own work; somebody else has to accept it
            rita: refused (not_allowed): a is in review; it is yours again if it is sent back; see: task_get(id="a")
            dan: refused (not_allowed): a developer may not say that the work of others is done; ask your leader or the human, or give the role this right in the configuration
            rita: refused (not_allowed): a is in review; it is yours again if it is sent back; see: task_get(id="a")
            a: in review (1)
            b: pending (1)
            rob: refused (bad_input): it isn't clear what must change; say it: task_send_back(id="a", reason="TEXT")
            a sent back to rita (2): a test is missing
            a started by rita (2)
            a of rita in review: see commit 2
            a done by rita: see commit 2
            notice: your work on a was sent back by rob: a test is missing
            notice: your work on a was accepted by rob
            rita was told
            a: done (2)
            b: ready (1)"#]],
    );
}

#[test]
fn nobody_is_above_the_human_who_may_accept_its_own_work() {
    let said = said(
        "human declares a reviewed
         human starts a
         human finishes a because see commit 1
         human accepts a
         show tasks",
    );
    assert!(said.ends_with("a: done (1)"), "{said}");
}

#[test]
fn the_title_and_the_files_of_a_task_that_nobody_works_on_can_be_changed() {
    let said = said(
        "ann declares a on src/a.rs
         ann retitles a to Write it again
         ann refiles a to src/b.rs
         bob refiles a to src/d.rs
         ann starts a
         ann refiles a to src/e.rs",
    );
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[1..3], ["a is called Write it again", "a changes src/b.rs"], "{said}");
    assert!(lines[3].starts_with("bob: refused (not_allowed)"), "it is ann's: {said}");
    assert!(said.contains("ann got src/b.rs") && !said.contains("src/a.rs"), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.starts_with("ann: refused")), "{said}");
}

fn said(script: &str) -> String {
    let mut stage = Stage::default();
    script.lines().map(str::trim).for_each(|line| words::play(&mut stage, line));
    stage.said.join("\n")
}

#[test]
fn who_may_steer_what_others_do() {
    check(
        "lead joins as lead
         ann declares a
         bob cancels-task a
         bob assigns a to bob
         ann pauses a
         lead resumes a
         bob starts a
         bob pauses a
         bob resumes a
         bob skips a
         lead assigns a to ann
         lead cancels-task a
         lead retries a
         bob reopens a
         ann reopens a",
        expect![[r#"
            lead joined
            declared a
            bob: refused (not_allowed): a developer may not change the tasks of others; ask your leader or the human, or give the role this right in the configuration
            bob: refused (not_allowed): a developer may not change the tasks of others; ask your leader or the human, or give the role this right in the configuration
            a paused
            a resumed
            a claimed by bob (1)
            a started by bob (1)
            a paused
            a resumed
            bob: refused (not_allowed): a developer may not change the tasks of others; ask your leader or the human, or give the role this right in the configuration
            a given to ann (2)
            a cancelled
            lead: refused (not_allowed): the task a is cancelled; see: task_get(id="a")
            bob: refused (not_allowed): a developer may not change the tasks of others; ask your leader or the human, or give the role this right in the configuration
            a reopened (3), begun already: "#]],
    );
}
