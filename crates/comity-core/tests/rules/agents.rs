//! AG1, AG3 to AG6, LK8: joining, living, ending.

use expect_test::expect;

use crate::script::check;

#[test]
fn names() {
    check(
        "
        ann joins
        ann joins
        human joins
        Human joins
        everyone joins
        all joins
        team joins
        Team joins
        teams joins
        agent_7 joins
        -x joins
        ünal joins
        a/b joins
        ann.2_b-C joins as developer in red-team
        bob joins as lead/dev",
        expect![[r#"
            ann joined
            ann: refused (name_taken): ann is here already (agent_000000000001); choose another name, or end that agent with: agent_bye(agent="ann")
            human: refused (bad_input): "human" is a reserved name; choose another name
            Human: refused (bad_input): "Human" is a reserved name; choose another name
            everyone: refused (bad_input): "everyone" is a reserved name; choose another name
            all: refused (bad_input): "all" is a reserved name; choose another name
            team: refused (bad_input): "team" is a reserved name; choose another name
            Team: refused (bad_input): "Team" is a reserved name; choose another name
            teams joined
            agent_7: refused (bad_input): "agent_7" is a reserved name; choose another name
            -x: refused (bad_input): "-x" can't be an agent's name; use 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit
            ünal: refused (bad_input): "ünal" can't be an agent's name; use 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit
            a/b: refused (bad_input): "a/b" can't be an agent's name; use 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit
            ann.2_b-C joined
            bob: refused (bad_input): there is no role lead/dev; use one of architect, developer, lead, qa, reviewer, writer, or define it in your settings, as [roles.NAME]"#]],
    );
}

#[test]
fn a_name_is_free_again_after_the_end() {
    check(
        "
        ann joins
        ann ends
        ann joins
        show agents",
        expect![[r#"
            ann joined
            ann completed (goodbye)
            ann joined
            ann: completed
            ann: starting"#]],
    );
}

#[test]
fn states() {
    check(
        "
        ann joins
        show agents
        ann locks a.rs
        show agents
        ann idles
        ann idles
        ann works
        show agents
        ann ends
        show agents",
        expect![[r#"
            ann joined
            ann: starting
            ann got a.rs (fence 1)
            ann: running
            ann is idle
            ann: nothing changes
            ann is running
            ann: running
            a.rs of ann lapsed
            ann completed (goodbye)
            ann: completed"#]],
    );
}

#[test]
fn the_end_is_final() {
    check(
        "
        ann locks a.rs
        bob locks a.rs waiting 5m
        ann crashes
        human ends ann
        ann ends
        ann locks b.rs
        ann beats
        ann disconnects
        show agents",
        expect![[r#"
            ann got a.rs (fence 1)
            bob waits for a.rs (ticket 1, 5m)
            a.rs of ann lapsed
            ann failed (its process died)
            human: refused (agent_ended): ann has ended (its process died); join again with: agent_join(name="NAME")
            ann: refused (agent_ended): ann has ended (its process died); join again with: agent_join(name="NAME")
            ann: refused (agent_ended): ann has ended (its process died); join again with: agent_join(name="NAME")
            ann: refused (agent_ended): ann has ended (its process died); join again with: agent_join(name="NAME")
            ann: refused (agent_ended): ann has ended (its process died); join again with: agent_join(name="NAME")
            ann: failed
            bob: running"#]],
    );
}

#[test]
fn all_is_released_with_an_event_each() {
    check(
        "
        ann locks a.rs b.rs
        bob locks c.rs
        ann locks c.rs waiting 5m
        cid locks b.rs waiting 5m
        ann ends
        show locks
        show queue",
        expect![[r#"
            ann got a.rs (fence 1)
            ann got b.rs (fence 2)
            bob got c.rs (fence 3)
            ann waits for c.rs (ticket 1, 5m)
            cid waits for b.rs (ticket 2, 5m)
            ann waits no more
            a.rs of ann lapsed
            b.rs of ann lapsed
            ann completed (goodbye)
            fence 1: a.rs was locked by ann; its files are being looked at
            fence 2: b.rs was locked by ann; its files are being looked at
            fence 3: c.rs is locked by bob for 5m more (0ms so far)
            1. cid for b.rs, 5m left"#]],
    );
}

#[test]
fn silence_of_ten_minutes() {
    check(
        "
        ann locks a.rs for 2h
        9m pass
        ann beats
        9m pass
        1m pass
        show locks",
        expect![[r#"
            ann got a.rs (fence 1)
            ann was seen
            a.rs of ann lapsed
            ann exited (no sign of life)
            fence 1: a.rs was locked by ann; its files are being looked at"#]],
    );
}

#[test]
fn a_known_process_is_watched_instead() {
    check(
        "
        ann joins with process
        bob joins
        bob shows-process
        10m pass
        1h pass
        show agents",
        expect![[r#"
            ann joined
            bob joined
            the process of bob is known
            ann: starting
            bob: running"#]],
    );
}

#[test]
fn a_closed_connection_has_a_grace() {
    check(
        "
        ann joins
        ann locks a.rs
        ann disconnects
        4s pass
        1s pass
        show agents",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            ann disconnected
            a.rs of ann lapsed
            ann exited (its connection closed)
            ann: exited"#]],
    );
}

#[test]
fn a_process_that_lives_outlasts_its_connection() {
    check(
        "
        ann joins with process
        ann locks a.rs
        ann disconnects
        10s pass
        show agents",
        expect![[r#"
            ann joined
            ann got a.rs (fence 1)
            ann disconnected
            ann: running"#]],
    );
}

#[test]
fn who_comes_back_in_time_stays() {
    check(
        "
        ann joins
        ann disconnects
        4s pass
        ann beats
        9m pass
        show agents",
        expect![[r#"
            ann joined
            ann disconnected
            ann was seen
            ann: running"#]],
    );
}

#[test]
fn a_restart_forgets_the_closed_connection() {
    check(
        "
        ann joins with process
        ann disconnects
        restart
        10m pass
        show agents",
        expect![[r#"
            ann joined
            ann disconnected
            the server started, above fence 0
            ann: running"#]],
    );
}

#[test]
fn children_end_with_their_parent() {
    check(
        "
        ann joins
        kid joins under ann
        tot joins under kid
        bob joins
        kid locks k.rs
        tot locks t.rs
        bob locks t.rs waiting 5m
        ann ends
        show agents",
        expect![[r#"
            ann joined
            kid joined under ann
            tot joined under kid
            bob joined
            kid got k.rs (fence 1)
            tot got t.rs (fence 2)
            bob waits for t.rs (ticket 1, 5m)
            ann completed (goodbye)
            k.rs of kid lapsed
            kid terminated (ann ended)
            t.rs of tot lapsed
            tot terminated (ann ended)
            ann: completed
            kid: terminated
            tot: terminated
            bob: running"#]],
    );
}

#[test]
fn children_end_with_a_silent_parent() {
    check(
        "
        kid joins under ann
        kid shows-process
        10m pass
        show agents",
        expect![[r#"
            kid joined under ann
            the process of kid is known
            ann exited (no sign of life)
            kid terminated (ann ended)
            ann: exited
            kid: terminated"#]],
    );
}

#[test]
fn who_may_end_whom() {
    check(
        "
        kid joins under ann
        tot joins under kid
        bob ends tot
        tot ends kid
        ann ends tot because not needed
        kid ends
        human ends ann
        show agents",
        expect![[r#"
            kid joined under ann
            tot joined under kid
            bob: refused (not_allowed): you may not end tot; an agent is ended by itself, by an agent above it, or by the human
            tot: refused (not_allowed): you may not end kid; an agent is ended by itself, by an agent above it, or by the human
            tot terminated (not needed)
            kid completed (goodbye)
            ann terminated (goodbye)
            ann: terminated
            kid: completed
            tot: terminated
            bob: starting"#]],
    );
}

#[test]
fn an_ended_child_does_not_end_again() {
    check(
        "
        kid joins under ann
        kid ends
        ann ends
        show agents",
        expect![[r#"
            kid joined under ann
            kid completed (goodbye)
            ann completed (goodbye)
            ann: completed
            kid: completed"#]],
    );
}
