//! Claims: exclusive, numbered, with the files locked while the work runs.

use expect_test::expect;

use super::check;

#[test]
fn one_task_from_start_to_end() {
    check(
        "human declares a on src/a.rs; b after a
         ann claims a
         bob claims a
         bob starts a
         ann finishes a because it works
         ann starts a
         show locks
         ann finishes a because
         ann finishes a because commit 1234, tests pass
         show locks
         ann finishes a because again
         show tasks",
        expect![[r#"
            declared a, b
            a claimed by ann (1)
            bob: refused (not_allowed): the task a is ready, ann's; see: task_get(id="a")
            bob: refused (stale_attempt): a is claimed by ann (attempt 1), not by your attempt; see whose it is with: task_get(id="a")
            ann: refused (not_allowed): a is ready: it was not started; start it first with: task_start(id="a")
            ann got src/a.rs (fence 1)
            a started by ann (1)
            fence 1: src/a.rs is locked by ann ("task a: it") for 5m more (0ms so far)
            ann: refused (bad_input): nothing shows that a is done; say what does, such as the commit and the tests that pass: task_done(id="a", evidence="TEXT")
            src/a.rs of ann given back
            a done by ann: commit 1234, tests pass
            ann: refused (stale_attempt): you do not have a; its next attempt is 1; see whose it is with: task_get(id="a")
            a: done (1)
            b: ready (1)"#]],
    );
}

#[test]
fn files_that_somebody_has_keep_a_task_from_starting() {
    check(
        "bob locks src/b.rs because fixing login
         human declares a on src/a.rs src/b.rs
         ann starts a
         show locks
         bob unlocks src/b.rs
         ann starts a
         show locks",
        expect![[r#"
            bob got src/b.rs (fence 1)
            declared a
            ann: refused (locked): src/b.rs is locked by bob ("fixing login") for 5m more (0ms so far); wait for them: lock(paths=["src/a.rs", "src/b.rs"], wait="60s"); or ask bob: mail_send(to=["bob"], message="TEXT"); or work on something else
            fence 1: src/b.rs is locked by bob ("fixing login") for 5m more (0ms so far)
            src/b.rs of bob given back
            a claimed by ann (1)
            ann got src/a.rs (fence 2)
            ann got src/b.rs (fence 3)
            a started by ann (1)
            fence 2: src/a.rs is locked by ann ("task a: it") for 5m more (0ms so far)
            fence 3: src/b.rs is locked by ann ("task a: it") for 5m more (0ms so far)"#]],
    );
}

#[test]
fn two_tasks_on_the_same_files_never_run_at_once() {
    // Not by two agents, not by one, and not after the lock was given up early.
    check(
        "human declares a on src/; b on src/a.rs
         ann starts a
         bob starts b
         ann starts b
         ann unlocks src/
         bob starts b
         ann finishes a because done
         bob starts b",
        expect![[r#"
            declared a, b
            b looks like a: both would change the same files
            a claimed by ann (1)
            ann got src/ (fence 1)
            a started by ann (1)
            bob: refused (locked): src/a.rs is not free: src/ is locked by ann ("task a: it") for 5m more (0ms so far); wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            ann: refused (not_allowed): a is running (ann), and both would change the same files; start it when the other one is done
            src/ of ann given back
            bob: refused (not_allowed): a is running (ann), and both would change the same files; start it when the other one is done
            a done by ann: done
            b claimed by bob (1)
            bob got src/a.rs (fence 2)
            b started by bob (1)"#]],
    );
}

#[test]
fn a_lost_claimant_returns_it_and_the_fourth_fails_it() {
    check(
        "lead joins as lead
         human declares a on src/a.rs; b after a; c after b
         ann starts a
         ann crashes
         bob starts a
         clean src/a.rs
         bob starts a attempt 1
         bob starts a
         show tasks
         bob ends
         clean src/a.rs
         cat joins under lead
         cat starts a attempt 3
         cat crashes
         clean src/a.rs
         dan joins under lead
         dan starts a attempt 4
         dan crashes
         show tasks
         lead reads
         human retries a
         show tasks",
        expect![[r#"
            lead joined
            declared a, b, c
            a claimed by ann (1)
            ann got src/a.rs (fence 1)
            a started by ann (1)
            src/a.rs of ann lapsed
            a returned by ann (2): OwnerEnded
            ann failed (its process died)
            bob: refused (locked): src/a.rs was locked by ann ("task a: it"); its files are being looked at; wait for it: lock(paths=["src/a.rs"], wait="60s") (looking takes a moment)
            src/a.rs of ann released with its holder
            bob: refused (stale_attempt): you do not have a; its next attempt is 2; see whose it is with: task_get(id="a")
            a claimed by bob (2)
            bob got src/a.rs (fence 2)
            a started by bob (2)
            a: running (2), bob's
            b: pending (1)
            c: pending (1)
            src/a.rs of bob lapsed
            a returned by bob (3): OwnerEnded
            bob completed (goodbye)
            src/a.rs of bob released with its holder
            cat joined under lead
            a claimed by cat (3)
            cat got src/a.rs (fence 3)
            a started by cat (3)
            src/a.rs of cat lapsed
            a returned by cat (4): OwnerEnded
            cat failed (its process died)
            src/a.rs of cat released with its holder
            dan joined under lead
            a claimed by dan (4)
            dan got src/a.rs (fence 4)
            a started by dan (4)
            src/a.rs of dan lapsed
            a failed by dan: 4 agents ended over it, lead is told
            dan failed (its process died)
            a: failed (4)
            b: blocked (1)
            c: blocked (1)
            notice: cat, which you lead, has ended (failed: its process died)
            notice: the task a failed: 4 agents ended over it
            notice: dan, which you lead, has ended (failed: its process died)
            lead was told
            a retried (5)
            a: ready (5)
            b: pending (1)
            c: pending (1)"#]],
    );
}

#[test]
fn a_stale_attempt_is_refused_even_of_the_same_agent() {
    check(
        "human declares a
         ann starts a
         human assigns a to bob
         human assigns a to ann
         ann finishes a attempt 1 because old work
         ann starts a attempt 3
         ann finishes a attempt 3 because new work
         ann reads
         bob reads",
        expect![[r#"
            declared a
            a claimed by ann (1)
            a started by ann (1)
            a given to bob (2)
            a given to ann (3)
            ann: refused (stale_attempt): a is claimed by you (attempt 3), not by your attempt; see whose it is with: task_get(id="a")
            a started by ann (3)
            a done by ann: new work
            notice: your task a was given to somebody else by the human
            notice: the task a (it) was given to you by the human; see: task_get(id="a")
            ann was told
            notice: the task a (it) was given to you by the human; see: task_get(id="a")
            notice: your task a was given to somebody else by the human
            bob was told"#]],
    );
}

#[test]
fn idling_is_not_completion_and_giving_back_is_not_failure() {
    check(
        "human declares a on src/a.rs
         ann starts a
         ann idles
         show tasks
         ann gives-back a
         bob fails a because too hard
         bob starts a
         bob fails a because
         bob fails a because the API is gone
         show tasks
         show locks",
        expect![[r#"
            declared a
            a claimed by ann (1)
            ann got src/a.rs (fence 1)
            a started by ann (1)
            ann is idle
            a: running (1), ann's
            src/a.rs of ann given back
            a returned by ann (2): GivenBack
            ann is running
            bob: refused (stale_attempt): you do not have a; its next attempt is 2; see whose it is with: task_get(id="a")
            a claimed by bob (2)
            bob got src/a.rs (fence 2)
            a started by bob (2)
            bob: refused (bad_input): a failure needs a reason; say what is in the way: task_fail(id="a", reason="TEXT")
            src/a.rs of bob given back
            a failed by bob: the API is gone
            a: failed (2)"#]],
    );
}
