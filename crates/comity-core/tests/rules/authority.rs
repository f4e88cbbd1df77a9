//! LK9: who may decide about others' locks.

use expect_test::expect;

use crate::script::check;

#[test]
fn the_human_may() {
    check(
        "
        ann locks a.rs b.rs c.rs
        human releases a.rs because I need it
        human extends b.rs for 20m
        human hands c.rs to bob because bob is here
        ann reads notices
        bob reads notices
        show locks",
        expect![[r#"
            ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            ann got c.rs (fence 3)
            a.rs of ann taken away
            b.rs of ann extended to 20m
            c.rs of ann handed to bob (fence 4)
            notice: your lock on a.rs was taken away by the human ("I need it")
            notice: your lock on b.rs was given more time by the human
            notice: your lock on c.rs was taken away by the human ("bob is here")
            ann was told
            notice: the lock on c.rs was handed to you by the human ("bob is here")
            bob was told
            fence 2: b.rs is locked by ann for 20m more (0ms so far)
            fence 4: c.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn others_may_not() {
    check(
        "
        ann locks a.rs because mine
        bob releases a.rs
        bob extends a.rs for 20m
        bob hands a.rs to bob
        bob releases nothing.rs",
        expect![[r#"
            ann got a.rs (fence 1)
            bob: refused (not_allowed): a.rs is locked by ann ("mine") for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            bob: refused (not_allowed): a.rs is locked by ann ("mine") for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            bob: refused (not_allowed): a.rs is locked by ann ("mine") for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            bob: refused (not_held): nothing.rs is not locked, by you or anybody else; see what is held with: locks()"#]],
    );
}

#[test]
fn a_parent_and_a_grandparent_may() {
    check(
        "
        ann joins
        kid joins under ann
        tot joins under kid
        tot locks a.rs b.rs
        kid releases a.rs because enough
        ann hands b.rs to ann
        kid releases b.rs",
        expect![[r#"
            ann joined
            kid joined under ann
            tot joined under kid
            tot got a.rs (fence 1)
            tot got b.rs (fence 2)
            a.rs of tot taken away
            b.rs of tot handed to ann (fence 3)
            kid: refused (not_allowed): b.rs is locked by ann for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may"#]],
    );
}

#[test]
fn the_lead_of_the_same_team_may() {
    check(
        "
        ann joins as lead in red
        bob joins as developer in red
        cid joins as developer in blue
        bob locks b.rs
        cid locks c.rs
        ann releases b.rs
        ann releases c.rs
        bob releases c.rs",
        expect![[r#"
            ann joined
            bob joined
            cid joined
            bob got b.rs (fence 1)
            cid got c.rs (fence 2)
            b.rs of bob taken away
            ann: refused (not_allowed): c.rs is locked by cid for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            bob: refused (not_allowed): c.rs is locked by cid for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may"#]],
    );
}

#[test]
fn nobody_decides_about_the_humans() {
    check(
        "
        ann joins as lead in red
        human locks a.rs because hands off
        ann releases a.rs
        human unlocks a.rs",
        expect![[r#"
            ann joined
            the human got a.rs (fence 1)
            ann: refused (not_allowed): a.rs is locked by the human ("hands off") for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            a.rs of the human given back"#]],
    );
}

#[test]
fn all_or_nothing() {
    check(
        "
        kid joins under ann
        kid locks src/a.rs
        bob locks src/b.rs
        ann releases src/
        show locks",
        expect![[r#"
            kid joined under ann
            kid got src/a.rs (fence 1)
            bob got src/b.rs (fence 2)
            ann: refused (not_allowed): src/b.rs is locked by bob for 5m more (0ms so far), and you may not decide about it; its holder, an agent above it, its team's lead or the human may
            fence 1: src/a.rs is locked by kid for 5m more (0ms so far)
            fence 2: src/b.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn nobody_hands_over_more_than_was_named() {
    check(
        "
        ann locks src/
        ann locks src/a.rs src/b.rs docs/x.md docs/y.md
        # What overlaps has one holder, so it is handed over together, or not at all.
        ann hands src/c.rs to bob
        ann hands src/a.rs to bob
        ann hands docs/x.md to bob
        ann hands src/ src/a.rs src/b.rs to bob
        show locks",
        expect![[r#"
            ann got src/ (fence 1)
            ann got src/a.rs (fence 2)
            ann got src/b.rs (fence 3)
            ann got docs/x.md (fence 4)
            ann got docs/y.md (fence 5)
            ann: refused (bad_input): src/ overlaps src/a.rs, src/b.rs, and overlapping locks have one holder; hand over all of them: handover(paths=["src/", "src/a.rs", "src/b.rs"], to="bob"); or give up first what bob is not to have
            ann: refused (bad_input): src/a.rs overlaps src/, src/b.rs, and overlapping locks have one holder; hand over all of them: handover(paths=["src/a.rs", "src/", "src/b.rs"], to="bob"); or give up first what bob is not to have
            docs/x.md of ann handed to bob (fence 6)
            src/ of ann handed to bob (fence 7)
            src/a.rs of ann handed to bob (fence 8)
            src/b.rs of ann handed to bob (fence 9)
            fence 5: docs/y.md is locked by ann for 5m more (0ms so far)
            fence 6: docs/x.md is locked by bob for 5m more (0ms so far)
            fence 7: src/ is locked by bob for 5m more (0ms so far)
            fence 8: src/a.rs is locked by bob for 5m more (0ms so far)
            fence 9: src/b.rs is locked by bob for 5m more (0ms so far)"#]],
    );
}

#[test]
fn a_path_stands_for_its_own_lock_else_for_the_narrowest_around_it() {
    check(
        "
        ann locks src/ shared
        ann locks src/*.rs src/a.rs docs/ shared
        ann releases src/a.rs
        ann releases src/b.rs
        ann extends src/c.rs for 20m
        ann unlocks docs/x.md
        bob unlocks docs/x.md
        ann locks tests/a.rs tests/b.rs
        ann releases tests/
        show locks",
        expect![[r#"
            ann got src/ shared (fence 1)
            ann got src/*.rs shared (fence 2)
            ann got src/a.rs shared (fence 3)
            ann got docs/ shared (fence 4)
            src/a.rs of ann given back
            src/*.rs of ann given back
            src/ of ann extended to 20m
            ann: refused (not_held): you have no lock on docs/x.md itself: you hold docs/; to give that up: unlock(paths=["docs/"])
            bob: refused (not_held): you hold no lock on docs/x.md: docs/ is locked shared by ann for 5m more (0ms so far); only its holder can release it; if you lead the holder, or are a person, take it with: release(paths=["docs/x.md"], from="ann")
            ann got tests/a.rs (fence 5)
            ann got tests/b.rs (fence 6)
            tests/a.rs of ann given back
            tests/b.rs of ann given back
            fence 1: src/ is locked shared by ann for 20m more (0ms so far)
            fence 4: docs/ is locked shared by ann for 5m more (0ms so far)"#]],
    );
}

#[test]
fn two_locks_on_one_path_do_not_go_to_one() {
    check(
        "
        ann locks a.rs shared
        bob locks a.rs shared
        human hands a.rs to cid
        human releases a.rs
        show locks",
        expect![[r#"
            ann got a.rs shared (fence 1)
            bob got a.rs shared (fence 2)
            human: refused (bad_input): cid would hold a.rs twice; release one of the two locks instead
            a.rs of ann taken away
            a.rs of bob taken away"#]],
    );
}

#[test]
fn a_waiter_gets_what_is_handed_to_it() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m
        ann hands a.rs to bob
        show queue",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            a.rs of ann handed to bob (fence 2)
            a.rs of bob renewed for 5m (fence 2)
            bob has waited ([fence 2])"#]],
    );
}

#[test]
fn handing_to_somebody_who_has_ended() {
    check(
        "
        ann locks a.rs
        bob ends
        human hands a.rs to bob",
        expect![[r#"
            ann got a.rs (fence 1)
            bob completed (goodbye)
            human: refused (agent_ended): bob has ended (goodbye); join again with: agent_join(name="NAME")"#]],
    );
}
