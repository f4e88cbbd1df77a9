//! LK6: a cycle of waiting is refused when it would close, and named.

use expect_test::expect;

use crate::script::check;

#[test]
fn two() {
    check(
        "
        ann locks a
        bob locks b
        ann locks b waiting 5m
        bob locks a waiting 5m
        bob locks a",
        expect![[r#"
            ann got a (fence 1)
            bob got b (fence 2)
            ann waits for b (ticket 1, 5m)
            bob: refused (deadlock): waiting would be a deadlock: bob waits for ann (a), ann waits for bob (b); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            bob: refused (locked): a is locked by ann for 5m more (0ms so far); wait for it: lock(paths=["a"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else"#]],
    );
}

#[test]
fn three() {
    check(
        "
        ann locks a
        bob locks b
        cid locks c
        ann locks b waiting 5m
        bob locks c waiting 5m
        cid locks a waiting 5m
        cid unlocks c",
        expect![[r#"
            ann got a (fence 1)
            bob got b (fence 2)
            cid got c (fence 3)
            ann waits for b (ticket 1, 5m)
            bob waits for c (ticket 2, 5m)
            cid: refused (deadlock): waiting would be a deadlock: cid waits for ann (a), ann waits for bob (b), bob waits for cid (c); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            c of cid given back
            bob got c (fence 4)
            bob has waited ([fence 4])"#]],
    );
}

#[test]
fn four_and_the_way_out() {
    check(
        "
        ann locks a
        bob locks b
        cid locks c
        dan locks d
        ann locks b waiting 5m
        bob locks c waiting 5m
        cid locks d waiting 5m
        dan locks a waiting 5m
        dan unlocks everything
        cid unlocks everything",
        expect![[r#"
            ann got a (fence 1)
            bob got b (fence 2)
            cid got c (fence 3)
            dan got d (fence 4)
            ann waits for b (ticket 1, 5m)
            bob waits for c (ticket 2, 5m)
            cid waits for d (ticket 3, 5m)
            dan: refused (deadlock): waiting would be a deadlock: dan waits for ann (a), ann waits for bob (b), bob waits for cid (c), cid waits for dan (d); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            d of dan given back
            cid got d (fence 5)
            cid has waited ([fence 5])
            c of cid given back
            d of cid given back
            bob got c (fence 6)
            bob has waited ([fence 6])"#]],
    );
}

#[test]
fn two_upgrades() {
    check(
        "
        ann locks a shared
        bob locks a shared
        ann locks a waiting 5m
        bob locks a waiting 5m
        bob unlocks a",
        expect![[r#"
            ann got a shared (fence 1)
            bob got a shared (fence 2)
            ann waits for a (ticket 1, 5m)
            bob: refused (deadlock): waiting would be a deadlock: bob waits for ann (a), ann waits for bob (a); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            a of bob given back
            a of ann given up for an exclusive one
            ann got a (fence 3)
            ann has waited ([fence 3])"#]],
    );
}

#[test]
fn by_overlap_of_globs() {
    check(
        "
        ann locks src/**/*.rs
        bob locks docs/
        ann locks docs/*.md waiting 5m
        bob locks src/x/y.rs waiting 5m",
        expect![[r#"
            ann got src/**/*.rs (fence 1)
            bob got docs/ (fence 2)
            ann waits for docs/*.md (ticket 1, 5m)
            bob: refused (deadlock): waiting would be a deadlock: bob waits for ann (src/x/y.rs), ann waits for bob (docs/*.md); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again"#]],
    );
}

#[test]
fn with_the_human_in_it() {
    check(
        "
        ann locks a
        human locks b
        ann locks b waiting 5m
        human locks a waiting 5m",
        expect![[r#"
            ann got a (fence 1)
            the human got b (fence 2)
            ann waits for b (ticket 1, 5m)
            human: refused (deadlock): waiting would be a deadlock: the human waits for ann (a), ann waits for the human (b); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again"#]],
    );
}

#[test]
fn by_handing_over() {
    check(
        "
        ann locks a
        bob locks b
        cid locks c
        ann locks b waiting 5m
        cid locks a waiting 5m
        bob hands b to cid
        human hands b to ann",
        expect![[r#"
            ann got a (fence 1)
            bob got b (fence 2)
            cid got c (fence 3)
            ann waits for b (ticket 1, 5m)
            cid waits for a (ticket 2, 5m)
            bob: refused (deadlock): waiting would be a deadlock: cid waits for ann (a), ann waits for cid (b); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            b of bob handed to ann (fence 4)
            b of ann renewed for 5m (fence 4)
            ann has waited ([fence 4])"#]],
    );
}

#[test]
fn handing_over_to_the_second_in_line_is_none() {
    check(
        "
        ann locks a
        bob locks a waiting 5m
        cid locks a waiting 5m
        human hands a to cid
        cid unlocks a",
        expect![[r#"
            ann got a (fence 1)
            bob waits for a (ticket 1, 5m)
            cid waits for a (ticket 2, 5m)
            a of ann handed to cid (fence 2)
            a of cid renewed for 5m (fence 2)
            cid has waited ([fence 2])
            a of cid given back
            bob got a (fence 3)
            bob has waited ([fence 3])"#]],
    );
}

#[test]
fn by_handing_over_what_one_waits_within() {
    check(
        "
        # Ann waits for src/, a part of which is her own; without it she would wait for bob, and bob for her.
        ann locks src/a
        cid locks src/b
        ann locks src/ waiting 5m
        ann locks x
        bob locks x waiting 5m
        human hands src/a to bob",
        expect![[r#"
            ann got src/a (fence 1)
            cid got src/b (fence 2)
            ann waits for src/ (ticket 1, 5m)
            ann got x (fence 3)
            bob waits for x (ticket 2, 5m)
            human: refused (deadlock): waiting would be a deadlock: bob waits for ann (x), ann waits for bob (src/a); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again"#]],
    );
}

#[test]
fn a_place_behind_a_waiter_is_none() {
    check(
        "
        # Bob waits behind cid for q; cid waits for ann; ann waits for bob: bob may go before cid, so nothing is stuck.
        dan locks q
        ann locks a
        cid locks a q waiting 5m
        bob locks b
        bob locks q waiting 5m
        ann locks b waiting 5m
        dan unlocks q
        bob unlocks everything
        ann unlocks everything",
        expect![[r#"
            dan got q (fence 1)
            ann got a (fence 2)
            cid waits for a and q (ticket 1, 5m)
            bob got b (fence 3)
            bob waits for q (ticket 2, 5m)
            ann waits for b (ticket 3, 5m)
            q of dan given back
            bob got q (fence 4)
            bob has waited ([fence 4])
            b of bob given back
            q of bob given back
            ann got b (fence 5)
            ann has waited ([fence 5])
            a of ann given back
            b of ann given back
            cid got a (fence 6)
            cid got q (fence 7)
            cid has waited ([fence 6, fence 7])"#]],
    );
}
