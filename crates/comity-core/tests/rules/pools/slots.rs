//! Slots: taken, opened, freed, lost, handed over, shared.

use expect_test::expect;

use super::check;

#[test]
fn a_slot_is_taken_opened_and_closed() {
    check(
        "
        pool tabs has 2 tabs
        ann takes tabs as docs
        comity opens 1
        comity opens 1
        ann frees 1
        ann takes tabs
        show pool tabs",
        expect![[r#"
            tabs has 2
            ann got tabs 1
            1 is open
            comity: nothing changes
            tabs 1 of ann: back
            ann got tabs 2
            tabs 1/2, share 2: [2 ann] []"#]],
    );
}

#[test]
fn a_full_pool_says_who_has_it() {
    check(
        "
        pool tabs has 2 tabs
        pool build has 1
        ann takes tabs
        bob takes tabs
        ann takes tabs
        cid takes tabs
        human takes build
        ann takes build
        ann takes gpu",
        expect![[r#"
            tabs has 2
            build has 1
            ann got tabs 1
            bob got tabs 2
            ann: refused (pool_full): POOL_FULL: Tab pool is full (2/2); you have 1, others 1 (bob), 0 waiting; wait in line: tab_open(url="URL", wait="60s"), free one of yours; or ask for space: tab_request()
            cid: refused (pool_full): POOL_FULL: Tab pool is full (2/2); you have 0, others 2 (ann, bob), 0 waiting; wait in line: tab_open(url="URL", wait="60s"); or ask for space: tab_request()
            the human got build 3
            ann: refused (pool_full): POOL_FULL: Pool "build" is full (1/1); you have 0, others 1 (the human), 0 waiting; wait in line: lease(pool="build", wait="60s"); or ask for space: lease_request(pool="build")
            ann: refused (not_found): there is no pool "gpu"; there are: build (new ones in your settings take effect after: comity restart)"#]],
    );
}

#[test]
fn nobody_does_anything_with_a_slot_of_others() {
    check(
        "
        pool tabs has 2 tabs
        pool build has 1
        ann takes tabs
        human takes build
        bob frees 1
        bob prolongs 2 for 1h
        bob gives 1 to bob
        bob shares 1 with bob
        bob opens 1
        bob loses 1 crashed
        human frees 1 because needed
        ann reads
        ann frees 1",
        expect![[r#"
            tabs has 2
            build has 1
            ann got tabs 1
            the human got build 2
            bob: refused (ownership): OWNERSHIP: Cannot close tab 1 (owned by agent_000000000001); this tab is ann's; take one of your own: tab_open(url="URL"); or ask ann: mail_send(to=["ann"], message="TEXT")
            bob: refused (ownership): OWNERSHIP: Cannot extend lease 2 (owned by the human); this lease is the human's; take one of your own: lease(pool="POOL"); or ask the human
            bob: refused (ownership): OWNERSHIP: Cannot hand over tab 1 (owned by agent_000000000001); this tab is ann's; take one of your own: tab_open(url="URL"); or ask ann: mail_send(to=["ann"], message="TEXT")
            bob: refused (ownership): OWNERSHIP: Cannot share tab 1 (owned by agent_000000000001); this tab is ann's; take one of your own: tab_open(url="URL"); or ask ann: mail_send(to=["ann"], message="TEXT")
            bob: refused (not_allowed): only Comity itself can tell that; free the slot instead
            bob: refused (not_allowed): only Comity itself can tell that; free the slot instead
            tabs 1 of ann: was taken away by the human ("needed")
            notice: your tab 1 was taken away by the human ("needed")
            ann was told
            ann: refused (not_found): nobody has a slot 1; see what is held with: leases()"#]],
    );
}

#[test]
fn the_own_oldest_goes_only_when_it_is_asked_for() {
    check(
        "
        pool tabs has 2 tabs
        ann takes tabs
        1s pass
        ann takes tabs
        ann takes tabs
        ann takes tabs evicting
        bob takes tabs evicting
        show pool tabs",
        expect![[r#"
            tabs has 2
            ann got tabs 1
            ann got tabs 2
            ann: refused (pool_full): POOL_FULL: Tab pool is full (2/2); you have 2, others 0, 0 waiting; wait in line: tab_open(url="URL", wait="60s"), free one of yours; or ask for space: tab_request()
            tabs 1 of ann: was given up for a new one
            ann got tabs 3
            bob: refused (pool_full): POOL_FULL: Tab pool is full (2/2); you have 0, others 2 (ann), 0 waiting; wait in line: tab_open(url="URL", wait="60s"); or ask for space: tab_request()
            tabs 2/2, share 2: [2 ann, 3 ann] []"#]],
    );
}

#[test]
fn however_a_slot_is_lost_its_owner_is_told() {
    check(
        "
        pool tabs has 6 tabs
        ann takes tabs as docs
        ann takes tabs
        ann takes tabs
        ann takes tabs
        ann takes tabs
        ann takes tabs process 7
        comity loses 1 closed
        comity loses 2 crashed
        comity loses 3 browser
        comity loses 4 unopened
        comity loses 5 silent
        comity loses 6 process
        comity loses 6 process
        ann reads",
        expect![[r#"
            tabs has 6
            ann got tabs 1
            ann got tabs 2
            ann got tabs 3
            ann got tabs 4
            ann got tabs 5
            ann got tabs 6
            tabs 1 of ann: was closed by the person
            tabs 2 of ann: is gone: its page crashed
            tabs 3 of ann: is gone: the browser ended
            tabs 4 of ann: could not be opened: no such page
            tabs 5 of ann: is gone: it did not answer in time
            tabs 6 of ann: is free: the process that it was taken for ended
            comity: nothing changes
            notice: your tab 1 ("docs") was closed by the person
            notice: your tab 2 is gone: its page crashed
            notice: your tab 3 is gone: the browser ended
            notice: your tab 4 could not be opened: no such page
            notice: your tab 5 is gone: it did not answer in time
            notice: your tab 6 is free: the process that it was taken for ended
            ann was told"#]],
    );
}

#[test]
fn a_lease_runs_out_unless_it_is_prolonged() {
    check(
        "
        pool build has 2
        ann takes build for 10s
        ann takes build process 7
        5s pass
        ann prolongs 1 for 1m
        30s pass
        show pool build
        ann prolongs 2 for 1m
        human prolongs 1 for 1m
        1m pass
        ann reads
        show pool build
        dan joins with process
        dan takes build
        59m pass
        show pool build
        1m pass
        show pool build",
        expect![[r#"
            build has 2
            ann got build 1
            ann got build 2
            1 lasts 1m
            build 2/2, share 2: [1 ann, 2 ann] []
            ann: refused (bad_input): lease 2 of build has no time that could run out; it lasts until it is freed
            1 lasts 1m
            build 1 of ann: is free: its time ran out
            notice: your lease 1 of build is free: its time ran out
            ann was told
            build 1/2, share 2: [2 ann] []
            dan joined
            dan got build 3
            build 2 of ann: is free: its owner ended
            ann exited (no sign of life)
            build 1/2, share 2: [3 dan] []
            build 3 of dan: is free: its time ran out
            build 0/2, share 2: [] []"#]],
    );
}

#[test]
fn slots_are_handed_over_and_shared() {
    check(
        "
        pool tabs has 3 tabs
        ann takes tabs as docs
        ann shares 1 with bob
        ann shares 1 with bob
        ann gives 1 to cid because review
        bob reads
        cid reads
        human gives 1 to bob
        cid reads
        bob gives 1 to bob
        bob shares 1 with cid
        bob unshares 1 with cid
        bob unshares 1 with cid
        bob shares 1 with cid
        cid ends
        ann takes tabs process 3
        ann gives 2 to bob
        ann gives 2 to cid",
        expect![[r#"
            tabs has 3
            ann got tabs 1
            bob may see 1
            ann: nothing changes
            1 went from ann to cid
            notice: ann lets you look at the tab 1 ("docs")
            bob was told
            notice: the tab 1 ("docs") was handed to you by ann ("review")
            cid was told
            1 went from cid to bob
            notice: your tab 1 ("docs") was handed to bob by the human
            cid was told
            bob: nothing changes
            cid may see 1
            cid sees 1 no more
            bob: nothing changes
            cid may see 1
            cid completed (goodbye)
            ann got tabs 2
            ann: refused (not_allowed): tab 2 ends with the process that it was taken for; take one that is not bound to a process
            ann: refused (agent_ended): cid has ended (goodbye); join again with: agent_join(name="NAME")"#]],
    );
}

#[test]
fn a_pool_that_shrinks_takes_nothing_away() {
    check(
        "
        pool build has 3
        ann takes build
        ann takes build
        bob takes build
        pool build has 1
        cid takes build waiting 1h
        ann takes build evicting
        ann frees 1
        bob frees 3
        show pool build
        ann frees 2
        pool build has 0
        dan takes build
        cid frees 4
        show pool build
        pool build has 1
        dan takes build",
        expect![[r#"
            build has 3
            ann got build 1
            ann got build 2
            bob got build 3
            build has 1
            cid waits 1h for build (ticket 1), asking [ann]
            ann: refused (pool_full): POOL_FULL: Pool "build" is full (3/1); you have 2, others 1 (bob), 1 waiting; wait in line: lease(pool="build", wait="60s"), free one of yours; or ask for space: lease_request(pool="build")
            build 1 of ann: back
            build 3 of bob: back
            build 1/1, share 1: [2 ann] [cid waits]
            build 2 of ann: back
            cid got build 4 by ticket 1
            cid has waited (slot 4)
            build has 0
            dan: refused (not_found): there is no pool "build"; there are no pools; add one to your settings, such as [pools.build] with capacity = 1, then: comity restart
            build 4 of cid: back
            no pool build
            build has 1
            dan got build 5"#]],
    );
}

#[test]
fn a_closed_pool_lets_nobody_wait() {
    check(
        "
        pool tabs has 1 tabs
        ann takes tabs
        bob takes tabs waiting 5m
        cid requests tabs
        pool tabs has 1
        pool tabs has 0 tabs
        cid reads
        show pool tabs
        restart
        ann frees 1
        show pool tabs",
        expect![[r#"
            tabs has 1
            ann got tabs 1
            bob waits 5m for tabs (ticket 1), asking []
            cid asks for tabs (ticket 2), asking []
            comity: refused (not_allowed): slots of tabs are held, and it can't become something else; free them first
            bob waits for nothing
            cid waits for nothing
            tabs has 0
            notice: the pool tabs was closed, so you are no longer waiting for it
            cid was told
            tabs 1/0, share 1: [1 ann] []
            the server started, above fence 0
            tabs 1 of ann: back
            no pool tabs"#]],
    );
}

#[test]
fn the_driver_tells_where_a_tab_is_and_its_owner_hears_when_it_was_opened_again() {
    check(
        "
        pool tabs has 2 tabs
        ann takes tabs as docs
        comity opens 1
        comity notes 1 at a.example
        comity notes 1 at a.example
        comity notes 1 at b.example
        ann notes 1 at evil.example
        comity notes 7 at a.example
        comity notes 1 at b.example again
        ann reads",
        expect![[r#"
            tabs has 2
            ann got tabs 1
            1 is open
            1 is at a.example
            comity: nothing changes
            1 is at b.example
            ann: refused (not_allowed): only Comity itself can tell that; free the slot instead
            comity: refused (not_found): nobody has a slot 7; see what is held with: leases()
            1 is at b.example again
            notice: the browser ended and was started again: your tab 1 ("docs") was loaded again (<page "b.example">); what was typed there is lost, and references to its elements are stale
            ann was told"#]],
    );
}
