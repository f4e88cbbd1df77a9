//! Declaring: in any order, all or none, and never a cycle.

use expect_test::expect;

use super::check;

#[test]
fn the_order_of_a_declaration_does_not_matter() {
    check(
        "human declares c after b a; b after a; a
         show tasks",
        expect![[r#"
            declared c, b, a
            c: pending (1)
            b: pending (1)
            a: ready (1)"#]],
    );
}

#[test]
fn tasks_without_a_name_get_one_that_is_free() {
    check(
        "human declares t2; - called Something; - after t2 called More
         show tasks",
        expect![[r#"
            declared t2, t2x, t3
            t2: ready (1)
            t2x: ready (1)
            t3: pending (1)"#]],
    );
}

#[test]
fn cycles_self_edges_duplicates_and_strangers_are_refused_with_the_path() {
    check(
        "human declares a after a
         human declares a after b; b after c; c after a; d after a
         human declares a; a
         human declares a after ghost
         human declares a
         human declares a
         human declares no/slash
         human declares x as wizard
         show tasks",
        expect![[r#"
            human: refused (cycle): tasks would wait for each other: a -> a; leave one of these dependencies out
            human: refused (cycle): tasks would wait for each other: a -> b -> c -> a; leave one of these dependencies out
            human: refused (bad_input): two of these tasks are called a; rename one
            human: refused (not_found): a -> ghost: there is no task "ghost"; declare it too, or see what there is with: task_list()
            declared a
            human: refused (bad_input): there is a task a already: it; choose another id
            human: refused (bad_input): "no/slash" can't be a task's id; use 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit
            human: refused (bad_input): there is no role wizard; use one of architect, developer, lead, qa, reviewer, writer, or define it in your settings, as [roles.NAME]
            a: ready (1)"#]],
    );
}

#[test]
fn edges_that_are_added_later_are_checked_against_all() {
    check(
        "human declares a; b after a; c after b
         human links a to c
         human links a to a
         human links c to a b
         human links a to ghost
         ann starts a
         human links a to b
         show tasks",
        expect![[r#"
            declared a, b, c
            human: refused (cycle): tasks would wait for each other: a -> c -> b -> a; leave one of these dependencies out
            human: refused (cycle): tasks would wait for each other: a -> a; leave one of these dependencies out
            c waits for a, too
            human: refused (not_found): there is no task "ghost"; see what there is with: task_list()
            a claimed by ann (1)
            a started by ann (1)
            human: refused (not_allowed): the task a is running, ann's; see: task_get(id="a")
            a: running (1), ann's
            b: pending (1)
            c: pending (1)"#]],
    );
}

#[test]
fn similar_work_is_noticed_and_goes_on() {
    check(
        "lead joins as lead
         ann joins under lead
         ann declares a on src/ called Rewrite the login form
         ann declares b on src/a.rs called Something else; c called Login form rewrite; d after a on src/
         lead reads
         show tasks",
        expect![[r#"
            lead joined
            ann joined under lead
            declared a
            declared b, c, d
            b looks like a: both would change the same files
            c looks like a: they have 100 % of their words in common
            d looks like b: both would change the same files
            notice: the task b looks like a: both would change the same files
            notice: the task c looks like a: they have 100 % of their words in common
            notice: the task d looks like b: both would change the same files
            lead was told
            a: ready (1)
            b: ready (1)
            c: ready (1)
            d: pending (1)"#]],
    );
}
