//! A fence only ever grows, and a stale one is refused.

use expect_test::expect;

use crate::script::check;

#[test]
fn each_grant_has_a_larger_fence() {
    check(
        "
        ann locks a.rs
        ann unlocks a.rs
        bob locks a.rs
        bob hands a.rs to cid
        cid locks b.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            a.rs of ann given back
            bob got a.rs (fence 2)
            a.rs of bob handed to cid (fence 3)
            cid got b.rs (fence 4)"#]],
    );
}

#[test]
fn fences_go_on_after_a_restart() {
    check(
        "
        ann locks a.rs
        restart
        ann locks b.rs
        restart floor 100
        ann locks c.rs
        restart floor 50
        ann locks d.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            the server started, above fence 0
            ann got b.rs (fence 2)
            the server started, above fence 100
            ann got c.rs (fence 101)
            the server started, above fence 50
            ann got d.rs (fence 102)"#]],
    );
}

#[test]
fn a_guarded_act_needs_the_current_fence() {
    check(
        "
        ann locks a.rs because mine
        ann acts on a.rs with 1
        ann acts on a.rs with 2
        ann acts on b.rs with 1
        bob acts on a.rs with 1
        human releases a.rs
        ann acts on a.rs with 1
        bob locks a.rs because bob's now
        ann acts on a.rs with 1
        ann locks a.rs
        bob acts on a.rs with 2",
        expect![[r#"
            ann got a.rs (fence 1)
            ann: nothing changes
            ann: refused (stale_fence): your lock on a.rs is no longer held; lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            ann: refused (stale_fence): your lock on b.rs is no longer held; lock it again (lock(paths=["b.rs"])) and look at what changed before you go on
            bob: refused (stale_fence): your lock on a.rs is no longer held: a.rs is locked by ann ("mine") for 5m more (0ms so far); lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            a.rs of ann taken away
            ann: refused (stale_fence): your lock on a.rs is no longer held; lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            bob got a.rs (fence 2)
            ann: refused (stale_fence): your lock on a.rs is no longer held: a.rs is locked by bob ("bob's now") for 5m more (0ms so far); lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            ann: refused (locked): a.rs is locked by bob ("bob's now") for 5m more (0ms so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask bob: mail_send(to=["bob"], message="TEXT"); or work on something else
            bob: nothing changes"#]],
    );
}

#[test]
fn a_shared_lock_is_not_enough_to_edit() {
    check(
        "
        ann locks a.rs shared
        ann acts on a.rs with 1",
        expect![[r#"
            ann got a.rs shared (fence 1)
            ann: refused (stale_fence): your lock on a.rs is no longer held; lock it again (lock(paths=["a.rs"])) and look at what changed before you go on"#]],
    );
}

#[test]
fn a_lapsed_lock_is_not_enough() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        ann acts on a.rs with 1
        ann locks a.rs
        ann acts on a.rs with 1",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            ann: refused (stale_fence): your lock on a.rs is no longer held; lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            a.rs of ann renewed for 5m (fence 1)
            ann: nothing changes"#]],
    );
}

#[test]
fn a_lock_handed_over_has_a_new_fence() {
    check(
        "
        ann locks a.rs
        ann hands a.rs to bob
        ann acts on a.rs with 1
        bob acts on a.rs with 1
        bob acts on a.rs with 2",
        expect![[r#"
            ann got a.rs (fence 1)
            a.rs of ann handed to bob (fence 2)
            ann: refused (stale_fence): your lock on a.rs is no longer held: a.rs is locked by bob for 5m more (0ms so far); lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            bob: refused (stale_fence): your lock on a.rs is no longer held; lock it again (lock(paths=["a.rs"])) and look at what changed before you go on
            bob: nothing changes"#]],
    );
}
