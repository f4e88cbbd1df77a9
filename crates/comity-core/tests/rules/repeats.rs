//! Idempotency keys: the same ask sent twice is done once.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_repeat_gets_the_first_answer() {
    check(
        "
        ann locks a.rs b.rs key k1
        ann locks a.rs b.rs key k1
        ann unlocks a.rs key k2
        ann unlocks a.rs key k2
        ann locks a.rs b.rs key k1
        show locks",
        expect![[r#"
            ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            ann: as before: ann got a.rs (fence 1); ann got b.rs (fence 2)
            a.rs of ann given back
            ann: as before: a.rs of ann given back
            ann: as before: ann got a.rs (fence 1); ann got b.rs (fence 2)
            fence 2: b.rs is locked by ann for 5m more (0ms so far)"#]],
    );
}

#[test]
fn a_key_is_for_one_call() {
    check(
        "
        ann locks a.rs key k1.lock-a
        ann locks b.rs key k1.lock-b
        ann unlocks a.rs key k1.unlock-a
        ann locks a.rs key k1.lock-a
        ann locks b.rs key k11.lock-b
        bob locks c.rs key k1.lock-c",
        expect![[r#"
            ann got a.rs (fence 1)
            ann: refused (key_reused): this idempotency key was used for another call, so nothing was done; use a new key for each call, and repeat a call with its own key and the same input
            ann: refused (key_reused): this idempotency key was used for another call, so nothing was done; use a new key for each call, and repeat a call with its own key and the same input
            ann: as before: ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            bob got c.rs (fence 3)"#]],
    );
}

#[test]
fn keys_belong_to_the_asker() {
    check(
        "
        ann locks a.rs key k1
        bob locks b.rs key k1
        bob locks b.rs key k1",
        expect![[r#"
            ann got a.rs (fence 1)
            bob got b.rs (fence 2)
            bob: as before: bob got b.rs (fence 2)"#]],
    );
}

#[test]
fn a_refusal_is_not_remembered() {
    check(
        "
        ann locks a.rs
        bob locks a.rs key k1
        ann unlocks a.rs
        bob locks a.rs key k1",
        expect![[r#"
            ann got a.rs (fence 1)
            bob: refused (locked): a.rs is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else
            a.rs of ann given back
            bob got a.rs (fence 2)"#]],
    );
}

#[test]
fn a_waiting_ask_is_found_again() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m key k1
        bob locks a.rs waiting 5m key k1
        show queue",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            bob: as before: bob waits for a.rs (ticket 1, 5m), still at ticket 1
            1. bob for a.rs, 5m left"#]],
    );
}

#[test]
fn a_waiting_ask_is_found_again_after_a_restart() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m key k1
        restart
        bob locks a.rs waiting 5m key k1
        ann unlocks a.rs
        restart
        bob locks a.rs waiting 5m key k1",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            the server started, above fence 0
            bob: as before: bob waits for a.rs (ticket 1, 5m), still at ticket 1
            a.rs of ann given back
            bob got a.rs (fence 2)
            bob has waited ([fence 2])
            the server started, above fence 0
            bob: as before: bob waits for a.rs (ticket 1, 5m); bob got a.rs (fence 2); bob has waited ([fence 2])"#]],
    );
}

#[test]
fn a_wait_that_timed_out_says_so_again() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 10s key k1
        10s pass
        bob locks a.rs waiting 10s key k1",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 10s)
            bob has waited in vain
            bob: as before: bob waits for a.rs (ticket 1, 10s); bob has waited in vain"#]],
    );
}
