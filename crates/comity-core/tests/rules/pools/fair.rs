//! Fairness: who is asked for space, what may be granted, and what is taken back.

use expect_test::expect;

use super::check;

#[test]
fn whoever_has_more_than_its_share_is_asked_once() {
    check(
        "
        pool tabs has 4 tabs
        ann takes tabs
        ann takes tabs
        ann takes tabs
        bob takes tabs
        cid requests tabs
        dan requests tabs
        ann reads
        eve requests tabs
        ann reads
        bob reads",
        expect![[r#"
            tabs has 4
            ann got tabs 1
            ann got tabs 2
            ann got tabs 3
            bob got tabs 4
            cid asks for tabs (ticket 1), asking [ann]
            dan asks for tabs (ticket 2), asking [ann]
            notice: cid waits for a slot of tabs; you have 3, and 1 would be your share: free what you do not need, or grant one
            ann was told
            eve asks for tabs (ticket 3), asking [ann]
            notice: eve waits for a slot of tabs; you have 3, and 1 would be your share: free what you do not need, or grant one
            ann was told
            bob: nothing changes"#]],
    );
}

#[test]
fn space_is_granted_by_who_can_spare_it() {
    check(
        "
        pool tabs has 5 tabs
        ann takes tabs
        ann takes tabs
        ann takes tabs
        ann grants tabs
        bob takes tabs
        bob takes tabs
        bob requests tabs
        bob grants tabs
        cid requests tabs
        bob grants tabs
        human grants tabs
        ann grants tabs
        show pool tabs",
        expect![[r#"
            tabs has 5
            ann got tabs 1
            ann got tabs 2
            ann got tabs 3
            ann grants nothing: nobody waits for tabs; what you have is safe
            ann: nothing changes
            bob got tabs 4
            bob got tabs 5
            bob asks for tabs (ticket 1), asking [ann]
            bob grants nothing: you are first in line yourself
            bob: nothing changes
            cid asks for tabs (ticket 2), asking [ann, bob]
            bob grants nothing: you are first in line yourself
            bob: nothing changes
            human grants nothing: you have none
            human: nothing changes
            tabs 1 of ann: was given up for who waits
            bob may take tabs for 30s
            tabs 5/5, share 1: [2 ann, 3 ann, 4 bob, 5 bob] [bob may take, cid asked]"#]],
    );
}

#[test]
fn nobody_starves_when_every_holder_has_two() {
    check(
        "
        pool tabs has 4 tabs
        ann takes tabs
        ann takes tabs
        bob takes tabs
        bob takes tabs
        cid takes tabs waiting 1h
        comity reclaims 1 idle 10m
        59s pass
        comity reclaims 1 idle 10m
        1s pass
        comity reclaims 1 idle 4m
        ann reclaims 1 idle 10m
        comity reclaims 1 idle 10m
        ann reads
        comity reclaims 3 idle 10m
        dan requests tabs
        bob grants tabs
        show pool tabs",
        expect![[r#"
            tabs has 4
            ann got tabs 1
            ann got tabs 2
            bob got tabs 3
            bob got tabs 4
            cid waits 1h for tabs (ticket 1), asking [ann, bob]
            comity: refused (not_allowed): tab 1 stays: nobody without a slot has waited for long; look again later
            comity: refused (not_allowed): tab 1 stays: nobody without a slot has waited for long; look again later
            comity: refused (not_allowed): tab 1 stays: it is in use; look again later
            ann: refused (not_allowed): only Comity itself can tell that; free the slot instead
            tabs 1 of ann: was taken back: it was idle for 10m, and somebody without one waits
            cid got tabs 5 by ticket 1
            cid has waited (slot 5)
            notice: cid waits for a slot of tabs; you have 2, and 1 would be your share: free what you do not need, or grant one
            notice: your tab 1 was taken back: it was idle for 10m, and somebody without one waits
            ann was told
            comity: refused (not_allowed): tab 3 stays: nobody without a slot has waited for long; look again later
            dan asks for tabs (ticket 2), asking [bob]
            tabs 3 of bob: was given up for who waits
            dan may take tabs for 30s
            tabs 4/4, share 1: [2 ann, 4 bob, 5 cid] [dan may take]"#]],
    );
}

#[test]
fn nothing_is_taken_back_from_who_was_not_asked() {
    check(
        "
        pool tabs has 4 tabs
        ann takes tabs
        bob takes tabs
        bob takes tabs
        bob takes tabs
        cid requests tabs
        bob gives 2 to ann
        61s pass
        comity reclaims 1 idle 10m
        dan requests tabs
        59s pass
        comity reclaims 1 idle 10m
        1s pass
        comity reclaims 1 idle 10m
        show pool tabs",
        expect![[r#"
            tabs has 4
            ann got tabs 1
            bob got tabs 2
            bob got tabs 3
            bob got tabs 4
            cid asks for tabs (ticket 1), asking [bob]
            2 went from bob to ann
            ann is asked for cid
            dan asks for tabs (ticket 2), asking [ann, bob]
            comity: refused (not_allowed): tab 1 stays: its owner was asked a moment ago; look again later
            tabs 1 of ann: was taken back: it was idle for 10m, and somebody without one waits
            cid may take tabs for 30s
            tabs 4/4, share 1: [2 ann, 3 bob, 4 bob] [cid may take, dan asked]"#]],
    );
}

#[test]
fn what_was_taken_for_a_process_is_in_use_as_long_as_it_runs() {
    check(
        "
        pool build has 3
        ann takes build process 1
        ann takes build process 2
        ann takes build process 3
        bob takes build waiting 5m
        ann grants build
        ann takes build evicting
        61s pass
        comity reclaims 1 idle 10m
        comity loses 2 process
        show pool build",
        expect![[r#"
            build has 3
            ann got build 1
            ann got build 2
            ann got build 3
            bob waits 5m for build (ticket 1), asking [ann]
            ann grants nothing: the commands that you took them for still run
            ann: nothing changes
            ann: refused (pool_full): POOL_FULL: Pool "build" is full (3/3); you have 3, others 0, 1 waiting; wait in line: lease(pool="build", wait="60s"), free one of yours; or ask for space: lease_request(pool="build")
            comity: refused (not_allowed): lease 1 of build stays: it was taken for a process, which runs; look again later
            build 2 of ann: is free: the process that it was taken for ended
            bob got build 4 by ticket 1
            bob has waited (slot 4)
            build 3/3, share 1: [1 ann, 3 ann, 4 bob] []"#]],
    );
}
