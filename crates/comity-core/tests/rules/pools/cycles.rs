//! Waiting in a cycle: of slots alone, and of slots and locks.

use expect_test::expect;

use super::check;

#[test]
fn a_cycle_of_locks_and_leases_is_refused_when_it_closes() {
    check(
        "
        pool build has 1
        ann takes build
        bob locks a
        ann locks a waiting 5m
        bob takes build waiting 5m
        # whoever has all of it waits for itself
        cid joins
        pool port has 1
        cid takes port
        cid takes port waiting 5m
        # a process ends whatever its owner waits for
        pool lint has 1
        dan joins with process
        dan takes lint process 7
        eve locks b
        dan locks b waiting 5m
        eve takes lint waiting 5m",
        expect![[r#"
            build has 1
            ann got build 1
            bob got a (fence 1)
            ann waits for a (ticket 1, 5m)
            bob: refused (deadlock): waiting would be a deadlock: bob waits for ann (a lease of build), ann waits for bob (a); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            cid joined
            port has 1
            cid got port 2
            cid: refused (deadlock): waiting would be a deadlock: cid waits for itself (a lease of port); you hold all of them; give one back first
            lint has 1
            dan joined
            dan got lint 3
            eve got b (fence 2)
            dan waits for b (ticket 2, 5m)
            eve waits 5m for lint (ticket 3), asking []"#]],
    );
}

#[test]
fn who_waits_for_one_of_several_is_refused_when_all_of_them_wait() {
    check(
        "
        pool tabs has 2
        ann takes tabs
        bob takes tabs
        cid locks a
        ann locks a waiting 5m
        cid takes tabs waiting 5m
        bob locks a waiting 5m
        bob frees 2
        bob locks a waiting 5m",
        expect![[r#"
            tabs has 2
            ann got tabs 1
            bob got tabs 2
            cid got a (fence 1)
            ann waits for a (ticket 1, 5m)
            cid waits 5m for tabs (ticket 2), asking []
            bob: refused (deadlock): waiting would be a deadlock: bob waits for cid (a), cid waits for bob (a lease of tabs); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            tabs 2 of bob: back
            cid got tabs 3 by ticket 2
            cid has waited (slot 3)
            bob waits for a (ticket 3, 5m)"#]],
    );
}

#[test]
fn a_slot_is_not_given_to_who_waits_for_those_in_line() {
    check(
        "
        pool build has 1
        ann takes build
        bob locks a
        cid locks a waiting 5m
        bob takes build waiting 5m
        ann gives 1 to cid
        bob unlocks everything
        show pool build",
        expect![[r#"
            build has 1
            ann got build 1
            bob got a (fence 1)
            cid waits for a (ticket 1, 5m)
            bob waits 5m for build (ticket 2), asking []
            ann: refused (deadlock): waiting would be a deadlock: cid waits for bob (a), bob waits for cid (a lease of build); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            a of bob given back
            cid got a (fence 2)
            cid has waited ([fence 2])
            build 1/1, share 1: [1 ann] [bob waits]"#]],
    );
}

#[test]
fn whoever_waits_for_a_process_keeps_nobody_behind_it() {
    check(
        "
        pool build has 1
        ann takes build
        bob takes build process 7 waiting 5m
        cid takes build waiting 5m
        bob takes build waiting 5m",
        expect![[r#"
            build has 1
            ann got build 1
            bob waits 5m for build (ticket 1), asking []
            cid waits 5m for build (ticket 2), asking []
            bob waits 5m for build (ticket 3), asking []"#]],
    );
}

#[test]
fn a_request_that_becomes_a_wait_is_before_those_who_came_later() {
    check(
        "
        pool build has 1
        ann takes build
        bob requests build
        cid locks a
        cid takes build waiting 5m
        bob locks a waiting 5m
        bob takes build waiting 5m",
        expect![[r#"
            build has 1
            ann got build 1
            bob asks for build (ticket 1), asking []
            cid got a (fence 1)
            cid waits 5m for build (ticket 2), asking []
            bob waits for a (ticket 3, 5m)
            bob: refused (deadlock): waiting would be a deadlock: bob waits for cid (a), cid waits for bob (its turn for build); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again"#]],
    );
}

#[test]
fn a_command_does_not_wait_behind_its_own_agent() {
    check(
        "
        pool build has 1
        ann takes build
        bob takes build waiting 5m
        bob takes build process 7 waiting 5m
        cid requests build
        cid takes build process 8 waiting 5m
        dan takes build process 9 waiting 5m
        dan takes build waiting 5m
        ann frees 1",
        expect![[r#"
            build has 1
            ann got build 1
            bob waits 5m for build (ticket 1), asking []
            bob: refused (limit_reached): you wait for build already; you already have a waiting request; let it finish, or cancel it
            cid asks for build (ticket 2), asking []
            cid waits 5m for build (ticket 2), asking []
            dan waits 5m for build (ticket 3), asking []
            dan waits 5m for build (ticket 4), asking []
            build 1 of ann: back
            bob got build 2 by ticket 1
            bob has waited (slot 2)"#]],
    );
}

#[test]
fn all_that_has_to_come_back_counts_when_a_pool_is_made_smaller() {
    check(
        "
        pool build has 3
        ann takes build
        bob takes build
        cid takes build
        dan locks a
        ann locks a waiting 5m
        dan takes build waiting 5m
        pool build has 2
        pool build has 1
        dan takes build waiting 5m
        ann frees 1
        dan takes build waiting 5m
        bob frees 2
        cid frees 3",
        expect![[r#"
            build has 3
            ann got build 1
            bob got build 2
            cid got build 3
            dan got a (fence 1)
            ann waits for a (ticket 1, 5m)
            dan waits 5m for build (ticket 2), asking []
            build has 2
            dan waits no longer: there is less
            build has 1
            dan: refused (deadlock): waiting would be a deadlock: dan waits for ann (a lease of build), ann waits for dan (a); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            build 1 of ann: back
            dan waits 5m for build (ticket 3), asking []
            build 2 of bob: back
            build 3 of cid: back
            dan got build 4 by ticket 3
            dan has waited (slot 4)"#]],
    );
}
