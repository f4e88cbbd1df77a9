//! Assignment by code: who asked for work gets it in the same breath.

use expect_test::expect;

use super::check;

#[test]
fn nobody_waits_for_work_of_who_waits_for_it() {
    check(
        "human declares a; b after a
         ann starts a
         bob locks x
         bob seeks 60s
         # ann would have to go on first: bob is told, and has to give back what it has
         ann locks x waiting 5m
         bob reads
         bob seeks 60s
         bob unlocks x
         bob seeks 60s",
        expect![[r#"
            declared a, b
            a claimed by ann (1)
            a started by ann (1)
            bob got x (fence 1)
            bob waits for work, 1m at most
            ann waits for x (ticket 1, 5m)
            bob waits for work no more
            notice: there will be no work until you give back what others wait for: bob waits for ann (work), ann waits for bob (x)
            bob was told
            bob: refused (deadlock): waiting would be a deadlock: bob waits for ann (work), ann waits for bob (x); release what the others wait for (a lock: unlock(paths=["PATH"])), then ask again
            x of bob given back
            ann got x (fence 2)
            ann has waited ([fence 2])
            bob waits for work, 1m at most"#]],
    );
}

#[test]
fn whose_work_is_waited_for_goes_before_those_who_wait_for_it() {
    check(
        "human declares t
         bob starts t
         cat locks b
         cat seeks 60s
         # ann waits for cat, who waits for bob: behind ann he would wait for himself
         ann locks a b waiting 5m
         bob locks a waiting 5m",
        expect![[r#"
            declared t
            t claimed by bob (1)
            t started by bob (1)
            cat got b (fence 1)
            cat waits for work, 1m at most
            ann waits for a and b (ticket 1, 5m)
            bob got a (fence 2)"#]],
    );
}

#[test]
fn a_place_in_the_queue_is_looked_at_again_when_somebody_waits_for_work() {
    check(
        "human declares t
         bob starts t
         cat locks b
         ann locks a b waiting 5m
         bob locks a waiting 5m
         cat seeks 60s",
        expect![[r#"
            declared t
            t claimed by bob (1)
            t started by bob (1)
            cat got b (fence 1)
            ann waits for a and b (ticket 1, 5m)
            bob waits for a (ticket 2, 5m)
            cat waits for work, 1m at most
            bob got a (fence 2)
            bob has waited ([fence 2])"#]],
    );
}

#[test]
fn who_waits_is_given_what_becomes_ready_and_nobody_else() {
    check(
        "ann joins
         bob joins
         bob idles
         human declares a; b after a
         ann seeks 60s
         ann takes
         bob claims
         ann starts a
         cat seeks 60s
         ann finishes a because done
         show tasks
         cat reads",
        expect![[r#"
            ann joined
            bob joined
            bob is idle
            declared a, b
            ann waits for work, 1m at most
            a given to ann (1), to be started within 2m
            ann: nothing changes
            bob: refused (not_found): no task is ready for you; wait for one: next(wait="60s"); or see: task_list()
            a started by ann (1)
            cat waits for work, 1m at most
            a done by ann: done
            b given to cat (1), to be started within 2m
            a: done (1)
            b: ready (1), cat's
            notice: the task b (it) was given to you by comity; see: task_get(id="b")
            cat was told"#]],
    );
}

#[test]
fn the_role_the_team_and_the_priority_decide() {
    check(
        "dev joins
         qa joins as qa
         red joins in red
         qa seeks 60s
         red seeks 60s
         dev seeks 60s
         human declares low at low; normal; urgent at urgent for red; test as qa
         show tasks",
        expect![[r#"
            dev joined
            qa joined
            red joined
            qa waits for work, 1m at most
            red waits for work, 1m at most
            dev waits for work, 1m at most
            declared low, normal, urgent, test
            urgent given to red (1), to be started within 2m
            normal given to dev (1), to be started within 2m
            test given to qa (1), to be started within 2m
            low: ready (1)
            normal: ready (1), dev's
            urgent: ready (1), red's
            test: ready (1), qa's"#]],
    );
}

#[test]
fn the_one_that_was_idle_longest_goes_first() {
    check(
        "ann joins
         5s pass
         bob joins
         human declares x
         ann starts x
         1s pass
         ann finishes x because done
         5s pass
         cat joins
         cat seeks 60s
         ann seeks 60s
         bob seeks 60s
         human declares a; b; c
         show tasks",
        expect![[r#"
            ann joined
            bob joined
            declared x
            x claimed by ann (1)
            x started by ann (1)
            x done by ann: done
            cat joined
            cat waits for work, 1m at most
            ann waits for work, 1m at most
            bob waits for work, 1m at most
            declared a, b, c
            a given to bob (1), to be started within 2m
            b given to ann (1), to be started within 2m
            c given to cat (1), to be started within 2m
            x: done (1)
            a: ready (1), bob's
            b: ready (1), ann's
            c: ready (1), cat's"#]],
    );
}

#[test]
fn a_task_that_is_not_started_in_time_goes_to_the_next() {
    check(
        "ann seeks 60s
         human declares a
         30s pass
         bob seeks 600s
         100s pass
         ann starts a
         bob starts a
         ann reads",
        expect![[r#"
            ann waits for work, 1m at most
            declared a
            a given to ann (1), to be started within 2m
            bob waits for work, 10m at most
            a returned by ann (2): NotStarted
            a given to bob (2), to be started within 2m
            ann: refused (stale_attempt): a is claimed by bob (attempt 2), not by your attempt; see whose it is with: task_get(id="a")
            a started by bob (2)
            notice: the task a (it) was given to you by comity; see: task_get(id="a")
            notice: your task a was not started in time, and taken back by comity
            ann was told"#]],
    );
}

#[test]
fn files_that_somebody_works_on_are_not_given_to_another() {
    check(
        "ann seeks 60s
         bob seeks 60s
         human declares a on src/; b on src/a.rs; c on docs/
         show tasks
         ann starts a
         cat seeks 60s
         ann finishes a because done
         show tasks",
        expect![[r#"
            ann waits for work, 1m at most
            bob waits for work, 1m at most
            declared a, b, c
            b looks like a: both would change the same files
            a given to ann (1), to be started within 2m
            c given to bob (1), to be started within 2m
            a: ready (1), ann's
            b: ready (1)
            c: ready (1), bob's
            ann got src/ (fence 1)
            a started by ann (1)
            cat waits for work, 1m at most
            src/ of ann given back
            a done by ann: done
            b given to cat (1), to be started within 2m
            a: done (1)
            b: ready (1), cat's
            c: ready (1), bob's"#]],
    );
}

#[test]
fn a_wait_that_is_over_gets_nothing() {
    check(
        "ann seeks 30s
         30s pass
         human declares a
         show tasks
         ann takes
         human seeks 30s
         bob seeks 30s
         ann seeks 30s
         ann takes
         ann takes",
        expect![[r#"
            ann waits for work, 30s at most
            declared a
            a: ready (1)
            ann waits for work no more
            human: refused (bad_input): only agents can wait for work; name the task: task_claim(id="ID")
            bob waits for work, 30s at most
            a given to bob (1), to be started within 2m
            ann waits for work, 30s at most
            ann waits for work no more
            ann: nothing changes"#]],
    );
}

#[test]
fn who_ends_waits_for_nothing_and_its_task_goes_on() {
    check(
        "ann seeks 60s
         human declares a; b
         bob seeks 60s
         cat seeks 60s
         cat ends
         ann ends
         show tasks
         dan seeks 60s
         show tasks",
        expect![[r#"
            ann waits for work, 1m at most
            declared a, b
            a given to ann (1), to be started within 2m
            bob waits for work, 1m at most
            b given to bob (1), to be started within 2m
            cat waits for work, 1m at most
            cat completed (goodbye)
            a returned by ann (2): OwnerEnded
            ann completed (goodbye)
            a: ready (2)
            b: ready (1), bob's
            dan waits for work, 1m at most
            a given to dan (2), to be started within 2m
            a: ready (2), dan's
            b: ready (1), bob's"#]],
    );
}
