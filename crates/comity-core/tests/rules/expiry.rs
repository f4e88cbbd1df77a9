//! LK7: time, inspection, orphaned work.

use expect_test::expect;

use crate::script::check;

#[test]
fn a_lock_that_ran_out_clean_is_free_and_its_holder_is_told_once() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        59s pass
        1s pass
        show locks
        clean a.rs
        ann reads notices
        ann reads notices
        bob locks a.rs",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            fence 1: a.rs was locked by ann; its files are being looked at
            a.rs of ann expired
            notice: your lock on a.rs has expired
            ann was told
            ann: nothing changes
            bob got a.rs (fence 2)"#]],
    );
}

#[test]
fn dirty_work_is_kept_for_the_human() {
    check(
        "
        ann joins
        ann locks a.rs for 60s because half done
        60s pass
        dirty a.rs
        bob locks a.rs
        bob locks a.rs waiting 20s
        ann reads notices
        human releases a.rs because it was nothing",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            a.rs of ann orphaned
            bob: refused (locked): a.rs is orphaned: ann ("half done") left uncommitted work 0ms ago; work on something else meanwhile; its holder, its leader or the human can take the work over: adopt(paths=["a.rs"]); or put it aside: rescue(paths=["a.rs"])
            bob waits for a.rs (ticket 1, 20s)
            notice: your lock on a.rs has expired over uncommitted work; it is kept until the human or a leader decides, or you lock it again
            ann was told
            a.rs of ann taken away
            bob got a.rs (fence 2)
            bob has waited ([fence 2])"#]],
    );
}

#[test]
fn who_asks_during_the_look_gets_a_short_wait() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        bob locks a.rs
        cid locks a.rs waiting 60s
        clean a.rs",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            bob waits for a.rs (ticket 1, 10s)
            cid waits for a.rs (ticket 2, 1m)
            a.rs of ann expired
            bob got a.rs (fence 2)
            bob has waited ([fence 2])"#]],
    );
}

#[test]
fn who_asks_during_the_look_is_refused_when_it_is_dirty() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        bob locks a.rs
        dirty a.rs
        10s pass",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            bob waits for a.rs (ticket 1, 10s)
            a.rs of ann orphaned
            bob waits no more for what was left"#]],
    );
}

#[test]
fn orphaned_work_is_as_old_as_its_end() {
    check(
        "
        ann joins
        bob joins
        ann locks a.rs for 60s
        60s pass
        dirty a.rs
        2m pass
        bob locks a.rs
        show locks",
        expect![[r#"
            ann joined
            bob joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            a.rs of ann orphaned
            bob: refused (locked): a.rs is orphaned: ann left uncommitted work 2m ago; work on something else meanwhile; its holder, its leader or the human can take the work over: adopt(paths=["a.rs"]); or put it aside: rescue(paths=["a.rs"])
            fence 1: a.rs is orphaned: ann left uncommitted work 2m ago"#]],
    );
}

#[test]
fn nobody_looked_in_time() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        9s pass
        1s pass
        show locks",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            a.rs of ann orphaned
            fence 1: a.rs is orphaned: ann left uncommitted work 0ms ago"#]],
    );
}

#[test]
fn the_look_has_its_time_across_a_restart() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        7s pass
        bob joins
        restart
        3s pass",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            bob joined
            the server started, above fence 0
            a.rs of ann orphaned"#]],
    );
}

#[test]
fn the_holder_revives_a_lapsed_lock() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        ann locks a.rs for 60s
        clean a.rs
        59s pass
        show locks",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            a.rs of ann renewed for 1m (fence 1)
            comity: nothing changes
            fence 1: a.rs is locked by ann for 1s more (1m 59s so far)"#]],
    );
}

#[test]
fn the_holder_revives_orphaned_work() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        dirty a.rs
        ann locks a.rs for 60s
        bob locks a.rs",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            a.rs of ann orphaned
            a.rs of ann renewed for 1m (fence 1)
            bob: refused (locked): a.rs is locked by ann for 1m more (1m so far); wait for it: lock(paths=["a.rs"], wait="60s"); or ask ann: mail_send(to=["ann"], message="TEXT"); or work on something else"#]],
    );
}

#[test]
fn a_heartbeat_renews() {
    check(
        "
        ann locks a.rs for 60s
        50s pass
        ann beats
        50s pass
        show locks
        10s pass",
        expect![[r#"
            ann got a.rs (fence 1)
            ann was seen
            fence 1: a.rs is locked by ann for 10s more (1m 40s so far)
            a.rs of ann lapsed"#]],
    );
}

#[test]
fn every_act_renews() {
    check(
        "
        ann locks a.rs for 60s
        50s pass
        ann locks b.rs for 10m
        50s pass
        show locks",
        expect![[r#"
            ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            fence 1: a.rs is locked by ann for 10s more (1m 40s so far)
            fence 2: b.rs is locked by ann for 9m 10s more (50s so far)"#]],
    );
}

#[test]
fn a_heartbeat_does_not_revive() {
    check(
        "
        ann locks a.rs for 60s
        60s pass
        ann beats
        show locks",
        expect![[r#"
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            ann was seen
            fence 1: a.rs was locked by ann; its files are being looked at"#]],
    );
}

#[test]
fn a_shared_lock_just_ends() {
    check(
        "
        ann joins
        ann locks a.rs shared for 60s
        bob locks a.rs waiting 5m
        60s pass
        ann reads notices",
        expect![[r#"
            ann joined
            ann got a.rs shared (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            a.rs of ann expired
            bob got a.rs (fence 2)
            bob has waited ([fence 2])
            notice: your lock on a.rs has expired
            ann was told"#]],
    );
}

#[test]
fn the_humans_lock_runs_out_too() {
    check(
        "
        human locks a.rs for 60s
        60s pass
        clean a.rs",
        expect![[r#"
            the human got a.rs (fence 1)
            a.rs of the human lapsed
            a.rs of the human expired"#]],
    );
}

#[test]
fn a_restart_cuts_nothing_short() {
    check(
        "
        ann locks a.rs for 60s
        50s pass
        restart
        59s pass
        show locks
        1s pass",
        expect![[r#"
            ann got a.rs (fence 1)
            the server started, above fence 0
            fence 1: a.rs is locked by ann for 1s more (1m 49s so far)
            a.rs of ann lapsed"#]],
    );
}

#[test]
fn an_extension_counts_from_now() {
    check(
        "
        ann locks a.rs for 60s
        50s pass
        human extends a.rs for 10m because go on
        show locks
        ann reads notices",
        expect![[r#"
            ann got a.rs (fence 1)
            a.rs of ann extended to 10m
            fence 1: a.rs is locked by ann for 10m more (50s so far)
            notice: your lock on a.rs was given more time by the human
            ann was told"#]],
    );
}

#[test]
fn orphaned_work_of_the_dead_is_handed_over_not_extended() {
    check(
        "
        ann joins
        ann locks a.rs for 60s
        60s pass
        dirty a.rs
        ann crashes
        human extends a.rs for 5m
        bob locks a.rs
        human hands a.rs to bob because finish it
        bob reads notices",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            a.rs of ann lapsed
            a.rs of ann orphaned
            ann failed (its process died)
            human: refused (bad_input): ann has ended, and a.rs needs no time; hand it over to somebody, or release it
            bob: refused (locked): a.rs is orphaned: ann left uncommitted work 0ms ago; work on something else meanwhile; its holder, its leader or the human can take the work over: adopt(paths=["a.rs"]); or put it aside: rescue(paths=["a.rs"])
            a.rs of ann handed to bob (fence 2)
            notice: the lock on a.rs was handed to you by the human ("finish it")
            bob was told"#]],
    );
}
