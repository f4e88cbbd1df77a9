//! Contexts with names, and tabs that pages open.

use expect_test::expect;

use super::check;

#[test]
fn whoever_made_a_context_says_who_comes_in() {
    check(
        "
        pool tabs has 6 tabs
        ann takes tabs
        ann enters 1 into login
        bob takes tabs
        bob enters 2 into login
        bob admits bob to login
        cid admits bob to nothing
        ann admits bob to login
        ann admits bob to login
        bob enters 2 into login
        bob admits cid to login
        cid takes tabs
        human admits cid to login
        cid enters 3 into login
        bob enters 1 into other",
        expect![[r#"
            tabs has 6
            ann got tabs 1
            1 is in login
            bob got tabs 2
            bob: refused (not_allowed): the context "login" was made by ann, and you were not let in; ask ann or the human for: tab_admit(context="login", agent="bob"); or use another name
            bob: refused (not_allowed): the context "login" was made by ann; ask ann or the human to let others in
            cid: refused (not_found): there is no context "nothing"; a context exists as long as it has a tab
            bob may enter login
            ann: nothing changes
            2 is in login
            bob: refused (not_allowed): the context "login" was made by ann; ask ann or the human to let others in
            cid got tabs 3
            cid may enter login
            3 is in login
            bob: refused (ownership): OWNERSHIP: Cannot open tab 1 (owned by agent_000000000001); this tab is ann's; take one of your own: tab_open(url="URL"); or ask ann: mail_send(to=["ann"], message="TEXT")"#]],
    );
}

#[test]
fn a_context_ends_with_its_last_tab_and_goes_on_without_its_maker() {
    check(
        "
        pool tabs has 6 tabs
        ann takes tabs
        ann enters 1 into login
        ann takes tabs
        ann enters 2 into login
        ann gives 2 to bob
        ann frees 1
        bob takes tabs
        bob enters 3 into login
        cid takes tabs
        cid enters 4 into login
        bob frees 2
        bob frees 3
        cid enters 4 into login
        ann takes tabs
        ann enters 5 into login",
        expect![[r#"
            tabs has 6
            ann got tabs 1
            1 is in login
            ann got tabs 2
            2 is in login
            2 went from ann to bob
            tabs 1 of ann: back
            bob got tabs 3
            3 is in login
            cid got tabs 4
            cid: refused (not_allowed): the context "login" was made by ann, and you were not let in; ask ann or the human for: tab_admit(context="login", agent="cid"); or use another name
            tabs 2 of bob: back
            tabs 3 of bob: back
            4 is in login
            ann got tabs 5
            ann: refused (not_allowed): the context "login" was made by cid, and you were not let in; ask cid or the human for: tab_admit(context="login", agent="ann"); or use another name"#]],
    );
}

#[test]
fn a_page_takes_no_more_than_the_share_of_its_owner() {
    check(
        "
        pool tabs has 4 tabs
        ann takes tabs
        ann takes tabs popping
        bob takes tabs
        ann takes tabs popping
        bob takes tabs
        cid takes tabs
        cid requests tabs
        human frees 1
        cid takes tabs popping",
        expect![[r#"
            tabs has 4
            ann got tabs 1
            ann got tabs 2
            bob got tabs 3
            ann: refused (not_allowed): you have your share of tabs already; close one of your tabs, then let the page open it again
            bob got tabs 4
            cid: refused (pool_full): POOL_FULL: Tab pool is full (4/4); you have 0, others 4 (ann, bob), 0 waiting; wait in line: tab_open(url="URL", wait="60s"); or ask for space: tab_request()
            cid asks for tabs (ticket 1), asking [ann, bob]
            tabs 1 of ann: was taken away by the human
            cid may take tabs for 30s
            cid: refused (not_allowed): you asked for a tab, and the next free one is for that; close one of your tabs, then let the page open it again"#]],
    );
}

#[test]
fn a_tab_in_a_context_goes_only_to_who_was_let_in_unless_its_maker_gives_it() {
    check(
        "
        pool tabs has 6 tabs
        ann takes tabs
        ann enters 1 into login
        ann admits bob to login
        bob takes tabs
        bob enters 2 into login
        bob gives 2 to cid
        bob gives 2 to ann
        ann gives 1 to cid",
        expect![[r#"
            tabs has 6
            ann got tabs 1
            1 is in login
            bob may enter login
            bob got tabs 2
            2 is in login
            bob: refused (not_allowed): the tab is in the context "login", and cid was not let into that; ask who made it, or the human, for: tab_admit(context="login", agent="cid")
            2 went from bob to ann
            1 went from ann to cid"#]],
    );
}
