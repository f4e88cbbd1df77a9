//! What becomes of an agent's locks when it dies, falls silent, or only works on.

use comity_core::locks::Hold;
use comity_core::server::ServerAsk;
use comity_core::{Ask, Fence, Millis, Principal};
use expect_test::expect;

use crate::script::{Stage, check};

#[test]
fn work_of_the_dead_is_kept_and_its_leader_is_told() {
    check(
        "lead joins as lead
         ann joins under lead
         ann locks a.rs
         bob locks a.rs waiting 5m
         ann crashes
         cid locks a.rs
         dirty a.rs
         show locks
         lead reads
         human hands a.rs to lead
         show locks",
        expect![[r#"
            lead joined
            ann joined under lead
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            a.rs of ann lapsed
            ann failed (its process died)
            cid: refused (locked): a.rs is not free: a.rs was locked by ann; its files are being looked at; bob has waited for a.rs for 0ms; 1 ask waits for it; wait for it: lock(paths=["a.rs"], wait="60s") (looking takes a moment)
            a.rs of ann orphaned
            bob waits no more for what was left
            fence 1: a.rs is orphaned: ann left uncommitted work 0ms ago
            notice: ann, which you lead, has ended (failed: its process died)
            notice: ann left uncommitted work in a.rs; take it over, hand it to somebody, or release it
            lead was told
            a.rs of ann handed to lead (fence 2)
            fence 2: a.rs is locked by lead for 5m more (0ms so far)"#]],
    );
}

#[test]
fn done_work_of_a_sub_agent_is_its_programs_agents() {
    check(
        "main joins
         sub joins under main within 1
         sub locks a.rs
         sub locks b.rs
         sub finishes
         dirty a.rs
         clean b.rs
         show locks
         main reads",
        expect![[r#"
            main joined
            sub joined under main
            sub got a.rs (fence 1)
            sub got b.rs (fence 2)
            a.rs of sub lapsed
            b.rs of sub lapsed
            sub completed (it is done)
            a.rs of sub handed to main (fence 3)
            b.rs of sub released with its holder
            fence 3: a.rs is locked by main for 5m more (0ms so far)
            notice: the lock on a.rs was handed to you by comity ("sub is done")
            main was told"#]],
    );
}

#[test]
fn half_done_work_of_a_sub_agent_is_orphaned() {
    check(
        "main joins
         sub joins under main within 1
         other joins under main
         sub locks a.rs
         other locks b.rs
         sub crashes
         other finishes
         dirty a.rs
         dirty b.rs
         show locks
         last joins under main within 2
         last locks c.rs
         main crashes
         dirty c.rs
         show locks",
        expect![[r#"
            main joined
            sub joined under main
            other joined under main
            sub got a.rs (fence 1)
            other got b.rs (fence 2)
            a.rs of sub lapsed
            sub failed (its process died)
            b.rs of other lapsed
            other completed (it is done)
            a.rs of sub orphaned
            b.rs of other orphaned
            fence 1: a.rs is orphaned: sub left uncommitted work 0ms ago
            fence 2: b.rs is orphaned: other left uncommitted work 0ms ago
            last joined under main
            last got c.rs (fence 3)
            main failed (its process died)
            c.rs of last lapsed
            last terminated (main ended)
            c.rs of last orphaned
            fence 1: a.rs is orphaned: sub left uncommitted work 0ms ago
            fence 2: b.rs is orphaned: other left uncommitted work 0ms ago
            fence 3: c.rs is orphaned: last left uncommitted work 0ms ago"#]],
    );
}

#[test]
fn a_lock_that_is_meant_for_those_below_is_only_that() {
    check(
        "main joins
         sub joins under main within 1
         main locks a.rs
         main locks a.rs with-children
         main locks a.rs with-children
         main locks a.rs
         sub locks a.rs
         show locks",
        expect![[r#"
            main joined
            sub joined under main
            main got a.rs (fence 1)
            a.rs of main given up for an exclusive one
            main got a.rs (fence 2)
            a.rs of main renewed for 5m (fence 2)
            a.rs of main renewed for 5m (fence 2)
            sub: refused (locked): a.rs is locked by main for 5m more (0ms so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask main: mail_send(to=["main"], message="TEXT"); or work on something else
            fence 2: a.rs is locked by main for 5m more (0ms so far)"#]],
    );
}

#[test]
fn an_orphan_whose_files_become_clean_is_free() {
    check(
        "ann joins
         ann locks a.rs
         bob locks a.rs waiting 5m
         ann crashes
         dirty a.rs
         dirty a.rs
         clean a.rs
         bob locks a.rs
         show locks",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            a.rs of ann lapsed
            ann failed (its process died)
            a.rs of ann orphaned
            bob waits no more for what was left
            comity: nothing changes
            a.rs of ann released with its holder
            bob got a.rs (fence 2)
            fence 2: a.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn who_lives_as_long_as_a_process_keeps_its_locks() {
    check(
        "ann joins with process
         ann locks a.rs for 3s
         bob locks a.rs waiting 5m
         4m pass
         show locks
         ann crashes
         clean a.rs
         show locks",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            fence 1: a.rs is locked by ann, who is at work (4m so far)
            a.rs of ann lapsed
            ann failed (its process died)
            a.rs of ann released with its holder
            bob got a.rs (fence 2)
            bob has waited ([fence 2])
            fence 2: a.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn who_works_is_not_idle() {
    check(
        "ann joins
         ann idles
         show agents
         ann reads
         show agents
         ann locks a.rs
         show agents",
        expect![[r#"
            ann joined
            ann is idle
            ann: idle
            ann: nothing changes
            ann: idle
            ann got a.rs (fence 1)
            ann is running
            ann: running"#]],
    );
}

/// A server that starts when the machine has run for so many seconds.
fn start(stage: &mut Stage, uptime: u64) {
    let boot = Some("one".into());
    let uptime = Some(Millis::seconds(uptime));
    let ask = Ask::Server(ServerAsk::Start { fence_floor: Fence(0), version: "0".into(), boot, uptime });
    assert!(stage.ask("comity", Principal::System, &ask, None));
}

#[test]
fn a_server_that_is_killed_again_and_again_keeps_nothing_of_the_dead() {
    let mut stage = Stage::default();
    start(&mut stage, 100);
    ["ann joins", "ann locks a.rs for 10s", "bob joins", "bob locks b.rs for 10s"]
        .iter()
        .for_each(|line| stage.play(line));
    let holds = |stage: &Stage| -> Vec<Hold> { stage.world.locks.iter().map(|lock| lock.hold).collect() };
    // Each lives for two seconds, in which nothing is written down; bob calls now and then.
    for uptime in (102..118).step_by(2) {
        start(&mut stage, uptime);
        if uptime % 4 == 0 {
            stage.play("bob locks b.rs for 10s");
        }
        let expected = if uptime < 112 { Hold::Held } else { Hold::Lapsed };
        assert_eq!(holds(&stage), [expected, Hold::Held], "{uptime}");
    }
    start(&mut stage, 702);
    assert!(stage.world.agents.find("ann").is_err(), "ten minutes of silence are an end");
}

#[test]
fn who_is_silent_with_its_leader_over_restarts_ends_once() {
    let mut stage = Stage::default();
    ["lead joins", "ann joins under lead", "ann locks a.rs", "lead locks b.rs"]
        .iter()
        .for_each(|line| stage.play(line));
    start(&mut stage, 100);
    start(&mut stage, 700);
    let count_of = |text: &str| stage.said.iter().filter(|line| line.contains(text)).count();
    for once in ["lead exited", "ann terminated (lead ended)", "a.rs of ann lapsed", "b.rs of lead lapsed"] {
        assert_eq!(count_of(once), 1, "{once}: {:#?}", stage.said);
    }
    assert_eq!(count_of("ann exited"), 0, "{:#?}", stage.said);
}

#[test]
fn what_is_put_aside_is_taken_over_first() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        ann locks b.rs for 30m
        bob joins
        human adopts b.rs
        60s pass
        dirty a.rs
        bob rescues a.rs
        human puts-aside a.rs
        human rescues a.rs
        ann locks a.rs
        2m pass
        ann locks a.rs
        human puts-aside a.rs
        ann locks a.rs",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            bob joined
            human: refused (bad_input): b.rs is locked by ann for 30m more (0ms so far), so there is nothing to adopt; ask for it: mail_send(to=["ann"], message="TEXT")
            a.rs of ann lapsed
            a.rs of ann orphaned
            bob: refused (not_allowed): a.rs is orphaned: ann left uncommitted work 0ms ago, and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            human: refused (bad_input): the work that was set aside is no longer yours; see whose it is with: locks()
            a.rs of ann handed to the human (fence 3)
            ann: refused (locked): a.rs is locked by the human for 5m more (1m so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask the human; or work on something else
            ann: refused (locked): a.rs is locked by the human for 3m more (3m so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask the human; or work on something else
            a.rs of the human put aside
            ann got a.rs (fence 4)"#]],
    );
}

#[test]
fn whoever_takes_work_over_has_time_for_it() {
    check(
        "ann joins
         bob joins
         ann locks a.rs for 2s
         ann crashes
         dirty a.rs
         human hands a.rs to bob
         show locks",
        expect![[r#"
            ann joined
            bob joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            ann failed (its process died)
            a.rs of ann orphaned
            a.rs of ann handed to bob (fence 2)
            fence 2: a.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}
