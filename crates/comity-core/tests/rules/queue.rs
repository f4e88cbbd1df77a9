//! LK6: waiting in line.

use expect_test::expect;

use crate::script::check;

#[test]
fn first_come_first_served() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m
        cid locks a.rs waiting 5m
        show queue
        ann unlocks a.rs
        bob unlocks a.rs
        show queue",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            cid waits for a.rs (ticket 2, 5m)
            1. bob for a.rs, 5m left
            2. cid for a.rs, 5m left
            a.rs of ann given back
            bob got a.rs (fence 2)
            bob has waited ([fence 2])
            a.rs of bob given back
            cid got a.rs (fence 3)
            cid has waited ([fence 3])"#]],
    );
}

#[test]
fn nobody_overtakes_a_waiter() {
    check(
        "
        ann locks src/a.rs
        bob locks src/ waiting 5m
        cid locks src/b.rs
        cid locks src/b.rs waiting 5m
        ann unlocks src/a.rs
        bob unlocks src/",
        expect![[r#"
            ann got src/a.rs (fence 1)
            bob waits for src/ (ticket 1, 5m)
            cid: refused (locked): src/b.rs is not free: bob has waited for src/ for 0ms; 1 ask waits for it; wait for it: lock(paths=["src/b.rs"], wait="60s"); or ask bob: mail_send(to=["bob"], message="TEXT"); or work on something else
            cid waits for src/b.rs (ticket 2, 5m)
            src/a.rs of ann given back
            bob got src/ (fence 2)
            bob has waited ([fence 2])
            src/ of bob given back
            cid got src/b.rs (fence 3)
            cid has waited ([fence 3])"#]],
    );
}

#[test]
fn readers_wait_behind_a_writer_and_go_together() {
    check(
        "
        ann locks a.rs shared
        bob locks a.rs waiting 5m
        cid locks a.rs shared waiting 5m
        dan locks a.rs shared waiting 5m
        ann unlocks a.rs
        bob unlocks a.rs",
        expect![[r#"
            ann got a.rs shared (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            cid waits for a.rs shared (ticket 2, 5m)
            dan waits for a.rs shared (ticket 3, 5m)
            a.rs of ann given back
            bob got a.rs (fence 2)
            bob has waited ([fence 2])
            a.rs of bob given back
            cid got a.rs shared (fence 3)
            cid has waited ([fence 3])
            dan got a.rs shared (fence 4)
            dan has waited ([fence 4])"#]],
    );
}

#[test]
fn who_wants_something_else_does_not_wait() {
    check(
        "
        ann locks a.rs
        bob locks a.rs b.rs waiting 5m
        cid locks c.rs
        cid locks b.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs and b.rs (ticket 1, 5m)
            cid got c.rs (fence 2)
            cid: refused (locked): b.rs is not free: bob has waited for b.rs for 0ms; 1 ask waits for it; wait for it: lock(paths=["b.rs"], wait="60s"); or ask bob: mail_send(to=["bob"], message="TEXT"); or work on something else"#]],
    );
}

#[test]
fn all_or_nothing_also_in_line() {
    check(
        "
        ann locks a.rs
        bob locks b.rs
        cid locks a.rs b.rs waiting 5m
        ann unlocks a.rs
        show locks
        bob unlocks b.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            bob got b.rs (fence 2)
            cid waits for a.rs and b.rs (ticket 1, 5m)
            a.rs of ann given back
            fence 2: b.rs is locked by bob for 5m more (0ms so far)
            b.rs of bob given back
            cid got a.rs (fence 3)
            cid got b.rs (fence 4)
            cid has waited ([fence 3, fence 4])"#]],
    );
}

#[test]
fn a_wait_has_a_deadline() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 30s
        cid locks a.rs waiting 60s
        29s pass
        show queue
        1s pass
        show queue",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 30s)
            cid waits for a.rs (ticket 2, 1m)
            1. bob for a.rs, 1s left
            2. cid for a.rs, 31s left
            bob has waited in vain
            1. cid for a.rs, 30s left"#]],
    );
}

#[test]
fn a_waiter_that_dies_leaves_the_queue() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m
        cid locks a.rs waiting 5m
        bob crashes
        ann unlocks a.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            cid waits for a.rs (ticket 2, 5m)
            bob waits no more
            bob failed (its process died)
            a.rs of ann given back
            cid got a.rs (fence 2)
            cid has waited ([fence 2])"#]],
    );
}

#[test]
fn a_waiter_may_give_up_but_nobody_for_it() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m
        ann cancels 1
        bob cancels 1
        bob cancels 1
        ann unlocks a.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            ann: refused (not_allowed): this is somebody else's place in the queue; only the agent that waits may give up its wait
            bob gave up waiting
            bob: nothing changes
            a.rs of ann given back"#]],
    );
}

#[test]
fn whoever_is_waited_for_may_go_on() {
    check(
        "
        # Bob waits for ann's a.rs and wants b.rs besides; ann may still take b.rs, or nobody would ever go on.
        ann locks a.rs
        bob locks a.rs b.rs waiting 5m
        ann locks b.rs
        ann unlocks everything",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs and b.rs (ticket 1, 5m)
            ann got b.rs (fence 2)
            a.rs of ann given back
            b.rs of ann given back
            bob got a.rs (fence 3)
            bob got b.rs (fence 4)
            bob has waited ([fence 3, fence 4])"#]],
    );
}

#[test]
fn a_place_in_line_is_no_deadlock() {
    check(
        "
        # Cid waits behind bob for q. When ann waits for cid, bob waits for cid by way of ann, so cid goes first.
        ann locks a
        bob locks a q waiting 5m
        cid locks c
        cid locks q waiting 5m
        show queue
        ann locks c waiting 5m
        cid unlocks everything
        show locks
        ann unlocks everything",
        expect![[r#"
            ann got a (fence 1)
            bob waits for a and q (ticket 1, 5m)
            cid got c (fence 2)
            cid waits for q (ticket 2, 5m)
            1. bob for a and q, 5m left
            2. cid for q, 5m left
            ann waits for c (ticket 3, 5m)
            cid got q (fence 3)
            cid has waited ([fence 3])
            c of cid given back
            q of cid given back
            ann got c (fence 4)
            ann has waited ([fence 4])
            fence 1: a is locked by ann for 5m more (0ms so far)
            fence 4: c is locked by ann for 5m more (0ms so far)
            a of ann given back
            c of ann given back
            bob got a (fence 5)
            bob got q (fence 6)
            bob has waited ([fence 5, fence 6])"#]],
    );
}

#[test]
fn nobody_is_granted_what_would_be_a_deadlock() {
    check(
        "
        # Hal is first in line for p, but waits for yen by another ask; yen, who waits for p, goes first.
        zoe locks p
        yen locks q
        hal locks p waiting 5m
        hal locks q waiting 5m
        yen locks p waiting 5m
        zoe unlocks p
        show queue
        yen unlocks everything",
        expect![[r#"
            zoe got p (fence 1)
            yen got q (fence 2)
            hal waits for p (ticket 1, 5m)
            hal waits for q (ticket 2, 5m)
            yen waits for p (ticket 3, 5m)
            p of zoe given back
            yen got p (fence 3)
            yen has waited ([fence 3])
            1. hal for p, 5m left
            2. hal for q, 5m left
            q of yen given back
            p of yen given back
            hal got p (fence 4)
            hal has waited ([fence 4])
            hal got q (fence 5)
            hal has waited ([fence 5])"#]],
    );
}

#[test]
fn an_upgrade_goes_before_those_that_wait_for_it() {
    check(
        "
        ann locks a.rs shared
        bob locks a.rs waiting 5m
        ann locks a.rs
        ann unlocks a.rs",
        expect![[r#"
            ann got a.rs shared (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            a.rs of ann given up for an exclusive one
            ann got a.rs (fence 2)
            a.rs of ann given back
            bob got a.rs (fence 3)
            bob has waited ([fence 3])"#]],
    );
}

#[test]
fn the_human_waits_like_anybody() {
    check(
        "
        ann locks a.rs
        human locks a.rs waiting 5m
        bob locks a.rs waiting 5m
        ann unlocks a.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            the human waits for a.rs (ticket 1, 5m)
            bob waits for a.rs (ticket 2, 5m)
            a.rs of ann given back
            the human got a.rs (fence 2)
            the human has waited ([fence 2])"#]],
    );
}
