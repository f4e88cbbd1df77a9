//! The queue: first come, first served, whatever frees a slot.

use expect_test::expect;

use super::check;

#[test]
fn whoever_waits_gets_the_slot_at_once() {
    check(
        "
        pool build has 1
        ann takes build
        bob takes build waiting 5m key k1
        cid takes build waiting 5m
        bob takes build waiting 5m key k1
        bob takes build waiting 5m
        ann frees 1
        bob takes build waiting 5m key k1
        bob frees 2
        show pool build",
        expect![[r#"
            build has 1
            ann got build 1
            bob waits 5m for build (ticket 1), asking []
            cid waits 5m for build (ticket 2), asking []
            bob: as before: bob waits 5m for build (ticket 1), asking [], still at ticket 1
            bob: refused (limit_reached): you wait for build already; you already have a waiting request; let it finish, or cancel it
            build 1 of ann: back
            bob got build 2 by ticket 1
            bob has waited (slot 2)
            bob: as before: bob waits 5m for build (ticket 1), asking []; bob got build 2 by ticket 1; bob has waited (slot 2)
            build 2 of bob: back
            cid got build 3 by ticket 2
            cid has waited (slot 3)
            build 1/1, share 1: [3 cid] []"#]],
    );
}

#[test]
fn a_request_gets_a_reservation_that_only_its_owner_can_use() {
    check(
        "
        pool tabs has 1 tabs
        ann requests tabs
        ann takes tabs
        bob requests tabs
        bob requests tabs
        ann frees 1
        bob reads
        cid takes tabs
        cid requests tabs
        show pool tabs
        bob takes tabs
        show pool tabs",
        expect![[r#"
            tabs has 1
            ann: refused (not_allowed): tabs is not full (0/1); nobody needs to give up anything: take a slot
            ann got tabs 1
            bob asks for tabs (ticket 1), asking []
            bob: nothing changes
            tabs 1 of ann: back
            bob may take tabs for 30s
            notice: a slot of tabs is reserved for you for 30s: take it now
            bob was told
            cid: refused (pool_full): POOL_FULL: Tab pool is full (1/1); you have 0, others 0, 0 waiting; wait in line: tab_open(url="URL", wait="60s"); or ask for space: tab_request()
            cid asks for tabs (ticket 2), asking []
            tabs 1/1, share 1: [] [bob may take, cid asked]
            bob has waited (slot 2)
            bob got tabs 2 by ticket 1
            tabs 1/1, share 1: [2 bob] [cid asked]"#]],
    );
}

#[test]
fn a_reservation_that_lapses_goes_on_and_its_owner_has_one_more() {
    check(
        "
        pool tabs has 1 tabs
        ann takes tabs
        bob requests tabs
        cid requests tabs
        dan takes tabs waiting 5m
        ann frees 1
        30s pass
        show pool tabs
        30s pass
        show pool tabs
        bob reads
        30s pass
        cid reads
        show pool tabs",
        expect![[r#"
            tabs has 1
            ann got tabs 1
            bob asks for tabs (ticket 1), asking []
            cid asks for tabs (ticket 2), asking []
            dan waits 5m for tabs (ticket 3), asking []
            tabs 1 of ann: back
            bob may take tabs for 30s
            bob was too slow
            cid may take tabs for 30s
            tabs 1/1, share 1: [] [bob asked, cid may take, dan waits]
            cid was too slow
            bob may take tabs for 30s
            tabs 1/1, share 1: [] [bob may take, cid asked, dan waits]
            notice: a slot of tabs is reserved for you for 30s: take it now
            notice: your reservation of a slot of tabs lapsed; you are still first in line, and the next one is the last
            notice: a slot of tabs is reserved for you for 30s: take it now
            bob was told
            bob was too slow again
            cid may take tabs for 30s
            notice: a slot of tabs is reserved for you for 30s: take it now
            notice: your reservation of a slot of tabs lapsed; you are still first in line, and the next one is the last
            notice: a slot of tabs is reserved for you for 30s: take it now
            cid was told
            tabs 1/1, share 1: [] [cid may take, dan waits]"#]],
    );
}

#[test]
fn whoever_is_alone_and_slow_has_a_second_reservation() {
    check(
        "
        pool tabs has 1 tabs
        ann takes tabs
        bob requests tabs
        ann frees 1
        30s pass
        restart
        30s pass
        bob reads
        show pool tabs",
        expect![[r#"
            tabs has 1
            ann got tabs 1
            bob asks for tabs (ticket 1), asking []
            tabs 1 of ann: back
            bob may take tabs for 30s
            bob was too slow
            bob may take tabs for 30s
            the server started, above fence 0
            bob was too slow again
            notice: a slot of tabs is reserved for you for 30s: take it now
            notice: your reservation of a slot of tabs lapsed; you are still first in line, and the next one is the last
            notice: a slot of tabs is reserved for you for 30s: take it now
            notice: your reservation of a slot of tabs lapsed for the second time: you are no longer waiting, ask again if you need one
            bob was told
            tabs 0/1, share 1: [] []"#]],
    );
}

#[test]
fn a_request_becomes_a_wait_and_keeps_its_place() {
    check(
        "
        pool build has 1
        ann takes build
        bob requests build
        cid takes build waiting 5m
        bob takes build waiting 5m
        ann frees 1
        show pool build",
        expect![[r#"
            build has 1
            ann got build 1
            bob asks for build (ticket 1), asking []
            cid waits 5m for build (ticket 2), asking []
            bob waits 5m for build (ticket 1), asking []
            build 1 of ann: back
            bob got build 2 by ticket 1
            bob has waited (slot 2)
            build 1/1, share 1: [2 bob] [cid waits]"#]],
    );
}

#[test]
fn the_dead_the_late_and_the_tired_burn_no_grant() {
    check(
        "
        pool build has 1
        ann takes build
        bob takes build waiting 10s
        cid takes build waiting 5m
        dan requests build
        eve takes build waiting 5m
        fay requests build
        10s pass
        cid ends
        dan withdraws build
        dan withdraws build
        eve cancels 5
        eve cancels 4
        ann ends
        show pool build
        gus takes build waiting 5m
        fay crashes
        show pool build",
        expect![[r#"
            build has 1
            ann got build 1
            bob waits 10s for build (ticket 1), asking []
            cid waits 5m for build (ticket 2), asking []
            dan asks for build (ticket 3), asking []
            eve waits 5m for build (ticket 4), asking []
            fay asks for build (ticket 5), asking []
            bob has waited in vain
            cid waits no more
            cid completed (goodbye)
            dan gave up waiting
            dan: nothing changes
            eve: refused (not_allowed): this is somebody else's place in the queue; only the agent that waits may give up its wait
            eve gave up waiting
            build 1 of ann: is free: its owner ended
            ann completed (goodbye)
            fay may take build for 30s
            build 1/1, share 1: [] [fay may take]
            gus waits 5m for build (ticket 6), asking []
            fay waits no more
            fay failed (its process died)
            gus got build 2 by ticket 6
            gus has waited (slot 2)
            build 1/1, share 1: [2 gus] []"#]],
    );
}

#[test]
fn all_ways_of_becoming_free_serve_the_queue() {
    for how in [
        "ann frees 1",
        "human frees 1",
        "ann ends",
        "ann crashes",
        "comity loses 1 closed",
        "comity loses 1 crashed",
        "comity loses 1 browser",
        "comity loses 1 unopened",
        "comity loses 1 silent",
        "comity loses 1 process",
        "pool build has 2",
        "10s pass",
    ] {
        let mut stage = crate::script::Stage::default();
        for line in ["pool build has 1", "ann takes build for 10s", "bob takes build waiting 1h", how] {
            super::words::play(&mut stage, line);
        }
        let bob = stage.who("bob");
        let pool = stage.world.pools.get("build").expect("a pool");
        assert_eq!(pool.slots_of(bob).count(), 1, "{how}: {:?}", stage.said);
        assert_eq!(pool.places().count(), 0, "{how}");
    }
}

#[test]
fn commands_of_one_owner_wait_each_for_itself() {
    check(
        "
        pool build has 1
        human takes build process 1
        human takes build process 2 waiting 5m
        human takes build process 3 waiting 5m
        human takes build process 3 waiting 5m
        human takes build waiting 5m
        comity loses 1 process
        show pool build",
        expect![[r#"
            build has 1
            the human got build 1
            the human waits 5m for build (ticket 1), asking []
            the human waits 5m for build (ticket 2), asking []
            human: refused (limit_reached): you wait for build already; you already have a waiting request; let it finish, or cancel it
            the human waits 5m for build (ticket 3), asking []
            build 1 of the human: is free: the process that it was taken for ended
            the human got build 2 by ticket 1
            the human has waited (slot 2)
            build 1/1, share 1: [2 the human] [the human waits, the human waits]"#]],
    );
}

#[test]
fn waits_and_reservations_survive_a_restart() {
    check(
        "
        pool build has 2
        ann takes build
        ann takes build
        bob requests build
        cid takes build waiting 5m
        ann frees 1
        restart
        show pool build
        30s pass
        ann frees 2
        show pool build",
        expect![[r#"
            build has 2
            ann got build 1
            ann got build 2
            bob asks for build (ticket 1), asking [ann]
            cid waits 5m for build (ticket 2), asking [ann]
            build 1 of ann: back
            bob may take build for 30s
            the server started, above fence 0
            build 2/2, share 1: [2 ann] [bob may take, cid waits]
            bob was too slow
            cid got build 3 by ticket 2
            cid has waited (slot 3)
            build 2 of ann: back
            bob may take build for 30s
            build 2/2, share 1: [3 cid] [bob may take]"#]],
    );
}

#[test]
fn a_command_waits_once_also_beside_a_request() {
    check(
        "
        pool build has 1
        bob takes build
        ann takes build waiting 30s process 9
        ann requests build
        ann takes build waiting 30s process 9
        ann takes build waiting 30s process 8
        show pool build",
        expect![[r#"
            build has 1
            bob got build 1
            ann waits 30s for build (ticket 1), asking []
            ann asks for build (ticket 2), asking []
            ann: refused (limit_reached): you wait for build already; you already have a waiting request; let it finish, or cancel it
            ann waits 30s for build (ticket 2), asking []
            build 1/1, share 1: [1 bob] [ann waits, ann waits]"#]],
    );
}
